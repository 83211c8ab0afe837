/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two instructions and a literal, of which one instruction is ever changed
 *
 * Steps: none
 *
 *                        off             on
 *   before the function  0               the tracer
 *   word 0               auipc t0, hi    auipc t0, hi
 *   word 1               nop             jalr t0, lo(t0)
 *
 * The AUIPC is put there at boot and stays.  It sets a register that the JALR
 * needs, so that nobody may run the JALR without having run the AUIPC.  The
 * JALR goes to a trampoline, which loads the literal, and calls what it says.
 * A task can be preempted anywhere, and go on later on another CPU; a CPU may
 * execute what memory has held since its last sync.
 *
 *   on:   literal = the tracer; word 1 = jalr; sync
 *   off:  word 1 = nop; sync; wait until every task in the function or in the
 *         trampoline has left; literal = 0
 *
 * Proved, for every interleaving of on, off and on again, with two tasks that
 * enter the function, on any of two CPUs:
 *
 *   - Who runs the JALR has run the AUIPC in this pass through the function.
 *   - Who comes to the trampoline finds the tracer in the literal.
 *   - After "on" has ended word 1 is run as the JALR, after "off" as the NOP.
 *   - Both end.
 *
 * Limits: literal and word are one unit each.  Ftrace may put the address of a
 * tracer that does nothing where there is 0 here; then a call that is late is
 * lost, and no wait is needed for the literal's sake.
 *
 * variant GUARDED: a trap goes over word 1 in between, and acts as what is new
 *
 * mutant AUIPC_TOO: a task was preempted behind the NOP, and goes on at the JALR
 * mutant GUARDED AUIPC_TOO: the trap acts as the JALR, and the register is not set
 * mutant LITERAL_AFTER_BRANCH: the tracer is called before it is there
 * mutant GUARDED LITERAL_AFTER_BRANCH: the trap calls the tracer before it is there
 * mutant LITERAL_BEFORE_BRANCH: the literal is cleared while the JALR is there
 * mutant NO_SYNC_ON: a call is not traced
 * mutant NO_SYNC_OFF: a CPU runs a JALR that is gone
 * mutant NO_QUIESCE: a task was preempted in the trampoline
 */

#define NR_CPUS		2
#define NR_TASKS	2

#define NOP		1
#define TRAP		2
#define INSN		4

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

/* The literal is data: what is loaded is what is there. */
bool literal;

/* What the trap in word 1 acts as. */
byte acts_as;

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

inline sync()
{
	d_step { ipi[0] = true; ipi[1] = true }
	!ipi[0] && !ipi[1]
}

/* What text_poke_quiesce() gives. */
inline quiesce()
{
	d_step {
		waited_for[0] = inside[0];
		waited_for[1] = inside[1]
	}
	!waited_for[0] && !waited_for[1]
}

inline change_word1(bytes)
{
#ifdef GUARDED
	acts_as = bytes;
	STORE(word1, may1, TRAP);
	sync();
	sync();
#endif
	STORE(word1, may1, bytes)
}

inline turn_on()
{
	is_off = false;
#ifndef LITERAL_AFTER_BRANCH
	literal = true;
#endif
#ifdef AUIPC_TOO
	STORE(word0, may0, INSN);
#endif
	change_word1(INSN);
#ifndef NO_SYNC_ON
	sync();
#endif
#ifdef LITERAL_AFTER_BRANCH
	literal = true;
#endif
	is_on = true
}

inline turn_off()
{
	is_on = false;
#ifdef LITERAL_BEFORE_BRANCH
	literal = false;
#endif
	change_word1(NOP);
#ifdef AUIPC_TOO
	STORE(word0, may0, NOP);
#endif
#ifndef NO_SYNC_OFF
	sync();
#endif
#ifndef NO_QUIESCE
	quiesce();
#endif
	literal = false;
	is_off = true
}

active proctype poker()
{
	turn_on();
	turn_off();
	turn_on()
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

/* The JALR, or the trap that acts as it. */
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
	:: (may1[on] & TRAP) && acts_as == INSN -> call()
	:: (may1[on] & TRAP) && acts_as == NOP -> no_call()
	fi
}

/* A task enters the function as often as it likes, now on this CPU, now on that. */
active [NR_TASKS] proctype task()
{
	byte self = _pid - 1 - NR_CPUS;
	bool base, calls;

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
		assert(!calls || literal);
		inside[self] = false;
		waited_for[self] = false;
		base = false;
		calls = false
	   }
	:: break
	od
}
