/* SPDX-License-Identifier: GPL-2.0 */
/* The keys of bench_keys, for bench_key_sites. */
#ifndef BENCH_KEYS_H
#define BENCH_KEYS_H

#include <linux/jump_label.h>

#include "many.h"

#define DECLARE(name)	DECLARE_STATIC_KEY_FALSE(bench_##name);

FIVE_HUNDRED(DECLARE)

#endif
