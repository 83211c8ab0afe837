/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_POWERPC_FTRACE_MFLR_H
#define _ASM_POWERPC_FTRACE_MFLR_H

/* For ftrace and kprobes: see arch/powerpc/kernel/trace/ftrace_mflr.c. */

#include <linux/types.h>

#ifdef CONFIG_PPC_FTRACE_MFLR
void ftrace_mflr_find(void);
void ftrace_mflr_lock_cpus(void);
void ftrace_mflr_unlock_cpus(void);
bool ftrace_mflr_goes(unsigned long ip);
bool ftrace_precedes_call(const void *addr);
int ftrace_mflr_init(unsigned long ip);
int ftrace_mflr_queue(unsigned long ip);
int ftrace_mflr_put(int enable);
void ftrace_mflr_remove(void);
#else
static inline void ftrace_mflr_find(void) { }
static inline void ftrace_mflr_lock_cpus(void) { }
static inline void ftrace_mflr_unlock_cpus(void) { }
static inline bool ftrace_mflr_goes(unsigned long ip) { return false; }
static inline bool ftrace_precedes_call(const void *addr) { return false; }
static inline int ftrace_mflr_init(unsigned long ip) { return 0; }
static inline int ftrace_mflr_queue(unsigned long ip) { return 0; }
static inline int ftrace_mflr_put(int enable) { return 0; }
static inline void ftrace_mflr_remove(void) { }
#endif

#endif /* _ASM_POWERPC_FTRACE_MFLR_H */
