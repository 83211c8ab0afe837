/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plugin, apart from the version of QEMU's interface: qemu11.c and qemu10.c
 * are what each of them calls, and what the plugin wants to know of traps.
 */
#ifndef TRACE_PLUGIN_H
#define TRACE_PLUGIN_H

#include <stdint.h>

#include "qemu.h"

#define EXPORT		__attribute__((visibility("default")))

/* What QEMU tells. */
int plugin_install(const struct qemu_info *info, int argc, char **argv);
void plugin_cpu(void);
void plugin_translated(struct qemu_plugin_tb *tb);
void plugin_trap(int kind, uint64_t from, uint64_t to);
void plugin_end(void);

uint64_t plugin_read_register(struct qemu_plugin_register *handle);

/*
 * A place to which interrupts or exceptions lead. Where QEMU tells of these
 * there is none.
 */
struct vector;

int vector_read(const char *path);
void vector_take_register(const struct qemu_register *reg);
const struct vector *vector_at(uint64_t addr);
/* A block is entered at a vector, in the kernel, and not from user space. */
void vector_entered(const struct vector *vector, uint64_t to);

#endif
