# SPDX-License-Identifier: GPL-2.0
"""A Debian with the packages installed:
its disk, what its guest says, and what Debian's own kernel is compared for.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from textpoke import arch as arches  # noqa: E402
from textpoke import host, paths, say  # noqa: E402
from textpoke.checks import full  # noqa: E402
from textpoke.errors import HANG, INFRA, MISSING, OK, PANIC, Fail  # noqa: E402
from textpoke.guests import boot, initramfs  # noqa: E402
from textpoke.packages import deb, installed  # noqa: E402
from textpoke.results import kept, ktap  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED, SKIPPED  # noqa: E402

X86, ARM64 = arches.get("x86"), arches.get("arm64")
OURS, THEIRS = "6.12.117-textpoke-cloud", "6.12.95+bpo-cloud-amd64"
JOB = initramfs.GUEST / "installed.sh"


class Case(unittest.TestCase):
    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name, path in (("CACHE", "cache"), ("BUILD", "build"), ("LOGS", "build/log")):
            self.enterContext(mock.patch.object(paths, name, self.home / path))
        for module in (installed, say):
            self.enterContext(mock.patch.object(module, "say"))

    def root(self, *releases):
        """A folder that looks like a root with these kernels."""
        root = self.home / "root"
        for folder in ("boot", "srv", "etc/systemd/system"):
            (root / folder).mkdir(parents=True)
        for release in releases:
            for name in ("vmlinuz", "initrd.img"):
                (root / "boot" / f"{name}-{release}").write_text(f"{name} of {release}")
        return root


class Disks(Case):
    def look(self, _, root, words, *__):
        """What the root has as the packages are installed."""
        modules = root / "srv/modules"
        self.there = sorted(path.parent.name for path in modules.glob("*/Makefile"))
        self.assertIn("/srv/modules/*", words)

    def make(self, root, debs=()):
        with (
            mock.patch.object(installed, "chrooted", side_effect=self.look) as self.chrooted,
            mock.patch.object(installed, "_build_listen", lambda _, path: path.touch()),
        ):
            return installed.make_disk(X86, "cloud", root, debs)

    @unittest.skipUnless(shutil.which("mke2fs") and shutil.which("debugfs"), "e2fsprogs is missing")
    def test_a_disk_with_all_of_it_and_its_kernels_beside_it(self):
        root, package = self.root(THEIRS, OURS), self.home / "a_1_amd64.deb"
        package.write_text("a package")
        with mock.patch.object(installed, "SPARE", 8 << 20):
            disk = self.make(root, [package])
        self.assertEqual(disk.releases, (OURS, THEIRS))
        self.assertEqual(disk.kernel(OURS).read_text(), f"vmlinuz of {OURS}")
        self.assertEqual(disk.initrd(THEIRS).read_text(), f"initrd.img of {THEIRS}")
        self.assertIn("/srv/packages/*.deb", self.chrooted.call_args.args[2])
        self.assertEqual(self.there, ["livepatch", "module"])
        listed = subprocess.run(
            ["debugfs", "-R", f"ls -p /{installed.OURS}", disk.path],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        self.assertRegex(listed, r"/10?0755/0/0/installed\.sh/")
        self.assertIn("/listen/", listed)
        unit = subprocess.run(
            [
                "debugfs",
                "-R",
                "cat /etc/systemd/system/multi-user.target.wants/../textpoke.service",
                disk.path,
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        self.assertIn(f"ExecStart=/{installed.OURS}/installed.sh", unit)
        # The root is as it was, for the next package.
        self.assertEqual(sorted(path.name for path in (root / "srv").iterdir()), [])
        self.assertFalse((self.home / "build/installed/amd64-cloud/disk.part").exists())

    def test_a_package_that_brings_no_kernel_or_initrd_is_a_sentence(self):
        with self.assertRaisesRegex(Fail, "^the package has put no kernel into "):
            self.make(self.root(THEIRS))
        shutil.rmtree(self.home / "root")
        root = self.root(OURS)
        (root / f"boot/initrd.img-{OURS}").unlink()
        with self.assertRaisesRegex(
            Fail, f"^there is no /boot/initrd.img-{OURS} where the packages were installed"
        ):
            self.make(root)


class Roots(Case):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(host, "need"))
        self.enterContext(mock.patch.object(host, "mirror_of", return_value="mirror"))
        self.enterContext(mock.patch.object(installed, "_resolver"))
        self.commands = []
        self.enterContext(mock.patch.object(installed, "entered", self.enter))

    def enter(self, _, command, what, log):
        self.commands.append(list(map(str, command)))
        if command[0] == "mmdebstrap":
            Path(command[command.index(installed.RELEASE) + 1]).mkdir(parents=True)

    def test_a_root_is_made_once_and_again_for_other_packages(self):
        first = installed.make_root(X86, "cloud")
        installed.make_root(X86, "cloud")
        self.assertEqual([command[0] for command in self.commands], ["mmdebstrap", "sh"])
        with mock.patch.object(installed, "PACKAGES", ("udev",)):
            installed.make_root(X86, "cloud")
        self.assertEqual(len(self.commands), 4)
        self.assertTrue(first.is_dir())

    def test_one_that_broke_is_made_again(self):
        def breaks(_, command, what, log):
            self.enter(_, command, what, log)
            raise Fail(INFRA, "no network")

        with mock.patch.object(installed, "entered", breaks), self.assertRaises(Fail):
            installed.make_root(X86, "cloud")
        self.commands.clear()
        shutil.rmtree(installed.home(X86, "cloud") / "root.part")
        installed.make_root(X86, "cloud")
        self.assertEqual(len(self.commands), 2)

    def test_debian_s_kernel_is_of_the_same_flavour(self):
        kernels = {
            (X86, "cloud"): "linux-image-cloud-amd64 linux-headers-cloud-amd64",
            (X86, "generic"): "linux-image-amd64 linux-headers-amd64",
        }
        for (arch, flavour), names in kernels.items():
            self.commands.clear()
            self.assertEqual(installed.make_root(arch, flavour).parent.name, f"amd64-{flavour}")
            self.assertIn(f"-t {installed.BACKPORTS} {names}\n", self.commands[-1][-1])

    def test_it_is_of_the_release_with_its_security_updates_and_backports(self):
        installed.make_root(X86, "cloud")
        words = " ".join(self.commands[0])
        for suite in installed.SUITES:
            self.assertIn(f" mirror {suite} main", words)

    def test_only_root_can(self):
        with mock.patch.object(os, "geteuid", return_value=1000), self.assertRaises(Fail) as caught:
            next(installed.installed("x86", "cloud", False))
        self.assertEqual(caught.exception.code, MISSING)


class Emulation(Case):
    """Whose programs need help here."""

    def rule(self, arch, native):
        with mock.patch.object(installed, "output", return_value=f"{native}\n"), mock.patch.object(
            host, "need"
        ) as need:
            return installed._rule(arch), [call.args[0] for call in need.call_args_list]

    def test_this_machine_s_own_need_none(self):
        self.assertEqual(self.rule(X86, "amd64"), ("", []))
        self.assertEqual(self.rule(ARM64, "arm64"), ("", []))

    def test_arm64_s_do_elsewhere(self):
        rule, needed = self.rule(ARM64, "amd64")
        self.assertEqual(needed, ["qemu-user-static"])
        _, name, kind, offset, magic, mask, interpreter, flags = rule.split(":")
        self.assertEqual(
            (name, kind, offset, interpreter, flags),
            ("qemu-aarch64", "M", "", "/usr/bin/qemu-aarch64-static", "F"),
        )
        magic, mask = (
            bytes.fromhex(each.replace("\\x", "").replace("ELF", "454c46"))
            for each in (magic, mask)
        )
        self.assertEqual(len(magic), len(mask))
        # A program that can be moved and one that cannot, of that machine and of this.
        for kind, machine, fits in ((2, 183, True), (3, 183, True), (3, 62, False)):
            head = (
                b"\x7fELF\x02\x01\x01"
                + bytes(9)
                + kind.to_bytes(2, "little")
                + machine.to_bytes(2, "little")
            )
            self.assertEqual(
                all((a ^ b) & c == 0 for a, b, c in zip(head, magic, mask)), fits, (kind, machine)
            )

    def test_others_are_a_sentence(self):
        with self.assertRaisesRegex(Fail, "^programs of amd64 cannot be executed here"):
            self.rule(X86, "arm64")

    def enter(self, rule, *command):
        """The script, with a folder in the place of the kernel's."""
        misc = self.home / "misc"
        misc.mkdir(exist_ok=True)
        (misc / "register").touch()
        script = installed.ENTER.replace("mount --make-rprivate /\n", "").replace(
            "/proc/sys/fs/binfmt_misc", str(misc)
        )
        done = subprocess.run(
            ["sh", "-c", script, "sh", rule, *command], check=False, capture_output=True, text=True
        )
        return done.returncode, (misc / "register").read_text(), done.stdout, misc

    def test_what_is_registered_goes_again(self):
        code, registered, said, misc = self.enter(
            r":qemu-x:M::\x7f:\xff:/q:F", "sh", "-c", "echo ran; exit 3"
        )
        self.assertEqual((code, registered, said), (3, r":qemu-x:M::\x7f:\xff:/q:F", "ran\n"))
        self.assertEqual((misc / "qemu-x").read_text(), "-1\n")

    def test_what_was_there_before_stays(self):
        (self.home / "misc").mkdir()
        (self.home / "misc/qemu-x").write_text("theirs")
        self.assertEqual(self.enter(":qemu-x:M", "true")[:2], (0, ""))
        self.assertEqual((self.home / "misc/qemu-x").read_text(), "theirs")

    def test_nothing_is_where_nothing_is_needed(self):
        self.assertEqual(self.enter("", "echo", "ran")[:3], (0, "", "ran\n"))


class Judging(Case):
    GOOD = "ok 1 the kernel boots without a complaint\nok 2 {name} # SKIP {btf}\n1..2\n".format(
        name=installed.SKIPS[0].case, btf=installed.BTF
    )
    BAD = (
        "ok 1 the kernel boots without a complaint\n# it said so\nnot ok 2 a kfunc # exit=1\n1..2\n"
    )

    def judge(self, *texts, code=OK, badness=((), ()), arch=X86, debug=False):
        """The results where the guests report texts, and what was booted."""
        disk = installed.Disk(self.home / "disk", (OURS, THEIRS))
        results, booted = [], []
        for number, text in enumerate(texts):
            out = self.home / f"out-{number}"
            out.write_text(text)
            results.append(
                boot.Result(
                    code, "a reason", self.home / "console.log", out, 0, list(badness[number])
                )
            )

        def boots(_, image, initrd, **how):
            booted.append((image.name, initrd.name))
            self.how = how
            return results[len(booted) - 1]

        with mock.patch.object(boot, "boot", boots), mock.patch.object(boot, "report"):
            return {
                each.name: (each.status, each.note) for each in installed.judged(arch, disk, debug)
            }, [name for name, _ in booted]

    def test_where_nothing_fails_debian_s_kernel_is_not_booted(self):
        found, booted = self.judge(self.GOOD)
        self.assertEqual(booted, [f"vmlinuz-{OURS}"])
        self.assertEqual(found[installed.SKIPS[0].case], (SKIPPED, installed.BTF))
        self.assertEqual(found["the installed Debian: the kernel does not complain"][0], PASSED)

    def test_what_fails_with_debian_s_kernel_too_is_left_out_with_the_reason(self):
        found, booted = self.judge(self.BAD, self.BAD)
        self.assertEqual(booted, [f"vmlinuz-{OURS}", f"vmlinuz-{THEIRS}"])
        self.assertEqual(found["a kfunc"], (SKIPPED, "with Debian's own kernel as well: exit=1"))

    def test_what_fails_with_ours_alone_is_a_failure(self):
        self.assertEqual(self.judge(self.BAD, self.GOOD)[0]["a kfunc"], (FAILED, "exit=1"))

    def test_a_guest_of_debian_s_that_ended_early_excuses_nothing(self):
        early = self.BAD.replace("1..2\n", "")
        self.assertEqual(self.judge(self.BAD, early)[0]["a kfunc"][0], FAILED)

    def test_an_early_end_goes_by_these_names(self):
        ended = installed.tests.guest_results(
            installed.GUEST, boot.Result(HANG, "", self.home / "log", self.home / "out")
        )
        self.assertEqual((ktap.parse("ok 1 a\n")[-1].name, ended[0].name), installed.WHOLE)

    def test_a_guest_of_ours_that_ended_early_is_a_failure_whatever_theirs_does(self):
        early = self.GOOD.replace("1..2\n", "")
        for theirs in (self.GOOD, early):
            found, _ = self.judge(early, theirs, code=HANG)
            self.assertEqual(found["all tests ran"][0], FAILED)
            self.assertEqual(
                found["the installed Debian: the guest ends by itself"], (FAILED, "a reason")
            )

    def test_a_complaint_on_the_console_is_a_failure_unless_debian_s_kernel_has_it_too(self):
        name = "the installed Debian: the kernel does not complain"
        for theirs, status in (
            (["[  2.0] BUG: it, CPU 1"], SKIPPED),
            ([], FAILED),
            (["[  1.0] BUG: something else"], FAILED),
        ):
            found, booted = self.judge(
                self.GOOD, self.GOOD, badness=(["[  1.0] BUG: it, CPU 0"], theirs)
            )
            self.assertEqual((found[name][0], len(booted)), (status, 2))

    def test_another_failure_than_theirs_stays_one(self):
        theirs = self.BAD.replace("exit=1", "exit=1 [ 1.0] WARNING: CPU: 0")
        self.assertEqual(self.judge(self.BAD, theirs)[0]["a kfunc"][0], FAILED)

    def test_other_last_words_are_another_failure(self):
        ours, theirs = (
            self.BAD.replace("exit=1", f"exit=1: {words}")
            for words in ("0x12 pokes are lost", "no such event")
        )
        self.assertEqual(self.judge(ours, theirs)[0]["a kfunc"][0], FAILED)
        # Of other times and numbers it is the same one.
        theirs = ours.replace("0x12", "0x3")
        self.assertEqual(self.judge(ours, theirs)[0]["a kfunc"][0], SKIPPED)

    def test_what_debian_s_kernel_has_nothing_of_is_never_excused(self):
        for arch, status in ((ARM64, FAILED), (X86, SKIPPED)):
            for name in installed.OURS_ALONE["arm64"]:
                bad = self.BAD.replace("a kfunc", name)
                self.assertEqual(self.judge(bad, bad, arch=arch)[0][name][0], status, name)

    def test_what_is_skipped_without_leave_has_failed(self):
        for name, why in ((installed.SKIPS[0].case, "no time"), ("a kfunc", installed.BTF)):
            text = self.BAD.replace("not ok 2 a kfunc # exit=1", f"ok 2 {name} # SKIP {why}")
            found, booted = self.judge(text, text)
            self.assertEqual((found[name], len(booted)), ((FAILED, f"not tried: {why}"), 2))

    def test_leave_to_skip_is_for_some_architectures_and_packages(self):
        def status(skip, **how):
            why = skip.why.replace(".*", "words")
            text = self.BAD.replace("not ok 2 a kfunc # exit=1", f"ok 2 {skip.case} # SKIP {why}")
            return self.judge(text, text, **how)[0][skip.case][0]

        for skip in installed.SKIPS:
            for arch in (X86, ARM64):
                for debug in (False, True):
                    leave = arch.name in (skip.arches or installed.ARCHES)
                    leave = leave and (skip.debug or not debug)
                    self.assertEqual(
                        status(skip, arch=arch, debug=debug),
                        SKIPPED if leave else FAILED,
                        (skip.case, arch.name, debug),
                    )

    def test_it_is_booted_once_more_with_other_words(self):
        out = self.home / "out"
        out.write_text(self.BAD)
        disk, result = installed.Disk(self.home / "disk", (OURS, THEIRS)), boot.Result(
            OK, "a reason", self.home / "console.log", out, 0, []
        )
        with mock.patch.object(boot, "boot", return_value=result) as boots:
            found = {each.name: each.status for each in installed.with_words(ARM64, disk, False)}
        words = installed.WORDS["arm64"]
        self.assertEqual(found[f"a kfunc, with {words}"], SKIPPED)
        for call in boots.call_args_list:
            self.assertTrue(call.kwargs["append"].endswith(f" {words} {installed.SOME}"))
        self.assertEqual(len(boots.call_args_list), 2)

    def test_nothing_is_written_to_the_disk(self):
        self.judge(self.GOOD)
        self.assertIn("snapshot=on", self.how["qemu_args"])
        self.assertIn(f"file={self.home / 'disk'},", self.how["qemu_args"])
        self.assertIn("root=/dev/vda ", self.how["append"])

    def crash(self, text, arch=X86):
        out = self.home / "out"
        out.write_text(text)
        result = boot.Result(
            PANIC, "the kernel panicked", self.home / "console.log", out, None, ["Kernel panic"]
        )
        disk = installed.Disk(self.home / "disk", (OURS,))
        with mock.patch.object(boot, "boot", return_value=result) as self.boots:
            return [(each.name, each.status) for each in installed.crashed(arch, disk)]

    def test_a_dump_is_what_the_kernel_after_the_panic_says(self):
        line = f"1 {installed.CRASH}\n1..1\n"
        self.assertEqual(self.crash(f"ok {line}")[0], (installed.CRASH, PASSED))
        self.assertIn("crashkernel=", self.boots.call_args.kwargs["append"])
        self.assertEqual(self.crash(f"not ok {line}")[0], (installed.CRASH, FAILED))
        self.assertEqual(self.crash(""), [(installed.CRASH, FAILED)])
        self.assertEqual(self.crash("", arches.get("i386")), [(installed.CRASH, SKIPPED)])
        skipped = f"ok 1 {installed.CRASH} # SKIP {installed.SKIPS[-1].why}\n1..1\n"
        for arch, status in ((arches.get("arm64"), SKIPPED), (X86, FAILED)):
            self.assertEqual(self.crash(skipped, arch)[0], (installed.CRASH, status))

    def test_kexec_is_tried_where_it_works_under_emulation(self):
        self.assertIn("textpoke.kexec", installed.append(X86))
        self.assertNotIn("textpoke.kexec", installed.append(ARM64))


# Programs that a guest has, in the place of which the job's words are looked at.
FAKES = {
    "systemctl": 'case "$*" in *--failed*) ;; *) echo "${STATE_IS:-running}" ;; esac',
    "systemd-analyze": "echo Startup finished in 9s",
    "dmesg": 'cat "$HERE/dmesg" 2>/dev/null; rm -f "$HERE/dmesg"; true',
    "uname": "echo 6.12.117-textpoke-cloud",
    "perf": 'case "$1" in record) shift; while [ "$1" != -- ]; do shift; done; shift; "$@" ;; '
    'script) seq -f "PERF_RECORD_TEXT_POKE %g" ${SHOWN:-5000} ;; report) echo "  LOST events:  '
    '${LOST:-0}" ;; *) echo perf 6 ;; esac',
    "perf_textpoke": 'echo " 9.1: Intel PT across text pokes : ${PT:-Ok}"; '
    'echo " 9.2: CoreSight across text pokes : ${CS:-Ok}"',
    "bpftrace": 'seq "${PROBES:-600}" | sed "s/.*/c0de k vfs_read+0x0 [FTRACE]/" >"$HERE/list"; '
    'echo Attaching 1 probe...; echo; echo "@n: ${COUNTED:-7}"; sleep 0.2',
    "funclatency": 'echo "4 -> 7 : 3 |${LATENCY-**}  |"',
    "opensnoop": 'echo PID COMM FD ERR PATH; echo "12 cat 3 0 ${OPENED-/etc/passwd}"',
    "modprobe": 'echo "$*" >>"$HERE/modprobe"; exit ${LOADS:-0}',
    "stress-ng": 'if [ "$1" = --help ]; then echo "$CLASSES"; exit; fi; '
    'echo "stress-ng: ${STRESS:-info: successful run completed in 1s}"; exit '
    "${STATUS:-0}",
    "sleep": 'if [ -n "$GROWS" ]; then n=$(sed -n "s/^traps //p" "$HERE/stats"); '
    'sed -i "s/^traps .*/traps $((n + GROWS))/" "$HERE/stats"; fi; exec /bin/sleep 0.05',
    "journalctl": 'cat "$HERE/journal"',
    "kexec": 'echo "$*" >>"$HERE/loaded"',
    "makedumpfile": 'cp "$HERE/kmsg" "$3"; cat "$HERE/trigger" >>"$3"',
    "rtcwake": 'echo "$*" >>"$HERE/slept"; [ -n "$AWAKE" ] || '
    'wc -l <"$HERE/slept" >"$HERE/power/suspend_stats/success"',
}


class Job(Case):
    """The guest's script, with programs and files that are not the real ones."""

    def setUp(self):
        super().setUp()
        bins, self.lib = self.home / "bin", self.home / "lib"
        bins.mkdir()
        self.lib.mkdir()
        for name, text in FAKES.items():
            (bins / name).write_text(f"#!/bin/sh\n{text}\n")
            (bins / name).chmod(0o755)
        (self.lib / "listen").write_text('#!/bin/sh\necho "$2" >>"$HERE/heard"\nexec "$@"\n')
        (self.lib / "listen").chmod(0o755)
        tracing = self.home / "tracing"
        for folder in ("state", "tracing/events/sched", "tracing/events/raw_syscalls"):
            (self.home / folder).mkdir(parents=True)
        for name in (
            "current_tracer",
            "tracing_on",
            "events/sched/enable",
            "events/raw_syscalls/enable",
            "enabled_functions",
        ):
            (tracing / name).write_text("0\n")
        (self.home / "stats").write_text("batches 3\npokes 70000\nguarded 2\ntraps 7\n")
        (self.home / "power/suspend_stats").mkdir(parents=True)
        (self.home / "power/suspend_stats/success").write_text("0\n")
        (self.home / "power/mem_sleep").write_text("[s2idle]\n")
        self.job = self.lib / "installed.sh"
        self.copy(
            JOB,
            ("/sys/kernel/debug/text_poke/stats", self.home / "stats"),
            ("/var/lib/textpoke", self.home / "state"),
            ("=/sys/power", f"={self.home / 'power'}"),
            ("/sys/kernel/debug/text_poke/arming_ns", self.home / "arming_ns"),
            ("/proc/sys/kernel/sysrq", self.home / "sysrq"),
            ("/proc/sysrq-trigger", self.home / "trigger"),
            ("/dev/kmsg", self.home / "kmsg"),
            ("TRIES=600", "TRIES=4"),
            ("/sys/kernel/debug/kprobes/list", self.home / "list"),
            ("/sys/kernel/btf/vmlinux", self.home / "btf"),
            ("/proc/cmdline", self.home / "cmdline"),
            ("/proc/cpuinfo", self.home / "cpuinfo"),
            ("/sys/devices/system/cpu/nohz_full", self.home / "nohz_full"),
            ("/sys/kernel/debug/sched/preempt", self.home / "preempt"),
            ("/usr/lib/textpoke", self.lib),
        )
        self.copy(
            initramfs.GUEST / "textpoke.sh",
            ("/sys/kernel/tracing\n", f"{tracing}\n"),
            (
                "/proc/sys/kernel/sched_schedstats /proc/sys/kernel/bpf_stats_enabled",
                "/nonexistent",
            ),
        )
        self.env = {**os.environ, "PATH": f"{bins}:{os.environ['PATH']}", "HERE": str(self.home)}

    def copy(self, script, *places):
        """A script of the guest's, with other places than there; each has to be in it."""
        text = script.read_text()
        for there, here in places:
            self.assertIn(there, text)
            text = text.replace(there, str(here))
        (self.lib / script.name).write_text(text)
        (self.lib / script.name).chmod(0o755)

    def case(self, name, **env):
        """(status, what it said) of one case."""
        done = subprocess.run(
            [self.job, name],
            check=False,
            capture_output=True,
            text=True,
            env=self.env | env,
            timeout=60,
        )
        return done.returncode, done.stdout + done.stderr

    def tried(self, name, **env):
        """The lines of the report for one case."""
        words = (
            f'. {self.lib}/textpoke.sh; set --; eval "$(sed "/^if .* ]; then$/,\\$d" {self.job})"; '
            f"OUT={self.home}/report; number=6; "
            f"try 30 {name} some words"
        )
        subprocess.run(
            ["sh", "-c", words, self.job],
            check=False,
            capture_output=True,
            env=self.env | env,
            timeout=60,
        )
        return (self.home / "report").read_text() if (self.home / "report").exists() else ""

    def test_a_system_that_runs(self):
        self.assertEqual(self.case("system_runs")[0], 0)
        self.assertEqual(self.case("system_runs", STATE_IS="degraded")[0], 1)

    def test_perf_has_to_show_what_was_poked_and_to_lose_nothing(self):
        self.assertEqual(self.case("perf_of_debian")[0], 0)
        self.assertEqual(self.case("perf_of_debian", SHOWN="3")[0], 1)
        self.assertEqual(self.case("perf_of_debian", LOST="2")[0], 1)

    def test_the_package_s_perf_has_to_decode_coresight(self):
        self.assertEqual(self.case("tests_of_perf")[0], 0)
        self.assertEqual(self.case("tests_of_perf", CS="Skip")[0], 1)
        self.assertEqual(self.case("tests_of_perf", PT="FAILED!")[0], 1)

    def test_bpftrace_has_to_count_something(self):
        self.assertEqual(self.case("bpftrace_kprobe")[0], 0)
        self.assertEqual(self.case("bpftrace_kprobe", COUNTED="0")[0], 1)

    def test_probes_are_counted_by_what_is_there(self):
        status, said = self.case("bpftrace_wildcard")
        self.assertEqual(status, 0, said)
        self.assertIn("600 probes, 600 after text has changed", said)
        self.assertEqual(self.case("bpftrace_wildcard", PROBES="499")[0], 1)
        self.assertEqual(self.case("bpftrace_wildcard", COUNTED="0")[0], 1)
        # One for all, which is in no list of probes.
        (self.home / "tracing/enabled_functions").write_text("vfs_read (1) R\n" * 500)
        self.assertEqual(self.case("bpftrace_wildcard", PROBES="1")[0], 0)

    def test_tools_without_headers_have_to_show_something(self):
        self.assertEqual(self.case("libbpf_tools")[0], 4)
        (self.home / "btf").touch()
        self.assertEqual(self.case("libbpf_tools")[0], 0)
        self.assertEqual(self.case("libbpf_tools", LATENCY="")[0], 1)
        self.assertEqual(self.case("libbpf_tools", OPENED="")[0], 1)

    def test_a_module_of_ones_own_has_to_load(self):
        self.assertEqual(self.case("own_module")[0], 0)
        self.assertIn("-r textpoke_module\n", (self.home / "modprobe").read_text())
        self.assertEqual(self.case("own_module", LOADS="1")[0], 1)

    def test_stress_with_modules_where_there_is_such_a_class(self):
        self.assertEqual(self.case("stress_modules")[0], 4)
        self.assertEqual(self.case("stress_modules", CLASSES="      --module N  start")[0], 0)

    def test_text_that_cannot_be_changed_meanwhile_is_a_failure(self):
        path = self.home / "tracing/current_tracer"
        path.unlink()
        path.mkdir()
        self.assertNotEqual(self.case("bpftrace_kprobe")[0], 0)

    def test_stress_that_had_nothing_to_do_is_told_from_stress_that_failed(self):
        self.assertEqual(self.case("stress_perf")[0], 0)
        self.assertEqual(
            self.case("stress_perf", STRESS="unsuccessful run completed", STATUS="2")[0], 1
        )
        self.assertEqual(self.case("stress_perf", STRESS="fail: it broke", STATUS="0")[0], 1)
        # Ended by a signal of the kernel's, say.
        self.assertEqual(self.case("stress_perf", STATUS="139")[0], 1)
        # A part of a class had nothing to do, or all of it.
        self.assertEqual(self.case("stress_perf", STATUS="4")[0], 0)
        self.assertEqual(
            self.case("stress_perf", STRESS="info: perf: not implemented", STATUS="4")[0], 4
        )

    def test_a_machine_that_has_not_slept_is_a_failure(self):
        self.assertEqual(self.case("suspend")[0], 0)
        self.assertEqual((self.home / "slept").read_text(), "-m freeze -s 60\n" * 2)
        self.assertEqual(self.case("suspend", AWAKE="1")[0], 1)
        (self.home / "slept").unlink()
        (self.home / "power/suspend_stats/success").write_text("0\n")
        (self.home / "power/mem_sleep").write_text("s2idle [deep]\n")
        self.assertEqual(self.case("suspend")[0], 0)
        self.assertEqual((self.home / "slept").read_text(), "-m mem -s 60\n" * 2)

    def test_text_changes_while_an_event_listens_too(self):
        self.assertEqual(self.case("bpftrace_kprobe")[0], 0)
        self.assertIn("change_text\n", (self.home / "heard").read_text())
        (self.lib / "listen").write_text("#!/bin/sh\nexit 1\n")
        self.assertEqual(self.case("bpftrace_kprobe")[0], 1)

    def test_it_panics_while_sites_trap_and_not_before(self):
        status, said = self.case("crash")
        self.assertEqual(status, 1)
        self.assertIn("the kernel has not panicked: 7 traps", said)
        self.assertFalse((self.home / "trigger").exists())
        self.assertFalse((self.home / "state/flip").exists())
        self.case("crash", GROWS="101")
        self.assertEqual((self.home / "trigger").read_text(), "c\n")
        self.assertEqual((self.home / "arming_ns").read_text(), "1000000000\n")
        self.assertIn("change_text\n", (self.home / "heard").read_text())

    def test_the_dump_tells_of_traps_and_of_the_end(self):
        for kmsg, trigger, status in (
            ("[ 9.0] textpoke: sites trap\n", "[ 9.1] sysrq: Trigger a crash\n", 0),
            ("[ 9.0] textpoke: sites trap\n", "", 1),
            ("", "[ 9.1] sysrq: Trigger a crash\n", 1),
        ):
            (self.home / "kmsg").write_text(kmsg)
            (self.home / "trigger").write_text(trigger)
            self.assertEqual(self.case("dumped")[0], status)

    def test_no_dump_is_a_failure_unless_the_program_does_not_know_the_machine(self):
        for said, status in (("VA Bits 52 not supported", 4), ("no room", 1)):
            (self.home / "bin/makedumpfile").write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
            self.assertEqual(self.case("dumped")[0], status)

    def test_it_is_the_core_that_has_to_have_done_it(self):
        self.assertEqual(self.case("core_was_used")[0], 0)
        for stats in ("pokes 12\nguarded 2\n", "pokes 70000\nguarded 0\n"):
            (self.home / "stats").write_text(stats)
            self.assertEqual(self.case("core_was_used")[0], 1)
        (self.home / "stats").unlink()
        self.assertEqual(self.case("core_was_used")[0], 4)

    def test_what_is_reported(self):
        self.assertEqual(self.tried("core_was_used"), "ok 7 some words\n")

    def test_words_have_to_come_about(self):
        words = " ".join(["root=/dev/vda rw", *installed.WORDS.values(), installed.SOME])
        names = {"cmdline": words, "cpuinfo": "flags: fpu pti\n", "nohz_full": "1\n"}
        names |= {"preempt": "none voluntary (full) lazy\n"}
        names |= {"journal": "CPU features: detected: Kernel page table isolation (KPTI)\n"}
        for name, text in names.items():
            (self.home / name).write_text(text)
        self.assertEqual(self.case("words_hold"), (0, ""))
        for name, word in (
            ("cpuinfo", "pti=on"),
            ("nohz_full", "nohz_full=1"),
            ("preempt", "preempt=full"),
            ("journal", "kpti=on"),
        ):
            (self.home / name).write_text("(none)\n")
            self.assertEqual(self.case("words_hold"), (1, f"{word} has no effect\n"))
            (self.home / name).write_text(names[name])

    def test_what_has_nothing_to_try_says_why(self):
        (self.home / "stats").unlink()
        self.assertEqual(
            self.tried("core_was_used"), "ok 7 some words # SKIP this kernel has no core\n"
        )

    def test_a_failure_says_what_was_said(self):
        (self.home / "stats").write_text("guarded 2\npokes 12\n")
        # The report holds the last line, as a file; a port has all of them.
        self.assertEqual(self.tried("core_was_used"), "not ok 7 some words # exit=1: pokes 12\n")

    def test_a_complaint_of_the_kernel_s_is_a_failure_of_what_was_tried(self):
        (self.home / "dmesg").write_text("[ 1.0] all is well\n[ 1.0] WARNING: CPU: 0\n")
        self.assertEqual(
            self.tried("core_was_used"),
            "not ok 7 some words # exit=1 [ 1.0] WARNING: CPU: 0: traps 7\n",
        )

    def test_every_case_that_is_tried_is_there(self):
        text = JOB.read_text().replace("\\\n\t\t", "")
        tried = re.findall(r"^\ttry \d+ (\w+) (.+)$", text, re.M)
        self.assertGreater(len(tried), 15)
        for name, words in tried:
            self.assertRegex(text, rf"(?m)^{name}\(\)$")
            self.assertNotIn("#", " ".join(shlex.split(words)))
        self.assertEqual(len({words for _, words in tried}), len(set(tried)))
        known = {" ".join(shlex.split(words)) for _, words in tried} | set(
            re.findall(r'^\t(?:set --|result_line) "(.+)"$', text, re.M)
        )
        named = {name for names in installed.OURS_ALONE.values() for name in names}
        self.assertLessEqual(named | {skip.case for skip in installed.SKIPS}, known)
        for skip in installed.SKIPS:
            self.assertIn(skip.why.removesuffix(".*"), text)


class Steps(unittest.TestCase):
    """Which steps check-full has."""

    def steps(self, *names):
        report = mock.Mock(spec=kept.Store)
        done = []
        report.keep = lambda title, function, parts: done.append(title) or True
        full._packages(report, names)
        return done

    def test_installed_where_there_is_a_debian_and_built_everywhere(self):
        self.assertEqual(
            self.steps("riscv", "powerpc"),
            ["riscv: package cloud: built", "powerpc: package cloud: built"],
        )
        own = self.steps("x86")
        self.assertEqual(own[:2], ["x86: package cloud: built", "x86: package cloud: installed"])
        self.assertEqual(len(own), 6)
        self.assertEqual(own[-1], "x86: package generic: installed")

    def test_a_step_does_what_its_name_says(self):
        report, how = mock.Mock(), []
        report.keep = lambda title, function, parts: how.append((title, list(function()))) or True
        with mock.patch.object(installed, "packages", lambda *what: [what]), mock.patch.object(
            installed, "installed", lambda *what: [what]
        ):
            full._packages(report, ["arm64"])
        self.assertEqual(
            [what for _, what in how],
            [
                [("arm64", flavour, debug)]
                for flavour, debug in (("cloud", False), ("cloud", True), ("generic", False))
                for _ in range(2)
            ],
        )

    def test_symbols_are_not_installed(self):
        debs = [Path("linux-image-x_1_amd64.deb"), Path("linux-image-x-dbg_1_amd64.deb")]
        with mock.patch.object(deb, "build", return_value=(None, debs)), mock.patch.object(
            installed, "make_root"
        ), mock.patch.object(installed, "make_disk") as disk, mock.patch.object(
            installed, "judged", return_value=[]
        ), mock.patch.object(
            installed, "crashed", return_value=[]
        ), mock.patch.object(
            os, "geteuid", return_value=0
        ):
            list(installed.installed("x86", "cloud", True))
        self.assertEqual(disk.call_args.args[3], debs[:1])


if __name__ == "__main__":
    unittest.main()
