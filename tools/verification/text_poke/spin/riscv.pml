/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two instructions and a literal, of which one instruction is ever changed
 *
 * Steps: none
 *
 *                        off             on
 *   before the function  nop_ops         the tracer's ops
 *   word 0               auipc t0, hi    auipc t0, hi
 *   word 1               nop             jalr t0, lo(t0)
 *
 * The AUIPC is put there at boot and stays.  It sets a register that the JALR
 * needs, so that no task may run the JALR without having run the AUIPC.  The
 * JALR goes to a trampoline, which loads the literal, and calls what it says;
 * what nop_ops say is nothing.  A task can be preempted anywhere, and go on
 * later on another CPU; a CPU may execute what memory has held since its last
 * sync.  Nothing orders the fetch of the JALR and the load of the literal, so
 * that this may be as old; but a task that enters the function after a wait
 * has begun, which is a grace period, loads nothing older than that.
 *
 * In the order of arch/riscv/kernel/ftrace.c:
 *
 *   on:   literal = the tracer's ops; word 1 = jalr; sync
 *   off:  literal = nop_ops; word 1 = nop; sync; wait until every task in the
 *         function or in the trampoline has left; free the ops
 *   to:   literal = the other tracer's ops; wait; free the ops before
 *
 * Proved, for every interleaving of on, off, on again and to, with two tasks
 * that enter the function, on any of two CPUs:
 *
 *   - A task that runs the JALR has run the AUIPC in this pass through the
 *     function.
 *   - A task that comes to the trampoline finds ops in the literal, be it
 *     nop_ops, and they are not freed before it has left.
 *   - After "on" has ended word 1 is run as the JALR, and the tracer is called;
 *     after "off" word 1 is run as the NOP.
 *   - All end.
 *
 * Limits: literal and word are one unit each.  Without CALL_OPS all sites share
 * one variable for what is called, which is not modelled.
 *
 * variant GUARDED: a trap goes over word 1 in between, and emulates what is new
 * variant BRANCH_FIRST: BPF's literal is after its branch, and written after it
 * variant GUARDED BRANCH_FIRST: that with a trap
 *
 * mutant AUIPC_TOO: a task was preempted after the NOP, and goes on at the JALR
 * mutant GUARDED AUIPC_TOO: the trap emulates the JALR, the register is not set
 * mutant LITERAL_AFTER_BRANCH: "on" has ended, and a CPU takes the old literal
 * mutant GUARDED LITERAL_AFTER_BRANCH: that, with a trap before it
 * mutant LITERAL_AFTER_WAIT: on again, a CPU takes the literal that has been freed
 * mutant GUARDED LITERAL_AFTER_WAIT: that, with a trap before it
 * mutant LITERAL_KEPT: on again, the literal of the last time was never taken back
 * mutant NO_NOP_OPS: the literal is cleared while the JALR is there
 * mutant NO_SYNC_ON: a call is not traced
 * mutant NO_SYNC_OFF: a CPU runs a JALR that is gone
 * mutant NO_WAIT: a task was preempted in the trampoline
 * mutant WAIT_FIRST: a CPU takes the old literal after the wait for tasks in it
 */

#define NR_CPUS		2
#define NR_TASKS	2

#define NOP		1
#define TRAP		2
#define INSN		4

/* Ops, a bit each: those that call nothing, and three tracers'. */
#ifdef NO_NOP_OPS
#define NOP_OPS		0
#else
#define NOP_OPS		1
#endif
#define OPS_A		2
#define OPS_B		4
#define OPS_C		8

/* Both words: what memory holds, and all that each CPU may still execute. */
#ifdef AUIPC_TOO
#define WORD0_OFF	NOP
#else
#define WORD0_OFF	INSN
#endif
byte word0 = WORD0_OFF;
byte word1 = NOP;
byte may0[NR_CPUS] = WORD0_OFF;
byte may1[NR_CPUS] = NOP;

/* The literal, and all that may still be loaded, also by tasks waited for. */
byte literal = NOP_OPS;
byte may_load[NR_CPUS] = NOP_OPS;
byte may_before_wait;

/* Ops that are gone, and those of which one has to be called after "on". */
byte freed;
byte wanted;

/* What the trap in word 1 emulates. */
byte emulates;

/* Tasks in the function or the trampoline, and those the poker waits for. */
bool inside[NR_TASKS];
bool waited_for[NR_TASKS];

/* CPUs that the poker has asked to synchronise. */
bool ipi[NR_CPUS];

/* "On" has ended, or "off" has. */
bool is_on;
bool is_off = true;

#define STORE(word, may, bytes)						\
	d_step {							\
		word = bytes;						\
		may[0] = may[0] | bytes;				\
		may[1] = may[1] | bytes					\
	}

#define STORE_LITERAL(ops)	STORE(literal, may_load, ops)

inline sync()
{
	d_step { ipi[0] = true; ipi[1] = true }
	!ipi[0] && !ipi[1]
}

/* What a task that frees ops waits for, as text_poke_quiesce() does. */
inline quiesce()
{
	d_step {
		waited_for[0] = inside[0];
		waited_for[1] = inside[1];
		may_before_wait = may_load[0] | may_load[1];
		may_load[0] = literal;
		may_load[1] = literal
	}
	!waited_for[0] && !waited_for[1]
}

/*
 * One batch.  What follows it is the sync in its end; a trap has two of its own.
 * Literals go with the traps.
 */
inline change(ops, bytes)
{
#ifndef BRANCH_FIRST
	STORE_LITERAL(ops);
#endif
#ifdef GUARDED
	emulates = bytes;
	STORE(word1, may1, TRAP);
#else
	STORE(word1, may1, bytes);
#endif
#ifdef BRANCH_FIRST
	STORE_LITERAL(ops);
#endif
#ifdef GUARDED
	sync();
	sync();
	STORE(word1, may1, bytes)
#endif
}

inline turn_on(ops)
{
	is_off = false;
#ifdef AUIPC_TOO
	STORE(word0, may0, INSN);
#endif
#ifdef LITERAL_AFTER_BRANCH
	change(literal, INSN);
#else
	change(ops, INSN);
#endif
#ifndef NO_SYNC_ON
	sync();
#endif
#ifdef LITERAL_AFTER_BRANCH
	STORE_LITERAL(ops);
#endif
	d_step { wanted = ops; is_on = true }
}

inline turn_off(ops)
{
	is_on = false;
#if defined(LITERAL_AFTER_WAIT) || defined(LITERAL_KEPT)
	change(literal, NOP);
#else
	change(NOP_OPS, NOP);
#endif
#ifdef AUIPC_TOO
	STORE(word0, may0, NOP);
#endif
#ifndef NO_SYNC_OFF
	sync();
#endif
	is_off = true;
#ifndef NO_WAIT
	quiesce();
#endif
#ifdef LITERAL_AFTER_WAIT
	STORE_LITERAL(NOP_OPS);
#endif
	freed = freed | ops
}

inline turn_to(old, new)
{
	wanted = old | new;
#ifdef WAIT_FIRST
	quiesce();
#endif
	STORE_LITERAL(new);
#ifndef WAIT_FIRST
	quiesce();
#endif
	wanted = new;
	freed = freed | old
}

active proctype poker()
{
	turn_on(OPS_A);
	turn_off(OPS_A);
	turn_on(OPS_B);
	turn_to(OPS_B, OPS_C)
}

/* A CPU takes an interrupt when it likes. */
active [NR_CPUS] proctype cpu()
{
	byte self = _pid - 1;

end:	do
	:: d_step {
		ipi[self] ->
		may0[self] = word0;
		may1[self] = word1;
		may_load[self] = literal;
		ipi[self] = false
	   }
	od
}

inline run_word0(on)
{
	if
	:: may0[on] & NOP -> base = false
	:: may0[on] & INSN -> base = true
	fi
}

/* The JALR, or the trap that emulates it. */
inline call()
{
	d_step {
		assert(base);
		assert(!is_off);
		calls = true
	}
}

inline no_call()
{
	d_step {
		assert(!is_on);
		calls = false
	}
}

inline run_word1(on)
{
	if
	:: may1[on] & NOP -> no_call()
	:: may1[on] & INSN -> call()
	:: (may1[on] & TRAP) && emulates == INSN -> call()
	:: (may1[on] & TRAP) && emulates == NOP -> no_call()
	fi
}

#define MAY_LOAD(on)							\
	(may_load[on] | (waited_for[self] -> may_before_wait : 0))

/* One of those that may be loaded; none, if the literal says nothing. */
inline load(on)
{
	if
	:: MAY_LOAD(on) & NOP_OPS -> ops = NOP_OPS
	:: MAY_LOAD(on) & OPS_A -> ops = OPS_A
	:: MAY_LOAD(on) & OPS_B -> ops = OPS_B
	:: MAY_LOAD(on) & OPS_C -> ops = OPS_C
	:: !MAY_LOAD(on) -> ops = 0
	fi;
	assert(ops);
	assert(!is_on || (ops & wanted))
}

/* A task enters the function as often as it likes, now on this CPU, now on that. */
active [NR_TASKS] proctype task()
{
	byte self = _pid - 1 - NR_CPUS;
	bool base, calls;
	byte ops;

	do
	:: atomic {
		inside[self] = true;
		if
		:: run_word0(0)
		:: run_word0(1)
		fi
	   }
	   atomic {
		if
		:: run_word1(0)
		:: run_word1(1)
		fi
	   }
	   atomic {
		if
		:: !calls
		:: calls -> load(0)
		:: calls -> load(1)
		fi
	   }
	   atomic {
		assert(!(ops & freed));
		inside[self] = false;
		waited_for[self] = false;
		base = false;
		calls = false;
		ops = 0
	   }
	:: break
	od
}
