// SPDX-License-Identifier: GPL-2.0
/*
 * Where the hypervisor's vectors are in use there is no probe and no tracer
 */
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/text_poke.h>

/* Run with these vectors: of VHE's own objects, and of others. */
static const char *const within[] = {
	"__guest_enter", "__kvm_adjust_pc", "__kvm_vcpu_run",
	"__vgic_v3_perform_cpuif_access", "kvm_hyp_handle_sysreg_vhe",
	"__get_timer_map", "__kvm_tlbi_s1e2", "kvm_vcpu_sanitise_vncr_reg",
	"vcpu_read_sys_reg", "vcpu_write_sys_reg",
};

/* Do not, though they are in the same files. */
static const char *const beside[] = {
	"__kvm_tlb_flush_vmid", "__vcpu_load_switch_sysregs",
	"__vgic_v3_save_state", "get_timer_map", "kvm_vcpu_load_vhe",
};

static int probe(const char *name)
{
	struct kprobe probe = { .symbol_name = name };
	int ret = register_kprobe(&probe);

	if (!ret)
		unregister_kprobe(&probe);
	return ret;
}

static void the_world_switch_takes_no_probe(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(within); i++)
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, probe(within[i]), "%s",
				    within[i]);
	for (i = 0; i < ARRAY_SIZE(beside); i++)
		KUNIT_EXPECT_EQ_MSG(test, 0, probe(beside[i]), "%s", beside[i]);
}

static void the_world_switch_takes_no_trap(struct kunit *test)
{
	void *addr;
	int i;

	for (i = 0; i < ARRAY_SIZE(within); i++) {
		addr = (void *)kallsyms_lookup_name(within[i]);
		KUNIT_EXPECT_NOT_NULL_MSG(test, addr, "%s", within[i]);
		KUNIT_EXPECT_FALSE_MSG(test, arch_text_poke_trappable(addr),
				       "%s", within[i]);
	}
	for (i = 0; i < ARRAY_SIZE(beside); i++) {
		addr = (void *)kallsyms_lookup_name(beside[i]);
		KUNIT_EXPECT_TRUE_MSG(test, arch_text_poke_trappable(addr),
				      "%s", beside[i]);
	}
}

static bool can_be_traced(const char *name)
{
	return ftrace_location(kallsyms_lookup_name(name));
}

static void the_world_switch_is_not_traced(struct kunit *test)
{
	int i;

	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_ARGS))
		kunit_skip(test, "ftrace has no call sites");
	for (i = 0; i < ARRAY_SIZE(within); i++)
		KUNIT_EXPECT_FALSE_MSG(test, can_be_traced(within[i]), "%s",
				       within[i]);
	for (i = 0; i < ARRAY_SIZE(beside); i++)
		KUNIT_EXPECT_TRUE_MSG(test, can_be_traced(beside[i]), "%s",
				      beside[i]);
}

static struct kunit_case vhe_text_cases[] = {
	KUNIT_CASE(the_world_switch_takes_no_probe),
	KUNIT_CASE(the_world_switch_takes_no_trap),
	KUNIT_CASE(the_world_switch_is_not_traced),
	{ }
};

static struct kunit_suite vhe_text_suite = {
	.name = "arm64_vhe_text",
	.test_cases = vhe_text_cases,
};

kunit_test_suite(vhe_text_suite);

MODULE_DESCRIPTION("KUnit test of what VHE runs with the hypervisor's vectors");
MODULE_LICENSE("GPL");
