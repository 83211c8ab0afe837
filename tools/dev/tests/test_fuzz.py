# SPDX-License-Identifier: GPL-2.0
"""`make fuzz`: files that are broken, what is made of them, and what is made of what perf says."""

import contextlib
import random
import struct
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke.checks import full, fuzz  # noqa: E402
from textpoke.errors import MISSING, Fail  # noqa: E402
from textpoke.records import perfdata, replay  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED  # noqa: E402
from textpoke.trace import mutate, small  # noqa: E402

ASAN = """intel_pt: an error
==12==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6110 at pc 0x55 bp 0x7f
WRITE of size 65535 at 0x6110 thread T0
    #0 0x55 in __asan_memcpy (/b/perf+0x12)
    #1 0x56 in memcpy /usr/include/bits/string.h:29:10
    #2 0x57 in dso_cache__memcpy util/dso.c:915:2
    #3 0x58 in machine__write_map util/machine.c:803:9

0x6110 is located 0 bytes to the right of
    #0 0x55 in malloc (/b/perf+0x13)
    #1 0x56 in other util/other.c:1:1
"""
UBSAN = """util/session.c:400:12: runtime error: shift exponent 8 is too large for 32-bit type 'int'
    #0 0x55 in swap_one /src/tools/perf/util/session.c:400:12
    #1 0x56 in main perf.c:1:1
"""


HANGS = fuzz.Wrong(fuzz.ENDLESS, "?")


def seed(name="Intel PT"):
    kind, unit = fuzz.UNITS[name]
    guest = kind()
    return fuzz.Seed(guest, unit, perfdata.Stream(bytes(range(200))), guest.whole(2))


class Files(unittest.TestCase):
    def test_what_has_a_trace_comes_apart_too(self):
        for name in fuzz.UNITS:
            data = seed(name).data()
            parts = perfdata.parse(data)
            self.assertEqual(perfdata.build(parts), data)
            self.assertEqual(perfdata.kind_of(parts.events[-1]), perfdata.AUXTRACE)
            self.assertEqual(parts.events[-1][-200:], bytes(range(200)))

    def test_what_cannot_be_an_event_is_one_to_the_end_if_that_is_wanted(self):
        events = [small.poke(5, 8, b"\x90", b"\xcc"), struct.pack("<IHH4x", 20, 0, 4), b"rest"]
        parts = seed().guest.recording(1, events)
        with self.assertRaisesRegex(ValueError, "impossible length"):
            perfdata.parse(perfdata.build(parts))
        found = perfdata.parse(perfdata.build(parts), broken=True)
        self.assertEqual(found.events, [*parts.events[:-2], b"".join(events[1:])])

    def test_a_file_that_is_cut_has_what_is_left(self):
        data = seed().data()
        for length in range(perfdata.HEADER.size, len(data), 97):
            try:
                perfdata.parse(data[:length], broken=True)
            except (ValueError, struct.error):
                self.assertLess(length, 600)

    def test_each_way_to_break_a_file_is_another(self):
        for name in fuzz.UNITS:
            found = [bad.data(seed(name)) for bad in fuzz.BAD]
            self.assertEqual(len(set(found)), len(fuzz.BAD))

    def test_names_of_ways_and_of_runs_are_their_own(self):
        for names in [bad.name for bad in fuzz.BAD], [run.folder for run in fuzz.RUNS]:
            self.assertEqual(len(set(names)), len(names))

    def test_what_perf_reads_besides(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        given = seed()
        for where in fuzz.RUNS:
            if where.unit != "Intel PT":
                continue
            where.lay(given, folder)
            kcore = folder / "perf.data/kcore_dir/kcore"
            self.assertEqual(kcore.exists(), where.is_folder)
            if where.image == "kcore":
                with open(kcore, "rb") as copy:
                    self.assertEqual(
                        [addr for _, addr, _ in replay.segments(copy)],
                        [given.guest.BASE, given.end],
                    )
            words = where.command("perf", folder)
            self.assertEqual("-k" in words, where.image == "vmlinux", where.name)
            self.assertEqual("--symfs" in words, where.image == "no image", where.name)


class Mutations(unittest.TestCase):
    def setUp(self):
        self.data = seed().data()

    def many(self, count=300):
        rng = random.Random(1)
        return [mutate.mutated(rng, self.data) for _ in range(count)]

    def test_the_same_seed_gives_the_same(self):
        found = []
        for _ in "ab":
            mutate.init(7)
            found.append(
                [bytes(mutate.fuzz(bytearray(self.data), None, 1 << 20)) for _ in range(9)]
            )
        self.assertEqual(found[0], found[1])
        self.assertGreater(len(set(found[0])), 7)

    def test_they_are_no_longer_than_they_may_be(self):
        for number in range(50):
            mutate.init(number)
            self.assertLessEqual(len(mutate.fuzz(bytearray(self.data), None, 100)), 100)

    def test_most_are_still_files_and_all_that_is_ours_gets_changed(self):
        before = {kind: set() for kind in mutate.OURS}
        parts = []
        for each in self.many():
            with contextlib.suppress(ValueError, struct.error):
                parts.append(perfdata.parse(each, broken=True))
        self.assertGreater(len(parts), 270)
        for each in parts:
            for event in each.events:
                if len(event) >= 8 and perfdata.kind_of(event) in before:
                    before[perfdata.kind_of(event)].add(event)
        for kind, events in before.items():
            if kind != perfdata.LOST:  # of which there is none before
                self.assertGreater(len(events), 20, kind)

    def test_lengths_that_cannot_be_and_bytes_that_are_not_there(self):
        impossible = empty = 0
        for each in self.many():
            try:
                events = perfdata.parse(each, broken=True).events
            except (ValueError, struct.error):
                continue
            for event in events:
                if len(event) >= 20 and perfdata.kind_of(event) == perfdata.TEXT_POKE:
                    old, new = struct.unpack_from("<HH", event, 16)
                    impossible += 20 + old + new > len(event)
                    empty += not old or not new
        self.assertGreater(impossible, 20)
        self.assertGreater(empty, 20)

    def test_each_kind_of_mutation_changes_something(self):
        for mutation in {*mutate.RECORDS}:
            changed = 0
            for number in range(40):
                parts = perfdata.parse(self.data)
                before = list(parts.events)
                mutation(random.Random(number), parts)
                changed += parts.events != before
            self.assertGreater(changed, 10, mutation.__name__)

    def test_whatever_is_given_something_is_made_of_it(self):
        rng = random.Random(2)
        data = self.data
        for number in range(2000):
            data = mutate.mutated(rng, data if number % 40 else self.data)
            self.assertIsInstance(data, bytes)
        for data in b"", b"\0", b"PERFILE2", self.data[:100], bytes(500):
            self.assertIsInstance(mutate.mutated(rng, data), bytes)


class Said(unittest.TestCase):
    """What perf says and how it ends."""

    def test_a_bad_access_is_where_perf_s_own_code_made_it(self):
        found = fuzz.wrong(ASAN, -6)
        self.assertEqual(
            (found.what, found.function), ("heap-buffer-overflow", "dso_cache__memcpy")
        )
        self.assertEqual(
            found.stack[:2], ("dso_cache__memcpy dso.c:915", "machine__write_map machine.c:803")
        )

    def test_undefined_behaviour_is_without_its_numbers(self):
        found = fuzz.wrong(UBSAN, -6)
        self.assertEqual(
            (found.what, found.function),
            ("shift exponent N is too large for N-bit type 'int'", "swap_one"),
        )

    def test_an_error_is_nothing_wrong_and_a_signal_is(self):
        for status in 0, 1, 129, 234, 255:
            self.assertIsNone(fuzz.wrong("incompatible file format", status), status)
        self.assertEqual(fuzz.wrong("", -11).what, "status -11")

    def test_what_the_base_does_is_known_by_its_function_anywhere_in_the_stack(self):
        found = fuzz.wrong(ASAN, -6)
        for line, known in (
            ("machine__write_map | heap-* | reason", True),
            ("dso_cache__memcpy | heap-buffer-overflow | reason", True),
            ("dso_cache__memcpy | SEGV | reason", False),
            ("memcpy | * | reason", False),
        ):
            self.assertEqual(fuzz.is_known(found, fuzz.accepted(line)), known, line)

    def test_the_table_can_be_read(self):
        for reason in fuzz.accepted().values():
            self.assertTrue(reason)


class Started(unittest.TestCase):
    """A perf that is a script, and an AFL++ that is one."""

    WHERE = fuzz.Run("Intel PT", fuzz.SCRIPT, "kcore")

    def setUp(self):
        self.place = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(fuzz, "FOLDER", self.place))
        self.enterContext(mock.patch.object(fuzz.paths, "LOGS", self.place))
        self.seed = seed()
        self.WHERE.lay(self.seed, self.place / "case")

    def script(self, text, name="perf"):
        path = self.place / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def perf_with(self, text, **more):
        return fuzz.perf_with(self.WHERE, self.script(text), self.place / "case", b"data", **more)

    def test_it_is_asked_of_the_input(self):
        said, found = self.perf_with(
            'eval last=\\${$#}; cat "$last/data" "$last/kcore_dir/modules" >&2'
        )
        self.assertIn("datamod 4096", said)
        self.assertIsNone(found)

    def test_one_that_does_not_end_is_ended(self):
        self.assertEqual(self.perf_with("exec sleep 60", patience=0.2), ("exit status -6\n", HANGS))

    def test_it_says_where_it_was(self):
        (self.place / "said").write_text(ASAN.replace("heap-buffer-overflow", "ABRT"))
        said, found = self.perf_with(
            f"trap 'cat {self.place}/said >&2; exit 1' ABRT\nwhile :; do sleep 0.05; done",
            patience=0.5,
        )
        self.assertIn("dso.c:915", said)
        self.assertEqual((found.what, found.function), (fuzz.ENDLESS, "dso_cache__memcpy"))
        self.assertTrue(
            fuzz.is_known(found, fuzz.accepted("machine__write_map | takes for ever | reason"))
        )

    def test_one_that_does_not_want_to_end_says_nothing(self):
        with mock.patch.object(fuzz, "GRACE", 0.2):
            found = self.perf_with("trap '' ABRT\nexec sleep 60", patience=0.2)
        self.assertEqual(found, ("exit status -9\n", HANGS))

    def test_what_takes_the_base_for_ever_as_well_is_known_wherever_it_is(self):
        found = fuzz.Wrong(fuzz.ENDLESS, "f", ("f f.c:1",))
        for script, known in (("exec sleep 60", True), ("exit 1", False)):
            with (
                mock.patch.object(fuzz, "build_perf", return_value=self.script(script)),
                mock.patch.object(fuzz, "HANG", 0.2),
            ):
                asked = fuzz.Known({})
                self.assertEqual(asked.has(found, self.WHERE, self.place / "case", b""), known)

    def test_a_signal_is_told(self):
        self.assertEqual(self.perf_with("kill -SEGV $$")[1].what, "status -11")

    def test_a_fault_is_in_the_environment_only_if_it_is_wanted(self):
        with mock.patch.dict("os.environ", TEXT_POKE_FAULT="another"):
            for fault, said in (("loop", "loopexit status 0\n"), (None, "exit status 0\n")):
                self.assertEqual(
                    self.perf_with('printf "$TEXT_POKE_FAULT" >&2', fault=fault)[0], said
                )

    def test_what_has_gone_wrong_is_kept_with_the_command(self):
        found = fuzz.wrong(ASAN, -6)
        place = fuzz.keep(self.WHERE, self.place / "case", b"the input", found, ASAN)
        self.assertEqual((place / "perf.data/data").read_bytes(), b"the input")
        self.assertTrue((place / "perf.data/kcore_dir/kcore").exists())
        script = (place / "again.sh").read_text()
        self.assertIn(f"-i {place}/perf.data", script)
        self.assertIn("symbolize=1", script)

    def test_inputs_that_do_the_same_are_one(self):
        inputs = []
        for number in range(3):
            inputs.append(self.place / f"input{number}")
            inputs[-1].write_bytes(bytes([number]))
        (self.place / "said").write_text(ASAN)
        binary = self.script(f"cat {self.place}/said >&2; exit 134")
        self.WHERE.lay(self.seed, self.WHERE.folder / "fuzz")
        (found,) = fuzz.looked_at(self.WHERE, binary, inputs)
        self.assertEqual((found.wrong.function, found.count), ("dso_cache__memcpy", 3))
        self.assertEqual((found.data, found.said), (b"\0", f"{ASAN}exit status 134\n"))

    def test_what_the_base_does_with_the_same_input_is_known(self):
        (self.place / "said").write_text(ASAN)
        found, folder = fuzz.wrong(ASAN, -6), self.place / "case"
        for script, table, known in (
            (f"cat {self.place}/said >&2; exit 134", {}, True),
            ("exit 1", {}, False),
            ("kill -SEGV $$", {}, False),
            ("exit 1", {("dso_cache__memcpy", "*"): "reason"}, True),
        ):
            with mock.patch.object(fuzz, "build_perf", return_value=self.script(script)) as build:
                asked = fuzz.Known(table)
                for _ in "ab":
                    self.assertEqual(asked.has(found, self.WHERE, folder, b""), known, script)
            self.assertEqual(build.call_count, int(not table))

    def test_the_base_is_asked_behind_a_text_poke_at_which_it_gives_up(self):
        found, ways = fuzz.wrong(ASAN, -6), {bad.name: bad for bad in fuzz.BAD}
        for name, known in (("both", True), ("nothing is wrong", False)):
            data = ways[name].data(self.seed)

            def perf_of_the_base(_where, _binary, _folder, given, data=data):
                return "", None if given == data else found

            with (
                mock.patch.object(fuzz, "build_perf"),
                mock.patch.object(fuzz, "perf_with", perf_of_the_base),
            ):
                self.assertEqual(fuzz.Known({}).has(found, self.WHERE, "", data), known, name)

    def test_text_pokes_that_are_whole_and_other_files_stay(self):
        whole = self.seed.data()
        self.assertEqual(fuzz.without_broken_pokes(whole), whole)
        self.assertEqual(fuzz.without_broken_pokes(b"PERFILE2"), b"PERFILE2")
        for bad in fuzz.BAD:
            if bad.says == fuzz.BROKEN:
                data = bad.data(self.seed)
                other = fuzz.without_broken_pokes(data)
                self.assertEqual(
                    [(a, b) for a, b in zip(data, other, strict=True) if a != b],
                    [(perfdata.TEXT_POKE, fuzz.NOTHING)],
                )

    def afl(self, text, fault=None):
        self.script(text, "afl-fuzz")
        with mock.patch.dict("os.environ", PATH=f"{self.place}:/usr/bin:/bin"):
            return fuzz.fuzz(self.WHERE, "perf", self.seed, 5, fault)

    AFL = """
echo "$AFL_PYTHON_MODULE $TEXT_POKE_FAULT" >"${FOLDER:=$(dirname $0)}/words"
ls $2 | wc -l >>$FOLDER/words
mkdir -p $4/default/crashes $4/default/hangs
touch $4/default/crashes/id:1 $4/default/crashes/README.txt
for line in 'run_time          : 5' 'execs_done        : 77' 'edges_found       : 1234'; do
    echo "$line"
done >$4/default/fuzzer_stats
"""

    def test_a_fuzzer_says_what_it_did(self):
        found = self.afl(self.AFL)
        self.assertEqual((found.tried, found.seconds, found.reached), (77, 5, 1234))
        self.assertEqual(([path.name for path in found.crashes], found.hangs), (["id:1"], ()))
        self.assertEqual(
            (self.place / "words").read_text().split(),
            ["textpoke.trace.mutate", str(len(fuzz.BAD))],
        )

    def test_a_fault_has_to_be_found_from_a_good_file(self):
        self.afl(self.AFL, "lengths")
        self.assertEqual(
            (self.place / "words").read_text().split(),
            ["textpoke.trace.mutate", "lengths", "1"],
        )

    def test_one_that_did_nothing_is_an_error(self):
        with self.assertRaisesRegex(Fail, "has tried nothing"):
            self.afl("exit 1")


class Command(unittest.TestCase):
    def test_what_cannot_be_built_is_no_failed_test(self):
        missing = Fail(MISSING, "missing packages (afl++)")
        with (
            mock.patch.object(fuzz.host, "need", side_effect=missing) as need,
            self.assertRaises(Fail) as raised,
        ):
            fuzz.main(mock.Mock(number=lambda _name, default: default))
        self.assertIs(raised.exception, missing)
        self.assertLessEqual({*fuzz.PACKAGES}, {*need.call_args.args})

    def test_a_fuzzer_that_was_taken_away_is_told(self):
        with (
            mock.patch.object(fuzz.host, "need"),
            mock.patch.object(fuzz, "AFL", ("afl-fuzz-that-is-gone",)),
            self.assertRaisesRegex(Fail, "afl-fuzz-that-is-gone is missing") as raised,
        ):
            fuzz.build_perf()
        self.assertEqual(raised.exception.code, MISSING)

    def test_setup_installs_what_it_needs(self):
        with mock.patch.object(full.host, "setup") as setup:
            full.setup()
        self.assertLessEqual({*fuzz.PACKAGES}, {*setup.call_args.kwargs["more"]})


class Judged(unittest.TestCase):
    WHERE = fuzz.RUNS[0]

    def judge(self, tried=1000, reached=fuzz.REACHED, known=False, **found):
        found = [fuzz.Found(each, b"data", "said", 2) for each in found.values()]
        with mock.patch.object(fuzz, "keep", return_value="a folder"):
            results = list(
                fuzz.judge(
                    self.WHERE,
                    fuzz.Fuzzed(tried, 10, reached, (), ()),
                    found,
                    mock.Mock(has=lambda *_: known),
                )
            )
        self.notes = [each.note for each in results]
        return [each.status for each in results]

    def test_enough_and_nothing_wrong(self):
        self.assertEqual(self.judge(), [PASSED] * 3)

    def test_too_few_inputs_are_a_failure(self):
        self.assertEqual(self.judge(10 * fuzz.LEAST - 1), [FAILED, PASSED, PASSED])

    def test_so_are_inputs_of_which_perf_decodes_nothing(self):
        self.assertEqual(self.judge(reached=fuzz.REACHED - 1), [FAILED, PASSED, PASSED])

    def test_a_crash_is_one_unless_the_base_has_it(self):
        found = fuzz.wrong(ASAN, -6)
        self.assertEqual(self.judge(found=found), [PASSED, FAILED, PASSED])
        self.assertIn("machine__write_map machine.c:803: 2 inputs, a folder", self.notes[1])
        self.assertEqual(self.judge(found=found, known=True), [PASSED] * 3)
        self.assertEqual(self.notes[1], "as the base: heap-buffer-overflow in dso_cache__memcpy")

    def test_and_so_is_a_hang(self):
        self.assertEqual(self.judge(found=HANGS), [PASSED, PASSED, FAILED])

    def proofs(self, *wrongs, without=None):
        given = {name: None for name in fuzz.UNITS}
        fuzzed = fuzz.Fuzzed(9, 9, 9, (), ())
        found = [[fuzz.Found(each, b"", "")] if each else [] for each in wrongs]
        with (
            mock.patch.object(fuzz, "fuzz", return_value=fuzzed),
            mock.patch.object(fuzz, "looked_at", side_effect=found),
            mock.patch.object(fuzz, "perf_with", return_value=("", without)),
        ):
            results = [each for fault in fuzz.FAULTS for each in fuzz.proof("perf", given, fault)]
        self.notes = [each.note for each in results]
        return [each.status for each in results]

    def test_both_faults_have_to_be_found(self):
        crash = fuzz.wrong(ASAN, -6)
        self.assertEqual(self.proofs(crash, HANGS), [PASSED, PASSED])
        both = HANGS, HANGS, crash, crash
        self.assertEqual(self.proofs(*both), [FAILED, FAILED])

    def test_a_machine_that_is_slow_has_a_second_chance(self):
        crash = fuzz.wrong(ASAN, -6)
        self.assertEqual(self.proofs(None, crash, None, HANGS), [PASSED, PASSED])
        self.assertEqual(
            self.notes[1],
            f"takes for ever by 9 inputs in {fuzz.SOON[0]} s and 9 inputs in {fuzz.SOON[1]} s",
        )

    def test_what_is_wrong_without_the_fault_as_well_is_no_proof(self):
        crash = fuzz.wrong(ASAN, -6)
        both = crash, crash, HANGS, HANGS
        self.assertEqual(self.proofs(*both, without=crash), [FAILED, FAILED])

    def bad(self, said, found=None):
        with (
            mock.patch.object(fuzz, "perf_with", return_value=(said, found)),
            mock.patch.object(fuzz, "keep", return_value="a folder"),
            mock.patch.object(fuzz.Run, "lay"),
        ):
            given = {name: seed(name) for name in fuzz.UNITS}
            known = mock.Mock(has=lambda *_: False)
            return {each.name: each.status for each in fuzz.bad_results("perf", given, known)}

    def test_what_perf_has_to_say_of_a_broken_file(self):
        silent = self.bad("")
        for bad in fuzz.BAD:
            self.assertEqual(
                silent[f"broken file: {bad.name}"], FAILED if bad.says else PASSED, bad.name
            )
        said = (
            f"{fuzz.BROKEN} {fuzz.NOWHERE} has 1 of 2 bytes of data There is no copy of the kernel "
            "exit status 1\n"
        )
        fine = {f"broken file: {bad.name}" for bad in fuzz.BAD if bad.says == fuzz.FINE}
        for name, status in self.bad(said).items():
            self.assertEqual(status, FAILED if name in fine else PASSED, name)
        for words in ("", "a note\nThere is no copy of the kernel: see perf record\n"):
            good = self.bad(f"{words}exit status 0\n")
            self.assertEqual({good[name] for name in fine}, {PASSED})
        self.assertEqual({self.bad("a note\nexit status 0\n")[name] for name in fine}, {FAILED})
        self.assertEqual(set(self.bad("", fuzz.wrong(ASAN, -6)).values()), {FAILED})


if __name__ == "__main__":
    unittest.main()
