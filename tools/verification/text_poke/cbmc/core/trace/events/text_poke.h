/* SPDX-License-Identifier: GPL-2.0 */
/* Nothing traces the proofs. */
#define trace_text_poke_batch_begin(...)	do { } while (0)
#define trace_text_poke_batch_end(...)		do { } while (0)
#define trace_text_poke_batch_end_enabled()	false
