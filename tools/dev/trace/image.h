/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's text as the records have it: perf's copy of kcore, changed by
 * one record after the other as the clock gets there.
 */
#ifndef TRACE_IMAGE_H
#define TRACE_IMAGE_H

#include <stdint.h>

/* Compare every piece of code that was executed with it; prints what was found. */
int image_compare(const char *folder);

#endif
