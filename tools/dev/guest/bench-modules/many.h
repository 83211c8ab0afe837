/* SPDX-License-Identifier: GPL-2.0 */
/* Five hundred times the same, with c_000 to c_499 for what differs. */
#ifndef BENCH_MANY_H
#define BENCH_MANY_H

#define TEN(each, p) \
	each(p##0) each(p##1) each(p##2) each(p##3) each(p##4) \
	each(p##5) each(p##6) each(p##7) each(p##8) each(p##9)
#define HUNDRED(each, p) \
	TEN(each, p##0) TEN(each, p##1) TEN(each, p##2) TEN(each, p##3) TEN(each, p##4) \
	TEN(each, p##5) TEN(each, p##6) TEN(each, p##7) TEN(each, p##8) TEN(each, p##9)
#define FIVE_HUNDRED(each) \
	HUNDRED(each, c_0) HUNDRED(each, c_1) HUNDRED(each, c_2) HUNDRED(each, c_3) \
	HUNDRED(each, c_4)

#endif
