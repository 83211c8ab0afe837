# SPDX-License-Identifier: GPL-2.0
"""The plugin of `make trace` in the place of QEMU: what does it write of what it is told?"""

import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke.trace import qemus  # noqa: E402

KERNEL = 0xFFFFFFFF80000000
MARKER, CLOCK, CALLER = KERNEL + 0x1000, KERNEL + 0x2000, KERNEL + 0x3000
NOP = b"\x13\0\0\0"
CPU, TIME, TRAP, USER, END = range(0xF0000000, 0xF0000005)
WORDS = {CPU: 2, TIME: 2, TRAP: 3}
EXCEPTION = 2

# QEMU's interface, driven by commands on standard input: a register's value, code that is
# translated or executed, a trap.
QEMU = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qemu.h"

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

struct qemu_plugin_register { char name[16]; uint64_t value; };
struct qemu_plugin_insn { uint64_t addr; size_t size; uint8_t bytes[16]; qemu_cb cb; void *data; };
struct qemu_plugin_tb {
	uint64_t addr;
	size_t count;
	struct qemu_plugin_insn insns[8];
	qemu_cb cb;
	void *data;
};

static struct qemu_plugin_register registers[32];
static int nr_registers;
static struct qemu_plugin_tb blocks[64];
static int nr_blocks;
static uint64_t stack[4];

#if QEMU_API >= 7
static qemu_cb cpu_cb;
static qemu_translated_cb translated_cb;
static qemu_trap_cb trap_cb;
static void (*end_cb)(void *data);

static void on_cpu(void) { cpu_cb(0, NULL); }
static void on_translated(struct qemu_plugin_tb *tb) { translated_cb(tb, NULL); }
static void on_trap(uint64_t from, uint64_t to) { trap_cb(0, 2, from, to, NULL); }
static void at_end(void) { end_cb(NULL); }

void qemu_plugin_register_vcpu_init_cb(uint64_t id, qemu_cb cb, void *data) { cpu_cb = cb; }
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, qemu_translated_cb cb, void *data)
{
	translated_cb = cb;
}

void qemu_plugin_register_vcpu_discon_cb(uint64_t id, int types, qemu_trap_cb cb, void *data)
{
	trap_cb = cb;
}

void qemu_plugin_register_atexit_cb(uint64_t id, void (*cb)(void *data), void *data)
{
	end_cb = cb;
}
#else
static void (*cpu_cb)(uint64_t id, unsigned int vcpu);
static void (*translated_cb)(uint64_t id, struct qemu_plugin_tb *tb);
static void (*end_cb)(uint64_t id, void *data);

static void on_cpu(void) { cpu_cb(1, 0); }
static void on_translated(struct qemu_plugin_tb *tb) { translated_cb(1, tb); }
static void on_trap(uint64_t from, uint64_t to) { exit(4); }
static void at_end(void) { end_cb(1, NULL); }

void qemu_plugin_register_vcpu_init_cb(uint64_t id, void (*cb)(uint64_t id, unsigned int vcpu))
{
	cpu_cb = cb;
}

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*cb)(uint64_t id, struct qemu_plugin_tb *tb))
{
	translated_cb = cb;
}

void qemu_plugin_register_atexit_cb(uint64_t id, void (*cb)(uint64_t id, void *data), void *data)
{
	end_cb = cb;
}
#endif

/* The stack is all the memory that there is. */
bool qemu_plugin_read_memory_vaddr(uint64_t addr, struct garray *into, size_t length)
{
	into->data = realloc(into->data, length);
	memcpy(into->data, stack, length);
	return true;
}

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_cb cb,
					  int regs, void *data)
{
	tb->cb = cb;
	tb->data = data;
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_cb cb,
					    int regs, void *data)
{
	insn->cb = cb;
	insn->data = data;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb) { return tb->count; }
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb) { return tb->addr; }
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i)
{
	return (struct qemu_plugin_insn *)&tb->insns[i];
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn) { return insn->size; }
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn) { return insn->addr; }
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t len)
{
	memcpy(dest, insn->bytes, len);
	return len;
}

struct garray *g_byte_array_new(void) { return calloc(1, sizeof(struct garray)); }

struct garray *g_byte_array_set_size(struct garray *array, unsigned int size)
{
	array->data = realloc(array->data, 16);
	array->len = size;
	return array;
}

bool qemu_plugin_read_register(struct qemu_plugin_register *handle, struct garray *into)
{
	memcpy(into->data, &handle->value, 8);
	into->len = 8;
	return true;
}

struct garray *qemu_plugin_get_registers(void)
{
	struct garray *all = calloc(1, sizeof(*all));
	struct qemu_register *regs = calloc(nr_registers, sizeof(*regs));
	int i;

	for (i = 0; i < nr_registers; i++)
		regs[i] = (struct qemu_register){
			.handle = &registers[i], .name = registers[i].name
		};
	all->data = (char *)regs;
	all->len = nr_registers;
	return all;
}

static void set(const char *name, uint64_t value)
{
	int i = 0;

	while (i < nr_registers && strcmp(registers[i].name, name))
		i++;
	if (i == nr_registers)
		strcpy(registers[nr_registers++].name, name);
	registers[i].value = value;
}

static void translate(uint64_t addr, char *words)
{
	struct qemu_plugin_tb *tb = &blocks[nr_blocks++];
	char *word = strtok(words, ",\n");
	unsigned int byte;
	size_t i;

	tb->addr = addr;
	for (; word; word = strtok(NULL, ",\n"), tb->count++) {
		struct qemu_plugin_insn *insn = &tb->insns[tb->count];

		insn->addr = addr;
		insn->size = strlen(word) / 2;
		for (i = 0; i < insn->size; i++) {
			sscanf(word + 2 * i, "%2x", &byte);
			insn->bytes[i] = byte;
		}
		addr += insn->size;
	}
	on_translated(tb);
}

static void execute(uint64_t number, int insns)
{
	struct qemu_plugin_tb *tb = &blocks[number];
	int i;

	tb->cb(0, tb->data);
	for (i = 0; i < insns; i++)
		tb->insns[i].cb(0, tb->insns[i].data);
}

int main(int argc, char **argv)
{
	struct qemu_info info = { .target = argv[1] };
	char line[256], what[16], word[160];
	unsigned long long a, b;
	bool begun = false;

	if (qemu_plugin_install(1, &info, argc - 2, argv + 2))
		return 3;
	while (fgets(line, sizeof(line), stdin)) {
		sscanf(line, "%15s", what);
		if (!strcmp(what, "set") && sscanf(line, "%*s %159s %llx", word, &a) == 2) {
			set(word, a);
			continue;
		}
		if (!strcmp(what, "stack")) {
			sscanf(line, "%*s %lx %lx", &stack[0], &stack[1]);
			continue;
		}
		if (!begun)
			on_cpu();
		begun = true;
		if (!strcmp(what, "code") && sscanf(line, "%*s %llx %159s", &a, word) == 2)
			translate(a, word);
		else if (!strcmp(what, "run") && sscanf(line, "%*s %llx %llx", &a, &b) == 2)
			execute(a, b);
		else if (!strcmp(what, "trap") && sscanf(line, "%*s %llx %llx", &a, &b) == 2)
			on_trap(a, b);
	}
	at_end();
	return 0;
}
"""


PROGRAMS = {}


def setUpModule():
    place = Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    source = place / "qemu.c"
    source.write_text(QEMU)
    for version in qemus.APIS:
        PROGRAMS[version] = place / f"qemu{version}"
        files, told = qemus.sources(version)
        subprocess.run(
            [
                "gcc",
                *qemus.WARNINGS,
                "-Werror",
                f"-I{qemus.SOURCE}",
                told,
                *(qemus.SOURCE / name for name in files),
                source,
                "-o",
                PROGRAMS[version],
            ],
            check=True,
        )


class Guest(unittest.TestCase):
    """Code is numbered as it is translated: the marker is 0."""

    qemu = "11"
    target, base = "riscv64", "mhartid"
    back, stack, result = "ra", "sp", "a0"

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.lines, self.codes = [], 0
        for name in (self.back, self.stack, self.result):
            self.set(name, 0)
        self.set(self.base, 0)
        self.marker = self.code(MARKER)

    def set(self, name, value):
        self.lines.append(f"set {name} {value:x}")

    def code(self, addr, *insns):
        self.lines.append(f"code {addr:x} {','.join(insn.hex() for insn in insns or (NOP,))}")
        self.codes += 1
        return self.codes - 1

    def run_code(self, number, insns=1):
        self.lines.append(f"run {number:x} {insns:x}")

    def words(self):
        found = {
            "out": self.folder,
            "marker": f"{MARKER:x}",
            "low": "80200000",
            "text": f"{KERNEL:x}",
            "length": "100000",
            "clock": f"{CLOCK:x}",
        }
        return [f"{name}={value}" for name, value in found.items()]

    def start(self, *words):
        return subprocess.run(
            [PROGRAMS[self.qemu], self.target, *words],
            input="\n".join(self.lines) + "\n",
            text=True,
            check=False,
        ).returncode

    def log(self):
        """[what, count, words...] of each entry."""
        self.assertEqual(self.start(*self.words()), 0)
        data, at, found = (self.folder / "log").read_bytes(), 0, []
        while at < len(data):
            what, count = struct.unpack_from("<II", data, at)
            size = WORDS.get(what, 0)
            found.append([what, count, *struct.unpack_from(f"<{size}Q", data, at + 8)])
            at += 8 + 8 * size
        return found


class Riscv(Guest):
    def kinds(self, what):
        return [entry for entry in self.log() if entry[0] == what]

    def test_a_cpu_is_told_by_its_number_the_first_too(self):
        self.run_code(self.marker)
        self.set(self.base, 1)
        self.run_code(self.code(CALLER))
        self.assertEqual([entry[2] for entry in self.kinds(CPU)], [1 << 63, 1 << 63 | 1])

    def test_without_that_register_no_cpu_is_known(self):
        self.lines = [line for line in self.lines if not line.startswith(f"set {self.base}")]
        self.run_code(self.marker)
        self.assertEqual([entry[2] for entry in self.kinds(CPU)], [0])

    def called(self, entry, back, stack, time):
        """The clock's function is called from back and returns."""
        self.set(self.back, back)
        self.set(self.stack, stack)
        self.run_code(entry)
        self.set(self.back, 0)
        self.set(self.result, time)

    def test_the_time_is_what_the_function_returns(self):
        clock, after = self.code(CLOCK), self.code(CALLER + 8)
        self.run_code(self.marker)
        self.called(clock, CALLER + 8, 0x9000, 123456)
        self.run_code(after)
        self.assertEqual(self.kinds(TIME), [[TIME, 2, 2, 123456]])

    def test_where_it_returns_to_may_be_reached_without_a_call(self):
        clock, after = self.code(CLOCK), self.code(CALLER + 8)
        self.run_code(self.marker)
        self.run_code(after)
        self.called(clock, CALLER + 8, 0x9000, 5)
        self.run_code(after)
        self.run_code(after)
        self.assertEqual(len(self.kinds(TIME)), 1)

    def test_an_interrupt_may_ask_as_well_before_the_first_has_returned(self):
        clock, after, other = self.code(CLOCK), self.code(CALLER + 8), self.code(CALLER + 64)
        self.run_code(self.marker)
        self.called(clock, CALLER + 8, 0x9000, 0)
        self.called(clock, CALLER + 64, 0x8000, 700)
        self.run_code(other)
        self.called(clock, CALLER + 8, 0x8000, 800)
        self.run_code(after)
        self.set(self.stack, 0x9000)
        self.set(self.result, 600)
        self.run_code(after)
        self.assertEqual([entry[3] for entry in self.kinds(TIME)], [700, 800, 600])

    def test_a_task_may_return_on_another_cpu(self):
        clock, after = self.code(CLOCK), self.code(CALLER + 8)
        self.run_code(self.marker)
        self.called(clock, CALLER + 8, 0x9000, 77)
        self.set(self.base, 1)
        self.run_code(after)
        self.assertEqual([entry[3] for entry in self.kinds(TIME)], [77])

    def test_what_traps_has_not_been_executed(self):
        code = self.code(CALLER, NOP, b"\x02\x90")  # c.ebreak
        vector = self.code(KERNEL + 0x5000)
        self.run_code(self.marker)
        self.run_code(code, 2)
        self.lines.append(f"trap {CALLER + 4:x} {KERNEL + 0x5000:x}")
        self.run_code(vector)
        self.assertEqual(
            [entry[:2] for entry in self.log()][2:], [[code, 1], [TRAP, 2], [vector, 2]]
        )

    def test_instructions_have_two_bytes_or_four(self):
        self.code(CALLER, b"\x01\0", NOP)
        self.run_code(self.marker)
        self.log()
        first = 16 + 1 + 4
        self.assertEqual(
            (self.folder / "blocks").read_bytes()[first:],
            struct.pack("<QII", CALLER, 2, 6) + b"\2\4" + b"\x01\0" + NOP,
        )

    def test_without_a_clock_it_does_not_start(self):
        self.assertEqual(self.start(*self.words()[:-1]), 3)


class Powerpc(Guest):
    target, base = "ppc64", "sprg1"
    back, stack, result = "lr", "r1", "r3"

    def test_calls_from_nearby_enter_behind_the_first_two_instructions(self):
        near, after = self.code(CLOCK + 8), self.code(CALLER + 8)
        self.set(self.base, KERNEL + 0x900000)
        self.run_code(self.marker)
        self.set(self.back, CALLER + 8)
        self.run_code(near)
        self.set(self.result, 99)
        self.run_code(after)
        log = self.log()
        self.assertEqual([entry for entry in log if entry[0] == TIME], [[TIME, 2, 2, 99]])
        self.assertEqual(log[0], [CPU, 0, KERNEL + 0x900000, 0])


class X86(Guest):
    target, base = "x86_64", "gs_base"
    back, stack, result = "rax", "rdx", "rcx"

    def words(self):
        return super().words()[:-1]

    def test_the_clock_is_what_it_was_read_into(self):
        read = self.code(CALLER, b"\x0f\x31")
        after = self.code(CALLER + 2, b"\x90")
        self.set(self.base, KERNEL)
        self.run_code(self.marker)
        self.run_code(read)
        self.set("rax", 0x12345678)
        self.set("rdx", 2)
        self.run_code(after)
        self.assertEqual(
            [entry for entry in self.log() if entry[0] == TIME], [[TIME, 2, 2, 0x212345678]]
        )


class Arm64(X86):
    target, base = "aarch64", "TPIDR_EL1"
    back = "x7"

    def test_the_clock_is_what_it_was_read_into(self):
        read = self.code(CALLER, struct.pack("<I", 0xD53BE047))  # mrs x7, cntvct_el0
        after = self.code(CALLER + 4)
        self.set(self.base, KERNEL)
        self.run_code(self.marker)
        self.run_code(read)
        self.set("x7", 4321)
        self.run_code(after)
        self.assertEqual([entry for entry in self.log() if entry[0] == TIME], [[TIME, 2, 2, 4321]])


class Vectors(Guest):
    """With QEMU 10, which does not tell of traps: they are known by where they lead."""

    qemu = "10"
    VECTOR = KERNEL + 0x5000

    def setUp(self):
        super().setUp()
        self.lines[:0] = [f"set {name} 0" for name in ("rsp", "ELR_EL1", "srr0", "sepc", "scause")]

    def words(self):
        (self.folder / "vectors").write_text(self.vectors)
        return [*super().words(), f"vectors={self.folder / 'vectors'}"]

    def trapped(self, kind, *frame, registers=(), executed=1, target=None):
        """The entries behind the marker: two instructions, of which the second may trap."""
        self.target = target or self.target
        self.vectors = f"{self.VECTOR:x} {self.VECTOR + 0x20:x} 10 {kind}\n"
        code, vector = self.code(CALLER, NOP, NOP), self.code(self.VECTOR + 0x10)
        behind = self.code(self.VECTOR + 0x14)
        self.run_code(self.marker)
        self.run_code(code, executed)
        self.lines += [f"set {name} {value:x}" for name, value in registers]
        if frame:
            self.lines.append("stack " + " ".join(f"{word:x}" for word in frame))
        self.run_code(vector)
        self.run_code(behind)
        return [
            entry[:1] + entry[2:] if entry[0] == TRAP else entry
            for entry in self.log()[2:]
            if entry[0] in (TRAP, vector)
        ], vector

    def test_x86_says_on_its_stack_where_it_was(self):
        for frame in ((CALLER + 4, 0x10), (0xE, CALLER + 4)):
            for kind, count in ((qemus.INTERRUPT, 3), (qemus.EXCEPTION, 2)):
                self.setUp()
                found, vector = self.trapped(kind, *frame, executed=2, target="x86_64")
                self.assertEqual(
                    found, [[TRAP, kind, CALLER + 4, self.VECTOR + 0x10], [vector, count]]
                )

    def test_and_behind_a_breakpoint(self):
        frame = (CALLER + 5, 0x10)
        found, vector = self.trapped(qemus.BEHIND, *frame, executed=2, target="x86_64")
        self.assertEqual(
            found, [[TRAP, qemus.EXCEPTION, CALLER + 4, self.VECTOR + 0x10], [vector, 2]]
        )

    def test_others_say_so_in_a_register(self):
        for target, name in (("aarch64", "ELR_EL1"), ("ppc64", "srr0")):
            self.setUp()
            found, vector = self.trapped(
                qemus.INTERRUPT, registers=[(name, CALLER + 4)], target=target
            )
            self.assertEqual(
                found, [[TRAP, qemus.INTERRUPT, CALLER + 4, self.VECTOR + 0x10], [vector, 2]]
            )

    def test_risc_v_has_one_vector_and_a_cause(self):
        for cause, kind in ((1 << 63 | 5, qemus.INTERRUPT), (3, qemus.EXCEPTION)):
            self.setUp()
            registers = [("sepc", CALLER + 4), ("scause", cause)]
            found, _ = self.trapped(qemus.TOLD, registers=registers)
            self.assertEqual(found[0][:3], [TRAP, kind, CALLER + 4])

    def test_what_comes_in_user_space_is_an_entry(self):
        self.vectors = f"{self.VECTOR:x} {self.VECTOR + 1:x} 1 {qemus.INTERRUPT}\n"
        user, vector = self.code(0x10000), self.code(self.VECTOR)
        self.run_code(self.marker)
        self.run_code(user)
        self.run_code(vector)
        self.run_code(vector)
        self.assertEqual([entry[0] for entry in self.log()[2:]], [USER, 1, TRAP, 1])

    def test_without_a_list_it_does_not_start(self):
        self.vectors = ""
        self.assertEqual(self.start(*self.words()), 3)
        self.assertEqual(self.start(*super().words()), 3)
        self.vectors = "ffffffff80005000 ffffffff80005001 one 0\n"
        self.assertEqual(self.start(*self.words()), 3)


del Guest

if __name__ == "__main__":
    unittest.main()
