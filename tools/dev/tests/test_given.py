# SPDX-License-Identifier: GPL-2.0
"""What a user types, has, or has not:
one sentence, the right code, and nothing downloaded or built before it.
"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from textpoke import cli, errors, given, host, lock, paths, say  # noqa: E402
from textpoke.results import report  # noqa: E402
from textpoke.series import base  # noqa: E402

ROOT = paths.DEV.parent.parent
TP = paths.DEV / "tp"


class Case(unittest.TestCase):
    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.dict(os.environ))
        for name in ("KERNEL", "MAKEFLAGS", "OUT", "ARCH", "KDIR"):
            os.environ.pop(name, None)

    def tp(self, *words, **env):
        """(code, stdout, stderr) of the command as a program,
        without what it would do in the end.
        """
        whole = {**os.environ, "TEXT_POKE_CACHE": str(self.home / "cache"), **env}
        done = subprocess.run(
            [TP, *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env={name: value for name, value in whole.items() if value is not None},
        )
        return done.returncode, done.stdout, done.stderr

    def usage(self, name, *words, says, code=errors.USAGE):
        with mock.patch.object(
            base, "current", side_effect=AssertionError("something was fetched")
        ), self.assertRaises(errors.Fail) as caught:
            cli.parse([name, *words])
        self.assertEqual(caught.exception.code, code)
        self.assertIn(says, caught.exception.message)
        self.assertNotIn("\n", caught.exception.message)


class Values(Case):
    def test_architectures_that_a_command_cannot_have(self):
        self.usage("run", "ARCH=i386", says="run needs a perf")
        without = [name for name, arch in given.arches.ARCHES.items() if not arch.has_backend]
        for name in without:
            self.usage("run", f"ARCH={name}", says="needs a backend")
            cli.parse(["run", f"ARCH={name}", "BASE=1"])
        self.usage("cases", "ARCH=vax", says="ARCH=vax is not known")

    def test_a_kernel_that_is_none(self):
        for name in ("models", "mutants", "kernel", "check", "check-full", "series", "bench"):
            self.usage(name, "KERNEL=/nonexistent", says="is not a folder")
            self.usage(name, f"KERNEL={self.home}", says="not a Linux source tree")

    def test_a_build_folder_that_is_none(self):
        self.usage("boot", "KDIR=/nonexistent", says="/nonexistent is not there")
        self.usage("shell", "KDIR=/etc/passwd", says="does not begin as one that QEMU boots")
        self.usage("boot", f"KDIR={self.home}", says="Image is not there")
        image = self.home / "arch/arm64/boot/Image"
        image.parent.mkdir(parents=True)
        for data in (b"", b"x" * 1000):
            image.write_bytes(data)
            self.usage("boot", f"KDIR={self.home}", says="does not begin")
        for at, mark in given.IMAGES:
            image.write_bytes(b"\0" * at + mark)
            cli.parse(["boot", f"KDIR={self.home}"])
            cli.parse(["boot", f"KDIR={image}"])

    def test_packages_that_debian_has_nothing_to_go_by_for(self):
        self.usage(
            "deb",
            "ARCH=i386",
            says="no kernel of Debian's to go by for ARCH=i386: use x86, arm64, riscv, powerpc",
        )
        self.usage("deb", "ARCH=riscv", "FLAVOUR=rt", says="use cloud or generic")
        self.usage(
            "deb",
            "FLAVOUR=rt",
            says="there is no FLAVOUR=rt for ARCH=arm64: use cloud or generic",
        )
        self.usage("deb", "DEBUG=yes", says="DEBUG=yes is not 0 or 1")
        self.usage("kernel", "FLAVOUR=cloud", says="FLAVOUR means nothing to kernel")
        cli.parse(["deb", "ARCH=riscv", "DEBUG=1"])

    def test_another_program_s_debug_is_none_of_ours(self):
        os.environ["DEBUG"] = "app:*"
        with contextlib.redirect_stderr(io.StringIO()):
            _, options = cli.parse(["deb"])
        self.assertIsNone(options.get("DEBUG"))

    def test_a_folder_that_may_not_be_written(self):
        with mock.patch.object(os, "access", return_value=False):
            self.usage("series", f"OUT={self.home}/x/y", says="is where you may not write")
        cli.parse(["series", f"OUT={self.home}/x/y"])

    def test_more_cpus_than_there_can_be(self):
        self.usage("boot", "SMP=999", says="SMP=999 is too many")
        cli.parse(["boot", f"SMP={given.MOST_CPUS}"])

    def test_every_value_is_looked_at_before_the_command_runs(self):
        for name, word, says in (
            ("boot", "TIMEOUT=soon", "TIMEOUT=soon"),
            ("torture", "MINUTES=-1", "MINUTES=-1"),
            ("check", "FRESH=yes", "FRESH=yes"),
            ("check", "JOBS=0", "JOBS=0"),
            ("check-full", "JOBS=many", "JOBS=many"),
            ("kunit", "JOBS=2", "JOBS means nothing to kunit"),
            ("kernel", "BASE=2", "BASE=2"),
            ("check-full", "LIST=x", "LIST=x"),
            ("apply", "DRY=x", "DRY=x"),
            ("boot", "INITRD=/nowhere", "is not a file"),
            ("boot", "QEMU_ARGS='", "cannot be split"),
            ("cases", "CASE=99", "CASE=99 matches none of the cases"),
        ):
            self.usage(name, word, says=says)

    def test_a_place_that_make_cannot_do_with(self):
        for name, what in (("with space", "white space"), ("with:colon", "a colon")):
            (self.home / name).mkdir()
            with mock.patch.object(paths, "BUILD", self.home / name / "build"):
                self.usage("kernel", says=what)
                cli.parse(["apply", f"KERNEL={self.tree()}"])
        (self.home / "link").symlink_to(self.home / "with space")
        with mock.patch.object(paths, "BUILD", self.home / "link"):
            self.usage("kernel", says="white space")

    def tree(self):
        (self.home / "linux").mkdir(exist_ok=True)
        (self.home / "linux/Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 100\n")
        (self.home / "linux/Kbuild").touch()
        return self.home / "linux"


class Words(Case):
    def out(self, *words):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = cli.main(list(words))
        return code, out.getvalue()

    def test_help_is_answered_wherever_it_is_asked(self):
        whole = self.out("help")
        for words in ([], ["-h"], ["--help"]):
            self.assertEqual(self.out(*words), whole)
        one = self.out("help", "run")
        self.assertIn("make run", one[1])
        self.assertIn("SMP", one[1])
        self.assertNotIn("MINUTES", one[1])
        self.assertEqual(self.out("run", "--help"), one)
        self.assertEqual(self.out("run", "ARCH=x86", "-h"), one)

    def test_of_what_is_no_command(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(cli.main(["help", "frobnicate"]), errors.USAGE)
        self.assertIn("frobnicate is no command", said.getvalue())

    def test_make_help_of_a_command_does_not_run_it(self):
        for words in (["help", "setup", "gates"], ["setup", "help", "gates"]):
            done = subprocess.run(
                ["make", "-C", ROOT, "-n", *words], capture_output=True, text=True, check=True
            )
            self.assertIn("tp help setup gates\n", done.stdout)
            self.assertNotIn("tp setup", done.stdout)
        done = subprocess.run(
            ["make", "-C", ROOT, "help", "clean"], capture_output=True, text=True, check=True
        )
        self.assertIn("make clean", done.stdout)
        self.assertNotIn("removing", done.stderr)

    def test_the_version(self):
        code, said = self.out("--version")
        self.assertEqual(code, errors.OK)
        self.assertRegex(said, r"^Text Poke.* for Linux 6\.12\.\d+ to 6\.12\.\d+$")

    def test_what_make_does_to_the_codes_is_told(self):
        self.assertIn("itself exits with 2", self.out("help")[1])


class System(Case):
    """What the machine lacks or has in the way."""

    def test_no_home_and_no_name(self):
        code = (
            "import os, pwd, sys; sys.path.insert(0, sys.argv[1])\n"
            "def none(_): raise KeyError('no entry')\npwd.getpwuid = none\n"
            "from textpoke import paths; print(paths.CACHE)"
        )
        bare = {
            name: value
            for name, value in os.environ.items()
            if name not in ("HOME", "XDG_CACHE_HOME", "TEXT_POKE_CACHE")
        }
        for env in (bare, bare | {"SUDO_UID": "1"}):
            said = subprocess.run(
                [sys.executable, "-c", code, paths.DEV],
                env=env,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            self.assertEqual(said.strip(), str(paths.ROOT / "build/cache"))

    def test_what_is_in_the_place_of_build(self):
        for make in (
            lambda path: path.write_text(""),
            lambda path: path.symlink_to("nowhere"),
            lambda path: path.symlink_to("build"),
        ):
            make(self.home / "build")
            for words in (
                ["gates"],
                ["clean"],
                ["kernel", "ARCH=x86"],
                ["series", f"KERNEL={ROOT}"],
            ):
                code, _, said = self.tp(*words, TEXT_POKE_ROOT=str(self.home))
                self.assertEqual((code, len(said.splitlines())), (errors.INFRA, 1), said)
                self.assertIn(f"{self.home}/build is ", said)
            (self.home / "build").unlink()

    def test_a_cache_that_leads_nowhere(self):
        (self.home / "cache").symlink_to("cache")
        code, _, said = self.tp("apply", f"KERNEL={self.home}", TEXT_POKE_ROOT=str(self.home))
        self.assertEqual((code, len(said.splitlines())), (errors.USAGE, 1), said)

    def test_a_reader_that_went_away(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [TP, "help"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (errors.UNREAD, ""))

    def test_the_system_s_errors_have_no_trace(self):
        for number in (20, 17, 2, 40, 39, 16, 36):
            failure = errors.of_system(OSError(number, "x", "a file"))
            self.assertIn("a file", failure.message)
            self.assertEqual(failure.code, errors.INFRA)
        self.assertIsNone(errors.of_system(ValueError("x")))

    def test_nor_have_they_in_a_step(self):
        def full():
            raise OSError(28, "x", "a file")

        with contextlib.redirect_stderr(io.StringIO()) as said:
            found = list(report.results_of("it", full))
        self.assertEqual(said.getvalue(), "")
        self.assertIn("the disk is full (a file)", found[0].note)

    def test_a_child_that_is_to_end_ends(self):
        child = os.fork()
        if not child:
            cli._stop()
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), errors.INTERRUPTED)
        with self.assertRaises(KeyboardInterrupt):
            cli._stop()

    def test_no_python(self):
        done = subprocess.run(
            ["/bin/sh", TP, "help"],
            env={"PATH": str(self.home)},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(
            (done.returncode, done.stderr.splitlines()),
            (errors.MISSING, ["tp: python3 is missing: install Python 3.11 or newer"]),
        )

    def test_an_old_python(self):
        """What comes before the check is all that an old one must understand."""
        code = (
            TP.read_text()
            .partition("from textpoke")[0]
            .replace("import sys", "import sys; sys.version_info = (3, 10, 2)", 1)
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (errors.MISSING, 1))
        self.assertIn("this is Python 3.10", done.stderr)

    def test_no_git(self):
        (self.home / "bin").mkdir()
        (self.home / "bin/python3").symlink_to(sys.executable)
        with mock.patch.dict(os.environ, PATH=str(self.home / "bin")), self.assertRaises(
            errors.Fail
        ) as caught:
            base.git.porcelain(self.home, "status")
        self.assertEqual(caught.exception.code, errors.MISSING)


class NoDebian(Case):
    def setUp(self):
        super().setUp()
        self.programs = {"git"}
        self.enterContext(mock.patch.object(host, "_os_release", lambda: {"ID": "fedora"}))
        self.enterContext(
            mock.patch.object(
                host.shutil, "which", lambda name: name if name in self.programs else None
            )
        )

    def refused(self, function, *words):
        with self.assertRaises(errors.Fail) as caught:
            function(*words)
        self.assertEqual(caught.exception.code, errors.MISSING)
        return caught.exception.message

    def test_a_program_that_is_there_suffices(self):
        host.need("git")

    def test_what_is_missing_is_named(self):
        self.assertIn("rsync libelf-dev", self.refused(host.need, "git", "rsync", "libelf-dev"))
        self.programs.clear()
        self.assertIn("git", self.refused(host.need, "git"))

    def test_ubuntu_has_dpkg_and_other_packages(self):
        self.programs.add("dpkg-query")
        with mock.patch.object(
            host, "_os_release", lambda: {"ID": "ubuntu", "VERSION_CODENAME": "noble"}
        ), mock.patch.object(host, "output", lambda *_: "installed git 1\n"):
            host.need("git")
            self.assertIn("rsync", self.refused(host.need, "git", "rsync"))

    def test_what_works_all_the_same_is_told(self):
        said = self.refused(host._release)
        self.assertIn("make apply", said)
        self.assertIn("make series", said)


class Signs(Case):
    """Nothing is silent for long, and what is said is not ours."""

    def setUp(self):
        super().setUp()
        self.said = self.enterContext(contextlib.redirect_stderr(io.StringIO()))

    def test_work_without_a_command(self):
        with say.working("counting", 0.1):
            time.sleep(0.5)
        self.assertIn("counting: still at it", self.said.getvalue())
        silent = len(self.said.getvalue())
        time.sleep(0.3)
        self.assertEqual(len(self.said.getvalue()), silent)

    def test_not_while_others_speak(self):
        with say.working("counting", 60):
            time.sleep(0.1)
        self.assertEqual(self.said.getvalue(), "")

    def test_a_command_s_own_options_are_not_what_it_says(self):
        with mock.patch.object(say, "QUIET_FOR", 1):
            say.run(["sh", "-c", "sleep 2.5", "x" * 300], self.home / "log", "sleeping")
        self.assertIn("sleeping: still at it", self.said.getvalue())
        self.assertNotIn("xxx", self.said.getvalue())


class Locks(Case):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(paths, "BUILD", self.home / "build"))

    def test_commands_share_build_and_removal_does_not(self):
        with lock.build(), lock.build():
            with self.assertRaisesRegex(
                errors.Fail, "another command is at work"
            ), lock.build_alone():
                pass
        with lock.build_alone():
            pass

    def test_every_command_that_uses_it_holds_it(self):
        free = {name for name, command in cli.COMMANDS.items() if not command.uses_build}
        self.assertEqual(free, {"help", "setup", "clean", "page"})

    def test_it_is_held_while_a_command_runs(self):
        def run(_):
            with self.assertRaises(errors.Fail), lock.build_alone():
                pass

        with mock.patch.dict(cli.COMMANDS, {"gates": cli.Command("", "", run)}):
            self.assertEqual(cli.main(["gates"]), errors.OK)


if __name__ == "__main__":
    unittest.main()
