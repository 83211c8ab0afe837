/* SPDX-License-Identifier: GPL-2.0 */
/* Of an architecture that is made up; what is used is in the harnesses. */
