# SPDX-License-Identifier: GPL-2.0
"""What is made of a kernel's functions and of the list of what may not trap; no kernel is read."""

import struct
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import paths  # noqa: E402
from textpoke.code import calls, realmode  # noqa: E402
from textpoke.errors import Fail  # noqa: E402
from textpoke.results.ktap import FAILED  # noqa: E402

TEXT = """\
c00000000002e738 <early_setup_secondary>:
c00000000002e738:	addis   r2,r12,127
c00000000002e744:	bl      c00000000006856c <_mcount>
c00000000002e748:	beq     cr7,c00000000002e760 <early_setup_secondary+0x28>
c00000000002e74c:	bne-    c00000000002e7a0 <slow_path>
c00000000002e750:	bctrl
c00000000002e754:	b       c000000000030000 <setup_kup+0x8>
c00000000002e758:	bdnz    c00000000002e758 <early_setup_secondary+0x20>

c000000000030ea4 <__restore_cpu_power9>:
c000000000030ea4:	blr
"""
BACKEND = """\
/* See no_trap_names[]. */
static const char *const no_trap_names[] __initconst = {
	/* A CPU that comes "online" */
	"early_setup_secondary",
#ifdef CONFIG_KVM
	"gone_since", "load_state",
#endif
};
static const char *other[] = {
	"other",
};
"""
SITES = realmode.Sites(
    calls={
        "early": {"setup", "printk"},
        "setup": {"flush"},
        "flush": set(),
        "restore": set(),
        "vector": {"flush"},
        "printk": {"lock"},
        "lock": set(),
        "elsewhere": {"early"},
    },
    listed={"early", "setup", "restore"},
    twice=set(),
    without={"vector"},
    entry={"early", "restore"},
    traced={"early", "setup", "restore", "printk", "lock", "elsewhere"},
    keyed={"lock", "elsewhere"},
)
SOURCE = realmode.Source(set(), {pointer: {"restore"} for pointer in realmode.POINTERS})
KNOWN = [("early", "printk")]
NAMES = (
    "nothing that runs in real mode has a call site of the tracer with a trap",
    "nothing that runs in real mode has static keys with a trap",
    "what may not trap is in the source",
    "what may not trap is one function each",
    "what is called in real mode through a pointer is in the source",
    "what is accepted is there",
)


def failed(accepted=(), source=SOURCE, own=None, **changes):
    """name -> note of what fails."""
    sites = replace(SITES, **changes)
    results = list(realmode.results(sites, source, [*KNOWN, *accepted], own))
    assert tuple(result.name for result in results) == NAMES
    return {result.name: result.note for result in results if result.status == FAILED}


class Reading(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Path(folder.name)
        self.write(realmode.BACKEND, BACKEND)

    def write(self, path, text):
        path = self.tree / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_branches_of_each_kind_are_followed(self):
        self.assertEqual(
            calls.branches(TEXT.splitlines(), realmode.BRANCH),
            {
                "early_setup_secondary": {
                    "_mcount",
                    "early_setup_secondary",
                    "slow_path",
                    "setup_kup",
                },
                "__restore_cpu_power9": set(),
            },
        )

    def test_the_list(self):
        self.assertEqual(
            realmode.listed_in(BACKEND), ("early_setup_secondary", "gone_since", "load_state")
        )

    def test_a_name_that_no_source_has(self):
        self.write("arch/powerpc/kernel/setup_64.c", "void early_setup_secondary(void)\n{\n}\n")
        self.write("kernel/a.S", "_GLOBAL(load_state)\n\tblr\n")
        self.write("lib/a.c", '/* gone_since() */\nchar *text = "gone_since";\n')
        self.assertEqual(realmode.read_source(self.tree).unknown, {"gone_since"})

    def test_pointers(self):
        self.write(
            "arch/powerpc/kernel/specs.h",
            "\t.cpu_restore\t\t= __restore_cpu_power9,\n\t.machine_check_early = NULL,\n",
        )
        self.write("arch/powerpc/mm/hash.c", "\tmmu_hash_ops.hpte_clear_all = clear_all;\n")
        self.assertEqual(
            realmode.read_source(self.tree).stored,
            {"cpu_restore": {"__restore_cpu_power9"}, "hpte_clear_all": {"clear_all"}},
        )

    def test_a_table_of_distances(self):
        image = calls.Image.__new__(calls.Image)
        image.symbols = {"table": 0x1010, "table_end": 0x101C, "behind": 0x1020}
        image.sections = [[0x1000, 4, 0x40]]
        image.bytes = bytes(0x14) + struct.pack("<4i", -0x10, 0, 0x20, 7) + bytes(8)
        self.assertEqual(list(image.offsets("table", "table_end")), [0x1000, 0x1030])
        self.assertEqual(list(image.offsets("table", "gone")), [])
        self.assertEqual(list(image.offsets("gone", "away")), [])

    def test_no_list(self):
        self.write(realmode.BACKEND, "int a;\n")
        with self.assertRaises(Fail):
            realmode.read_source(self.tree)


class Judging(unittest.TestCase):
    def test_nothing_is_wrong(self):
        self.assertEqual(failed(), {})

    def test_what_is_called_can_be_traced(self):
        self.assertEqual(failed(traced={"flush"}), {NAMES[0]: "flush <- setup"})

    def test_what_is_called_has_a_key(self):
        self.assertEqual(failed(keyed={"flush"}), {NAMES[1]: "flush <- setup"})

    def test_one_that_entry_code_calls_and_is_not_listed(self):
        self.assertEqual(failed(listed={"early", "setup"}), {NAMES[0]: "restore"})

    def test_one_in_the_midst_that_is_not_listed(self):
        self.assertEqual(failed(listed={"early", "restore"}), {NAMES[0]: "setup <- early"})

    def test_what_is_wrong_is_followed(self):
        self.assertEqual(
            failed(listed={"early", "restore"}, traced={"setup", "flush"}),
            {NAMES[0]: "setup <- early; flush <- setup <- early"},
        )

    def test_where_the_trap_is_never_used(self):
        self.assertEqual(failed(without={"flush"}, traced={"flush"}, keyed={"flush"}), {})

    def test_a_call_that_is_not_accepted(self):
        also = SITES.calls | {"setup": {"printk"}}
        found = failed(calls=also)
        self.assertEqual(found[NAMES[0]], "printk <- setup; lock <- printk <- setup")
        self.assertEqual(found[NAMES[1]], "lock <- printk <- setup")

    def test_a_name_that_nothing_has(self):
        self.assertEqual(
            failed(source=replace(SOURCE, unknown={"gone_since"})), {NAMES[2]: "gone_since"}
        )

    def test_a_name_that_two_functions_have(self):
        self.assertEqual(failed(twice={"setup"}), {NAMES[3]: "setup"})

    def test_a_pointer_that_nothing_stores_to(self):
        stored = SOURCE.stored | {"cpu_restore": set()}
        self.assertEqual(failed(source=replace(SOURCE, stored=stored)), {NAMES[4]: "cpu_restore"})

    def test_what_is_accepted_and_not_called(self):
        self.assertEqual(failed([("setup", "printk")]), {NAMES[5]: "printk by setup"})

    def test_what_is_accepted_of_others(self):
        others = [*KNOWN, ("setup", "printk")]
        self.assertEqual(failed(others[1:], own=KNOWN), {})
        self.assertEqual(failed(others[1:], own=others[1:]), {NAMES[5]: "printk by setup"})


class Accepted(unittest.TestCase):
    """Whose calls are accepted, and where they have to be found."""

    def of(self, kernel):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "real-mode"
            place.write_text("early | printk | never\n")
            place.with_name("real-mode-other").write_text("late | printk | never\n")
            place.with_name("real-mode-an-other").write_text("new | printk | never\n")
            with mock.patch.object(realmode, "ACCEPTED", place):
                return realmode.accepted_of(Path("build") / kernel)

    def test_of_the_architecture(self):
        self.assertEqual(self.of("powerpc"), ([("early", "printk")], [("early", "printk")]))

    def test_of_another_kind(self):
        every = [("early", "printk"), ("late", "printk")]
        self.assertEqual(self.of("powerpc-other"), (every, every[1:]))

    def test_of_several_fragments(self):
        every, own = self.of("powerpc-third-an-other")
        self.assertEqual(sorted(own), [("late", "printk"), ("new", "printk")])
        self.assertEqual(every, [("early", "printk"), *own])

    def test_of_a_kind_that_has_no_more(self):
        for kernel in "powerpc-third", "powerpc-others", "powerpc-real-mode":
            self.assertEqual(self.of(kernel), ([("early", "printk")], []))


class OurOwn(unittest.TestCase):
    def test_the_lists_can_be_read(self):
        self.assertIn(realmode.ACCEPTED, realmode.tables())
        for table in realmode.tables():
            self.assertTrue(calls.accepted_in(table))
        names = realmode.listed_in((paths.ROOT / realmode.BACKEND).read_text())
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(set(realmode.ENTRY), set(names))


if __name__ == "__main__":
    unittest.main()
