// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of what bpf_arch_text_poke() does to the entry of a program.
 *
 * A program that returns its number is called while its entry leads to one
 * trampoline or another, which count and go back, to a program in its stead,
 * which does not, or nowhere.  The three are of the architecture, and far from
 * the program where modules are far from the kernel.
 */
#include <kunit/static_stub.h>
#include <kunit/test-bug.h>
#include <kunit/test.h>
#include <linux/bpf.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/filter.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/perf_event.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "../fault.h"
#include "../internal.h"
#include "../listener.h"
#include "arch_test.h"

/* Where there is no bpf_arch_text_poke() there is no row either. */
#ifdef TEXT_POKE_TEST_BPF_ASM

#define NUMBER	70001
#define OTHER	42

/* Counts the calls of each trampoline. */
extern unsigned long text_poke_test_bpf_hits[2];
unsigned long text_poke_test_bpf_hits[2];

void text_poke_test_bpf_first(void);
void text_poke_test_bpf_second(void);
void text_poke_test_bpf_instead(void);

#define FIRST	text_poke_test_bpf_first
#define SECOND	text_poke_test_bpf_second
#define INSTEAD	text_poke_test_bpf_instead

asm("	.pushsection .text, \"ax\", @progbits\n"
	"	.balign 4\n"
	TEXT_POKE_TEST_BPF_ASM
	"	.popsection\n");

/* The program of a case; and one of the suite, so that the pages for programs stay. */
static struct bpf_prog *prog, *keeper;

/* As a loader has them, which has the first reference. */
static struct bpf_prog *make_prog(enum bpf_prog_type type,
				  enum bpf_attach_type attach,
				  const struct bpf_insn *insns, unsigned int len)
{
	struct bpf_prog *made = bpf_prog_alloc(bpf_prog_size(len), 0);
	int err = 0;

	if (!made)
		return NULL;
	made->len = len;
	made->type = type;
	made->expected_attach_type = attach;
	atomic64_set(&made->aux->refcnt, 1);
	memcpy(made->insnsi, insns, len * sizeof(*insns));
	made = bpf_prog_select_runtime(made, &err);
	if (!err) {
		bpf_prog_kallsyms_add(made);
		return made;
	}
	bpf_prog_free(made);
	return NULL;
}

static void free_prog(struct bpf_prog *made)
{
	if (!made)
		return;
	bpf_prog_kallsyms_del_all(made);
	bpf_prog_free(made);
}

static unsigned int call_prog(void)
{
	return bpf_prog_run_pin_on_cpu(prog, NULL);
}

static int poke(enum bpf_text_poke_type type, void *old, void *new)
{
	return bpf_arch_text_poke((void *)prog->bpf_func, type, old, new);
}

static unsigned long hits(int of)
{
	return READ_ONCE(text_poke_test_bpf_hits[of]);
}

/* Call it, and see which trampoline that has come through. */
static void expect_hits(struct kunit *test, unsigned long first,
			unsigned long second)
{
	unsigned long before[] = { hits(0), hits(1) };

	KUNIT_EXPECT_EQ(test, call_prog(), NUMBER);
	KUNIT_EXPECT_EQ(test, hits(0) - before[0], first);
	KUNIT_EXPECT_EQ(test, hits(1) - before[1], second);
}

static void come_and_go(struct kunit *test)
{
	expect_hits(test, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_CALL, NULL, FIRST));
	expect_hits(test, 1, 0);
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_CALL, FIRST, SECOND));
	expect_hits(test, 0, 1);
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_CALL, SECOND, NULL));
	expect_hits(test, 0, 0);
}

static void trampolines_come_and_go(struct kunit *test)
{
	come_and_go(test);
}

static void trampolines_come_and_go_guarded(struct kunit *test)
{
	struct perf_event *listener = text_poke_listener_open(0);
	u64 before = text_poke_stats.records;

	KUNIT_ASSERT_FALSE(test, IS_ERR(listener));
	come_and_go(test);
	/* At least: what is far away has a literal besides. */
	KUNIT_EXPECT_GE(test, text_poke_stats.records - before, 3);
	perf_event_release_kernel(listener);
}

static void programs_take_the_place_of_others(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_JUMP, NULL, INSTEAD));
	KUNIT_EXPECT_EQ(test, call_prog(), OTHER);
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_JUMP, INSTEAD, NULL));
	expect_hits(test, 0, 0);
}

#if TEXT_POKE_TEST_BPF_LEAD
/* A task may be preempted after what leads up to the call. */
static void what_leads_up_to_the_call_stays(struct kunit *test)
{
	u8 before[TEXT_POKE_TEST_BPF_LEAD];

	memcpy(before, prog->bpf_func, TEXT_POKE_TEST_BPF_LEAD);
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_CALL, NULL, FIRST));
	KUNIT_EXPECT_MEMEQ(test, before, prog->bpf_func,
			   TEXT_POKE_TEST_BPF_LEAD);
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_CALL, FIRST, NULL));
	KUNIT_EXPECT_MEMEQ(test, before, prog->bpf_func,
			   TEXT_POKE_TEST_BPF_LEAD);
}
#endif

#ifdef TEXT_POKE_TEST_BPF_LAST
/* Or what disassembles it takes the literal for instructions. */
static void its_length_is_that_of_its_instructions(struct kunit *test)
{
	const void *last = (void *)prog->bpf_func + prog->jited_len -
			   sizeof(u32);

	KUNIT_EXPECT_EQ(test, get_unaligned_le32(last),
			TEXT_POKE_TEST_BPF_LAST);
}

static void the_literal_behind_it_is_text(struct kunit *test)
{
	unsigned long literal = ALIGN((unsigned long)prog->bpf_func +
				      prog->jited_len, sizeof(u64));

	KUNIT_EXPECT_TRUE(test, is_bpf_text_address(literal));
	KUNIT_EXPECT_TRUE(test, is_bpf_text_address(literal + sizeof(u64) - 1));
}
#endif

/* What is there is something else, also where there is no program. */
static void wrong_targets_change_nothing(struct kunit *test)
{
	KUNIT_EXPECT_LT(test, poke(BPF_MOD_CALL, FIRST, SECOND), 0);
	KUNIT_EXPECT_LT(test, bpf_arch_text_poke(FIRST, BPF_MOD_CALL, NULL,
						 SECOND), 0);
	come_and_go(test);
}

#if defined(TEXT_POKE_TEST_BPF_HOLDS_CPUS) && \
	defined(CONFIG_FAIL_TEXT_POKE)
static struct completion cpu_came_and_went;
static int unplug_error;

static int unplug(void *cpu)
{
	unplug_error = remove_cpu((unsigned long)cpu) ?:
		       add_cpu((unsigned long)cpu);
	complete(&cpu_came_and_went);
	return 0;
}

static unsigned long unplugged;
static bool went_meanwhile;

/* In the middle of the batch, which a CPU need not wait for in order to go. */
static void wait_for_unplug(void)
{
	unsigned long end = jiffies + HZ;

	if (unplugged)
		return;
	unplugged = cpumask_last(cpu_online_mask);
	if (IS_ERR(kthread_run(unplug, (void *)unplugged, "text_poke")))
		complete(&cpu_came_and_went);
	while (cpu_online(unplugged) && time_before(jiffies, end))
		msleep(20);
	went_meanwhile = !cpu_online(unplugged);
}

/* A CPU that is not told to refetch might get half of the jump. */
static void no_cpu_goes_meanwhile(struct kunit *test)
{
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a second CPU");
	init_completion(&cpu_came_and_went);
	unplug_error = -ENOMEM;
	unplugged = 0;
	kunit_activate_static_stub(test, text_poke_delay, wait_for_unplug);
	text_poke_fail_always(TEXT_POKE_FAULT_REST);
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_CALL, NULL, FIRST));
	text_poke_fail_no_more();
	kunit_deactivate_static_stub(test, text_poke_delay);
	KUNIT_ASSERT_NE(test, unplugged, 0);
	KUNIT_EXPECT_FALSE(test, went_meanwhile);
	wait_for_completion(&cpu_came_and_went);
	KUNIT_EXPECT_EQ(test, 0, unplug_error);
	expect_hits(test, 1, 0);
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_CALL, FIRST, NULL));
}
#endif

#if defined(CONFIG_HAVE_STATIC_CALL) && defined(CONFIG_KPROBES)
DECLARE_BPF_DISPATCHER(text_poke_test)
DEFINE_BPF_DISPATCHER(text_poke_test)

#define HALF	(PAGE_SIZE / 2)

/**
 * struct recorded - what the records of the dispatcher say
 * @addr:	where
 * @old:	the bytes from before the first
 * @new:	the bytes from then on
 * @nr:		how many there were
 * @again:	the last one says that what was to be there is there
 */
static struct recorded {
	const void *addr;
	u8 old[HALF];
	u8 new[HALF];
	unsigned int nr;
	bool again;
} recorded;

/* perf_event_text_poke(), called by what has a record to emit. */
static int note_record(struct kprobe *probe, struct pt_regs *regs)
{
	const void *addr = (void *)regs_get_kernel_argument(regs, 0);
	const void *image = BPF_DISPATCHER_PTR(text_poke_test)->image;
	const u8 *old, *new;

	if (!image || addr < image || addr >= image + PAGE_SIZE ||
	    regs_get_kernel_argument(regs, 2) != HALF ||
	    regs_get_kernel_argument(regs, 4) != HALF)
		return 0;
	old = (void *)regs_get_kernel_argument(regs, 1);
	new = (void *)regs_get_kernel_argument(regs, 3);
	if (!recorded.nr++)
		memcpy(recorded.old, old, HALF);
	recorded.addr = addr;
	recorded.again = !memcmp(old, new, HALF);
	memcpy(recorded.new, new, HALF);
	return 0;
}

static struct kprobe record_probe;

/* It holds references, and the loader of a program has the first. */
static void dispatch(struct bpf_prog *from, struct bpf_prog *to)
{
	bpf_dispatcher_change_prog(BPF_DISPATCHER_PTR(text_poke_test), from,
				   to);
}

static unsigned int call_dispatched(void)
{
	return BPF_DISPATCHER_FUNC(text_poke_test)(NULL, prog->insnsi,
						   prog->bpf_func);
}

static void expect_recorded(struct kunit *test)
{
	struct bpf_dispatcher *d = BPF_DISPATCHER_PTR(text_poke_test);

	/* Before it is written, and when it is. */
	KUNIT_EXPECT_EQ(test, recorded.nr, 2);
	KUNIT_EXPECT_TRUE(test, recorded.again);
	KUNIT_EXPECT_PTR_EQ(test, recorded.addr, d->sc_key->func);
	KUNIT_EXPECT_MEMEQ(test, recorded.new, recorded.addr, HALF);
	KUNIT_EXPECT_EQ(test, call_dispatched(), NUMBER);
}

/* Where the program goes there has been @before; NULL: whatever it was. */
static void dispatch_recorded(struct kunit *test, const u8 *before)
{
	recorded.nr = 0;
	dispatch(NULL, prog);
	expect_recorded(test);
	if (before)
		KUNIT_EXPECT_MEMEQ(test, recorded.old, before, HALF);
	dispatch(prog, NULL);
	KUNIT_EXPECT_EQ(test, call_dispatched(), NUMBER);
}

static void dispatchers_are_recorded(struct kunit *test)
{
	static u8 half[HALF];

	record_probe = (struct kprobe) {
		.symbol_name	= "perf_event_text_poke",
		.pre_handler	= note_record,
	};
	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&record_probe));
	dispatch_recorded(test, NULL);
	memcpy(half, recorded.new, HALF);
	dispatch_recorded(test, half);
	unregister_kprobe(&record_probe);
}

#ifdef CONFIG_FAIL_TEXT_POKE
static unsigned int said;

static void hear(const char *what, const void *where, int error)
{
	said++;
}

/* What is executed is not written, and what the dispatcher does not know runs. */
static void dispatchers_that_stay_are_left_alone(struct kunit *test)
{
	struct bpf_dispatcher *d = BPF_DISPATCHER_PTR(text_poke_test);
	static u8 page[PAGE_SIZE];

	kunit_activate_static_stub(test, text_poke_failed, hear);
	dispatch(NULL, prog);
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	dispatch(prog, NULL);
	text_poke_fail_no_more();
	KUNIT_EXPECT_EQ(test, said, 1);
	KUNIT_EXPECT_EQ(test, call_dispatched(), NUMBER);

	memcpy(page, d->image, PAGE_SIZE);
	dispatch(NULL, prog);
	dispatch(prog, NULL);
	KUNIT_EXPECT_MEMEQ(test, page, d->image, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, call_dispatched(), NUMBER);
}
#endif
#endif

#ifdef CONFIG_FAIL_TEXT_POKE
/* No program that is loaded has such a number. */
#define TRAMPOLINE_KEY	U64_MAX

/* How often each tracer has been called. */
static u64 traced[2];

static int failing(int (*change)(struct bpf_tramp_link *link,
				 struct bpf_trampoline *tr,
				 struct bpf_prog *tgt_prog),
		   struct bpf_tramp_link *link, struct bpf_trampoline *tr)
{
	int ret;

	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	ret = change(link, tr, prog);
	text_poke_fail_no_more();
	return ret;
}

static s64 references(const struct bpf_prog *to)
{
	return atomic64_read(&to->aux->refcnt);
}

/* Counts into one of them, and lets the program go on. */
static struct bpf_prog *make_tracer(u64 *count)
{
	const struct bpf_insn insns[] = {
		BPF_LD_IMM64(BPF_REG_1, (unsigned long)count),
		BPF_LDX_MEM(BPF_DW, BPF_REG_2, BPF_REG_1, 0),
		BPF_ALU64_IMM(BPF_ADD, BPF_REG_2, 1),
		BPF_STX_MEM(BPF_DW, BPF_REG_1, BPF_REG_2, 0),
		BPF_MOV64_IMM(BPF_REG_0, 0),
		BPF_EXIT_INSN(),
	};

	return make_prog(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, insns,
			 ARRAY_SIZE(insns));
}

/* Is called in the place of another one. */
static struct bpf_prog *make_extension(void)
{
	const struct bpf_insn insns[] = {
		BPF_MOV64_IMM(BPF_REG_0, OTHER),
		BPF_EXIT_INSN(),
	};

	return make_prog(BPF_PROG_TYPE_SOCKET_FILTER, 0, insns,
			 ARRAY_SIZE(insns));
}

/* A test that fails may leave one linked, so they outlive it. */
static struct bpf_tramp_link *make_link(unsigned int nr, struct bpf_prog *of)
{
	static struct bpf_tramp_link links[2];

	links[nr] = (struct bpf_tramp_link) { .link.prog = of };
	return &links[nr];
}

static struct bpf_trampoline *get_trampoline(void)
{
	struct bpf_attach_target_info target = {
		.fmodel = {
			.ret_size	= sizeof(u32),
			.nr_args	= 1,
			.arg_size	= { sizeof(void *) },
		},
		.tgt_addr = (long)prog->bpf_func,
	};

	return bpf_trampoline_get(TRAMPOLINE_KEY, &target);
}

static void expect_traced(struct kunit *test, u64 first, u64 second)
{
	u64 before[] = { READ_ONCE(traced[0]), READ_ONCE(traced[1]) };

	KUNIT_EXPECT_EQ(test, call_prog(), NUMBER);
	KUNIT_EXPECT_EQ(test, READ_ONCE(traced[0]) - before[0], first);
	KUNIT_EXPECT_EQ(test, READ_ONCE(traced[1]) - before[1], second);
}

/*
 * The last tracer goes, and the call of its image cannot be removed.  It still
 * leads there, until the next tracer has an image of its own.
 */
static void keep_image(struct kunit *test, struct bpf_trampoline *tr,
		       struct bpf_prog * const *tracers)
{
	struct bpf_tramp_link *first = make_link(0, tracers[0]);
	struct bpf_tramp_link *second = make_link(1, tracers[1]);
	struct bpf_tramp_image *image;

	KUNIT_ASSERT_EQ(test, 0, bpf_trampoline_link_prog(first, tr, prog));
	expect_traced(test, 1, 0);
	image = tr->cur_image;

	KUNIT_EXPECT_LT(test, failing(bpf_trampoline_unlink_prog, first, tr), 0);
	KUNIT_ASSERT_PTR_EQ(test, tr->cur_image, image);
	KUNIT_ASSERT_TRUE(test, is_bpf_text_address((long)image->image));
	KUNIT_ASSERT_EQ(test, references(tracers[0]), 2);
	KUNIT_ASSERT_EQ(test, refcount_read(&tr->refcnt), 2);
	expect_traced(test, 1, 0);

	KUNIT_EXPECT_LT(test, failing(bpf_trampoline_link_prog, second, tr), 0);
	KUNIT_ASSERT_PTR_EQ(test, tr->cur_image, image);
	expect_traced(test, 1, 0);

	KUNIT_ASSERT_EQ(test, 0, bpf_trampoline_link_prog(second, tr, prog));
	expect_traced(test, 0, 1);
	KUNIT_ASSERT_EQ(test, 0, bpf_trampoline_unlink_prog(second, tr, prog));
	expect_traced(test, 0, 0);

	/* Which was the program's that stayed, and is called no more. */
	bpf_trampoline_put(tr);
}

static void trampolines_that_are_called_stay(struct kunit *test)
{
	struct bpf_prog *tracers[] = {
		make_tracer(&traced[0]), make_tracer(&traced[1]),
	};
	struct bpf_trampoline *tr = get_trampoline();

	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_ASSERT_NOT_NULL(test, tracers[0]);
	KUNIT_ASSERT_NOT_NULL(test, tracers[1]);
	keep_image(test, tr, tracers);
	bpf_trampoline_put(tr);
	free_prog(tracers[0]);
	free_prog(tracers[1]);
}

/* The jump to it cannot be removed, and then it can. */
static void extensions_that_are_called_stay(struct kunit *test)
{
	struct bpf_prog *extension = make_extension();
	struct bpf_tramp_link *link = make_link(0, extension);
	struct bpf_trampoline *tr = get_trampoline();

	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_ASSERT_NOT_NULL(test, extension);
	KUNIT_ASSERT_EQ(test, 0, bpf_trampoline_link_prog(link, tr, prog));
	KUNIT_EXPECT_EQ(test, call_prog(), OTHER);

	KUNIT_EXPECT_LT(test, failing(bpf_trampoline_unlink_prog, link, tr), 0);
	KUNIT_ASSERT_PTR_EQ(test, tr->extension_prog, extension);
	KUNIT_ASSERT_EQ(test, references(extension), 2);
	KUNIT_ASSERT_EQ(test, refcount_read(&tr->refcnt), 2);
	KUNIT_EXPECT_EQ(test, call_prog(), OTHER);

	KUNIT_ASSERT_EQ(test, 0, bpf_trampoline_unlink_prog(link, tr, prog));
	KUNIT_EXPECT_EQ(test, call_prog(), NUMBER);
	bpf_trampoline_put(tr);
	bpf_trampoline_put(tr);
	free_prog(extension);
}
#endif

static struct bpf_prog *make_number(void)
{
	const struct bpf_insn insns[] = {
		BPF_MOV64_IMM(BPF_REG_0, NUMBER),
		BPF_EXIT_INSN(),
	};

	return make_prog(BPF_PROG_TYPE_SOCKET_FILTER, 0, insns,
			 ARRAY_SIZE(insns));
}

/* To fill 2 MiB for the first program takes RISC-V 4 s under QEMU. */
static int bpf_suite_init(struct kunit_suite *suite)
{
	keeper = make_number();
	return keeper ? 0 : -ENOMEM;
}

static void bpf_suite_exit(struct kunit_suite *suite)
{
	free_prog(keeper);
	keeper = NULL;
}

static int bpf_init(struct kunit *test)
{
	prog = make_number();
	if (!prog)
		return -ENOMEM;
	if (!prog->jited)
		kunit_skip(test, "programs are interpreted");
	return 0;
}

static void bpf_exit(struct kunit *test)
{
	free_prog(prog);
	prog = NULL;
}

static struct kunit_case bpf_cases[] = {
	KUNIT_CASE(trampolines_come_and_go),
	KUNIT_CASE(trampolines_come_and_go_guarded),
	KUNIT_CASE(programs_take_the_place_of_others),
#if TEXT_POKE_TEST_BPF_LEAD
	KUNIT_CASE(what_leads_up_to_the_call_stays),
#endif
#ifdef TEXT_POKE_TEST_BPF_LAST
	KUNIT_CASE(its_length_is_that_of_its_instructions),
	KUNIT_CASE(the_literal_behind_it_is_text),
#endif
	KUNIT_CASE(wrong_targets_change_nothing),
#if defined(TEXT_POKE_TEST_BPF_HOLDS_CPUS) && \
	defined(CONFIG_FAIL_TEXT_POKE)
	KUNIT_CASE_SLOW(no_cpu_goes_meanwhile),
#endif
#if defined(CONFIG_HAVE_STATIC_CALL) && defined(CONFIG_KPROBES)
	KUNIT_CASE(dispatchers_are_recorded),
#ifdef CONFIG_FAIL_TEXT_POKE
	KUNIT_CASE(dispatchers_that_stay_are_left_alone),
#endif
#endif
#ifdef CONFIG_FAIL_TEXT_POKE
	KUNIT_CASE(trampolines_that_are_called_stay),
	KUNIT_CASE(extensions_that_are_called_stay),
#endif
	{}
};

static struct kunit_suite bpf_suite = {
	.name		= "text_poke_bpf",
	.suite_init	= bpf_suite_init,
	.suite_exit	= bpf_suite_exit,
	.init		= bpf_init,
	.exit		= bpf_exit,
	.test_cases	= bpf_cases,
};

kunit_test_suite(bpf_suite);

#endif /* TEXT_POKE_TEST_BPF_ASM */

MODULE_DESCRIPTION("KUnit test of changing the entry of BPF programs");
MODULE_LICENSE("GPL");
