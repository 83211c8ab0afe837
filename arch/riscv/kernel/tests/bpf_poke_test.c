// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of what bpf_arch_text_poke() does to the entry of a program.
 *
 * A program that returns its number is called while its entry leads to one
 * trampoline or another, which count and go back, to a program in its stead,
 * which does not, or nowhere.
 */
#include <kunit/test.h>
#include <linux/bpf.h>
#include <linux/err.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include "listener.h"

#define NUMBER	70001
#define OTHER	42

/* Counts the calls of each trampoline. */
extern unsigned long bpf_poke_test_hits[2];
unsigned long bpf_poke_test_hits[2];

void bpf_poke_test_first(void);
void bpf_poke_test_second(void);
void bpf_poke_test_instead(void);

/* With nothing changed but t1 and t2, and back to where t0 says. */
asm("	.pushsection .text, \"ax\", @progbits\n"
	"	.balign 4\n"
	"bpf_poke_test_first:\n"
	"	lla	t1, bpf_poke_test_hits\n"
	"	j	1f\n"
	"bpf_poke_test_second:\n"
	"	lla	t1, bpf_poke_test_hits + 8\n"
	"1:	ld	t2, (t1)\n"
	"	addi	t2, t2, 1\n"
	"	sd	t2, (t1)\n"
	"	jr	t0\n"
	"bpf_poke_test_instead:\n"
	"	li	a0, 42\n"
	"	ret\n"
	"	.popsection\n");

static struct bpf_prog *prog;

static unsigned int call_prog(void)
{
	return bpf_prog_run_pin_on_cpu(prog, NULL);
}

static int poke(enum bpf_text_poke_type type, void *old, void *new)
{
	return bpf_arch_text_poke(prog->bpf_func, type, old, new);
}

/* Call it, and see which trampoline that has come through. */
static void expect_hits(struct kunit *test, unsigned long first,
			unsigned long second)
{
	unsigned long before[2];

	memcpy(before, bpf_poke_test_hits, sizeof(before));
	KUNIT_EXPECT_EQ(test, call_prog(), NUMBER);
	KUNIT_EXPECT_EQ(test, READ_ONCE(bpf_poke_test_hits[0]) - before[0],
			first);
	KUNIT_EXPECT_EQ(test, READ_ONCE(bpf_poke_test_hits[1]) - before[1],
			second);
}

static void come_and_go(struct kunit *test)
{
	expect_hits(test, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_CALL, NULL, bpf_poke_test_first));
	expect_hits(test, 1, 0);
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_CALL, bpf_poke_test_first,
				      bpf_poke_test_second));
	expect_hits(test, 0, 1);
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_CALL, bpf_poke_test_second, NULL));
	expect_hits(test, 0, 0);
}

static void trampolines_come_and_go(struct kunit *test)
{
	come_and_go(test);
}

static void trampolines_come_and_go_guarded(struct kunit *test)
{
	struct perf_event *listener = text_poke_listener_open(0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(listener));
	come_and_go(test);
	perf_event_release_kernel(listener);
}

static void programs_take_the_place_of_others(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_JUMP, NULL, bpf_poke_test_instead));
	KUNIT_EXPECT_EQ(test, call_prog(), OTHER);
	KUNIT_EXPECT_EQ(test, 0, poke(BPF_MOD_JUMP, bpf_poke_test_instead, NULL));
	expect_hits(test, 0, 0);
}

/* Not what is there, and not the entry of a program. */
static void wrong_targets_change_nothing(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -EFAULT, poke(BPF_MOD_CALL, bpf_poke_test_first,
					    bpf_poke_test_second));
	expect_hits(test, 0, 0);
	KUNIT_EXPECT_NE(test, 0, bpf_arch_text_poke(bpf_poke_test_first,
						    BPF_MOD_CALL, NULL,
						    bpf_poke_test_second));
}

static int bpf_poke_init(struct kunit *test)
{
	struct bpf_insn insns[] = {
		BPF_MOV64_IMM(BPF_REG_0, NUMBER),
		BPF_EXIT_INSN(),
	};
	int err = 0;

	prog = bpf_prog_alloc(bpf_prog_size(ARRAY_SIZE(insns)), 0);
	if (!prog)
		return -ENOMEM;
	prog->len = ARRAY_SIZE(insns);
	prog->type = BPF_PROG_TYPE_SOCKET_FILTER;
	memcpy(prog->insnsi, insns, sizeof(insns));
	prog = bpf_prog_select_runtime(prog, &err);
	if (!err && prog->jited)
		bpf_prog_kallsyms_add(prog);
	return err ?: prog->jited ? 0 : -EOPNOTSUPP;
}

static void bpf_poke_exit(struct kunit *test)
{
	if (!prog)
		return;
	bpf_prog_kallsyms_del_all(prog);
	bpf_prog_free(prog);
	prog = NULL;
}

static struct kunit_case bpf_poke_cases[] = {
	KUNIT_CASE(trampolines_come_and_go),
	KUNIT_CASE(trampolines_come_and_go_guarded),
	KUNIT_CASE(programs_take_the_place_of_others),
	KUNIT_CASE(wrong_targets_change_nothing),
	{}
};

static struct kunit_suite bpf_poke_suite = {
	.name		= "riscv_bpf_poke",
	.init		= bpf_poke_init,
	.exit		= bpf_poke_exit,
	.test_cases	= bpf_poke_cases,
};

kunit_test_suite(bpf_poke_suite);

MODULE_DESCRIPTION("KUnit test of changing the entry of BPF programs");
MODULE_LICENSE("GPL");
