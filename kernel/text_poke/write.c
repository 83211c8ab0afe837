// SPDX-License-Identifier: GPL-2.0
/*
 * Passes and stores: how bytes get into the text.
 *
 * guard.c says which pass is due for which sites.  A pass knows which piece of a
 * site it stores, if any:
 *
 *               +--------------+---------------------+
 *   a site      |     unit     |        tail         |
 *               +--------------+---------------------+
 *   PASS_ARM    |     trap     |                     |
 *   PASS_TAIL   |              |      new tail       |
 *   PASS_FINAL  |   new unit   |                     |
 *               +--------------+---------------------+
 *
 * Sites that lie close together are stored through one mapping: it is made,
 * written through, taken back, and what was written is flushed where it
 * executes.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/text_poke.h>
#include <linux/timekeeping.h>

#include "batch.h"
#include "debug.h"
#include "fault.h"
#include "internal.h"
#include "replaced.h"

static_assert(TEXT_POKE_UNIT <= TEXT_POKE_MAX);
static_assert(sizeof(u64) <= TEXT_POKE_MAX, "a literal must fit into a site");

/* One store. */
struct text_poke_piece {
	void *addr;
	const u8 *bytes;
	size_t len;
	u8 trap[TEXT_POKE_UNIT];
};

static bool piece_at(const struct text_poke_site *site, const u8 *bytes,
		     size_t from, size_t to, struct text_poke_piece *piece)
{
	piece->addr = site->addr + from;
	piece->bytes = bytes + from;
	piece->len = to - from;
	return from < to;
}

static bool trap_piece(const struct text_poke_site *site,
		       struct text_poke_piece *piece)
{
	if (!site->trap)
		return false;
	arch_text_poke_trap(site, piece->trap);
	return piece_at(site, piece->trap, 0, TEXT_POKE_UNIT, piece);
}

static bool tail_piece(const struct text_poke_site *site, const u8 *bytes,
		       struct text_poke_piece *piece)
{
	return site->trap &&
	       piece_at(site, bytes, TEXT_POKE_UNIT, site->len, piece);
}

static bool unit_piece(const struct text_poke_site *site, const u8 *bytes,
		       struct text_poke_piece *piece)
{
	return piece_at(site, bytes, 0, site->trap ? TEXT_POKE_UNIT : site->len,
			piece);
}

/* What @pass stores at @site.  False: nothing. */
static bool piece_of(const struct text_poke_site *site,
		     enum text_poke_pass pass, struct text_poke_piece *piece)
{
	switch (pass) {
	case PASS_DIRECT:
		return piece_at(site, site->new, 0, site->len, piece);
	case PASS_UNDO_DIRECT:
		return piece_at(site, site->old, 0, site->len, piece);
	case PASS_ARM:
		if (site->data)
			return piece_at(site, site->new, 0, site->len, piece);
		return trap_piece(site, piece);
	case PASS_TAIL:
		return tail_piece(site, site->new, piece);
	case PASS_UNDO_TAIL:
		return tail_piece(site, site->old, piece);
	case PASS_FINAL:
		return !site->data && unit_piece(site, site->new, piece);
	case PASS_REARM:
		return trap_piece(site, piece);
	case PASS_UNDO_ARM:
		return unit_piece(site, site->old, piece);
	}
	return false;
}

/* What a piece that belongs to @pass is, for the checker. */
static enum text_poke_stored stored_by(enum text_poke_pass pass,
				       const struct text_poke_site *site)
{
	if (!site->trap)
		return STORED_WHOLE;
	switch (pass) {
	case PASS_ARM:
	case PASS_REARM:
		return STORED_TRAP;
	case PASS_TAIL:
	case PASS_UNDO_TAIL:
		return STORED_TAIL;
	case PASS_FINAL:
	case PASS_UNDO_ARM:
		return STORED_UNIT;
	default:
		return STORED_WHOLE;
	}
}

static int store(void *alias, const void *bytes, size_t len)
{
	if (text_poke_store_fails())
		return -EFAULT;
	return text_poke_store(alias, bytes, len);
}

/* For at most @stores of them. */
static void *map_text(void *addr, size_t *len, struct arch_text_poke_map *map,
		      unsigned int stores)
{
	if (text_poke_should_fail(TEXT_POKE_FAULT_MAP))
		return NULL;
	text_poke_plan_stores(stores);
	return arch_text_poke_map(addr, len, map);
}

/**
 * text_poke_write - write bytes that no CPU executes meanwhile
 * @addr:	where
 * @bytes:	what
 * @len:	how many
 *
 * Through a mapping of their own, which is not counted.
 *
 * Context: as arch_text_poke_map().
 * Return: 0 or -EFAULT.
 */
int text_poke_write(void *addr, const void *bytes, size_t len)
{
	struct arch_text_poke_map map;
	size_t room = len;
	void *alias;
	int ret;

	alias = map_text(addr, &room, &map, 1);
	if (!alias)
		return -EFAULT;
	ret = room < len ? -EFAULT : store(alias, bytes, len);
	arch_text_poke_unmap(&map);
	arch_text_poke_flush(addr, len);
	return ret;
}

/* The end of what went through a mapping: @len bytes from @addr on. */
static void unmap_and_flush(struct arch_text_poke_map *map, void *addr,
			    size_t len)
{
	arch_text_poke_unmap(map);
	text_poke_check_mapped(false);
	if (len) {
		arch_text_poke_flush(addr, len);
		text_poke_check_flush(addr, len);
	}
}

/* The first site from @i on that @pass changes, below @end; or @end. */
static unsigned int next_site(enum text_poke_pass pass, unsigned int i,
			      unsigned int end, struct text_poke_piece *piece)
{
	while (i < end && !piece_of(site_at(i), pass, piece))
		i++;
	return i;
}

/*
 * How much text to map from @first on, which is in site @i: to the last of the
 * sites below @end that lie close enough together, if they are not too many.
 * @nr is set to how many.
 */
static size_t window_size(const void *first, unsigned int i, unsigned int end,
			  unsigned int *nr)
{
	const struct text_poke_site *site = site_at(i);

	for (*nr = 1; ++i < end && *nr < TEXT_POKE_STORES; ++*nr) {
		const struct text_poke_site *next = site_at(i);

		if (next->addr - site->addr >= PAGE_SIZE ||
		    next->addr - first + next->len > TEXT_POKE_WINDOW)
			break;
		site = next;
	}
	return site->addr - first + site->len;
}

/*
 * Store what @pass has for site *@i and those after it, through one mapping,
 * and go on until it ends.  *@i is left at the first site not done.
 */
static int write_window(enum text_poke_pass pass, unsigned int *i,
			unsigned int end, struct text_poke_piece *piece)
{
	void *first = piece->addr, *last = first;
	struct arch_text_poke_map map;
	struct text_poke_site *site;
	int ret = -EFAULT;
	unsigned int nr;
	void *alias;
	size_t len;

	text_poke_stats.mappings++;
	len = window_size(first, *i, end, &nr);
	alias = map_text(first, &len, &map, nr);
	if (!alias)
		return -EFAULT;
	text_poke_check_mapped(true);

	while (*i < end && piece->addr + piece->len <= first + len) {
		site = site_at(*i);
		ret = store(alias + (piece->addr - first), piece->bytes,
			    piece->len);
		if (ret)
			break;
		text_poke_check_store(site, stored_by(pass, site));
		if (site->data) {
			/*
			 * A literal before the branch that makes a CPU read
			 * it.  Pairs with the fetch of that branch, by a load
			 * whose address depends on where the branch was.  Where
			 * that does not order the two, as on RISC-V, either
			 * value has to do: see what reads the literal.
			 */
			smp_wmb();
		}
		last = piece->addr + piece->len;
		*i = next_site(pass, *i + 1, end, piece);
	}

	unmap_and_flush(&map, first, last - first);
	return ret;
}

/**
 * text_poke_rest - nothing traps: others may have this CPU
 *
 * Context: Process context, may sleep.
 */
void text_poke_rest(void)
{
	if (text_poke_should_fail(TEXT_POKE_FAULT_REST))
		text_poke_delay();
	cond_resched();
}

/* Nothing traps before, in or after these. */
static bool is_direct(enum text_poke_pass pass)
{
	return pass == PASS_DIRECT || pass == PASS_UNDO_DIRECT;
}

/**
 * text_poke_run_pass - run one pass over sites of the batch
 * @pass:	what to store
 * @deadline:	when to stop, after one mapping at least; U64_MAX: at the end
 * @i:		the first site; left at the first that the pass has not dealt
 *		with: @end, or one that failed or has to wait
 * @end:	the site after the last
 *
 * Context: Process context, text_mutex held; preemption may be off.
 * Return: 0 or -EFAULT.
 */
int text_poke_run_pass(enum text_poke_pass pass, u64 deadline, unsigned int *i,
		       unsigned int end)
{
	struct text_poke_piece piece;
	int ret = 0;

	*i = next_site(pass, *i, end, &piece);
	while (*i < end && !ret) {
		ret = write_window(pass, i, end, &piece);
		if (is_direct(pass))
			text_poke_rest();
		/* A single site is not worth a look at the clock. */
		if (*i < end && ktime_get_mono_fast_ns() >= deadline)
			break;
	}
	return ret;
}
