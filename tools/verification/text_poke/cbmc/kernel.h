/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Just enough kernel for the proofs.
 *
 * The headers whose guards stand here are not read; what the sources under
 * proof need of them follows.  All others are the tree's own.
 */
#ifndef _TEXT_POKE_CBMC_KERNEL_H
#define _TEXT_POKE_CBMC_KERNEL_H

#define _LINUX_ALIGN_H
#define _LINUX_BITFIELD_H
#define _LINUX_BITOPS_H
#define _LINUX_BUG_H
#define _LINUX_BUILD_BUG_H
#define _LINUX_ERRNO_H
#define __LINUX_KCONFIG_H
#define _LINUX_KERNEL_H
#define __KERNEL_PRINTK__
#define _LINUX_STDDEF_H
#define _LINUX_STRING_H_
#define _LINUX_TYPES_H
#define __LINUX_UACCESS_H__
#define _LINUX_WORDPART_H
#define __LINUX_COMPILER_H
#define _ASM_GENERIC_ERRNO_H

#ifdef __unix__
#undef __unix__
#endif

typedef unsigned long size_t;

#define NULL		((void *)0)
#define true		1
#define false		0
#define bool		_Bool

typedef signed char s8;
typedef unsigned char u8;
typedef short s16;
typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef long long s64;
typedef unsigned long long u64;
typedef u32 __le32;
typedef unsigned long uintptr_t;
typedef int (*cmp_func_t)(const void *a, const void *b);

struct list_head {
	struct list_head *next, *prev;
};

#define __always_inline	inline
#define __must_check
#define __kprobes
#define noinstr
#define fallthrough	do { } while (0)
#define likely(x)	(x)
#define unlikely(x)	(x)
#define static_assert(...)

#define BIT(n)			(1UL << (n))
#define GENMASK(high, low)	(~0UL >> (63 - (high)) & ~0UL << (low))
#define ALIGN_DOWN(x, a)	((x) & ~((__typeof__(x))(a) - 1))
#define IS_ALIGNED(x, a)	(!((x) & ((__typeof__(x))(a) - 1)))
#define lower_32_bits(x)	((u32)(x))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define IS_ENABLED(option)	(option)

static inline s64 sign_extend64(u64 value, int index)
{
	return (s64)(value << (63 - index)) >> (63 - index);
}

/* Every store works, unless a harness says otherwise. */
#define pagefault_disable()	do { } while (0)
#define pagefault_enable()	do { } while (0)
#define __put_kernel_nofault(alias, from, type, label)	\
do {							\
	if (0)						\
		goto label;				\
} while (0)

#define cpu_to_le32(x)		(x)
#define le32_to_cpu(x)		(x)

#define EIO		5
#define ENXIO		6
#define ENOMEM		12
#define EFAULT		14
#define EBUSY		16
#define EEXIST		17
#define ENODATA		61
#define EINVAL		22
#define ERANGE		34
#define EILSEQ		84
#define EOPNOTSUPP	95

/* What cannot happen does not. */
#define BUG()			__CPROVER_assert(false, "BUG()")
#define BUG_ON(condition)	__CPROVER_assert(!(condition), "BUG_ON()")
#define BUILD_BUG_ON(condition)	BUG_ON(condition)
#define pr_err(...)		do { } while (0)

#define prove(condition, property) __CPROVER_assert(condition, property)
#define assume(condition)	__CPROVER_assume(condition)

/*
 * Nothing that is copied or compared is longer than this.  To know that in
 * advance makes for much smaller formulas.
 */
#ifndef SHORT
#define SHORT	8
#endif

static inline int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *x = a, *y = b;
	int i;

	prove(n <= SHORT, "memcmp() is short");
	for (i = 0; i < SHORT; i++)
		if (i < n && x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static inline void *memcpy(void *to, const void *from, size_t n)
{
	const u8 *x = from;
	u8 *y = to;
	int i;

	prove(n <= SHORT, "memcpy() is short");
	for (i = 0; i < SHORT; i++)
		if (i < n)
			y[i] = x[i];
	return to;
}

static inline const void *memchr_inv(const void *start, int c, size_t n)
{
	const u8 *x = start;
	int i;

	prove(n <= SHORT, "memchr_inv() is short");
	for (i = 0; i < SHORT; i++)
		if (i < n && x[i] != c)
			return x + i;
	return NULL;
}

#endif /* _TEXT_POKE_CBMC_KERNEL_H */
