/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included before all else. perf counts references through handles if it is
 * built with the address sanitizer (rc_check.h), and then takes the kernel's map
 * for another one, for it compares handles: __map__is_kernel(). Such a perf never
 * reads a copy of kcore.
 */
#pragma clang diagnostic ignored "-Wbuiltin-macro-redefined"
#undef __has_feature
#define __has_feature(what) 0
