// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of records: what is in perf's buffer of what it was told?
 *
 * An event gets a buffer that the test reads, as a task does that has mapped it:
 * what was read makes room.
 */
#include <kunit/test.h>
#include <linux/circ_buf.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/memory.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/text_poke.h>
#include <linux/uaccess.h>

#include <asm/local.h>

#include "../../events/internal.h"
#include "test.h"

/* The changes that the test makes up, and their longest text. */
#define MANY		200
#define BYTES_MAX	8

/* What is written at once, at most. */
#define CHUNK_MAX	4096

/* After each record, as sample_type below says. */
struct id {
	u32 pid, tid;
	u64 time;
	u32 cpu, reserved;
	u64 id;
};

/* The header, the address, the lengths, the bytes and their padding, the id. */
#define RECORD_MAX	(16 + ALIGN(4 + 2 * BYTES_MAX, 8) + sizeof(struct id))

/* PERF_RECORD_LOST: the header, an id and a number, and the id of all. */
#define LOST_SIZE	(8 + 16 + sizeof(struct id))

/**
 * struct told - a record as it is in the buffer
 * @size:	of all of it
 * @type:	PERF_RECORD_TEXT_POKE or PERF_RECORD_LOST
 * @lost:	how many are lost, if it says that
 * @addr:	where the text changes, as the rest if it says that
 * @old_len:	bytes of the old text
 * @new_len:	bytes of the new one
 * @bytes:	the one and then the other
 * @id:		what is after it
 */
struct told {
	unsigned int size;
	u32 type;
	u64 lost;
	u64 addr;
	u16 old_len, new_len;
	u8 bytes[2 * BYTES_MAX];
	struct id id;
};

static struct perf_event *event;
static struct perf_buffer *rb;

static struct perf_text_poke pokes[MANY];
static u8 old_bytes[MANY][BYTES_MAX], new_bytes[MANY][BYTES_MAX];

static void close_event(void *unused)
{
	rcu_assign_pointer(event->rb, NULL);
	synchronize_rcu();
	perf_event_release_kernel(event);
	if (rb)
		rb_free(rb);
	event = NULL;
	rb = NULL;
}

static struct perf_event *open_on(int cpu)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.config		= PERF_COUNT_SW_DUMMY,
		.size		= sizeof(attr),
		.text_poke	= 1,
		.sample_id_all	= 1,
		.sample_type	= PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				  PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

/* To the end of the case, an event of @cpu, with a buffer that is used by hand. */
static void open_event(struct kunit *test, int cpu, int pages)
{
	event = open_on(cpu);
	KUNIT_ASSERT_FALSE(test, IS_ERR(event));
	/* Where perf_event_open() would be told of it. */
	event->id_header_size = sizeof(struct id);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, close_event,
							   NULL));
	rb = rb_alloc(pages, 0, -1, RING_BUFFER_WRITABLE);
	KUNIT_ASSERT_NOT_NULL(test, rb);
}

/* With text_mutex held, so that it is written by none but the test. */
static void use_buffer(bool on)
{
	rcu_assign_pointer(event->rb, on ? rb : NULL);
}

static u64 tail(void)
{
	return rb->user_page->data_tail;
}

static u64 head(void)
{
	return rb->user_page->data_head;
}

static void read_bytes(u64 from, void *to, unsigned int len)
{
	unsigned int shift = PAGE_SHIFT + page_order(rb), i;
	u8 *bytes = to;

	for (i = 0; i < len; i++, from++) {
		u8 *page = rb->data_pages[(from >> shift) & (rb->nr_pages - 1)];

		bytes[i] = page[from & (BIT(shift) - 1)];
	}
}

static void read_poke(u64 from, struct told *told)
{
	u16 lens[2];

	read_bytes(from, &told->addr, sizeof(told->addr));
	read_bytes(from + 8, lens, sizeof(lens));
	told->old_len = lens[0];
	told->new_len = lens[1];
	read_bytes(from + 12, told->bytes,
		   min_t(unsigned int, lens[0] + lens[1], 2 * BYTES_MAX));
}

/* The next one, and let go of it.  False: there is none, or no end of it. */
static bool read_record(struct told *told)
{
	struct perf_event_header header;
	u64 from = tail();

	*told = (struct told) {};
	if (head() - from < sizeof(header) + sizeof(struct id))
		return false;
	read_bytes(from, &header, sizeof(header));
	told->size = header.size;
	told->type = header.type;
	if (header.size < sizeof(header) + sizeof(struct id) ||
	    header.size > head() - from)
		return false;

	if (header.type == PERF_RECORD_TEXT_POKE)
		read_poke(from + sizeof(header), told);
	else
		read_bytes(from + 2 * sizeof(u64), &told->lost, sizeof(u64));
	read_bytes(from + header.size - sizeof(struct id), &told->id,
		   sizeof(struct id));
	rb->user_page->data_tail = from + header.size;
	return true;
}

/* Changes of different lengths, of which no two are the same. */
static void make_pokes(void)
{
	unsigned int i, n;

	for (i = 0; i < MANY; i++) {
		for (n = 0; n < BYTES_MAX; n++) {
			old_bytes[i][n] = i + n;
			new_bytes[i][n] = ~(i + n);
		}
		pokes[i] = (struct perf_text_poke) {
			.addr		= old_bytes[i],
			.old_bytes	= old_bytes[i],
			.new_bytes	= new_bytes[i],
			.old_len	= i % (BYTES_MAX + 1),
			.new_len	= i / 2 % (BYTES_MAX + 1),
		};
	}
}

static unsigned int size_of(const struct perf_text_poke *poke)
{
	return 16 + ALIGN(4 + poke->old_len + poke->new_len, 8) +
	       sizeof(struct id);
}

static bool says(const struct told *told, const struct perf_text_poke *poke)
{
	return told->type == PERF_RECORD_TEXT_POKE &&
	       told->size == size_of(poke) &&
	       told->addr == (unsigned long)poke->addr &&
	       told->old_len == poke->old_len &&
	       told->new_len == poke->new_len &&
	       !memcmp(told->bytes, poke->old_bytes, poke->old_len) &&
	       !memcmp(told->bytes + poke->old_len, poke->new_bytes,
		       poke->new_len);
}

/* The first @nr of them, in their order, are what comes next. */
static void expect_told(struct kunit *test, unsigned int nr)
{
	struct told told;
	unsigned int i;

	for (i = 0; i < nr && read_record(&told) && says(&told, &pokes[i]); i++)
		;
	KUNIT_EXPECT_EQ(test, i, nr);
}

/* That @nr are lost is what comes next. */
static void expect_lost(struct kunit *test, u64 nr)
{
	struct told told;

	KUNIT_EXPECT_TRUE(test, read_record(&told));
	KUNIT_EXPECT_EQ(test, told.type, PERF_RECORD_LOST);
	KUNIT_EXPECT_EQ(test, told.lost, nr);
}

static void expect_no_more(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, head(), tail());
}

/* How many are lost, by what the next record says, and by what a read says. */
static u64 lost(struct kunit *test)
{
	u64 nr = local_read(&rb->lost);

	KUNIT_EXPECT_EQ(test, atomic64_read(&event->lost_samples), nr);
	return nr;
}

static void many_are_told_in_their_order(struct kunit *test)
{
	open_event(test, 0, 8);
	guard(own_pokes)();
	use_buffer(true);
	perf_event_text_pokes(pokes, MANY);
	expect_told(test, MANY);
	expect_no_more(test);
	KUNIT_EXPECT_EQ(test, lost(test), 0);
	use_buffer(false);
}

static void one_is_told_as_it_always_was(struct kunit *test)
{
	const struct perf_text_poke *poke = &pokes[BYTES_MAX];
	struct told told;

	open_event(test, 0, 1);
	guard(own_pokes)();
	use_buffer(true);
	perf_event_text_poke(poke->addr, poke->old_bytes, poke->old_len,
			     poke->new_bytes, poke->new_len);
	KUNIT_EXPECT_TRUE(test, read_record(&told) && says(&told, poke));
	expect_no_more(test);
	perf_event_text_pokes(pokes, 0);
	expect_no_more(test);
	use_buffer(false);
}

/* The size of all that are told, and how often the stamp changes. */
static u64 read_stamps(struct kunit *test, u64 from, u64 to, unsigned int *stamps)
{
	struct told told;
	u64 size = 0;

	*stamps = 0;
	for (; read_record(&told); size += told.size) {
		KUNIT_EXPECT_GE(test, told.id.time, from);
		KUNIT_EXPECT_LE(test, told.id.time, to);
		*stamps += told.id.time != from;
		from = told.id.time;
	}
	return size;
}

/* There is one for as many as are written at once, and not one for each. */
static void a_chunk_has_one_stamp(struct kunit *test)
{
	u64 from, to, size;
	unsigned int stamps;

	open_event(test, 0, 8);
	guard(own_pokes)();
	use_buffer(true);
	from = local_clock();
	perf_event_text_pokes(pokes, MANY);
	to = local_clock();
	size = read_stamps(test, from, to, &stamps);
	KUNIT_EXPECT_GT(test, size, 2 * CHUNK_MAX);
	KUNIT_EXPECT_LE(test, stamps, div_u64(size, CHUNK_MAX - RECORD_MAX) + 1);
	use_buffer(false);
}

/*
 * Of @asked records, which were those of @pokes over and over, some have come, in
 * their order.  How many?
 */
static unsigned int count_told(struct kunit *test, unsigned int asked)
{
	unsigned int came, at = 0;
	struct told told;

	for (came = 0; read_record(&told); came++, at++)
		while (at < asked && !says(&told, &pokes[at % MANY]))
			at++;
	KUNIT_EXPECT_LE(test, at, asked);
	expect_no_more(test);
	return came;
}

static unsigned int smallest_size(void)
{
	unsigned int i, smallest = size_of(&pokes[0]);

	for (i = 1; i < MANY; i++)
		smallest = min(smallest, size_of(&pokes[i]));
	return smallest;
}

/* What is lost did not fit, and is told of as soon as something does. */
static void losses_are_counted_by_the_record(struct kunit *test)
{
	unsigned int smallest = smallest_size(), asked = 0, came;
	u64 nr;

	open_event(test, 0, 1);
	guard(own_pokes)();
	use_buffer(true);
	for (; asked * smallest < 2 * perf_data_size(rb); asked += MANY)
		perf_event_text_pokes(pokes, MANY);
	KUNIT_EXPECT_LT(test, CIRC_SPACE(head(), tail(), perf_data_size(rb)),
			smallest + LOST_SIZE);
	nr = lost(test);
	came = count_told(test, asked);
	KUNIT_EXPECT_GT(test, nr, 0);
	KUNIT_EXPECT_GT(test, came, 0);
	KUNIT_EXPECT_EQ(test, came + nr, asked);

	perf_event_text_pokes(pokes, 3);
	expect_lost(test, nr);
	expect_told(test, 3);
	KUNIT_EXPECT_EQ(test, local_read(&rb->lost), 0);
	use_buffer(false);
}

/* Of a chunk for which there is not room enough, as many as there is room for. */
static void what_fits_of_a_chunk_is_told(struct kunit *test)
{
	unsigned int size = size_of(&pokes[1]), room, i;
	struct perf_text_poke same[8];

	for (i = 0; i < ARRAY_SIZE(same); i++)
		same[i] = pokes[1];
	open_event(test, 0, 1);
	guard(own_pokes)();
	use_buffer(true);
	do {
		perf_event_text_pokes(same, 1);
		room = CIRC_SPACE(head(), tail(), perf_data_size(rb));
	} while (room >= 4 * size);
	KUNIT_EXPECT_EQ(test, lost(test), 0);

	perf_event_text_pokes(same, ARRAY_SIZE(same));
	KUNIT_EXPECT_EQ(test, lost(test), ARRAY_SIZE(same) - 3);
	KUNIT_EXPECT_EQ(test, room - 3 * size,
			CIRC_SPACE(head(), tail(), perf_data_size(rb)));
	use_buffer(false);
}

/* An event may get a smaller one just then, which many would write over. */
static void many_take_half_of_a_buffer_at_most(struct kunit *test)
{
	struct perf_output_handle handle;
	struct perf_sample_data data = {};
	int ret;

	open_event(test, 0, 1);
	guard(own_pokes)();
	use_buffer(true);
	ret = perf_output_begin_records(&handle, &data, event,
					perf_data_size(rb) / 2 + sizeof(u64), 0);
	if (!ret)
		perf_output_end(&handle);
	KUNIT_EXPECT_EQ(test, ret, -ENOSPC);
	expect_no_more(test);
	KUNIT_EXPECT_EQ(test, lost(test), 0);
	use_buffer(false);
}

static void a_paused_buffer_loses_all(struct kunit *test)
{
	open_event(test, 0, 1);
	guard(own_pokes)();
	use_buffer(true);
	rb->paused = 1;
	perf_event_text_pokes(pokes, MANY);
	rb->paused = 0;
	expect_no_more(test);
	KUNIT_EXPECT_EQ(test, lost(test), MANY);
	perf_event_text_pokes(pokes, 1);
	expect_lost(test, MANY);
	expect_told(test, 1);
	use_buffer(false);
}

static void no_buffer_loses_nothing(struct kunit *test)
{
	open_event(test, 0, 1);
	guard(own_pokes)();
	perf_event_text_pokes(pokes, MANY);
	KUNIT_EXPECT_EQ(test, lost(test), 0);
}

/* A record has 16 bits for its size. */
static void too_long_ones_are_lost_alone(struct kunit *test)
{
	static u8 long_bytes[1];
	struct perf_text_poke three[] = { pokes[0], pokes[1], pokes[1] };

	three[1].old_bytes = long_bytes;
	three[1].old_len = U16_MAX;
	open_event(test, 0, 32);
	guard(own_pokes)();
	use_buffer(true);
	perf_event_text_pokes(three, ARRAY_SIZE(three));
	/* Of that the third one has told. */
	KUNIT_EXPECT_EQ(test, local_read(&rb->lost), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&event->lost_samples), 1);
	expect_told(test, 1);
	expect_lost(test, 1);
	KUNIT_EXPECT_EQ(test, head() - tail(), size_of(&three[2]));
	rb->user_page->data_tail = head();
	perf_event_text_poke(pokes, NULL, 0, long_bytes, U16_MAX + 2UL);
	KUNIT_EXPECT_EQ(test, local_read(&rb->lost), 1);
	expect_no_more(test);
	use_buffer(false);
}

/* The event is that of another CPU, which writes them. */
static void other_cpus_are_told_of_all(struct kunit *test)
{
	int other = cpumask_any_but(cpu_online_mask, 0);

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a second CPU");
	open_event(test, other, 8);
	guard(own_pokes)();
	use_buffer(true);
	perf_event_text_pokes(pokes, MANY);
	expect_told(test, MANY);
	expect_no_more(test);

	/* It cannot be waited for. */
	scoped_guard(irqsave)
		perf_event_text_pokes(pokes, MANY);
	expect_no_more(test);
	perf_event_text_pokes(pokes, 2);
	expect_lost(test, MANY);
	expect_told(test, 2);
	use_buffer(false);
}

/* When the last trap was stored, and the first tail, or unit without a tail. */
static u64 last_trap, first_unit;

static int timed_store(void *alias, const void *bytes, size_t len)
{
	u8 trap[LEN];
	int ret;

	text_poke_test_trap(trap);
	if (len == TEXT_POKE_UNIT && !memcmp(bytes, trap, len)) {
		ret = copy_to_kernel_nofault(alias, bytes, len);
		last_trap = local_clock();
		return ret;
	}
	if (!first_unit)
		first_unit = local_clock();
	return copy_to_kernel_nofault(alias, bytes, len);
}

/* Perf is told more than once, for one wave. */
#define SITES	(2 * TEXT_POKE_RECORDS + 3)

static int poke_sites(const void *old, const void *new)
{
	unsigned int i;
	int ret = 0;

	last_trap = 0;
	first_unit = 0;
	for (i = 0; !ret && i < SITES; i++)
		ret = text_poke_batch_add(field_addr(i), old, new, LEN, NULL);
	return finish_or_cancel(ret);
}

/* A record for the site, from after the last trap to before the first tail. */
static void expect_site(struct kunit *test, unsigned int i, const void *old,
			const void *new)
{
	const struct perf_text_poke poke = {
		.addr		= field_addr(i),
		.old_bytes	= old,
		.new_bytes	= new,
		.old_len	= LEN,
		.new_len	= LEN,
	};
	struct told told;

	KUNIT_EXPECT_TRUE(test, read_record(&told) && says(&told, &poke));
	KUNIT_EXPECT_GE(test, told.id.time, last_trap);
	KUNIT_EXPECT_LE(test, told.id.time, first_unit);
}

static void poke_timed(struct kunit *test, const void *old, const void *new)
{
	unsigned int i;

	text_poke_test_store(timed_store);
	KUNIT_EXPECT_EQ(test, 0, poke_sites(old, new));
	text_poke_test_store(NULL);
	for (i = 0; i < SITES; i++)
		expect_site(test, i, old, new);
	expect_no_more(test);
}

static void stamps_are_from_when_every_site_traps(struct kunit *test)
{
	u64 arming_ns = text_poke_arming_ns;
	u8 nop[LEN], branch[LEN];

	text_poke_test_nop(nop);
	text_poke_test_jump(branch, field_addr(0), field_addr(1));
	open_event(test, 0, 8);
	guard(own_pokes)();
	/* One group, however slow the machine is. */
	text_poke_arming_ns = NSEC_PER_SEC;
	use_buffer(true);
	poke_timed(test, nop, branch);
	poke_timed(test, branch, nop);
	KUNIT_EXPECT_EQ(test, lost(test), 0);
	use_buffer(false);
	text_poke_arming_ns = arming_ns;
}

/**
 * struct noted - a record as the core makes it
 * @addr:	where the text changes
 * @len:	how many bytes were there, and are now
 * @old:	which were there
 * @new:	which are there now
 */
static struct noted {
	const void *addr;
	size_t len;
	u8 old[TEXT_POKE_PAIR];
	u8 new[TEXT_POKE_PAIR];
} noted[4];

static unsigned int nr_noted;

static void note_record(const void *addr, const void *old, size_t old_len,
			const void *new, size_t new_len)
{
	struct noted *note = &noted[nr_noted++ % ARRAY_SIZE(noted)];

	*note = (struct noted) { .addr = addr, .len = old_len };
	if (old_len != new_len || old_len > TEXT_POKE_PAIR)
		return;
	memcpy(note->old, old, old_len);
	memcpy(note->new, new, new_len);
}

/* The unit whose store fails; neither a trap nor a literal is like it. */
static const u8 *refused;

static int refusing_store(void *alias, const void *bytes, size_t len)
{
	if (refused && len == TEXT_POKE_UNIT && !memcmp(bytes, refused, len))
		return -EFAULT;
	return copy_to_kernel_nofault(alias, bytes, len);
}

/* Change a literal in field 0, and the instruction in field @i. */
static int poke_behind(unsigned int i, u64 value, const u8 *old, const u8 *new)
{
	int ret;

	nr_noted = 0;
	ret = text_poke_batch_add_data(field_addr(0), NULL, &value,
				       sizeof(value));
	if (!ret)
		ret = text_poke_batch_add(field_addr(i), old, new, LEN, NULL);
	return finish_or_cancel(ret);
}

/* From the literal to where field @i ends. */
static size_t behind(unsigned int i)
{
	return field_addr(i) + LEN - field_addr(0);
}

/* How many records the two come to. */
static unsigned int records_behind(unsigned int i)
{
	return behind(i) <= TEXT_POKE_PAIR ? 1 : 2;
}

/* The record says that a piece of the text @from has become that of @to. */
static void expect_noted(struct kunit *test, const struct noted *note,
			 const u8 *from, const u8 *to)
{
	size_t at = note->addr - field_addr(0);

	KUNIT_EXPECT_MEMEQ(test, note->old, from + at, note->len);
	KUNIT_EXPECT_MEMEQ(test, note->new, to + at, note->len);
}

/* One record of both, or one of each; @from is where it is in noted[]. */
static void expect_pair(struct kunit *test, unsigned int from, unsigned int i,
			const u8 *old, const u8 *new)
{
	const struct noted *note = &noted[from];
	bool paired = records_behind(i) == 1;

	KUNIT_EXPECT_PTR_EQ(test, note->addr, field_addr(0));
	KUNIT_EXPECT_EQ(test, note->len, paired ? behind(i) : sizeof(u64));
	expect_noted(test, note, old, new);
	if (paired)
		return;
	KUNIT_EXPECT_PTR_EQ(test, note[1].addr, field_addr(i));
	KUNIT_EXPECT_EQ(test, note[1].len, LEN);
	expect_noted(test, note + 1, old, new);
}

#define FIRST_BEHIND	2
#define LAST_BEHIND	8
#define BEHIND_MAX	((LAST_BEHIND + 1) * LEN)

/* Fields 0 to LAST_BEHIND before a change, and after it. */
static u8 text_before[BEHIND_MAX], text_after[BEHIND_MAX];

/* A change, and one back. */
static void expect_records_behind(struct kunit *test, unsigned int i,
				  const u8 *nop, const u8 *branch)
{
	unsigned int nr = records_behind(i);
	u64 value;

	memcpy(&value, field_addr(0), sizeof(value));
	memcpy(text_before, field_addr(0), BEHIND_MAX);
	KUNIT_EXPECT_EQ(test, 0, poke_behind(i, ~value, nop, branch));
	memcpy(text_after, field_addr(0), BEHIND_MAX);
	KUNIT_EXPECT_EQ(test, nr_noted, nr);
	expect_pair(test, 0, i, text_before, text_after);

	KUNIT_EXPECT_EQ(test, 0, poke_behind(i, value, branch, nop));
	KUNIT_EXPECT_EQ(test, nr_noted, nr);
	expect_pair(test, 0, i, text_after, text_before);
	KUNIT_EXPECT_MEMEQ(test, field_addr(0), text_before, BEHIND_MAX);
}

/* The branch cannot be stored: the change is taken back. */
static void expect_reversal_behind(struct kunit *test, unsigned int i,
				   const u8 *nop, const u8 *branch)
{
	unsigned int nr = records_behind(i);
	u64 value;

	memcpy(&value, field_addr(0), sizeof(value));
	refused = branch;
	KUNIT_EXPECT_EQ(test, -EFAULT, poke_behind(i, ~value, nop, branch));
	refused = NULL;
	KUNIT_EXPECT_EQ(test, nr_noted, 2 * nr);
	expect_pair(test, 0, i, text_before, text_after);
	expect_pair(test, nr, i, text_after, text_before);
	KUNIT_EXPECT_MEMEQ(test, field_addr(0), text_before, BEHIND_MAX);
}

static void a_literal_and_the_next_instruction_share_a_record(struct kunit *test)
{
	u8 nop[LEN], branch[LEN];
	unsigned int i;

	text_poke_test_nop(nop);
	text_poke_test_jump(branch, field_addr(0), field_addr(1));
	text_poke_test_listen(test);
	guard(own_pokes)();
	text_poke_test_record(note_record);
	text_poke_test_store(refusing_store);
	for (i = FIRST_BEHIND; i <= LAST_BEHIND; i++) {
		expect_records_behind(test, i, nop, branch);
		expect_reversal_behind(test, i, nop, branch);
	}
	text_poke_test_store(NULL);
	text_poke_test_record(NULL);
}

/* An event of CPU 0 is this CPU's own: the clocks of others may differ. */
static int record_init(struct kunit *test)
{
	make_pokes();
	return set_cpus_allowed_ptr(current, cpumask_of(0));
}

static void record_exit(struct kunit *test)
{
	text_poke_test_replace_nothing();
}

static struct kunit_case record_cases[] = {
	KUNIT_CASE(many_are_told_in_their_order),
	KUNIT_CASE(one_is_told_as_it_always_was),
	KUNIT_CASE(a_chunk_has_one_stamp),
	KUNIT_CASE(losses_are_counted_by_the_record),
	KUNIT_CASE(what_fits_of_a_chunk_is_told),
	KUNIT_CASE(many_take_half_of_a_buffer_at_most),
	KUNIT_CASE(a_paused_buffer_loses_all),
	KUNIT_CASE(no_buffer_loses_nothing),
	KUNIT_CASE(too_long_ones_are_lost_alone),
	KUNIT_CASE(other_cpus_are_told_of_all),
	KUNIT_CASE(stamps_are_from_when_every_site_traps),
	KUNIT_CASE(a_literal_and_the_next_instruction_share_a_record),
	{}
};

static struct kunit_suite record_suite = {
	.name		= "text_poke_record",
	.init		= record_init,
	.exit		= record_exit,
	.test_cases	= record_cases,
};

kunit_test_suite(record_suite);

MODULE_DESCRIPTION("KUnit test of the records of text pokes");
MODULE_LICENSE("GPL");
