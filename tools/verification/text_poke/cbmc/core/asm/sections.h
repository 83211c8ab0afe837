/* SPDX-License-Identifier: GPL-2.0 */
/* The proofs have no sections. */
