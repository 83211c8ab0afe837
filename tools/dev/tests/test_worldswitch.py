# SPDX-License-Identifier: GPL-2.0
"""What is made of a kernel's functions and their calls; no kernel is read."""

import sys
import unittest
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import worldswitch  # noqa: E402
from textpoke.known import rows  # noqa: E402
from textpoke.ktap import FAILED  # noqa: E402

TEXT = """\
ffff800080010000 <__activate_traps>:
ffff800080010000:	bti	c
ffff800080010004:	b.ne	ffff800080010010 <__activate_traps+0x10>  // b.any
ffff800080010008:	bl	ffff800080020000 <read_timer>
ffff80008001000c:	tbz	w0, #3, ffff800080030000 <slow_path>
ffff800080010010:	b	ffff800080040008 <in_the_middle+0x8>
ffff800080010014:	blr	x3

ffff800080020000 <read_timer>:
ffff800080020000:	ret
"""
SITES = worldswitch.Sites(
    calls={"enter": {"sysreg", "panic"}, "sysreg": {"helper"}, "helper": set(), "panic": {"printk"}, "elsewhere": {"enter"}},
    switch={"enter"}, traced={"printk", "elsewhere"}, keys={0x100: "enter", 0x200: "elsewhere"}, listed={0x100})
KNOWN = [("enter", "panic")]
NAMES = ("the world switch calls nothing that can be traced", "the world switch calls nothing that has static keys",
         "the world switch lists its static keys, and no others", "what is accepted is called")


def failed(accepted=(), **changes):
    """name -> note of what fails."""
    results = list(worldswitch.results(replace(SITES, **changes), [*KNOWN, *accepted]))
    assert tuple(result.name for result in results) == NAMES
    return {result.name: result.note for result in results if result.status == FAILED}


class Reading(unittest.TestCase):
    def test_calls_and_jumps_are_followed(self):
        self.assertEqual(worldswitch.branches(TEXT.splitlines()),
                         {"__activate_traps": {"__activate_traps", "read_timer", "slow_path", "in_the_middle"}, "read_timer": set()})

    def test_a_relocation(self):
        line = "ffff8000804d8cc8  0000000000000403 R_AARCH64_RELATIVE                        -7fff7fb23000"
        match = worldswitch.RELOCATED.match(line)
        self.assertEqual((match["at"], match["value"]), ("ffff8000804d8cc8", "-7fff7fb23000"))

    def test_a_section(self):
        line = "  [13] __jump_table_notrap PROGBITS        ffff8000806b3000 6c3000 000014 00   A  0   0  4"
        self.assertEqual(worldswitch.SECTION.match(line).groups(), ("ffff8000806b3000", "6c3000", "000014"))


class Judging(unittest.TestCase):
    def test_nothing_is_wrong(self):
        self.assertEqual(failed(), {})

    def test_its_own_function_can_be_traced(self):
        self.assertEqual(failed(traced={"enter"}), {NAMES[0]: "enter"})

    def test_what_it_calls_can_be_traced(self):
        self.assertEqual(failed(traced={"helper"}), {NAMES[0]: "helper <- sysreg <- enter"})

    def test_what_it_calls_has_a_key(self):
        self.assertEqual(failed(keys={0x100: "enter", 0x300: "sysreg"}), {NAMES[1]: "sysreg <- enter"})

    def test_what_is_wrong_is_not_followed(self):
        self.assertEqual(failed(traced={"sysreg", "helper"}), {NAMES[0]: "sysreg <- enter"})

    def test_a_key_of_its_own_that_is_not_listed(self):
        self.assertEqual(failed(listed=set()), {NAMES[2]: "0x100 in enter"})

    def test_a_key_of_others_that_is_listed(self):
        self.assertEqual(failed(listed={0x100, 0x200}), {NAMES[2]: "0x200 in elsewhere"})

    def test_what_is_listed_and_no_key(self):
        self.assertEqual(failed(listed={0x100, 0x400}), {NAMES[2]: "0x400 in no function"})

    def test_only_the_caller_that_is_accepted(self):
        calls = SITES.calls | {"helper": {"panic"}}
        self.assertEqual(failed(calls=calls, traced={"panic"}), {NAMES[0]: "panic <- helper <- sysreg <- enter"})
        self.assertEqual(failed([("*", "pan*")], calls=calls, traced={"panic"}), {})

    def test_what_is_accepted_and_not_called(self):
        self.assertEqual(failed([("sysreg", "printk")]), {NAMES[3]: "printk by sysreg"})

    def test_the_list_can_be_read(self):
        self.assertTrue(list(rows(worldswitch.ACCEPTED, "caller | function | reason")))


if __name__ == "__main__":
    unittest.main()
