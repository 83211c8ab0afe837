// SPDX-License-Identifier: GPL-2.0
/* QEMU 11: it tells of interrupts and exceptions. */
#include <string.h>

#include "log.h"
#include "plugin.h"

EXPORT int qemu_plugin_version = QEMU_API;

static bool traps_twice;	/* an exception is announced, then delivered */
static bool announced;

int vector_read(const char *path)
{
	return 0;
}

void vector_take_register(const struct qemu_register *reg)
{
}

const struct vector *vector_at(uint64_t addr)
{
	return NULL;
}

void vector_entered(const struct vector *vector, uint64_t to)
{
}

static void on_cpu(unsigned int vcpu, void *data)
{
	plugin_cpu();
}

static void on_translated(struct qemu_plugin_tb *tb, void *data)
{
	plugin_translated(tb);
}

/* A delivery after an announcement is an exception, whatever it is called. */
static void on_trap(unsigned int vcpu, int type, uint64_t from, uint64_t to,
		    void *data)
{
	bool excepted = announced || type == QEMU_EXCEPTION;

	announced = traps_twice && type == QEMU_EXCEPTION;
	if (!announced)
		plugin_trap(excepted ? TRAP_EXCEPTION : TRAP_INTERRUPT, from, to);
}

static void on_exit_of_qemu(void *data)
{
	plugin_end();
}

EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info,
			       int argc, char **argv)
{
	int ret = plugin_install(info, argc, argv);

	if (ret)
		return ret;
	traps_twice = !strcmp(info->target, "x86_64");
	qemu_plugin_register_vcpu_init_cb(id, on_cpu, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated, NULL);
	qemu_plugin_register_vcpu_discon_cb(id, QEMU_INTERRUPT | QEMU_EXCEPTION,
					    on_trap, NULL);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
