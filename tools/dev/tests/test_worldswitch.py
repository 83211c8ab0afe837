# SPDX-License-Identifier: GPL-2.0
"""What is made of a kernel's functions and their calls; no kernel is read."""

import sys
import unittest
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke.code import calls, worldswitch  # noqa: E402
from textpoke.results.ktap import FAILED  # noqa: E402

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
    calls={
        "enter": {"sysreg", "panic"},
        "sysreg": {"helper"},
        "helper": set(),
        "panic": {"printk"},
        "elsewhere": {"enter"},
    },
    switch={"enter"},
    outside={"load"},
    traced={"printk", "elsewhere", "enter", "load"},
    keyed={"enter", "elsewhere"},
    unprobed={"sysreg", "helper"},
)
KNOWN = [("enter", "panic"), ("outside", "load")]
NAMES = (
    "the world switch calls nothing that can be traced",
    "the world switch calls nothing that has static keys",
    "the world switch calls nothing that takes a probe",
    "what of hyp/vhe is outside of the range is known",
    "what is accepted is there",
)


def failed(accepted=(), **changes):
    """name -> note of what fails."""
    results = list(worldswitch.results(replace(SITES, **changes), [*KNOWN, *accepted]))
    assert tuple(result.name for result in results) == NAMES
    return {result.name: result.note for result in results if result.status == FAILED}


class Reading(unittest.TestCase):
    def test_calls_and_jumps_are_followed(self):
        self.assertEqual(
            calls.branches(TEXT.splitlines(), worldswitch.BRANCH),
            {
                "__activate_traps": {
                    "__activate_traps",
                    "read_timer",
                    "slow_path",
                    "in_the_middle",
                },
                "read_timer": set(),
            },
        )


class Judging(unittest.TestCase):
    def test_nothing_is_wrong(self):
        self.assertEqual(failed(), {})

    def test_what_it_calls_can_be_traced(self):
        self.assertEqual(failed(traced={"helper"}), {NAMES[0]: "helper <- sysreg <- enter"})

    def test_what_it_calls_has_a_key(self):
        self.assertEqual(failed(keyed={"enter", "sysreg"}), {NAMES[1]: "sysreg <- enter"})

    def test_what_it_calls_takes_a_probe(self):
        self.assertEqual(failed(unprobed={"helper"}), {NAMES[2]: "sysreg <- enter"})

    def test_what_is_wrong_is_not_followed(self):
        self.assertEqual(failed(traced={"sysreg", "helper"}), {NAMES[0]: "sysreg <- enter"})

    def test_what_is_in_the_range_is_not_called_elsewhere(self):
        self.assertEqual(
            failed(switch={"enter", "sysreg", "helper"}, keyed={"sysreg"}, unprobed=set()), {}
        )

    def test_a_function_outside_that_is_not_known(self):
        self.assertEqual(failed(outside={"load", "handler"}), {NAMES[3]: "handler"})

    def test_one_that_is_known_and_not_outside(self):
        self.assertEqual(failed([("outside", "put")]), {NAMES[4]: "put by outside"})

    def test_only_the_caller_that_is_accepted(self):
        also = SITES.calls | {"helper": {"panic"}}
        self.assertEqual(
            failed(calls=also, traced={"panic"}, unprobed={"sysreg", "helper", "panic"}),
            {NAMES[0]: "panic <- helper <- sysreg <- enter"},
        )
        self.assertEqual(failed([("*", "pan*")], calls=also, traced={"panic"}), {})

    def test_what_is_accepted_and_not_called(self):
        self.assertEqual(failed([("sysreg", "printk")]), {NAMES[4]: "printk by sysreg"})

    def test_the_list_can_be_read(self):
        self.assertTrue(calls.accepted_in(worldswitch.ACCEPTED))


if __name__ == "__main__":
    unittest.main()
