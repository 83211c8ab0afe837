// SPDX-License-Identifier: GPL-2.0
/*
 * Slots: where the trap handler lets a CPU execute what it cannot emulate.
 *
 * A slot belongs to one site of one batch.  The handler sends a CPU that hits
 * the site into the slot; the trap at the end of the slot sends it back:
 *
 *      site            slot
 *   +---------+     +---------+
 *   |  trap   | --> |   new   |  a copy of the new instruction
 *   +---------+     +---------+
 *   |  next   | <-- |  trap   |  leave_slot()
 *   +---------+     +---------+
 *
 * When the batch is retired no CPU can enter a slot any more, but something may
 * be in one: a task that was preempted there, an idle CPU in an interrupt.  So
 * the page is freed only after text_poke_quiesce().
 *
 * A decoder of hardware traces follows a CPU into the slots.  So perf is told
 * of the page (KSYMBOL, type OOL) and of each slot's contents (TEXT_POKE)
 * before the first trap is written, and of the end of both when no CPU can be
 * in there.
 *
 * All slots of a batch are in one page.  A batch that needs more of them is
 * refused, as one for whose sites there is no memory.
 */
#include <linux/execmem.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/sched/mm.h>
#include <linux/set_memory.h>
#include <linux/text_poke.h>
#include <linux/vmalloc.h>

#include "fault.h"
#include "internal.h"

#define SLOT_PAGE_SYM "text_poke_slot_page"

struct text_poke_slots text_poke_slots;

static void *slot_at(unsigned int i)
{
	return text_poke_slots.page + i * TEXT_POKE_SLOT;
}

static int write_slot(const struct text_poke_site *site)
{
	u8 bytes[TEXT_POKE_SLOT];

	arch_text_poke_slot(site, bytes);
	text_poke_stats.mappings++;
	return text_poke_write(site->slot, bytes, sizeof(bytes));
}

static int get_page_for_slots(void)
{
	unsigned int noio;
	void *page;

	if (text_poke_slots.page)
		return 0;
	/* Reclaim does no I/O, as for the queue. */
	noio = memalloc_noio_save();
	page = text_poke_should_fail(TEXT_POKE_FAULT_SLOT) ? NULL :
	       execmem_alloc(EXECMEM_KPROBES, PAGE_SIZE);
	memalloc_noio_restore(noio);
	if (page && set_memory_rox((unsigned long)page, 1)) {
		execmem_free(page);
		page = NULL;
	}
	if (!page)
		return -ENOMEM;
	/*
	 * The trap handler may look as soon as the first trap is written,
	 * which is after text_poke_publish() has put this in order.
	 */
	WRITE_ONCE(text_poke_slots.page, page);
	return 0;
}

/**
 * text_poke_slots_full - is there no slot left for this batch?
 *
 * Context: text_mutex held.
 * Return: true if so.
 */
bool text_poke_slots_full(void)
{
	return text_poke_slots.nr == TEXT_POKE_SLOTS;
}

static void tell_of_page(bool gone)
{
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL,
			   (unsigned long)text_poke_slots.page, PAGE_SIZE,
			   gone, SLOT_PAGE_SYM);
}

/*
 * No CPU is in the slots any more.  An event that was opened since they were
 * made has not heard of their page.
 */
static void end_slots(void)
{
	unsigned int i;

	tell_of_page(false);
	for (i = 0; i < text_poke_slots.nr; i++)
		text_poke_record(slot_at(i), slot_at(i), TEXT_POKE_SLOT, NULL,
				 0);
	text_poke_tell();
	tell_of_page(true);
}

/**
 * text_poke_slots_free - end the slots of a batch that is over
 *
 * Context: Process context, text_mutex held, after step h.  Sleeps until
 * no task is in a slot.
 */
void text_poke_slots_free(void)
{
	void *page = text_poke_slots.page;

	if (!page)
		return;
	if (text_poke_slots.used)
		text_poke_quiesce();
	if (text_poke_slots.recorded)
		end_slots();
	WRITE_ONCE(text_poke_slots.page, NULL);
	execmem_free(page);
	text_poke_slots.nr = 0;
	text_poke_slots.used = false;
	text_poke_slots.recorded = false;
}

/**
 * text_poke_slot_get - give a site a slot, and fill it
 * @site:	the site, prepared, with @ool set
 *
 * Context: Process context, may sleep, text_mutex held.
 * Return: 0; -ENOMEM without a page, -EFAULT if it cannot be written.
 */
int text_poke_slot_get(struct text_poke_site *site)
{
	unsigned int i = text_poke_slots.nr;
	int ret;

	ret = get_page_for_slots();
	if (ret)
		return ret;
	site->slot = slot_at(i);
	text_poke_slots.back[i] = site->addr + site->len;
	ret = write_slot(site);
	if (!ret)
		text_poke_slots.nr++;
	else if (!i)
		text_poke_slots_free();
	return ret;
}

/**
 * text_poke_slots_begin - from here on CPUs may enter the slots
 * @listening:	tell perf first
 *
 * Context: text_mutex held, before step b.
 */
void text_poke_slots_begin(bool listening)
{
	unsigned int i;

	if (!text_poke_slots.nr)
		return;
	arch_text_poke_slots_written();
	text_poke_slots.used = true;
	text_poke_slots.recorded = listening;
	if (!text_poke_slots.recorded)
		return;
	tell_of_page(false);
	for (i = 0; i < text_poke_slots.nr; i++)
		text_poke_record(slot_at(i), NULL, 0, slot_at(i),
				 TEXT_POKE_SLOT);
	text_poke_tell();
}
