# SPDX-License-Identifier: GPL-2.0
"""Kernels' configurations, initramfs archives, QEMU's command and what an end of a boot means.

With KDIR=build/arm64 (and ARCH=, arm64 by default) in the environment, guests are booted as well.
"""

import gzip
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import arch  # noqa: E402
from textpoke.errors import HANG, INFRA, MISSING, OK, PANIC, TEST_FAILED, USAGE, Fail  # noqa: E402
from textpoke.guests import boot, initramfs, kernel, reproduce  # noqa: E402
from textpoke.guests.console import Console  # noqa: E402

ARCH = arch.get(os.environ.get("ARCH") or "arm64")
KDIR = os.environ.get("KDIR")
ARM64 = arch.ARCHES["arm64"]


class OnceMore(unittest.TestCase):
    """What is left of a guest boots it again."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(suffix=" a'b")))
        self.kdir = self.folder / "kdir"
        (self.kdir / "include/config").mkdir(parents=True)
        (self.kdir / ".config").write_text("CONFIG_X=y\n")
        (self.kdir / "include/config/kernel.release").write_text("6.12.7\n")

    def test_the_script_runs_the_very_command_in_its_folder(self):
        script = reproduce.write(
            self.folder,
            ["sh", "-c", "pwd; echo $0 $1", "an 'option'"],
            "QEMU emulator version 10.0",
            self.kdir,
        )
        done = subprocess.run([script, "-s"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.splitlines(), [str(self.folder), "an 'option' -s"])
        for word in ("Linux 6.12.7", "version 10.0", reproduce.CONFIGURATION):
            self.assertIn(word, script.read_text())
        self.assertEqual((self.folder / reproduce.CONFIGURATION).read_text(), "CONFIG_X=y\n")

    def test_the_folder_may_be_copied_and_the_kernel_have_more_words(self):
        reproduce.write(
            self.folder,
            ["sh", "-c", 'pwd; printf "<%s>" "$@"', "qemu", "-append", "a='b c' -- d"],
            "QEMU",
            self.kdir,
        )
        copy = self.folder / "a copy"
        copy.mkdir()
        script = Path(shutil.copy(self.folder / reproduce.NAME, copy))
        for env, words in (
            ({}, ""),
            ({"APPEND": "nokaslr x=1"}, "<-append><nokaslr x=1 a='b c' -- d>"),
        ):
            done = subprocess.run(
                [script, "-s"],
                env={**os.environ, **env},
                cwd="/",
                capture_output=True,
                text=True,
                check=True,
            )
            self.assertEqual(done.stdout, f"{copy}\n<-append><a='b c' -- d>{words}<-s>")

    def test_of_an_image_no_configuration_is_known(self):
        self.assertIn(
            "not known",
            reproduce.write(self.folder, ["true"], "QEMU", self.folder / "Image").read_text(),
        )
        self.assertFalse((self.folder / reproduce.CONFIGURATION).exists())

    def booted(self, timeout):
        with mock.patch.multiple(
            boot,
            _good_qemu=lambda _: "QEMU 10",
            _folder=lambda _: self.folder,
            _announce=mock.DEFAULT,
            _run=mock.DEFAULT,
            _result=mock.DEFAULT,
        ) as mocks, mock.patch.object(kernel, "image_of", lambda *_: Path("Image")):
            boot.boot("arm64", self.kdir, None, timeout=timeout, turns=True)
        return mocks["_run"].call_args.args[4]

    def test_a_user_s_patience_is_the_least_that_a_guest_has(self):
        self.addCleanup(boot.be_patient, 0)
        self.assertEqual(self.booted(10), 10)
        boot.be_patient(100)
        self.assertEqual((self.booted(10), self.booted(500)), (100, 500))
        self.assertTrue((self.folder / reproduce.NAME).exists())

    def test_a_report_has_the_version_and_the_first_complaint(self):
        result = boot.Result(
            TEST_FAILED,
            "a reason",
            self.folder / "console.log",
            Path("tar"),
            badness=[" BUG: x ", "y"],
            qemu="QEMU 10",
        )
        with mock.patch.object(boot, "say") as said:
            boot.report(result)
        told = " ".join(call.args[0] for call in said.call_args_list)
        for word in ("QEMU 10", "2 times, first: BUG: x", reproduce.NAME):
            self.assertIn(word, told)


class CommandLine(unittest.TestCase):
    def test_append_without_dashes_is_the_kernels(self):
        self.assertEqual(boot.split_append(" a b=c "), ("a b=c", ""))

    def test_append_after_dashes_is_inits(self):
        self.assertEqual(boot.split_append("a -- b -- c"), ("a", "-- b -- c"))

    def test_append_may_begin_with_dashes(self):
        self.assertEqual(boot.split_append("-- b"), ("", "-- b"))

    def test_dashes_inside_words_or_quotes_divide_nothing(self):
        for append in ('dyndbg="file x -- y"', "a--b --c", 'x="-- "'):
            self.assertEqual(boot.split_append(append), (append, ""))

    def test_ours_come_before_dashes_and_before_the_users(self):
        words = boot.command_line(ARM64, "panic=5 -- one two").split()
        self.assertLess(words.index("panic=-1"), words.index("panic=5"))
        self.assertEqual(words[-3:], ["--", "one", "two"])

    def test_every_architecture_has_a_whole_command(self):
        for each in arch.ARCHES.values():
            command = boot.compose(each, "/image", "/initrd", append="-- x", qemu_args="-s -S")
            self.assertEqual(command[0], each.qemu)
            self.assertEqual(command[-2:], ["-s", "-S"])
            self.assertIn("panic=-1 -- x", command[command.index("-append") + 1])
            for name in ("verdict", "out"):
                self.assertIn(f"virtserialport,chardev={name},name=org.textpoke.{name}", command)

    def test_more_cpus_than_cores_take_turns(self):
        self.assertEqual(boot.accelerator(2, 2), "tcg,thread=multi")
        self.assertEqual(boot.accelerator(3, 2), "tcg,thread=single")
        self.assertEqual(boot.accelerator(1, 0), "tcg,thread=single")
        self.assertEqual(boot.default_timeout(4, 2), 2 * boot.TIMEOUT)
        self.assertEqual(boot.default_timeout(2, 0), 2 * boot.TIMEOUT)

    def test_one_cpu_has_no_threads_to_count_instructions_in(self):
        self.assertEqual(boot.accelerator(1, 2), "tcg,thread=single")

    def test_a_busy_host_is_given_a_moment(self):
        with mock.patch.object(boot, "free_cores", side_effect=[0, 1, 2]), mock.patch.object(
            boot, "cores", return_value=2
        ):
            self.assertEqual(boot.enough_cores(2), 2)
        with mock.patch.object(boot, "free_cores", return_value=2), mock.patch.object(
            boot, "cores", return_value=2
        ):
            self.assertEqual(boot.enough_cores(4), 2)

    def test_free_cpus_are_those_that_idle(self):
        stat = ["cpu  0 0 0 0 0 0 0 0 0 0\ncpu0", "cpu  50 0 0 150 0 0 0 0 0 0\ncpu0"]
        with mock.patch.object(Path, "read_text", side_effect=stat), mock.patch(
            "os.cpu_count", return_value=4
        ), mock.patch.object(boot, "cores", return_value=4):
            self.assertEqual(boot.free_cores(0), 3)

    def test_no_initrd_is_no_option(self):
        self.assertNotIn("-initrd", boot.compose(ARM64, "/image", None))

    def test_unbalanced_quotes_in_qemu_args_are_refused(self):
        with self.assertRaises(Fail) as caught:
            boot.compose(ARM64, "/image", None, qemu_args="'x")
        self.assertEqual(caught.exception.code, USAGE)

    def test_an_unknown_architecture_is_refused(self):
        with self.assertRaises(Fail) as caught:
            arch.get("sparc")
        self.assertEqual(caught.exception.code, USAGE)


class Version(unittest.TestCase):
    """A QEMU of a given version, as a script."""

    def program(self, says):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "qemu"
        path.write_text(f"#!/bin/sh\necho 'QEMU emulator version {says}'\n")
        path.chmod(0o755)
        return str(path)

    def test_a_good_one_is_named(self):
        self.assertIn("10.0.2", boot.qemu_version(self.program("10.0.2 (Debian 1:10.0.2)")))
        self.assertIn("11.1", boot.qemu_version(self.program("11.1.3")))

    def test_a_bad_one_is_refused_in_a_sentence(self):
        for bad in ("7.2.22 (Debian)", "9.2.4", "unknown"):
            with self.assertRaises(Fail) as caught:
                boot.qemu_version(self.program(bad))
            self.assertEqual(caught.exception.code, MISSING)
            self.assertIn(bad, caught.exception.message)
            self.assertNotIn("\n", caught.exception.message)

    def test_a_missing_one_is_named(self):
        with self.assertRaises(Fail) as caught:
            boot.qemu_version("qemu-system-none")
        self.assertEqual(caught.exception.code, MISSING)


class Verdict(unittest.TestCase):
    def code(
        self,
        panicked=False,
        restarted=False,
        timed_out=False,
        verdict="",
        shutdown="guest-shutdown",
        status=0,
    ):
        code, reason, _ = boot.judge(panicked, restarted, timed_out, verdict, shutdown, status)
        self.assertTrue(reason)
        return code

    def test_the_guests_own(self):
        self.assertEqual(self.code(verdict="0"), OK)
        self.assertEqual(self.code(verdict="7"), TEST_FAILED)
        self.assertEqual(boot.judge(False, False, False, "7", "guest-shutdown")[2], 7)

    def test_what_is_no_number_is_a_failure(self):
        for verdict in ("0x0", "-0", "0 0", "pass", "0000"):
            self.assertEqual(self.code(verdict=verdict), TEST_FAILED)

    def test_none_given(self):
        self.assertEqual(self.code(), OK)
        self.assertEqual(self.code(shutdown="guest-reset", restarted=True), OK)

    def test_a_reset_that_nobody_announced_is_a_panic(self):
        self.assertEqual(self.code(shutdown="guest-reset"), PANIC)

    def test_the_worst_wins(self):
        self.assertEqual(self.code(panicked=True, verdict="0"), PANIC)
        self.assertEqual(self.code(panicked=True, timed_out=True), PANIC)
        self.assertEqual(self.code(verdict="0", shutdown="guest-panic"), PANIC)
        self.assertEqual(self.code(timed_out=True, verdict="0", shutdown=""), HANG)
        self.assertEqual(self.code(timed_out=True, shutdown=""), HANG)

    def test_an_end_of_qemu_is_not_the_guests(self):
        for shutdown in ("", "host-signal", "host-qmp-quit"):
            self.assertEqual(self.code(shutdown=shutdown), INFRA)
        self.assertEqual(self.code(verdict="0", shutdown="", status=-11), INFRA)


class Complaints(unittest.TestCase):
    def console(self, *chunks):
        console = Console(echo=False)
        for chunk in chunks:
            console.feed(chunk)
        console.end()
        return console

    def test_the_kernels_are_found(self):
        for line in (
            b"[    1.000000] WARNING: CPU: 0 PID: 1 at x.c:1 f",
            b"[    1.0] BUG: sleeping function called",
            b"[   12.5] Internal error: Oops: 0000000096000004 [#1] SMP",
            b"[ 1.2] BUG: KASAN: use-after-free",
            b"[   3.3] rcu: INFO: rcu_preempt detected stalls on CPUs",
            b"[   2.0][    T1] WARNING: possible circular locking",
        ):
            self.assertEqual(len(self.console(line + b"\r\n").badness), 1, line)

    def test_a_programs_are_not(self):
        text = (
            b"WARNING: CPU: 0\nBUG: x\n[    0.0] Kernel command line: x=BUG: y\n"
            b"[    1.0] trace_printk() is used\n"
        )
        self.assertEqual(self.console(text).badness, [])

    def test_what_comes_after_power_down_is_qemus(self):
        warning = b"[   49.5] WARNING: CPU: 0 PID: 1 at kernel/exit.c:888 do_exit+0x898/0xaf0\n"
        for before, found in (
            (b"[   39.3] reboot: Power down\n", 0),
            (b"[   39.3] ACPI: PM: Preparing to enter system sleep state S5\n", 1),
            (b"a program: reboot: Power down\n", 1),
        ):
            self.assertEqual(len(self.console(before, warning).badness), found, before)
        self.assertEqual(len(self.console(warning, b"[   50.0] reboot: Power down\n").badness), 1)

    def test_lines_may_come_in_pieces(self):
        console = self.console(
            b"[    1.0] WAR", b"NING: x\n[    2.0] Kernel panic - not", b" syncing: y"
        )
        self.assertEqual(len(console.badness), 2)
        self.assertTrue(console.panicked)

    def test_a_restart_is_noticed(self):
        self.assertTrue(self.console(b"[    2.0] reboot: Restarting system\r\n").restarted)


class Configuration(unittest.TestCase):
    def test_settings(self):
        text = (
            'CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C="x y"\n# CONFIG_D=y\n#: without E: why\n'
        )
        self.assertEqual(kernel.settings(text), {"A": "y", "B": "n", "C": '"x y"'})

    def test_what_is_dropped_is_named(self):
        requested = {"A": "y", "B": "m", "C": "n", "D": "y"}
        self.assertEqual(kernel.unmet(requested, {"A": "y", "B": "y"}, {"D": "why"}), ["B=m"])

    def test_what_is_refused_but_set_is_named(self):
        self.assertEqual(kernel.stale({"A": "y"}, {"A": "y"}, {"A": "why"}), ["A"])
        self.assertEqual(kernel.stale({"A": "y"}, {}, {"A": "why"}), [])

    def test_exceptions_hold_where_they_say(self):
        text = "#: without A B: never\n#: without C in base: later\n#: without D in llvm: no flag\n"
        self.assertEqual(kernel.exceptions(text, {None}), {"A": "never", "B": "never"})
        self.assertEqual(set(kernel.exceptions(text, {None, "base", "llvm"})), set("ABCD"))

    def test_an_exception_needs_a_reason(self):
        for line in ("#: without A", "#: without A:", "#: without A in x: why", "#: lacks A: why"):
            with self.assertRaises(Fail):
                kernel.exceptions(line + "\n", {None})

    def test_every_fragment_is_understood(self):
        for path in kernel.FRAGMENTS.glob("*.config"):
            for line in path.read_text().splitlines():
                self.assertTrue(
                    line.startswith("#") or not line or kernel.SETTING.match(line),
                    f"{path.name}: {line}",
                )
            kernel.exceptions(path.read_text(), {None, "base", "llvm"})

    def test_every_architecture_asks_for_the_same(self):
        common = kernel.settings((kernel.FRAGMENTS / "common.config").read_text())
        for each in arch.ARCHES:
            own = kernel.settings((kernel.FRAGMENTS / f"{each}.config").read_text())
            self.assertEqual([name for name in own if name in common], [])

    def test_builds_do_not_share_a_folder(self):
        names = {
            kernel.name_of("arm64", base, llvm, fragments)
            for base in (False, True)
            for llvm in (False, True)
            for fragments in ((), ("kasan",), ("debug", "kasan"))
        }
        self.assertEqual(len(names), 12)


class Folders(unittest.TestCase):
    """Which boots' folders a new boot removes."""

    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = Path(home.name)
        self.folders = [self.home / f"{number:02}" for number in range(boot.KEEP + 3)]
        for number, path in enumerate(self.folders):
            path.mkdir()
            os.utime(path, (number, number))

    def kept(self):
        boot._prune(self.home)
        return sorted(self.home.iterdir())

    def test_the_oldest_go(self):
        self.assertEqual(self.kept(), self.folders[3:])

    def test_one_in_use_stays_however_old(self):
        lock = boot._lock(self.folders[0])
        self.assertEqual(self.kept(), self.folders[:1] + self.folders[3:])
        os.close(lock)
        self.assertEqual(self.kept(), self.folders[3:])

    def test_a_boots_own_is_in_use(self):
        with mock.patch.object(boot.paths, "BUILD", self.home):
            self.assertIsNone(boot._lock(boot._folder(ARM64)))

    def test_young_ones_stay_however_many(self):
        for path in self.folders:
            os.utime(path)
        self.assertEqual(self.kept(), self.folders)


class Archive(unittest.TestCase):
    def listing(self, entries):
        """What cpio itself reads in our archive."""
        done = subprocess.run(
            ["cpio", "--list", "--verbose", "--numeric-uid-gid", "--quiet"],
            check=True,
            input=initramfs.cpio(entries),
            stdout=subprocess.PIPE,
        )
        return {line.split()[-1]: line for line in done.stdout.decode().splitlines()}

    def test_cpio_reads_it(self):
        listing = self.listing(
            {
                "a": initramfs.folder(),
                "a/b": initramfs.file(b"12345", True),
                "a/c": initramfs.node(5, 1),
            }
        )
        self.assertEqual(list(listing), ["a", "a/b", "a/c"])
        self.assertTrue(listing["a/b"].startswith("-rwxr-xr-x   1 0        0               5 "))
        self.assertIn("5,   1", listing["a/c"])

    def test_a_name_with_blanks_is_one_sentence(self):
        with self.assertRaisesRegex(Exception, "blanks in its name, as `a b` has"):
            initramfs.cpio({"a b": initramfs.file(b"")})

    def test_same_entries_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            entries = {"x/y/z": initramfs.file(b"1"), "w": initramfs.link("x")}
            one = initramfs.write(entries, Path(folder) / "1").read_bytes()
            two = initramfs.write(dict(reversed(entries.items())), Path(folder) / "2").read_bytes()
        self.assertEqual(one, two)
        self.assertIn(b"x/y\0", gzip.decompress(one))

    def test_threads_that_write_the_same_one_do_not_meet(self):
        both_have_written, errors = threading.Barrier(2, timeout=30), []
        write_bytes = Path.write_bytes

        def written(path, data):
            write_bytes(path, data)
            both_have_written.wait()

        def build(dest):
            try:
                initramfs.write({"a": initramfs.file(b"1")}, dest)
            except OSError as error:
                errors.append(error)

        with tempfile.TemporaryDirectory() as folder, mock.patch.object(
            Path, "write_bytes", written
        ):
            threads = [threading.Thread(target=build, args=[Path(folder) / "it"]) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual((errors, os.listdir(folder)), ([], ["it"]))

    def test_trees_keep_links_and_modes(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "sub").mkdir()
            (folder / "sub/run").write_text("x")
            (folder / "sub/run").chmod(0o700)
            (folder / "link").symlink_to("sub")
            found = initramfs._extra({"/opt/t": folder, "/etc/x": b"y"})
        self.assertEqual(found["opt/t/sub/run"].mode, stat.S_IFREG | 0o755)
        self.assertEqual(found["opt/t/link"].data, b"sub")
        self.assertEqual(found["etc/x"].data, b"y")

    def test_a_missing_file_is_named(self):
        with self.assertRaises(Fail) as caught:
            initramfs._extra({"/x": "/nowhere/at/all"})
        self.assertEqual(caught.exception.code, USAGE)


FOREIGN = r"""
#include <stdio.h>
#include <sys/reboot.h>
#include <termios.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("argument %d is <%s>\n", i, argv[i]);
	fflush(stdout);
	/* The kernel does not wait for what it has not sent yet. */
	tcdrain(STDOUT_FILENO);
	reboot(RB_POWER_OFF);
	return 1;
}
"""


@unittest.skipUnless(KDIR, "no KDIR= to boot")
class Booted(unittest.TestCase):
    """Boots real guests, whose CPUs take turns: see tests.in_guest()."""

    def boot(self, initrd, **how):
        result = boot.boot(ARCH, KDIR, initrd, echo=False, turns=True, **how)
        self.console = result.console
        return result

    def job(self, script, args=(), **how):
        return self.boot(
            initramfs.build_initramfs(ARCH, job=script.encode(), args=args, kdir=KDIR), **how
        )


class Machine(Booted):
    """The ends of a boot for which each machine and console has a way of its own."""

    def test_a_panic(self):
        result = self.job("echo c > /proc/sysrq-trigger; sleep 100")
        self.assertEqual(result.code, PANIC, result.reason)
        self.assertTrue(any("Kernel panic" in line for line in result.tail))
        self.assertTrue(result.badness)

    def test_a_panic_that_does_not_reset(self):
        result = self.job("echo c > /proc/sysrq-trigger; sleep 100", append="panic=0")
        self.assertEqual(result.code, PANIC, result.reason)

    def test_a_panic_before_init(self):
        self.assertEqual(self.job("true", append="rdinit=/none init=/none").code, PANIC)

    def hang(self, timeout):
        """A guest that comes to no end, and what it says of its tasks."""
        # Here a line takes the console of powerpc half a second, and the first task will do.
        with mock.patch.object(boot, "TASKS_LIMIT", 15):
            result = self.job("while :; do :; done", timeout=timeout)
        self.assertEqual(result.code, HANG, result.reason)
        return result, (result.folder / "tasks.txt").read_text(errors="replace")

    def test_a_hang(self):
        # On a busy machine the job has not begun yet after 20 s.
        for timeout in (20, 120):
            result, tasks = self.hang(timeout)
            if "task:init" in tasks:
                break
        self.assertRegex(tasks, r"task:init +state:")
        self.assertGreater((result.folder / "registers.txt").stat().st_size, 500)

    def test_power_off_without_a_verdict(self):
        result = self.job("poweroff -f; sleep 100")
        self.assertEqual((result.code, result.verdict), (OK, None), result.reason)
        self.assertIn("without giving a verdict", result.reason)

    def test_a_restart_without_a_verdict(self):
        result = self.job("reboot -f; sleep 100")
        self.assertEqual((result.code, result.verdict), (OK, None), result.reason)


class Guest(Booted):
    """The ends of a boot that are the same on every machine, and what goes in and comes out."""

    def test_verdict_0_passes(self):
        result = self.job("true")
        self.assertEqual((result.code, result.verdict, result.badness), (OK, 0, []), result.reason)

    def test_verdict_7_is_a_failed_test(self):
        result = self.job("exit 7")
        self.assertEqual((result.code, result.verdict), (TEST_FAILED, 7), result.reason)

    def test_arguments_reach_the_job(self):
        script = '[ $# = 3 ] && [ "$1" = "a b" ] && [ "$2" = "\'" ] && [ "$3" = c ]'
        self.assertEqual(self.job(script, args=("a b", "'"), append="-- c").code, OK)

    def test_files_come_out(self):
        result = self.job(
            ". /lib/textpoke.sh; mkdir /x; head -c 3000000 /dev/zero >/x/zeros; send_out /x"
        )
        self.assertEqual(result.code, OK, result.reason)
        listed = subprocess.run(
            ["tar", "-tvf", result.out_tar], check=True, capture_output=True, text=True
        ).stdout
        self.assertRegex(listed, r"3000000 .* x/zeros")

    def test_somebody_elses_initramfs(self):
        with tempfile.TemporaryDirectory() as name:
            source, program = Path(name) / "init.c", Path(name) / "init"
            source.write_text(FOREIGN)
            subprocess.run([f"{ARCH.cross}gcc", "-static", "-o", program, source], check=True)
            entries = {
                "init": initramfs.file(program.read_bytes(), True),
                "dev/console": initramfs.node(5, 1),
            }
            result = self.boot(
                initramfs.write(entries, Path(name) / "theirs"), append="quiet -- one two=3"
            )
        self.assertEqual((result.code, result.verdict), (OK, None), result.reason)
        self.assertIn("argument 1 is <one>", self.console)
        self.assertIn("argument 2 is <two=3>", self.console)
        self.assertNotIn("argument 3", self.console)

    def test_more_cpus_than_cores(self):
        count = boot.cores() + 1
        result = self.job(f"[ $(nproc) = {count} ]", smp=count)
        self.assertEqual(result.code, OK, result.reason)

    def test_options_that_qemu_refuses(self):
        result = self.job("true", qemu_args="-device no-such-device")
        self.assertEqual(result.code, INFRA)
        self.assertIn("no-such-device", result.reason)


if __name__ == "__main__":
    unittest.main()
