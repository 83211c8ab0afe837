# SPDX-License-Identifier: GPL-2.0
"""What is made of a kernel's symbols, and of a guest that has an init of ours; none is built."""

import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import arch as arches  # noqa: E402
from textpoke import paths  # noqa: E402
from textpoke.code import calls, core  # noqa: E402
from textpoke.errors import HANG, OK, TEST_FAILED, Fail  # noqa: E402
from textpoke.guests import bare, initramfs, kernel  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED  # noqa: E402

NM = """\
                 w weakling
c000000000000000 T _stext
ffffffff800194e0 W bpf_arch_text_poke
ffffffff800dc3d8 T text_poke_write_batch
"""


def said(results):
    return [(each.status, each.note) for each in results]


class Symbols(unittest.TestCase):
    def test_what_nm_says_of_each(self):
        with mock.patch.object(calls, "output", lambda *_: NM):
            found = core.symbols(Path("kdir"), "")
        self.assertEqual(
            found, {"_stext": "T", "bpf_arch_text_poke": "W", "text_poke_write_batch": "T"}
        )

    def test_bpf_has_to_have_a_poke_of_its_own_and_the_core(self):
        both = {core.CORE: "T", core.BPF: "T"}
        self.assertEqual(said(core.used_by_bpf(both)), [(PASSED, "")] * 2)
        for found, core_said, bpf_said in (
            (both | {core.BPF: "W"}, "", f"{core.BPF} is weak"),
            ({core.CORE: "T"}, "", f"{core.BPF} is not there"),
            ({core.BPF: "T"}, f"no {core.CORE}", ""),
        ):
            self.assertEqual(
                [note for _, note in said(core.used_by_bpf(found))], [core_said, bpf_said]
            )

    def test_where_there_is_no_core_there_is_nothing_of_it(self):
        others = dict.fromkeys(core.OTHERS, "T")
        self.assertEqual(said(core.absent(others)), [(PASSED, "")])
        for there in "Tt":
            self.assertEqual(said(core.absent(others | {core.CORE: there})), [(FAILED, core.CORE)])

    def test_a_kernel_whose_text_does_not_change_shows_nothing(self):
        for name in core.OTHERS:
            found = dict.fromkeys(core.OTHERS, "T")
            del found[name]
            with self.assertRaisesRegex(Fail, f"no {name}: "):
                list(core.absent(found))

    def test_the_core_has_that_function(self):
        text = (paths.ROOT / "kernel/text_poke/batch.c").read_text()
        self.assertIn(f"\nint {core.CORE}(void)\n{{", text)


class Guests(unittest.TestCase):
    SOURCE = (initramfs.GUEST / f"{bare.INIT}.c").read_text()

    def found(self, console="", verdict=0, code=OK, badness=()):
        result = mock.Mock(
            console=console, verdict=verdict, code=code, badness=list(badness), reason="it hung"
        )
        with mock.patch.object(bare.boot, "report"):
            return said(bare.judged(result))

    def test_one_that_goes_well(self):
        self.assertEqual(self.found("no probe: ok\r\n"), [(PASSED, "")] * 2)

    def test_what_went_wrong_is_named(self):
        console = "a probe is hit: FAILED\r\nno probe: ok\r\nno tracer: FAILED\n"
        self.assertEqual(
            self.found(console, 1, TEST_FAILED)[0], (FAILED, "a probe is hit; no tracer")
        )
        # Whatever the verdict is.
        self.assertEqual(self.found(console)[0], (FAILED, "a probe is hit; no tracer"))

    def test_one_that_does_not_end(self):
        self.assertEqual(self.found(verdict=None, code=HANG)[0], (FAILED, "it hung"))

    def test_a_complaint(self):
        self.assertEqual(self.found(badness=[" BUG: no "])[1], (FAILED, "BUG: no"))

    def test_the_guest_says_what_is_looked_for(self):
        self.assertIn('printf("%s: %s\\n", what, good ? "ok" : "FAILED")', self.SOURCE)


class Kinds(unittest.TestCase):
    def test_each_is_of_an_architecture_and_has_no_backend(self):
        for name, kind in arches.KINDS.items():
            self.assertIn(kind, arches.kinds_of(kind.kind_of))
            self.assertFalse(kind.has_backend)
            self.assertEqual(kind.kernel_arch, kind.kind_of)
            self.assertTrue(kind.program)
            self.assertEqual(f"{arches.get(name)}", name)
        self.assertFalse(set(arches.KINDS) & set(arches.ARCHES))

    def test_users_do_not_hear_of_them(self):
        with self.assertRaisesRegex(Fail, "one of x86, arm64, riscv, powerpc, i386$"):
            arches.get("vax")

    def test_a_warning_ends_their_build(self):
        for name in arches.KINDS:
            have = kernel.settings((kernel.FRAGMENTS / f"{name}.config").read_text())
            self.assertEqual(have.get("WERROR"), "y", name)

    def test_the_kernel_s_make_is_told_what_it_knows(self):
        for name, word in (("ppc32", "powerpc"), ("i386", "i386"), ("riscv", "riscv")):
            build = kernel.Build(arches.get(name), Path("src"), False, False, ())
            self.assertIn(f"ARCH={word}", kernel._words(build))
            self.assertEqual(build.kdir.name, name)


if __name__ == "__main__":
    unittest.main()
