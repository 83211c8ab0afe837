/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few functions of QEMU's plugin interface that the plugin calls: version 7,
 * which QEMU 11 has, or 4 if QEMU_API says so, which QEMU 10 has. Debian has no
 * package with QEMU's own header, nor is one of glib needed: QEMU is linked with it.
 */
#ifndef TRACE_QEMU_H
#define TRACE_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef QEMU_API
#define QEMU_API	7
#endif

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_register;

struct qemu_info {
	const char *target;
	struct { int min, cur; } version;
	bool system;
	int cpus, cpus_max;
};

struct qemu_register {
	struct qemu_plugin_register *handle;
	const char *name, *feature;
#if QEMU_API >= 7
	bool readonly;
#endif
};

struct garray {
	char *data;
	unsigned int len;
};

enum { QEMU_NO_REGS, QEMU_READS_REGS };
enum { QEMU_INTERRUPT = 1, QEMU_EXCEPTION = 2 };

typedef void (*qemu_cb)(unsigned int vcpu, void *data);

#if QEMU_API >= 7
typedef void (*qemu_translated_cb)(struct qemu_plugin_tb *tb, void *data);
typedef void (*qemu_trap_cb)(unsigned int vcpu, int type, uint64_t from,
			     uint64_t to, void *data);

void qemu_plugin_register_vcpu_init_cb(uint64_t id, qemu_cb cb, void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, qemu_translated_cb cb,
					   void *data);
void qemu_plugin_register_vcpu_discon_cb(uint64_t id, int types,
					 qemu_trap_cb cb, void *data);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*cb)(void *data),
				    void *data);
#else
void qemu_plugin_register_vcpu_init_cb(uint64_t id,
				       void (*cb)(uint64_t id, unsigned int vcpu));
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*cb)(uint64_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_atexit_cb(uint64_t id, void (*cb)(uint64_t id, void *data),
				    void *data);
#endif
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  qemu_cb cb, int regs, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_cb cb, int regs, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
						 size_t index);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest,
			     size_t len);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
struct garray *qemu_plugin_get_registers(void);
bool qemu_plugin_read_register(struct qemu_plugin_register *handle,
			       struct garray *into);
bool qemu_plugin_read_memory_vaddr(uint64_t addr, struct garray *into, size_t length);

struct garray *g_byte_array_new(void);
struct garray *g_byte_array_set_size(struct garray *array, unsigned int size);

#endif
