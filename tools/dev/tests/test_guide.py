# SPDX-License-Identifier: GPL-2.0
"""The pages for users: each message that the core and its users print is explained, and no other.
"""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import paths  # noqa: E402

PAGES = paths.ROOT / "Documentation/core-api/text-poke"
CORE = paths.ROOT / "kernel/text_poke"
WARNS = re.compile(
    r'\b(?:text_poke_warn|complain_at|expect(?:_at)?)\((?:[^";]*?)"([^"]+)"', re.DOTALL
)
FAILS = re.compile(r'^\+\s*text_poke_failed\("([^"]+)"', re.MULTILINE)
# A file of the core that has such messages, so that a pattern that finds none does not pass.
SPEAKS = ("core", "stop", "debug")


def warnings():
    """file -> what it says of itself."""
    return {name: set(WARNS.findall((CORE / f"{name}.c").read_text())) for name in SPEAKS}


def failures():
    """What the users of the core say."""
    patches = sorted((paths.ROOT / "patches/v6.12").glob("*.patch"))
    return {what for patch in patches for what in FAILS.findall(patch.read_text())}


class Messages(unittest.TestCase):
    def setUp(self):
        self.page = (PAGES / "when-something-goes-wrong.rst").read_text()

    def test_each_file_has_some(self):
        self.assertEqual([name for name, said in warnings().items() if not said], [])
        self.assertIn("static call", failures())

    def test_what_the_core_says_is_explained(self):
        said = set().union(*warnings().values())
        self.assertEqual(sorted(what for what in said if what not in self.page), [])

    def test_what_users_say_is_explained(self):
        self.assertEqual(sorted(what for what in failures() if f"``{what}" not in self.page), [])


class Pages(unittest.TestCase):
    def test_all_are_linked(self):
        index = (paths.ROOT / "Documentation/core-api/text-poke.rst").read_text()
        self.assertEqual(
            [
                page.stem
                for page in sorted(PAGES.glob("*.rst"))
                if f"text-poke/{page.stem}\n" not in index
            ],
            [],
        )

    def test_files_that_they_name_are_there(self):
        for page in sorted(PAGES.glob("*.rst")):
            for name in re.findall(r"^\.\. include:: (\S+)$", page.read_text(), re.MULTILINE):
                self.assertTrue((PAGES / name).exists(), f"{page.name}: {name}")


if __name__ == "__main__":
    unittest.main()
