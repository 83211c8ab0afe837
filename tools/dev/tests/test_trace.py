# SPDX-License-Identifier: GPL-2.0
"""`make trace`: perf.data taken apart and put together, logs that are made by hand,
and what is said of a difference.
"""

import bisect
import contextlib
import io
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import arch as arches  # noqa: E402
from textpoke import errors  # noqa: E402
from textpoke.code import disasm  # noqa: E402
from textpoke.errors import INFRA, Fail  # noqa: E402
from textpoke.records import perfdata  # noqa: E402
from textpoke.records.perfdata import Attribute, PerfData, Stream  # noqa: E402
from textpoke.results import ktap  # noqa: E402
from textpoke.results.ktap import Result  # noqa: E402
from textpoke.trace import newer, qemus, trace, tracecolumns  # noqa: E402
from textpoke.trace.small import TYPE, Log, event, symbol, trailer  # noqa: E402

CONVERSION = (4, 32, 1000)  # 2 ns for a tick of the clock, from 1000 on
BASE = 0xFFFFFFFF81000000
ENCODER = """
#include "encode.h"
static void enter(int cpu, uint64_t to)
{
	printf("enter %d %llx\\n", cpu, (unsigned long long)to);
	fclose(encode_file("aux", cpu));
}
static void leave(int cpu, const struct insn *last) { printf("leave %d\\n", cpu); }
static void lose(int cpu, uint64_t at) { printf("lose %d %llx\\n", cpu, (unsigned long long)at); }
static void branch(int cpu, const struct insn *insn, bool taken, uint64_t to)
{
	printf("branch %d %llx %d %llx\\n", cpu, (unsigned long long)insn->addr, taken,
	       (unsigned long long)to);
	if (taken)
		encode_truth(cpu, insn->addr, to);
}
static void trap(int cpu, int kind, uint64_t from, uint64_t to)
{
	printf("trap %d %d %llx %llx at %llu\\n", cpu, kind, (unsigned long long)from,
	       (unsigned long long)to, (unsigned long long)path_clock());
}
static void run(int cpu, uint64_t addr, uint32_t insns) { }
const struct path pt_encoder = { enter, leave, lose, branch, trap, run };
void pt_finish(void) { }
"""


def poke(time, addr, old, new):
    body = struct.pack("<QHH", addr, len(old), len(new)) + old + new
    return event(perfdata.TEXT_POKE, body + b"\0" * (-len(body) % 8) + trailer(time))


def recording(*events):
    """What a guest's perf has written, with a round in it."""
    raw = perfdata.ATTR.pack(1, 136, 9, 1, TYPE, 0, perfdata.SAMPLE_ID_ALL).ljust(136, b"\0")
    begun = [
        event(perfdata.TIME_CONV, struct.pack("<3Q", *CONVERSION)),
        event(perfdata.FINISHED_ROUND, b""),
    ]
    return PerfData([Attribute(raw, (1, 2))], begun + list(events), {3: b"host", 200: b"last"})


class File(unittest.TestCase):
    def setUp(self):
        self.parts = recording(
            poke(20, BASE, b"\x90", b"\xcc"), poke(10, BASE + 8, b"\x0f\x1f", b"\xeb\x05")
        )

    def test_what_is_put_together_comes_apart_as_it_was(self):
        self.assertEqual(perfdata.parse(perfdata.build(self.parts)), self.parts)

    def test_records_are_in_order_of_time(self):
        records = self.parts.records()
        self.assertEqual(
            [(each.time, each.addr, each.old, each.new) for each in records],
            [(10, BASE + 8, b"\x0f\x1f", b"\xeb\x05"), (20, BASE, b"\x90", b"\xcc")],
        )
        self.assertEqual([each.at for each in records], [3, 2])

    def test_lost_records_are_counted(self):
        lost = event(perfdata.LOST, struct.pack("<QQ", 1, 7) + trailer(5))
        self.assertEqual(recording(lost, lost).lost(), 14)

    def test_areas_are_those_out_of_line_in_order_of_time(self):
        program = event(
            perfdata.KSYMBOL, struct.pack("<QIHH", BASE, 64, 1, 0) + b"bpf\0" * 2 + trailer(5)
        )
        parts = recording(
            symbol(30, BASE, 4096, "page", perfdata.GONE), program, symbol(20, BASE, 4096, "page")
        )
        self.assertEqual(
            parts.areas(),
            [perfdata.Area(20, BASE, 4096, "page"), perfdata.Area(30, BASE, 4096, "")],
        )

    def test_other_files_and_impossible_lengths_are_refused(self):
        with self.assertRaisesRegex(ValueError, "no perf.data"):
            perfdata.parse(b"PERFILE1" + b"\0" * 100)
        broken = bytearray(perfdata.build(self.parts))
        at = broken.index(self.parts.events[0])
        struct.pack_into("<H", broken, at + 6, 0)
        with self.assertRaisesRegex(ValueError, "impossible length"):
            perfdata.parse(bytes(broken))

    def test_programs_of_bpf_are_found_in_their_feature(self):
        """Two programs, of which the second has two functions, in a file as perf writes it."""

        def program(code, *functions):
            addresses = struct.pack(f"<{len(functions)}Q", *(addr for addr, _ in functions))
            lengths = struct.pack(f"<{len(functions)}I", *(length for _, length in functions))
            info = bytearray(232)
            struct.pack_into("<Q", info, 24, len(addresses))
            struct.pack_into("<2I2Q", info, 104, *[len(functions)] * 2, 0, len(addresses + code))
            data = addresses + code + lengths
            return perfdata.BPIL.pack(len(info), len(data), 0) + bytes(info) + data

        content = struct.pack("<I", 2) + program(b"first", (BASE, 5))
        content += program(b"second", (BASE + 64, 3), (BASE + 128, 3))
        self.parts.features[perfdata.FEATURE_BPF] = content
        self.assertEqual(
            list(perfdata.parse(perfdata.build(self.parts)).programs()),
            [(BASE, b"first"), (BASE + 64, b"sec"), (BASE + 128, b"ond")],
        )

    def test_without_programs_there_are_none(self):
        self.assertEqual(list(self.parts.programs()), [])

    def test_without_a_conversion_nothing_can_be_placed(self):
        with self.assertRaisesRegex(ValueError, "clock"):
            PerfData(self.parts.attributes, []).time_conversion()


class Merged(unittest.TestCase):
    def setUp(self):
        self.whole = perfdata.with_trace(
            recording(poke(10, BASE, b"\x90", b"\xcc")),
            perfdata.PT,
            [Stream(b"first"), Stream(b"second!")],
        )
        self.data = perfdata.build(self.whole)

    def kinds(self):
        return [perfdata.kind_of(each) for each in self.whole.events]

    def test_the_events_of_a_trace_are_where_perf_wants_them(self):
        self.assertEqual(
            self.kinds(),
            [
                perfdata.TIME_CONV,
                perfdata.AUXTRACE_INFO,
                perfdata.TEXT_POKE,
                *[perfdata.AUX, perfdata.AUXTRACE] * 2,
            ],
        )

    def test_the_index_finds_each_trace(self):
        index = perfdata._features(
            self.data,
            perfdata.HEADER.unpack_from(self.data)[9:13],
            sum(perfdata.HEADER.unpack_from(self.data)[5:7]),
        )
        index = dict(index)[perfdata.FEATURE_AUXTRACE]
        count, *places = struct.unpack(f"<{len(index) // 8}Q", index)
        self.assertEqual(count, 2)
        for at, size, trace_of in zip(places[::2], places[1::2], (b"first", b"second!")):
            self.assertEqual(perfdata.kind_of(self.data[at:]), perfdata.AUXTRACE)
            self.assertEqual(self.data[at + size : at + size + len(trace_of)], trace_of)

    def test_each_fragment_has_its_place_and_time(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "aux.0").write_bytes(b"one fragment, another")
        (folder / "cuts.0").write_bytes(struct.pack("<2Q", 12, 1000))
        parts = recording()
        stream = perfdata.stream(folder, 0, parts)
        self.assertEqual(stream, Stream(b"one fragment, another", ((12, 3000),)))
        whole = perfdata.with_trace(parts, perfdata.ETM, [stream])
        aux = [each for each in whole.events if perfdata.kind_of(each) == perfdata.AUX]
        traces = [each for each in whole.events if perfdata.kind_of(each) == perfdata.AUXTRACE]
        at = perfdata.time_at(aux[0], whole.attributes[-1].sample_type)
        self.assertEqual(struct.unpack_from("<Q", aux[0], at)[0], 3000)
        self.assertEqual([struct.unpack_from("<2Q", each, 8) for each in aux], [(0, 12), (12, 9)])
        self.assertEqual(
            [(*struct.unpack_from("<2Q", each, 8), each[48:]) for each in traces],
            [(12, 0, b"one fragment"), (9, 12, b", another")],
        )

    def test_the_clock_of_perf_and_of_the_cpus_is_told(self):
        info = self.whole.events[1]
        self.assertEqual(
            struct.unpack_from("<II5Q", info, perfdata.EVENT.size),
            (1, 0, perfdata.PMU, *CONVERSION, 1),
        )

    def test_a_reference_is_never_0(self):
        trace_of = self.whole.events[4]
        self.assertEqual(struct.unpack_from("<3Q", trace_of, perfdata.EVENT.size), (5, 0, 1))

    def test_aux_events_are_later_than_every_record(self):
        aux = self.whole.events[3]
        (time,) = struct.unpack_from("<Q", aux, perfdata.time_at(aux, TYPE))
        self.assertGreater(time, 10)

    def test_the_selection_has_an_id_for_each_cpu(self):
        self.assertEqual([len(each.ids) for each in self.whole.attributes], [2, 2])
        kind, size, config, *_ = perfdata.ATTR.unpack_from(self.whole.attributes[1].raw)
        self.assertEqual((kind, size), (perfdata.PMU, 136))
        self.assertTrue(config & 1 << 10 and config & 1 << 13)


class Broken(unittest.TestCase):
    """Records that are broken on purpose."""

    def setUp(self):
        self.parts = recording(
            poke(10, BASE, b"\x90", b"\xcc"),
            poke(20, BASE + 9, b"\x01", b"\x02"),
            poke(30, BASE, b"\xcc", b"\x90"),
            poke(40, BASE, b"\x90", b"\xcc"),
        )

    def test_dropped_ones_are_gone_and_all_others_are_not(self):
        records = self.parts.records()
        left = perfdata.without_record(self.parts, records[1]).records()
        self.assertEqual([each.time for each in left], [10, 30, 40])
        self.assertEqual(trace.dropped(self.parts, records[:3]).records()[0].time, 40)

    def test_swapped_ones_are_of_one_site(self):
        found = trace.swapped(self.parts, self.parts.records()[:3]).records()
        self.assertEqual(
            [(each.time, each.old) for each in found],
            [(10, b"\xcc"), (20, b"\x01"), (30, b"\x90"), (40, b"\x90")],
        )

    def test_one_that_undoes_may_come_later_than_all_that_are_chosen(self):
        found = trace.swapped(self.parts, self.parts.records()[:1]).records()
        self.assertEqual(
            [(each.time, each.old) for each in found if each.addr == BASE],
            [(10, b"\xcc"), (30, b"\x90"), (40, b"\x90")],
        )

    def test_a_stamp_is_wrong_where_the_site_was_executed_on_the_other_side_of_it(self):
        wrong = trace.stamps(self.parts.records(), [(2000, 5000), (0, 0), (1015, 0), (1005, 7000)])
        self.assertEqual(
            [wrong[each.at] for each in self.parts.records()],
            [
                trace.Stamps(1000, 6000),
                trace.Stamps(None, None),
                trace.Stamps(15, None),
                trace.Stamps(None, 8000),
            ],
        )
        found = trace.too_early(self.parts, self.parts.records(), wrong).records()
        self.assertEqual(
            [(each.time, each.old) for each in found],
            [(15, b"\xcc"), (20, b"\x01"), (40, b"\x90"), (1000, b"\x90")],
        )
        found = trace.too_late(self.parts, self.parts.records(), wrong).records()
        self.assertEqual([each.time for each in found], [20, 30, 6000, 8000])

    def test_the_cpus_clock_is_perf_s_time_turned_round(self):
        for zero in (1000, 2**64 - 100):
            for clock in (100, 1 << 40):
                self.assertEqual(
                    trace.cpu_clock(perfdata.perf_time(clock, (4, 32, zero)), (4, 32, zero)), clock
                )

    def test_pairs_undo_each_other(self):
        self.assertEqual(
            [(one.time, other.time) for one, other in trace.pairs(self.parts.records())],
            [(10, 30), (30, 40)],
        )

    def test_they_are_from_all_over(self):
        self.assertEqual(trace.spread(range(100), 4), [0, 25, 50, 75])
        self.assertEqual(trace.spread(range(3), 40), [0, 1, 2])


class Words(unittest.TestCase):
    def setUp(self):
        self.names = disasm.Symbols([f"{BASE:x} T start", f"{BASE + 0x100:x} T other"])
        self.parts = recording(
            poke(2000, BASE + 4, b"\x90", b"\xcc"), poke(3000, BASE + 4, b"\xcc", b"\x90")
        )

    def test_figures_and_differences_are_read(self):
        found = trace.parse(
            "wrong 3\non-time 7\ndiffers: cpu 0 code 1\nsays:  error x\nother words\n"
        )
        self.assertEqual(
            (found.figures, found.differs, found.says),
            ({"wrong": 3, "on-time": 7}, ["cpu 0 code 1"], ["error x"]),
        )

    def test_perf_s_time_is_its_own(self):
        self.assertEqual(perfdata.perf_time(100, CONVERSION), 1200)
        self.assertEqual(perfdata.perf_time(100, (4, 32, 2**64 - 100)), 100)

    def test_the_record_that_was_applied_is_named(self):
        line = (
            f"cpu 1 executed {BASE:x} {BASE + 0x100:x} clock 600 "
            f"decoded {BASE + 2:x} {BASE + 0x104:x} time 2200"
        )
        self.assertEqual(
            trace.explain(line, self.parts, self.names),
            "cpu 1, executed start -> other, decoded start+0x2 -> other+0x4 at 2200; "
            "applied: the record of start+0x4 at 2000 (90 -> cc)",
        )

    def test_or_the_one_that_was_not(self):
        line = f"cpu 0 executed {BASE:x} {BASE + 0x100:x} clock 300"
        self.assertIn(
            "not applied: the record of start+0x4 at 2000",
            trace.explain(line, self.parts, self.names),
        )

    def test_code_is_shown_by_its_bytes(self):
        line = f"cpu 0 code {BASE + 0x100:x} time 2500 bytes 9090"
        self.assertEqual(
            trace.explain(line, self.parts, self.names),
            "cpu 0, executed other: 9090 at 2500; no record is near",
        )

    def test_each_thing_wrong_is_a_fault(self):
        good = {"wrong": 0, "unknown": 0, "breaks": 0, "crossed": 5, "on-time": 5}
        self.assertEqual(trace.text_faults(good, self.parts), [])
        for name, value in (("wrong", 1), ("unknown", 1), ("breaks", 1), ("on-time", 4)):
            self.assertEqual(len(trace.text_faults(good | {name: value}, self.parts)), 1, name)
        good = {"wrong": 0, "missing": 0, "errors": 0}
        self.assertEqual(trace.branch_faults(good), [])
        for name in good:
            self.assertEqual(len(trace.branch_faults(good | {name: 1})), 1, name)

    def test_a_path_with_a_gap_is_a_fault(self):
        for size, gaps, faults in (
            (trace.SHORT, 0, 0),
            (trace.SHORT, 1, 1),
            (trace.LONG, 1, 0),
            (trace.LONG, 2, 1),
        ):
            self.assertEqual(len(trace.path_faults({"gaps": gaps}, size)), faults, (size, gaps))

    def test_a_run_in_which_little_happens_is_a_fault(self):
        for size in trace.SHORT, trace.LONG:
            text, branches = {"crossed": size.records}, {"executed": size.executed}
            self.assertEqual(trace.size_faults(text, branches, size), [])
            less = {"crossed": size.records - 1}, {"executed": size.executed - 1}
            self.assertEqual(len(trace.size_faults(*less, size)), 2)

    def test_what_is_probed_is_executed_in_a_run_of_each_size(self):
        for size in trace.SHORT, trace.LONG:
            self.assertIn("pass", size.more)

    def test_code_of_each_kind_that_there_is_has_to_be_executed(self):
        for name, kinds in {
            "x86": ["slots", "detours", "trampolines", "modules"],
            "arm64": ["slots", "modules"],
            "riscv": ["slots", "modules"],
            "powerpc": ["slots", "detours", "modules"],
        }.items():
            machine, most = trace.MACHINES[name], dict.fromkeys(trace.KINDS, 10**6)
            enough = dict.fromkeys(trace.KINDS, 0) | dict.fromkeys(kinds, trace.PLACED)
            self.assertEqual(trace.kind_faults(machine, enough), [], name)
            for kind in trace.KINDS:
                found = trace.kind_faults(machine, most | {kind: trace.PLACED - 1})
                self.assertEqual(len(found), kind in kinds, (name, kind))
        self.assertEqual(
            trace.kind_faults(trace.MACHINES["arm64"], most | {"slots": 0}),
            ["only 0 pieces in slots of kprobes, not 20"],
        )

    def test_areas_are_known_by_the_kernel_s_names_and_by_the_modules(self):
        copy = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (copy / "modules").write_text("sample 8192 0 - Live 0xffffffffc0000000 (O)\n")
        (copy / "kallsyms").write_text(
            f"{BASE:x} T optinsn_slot\n{BASE + 64:x} T optprobe_template_entry\n"
            f"{BASE + 128:x} T kprobe_insn_page\nffffffffd0000000 t kprobe_insn_page\t[kprobes]\n"
            f"{BASE:x} t kprobe_optinsn_page\t[__builtin__kprobes]\n"
        )
        parts = recording(
            symbol(20, BASE + 4096, 4096, "kprobe_insn_page"),
            symbol(30, BASE + 8192, 211, "ftrace_trampoline"),
            symbol(40, BASE + 4096, 4096, "kprobe_insn_page", perfdata.GONE),
            symbol(50, BASE + 4096, 4096, "something_else"),
        )
        found = list(trace.areas(parts, copy))
        self.assertEqual(
            [(area.time, area.addr - BASE, area.length, kind) for area, kind in found],
            [
                (0, 0x4F000000, 1 << 16, "slots"),
                (0, 0, 64, "detours"),
                (0, 0x3F000000, 8192, "modules"),
                (20, 4096, 4096, "slots"),
                (30, 8192, 211, "trampolines"),
                (40, 4096, 4096, ""),
                (50, 4096, 4096, ""),
            ],
        )
        self.assertEqual(
            [struct.unpack("<4Q", trace._packed(*each))[3] for each in found], [1, 2, 4, 1, 3, 0, 0]
        )

    def test_a_program_is_executed_and_changes_where_it_may(self):
        text = {"programs": trace.PROGRAMS, "early": 1, "crossed": 2}
        changes = [poke(at, BASE + 4, b"\x90", b"\xcc") for at in (10, 20, 30)]
        parts = recording(*changes, poke(40, BASE + 8, b"\x90", b"\xcc"))
        with mock.patch.object(PerfData, "programs", lambda _: [(BASE, b"12345678")]):
            for machine in trace.MACHINES.values():
                if not machine.unit:
                    continue
                own = mock.Mock(machine=machine)
                whole = trace.Trace(own, None, None, parts, None)
                self.assertEqual(trace.program_faults(whole, text), [])
                less = text | {"programs": trace.PROGRAMS - 1, "early": 2}
                found = trace.program_faults(whole, less)
                self.assertEqual(len(found), 2 if machine.jumps else 1)

    def test_a_profile_counts_what_was_executed_and_enough(self):
        least = trace.SHORT.executed // 100
        self.assertEqual(trace.profile_faults({"wrong": 0, "counted": least}), [])
        self.assertEqual(len(trace.profile_faults({"wrong": 1, "counted": least})), 1)
        self.assertEqual(len(trace.profile_faults({"wrong": 0, "counted": least - 1})), 1)

    def test_a_fault_is_a_failure_and_is_told(self):
        self.assertEqual(trace._result("a", []).status, ktap.PASSED)
        self.assertEqual(
            trace._result("a", ["1 wrong", "2 missing"]),
            ktap.Result("a", ktap.FAILED, "1 wrong; 2 missing"),
        )

    def test_apt_s_words_are_packages_and_versions(self):
        self.assertEqual(
            newer.closure(
                "NOTE: x\nInst libc6 (2.41-12 Debian:13/stable [amd64])\nConf libc6 (2.41-12)\n"
                "Inst qemu-system-x86 (1:11.1+ds Debian [amd64]) []\n"
            ),
            [("libc6", "2.41-12"), ("qemu-system-x86", "1:11.1+ds")],
        )


class Qemu(unittest.TestCase):
    """Where it is had from, and whether it loads the plugin."""

    SUITES, PACKAGES = ("new", "stable"), ("qemu", "more")

    def setUp(self):
        self.place = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.store = self.place / "cache/debs/newer"
        self.store.mkdir(parents=True)
        self.version, self.unpacked = "1:11", []
        for name, value in {
            "paths.CACHE": self.place / "cache",
            "paths.BUILD": self.place / "build",
            "output": self.output,
            "_apt": lambda _: mock.Mock(command=lambda *words: list(words)),
            "host.unpack_noted": self.unpack_noted,
            "host.room": mock.Mock(),
            "say": mock.Mock(),
        }.items():
            self.enterContext(mock.patch(f"textpoke.trace.newer.{name}", value))

    def output(self, words, **_):
        """Of dpkg and of apt, which has one version."""
        if "dpkg" in words:
            return newer.DEBARCH
        (self.store / f"qemu_{self.version.replace(':', '%3a')}_amd64.deb").touch()
        return f"Inst qemu ({self.version} Debian [amd64])\n"

    def unpack_noted(self, dest, note, lock, debs):
        self.unpacked.append([path.name for path in debs()])
        dest.mkdir(parents=True, exist_ok=True)

    def unpack(self, fits):
        return newer.unpack(self.PACKAGES, self.SUITES, self.place / "dest", fits)

    def test_what_has_fitted_is_taken_again_though_there_is_another(self):
        self.unpack(lambda _: None)
        self.version = "1:12"
        self.unpack(lambda _: None)
        self.assertEqual(self.unpacked, [["qemu_1%3a11_amd64.deb"]] * 2)
        (self.store / "qemu_1%3a11_amd64.deb").unlink()
        self.unpack(lambda _: None)
        self.assertEqual(self.unpacked[2], ["qemu_1%3a12_amd64.deb"])

    def test_what_does_not_fit_is_neither_kept_nor_left(self):
        with self.assertRaisesRegex(Fail, "another"):
            self.unpack(mock.Mock(side_effect=Fail(INFRA, "another")))
        self.assertFalse((self.place / "dest").exists())
        self.unpack(lambda _: None)
        with self.assertRaisesRegex(Fail, "no longer"):
            self.unpack(mock.Mock(side_effect=Fail(INFRA, "no longer")))
        self.version = "1:12"
        self.unpack(lambda _: None)
        old, new = ["qemu_1%3a11_amd64.deb"], ["qemu_1%3a12_amd64.deb"]
        self.assertEqual(self.unpacked, [old, old, old, new])

    def fits(self, words, status=1):
        program = self.place / "qemu-program"
        program.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit {status}\n")
        program.chmod(0o755)
        qemus.fits(program, qemus.Plugin("11", Path("plugin.so")))

    def test_one_that_does_not_load_the_plugin_is_told_in_a_sentence(self):
        self.fits(f"qemu: Could not load plugin plugin.so: {qemus.LOADED} -1")
        with self.assertRaises(Fail) as failed:
            self.fits("a note\nqemu: plugin requires API version 7, but this supports only 8")
        self.assertEqual(
            failed.exception.message,
            f"{self.place}/qemu-program does not load the plugin for QEMU 11: qemu: plugin "
            "requires API version 7, but this supports only 8",
        )
        with self.assertRaisesRegex(Fail, "it says nothing, and exits with 3"):
            self.fits("", 3)

    def chosen(self, asked=None, newest=None, fits=None):
        """(the version, whose QEMU, what is said)"""
        self.enterContext(mock.patch.object(qemus, "say", said := mock.Mock()))
        for name, value in {
            "build": lambda folder, qemu: qemus.Plugin(qemu, folder / qemu),
            "_newest": mock.Mock(side_effect=newest, return_value="newest"),
            "_installed": mock.Mock(side_effect=fits, return_value="installed"),
        }.items():
            self.enterContext(mock.patch.object(qemus, name, value))
        arch, plugin = qemus.choose("x86", self.place, asked)
        return plugin.qemu, arch, [call[0][0] for call in said.call_args_list]

    def test_the_newest_is_chosen_if_it_can_be_had(self):
        self.assertEqual(self.chosen(), ("11", "newest", []))
        for code in (INFRA, errors.MISSING):
            version, whose, said = self.chosen(newest=Fail(code, "it is another"))
            self.assertEqual((version, whose), ("10", "installed"))
            self.assertEqual(
                said, ["there is no QEMU 11 to be had, so QEMU 10 is used: it is another"]
            )
        with self.assertRaisesRegex(Fail, "no room"):
            self.chosen(newest=Fail(errors.USAGE, "no room"))
        with self.assertRaisesRegex(Fail, "neither"):
            self.chosen(newest=Fail(INFRA, "it is another"), fits=Fail(INFRA, "neither"))

    def test_what_was_asked_for_is_taken_or_not_to_be_had(self):
        self.assertEqual(self.chosen("10", newest=AssertionError), ("10", "installed", []))
        with self.assertRaisesRegex(Fail, "it is another"):
            self.chosen("11", newest=Fail(INFRA, "it is another"))


class Vectors(unittest.TestCase):
    """Where interrupts and exceptions lead."""

    def lines(self, name, **found):
        place = Path(self.enterContext(tempfile.TemporaryDirectory()))
        return qemus.write_vectors(name, found, place / "vectors").read_text().splitlines()

    def test_x86_has_a_symbol_for_each_and_stubs_for_the_rest(self):
        found = self.lines(
            "x86",
            irq_entries_start=0x1000,
            spurious_entries_start=0x1000 + 204 * 16,
            asm_exc_int3=0x3000,
            asm_exc_nmi=0x3010,
            asm_exc_page_fault=0x3020,
            asm_sysvec_reboot=0x3030,
            asm_load_gs_index=0x3040,
            exc_int3=0x4000,
        )
        self.assertEqual(
            sorted(found),
            [
                "1000 1cc0 10 0",
                "1cc0 3000 10 0",
                "3000 3001 1 2",
                "3010 3011 1 0",
                "3020 3021 1 1",
                "3030 3031 1 0",
            ],
        )
        narrow = self.lines("x86", irq_entries_start=0x1000, asm_exc_nmi=0x1000 + 204 * 8)
        self.assertIn("1000 1660 8 0", narrow)

    def test_arm64_has_those_of_the_kernel_twice_if_they_are_hardened(self):
        self.assertEqual(
            self.lines("arm64", vectors=0x800),
            ["a00 a01 1 1", "a80 a81 1 0", "b00 b01 1 0", "b80 b81 1 0"],
        )
        self.assertEqual(len(self.lines("arm64", vectors=0x800, __bp_harden_el1_vectors=0x1000)), 8)

    def test_riscv_has_one_and_power_a_table_that_is_there_twice(self):
        self.assertEqual(self.lines("riscv", handle_exception=0x100), ["100 101 1 3"])
        found = self.lines("powerpc", _text=0xC000000000000000)
        for line in (
            "c000000000000700 c000000000000701 1 1",
            "c000000000004900 c000000000004901 1 0",
        ):
            self.assertIn(line, found)


class Half(unittest.TestCase):
    """What there is of an architecture without a trace unit."""

    TEXT = {
        "wrong": 0,
        "unknown": 0,
        "breaks": 0,
        "crossed": 5000,
        "on-time": 5000,
        "pieces": 2_000_000,
        "outside": 3,
        **dict.fromkeys(trace.KINDS, trace.PLACED),
        "programs": trace.PROGRAMS,
        "early": 0,
        "exceptions": 7,
        "interrupts": 9,
        "cpus": 2,
    }

    def setUp(self):
        self.enterContext(
            mock.patch.object(trace, "compare_text", lambda *_: trace.Found(dict(self.text)))
        )
        self.enterContext(mock.patch.object(trace, "compare_branches", self.fail))
        self.enterContext(mock.patch.object(trace, "crossed", lambda *_: ()))
        self.said = self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        self.text, kept = dict(self.TEXT), mock.Mock(symbols=lambda: disasm.Symbols([]))
        own = mock.Mock(machine=trace.MACHINES["riscv"])
        self.trace = trace.Trace(
            own, None, kept, recording(poke(2000, BASE, b"\x90", b"\xcc")), None
        )

    def results(self, function):
        return {each.name: each.status for each in function(self.trace)}

    def judge(self, which):
        return trace.judge(trace.see(which))

    def test_it_is_judged_by_the_code_that_was_executed(self):
        self.assertEqual(set(self.results(self.judge).values()), {ktap.PASSED})
        self.assertIn("no hardware trace to decode", self.said.getvalue())
        self.assertNotIn("decoded", self.said.getvalue())

    def test_wrong_code_and_little_code_are_failures(self):
        self.text |= {"wrong": 1, "pieces": 10}
        self.assertEqual(
            self.results(self.judge),
            {
                "what is executed is what the records say": ktap.FAILED,
                "enough is executed and changed": ktap.FAILED,
                "code of each kind is executed": ktap.PASSED,
                "a program of BPF is executed": ktap.PASSED,
            },
        )

    def test_what_is_linked_in_before_the_text_is_known_as_well(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        loads = ((1, 0x100, BASE, b"head"), (2, 0x104, BASE, b"note"), (1, 0x108, 0, b"area"))
        image = b"\x7fELF\x02\x01" + bytes(26) + struct.pack("<Q14xHH", 64, 56, len(loads))
        image += bytes(64 - len(image))
        image += b"".join(
            struct.pack("<II6Q", kind, 5, where, addr, addr, len(data), len(data), 4)
            for kind, where, addr, data in loads
        )
        data = b"".join(data for *_, data in loads)
        (folder / "vmlinux").write_bytes(image.ljust(0x100, b"\0") + data)
        for at, found in ((BASE + 3, [struct.pack("<2Q", BASE, 3) + b"hea"]), (BASE, [])):
            (folder / "System.map").write_text(f"{BASE:x} T _start\n{at:x} T _stext\n")
            self.assertEqual(list(trace.head(folder)), found)

    def test_a_kind_of_code_that_was_not_executed_is_a_failure(self):
        name = "code of each kind is executed"
        for kind, status in {"slots": ktap.FAILED, "detours": ktap.PASSED}.items():
            self.text = self.TEXT | {kind: 0}
            self.assertEqual(self.results(self.judge)[name], status, kind)

    def test_broken_records_have_to_be_noticed_there(self):
        self.enterContext(mock.patch.object(trace, "_windows", lambda _: [(0, 0)]))
        self.assertEqual(set(self.results(trace.mutations).values()), {ktap.FAILED})
        self.text["wrong"] = 4
        self.assertEqual(
            self.results(trace.mutations),
            {
                f"records {name} are noticed in what is executed": ktap.PASSED
                for name in trace.MUTATIONS
            },
        )

    def test_its_log_has_perf_s_times(self):
        for name, machine in trace.MACHINES.items():
            self.assertEqual(bool(machine.clock), not machine.unit, name)

    def told(self, name, found):
        """The words of the plugin, of a kernel with these symbols."""
        plugin = qemus.Plugin("11", "p")
        return trace.plugin_words(trace.MACHINES[name], found, plugin, "f", "v")

    def test_the_plugin_is_told_of_the_clock_where_it_has_to_be(self):
        names = {"_text": BASE, "_end": BASE + 0x100, "sched_clock": BASE + 0x40} | {
            machine.marker: BASE + 8 for machine in trace.MACHINES.values()
        }
        self.assertIn(f"clock={BASE + 0x40:x}", self.told("powerpc", names).split(","))
        self.assertNotIn("clock=", self.told("x86", names))

    def test_what_is_executed_where_it_is_loaded_is_what_is_linked(self):
        names = {
            "_text": 0xFFFFFFFF80002000,
            "_end": 0xFFFFFFFF80003000,
            "sched_clock": 1,
            "__riscv_sys_sync": 1,
        }
        self.assertIn(
            "low=80202000,text=ffffffff80002000,length=1000",
            self.told("riscv", names),
        )
        names = {
            "_text": 0xC000000000000000,
            "_end": 0xC000000000000100,
            "sched_clock": 1,
            "sys_sync": 1,
        }
        self.assertIn("low=0,", self.told("powerpc", names))

    def test_a_cpu_that_is_not_known_can_be_told_of(self):
        line = f"cpu -1 code {BASE:x} time 2500 bytes 90"
        self.assertTrue(
            trace.explain(line, self.trace.parts, disasm.Symbols([f"{BASE:x} T start"])).startswith(
                "cpu unknown, executed start: 90"
            )
        )


class Columns(unittest.TestCase):
    """Base and series side by side."""

    TEXT = {"crossed": 5, "pieces": 100, "wrong": 0, "unknown": 0}
    GOOD = {"executed": 1000, "decoded": 990, "wrong": 0, "missing": 0, "errors": 0}

    def columns(self, *branches, text=None):
        names = (tracecolumns.BASE, tracecolumns.HALF, tracecolumns.SERIES)
        return [
            tracecolumns.Column(name, text or self.TEXT, each)
            for name, each in zip(names, branches)
        ]

    def test_they_are_one_table(self):
        lines = tracecolumns.table(self.columns(self.GOOD | {"wrong": 7}, self.GOOD, self.GOOD))
        self.assertEqual(len({len(line) for line in lines}), 1)
        self.assertEqual(lines[3].split(), ["wrong", "7", "0", "0"])
        self.assertEqual(
            [line.split("  ")[0] for line in lines[1:]],
            [words for words, _ in tracecolumns.DECODED + tracecolumns.EXECUTED],
        )

    def test_without_a_trace_unit_it_has_what_was_executed(self):
        lines = tracecolumns.table(self.columns(None, None))
        self.assertEqual(
            [line.split("  ")[0] for line in lines[1:]],
            [words for words, _ in tracecolumns.EXECUTED],
        )

    def test_a_base_that_is_right_as_well_shows_nothing(self):
        self.assertEqual(len(tracecolumns.faults(self.columns(self.GOOD, self.GOOD, self.GOOD))), 2)
        self.assertEqual(
            tracecolumns.faults(
                self.columns(self.GOOD | {"missing": 1}, self.GOOD | {"errors": 1}, self.GOOD)
            ),
            [],
        )
        self.assertEqual(
            tracecolumns.faults(self.columns(self.GOOD | {"wrong": 1}, self.GOOD, self.GOOD)),
            [f"{tracecolumns.HALF}: nothing is wrong there either"],
        )

    def test_nor_does_one_whose_code_is_as_recorded(self):
        right, wrong = self.columns(None, None)
        self.assertEqual(len(tracecolumns.faults([right, wrong])), 1)
        self.assertEqual(
            tracecolumns.faults([tracecolumns.Column("base", self.TEXT | {"wrong": 1}), right]), []
        )

    def test_where_the_base_is_known_to_be_right_it_may_be(self):
        columns = self.columns(self.GOOD, self.GOOD, self.GOOD)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(list(trace.judge_columns(trace.MACHINES["x86"], columns)), [])
            self.assertEqual(
                [each.status for each in trace.judge_columns(trace.MACHINES["arm64"], columns)],
                [ktap.FAILED],
            )
        self.assertIn(tracecolumns.HALF, said.getvalue())

    def test_the_base_s_guest_is_decoded_by_the_base_s_perf(self):
        own = trace.Tools(arches.get("arm64"), "plugin", "program", {}, "series-perf")
        found = trace.Found(self.GOOD | self.TEXT)
        parts, used = recording(), []
        series = trace.Seen(trace.Trace(own, Path("/f"), mock.Mock(), parts, found), found, found)
        for name, value in {
            "base_perf": lambda: "base-perf",
            "base_kernel": lambda name: f"base-{name}",
            "see": lambda made: trace.Seen(made, found, found),
            "encode": lambda own, kdir, folder, recording: trace.Trace(
                own, folder, recording, parts, found
            ),
            "record": lambda own, kdir, folder, *rest: mock.Mock(made=(kdir, *rest)),
            "compare_branches": lambda made, data, decoder: used.append((data, decoder)) or found,
        }.items():
            self.enterContext(mock.patch.object(trace, name, value))
        base, columns = trace.beside("arm64", series, 60, "words")
        self.assertEqual(
            (base.trace.own.perf, base.trace.folder, base.trace.recording.made),
            ("base-perf", Path("/f/base"), ("base-arm64", 60, "words", trace.SHORT)),
        )
        self.assertEqual(used, [(Path("/f/perf.data"), "base-perf")])
        self.assertEqual(
            [column.name for column in columns],
            [tracecolumns.BASE, tracecolumns.HALF, tracecolumns.SERIES],
        )

    PROFILE = {"counted": 1_000_000, "branches": 9, "seen": 8, "wrong": 0}

    def injected(self, judge, profile=(), **found):
        """The results, and what is printed, of figures that perf inject's samples have,
        and a profile.
        """
        figures = trace.Found(self.GOOD | found)
        counted = trace.Found(self.PROFILE | dict(profile))
        own = trace.Tools(arches.get("x86"), None, "program", {}, "series-perf")
        made = trace.Trace(own, Path("/f"), mock.Mock(), recording(), figures)
        seen = trace.Seen(made, figures, figures)
        with (
            mock.patch.object(trace, "compare_injected", return_value=figures) as compare,
            mock.patch.object(trace, "compare_profile", return_value=counted) as profiles,
            contextlib.redirect_stdout(io.StringIO()) as said,
        ):
            found = list(judge(seen))
        self.assertEqual(compare.call_args, profiles.call_args)
        (_, data, decoder), _ = compare.call_args
        self.assertEqual(data, Path("/f/perf.data"))
        return [result.status for result in found], decoder, said.getvalue()

    def test_what_perf_inject_decodes_has_to_be_right(self):
        found, decoder, said = self.injected(trace.judge_injected)
        self.assertEqual((found, decoder), ([ktap.PASSED, ktap.PASSED], "series-perf"))
        self.assertIn("perf inject of the series: branches executed", said)
        self.assertIn("a profile of the series' perf: branches counted 1000000", said)
        for fault in "wrong", "missing", "errors":
            with self.subTest(fault):
                found, *_ = self.injected(trace.judge_injected, **{fault: 1})
                self.assertEqual(found, [ktap.FAILED, ktap.PASSED])
        for fault in {"wrong": 1}, {"counted": 1}:
            with self.subTest(fault):
                found, *_ = self.injected(trace.judge_injected, fault)
                self.assertEqual(found, [ktap.PASSED, ktap.FAILED])

    def test_and_what_the_base_s_does_wrong(self):
        def judge(seen):
            return trace.judge_base_injected(seen, "base-perf")

        found, decoder, _ = self.injected(judge, {"wrong": 1}, wrong=1)
        self.assertEqual((found, decoder), ([ktap.PASSED, ktap.PASSED], "base-perf"))
        self.assertEqual(self.injected(judge)[0], [ktap.FAILED, ktap.FAILED])

    def test_samples_are_injected_then_compared_and_go(self):
        place = Path(self.enterContext(tempfile.TemporaryDirectory()))
        perf, program = place / "perf", place / "program"
        perf.write_text(
            "#!/bin/sh\n"
            'case $1 in inject) echo "$3" >"$5";; script) echo "$(cat "$3") $5";; esac\n'
        )
        program.write_text('#!/bin/sh\nread -r said\necho "wrong 3"\necho "$said" >"$2/said"\n')
        for path in perf, program:
            path.chmod(0o755)
        own = trace.Tools(arches.get("x86"), None, program, {}, perf)
        made = trace.Trace(own, place, mock.Mock(), recording(), trace.Found({}))
        self.assertEqual(trace.compare_profile(made, place / "data", perf)["wrong"], 3)
        self.assertEqual((place / "said").read_text(), f"{place}/data brstack\n")
        self.assertFalse((place / "injected.data").exists())
        self.assertEqual(trace.compare_injected(made, place / "data", perf)["wrong"], 3)
        self.assertEqual((place / "said").read_text(), f"{place}/data hw:cpu,time,ip,addr\n")
        self.assertFalse((place / "injected.data").exists())
        perf.write_text("#!/bin/sh\necho no such option\nexit 129\n")
        with self.assertRaisesRegex(Exception, "comparing what perf inject makes"):
            trace.compare_injected(made, place / "data", perf)

    def results(self, status, base):
        """(results, what the page was made of, what is left in the folder)."""
        place, written = Path(self.enterContext(tempfile.TemporaryDirectory())), []
        own = trace.Tools(arches.get("arm64"), None, None, {}, None)
        found = trace.Found(self.TEXT)
        seen = trace.Seen(
            trace.Trace(own, place / "trace/arm64", mock.Mock(), recording(), found), found, None
        )
        (place / "trace/arm64").mkdir(parents=True)
        (place / "trace/arm64/log").write_text("bulky")
        columns = [tracecolumns.Column("base", self.TEXT | {"wrong": 1}), seen.column("series")]
        for name, value in {
            "tools": lambda name, qemu: own,
            "record": mock.Mock(),
            "encode": mock.Mock(),
            "see": lambda _: seen,
            "judge": lambda *_: [Result("right", status)],
            "judge_packets": lambda *_: [Result("listed", ktap.PASSED)],
            "mutations": lambda _: [Result("noticed", ktap.PASSED)],
            "beside": lambda *_: (seen, columns),
        }.items():
            self.enterContext(mock.patch.object(trace, name, value))
        self.enterContext(mock.patch.object(trace.paths, "BUILD", place))
        self.enterContext(
            mock.patch.object(
                trace.tracepage, "write", lambda path, *what: written.append((path.name, *what))
            )
        )
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        self.enterContext(contextlib.redirect_stderr(io.StringIO()))
        names = [each.name for each in trace.results("arm64", Path("kdir"), base=base)]
        return names, written, [path.name for path in (place / "trace/arm64").iterdir()]

    def test_a_run_leaves_a_page_of_it_and_of_the_base_if_that_was_asked_for(self):
        names, written, left = self.results(ktap.PASSED, base=False)
        self.assertEqual((names, left), (["right", "listed", "noticed"], []))
        name, arch, columns, results = written[0]
        self.assertEqual(
            (name, arch, [column.name for column in columns], len(results)),
            ("index.html", "arm64", [tracecolumns.SERIES], 3),
        )
        names, written, _ = self.results(ktap.PASSED, base=True)
        self.assertEqual(
            names, ["right", "listed", "noticed", "the base is wrong where the series is right"]
        )
        self.assertEqual(
            ([column.name for column in written[0][2]], len(written[0][3])), (["base", "series"], 4)
        )

    def test_what_was_wrong_is_kept_to_be_looked_at(self):
        self.assertEqual(self.results(ktap.FAILED, base=False)[2], ["log"])

    def test_what_is_shown_has_perf_s_times_and_what_differs(self):
        parts = recording(poke(2000, BASE, b"\x90", b"\xcc"))
        branches = trace.parse(
            "first 100\nlast 600\nbin: 0 3 20 1\nbin: 1 99 4 0\n"
            f"differs: cpu 1 executed {BASE:x} {BASE:x} clock 600\n"
        )
        kept = mock.Mock(symbols=lambda: disasm.Symbols([f"{BASE:x} T start"]))
        found = trace.column(
            "it", trace.Trace(None, None, kept, parts, None), trace.Found(), branches
        )
        self.assertEqual(
            (found.bins, found.span, found.records),
            (((0, 3, 20, 1), (1, 99, 4, 0)), (1200, 2200), (2000,)),
        )
        self.assertEqual(
            found.differs,
            (
                "cpu 1, executed start -> start at 2200; applied: the record of start at 2000 (90 "
                "-> cc)",
            ),
        )


class Job(unittest.TestCase):
    """The guest's part, in a folder of its own instead of /sys,
    and with nothing that it would do.
    """

    STUBS = r"""
for name in modprobe sleep perf send_out sync taskset mkfifo rm \
	load_begin load_end program_begin program_end tracer keys tail_call probes pass; do
	eval "$name() { printf '%s\n' \"$name \$*\" >&3; }"
done
nproc() { echo 2; }
uname() { echo x86_64; }
LOADS=" 11 12"
"""

    def setUp(self):
        self.place = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.online = self.place / "sys/devices/system/cpu/cpu1/online"
        self.online.parent.mkdir(parents=True)
        (self.place / "sys/kernel/tracing").mkdir(parents=True)

    def did(self, *words, stubs=STUBS):
        """The commands of the job, in their order."""
        job = (
            trace.JOB.read_text()
            .replace(". /lib/textpoke.sh\n", "TRACING=/sys/kernel/tracing\n")
            .replace("/sys/", f"{self.place}/sys/")
        )
        self.assertNotRegex(job, r"[\s=]/sys/")
        self.assertIn("SAMPLE=$TRACING/events/sample-trace/enable\n", job)
        job = job.replace("SAMPLE=$TRACING/events/sample-trace/enable", "SAMPLE=sample")
        # What is not to be done replaces what the job defines itself.
        own, found, last = job.partition("\nJOB=$0")
        done = subprocess.run(
            ["sh", "-c", "exec 3>&1\n" + own + stubs + found + last, "job", *words],
            capture_output=True,
            text=True,
            check=False,
        )
        return [line.strip() for line in done.stdout.splitlines()]

    ON = ["tracer function", "keys 1 sample", "tail_call 1", "probes 1"]
    TURN = [*ON, "keys 0 sample", "tail_call 0", "probes 0", "tracer nop"]

    def test_more_is_handed_on_to_the_workload(self):
        perf = next(
            line for line in self.did(f"{self.place}/d", "3", "cpus") if line.startswith("perf ")
        )
        self.assertTrue(perf.endswith(f"-- job --workload {self.place}/d 3 cpus"), perf)

    def test_nothing_is_recorded_without_the_program(self):
        stubs = self.STUBS.replace(" program_begin", "") + (
            "bpf() { echo >&3 bpf $*; }\nwhich() { true; }\n"
        )
        found = self.did(f"{self.place}/d", "1", stubs=stubs)
        self.assertIn("bpf hrtimer_start", found)
        self.assertEqual([line for line in found if line.startswith("perf ")], [])

    def test_the_workload_is_between_two_calls_of_sync(self):
        self.assertEqual(
            self.did("--workload", "/d", "1")[1:-1],
            ["load_begin", "sync", *self.TURN, "sync", "load_end"],
        )

    def test_and_done_as_often_as_is_wanted(self):
        self.assertEqual(self.did("--workload", "/d", "3")[3:-3], self.TURN * 3)

    def test_a_cpu_goes_down_and_comes_up_in_the_last_if_that_is_wanted(self):
        self.assertEqual(
            self.did("--workload", "/d", "2", "cpus")[3:18],
            [*self.TURN, *self.ON, "keys 0 sample", "keys 1 sample", "taskset -p 2 12"],
        )
        self.assertEqual(self.online.read_text(), "1\n")

    def test_probes_are_passed_as_traps_then_as_jumps(self):
        stubs = self.STUBS.replace(" pass;", " switch;")
        file = f"/proc{self.place}/sys/debug/kprobes-optimization"
        found = self.did("--workload", "/d", "2", "pass", stubs=stubs)
        self.assertEqual(
            [line for line in found if line.startswith(("switch", "sleep", "probes"))],
            ["probes 1", "probes 0", "probes 1"]
            + [f"switch 0 {file}", "sleep 0.1", f"switch 1 {file}", "sleep 0.4", "probes 0"],
        )

    def test_where_most_is_emulated_what_is_not_has_probes_too(self):
        tracing = self.place / "sys/kernel/tracing"
        (tracing / "events/kprobes").mkdir(parents=True)
        for machine, others in {"x86_64": 0, "ppc64le": 8}.items():
            stubs = self.STUBS.replace(" probes pass;", ";").replace("x86_64", machine)
            stubs += f"pass() {{ cat {tracing}/kprobe_events >&3; }}\n"
            found = self.did("--workload", "/d", "1", "pass", stubs=stubs)
            self.assertEqual(len([line for line in found if line.startswith("p:other_")]), others)
            self.assertEqual(len([line for line in found if line.startswith("p:inside_")]), 2)
        self.assertIn("p:other_44 decrementer_set_next_event+44", found)

    def test_calls_are_traced_by_the_names_that_they_have_there(self):
        self.did(f"{self.place}/d", "1")
        self.assertIn(
            "__x64_sys_*\n", (self.place / "sys/kernel/tracing/set_ftrace_filter").read_text()
        )


def build(case):
    """The program, with an encoder that only prints what it is told: libipt is not needed then."""
    place = Path(case.enterClassContext(tempfile.TemporaryDirectory()))
    stub, program = place / "stub.c", place / "trace"
    stub.write_text(ENCODER)
    sources = [trace.SOURCE / name for name in trace.PROGRAM if name != "pt.c"]
    subprocess.run(
        ["gcc", *qemus.WARNINGS, "-Werror", f"-I{trace.SOURCE}", *sources, stub, "-o", program],
        check=True,
    )
    return program


class Programs(unittest.TestCase):
    """What is made of a log that is known."""

    @classmethod
    def setUpClass(cls):
        cls.program = build(cls)

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.log = Log()
        self.jcc = self.log.block(BASE, b"\x90", b"\x74\x10")  # nop; je BASE+0x13
        self.jump = self.log.block(BASE + 3, b"\xe9" + struct.pack("<i", 0xF8))  # jmp BASE+0x100
        self.taken = self.log.block(BASE + 0x13, b"\xc3")
        self.far = self.log.block(BASE + 0x100, b"\x90", b"\xf3\xa4")
        self.log.cpu(0).time(5000)

    def did(self, *words, stdin=""):
        self.log.write(self.folder)
        done = subprocess.run(
            [self.program, *words, self.folder],
            check=True,
            capture_output=True,
            text=True,
            input=stdin,
        )
        return done.stdout.splitlines()

    def path(self):
        return [
            line
            for line in self.did("encode", "x86")
            if line.split()[0] in ("enter", "leave", "lose", "branch", "trap")
        ]

    def test_a_branch_is_taken_or_not(self):
        self.log.run(self.jcc, 2).run(self.jump, 1).run(self.far, 1).put(Log.END)
        self.assertEqual(
            self.path(),
            [
                f"enter 0 {BASE:x}",
                f"branch 0 {BASE + 1:x} 0 {BASE + 3:x}",
                f"branch 0 {BASE + 3:x} 1 {BASE + 0x100:x}",
            ],
        )

    def test_an_indirect_branch_leads_anywhere(self):
        self.log.run(self.jcc, 2).run(self.taken, 1).run(self.far, 2).put(Log.END)
        self.assertEqual(
            self.path()[1:],
            [
                f"branch 0 {BASE + 1:x} 1 {BASE + 0x13:x}",
                f"branch 0 {BASE + 0x13:x} 1 {BASE + 0x100:x}",
            ],
        )

    def test_a_block_may_be_left_early(self):
        self.log.run(self.jcc, 1).put(Log.TRAP, 1, BASE + 1, BASE + 0x100).run(self.far, 2).put(
            Log.END
        )
        self.assertEqual(self.path()[1:], [f"trap 0 1 {BASE + 1:x} {BASE + 0x100:x} at 5001"])

    def test_a_string_instruction_is_where_it_was(self):
        again = self.log.block(BASE + 0x101, b"\xf3\xa4")
        self.log.run(self.far, 2).run(again, 5).run(again, 1).put(Log.END)
        self.assertEqual(self.path(), [f"enter 0 {BASE + 0x100:x}"])

    def test_user_space_is_outside(self):
        self.log.run(self.taken, 1).put(Log.USER).put(Log.TRAP, 0, 0x400000, BASE).run(
            self.jcc, 1
        ).put(Log.END)
        self.assertEqual(self.path(), [f"enter 0 {BASE + 0x13:x}", "leave 0", f"enter 0 {BASE:x}"])

    def test_cpus_have_paths_of_their_own(self):
        self.log.run(self.jcc, 2).cpu(1).run(self.far, 1).cpu(0).run(self.jump, 1).put(Log.END)
        self.assertEqual(
            self.path(),
            [
                f"enter 0 {BASE:x}",
                f"enter 1 {BASE + 0x100:x}",
                f"branch 0 {BASE + 1:x} 0 {BASE + 3:x}",
            ],
        )

    def test_a_path_without_an_instruction_that_leads_there_is_a_gap(self):
        self.log.run(self.jcc, 1).run(self.far, 1).put(Log.END)
        self.assertEqual(self.path()[1:], [f"lose 0 {BASE + 1:x}", f"enter 0 {BASE + 0x100:x}"])
        self.assertIn("gaps 1", self.did("encode", "x86"))

    # CoreSight: packets as bytes

    def etm(self, *words):
        code = [
            self.log.block(BASE + 0x1000 + 4 * at, struct.pack("<I", word)) for at, word in words
        ]
        return code

    def packets(self):
        self.did("encode", "arm64")
        return (self.folder / "aux.0").read_bytes()

    def test_etm_begins_with_sync_and_place(self):
        (nop,) = self.etm((0, 0xD503201F))
        self.log.run(nop, 1).put(Log.END)
        place = b"\x85\x00\x08\x00\x81" + b"\xff" * 4 + b"\xb1\x01\0\0\0"
        self.assertEqual(
            self.packets(), b"\0" * 11 + b"\x80\x01\x01\0" + b"\x04" + place + b"\x02\x88\x27"
        )

    def test_etm_tells_branches_and_isb_by_atoms_and_where_an_indirect_one_leads(self):
        bne, isb, ret = self.etm((0, 0x54000041), (1, 0xD5033FDF), (2, 0xD65F03C0))
        self.log.run(bne, 1).run(isb, 1).run(ret, 1).run(bne, 1).run(ret, 1).run(bne, 0).put(
            Log.END
        )
        address = b"\x9d\x00\x08\x00\x81" + b"\xff" * 4
        self.assertEqual(self.packets()[33:], b"\xf6\xf7\xf7" + address + b"\xf7\xf7" + address)

    def test_etm_tells_of_an_exception_where_and_what_it_is(self):
        nop, brk, vector, behind = self.etm(
            (0, 0xD503201F), (1, 0xD4200000), (16, 0xD5033FDF), (17, 0xD503201F)
        )
        self.log.run(nop, 1).run(brk, 0).put(Log.TRAP, 1, BASE + 0x1004, BASE + 0x1040).run(
            vector, 1
        ).run(behind, 0).put(Log.END)
        packets = self.packets()[33:]
        self.assertEqual(
            packets[:11], b"\x06" + bytes([6 << 1 | 1]) + b"\x9d\x01\x08\x00\x81" + b"\xff" * 4
        )
        self.assertEqual(packets[11:14], b"\x85\x10\x08")
        self.assertEqual(
            struct.unpack("<3Q", (self.folder / "truth.0").read_bytes())[:2],
            (BASE + 0x1000, BASE + 0x1040),
        )

    def test_etm_has_one_branch_where_an_exception_comes_at_once(self):
        ret, at, vector, behind = self.etm(
            (0, 0xD65F03C0), (8, 0xD503201F), (16, 0xD5033FDF), (17, 0xD503201F)
        )
        self.log.run(ret, 1).run(at, 0).put(Log.TRAP, 0, BASE + 0x1020, BASE + 0x1040).run(
            vector, 1
        ).run(behind, 0).put(Log.END)
        self.packets()
        self.assertEqual(
            struct.unpack("<3Q", (self.folder / "truth.0").read_bytes())[:2],
            (BASE + 0x1000, BASE + 0x1040),
        )

    def test_etm_cannot_tell_of_what_a_cpu_did_last_before_it_went_off(self):
        ret, at, hvc, again = self.etm(
            (0, 0xD65F03C0), (8, 0xD65F03C0), (12, 0xD4000002), (40, 0xD503201F)
        )
        self.log.run(ret, 1).run(at, 1).run(hvc, 1).run(again, 1).put(Log.END)
        self.assertIn("gaps 1", self.did("encode", "arm64"))
        self.assertEqual(
            struct.unpack("<3Q", (self.folder / "truth.0").read_bytes())[:2],
            (BASE + 0x1000, BASE + 0x1020),
        )

    def test_etm_begins_each_fragment_anew_and_does_not_tell_how_it_got_there(self):
        ret, back, isb, behind = self.etm(
            (0, 0xD65F03C0), (8, 0xD65F03C0), (2, 0xD5033FDF), (3, 0xD503201F)
        )
        for _ in range(4000):
            self.log.run(ret, 1).run(back, 1)
        self.log.run(isb, 1).run(behind, 0).put(Log.END)
        packets = self.packets()
        ((cut, clock),) = struct.iter_unpack("<2Q", (self.folder / "cuts.0").read_bytes())
        self.assertGreaterEqual(cut, 1 << 16)
        self.assertLess(cut, (1 << 16) + 64)
        self.assertGreater(clock, 5000)
        self.assertEqual(packets[cut : cut + 16], b"\0" * 11 + b"\x80\x01\x01\0" + b"\x04")
        told = len((self.folder / "truth.0").read_bytes()) // 24
        self.assertEqual(told, 8000 - 1)

    def ended_at_once(self, count):
        """(fragments, branches told) of so many, with an exception where the last of them led."""
        self.log = Log().cpu(0).time(5000)
        *turn, vector, behind = self.etm(
            (0, 0xD65F03C0), (8, 0xD65F03C0), (16, 0xD5033FDF), (17, 0xD503201F)
        )
        for at in range(count):
            self.log.run(turn[at % 2], 1)
        place = BASE + 0x1000 + 0x20 * (count % 2)
        self.log.run(turn[count % 2], 0).put(Log.TRAP, 0, place, BASE + 0x1040)
        self.log.run(vector, 1).run(behind, 0).put(Log.END)
        cuts = self.folder / "cuts.0"
        cuts.write_bytes(b"")
        self.packets()
        told = len((self.folder / "truth.0").read_bytes()) // 24
        return len(cuts.read_bytes()) // 16 + 1, told

    def test_etm_knows_no_branch_to_an_exception_at_a_fragment_s_beginning(self):
        first = bisect.bisect_left(range(8000), 2, key=lambda count: self.ended_at_once(count)[0])
        self.assertEqual(self.ended_at_once(first - 1), (1, first - 1))
        # The exception's own packets fill the first one; in later turns a branch before does.
        for count in range(first, first + 6):
            self.assertEqual(self.ended_at_once(count), (2, count - 1))

    def test_before_the_clock_is_read_nothing_is_placed(self):
        self.log.entries = b""
        self.log.cpu(0).run(self.jcc, 2).time(7000).run(self.far, 1).put(Log.END)
        self.assertEqual(self.path(), [f"enter 0 {BASE + 0x100:x}"])

    # The records

    def text(self, copy, *records, program=b"", areas=()):
        (self.folder / "text").write_bytes(struct.pack("<2Q", BASE, len(copy)) + copy)
        (self.folder / "programs").write_bytes(program)
        (self.folder / "areas").write_bytes(b"".join(areas))
        (self.folder / "pokes").write_bytes(
            b"".join(each.packed for each in recording(*records).records())
        )
        (self.folder / "time").write_bytes(struct.pack("<3Q", 0, 1, 0))
        return trace.parse("\n".join(self.did("text")))

    def test_code_that_was_executed_is_compared_with_the_state_of_then(self):
        other = self.log.block(BASE, b"\xcc")
        self.log.run(self.jcc, 1).time(6000).run(other, 1).put(Log.END)
        record = poke(6000, BASE, b"\x90", b"\xcc")
        found = self.text(b"\x90\x74\x10", record)
        self.assertEqual(
            (found["pieces"], found["wrong"], found["crossed"], found["on-time"], found["breaks"]),
            (2, 0, 1, 1, 0),
        )
        for records in (
            (),
            (poke(6001, BASE, b"\x90", b"\xcc"),),
            (poke(6000, BASE + 1, b"\x74", b"\xcc"),),
        ):
            self.assertEqual(self.text(b"\x90\x74\x10", *records)["wrong"], 1)

    def test_only_what_was_executed_of_a_block_counts(self):
        self.log.run(self.jcc, 1).put(Log.END)
        self.assertEqual(self.text(b"\x90\xff\xff")["wrong"], 0)
        self.assertEqual(self.text(b"\x91\x74\x10")["wrong"], 1)

    def test_code_of_a_program_is_known_and_counted(self):
        number = self.log.block(program := BASE + 0x10000, b"\x90")
        self.log.run(self.jcc, 1).run(number, 1).put(Log.END)
        found = self.text(b"\x90\x74\x10", program=struct.pack("<2Q", program, 1) + b"\x90")
        self.assertEqual((found["programs"], found["outside"], found["unknown"]), (1, 0, 0))
        found = self.text(b"\x90\x74\x10", program=struct.pack("<2Q", program, 1) + b"\xcc")
        self.assertEqual((found["programs"], found["wrong"]), (1, 1))

    def test_what_is_in_no_copy_is_told_by_records_or_unknown(self):
        slot = BASE + 0x10000
        number = self.log.block(slot, b"\x90")
        self.log.run(number, 1).put(Log.END)
        self.assertEqual(self.text(b"\x90")["unknown"], 1)
        found = self.text(b"\x90", poke(10, slot, b"", b"\x90"))
        self.assertEqual((found["unknown"], found["outside"], found["early"]), (0, 1, 1))

    def test_code_is_counted_by_the_area_that_was_there_last(self):
        slot = BASE + 0x10000
        number = self.log.block(slot, b"\x90")
        other = self.log.block(slot + 64, b"\x90")
        self.log.run(self.jcc, 1).run(number, 1).run(other, 1)
        self.log.time(6000).run(number, 1).run(number, 1).time(7000).run(number, 1).put(Log.END)
        code = (poke(10, slot, b"", b"\x90"), poke(10, slot + 64, b"", b"\x90"))

        def count(*areas):
            found = self.text(b"\x90\x74\x10", *code, areas=[struct.pack("<4Q", *a) for a in areas])
            return [found[kind] for kind in trace.KINDS]

        self.assertEqual(count(), [0, 0, 0, 0])
        for kind in range(1, 5):
            with self.subTest(kind):
                found = count((10, slot, 64, kind))
                self.assertEqual((found[kind - 1], sum(found)), (4, 4))
        self.assertEqual(count((6000, slot, 64, 1)), [3, 0, 0, 0])
        self.assertEqual(count((10, slot, 128, 4), (6000, slot, 64, 1)), [3, 0, 0, 2])
        self.assertEqual(count((10, slot, 64, 1), (7000, slot, 64, 0)), [3, 0, 0, 0])

    def test_a_time_that_comes_late_is_a_time_that_the_clock_was(self):
        self.log.time(6000).time(6500).run(self.jcc, 1).time(6200).put(Log.END)
        found = self.text(
            b"\x90\x74\x10",
            poke(6200, BASE + 1, b"\x74", b"\x75"),
            poke(6300, BASE + 1, b"\x75", b"\x74"),
        )
        self.assertEqual((found["crossed"], found["on-time"], found["breaks"]), (2, 1, 0))

    def test_and_it_takes_nothing_back(self):
        other = self.log.block(BASE, b"\xcc")
        self.log.time(6000).time(6500).time(6100).run(other, 1).put(Log.END)
        self.assertEqual(self.text(b"\x90\x74\x10", poke(6500, BASE, b"\x90", b"\xcc"))["wrong"], 0)

    def windows(self):
        return list(struct.iter_unpack("<2Q", (self.folder / "windows").read_bytes()))

    def test_it_is_told_when_what_a_record_changes_was_executed(self):
        other = self.log.block(BASE, b"\xcc")
        self.log.run(self.jcc, 1).run(self.far, 2).time(6000).run(self.far, 2).time(7000).run(
            self.far, 1
        ).run(other, 1).run(other, 1).put(Log.END)
        self.text(
            b"\x90\x74\x10",
            poke(6500, BASE, b"\x90", b"\xcc"),
            poke(6500, BASE + 1, b"\x74", b"\x75"),
        )
        # Before: the clock's last reading. After: with one instruction since it was read. The
        # second of the block never was.
        self.assertEqual(self.windows(), [(5000, 7001), (0, 0)])

    def test_and_not_of_what_was_executed_before_another_change_of_it(self):
        self.log.run(self.jcc, 2).time(6000).time(7000).run(self.far, 1).put(Log.END)
        self.text(
            b"\x90\x74\x10", poke(6000, BASE, b"\x90", b"\xcc"), poke(7000, BASE, b"\xcc", b"\x90")
        )
        self.assertEqual(self.windows(), [(5000, 0), (0, 0)])

    def test_the_beginning_of_a_trace_has_the_packets_up_to_then(self):
        self.log.run(self.jcc, 2).run(self.jump, 1).run(self.far, 2).put(Log.USER).put(
            Log.TRAP, 0, 0x400000, BASE + 3
        ).run(self.jump, 1).run(self.far, 1)
        self.log.put(Log.END)
        piece = self.folder / "piece"
        piece.mkdir()
        self.log.write(self.folder)
        for until, count in ((5002, 0), (5003, 1), (9999, 2)):
            done = subprocess.run(
                [self.program, "piece", "x86", str(until), piece, self.folder],
                check=True,
                capture_output=True,
                text=True,
            )
            self.assertIn(f"branches {count}\n", done.stdout)
            self.assertEqual((piece / "truth.0").exists(), bool(count))
        self.assertFalse((self.folder / "truth.0").exists())

    def test_exceptions_and_cpus_are_counted_without_an_encoder(self):
        self.log.run(self.jcc, 1).put(Log.TRAP, 1, BASE + 1, BASE + 0x100).cpu(1).put(
            Log.TRAP, 0, BASE, BASE + 0x100
        )
        self.log.put(Log.TRAP, 1, 0x400000, BASE).put(Log.END)
        found = self.text(b"\x90\x74\x10")
        self.assertEqual((found["exceptions"], found["interrupts"], found["cpus"]), (1, 1, 2))

    def test_what_a_cpu_does_before_it_is_known_is_counted_apart(self):
        self.log.run(self.jcc, 1).put(Log.CPU, 0, self.log.count).run(self.far, 1).cpu(1).run(
            self.jcc, 1
        ).put(Log.END)
        found = self.text(b"\x90\x74\x10")
        self.assertEqual(
            (found["pieces"], found["unplaced"], found["unknown"], found["cpus"]), (2, 1, 0, 2)
        )

    def test_old_bytes_have_to_be_the_state_before(self):
        self.log.time(6000).run(self.jcc, 1).put(Log.END)
        self.assertEqual(
            self.text(b"\x90\x74\x10", poke(6000, BASE + 1, b"\x75", b"\x74"))["breaks"], 1
        )


class Profile(unittest.TestCase):
    """What samples count, and what was executed by any CPU."""

    @classmethod
    def setUpClass(cls):
        cls.program = build(cls)

    def figures(self, *stacks):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        for cpu in 0, 2:
            branches = ((BASE + 16 * n, BASE + 16 * n + 256) for n in range(cpu, cpu + 4))
            (Path(folder) / f"truth.{cpu}").write_bytes(
                b"".join(struct.pack("<3Q", *each, 1000) for each in branches)
            )
        lines = (
            "".join(f" 0x{one:x}/0x{other:x}/P/-/-/0" for one, other in stack) for stack in stacks
        )
        done = subprocess.run(
            [self.program, "profile", folder],
            check=True,
            capture_output=True,
            text=True,
            input="\n".join(lines) + "\n",
        )
        found = trace.parse(done.stdout)
        return [
            *(found[name] for name in ("executed", "counted", "wrong", "branches", "seen")),
            found.differs,
        ]

    def test_what_was_executed_may_be_counted(self):
        stack = [(BASE + 16 * n, BASE + 16 * n + 256) for n in (0, 3, 5)]
        self.assertEqual(self.figures(stack, stack[:1]), [8, 4, 0, 6, 3, []])
        self.assertEqual(self.figures([]), [8, 0, 0, 6, 0, []])

    def test_what_was_not_may_not(self):
        stack = [(BASE, BASE + 256), (BASE + 16, BASE + 256), (0, BASE)]
        self.assertEqual(
            self.figures(stack, stack),
            [8, 4, 2, 6, 1, [f"counted 2 decoded {BASE + 16:x} {BASE + 256:x}"]],
        )


class Compared(unittest.TestCase):
    """Lists of branches, both of which are known."""

    @classmethod
    def setUpClass(cls):
        cls.program = build(cls)

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.truth = [(BASE + 16 * n, BASE + 16 * n + 4096) for n in range(100)]
        (self.folder / "truth.0").write_bytes(
            b"".join(struct.pack("<3Q", *each, 1000 + n) for n, each in enumerate(self.truth))
        )

    def found(self, branches, more=()):
        lines = [
            f"[000]     0.000002{n:03d}:  {one:16x} => {other:16x}"
            for n, (one, other) in enumerate(branches)
        ]
        done = subprocess.run(
            [self.program, "compare", self.folder],
            check=True,
            capture_output=True,
            text=True,
            input="\n".join([*lines, *more]) + "\n",
        )
        return trace.parse(done.stdout)

    def figures(self, *what):
        found = self.found(*what)
        return (
            found["executed"],
            found["decoded"],
            found["wrong"],
            found["missing"],
            found["end"],
            found["errors"],
        )

    def test_the_same_is_the_same(self):
        self.assertEqual(self.figures(self.truth), (100, 100, 0, 0, 0, 0))

    def test_where_the_trace_begins_and_ends_there_is_nothing_on_one_side(self):
        self.assertEqual(self.figures([(0, BASE), *self.truth, (BASE, 0)]), (100, 100, 0, 0, 0, 0))

    def test_the_last_few_may_be_missing_and_no_others(self):
        self.assertEqual(self.figures(self.truth[:-3]), (100, 97, 0, 0, 3, 0))
        self.assertEqual(self.figures(self.truth[:-30]), (100, 70, 0, 30, 0, 0))
        self.assertEqual(self.figures(self.truth[3:]), (100, 97, 0, 3, 0, 0))

    def test_one_that_was_not_executed_is_wrong(self):
        wrong = [*self.truth[:50], (BASE, BASE + 1), *self.truth[50:]]
        self.assertEqual(self.figures(wrong), (100, 101, 1, 0, 0, 0))

    def test_one_instead_of_another_is_both(self):
        found = self.found([*self.truth[:50], (BASE, BASE + 1), *self.truth[51:]])
        self.assertEqual((found["wrong"], found["missing"]), (1, 1))
        self.assertEqual(
            found.differs,
            [
                f"cpu 0 executed {self.truth[50][0]:x} {self.truth[50][1]:x} clock 1050 "
                f"decoded {BASE:x} {BASE + 1:x} time 2050"
            ],
        )

    def test_an_order_that_is_not_the_executed_one_is_wrong(self):
        mixed = [*self.truth[:50], self.truth[51], self.truth[50], *self.truth[52:]]
        self.assertEqual(self.figures(mixed)[2:4], (2, 2))

    def test_branches_are_counted_by_when_they_were_executed(self):
        found = self.found([*self.truth[:50], (BASE, BASE + 1), *self.truth[51:]])
        self.assertEqual((found["first"], found["last"]), (1000, 1099))
        self.assertEqual(found.bins, [(0, number, 1, int(number == 50)) for number in range(100)])

    def test_what_is_missing_at_the_end_is_amiss_there(self):
        self.assertEqual(
            [amiss for *_, amiss in self.found(self.truth[:-30]).bins], [0] * 70 + [1] * 30
        )
        more = [(BASE, BASE + 1)] * 5
        self.assertEqual(
            [amiss for *_, amiss in self.found(self.truth + more).bins], [0] * 99 + [5]
        )

    def test_errors_are_counted_and_said(self):
        found = self.found(
            self.truth,
            [
                " instruction trace error type 1 time 1.2 cpu 0 ip 0x12 code 5: Failed to get "
                "instruction"
            ],
        )
        self.assertEqual((found["errors"], len(found.says)), (1, 1))

    def test_a_cpu_that_executed_nothing_has_only_wrong_ones(self):
        done = self.found([], [f"[001] 1.000000000: {BASE:x} => {BASE + 1:x}"])
        self.assertEqual(done["wrong"], 1)


if __name__ == "__main__":
    unittest.main()
