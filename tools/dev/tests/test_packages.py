# SPDX-License-Identifier: GPL-2.0
"""How the tools' modules lie in packages: none of these needs another that needs it."""

import ast
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import textpoke  # noqa: E402
from textpoke import cli, paths  # noqa: E402
from textpoke.results import made  # noqa: E402

# What starts a command: it may know every package.
COMMANDS = ("cli.py", "given.py", "clean.py")


def package(path):
    """The package that a file lies in; '' for textpoke itself."""
    return ".".join(path.relative_to(made.TOOLS).parent.parts)


def needs():
    """Package -> the packages that its modules import from."""
    found = {}
    for path in made.TOOLS.rglob("*.py"):
        if path.relative_to(made.TOOLS).as_posix() not in COMMANDS:
            inside = ".".join(path.relative_to(paths.DEV).parent.parts)
            files = filter(None, map(made._file, made._names_in(path.read_bytes(), inside)))
            found.setdefault(package(path), set()).update(map(package, files))
    return {name: others - {name, ""} for name, others in found.items()}


class Packages(unittest.TestCase):
    def test_each_needs_only_those_above_it(self):
        order = re.findall(r"^(\w+)  +\w", textpoke.__doc__, re.M)
        self.assertEqual(sorted(order), sorted(filter(None, needs())))
        for name, others in needs().items():
            above = order[: order.index(name)] if name else []
            self.assertLessEqual(others, set(above), name)

    def test_each_says_what_it_is_about(self):
        for name in needs():
            file = made.TOOLS.joinpath(*filter(None, [name]), "__init__.py")
            self.assertTrue(ast.get_docstring(ast.parse(file.read_text())), name)

    def test_what_runs_a_command_is_there(self):
        named = re.findall(
            r'_(?:module|pass|call)\(\s*["\']([a-z.]+)', Path(cli.__file__).read_text()
        )
        self.assertGreater(len(named), 20)
        for name in named:
            self.assertIsNotNone(made._file(f"textpoke.{name}"), name)


if __name__ == "__main__":
    unittest.main()
