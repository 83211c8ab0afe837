/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_TEXT_POKE_CATCH_UP_H
#define _LINUX_TEXT_POKE_CATCH_UP_H

/*
 * Text pokes, and CPUs in user mode
 *
 * A CPU in user mode executes no kernel text, so it need not be interrupted to
 * refetch: it is enough that it does so before it executes any again.  The poker
 * asks for that, and then looks at the CPU's context tracking.  If RCU does not
 * watch the CPU, and its state is user, it is left alone.
 *
 *   poker                               a CPU that enters the kernel
 *   ----------------------------------  ------------------------------------
 *   store to the text
 *   asked++                             state: RCU watches     (full order)
 *   smp_mb()                            if (asked != done)
 *   state, user?           (acquire)            refetch
 *           leave it alone                      done = asked as it was
 *   else
 *           interrupt it
 *
 * Either the poker sees that RCU watches, or the CPU sees that it was asked, and
 * what was stored before.
 *
 * It takes two counters, not a flag.  The CPU that clears a flag behind the
 * refetch may clear what it was asked meanwhile, go to user mode, and be left
 * alone; and if it clears it before, an NMI in between runs stale text.
 *
 * So what runs on a CPU before RCU watches it on the way in, or after on the way
 * out, is executed as it may have been long ago.  That is noinstr and entry code;
 * a batch that changes any of it interrupts every CPU.
 */

#include <linux/compiler.h>
#include <linux/percpu.h>

#ifdef CONFIG_TEXT_POKE_CATCH_UP

/**
 * struct text_poke_asked - what a CPU is to do before it executes kernel text
 * @asked:	how often it was asked to refetch; the poker writes it
 * @done:	what of that it has done; the CPU writes it
 */
struct text_poke_asked {
	unsigned long asked;
	unsigned long done;
};

DECLARE_PER_CPU_SHARED_ALIGNED(struct text_poke_asked, text_poke_asked);

void __text_poke_catch_up(struct text_poke_asked *this);

/**
 * text_poke_catch_up - refetch, if this CPU was asked to
 *
 * To be called right after what makes RCU watch this CPU, which is fully
 * ordered; and by an NMI in any case, for it may have interrupted what is just
 * there.
 *
 * Context: This CPU stays; noinstr.
 */
static __always_inline void text_poke_catch_up(void)
{
	struct text_poke_asked *this = raw_cpu_ptr(&text_poke_asked);

	if (unlikely(READ_ONCE(this->asked) != READ_ONCE(this->done)))
		__text_poke_catch_up(this);
}

#else /* !CONFIG_TEXT_POKE_CATCH_UP */

static __always_inline void text_poke_catch_up(void) { }

#endif /* CONFIG_TEXT_POKE_CATCH_UP */

#endif /* _LINUX_TEXT_POKE_CATCH_UP_H */
