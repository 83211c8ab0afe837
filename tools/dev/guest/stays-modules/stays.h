/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STAYS_H
#define STAYS_H

#include <linux/static_call_types.h>

/* How both modules' functions are called, through the key of one of them. */
int stays_answer(void);

DECLARE_STATIC_CALL(stays, stays_answer);

#endif
