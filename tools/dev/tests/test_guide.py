# SPDX-License-Identifier: GPL-2.0
"""The pages for users: each message that the core and its users print is explained, and no other;
what a page has its reader type is there.
"""

import contextlib
import fnmatch
import functools
import io
import os
import re
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import arch as arches  # noqa: E402
from textpoke import cli, paths  # noqa: E402
from textpoke.errors import Fail  # noqa: E402
from textpoke.packages import deb, perfdeb  # noqa: E402
from textpoke.series import base as bases  # noqa: E402

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


INSTALL = paths.ROOT / "INSTALL.md"
# Where the symbols of configurations are that a page names, and the files of /proc and tracefs.
KCONFIG = ("init/Kconfig", "lib/Kconfig.debug", "fs/proc/Kconfig", "drivers/hwtracing/**/Kconfig")
CODE = (
    "kernel/*.c",
    "kernel/sched/*.c",
    "kernel/trace/trace.c",
    "fs/proc/*.c",
    "arch/x86/kernel/cpu/proc.c",
)
# What these tools or the kernel's make bring forth.
BUILT = {"tools/perf/perf"}
MAKE = re.compile(
    r"(?<![\w-])make (?:-C (?P<folder>\S+)|(?P<command>[a-z][a-z-]*))(?P<words>[^#|;&]*)"
)
PERF = re.compile(r"(?<![\w/-])(?P<program>perf\w*) (?P<command>[a-z]+)(?P<words>[^|;&#\n]*)")
FILE = re.compile(r"(?<![\w./<-])((?:kernel|tools|Documentation|include|arch|samples)/[\w./-]*\w)")


def typed(text):
    """What a page has that can be typed: its lines that stand apart, each whole,
    and what is between backquotes.
    """
    text = re.sub(r"\\\n\s*", "", text)
    return re.findall(r"^ {3,}(\S.*)$", text, re.M) + re.findall(r"`+([^`\n]+)`+", text)


@functools.cache
def tree():
    """The base's source."""
    return bases.base_source()


@functools.cache
def code(patterns):
    """All of some files, ours before the base's."""
    found = [path for top in (paths.ROOT, tree()) for each in patterns for path in top.glob(each)]
    return "\n".join(path.read_text(errors="replace") for path in found)


@functools.cache
def patched():
    """What the series adds to perf."""
    return "\n".join(
        line
        for path in sorted((paths.ROOT / "patches/v6.12").glob("*.patch"))
        for line in path.read_text().splitlines()
        if line.startswith("+") and "OPT_" in line
    )


def no_command(said):
    """What is wrong with a command of ours, or of the kernel's make."""
    for found in MAKE.finditer(said):
        words = re.findall(r"[A-Z]+=\S+", found["words"])
        if found["folder"]:
            if not (tree() / found["folder"] / "Makefile").exists():
                yield f"make -C {found['folder']}"
            continue
        try:
            with mock.patch.dict(os.environ), contextlib.redirect_stderr(io.StringIO()):
                cli.parse([found["command"], *words])
        except Fail as failure:
            yield failure.message


def no_option(said):
    """Options of perf that its command has not, and commands that perf has not."""
    for found in PERF.finditer(said):
        name, words = found["command"], found["words"].partition(" -- ")[0]
        if not re.match(r"[ ]-|$", words):
            continue
        files = tuple(f"tools/perf/{where}builtin-{name}.c" for where in ("", "tests/"))
        if found["program"] not in ("perf", perfdeb.PROGRAM) or not code(files):
            yield found[0]
        for option in re.findall(r"(?<!\S)--([a-z][a-z-]+)", words):
            if f'"{option}"' not in code(files) + patched():
                yield f"{name} --{option}"
        for option in re.findall(r"(?<!\S)-([a-zA-Z])(?!\S)", words):
            if f"'{option}'" not in code(files):
                yield f"{name} -{option}"


def no_file(said):
    """Files of the source, of these tools, of /proc and debugfs that are not there."""
    for path in FILE.findall(said):
        if path not in BUILT and not any((top / path).exists() for top in (paths.ROOT, tree())):
            yield path
    for name in re.findall(r"/sys/kernel/debug/text_poke/(\w+)", said):
        if f'"{name}"' not in code(("kernel/text_poke/debugfs.c",)):
            yield name
    for name in re.findall(r"/(?:proc|proc/sys/kernel|sys/kernel/tracing)/([\w.]+)(?![\w/])", said):
        if f'"{name}"' not in code(CODE):
            yield name


def no_symbol(said):
    """Symbols that no Kconfig has."""
    for name in re.findall(r"CONFIG_(\w+)", said):
        known = code((*KCONFIG, "kernel/text_poke/Kconfig"))
        if not re.search(rf"^(?:menu)?config {name}$", known, re.M):
            yield f"CONFIG_{name}"


class Commands(unittest.TestCase):
    """What a page has its reader type."""

    @staticmethod
    def wrong(text):
        return [
            *(
                what
                for said in typed(text)
                for test in (no_command, no_option)
                for what in test(said)
            ),
            *no_file(text),
            *no_symbol(text),
        ]

    def test_what_pages_name_is_there(self):
        for page in (INSTALL, *sorted(PAGES.glob("*.rst"))):
            self.assertEqual(self.wrong(page.read_text()), [], page.name)

    def test_each_kind_is_named_somewhere(self):
        """Else what looks for it may find nothing, ever."""
        text = "".join(page.read_text() for page in (INSTALL, *PAGES.glob("*.rst")))
        said = "\n".join(typed(text))
        self.assertGreater(len(MAKE.findall(said)), 5)
        self.assertGreater(len(PERF.findall(said)), 10)
        self.assertGreater(len(FILE.findall(text)), 5)
        self.assertGreater(len(re.findall("CONFIG_", text)), 2)

    def test_what_is_not_there_is_found(self):
        for said, what in (
            ("make debs", "debs is no command"),
            ("make deb ARCH=x86 DEBUG=2", "DEBUG=2"),
            ("make deb FLAVOUR=rt ARCH=riscv", "there is no FLAVOUR=rt"),
            ("make kunit FLAVOUR=cloud", "FLAVOUR means nothing"),
            ("make -C tools/perf-textpoke", "make -C tools/perf-textpoke"),
            ("sudo perf_textpoke record --kcores -a", "record --kcores"),
            ("perf script -Q", "script -Q"),
            ("perf_of_ours record --kcore", "perf_of_ours record --kcore"),
            ("perf recorded -a", "perf recorded -a"),
            ("see kernel/text_poke/cores.c", "kernel/text_poke/cores.c"),
            ("cat /sys/kernel/debug/text_poke/counters", "counters"),
            ("echo 1 >/proc/sys/kernel/sched_stats", "sched_stats"),
            ("CONFIG_TEXT_POKES=y", "CONFIG_TEXT_POKES"),
        ):
            found = self.wrong(f"Type\n\n    {said}\n")
            self.assertTrue(any(what in each for each in found), (said, found))


class Install(unittest.TestCase):
    """The packages are called as the page has them."""

    def setUp(self):
        self.text = INSTALL.read_text()
        self.deb = deb.Deb(arches.get("x86"), tree(), "cloud", False)
        release = f"{bases.version_of(tree())}{self.deb.suffix}"
        self.names = [f"linux-image-{release}", f"linux-headers-{release}", perfdeb.NAME]

    def test_those_that_it_installs(self):
        words = re.findall(r"\./(build/deb/\S+\.deb)", self.text)
        files = [
            f"build/deb/{self.deb.name}/{name}_{self.deb.version}_amd64.deb" for name in self.names
        ]
        self.assertEqual(
            [fnmatch.filter(files, word) for word in words], [[each] for each in files]
        )

    def test_those_that_it_takes_out(self):
        words = re.search(r"apt purge (.+)", self.text)[1].replace("'", "").split()
        self.assertEqual(
            [fnmatch.filter(self.names, word) for word in words], [[each] for each in self.names]
        )

    def test_the_release_that_it_shows(self):
        self.assertRegex(self.text, rf"uname -r +# 6\.12\.\d+{self.deb.suffix}\n")

    def test_files_beside_the_packages(self):
        names = set(re.findall(r"`([\w.]+\.txt)`", self.text))
        code_of_deb = (paths.DEV / "textpoke/packages/deb.py").read_text()
        self.assertEqual([name for name in names if f'"{name}"' not in code_of_deb], [])
        self.assertTrue(names)


if __name__ == "__main__":
    unittest.main()
