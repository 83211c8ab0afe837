// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of a backend: does it do what <linux/text_poke.h> asks of one?
 *
 * One body for all architectures.  What differs is a row in
 * "arch_conformance.h": a table of instructions, and a reference, written
 * from the architecture's manual, of what they do to the registers.
 */
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/text_poke.h>
#include <linux/uaccess.h>

#include <asm/ptrace.h>

#include "arch_conformance.h"
#include "test.h"

/* How often each instruction is tried, each time with other registers. */
#define TRIES 100

#define RANDOM_INSNS 20000

/* Nothing that is emulated goes further from where the stack pointer is. */
#define STACK 128

/**
 * struct insn - an instruction, and what the backend is to say about it
 * @name:	as the assembler writes it
 * @bytes:	the encoding
 * @len:	its length
 * @ret:	what arch_text_poke_prepare() returns when this is to be written
 * @atomic:	may be exchanged with another such one while it is executed
 * @foreign:	a breakpoint that another user handles
 * @padded:	with traps, which it never gets to
 * @ool:	the handler has it executed out of line
 * @kept:	may not be replaced
 * @found:	may, though it cannot be put there
 */
struct insn {
	const char *name;
	u8 bytes[TEXT_POKE_MAX];
	u8 len;
	int ret;
	bool atomic;
	bool foreign;
	bool padded;
	bool ool;
	bool kept;
	bool found;
};

static const struct insn insns[] = TEXT_POKE_TEST_INSNS;

#define INSNS_END (insns + ARRAY_SIZE(insns))

static struct rnd_state rnd;

/* A site as the core would queue it; none of these reaches the text. */
static int prepare(struct text_poke_site *site, const struct insn *old,
		   const struct insn *new, const void *emulate)
{
	*site = (struct text_poke_site) {
		.addr	= field_addr(0),
		.len	= new->len,
		.trap	= true,
	};
	if (old)
		memcpy(site->old, old->bytes, old->len);
	memcpy(site->new, new->bytes, new->len);
	return arch_text_poke_prepare(site, emulate);
}

static bool is_emulated(const struct insn *insn)
{
	return !insn->ret && !insn->foreign && !insn->ool;
}

static void decoder_knows_what_can_be_emulated(struct kunit *test)
{
	struct text_poke_site site;
	const struct insn *insn;

	for (insn = insns; insn < INSNS_END; insn++) {
		int ret = prepare(&site, NULL, insn, insn->bytes);

		KUNIT_EXPECT_EQ_MSG(test, ret, insn->ret, "%s", insn->name);
		if (ret)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, site.foreign, insn->foreign, "%s",
				    insn->name);
		KUNIT_EXPECT_EQ_MSG(test, site.ool, insn->ool, "%s",
				    insn->name);
	}
}

/* And nothing else, lest it is lost on the user that relies on it. */
static void only_what_could_be_put_there_may_go(struct kunit *test)
{
	struct text_poke_site site;
	const struct insn *insn;

	for (insn = insns; insn < INSNS_END; insn++) {
		if (insn->foreign)
			continue;
		prepare(&site, insn, insn, insn->bytes);
		KUNIT_EXPECT_EQ_MSG(test, arch_text_poke_replaceable(&site),
				    (!insn->ret && !insn->kept) || insn->found,
				    "%s", insn->name);
	}
}

/* One byte less of it is either no instruction or another one. */
static void cut_off_instructions_are_refused(struct kunit *test)
{
	struct text_poke_site site;
	const struct insn *insn;

	for (insn = insns; insn < INSNS_END; insn++) {
		struct insn cut = *insn;

		if (insn->ret || insn->len == 1 || insn->padded)
			continue;
		cut.len--;
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL,
				    prepare(&site, NULL, &cut, cut.bytes),
				    "%s", insn->name);
	}
}

/* Must both instructions of each pair be of those that may be exchanged? */
#ifndef TEXT_POKE_TEST_ATOMIC_ONLY
#define TEXT_POKE_TEST_ATOMIC_ONLY	false
#endif

/* May two of these be mixed, though each may be exchanged with another one? */
#ifndef TEXT_POKE_TEST_MIXES
#define TEXT_POKE_TEST_MIXES(bytes)	false
#endif

/* Elsewhere kprobes' breakpoints have to do with the one store in any case. */
static bool is_exchangeable(const struct insn *old, const struct insn *new)
{
	if (TEXT_POKE_TEST_MIXES(old->bytes) && TEXT_POKE_TEST_MIXES(new->bytes))
		return false;
	return (old->atomic && new->atomic) ||
	       (!TEXT_POKE_TEST_ATOMIC_ONLY && (old->foreign || new->foreign));
}

static void only_atomic_pairs_are_exchanged_directly(struct kunit *test)
{
	struct text_poke_site site;
	const struct insn *old, *new;

	for (old = insns; old < INSNS_END; old++) {
		for (new = insns; new < INSNS_END; new++) {
			if (old->len != new->len ||
			    prepare(&site, old, new, new->bytes))
				continue;
			KUNIT_EXPECT_EQ_MSG(test, arch_text_poke_atomic(&site),
					    is_exchangeable(old, new),
					    "%s -> %s", old->name, new->name);
		}
	}
}

/* Anywhere in the range. */
static void encoders_agree_with_the_manual(struct kunit *test)
{
	u8 ours[LEN], theirs[LEN];
	int i;

	for (i = 0; i < RANDOM_INSNS; i++) {
		void *from = field_addr(0);
		u64 range = (u64)TEXT_POKE_TEST_AHEAD + TEXT_POKE_TEST_BACK;
		u64 offset = prandom_u32_state(&rnd) % (range + 1);
		void *to = from + ALIGN_DOWN(offset, TEXT_POKE_TEST_ALIGN) -
			   TEXT_POKE_TEST_BACK;

		text_poke_test_jump(ours, from, to);
		text_poke_test_gen_jump(theirs, from, to);
		KUNIT_ASSERT_MEMEQ(test, ours, theirs, LEN);
		text_poke_test_call(ours, from, to);
		text_poke_test_gen_call(theirs, from, to);
		KUNIT_ASSERT_MEMEQ(test, ours, theirs, LEN);
	}
}

static void traps_are_as_the_manual_has_them(struct kunit *test)
{
	u8 ours[LEN], theirs[TEXT_POKE_UNIT];
	struct text_poke_site site;
	const struct insn *insn;

	text_poke_test_trap(ours);
	for (insn = insns; insn < INSNS_END; insn++) {
		if (prepare(&site, NULL, insn, insn->bytes) || site.foreign)
			continue;
		arch_text_poke_trap(&site, theirs);
		KUNIT_EXPECT_MEMEQ(test, ours, theirs, TEXT_POKE_UNIT);
	}
}

static void passed_traps_are_those_of_their_owner(struct kunit *test)
{
	struct text_poke_site site;
	const struct insn *insn;
	u8 unit[TEXT_POKE_UNIT];

	for (insn = insns; insn < INSNS_END; insn++) {
		if (!insn->foreign || prepare(&site, NULL, insn, insn->bytes))
			continue;
		arch_text_poke_trap(&site, unit);
		KUNIT_EXPECT_MEMEQ(test, unit, insn->bytes, TEXT_POKE_UNIT);
	}
}

static void traps_are_told_from_anything_else(struct kunit *test)
{
	u8 trap[LEN], unit[TEXT_POKE_MAX] __aligned(TEXT_POKE_MAX) = {};
	const struct insn *insn;
	int bit;

	text_poke_test_trap(trap);
	memcpy(unit, trap, TEXT_POKE_UNIT);
	KUNIT_EXPECT_TRUE(test, arch_text_poke_is_trap(unit));
	for (bit = 0; bit < TEXT_POKE_UNIT * BITS_PER_BYTE; bit++) {
		unit[bit / BITS_PER_BYTE] ^= BIT(bit % BITS_PER_BYTE);
		KUNIT_EXPECT_FALSE_MSG(test, arch_text_poke_is_trap(unit),
				       "bit %d", bit);
		unit[bit / BITS_PER_BYTE] ^= BIT(bit % BITS_PER_BYTE);
	}
	for (insn = insns; insn < INSNS_END; insn++) {
		if (!memcmp(insn->bytes, trap, TEXT_POKE_UNIT))
			continue;
		memcpy(unit, insn->bytes, TEXT_POKE_UNIT);
		KUNIT_EXPECT_FALSE_MSG(test, arch_text_poke_is_trap(unit), "%s",
				       insn->name);
	}
}

/* Registers in which every bit counts, in a CPU that has trapped at @addr. */
static void randomise(struct pt_regs *regs, u8 *stack, void *addr)
{
	prandom_bytes_state(&rnd, regs, sizeof(*regs));
	prandom_bytes_state(&rnd, stack, STACK);
	text_poke_test_trapped(regs, addr, stack + STACK / 2);
}

static void traps_say_where_they_are(struct kunit *test)
{
	struct pt_regs regs;
	u8 stack[STACK];
	int i;

	for (i = 0; i < TEXT_POKE_TEST_FIELD; i++) {
		randomise(&regs, stack, field_addr(i));
		KUNIT_ASSERT_PTR_EQ(test, arch_text_poke_trap_addr(&regs),
				    field_addr(i));
	}
}

/* What the trap's entry code would do on a CPU that hits @site. */
static bool hit(const struct text_poke_site *site, struct pt_regs *regs)
{
	bool handled;

	guard(mutex)(&text_mutex);
	text_poke_publish(text_poke_test_queue(site, 1));
	preempt_disable();
	handled = text_poke_handle_trap(regs);
	preempt_enable();
	text_poke_retire();
	return handled;
}

/*
 * Everything a trap handler can change is compared: all of pt_regs, flags
 * included, and the stack.  Both get the same stack, since its address is one
 * of the registers.
 */
static bool emulates(const struct text_poke_site *site, const u8 *insn,
		     size_t len)
{
	u8 before[STACK], want_stack[STACK], stack[STACK] __aligned(16);
	struct pt_regs want, got;

	randomise(&got, stack, site->addr);
	memcpy(before, stack, STACK);
	want = got;
	if (!text_poke_test_reference(&want, site->addr, insn, len))
		return false;
	memcpy(want_stack, stack, STACK);

	memcpy(stack, before, STACK);
	return hit(site, &got) && !memcmp(&want, &got, sizeof(got)) &&
	       !memcmp(want_stack, stack, STACK);
}

static void handler_emulates_as_the_manual_says(struct kunit *test)
{
	struct text_poke_site site;
	const struct insn *insn;
	int i;

	for (insn = insns; insn < INSNS_END; insn++) {
		if (!is_emulated(insn) ||
		    prepare(&site, NULL, insn, insn->bytes))
			continue;
		for (i = 0; i < TRIES; i++)
			KUNIT_EXPECT_TRUE_MSG(test,
					      emulates(&site, insn->bytes,
						       insn->len),
					      "%s", insn->name);
	}
}

/* A caller may ask for another instruction to be emulated than the new one. */
static void handler_emulates_as_it_is_told(struct kunit *test)
{
	struct text_poke_site site;
	const struct insn *new, *told;

	for (new = insns; new < INSNS_END; new++) {
		for (told = insns; told < INSNS_END; told++) {
			if (!is_emulated(new) || !is_emulated(told) ||
			    new->len != told->len)
				continue;
			KUNIT_EXPECT_EQ(test, 0, prepare(&site, NULL, new,
							 told->bytes));
			KUNIT_EXPECT_TRUE_MSG(test,
					      emulates(&site, told->bytes,
						       told->len),
					      "%s for %s", told->name,
					      new->name);
		}
	}
}

static bool reference_knows(const struct insn *insn)
{
	u8 stack[STACK] __aligned(16);
	struct pt_regs regs;

	randomise(&regs, stack, field_addr(0));
	return text_poke_test_reference(&regs, field_addr(0), insn->bytes,
					insn->len);
}

/* Whatever the decoder takes, it takes for what the manual says it is. */
static void handler_emulates_random_instructions(struct kunit *test)
{
	struct text_poke_site site;
	struct insn insn = {};
	int i, known = 0;

	for (i = 0; i < RANDOM_INSNS; i++) {
		bool taken;

		text_poke_test_random(insn.bytes, &insn.len,
				      prandom_u32_state(&rnd),
				      prandom_u32_state(&rnd));
		taken = !prepare(&site, NULL, &insn, insn.bytes) &&
			!site.foreign && !site.ool;
		KUNIT_ASSERT_EQ_MSG(test, taken, reference_knows(&insn), "%*ph",
				    insn.len, insn.bytes);
		if (taken)
			KUNIT_ASSERT_TRUE_MSG(test, emulates(&site, insn.bytes,
							     insn.len),
					      "%*ph", insn.len, insn.bytes);
		known += taken;
	}
	KUNIT_EXPECT_GT(test, known, RANDOM_INSNS / 10);
}

/* One site of a batch may be another user's breakpoint. */
static void handler_leaves_passed_traps_alone(struct kunit *test)
{
	u8 unit[TEXT_POKE_MAX] __aligned(TEXT_POKE_MAX);
	struct text_poke_site site = {
		.addr	= unit,
		.len	= LEN,
		.trap	= true,
		.foreign = true,
	};
	u8 stack[STACK] __aligned(16);
	struct pt_regs regs, untouched;

	text_poke_test_trap(unit);
	randomise(&regs, stack, unit);
	untouched = regs;
	KUNIT_EXPECT_FALSE(test, hit(&site, &regs));
	KUNIT_EXPECT_MEMEQ(test, &regs, &untouched, sizeof(regs));
}

#ifdef CONFIG_HAVE_TEXT_POKE_SLOTS
/* After the instruction is the trap that leads back to the site. */
static void slots_hold_the_instruction_and_a_trap(struct kunit *test)
{
	u8 slot[TEXT_POKE_SLOT], trap[LEN], stack[STACK] __aligned(16);
	struct text_poke_site site;
	const struct insn *insn;
	struct pt_regs regs;

	text_poke_test_trap(trap);
	for (insn = insns; insn < INSNS_END; insn++) {
		if (!insn->ool || prepare(&site, NULL, insn, insn->bytes))
			continue;
		site.slot = slot;
		arch_text_poke_slot(&site, slot);
		KUNIT_EXPECT_MEMEQ(test, slot, insn->bytes, insn->len);
		KUNIT_EXPECT_MEMEQ(test, slot + insn->len, trap,
				   TEXT_POKE_UNIT);
		randomise(&regs, stack, site.addr);
		KUNIT_EXPECT_TRUE(test, hit(&site, &regs));
		KUNIT_EXPECT_EQ(test, instruction_pointer(&regs),
				(unsigned long)slot);
	}
}
#endif

/*
 * The longest instruction covers two sites of the field at most.  What is there
 * now may be one that is not to be replaced, or several; no CPU executes it.
 */
static void restore_field(struct kunit *test)
{
	u8 nop[LEN];
	int i;

	text_poke_test_nop(nop);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, 0, put_unasked(field_addr(i), nop, LEN));
}

/* Put another instruction of this length into the field, to be replaced. */
static void make_room(struct kunit *test, const struct insn *insn)
{
	const struct insn *other = insns;

	while (other < INSNS_END &&
	       (!is_emulated(other) || other->len != insn->len || other == insn))
		other++;
	if (other == INSNS_END)
		return;
	KUNIT_EXPECT_EQ(test, 0, put_unasked(field_addr(0), other->bytes,
					     other->len));
}

/*
 * What a batch makes of it.  Some can be emulated, but no CPU may come to where
 * they are just stored, nor to where a trap is stored over them.
 */
static int batch_ret(const struct insn *insn)
{
	if (!insn->ret && !insn->atomic && TEXT_POKE_TEST_ATOMIC_ONLY)
		return -EOPNOTSUPP;
	return insn->ret;
}

/* A refused instruction leaves what was there. */
static void check_write(struct kunit *test, const struct insn *insn)
{
	int ret = batch_ret(insn);
	void *addr = field_addr(0);
	u8 before[TEXT_POKE_MAX];

	make_room(test, insn);
	memcpy(before, addr, insn->len);
	KUNIT_EXPECT_EQ_MSG(test, ret,
			    poke(addr, before, insn->bytes, insn->len), "%s",
			    insn->name);
	KUNIT_EXPECT_MEMEQ(test, addr, ret ? before : insn->bytes, insn->len);
	restore_field(test);
}

static void instructions_are_written_unheard(struct kunit *test)
{
	const struct insn *insn;

	for (insn = insns; insn < INSNS_END; insn++)
		check_write(test, insn);
}

static void instructions_are_written_guarded(struct kunit *test)
{
	const struct insn *insn;

	text_poke_test_listen(test);
	for (insn = insns; insn < INSNS_END; insn++)
		check_write(test, insn);
}

/* Stores left until one fails. */
static int stores_left;

static int failing_store(void *alias, const void *bytes, size_t len)
{
	if (!stores_left--)
		return -EFAULT;
	return copy_to_kernel_nofault(alias, bytes, len);
}

/* Returns whether the change was made; if not, nothing must be left of it. */
static bool poke_failing_at(struct kunit *test, const struct insn *insn,
			    int stores)
{
	void *addr = field_addr(0);
	u8 before[TEXT_POKE_MAX];
	int ret;

	memcpy(before, addr, insn->len);
	stores_left = stores;
	text_poke_test_store(failing_store);
	ret = poke(addr, before, insn->bytes, insn->len);
	text_poke_test_store(NULL);
	if (!ret)
		return true;
	KUNIT_EXPECT_EQ(test, ret, -EFAULT);
	KUNIT_EXPECT_MEMEQ(test, addr, before, insn->len);
	return false;
}

/* One for the slot, the trap, the tail and the unit each. */
static void failed_stores_leave_the_old_instruction(struct kunit *test)
{
	const struct insn *insn;
	int failed;

	text_poke_test_listen(test);
	for (insn = insns; insn < INSNS_END; insn++) {
		if (batch_ret(insn))
			continue;
		make_room(test, insn);
		failed = 0;
		while (failed < 10 && !poke_failing_at(test, insn, failed))
			failed++;
		KUNIT_EXPECT_EQ_MSG(test, failed,
				    (insn->len > TEXT_POKE_UNIT ? 3 : 2) +
				    insn->ool, "%s", insn->name);
		restore_field(test);
	}
}

static void misaligned_sites_are_refused(struct kunit *test)
{
	struct text_poke_site site;
	const struct insn *insn;
	int off;

	for (insn = insns; insn < INSNS_END; insn++) {
		if (insn->ret)
			continue;
		KUNIT_EXPECT_EQ(test, 0, prepare(&site, NULL, insn,
						 insn->bytes));
		for (off = 1; off < TEXT_POKE_TEST_ALIGN; off++) {
			site.addr = field_addr(0) + off;
			KUNIT_EXPECT_EQ(test, -EINVAL,
					arch_text_poke_prepare(&site,
							       insn->bytes));
		}
	}
}

/* Word by word, for the alias may be where a sanitizer does not look. */
static bool alias_shows(void *addr, size_t len)
{
	struct arch_text_poke_map map;
	size_t room = len;
	void *alias = arch_text_poke_map(addr, &room, &map);
	bool same = alias && room == len;
	size_t i;

	for (i = 0; same && i < len; i += sizeof(long))
		same = READ_ONCE_NOCHECK(*(long *)(alias + i)) ==
		       *(long *)(addr + i);
	if (alias)
		arch_text_poke_unmap(&map);
	return same;
}

/* To the end of the page, wherever in it the mapping begins. */
static void alias_shows_the_text(struct kunit *test)
{
	static const size_t offsets[] = { 0, 64, PAGE_SIZE - sizeof(long) };
	void *page = (void *)((unsigned long)field_addr(0) & PAGE_MASK);
	int i;

	guard(mutex)(&text_mutex);
	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		KUNIT_EXPECT_TRUE_MSG(test, alias_shows(page + offsets[i],
							PAGE_SIZE - offsets[i]),
				      "at %zu", offsets[i]);
}

/* Text that can be written needs no alias. */
static bool writes_in_place(void)
{
	struct arch_text_poke_map map;
	size_t len = 1;
	void *alias;

	guard(mutex)(&text_mutex);
	alias = arch_text_poke_map(field_addr(0), &len, &map);
	if (alias)
		arch_text_poke_unmap(&map);
	return alias == field_addr(0);
}

static void alias_goes_away(struct kunit *test)
{
	struct arch_text_poke_map map;
	size_t len = 1;
	void *alias;
	u8 byte;

	if (writes_in_place())
		kunit_skip(test, "text can be written");

	guard(mutex)(&text_mutex);
	alias = arch_text_poke_map(field_addr(0), &len, &map);
	KUNIT_EXPECT_NOT_NULL(test, alias);
	if (!alias)
		return;
	arch_text_poke_unmap(&map);
	KUNIT_EXPECT_NE(test, 0, copy_from_kernel_nofault(&byte, alias, 1));
}

/* Read a byte of an alias, and write it back. */
#ifndef text_poke_test_rewrite
static bool text_poke_test_rewrite(void *alias)
{
	u8 byte;

	return !copy_from_kernel_nofault(&byte, alias, 1) &&
	       !copy_to_kernel_nofault(alias, &byte, 1);
}
#endif

/**
 * struct hijacker - a CPU that tries to write through another one's alias
 * @task:	its thread
 * @to:		where in the alias; NULL: not yet
 * @gone:	the alias is gone, or should be
 * @self:	the CPU whose alias it is can write there
 * @watched:	it was tried often enough while the alias was there
 * @tries:	how often it was tried, before and after
 * @hits:	how often that was a success
 */
struct hijacker {
	struct task_struct *task;
	u8 *to;
	bool gone;
	bool self;
	bool watched;
	unsigned int tries[2];
	unsigned int hits[2];
};

#define HIJACKER_TRIES 10

static struct hijacker hijacker;

static int hijack(void *unused)
{
	while (!kthread_should_stop()) {
		/* Pairs with the release in watched_alias(). */
		u8 *to = smp_load_acquire(&hijacker.to);
		bool gone = READ_ONCE(hijacker.gone);

		if (to) {
			hijacker.hits[gone] += text_poke_test_rewrite(to);
			WRITE_ONCE(hijacker.tries[gone], hijacker.tries[gone] + 1);
		}
		cond_resched();
	}
	return 0;
}

/*
 * CPUs that are emulated in turns come to theirs after a tenth of a second, and some
 * lose it with each fault.
 */
static bool wait_for_tries(void)
{
	unsigned int *tries = &hijacker.tries[hijacker.gone];
	unsigned int enough = READ_ONCE(*tries) + HIJACKER_TRIES;
	unsigned int ms;

	for (ms = 0; ms < 5000 && READ_ONCE(*tries) < enough; ms++)
		mdelay(1);
	return READ_ONCE(*tries) >= enough;
}

/* After the site, or after its tail, is another one which stays as it is. */
static int watched_alias(void *alias, const void *bytes, size_t len)
{
	hijacker.self = text_poke_test_rewrite(alias + LEN);
	/* Pairs with the acquire in hijack(). */
	smp_store_release(&hijacker.to, alias + LEN);
	hijacker.watched = wait_for_tries();
	return copy_to_kernel_nofault(alias, bytes, len);
}

/* Not close to the end of a page, where the alias would end as well. */
static void *watched_site(void)
{
	unsigned int i = 0;

	while (offset_in_page(field_addr(i)) > PAGE_SIZE - 4 * LEN)
		i++;
	return field_addr(i);
}

static void poke_watched(struct kunit *test)
{
	void *site = watched_site();
	u8 nop[LEN], jump[LEN];

	text_poke_test_nop(nop);
	text_poke_test_jump(jump, site, site + LEN);

	guard(own_pokes)();
	text_poke_test_store(watched_alias);
	KUNIT_EXPECT_EQ(test, 0, text_poke_single(site, nop, jump, LEN, NULL));
	text_poke_test_store(NULL);
	WRITE_ONCE(hijacker.gone, true);
	KUNIT_EXPECT_TRUE(test, wait_for_tries());
	WRITE_ONCE(hijacker.to, NULL);
	kthread_stop(hijacker.task);
	KUNIT_EXPECT_EQ(test, 0, text_poke_single(site, jump, nop, LEN, NULL));
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(site + LEN, nop, LEN));
}

/*
 * While a CPU writes, its alias is there for the others as well or it is not,
 * as the architecture has it.  Afterwards it is there for none.
 */
static void alias_is_no_use_to_others(struct kunit *test)
{
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a second CPU");
	if (writes_in_place())
		kunit_skip(test, "text can be written");

	memset(&hijacker, 0, sizeof(hijacker));
	migrate_disable();
	hijacker.task = kthread_create(hijack, NULL, "text_poke_test");
	if (!IS_ERR(hijacker.task)) {
		kthread_bind(hijacker.task,
			     cpumask_any_but(cpu_online_mask,
					     smp_processor_id()));
		wake_up_process(hijacker.task);
		poke_watched(test);
	}
	migrate_enable();

	KUNIT_ASSERT_FALSE(test, IS_ERR(hijacker.task));
	KUNIT_EXPECT_TRUE(test, hijacker.self);
	KUNIT_EXPECT_TRUE(test, hijacker.watched);
	KUNIT_EXPECT_EQ(test, !!hijacker.hits[false],
			TEXT_POKE_TEST_ALIAS_IS_SHARED);
	KUNIT_EXPECT_EQ(test, hijacker.hits[true], 0);
	kunit_info(test, "%u of %u writes while it is there, %u of %u later",
		   hijacker.hits[false], hijacker.tries[false],
		   hijacker.hits[true], hijacker.tries[true]);
}

/**
 * struct masked - a CPU that cannot take an interrupt for a while
 * @task:	what keeps it busy
 * @begun:	interrupts are off
 * @ending:	they will be on in a moment
 */
struct masked {
	struct task_struct *task;
	bool begun;
	bool ending;
};

static int mask_for_a_while(void *data)
{
	struct masked *masked = data;

	local_irq_disable();
	WRITE_ONCE(masked->begun, true);
	mdelay(20);
	WRITE_ONCE(masked->ending, true);
	local_irq_enable();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* Until it has taken the interrupt a CPU may be executing what it fetched. */
static void expect_wait(struct kunit *test, void (*sync)(struct kunit *test))
{
	struct masked masked = {};
	int other;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a second CPU");

	migrate_disable();
	other = cpumask_any_but(cpu_online_mask, smp_processor_id());
	masked.task = kthread_create(mask_for_a_while, &masked, "text_poke_test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(masked.task));
	kthread_bind(masked.task, other);
	wake_up_process(masked.task);
	while (!READ_ONCE(masked.begun))
		cond_resched();

	sync(test);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(masked.ending));
	kthread_stop(masked.task);
	migrate_enable();
}

static void sync_alone(struct kunit *test)
{
	guard(mutex)(&text_mutex);
	arch_text_poke_sync();
}

static void sync_waits_for_every_cpu(struct kunit *test)
{
	if (!text_poke_test_sync_interrupts())
		kunit_skip(test, "a sync does without interrupts");
	expect_wait(test, sync_alone);
}

static void poke_once(struct kunit *test)
{
	u8 nop[LEN], jump[LEN];

	text_poke_test_nop(nop);
	text_poke_test_jump(jump, field_addr(0), field_addr(1));
	KUNIT_EXPECT_EQ(test, 0, poke(field_addr(0), nop, jump, LEN));
}

static void poke_back(struct kunit *test)
{
	u8 nop[LEN];

	text_poke_test_nop(nop);
	KUNIT_EXPECT_EQ(test, 0, poke(field_addr(0), NULL, nop, LEN));
}

/* Nor is a batch at its end before. */
static void batches_wait_for_every_cpu(struct kunit *test)
{
	if (!text_poke_test_sync_interrupts())
		kunit_skip(test, "a sync does without interrupts");
	expect_wait(test, poke_once);
	expect_wait(test, poke_back);
}

static int conformance_init(struct kunit *test)
{
	prandom_seed_state(&rnd, 20);
	return 0;
}

static void conformance_exit(struct kunit *test)
{
	int i, wrong = 0;
	u8 nop[LEN];

	text_poke_test_nop(nop);
	for (i = 0; i < TEXT_POKE_TEST_FIELD; i++)
		wrong += !!text_poke_verify(field_addr(i), nop, LEN);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static struct kunit_case conformance_cases[] = {
	KUNIT_CASE(decoder_knows_what_can_be_emulated),
	KUNIT_CASE(only_what_could_be_put_there_may_go),
	KUNIT_CASE(cut_off_instructions_are_refused),
	KUNIT_CASE(misaligned_sites_are_refused),
	KUNIT_CASE(only_atomic_pairs_are_exchanged_directly),
	KUNIT_CASE(encoders_agree_with_the_manual),
	KUNIT_CASE(traps_are_as_the_manual_has_them),
	KUNIT_CASE(passed_traps_are_those_of_their_owner),
	KUNIT_CASE(traps_are_told_from_anything_else),
	KUNIT_CASE(traps_say_where_they_are),
	KUNIT_CASE(handler_emulates_as_the_manual_says),
	KUNIT_CASE(handler_emulates_as_it_is_told),
	KUNIT_CASE(handler_emulates_random_instructions),
	KUNIT_CASE(handler_leaves_passed_traps_alone),
#ifdef CONFIG_HAVE_TEXT_POKE_SLOTS
	KUNIT_CASE(slots_hold_the_instruction_and_a_trap),
#endif
	KUNIT_CASE(instructions_are_written_unheard),
	KUNIT_CASE(instructions_are_written_guarded),
	KUNIT_CASE_SLOW(failed_stores_leave_the_old_instruction),
	KUNIT_CASE(alias_shows_the_text),
	KUNIT_CASE(alias_goes_away),
	KUNIT_CASE(alias_is_no_use_to_others),
	KUNIT_CASE(sync_waits_for_every_cpu),
	KUNIT_CASE(batches_wait_for_every_cpu),
	{}
};

static struct kunit_suite conformance_suite = {
	.name		= "text_poke_conformance",
	.init		= conformance_init,
	.exit		= conformance_exit,
	.test_cases	= conformance_cases,
};

kunit_test_suite(conformance_suite);

MODULE_DESCRIPTION("KUnit test of a text poke backend");
MODULE_LICENSE("GPL");
