// SPDX-License-Identifier: GPL-2.0
/*
 * The queue, and what callers see of the core.
 *
 * Sites are checked when they are queued, and sorted when the batch is
 * finished.  guard.c then takes it through the protocol, and write.c stores it.
 * There is one batch, and text_mutex protects it.
 *
 * A queue of TEXT_POKE_FEW sites needs no memory; a longer one has pages of
 * sites, and pages of pointers to them, so that it can be sorted and searched
 * while the sites stay where they are.
 */
#include <linux/bug.h>
#include <linux/gfp.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/list_sort.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/text_poke.h>
#include <linux/uaccess.h>

#include <asm/sections.h>

#include "batch.h"
#include "fault.h"
#include "internal.h"

/* The batch that needs no memory: enough for any key in early boot. */
#define TEXT_POKE_FEW 64

static struct text_poke_site few_sites[TEXT_POKE_FEW];
static struct text_poke_site *few_index[TEXT_POKE_FEW];

/**
 * struct text_poke_chunk - a page of sites
 * @next:	the one that was filled before
 * @sites:	as many as fit
 */
struct text_poke_chunk {
	struct text_poke_chunk *next;
	struct text_poke_site sites[];
};

#define SITES_PER_CHUNK							\
	((PAGE_SIZE - sizeof(struct text_poke_chunk)) /			\
	 sizeof(struct text_poke_site))

/**
 * struct text_poke_pool - where the sites of the batch are
 * @chunks:	all but those in few_sites; the newest first
 * @room:	how many more fit into the newest chunk
 * @unsorted:	some site was added below the one before it
 */
struct text_poke_pool {
	struct text_poke_chunk *chunks;
	unsigned int room;
	bool unsorted;
};

static struct text_poke_pool pool;

/* few_index, or a page, comes first. */
struct text_poke_queue text_poke_batch = {
	.index[0] = few_index,
};

static_assert(TEXT_POKE_FEW <= TEXT_POKE_PER_INDEX);

static int cmp_sites(void *unused, const struct list_head *a,
		     const struct list_head *b)
{
	const struct text_poke_site *x, *y;

	x = list_entry(a, struct text_poke_site, node);
	y = list_entry(b, struct text_poke_site, node);
	cond_resched();
	return x->addr > y->addr;
}

/* More runs than these are left to list_sort(). */
#define TEXT_POKE_RUNS 16

/* Before the first site that is not below @addr. */
static struct list_head *place_of(struct list_head *sites, const void *addr)
{
	struct text_poke_site *site;

	list_for_each_entry(site, sites, node) {
		if (site->addr >= addr)
			return site->node.prev;
	}
	return sites->prev;
}

/*
 * Sites come in runs of ascending addresses: those of the kernel, and of each
 * module.  A run goes where its first site belongs, as a whole.
 */
static void list_runs(struct text_poke_queue *queue, struct list_head *sites)
{
	struct text_poke_site *site, *prev = NULL;
	unsigned int i, runs = 0;

	for (i = 0; i < queue->nr; i++, prev = site) {
		struct list_head *at = prev ? &prev->node : sites;

		site = text_poke_site_at(queue, i);
		if (prev && site->addr < prev->addr) {
			cond_resched();
			at = runs++ < TEXT_POKE_RUNS ?
				place_of(sites, site->addr) : sites->prev;
		}
		list_add(&site->node, at);
	}
}

static bool is_sorted(struct list_head *sites)
{
	struct text_poke_site *site;

	list_for_each_entry(site, sites, node) {
		if (!list_is_last(&site->node, sites) &&
		    site->addr > list_next_entry(site, node)->addr)
			return false;
	}
	return true;
}

/*
 * By lists, for which the sites need not be moved.  Runs that lie apart are in
 * order at once, and list_sort() would compare all their sites.
 */
static void sort_queue(struct text_poke_queue *queue)
{
	struct text_poke_site *site;
	unsigned int i = 0;
	LIST_HEAD(sites);

	list_runs(queue, &sites);
	if (!is_sorted(&sites))
		list_sort(NULL, &sites, cmp_sites);
	list_for_each_entry(site, &sites, node) {
		queue->index[i / TEXT_POKE_PER_INDEX]
			    [i % TEXT_POKE_PER_INDEX] = site;
		i++;
	}
}

/* Bring the batch into the order that the trap handler searches. */
static int sort_batch(void)
{
	const struct text_poke_site *prev;
	unsigned int i;

	if (pool.unsorted)
		sort_queue(&text_poke_batch);

	for (i = 1; i < text_poke_batch.nr; i++) {
		prev = site_at(i - 1);
		if (prev->addr + prev->len > site_at(i)->addr)
			return -EEXIST;
	}
	return 0;
}

static void free_chunks(void)
{
	struct text_poke_chunk *chunk;

	while ((chunk = pool.chunks)) {
		pool.chunks = chunk->next;
		free_page((unsigned long)chunk);
	}
	pool.room = 0;
}

static void free_index(struct text_poke_queue *queue)
{
	unsigned int i;

	for (i = 0; i < TEXT_POKE_INDEX && queue->index[i]; i++) {
		if (queue->index[i] != few_index)
			free_page((unsigned long)queue->index[i]);
		queue->index[i] = NULL;
	}
	queue->index[0] = few_index;
	queue->nr = 0;
}

static void reset_batch(void)
{
	if (text_poke_stuck)
		return;
	text_poke_slots_free();
	free_chunks();
	free_index(&text_poke_batch);
	pool.unsorted = false;
}

static int check_mutex(const void *where)
{
	if (text_poke_mutex_is_held())
		return 0;
	text_poke_warn("text_mutex is not held", where);
	return -EBUSY;
}

/*
 * Without the mutex this would be another caller's batch.  And where interrupts
 * are off, or it is in one, another CPU may wait for this one while this one
 * waits for it to sync.
 */
static int check_caller(const void *where)
{
	int ret = check_mutex(where);

	if (ret || num_online_cpus() == 1)
		return ret;
	if (!in_atomic() && !irqs_disabled())
		return 0;
	text_poke_warn("called where it cannot wait for other CPUs", where);
	return -EBUSY;
}

/**
 * text_poke_batch_finish - write the queued sites
 *
 * On success every site is live on every CPU.  On failure none has changed, except
 * for -EIO, see <linux/text_poke.h>.  The queue is empty afterwards, unless the
 * error is -EBUSY or -EIO.
 *
 * Context: Process context, may sleep, interrupts on, text_mutex held since
 * the first site was queued.
 * Return: 0, -EEXIST if two sites overlap, -EFAULT if a write failed and was
 * rolled back, -EIO if the rollback of this batch or of an earlier one has
 * failed; -EBUSY, with a warning, if the context is another one: then the queue
 * is as it was.
 */
int text_poke_batch_finish(void)
{
	int ret;

	ret = check_caller(NULL);
	if (ret)
		return ret;
	might_sleep();

	if (text_poke_stuck)
		return -EIO;
	if (!text_poke_batch.nr)
		return 0;

	ret = sort_batch();
	if (ret)
		text_poke_stats.refused++;
	else
		ret = text_poke_write_batch();
	reset_batch();
	return ret;
}

/**
 * text_poke_batch_cancel - forget the queued sites
 *
 * Context: Process context, may sleep, text_mutex held.
 */
void text_poke_batch_cancel(void)
{
	if (!check_mutex(NULL))
		reset_batch();
}

#if IS_ENABLED(CONFIG_TEXT_POKE_KUNIT_TEST)
/*
 * A test that made the rollback of a guarded batch fail tries it again, with
 * stores that work.
 */
void text_poke_unstick(void)
{
	if (text_poke_stuck)
		text_poke_undo_again();
	reset_batch();
}
#endif

/*
 * Single pages, which are there without compacting memory, and mapped wherever
 * the trap handler may run. Reclaim does no I/O for them: what does may switch
 * static keys, which wait for text_mutex.  They do not fail, for few callers can
 * do without the change: a tracer that goes may be freed with what it calls.
 */
static void *get_page_for_queue(void)
{
	if (text_poke_should_fail(TEXT_POKE_FAULT_QUEUE))
		return NULL;
	return (void *)get_zeroed_page(GFP_NOIO | __GFP_NOFAIL);
}

/* Room for one more site, and nothing else changes. */
static bool grow_chunks(void)
{
	struct text_poke_chunk *chunk;

	if (text_poke_batch.nr < TEXT_POKE_FEW || pool.room)
		return true;
	chunk = get_page_for_queue();
	if (!chunk)
		return false;
	chunk->next = pool.chunks;
	pool.chunks = chunk;
	pool.room = SITES_PER_CHUNK;
	return true;
}

/* Room for a pointer to it. */
static bool grow_index(struct text_poke_queue *queue)
{
	unsigned int i = queue->nr / TEXT_POKE_PER_INDEX;
	struct text_poke_site **page;

	if (i == TEXT_POKE_INDEX)
		return false;
	if (queue->index[i] && (queue->nr != TEXT_POKE_FEW ||
				queue->index[i] != few_index))
		return true;
	page = get_page_for_queue();
	if (!page)
		return false;
	if (queue->index[i])
		memcpy(page, few_index, sizeof(few_index));
	queue->index[i] = page;
	return true;
}

static int make_room(bool slot)
{
	if (slot && text_poke_slots_full())
		return -ENOMEM;
	return grow_chunks() && grow_index(&text_poke_batch) ? 0 : -ENOMEM;
}

/* A place for one more site, of those that make_room() has made. */
static struct text_poke_site *take_room(void)
{
	if (text_poke_batch.nr < TEXT_POKE_FEW)
		return &few_sites[text_poke_batch.nr];
	return &pool.chunks->sites[SITES_PER_CHUNK - pool.room--];
}

static void queue_site(const struct text_poke_site *site)
{
	struct text_poke_site *place = take_room();
	unsigned int nr = text_poke_batch.nr++;

	*place = *site;
	text_poke_batch.index[nr / TEXT_POKE_PER_INDEX]
			 [nr % TEXT_POKE_PER_INDEX] = place;
	if (nr && site->addr < site_at(nr - 1)->addr)
		pool.unsorted = true;
}

/**
 * text_poke_verify - compare kernel text with what it should be
 * @addr:	where
 * @old:	the bytes expected there
 * @len:	how many, at most TEXT_POKE_MAX
 *
 * Context: Any.
 * Return: 0, -EILSEQ if they differ, -EFAULT if they cannot be read, -EINVAL if
 * they are too many.
 */
int text_poke_verify(const void *addr, const void *old, size_t len)
{
	u8 bytes[TEXT_POKE_MAX];

	if (len > sizeof(bytes))
		return -EINVAL;
	if (copy_from_kernel_nofault(bytes, addr, len))
		return -EFAULT;
	return memcmp(bytes, old, len) ? -EILSEQ : 0;
}

/*
 * The kernel's own text, which is always there.  It is found and read without a
 * call, which may be traced.
 */
static bool is_own_text(const void *addr, size_t len)
{
	return __is_kernel_text((unsigned long)addr) &&
	       __is_kernel_text((unsigned long)addr + len);
}

static long read_text(void *bytes, const void *addr, size_t len)
{
	if (!is_own_text(addr, len))
		return copy_from_kernel_nofault(bytes, addr, len);
	memcpy(bytes, addr, len);
	return 0;
}

/* Fill in @site and check it against the text; @old may be NULL. */
static int init_site(struct text_poke_site *site, void *addr, const void *old,
		     const void *new, size_t len)
{
	if (!new || !len || len > TEXT_POKE_MAX)
		return -EINVAL;

	*site = (struct text_poke_site) {
		.addr	= addr,
		.len	= len,
	};
	memcpy(site->new, new, len);

	if (read_text(site->old, addr, len))
		return -EFAULT;
	if (old && text_poke_should_fail(TEXT_POKE_FAULT_VERIFY))
		return -EILSEQ;
	return old && memcmp(site->old, old, len) ? -EILSEQ : 0;
}

static bool is_text(void *addr, size_t len)
{
	if (is_own_text(addr, len))
		return true;
	return arch_text_poke_is_text(addr) &&
	       (!len || arch_text_poke_is_text(addr + len - 1));
}

/*
 * May what is there go?  A probe's breakpoint goes over any instruction, but
 * not over one that is a trap itself, and that a report looks up.
 */
static bool may_replace(const struct text_poke_site *site)
{
	if (site->foreign)
		return !arch_text_poke_maybe_bug(site) ||
		       !find_bug((unsigned long)site->addr);
	return arch_text_poke_replaceable(site);
}

/* A site that cannot trap may be exchanged, but not for a trap. */
static int init_trap(struct text_poke_site *site)
{
	site->trap = arch_text_poke_trappable(site->addr) &&
		     !text_poke_in_trap_path(site->addr);
	site->ool &= site->trap;
	if (site->trap)
		return 0;
	return site->foreign || !arch_text_poke_atomic(site) ? -EOPNOTSUPP : 0;
}

static int init_insn(struct text_poke_site *site, void *addr, const void *old,
		     const void *new, size_t len, const void *emulate)
{
	int ret;

	if (!is_text(addr, len))
		return -ENXIO;
	ret = init_site(site, addr, old, new, len);
	if (ret)
		return ret;
	ret = arch_text_poke_prepare(site, emulate ?: new);
	if (ret)
		return ret;
	ret = init_trap(site);
	if (ret)
		return ret;
	if (!may_replace(site))
		return -EINVAL;
	return !site->trap || arch_text_poke_guardable(site) ? 0 : -EOPNOTSUPP;
}

static int init_data(struct text_poke_site *site, void *addr, const void *old,
		     const void *new, size_t len)
{
	int ret;

	if (len != sizeof(u32) && len != sizeof(long))
		return -EINVAL;
	if (!IS_ALIGNED((unsigned long)addr, len))
		return -EINVAL;
	if (!is_text(addr, len))
		return -ENXIO;
	ret = init_site(site, addr, old, new, len);
	site->data = true;
	return ret;
}

/* Queue @site, of which @ret says whether it is fit. */
static int add_site(struct text_poke_site *site, int ret)
{
	/* Before what a trap of the stuck batch makes of the old bytes. */
	if (text_poke_stuck)
		ret = -EIO;
	if (!ret && !memcmp(site->old, site->new, site->len))
		return 0;
	if (!ret)
		ret = make_room(site->ool);
	if (!ret && site->ool)
		ret = text_poke_slot_get(site);
	if (ret) {
		text_poke_stats.refused++;
		return ret;
	}
	queue_site(site);
	cond_resched();
	return 0;
}

/**
 * text_poke_batch_add - queue an instruction to be changed
 * @addr:	where it is
 * @old:	what is there now; NULL if the caller does not know
 * @new:	what shall be there
 * @len:	length in bytes of both
 * @emulate:	what a CPU that hits the trap shall do; NULL: what @new does
 *
 * Nothing is written before text_poke_batch_finish().  Sites may be added in
 * any order; in ascending order, or in a few runs of it, is fastest.  A site
 * where @old and @new are the same is not queued and there will be no record
 * of it.
 *
 * Context: Process context, may sleep, text_mutex held.
 * Return: 0 or one of the errors listed in <linux/text_poke.h>; the sites
 * queued before remain so.
 */
int text_poke_batch_add(void *addr, const void *old, const void *new,
			size_t len, const void *emulate)
{
	struct text_poke_site site;

	return check_caller(addr) ?:
	       add_site(&site, init_insn(&site, addr, old, new, len, emulate));
}

/**
 * text_poke_batch_add_data - queue a literal in the text to be changed
 * @addr:	where it is, aligned to @len
 * @old:	what is there now; NULL if the caller does not know
 * @new:	what shall be there
 * @len:	4 or 8
 *
 * A literal is read by instructions and never executed, so that it needs
 * neither trap nor sync.  It is written before every site at a higher address.
 *
 * Context: Process context, may sleep, text_mutex held.
 * Return: as text_poke_batch_add().
 */
int text_poke_batch_add_data(void *addr, const void *old, const void *new,
			     size_t len)
{
	struct text_poke_site site;

	return check_caller(addr) ?:
	       add_site(&site, init_data(&site, addr, old, new, len));
}

/**
 * text_poke_single - change one instruction, after all that is queued
 * @addr:	where it is
 * @old:	what is there now; NULL if the caller does not know
 * @new:	what shall be there
 * @len:	length in bytes of both
 * @emulate:	what a CPU that hits the trap shall do; NULL: what @new does
 *
 * Context: Process context, may sleep, interrupts on, text_mutex held.
 * Return: 0 or one of the errors listed in <linux/text_poke.h>.
 */
int text_poke_single(void *addr, const void *old, const void *new, size_t len,
		     const void *emulate)
{
	int ret = check_caller(addr);

	if (!ret)
		ret = text_poke_batch_finish();
	if (!ret)
		ret = text_poke_batch_add(addr, old, new, len, emulate);
	if (!ret)
		ret = text_poke_batch_finish();
	return ret;
}

/**
 * text_poke_is_dying - is this init text that is about to be freed?
 * @addr:	an address
 *
 * No CPU runs it any more, and it is no longer text to be poked, but users may
 * not have forgotten their sites in it yet.
 *
 * Context: Any; the answer lasts while text_mutex is held.
 * Return: true if so.
 */
bool text_poke_is_dying(unsigned long addr)
{
	return system_state >= SYSTEM_FREEING_INITMEM &&
	       is_kernel_inittext(addr);
}

static bool may_be_text_at(unsigned long addr)
{
	if (is_kernel_inittext(addr))
		return !text_poke_is_dying(addr);
	return is_kernel_text(addr) || is_vmalloc_or_module_addr((void *)addr);
}

/* In the kernel's text, or where the text of a module is put together. */
static bool may_be_text(void *addr, size_t len)
{
	return may_be_text_at((unsigned long)addr) &&
	       (!len || may_be_text_at((unsigned long)addr + len - 1));
}

/*
 * True if no other CPU can be running the text at @addr: because there is no
 * other CPU yet, or because it belongs to a module that is being loaded.
 */
static bool no_cpu_runs(void *addr)
{
	return system_state == SYSTEM_BOOTING ||
	       !kernel_text_address((unsigned long)addr);
}

/**
 * text_poke_early - change an instruction that no other CPU can run
 * @addr:	where it is
 * @old:	what is there now; NULL if the caller does not know
 * @new:	what shall be there
 * @len:	length in bytes of both
 *
 * For early boot, when one CPU runs with interrupts off and there is neither
 * a mutex nor an IPI to be had, and for the text of a module that is not yet
 * formed.  There is no guard and no record: no event can listen, or no CPU runs
 * it.
 *
 * Context: Any in which the caller is alone with the text.
 * Return: 0; -EBUSY, with a warning, if the caller is not alone; or one of
 * the errors listed in <linux/text_poke.h>.
 */
int text_poke_early(void *addr, const void *old, const void *new, size_t len)
{
	struct text_poke_site site;
	int ret;

	if (!may_be_text(addr, len))
		return -ENXIO;
	if (!no_cpu_runs(addr)) {
		text_poke_warn("too late for an early poke", addr);
		return -EBUSY;
	}

	ret = init_site(&site, addr, old, new, len);
	if (!ret)
		ret = arch_text_poke_prepare(&site, new);
	/* What cannot be emulated can still be written: no CPU traps. */
	if (ret && ret != -EOPNOTSUPP)
		return ret;

	return text_poke_write(addr, new, len);
}

/**
 * text_poke_barrier - wait until text_mutex has been free
 *
 * Called before text is freed, when it can no longer be found: on return no site
 * in it is queued, and no store to it is under way.  See text_poke_settle() for
 * what perf calls for a new event.
 *
 * Context: Process context, may sleep; text_mutex not held.
 */
void text_poke_barrier(void)
{
	mutex_lock(&text_mutex);
	mutex_unlock(&text_mutex);
}

/**
 * text_poke_has_given_up - whether text cannot be changed any more
 *
 * A batch could not be rolled back.  Each change from then on fails with -EIO and
 * has changed nothing.
 *
 * Context: Any.  It does not become false again.
 */
bool text_poke_has_given_up(void)
{
	return READ_ONCE(text_poke_stuck);
}
