/* SPDX-License-Identifier: GPL-2.0 */
/* Five hundred times the same, with c_000 to c_499 for what differs. */
#ifndef BENCH_MANY_H
#define BENCH_MANY_H

#define BENCH_MANY	500

#define TEN(do, p) \
	do(p##0) do(p##1) do(p##2) do(p##3) do(p##4) \
	do(p##5) do(p##6) do(p##7) do(p##8) do(p##9)
#define HUNDRED(do, p) \
	TEN(do, p##0) TEN(do, p##1) TEN(do, p##2) TEN(do, p##3) TEN(do, p##4) \
	TEN(do, p##5) TEN(do, p##6) TEN(do, p##7) TEN(do, p##8) TEN(do, p##9)
#define FIVE_HUNDRED(do) \
	HUNDRED(do, c_0) HUNDRED(do, c_1) HUNDRED(do, c_2) HUNDRED(do, c_3) \
	HUNDRED(do, c_4)

#endif
