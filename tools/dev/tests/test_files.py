# SPDX-License-Identifier: GPL-2.0
"""What every file of the series has, and what is there for its readers."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from textpoke import cli, git, paths  # noqa: E402
from textpoke.series import base, patches  # noqa: E402

# The one spelling; what takes from a file of upstream's that says `or later` says so as well.
LICENSE = re.compile(
    r"SPDX-License-Identifier: GPL-2\.0(?:-or-later)?(?: WITH Linux-syscall-note)?(?: \*/)?$", re.M
)
# Which upstream has without such a line too: lists of settings.
WITHOUT = re.compile(r"/\.kunitconfig$|/(?:config|settings)$")
# Litmus tests begin with their name, and have comments only behind it.
FIRST_LINES = 5


class License(unittest.TestCase):
    def test_every_file_names_it_in_one_way(self):
        for path, file in sorted(patches.kept().items()):
            top = "\n".join(git.decode(file.read_bytes()).splitlines()[:FIRST_LINES])
            if not WITHOUT.search(path):
                self.assertRegex(top, LICENSE, path)

    def test_its_text_is_there(self):
        self.assertIn("LICENSES/GPL-2.0", (paths.ROOT / "COPYING").read_text())
        self.assertIn("GNU GENERAL PUBLIC LICENSE", (paths.ROOT / "LICENSES/GPL-2.0").read_text())


class News(unittest.TestCase):
    def test_the_first_line_is_the_version(self):
        self.assertRegex((paths.ROOT / "NEWS").read_text(), r"\AText Poke \d+\.\d+")
        self.assertRegex(cli._version(), r"^Text Poke \d+\.\d+")

    def test_it_names_the_versions_of_linux_that_fit(self):
        known = base.made_for()
        for name in ("oldest", "newest"):
            for file in ("NEWS", "README.md"):
                self.assertIn(known[name], (paths.ROOT / file).read_text(), file)


class Readme(unittest.TestCase):
    def test_what_it_tells_to_type_is_there(self):
        text = "".join(
            (paths.ROOT / f"{name}.md").read_text()
            for name in ("README", "TESTING", "FIGURES", "CONTRIBUTING")
        )
        for command, words in re.findall(r"make ([a-z][a-z-]+)((?: [A-Z]+=\S+)*)", text):
            if command in cli.COMMANDS:
                known = cli.COMMANDS[command].options.split()
                for name in re.findall(r" ([A-Z]+)=", words):
                    self.assertIn(name, known, command)


if __name__ == "__main__":
    unittest.main()
