# SPDX-License-Identifier: GPL-2.0
"""Boot a kernel with an initramfs under QEMU and find out how it went.

The verdict comes through a virtio port of its own, panics and resets through QEMU's
machine protocol; the console is for people. A guest that says nothing at all ends in
HANG after its timeout, never in silence.
"""

import contextlib
import fcntl
import functools
import os
import re
import select
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path

from .. import arch as arches
from .. import host, paths
from ..errors import HANG, INFRA, MISSING, OK, PANIC, TEST_FAILED, USAGE, Fail
from ..results import made
from ..say import die_with_us, output, say
from . import initramfs, kernel, reproduce
from .console import Console
from .qmp import SOCKET, Qmp

TIMEOUT = 300  # seconds, for as many CPUs as the host has
MEMORY = "1G"
OLDEST_QEMU = (10, 0)
PATIENCE = 15  # seconds for the host to become idle
PANIC_GRACE = 10  # seconds for the rest of a panic's report
VERDICT_GRACE = 60  # seconds from the verdict to the end of QEMU
TASKS_GRACE = 5  # seconds between two words of a guest that says what its tasks do ...
TASKS_LIMIT = 60  # ... and for all of them
KEEP = 20  # boots whose console and files are kept
YOUNG = 3600  # seconds for which they are kept in any case
HELLO = initramfs.GUEST / "hello.sh"

BATCH, TERMINAL, PIPE = "batch", "terminal", "pipe"
# Where the console goes. In a pipe's case stdin is a port's, without echo and loss.
CONSOLE = {
    BATCH: ("-chardev", "stdio,id=console"),
    TERMINAL: ("-chardev", "stdio,id=console,mux=on,signal=off,logfile=console.log"),
    PIPE: ("-chardev", "file,id=console,path=/dev/stdout"),
}
INPUT = {
    PIPE: (
        "-chardev",
        "stdio,id=input",
        "-device",
        "virtserialport,chardev=input,name=org.textpoke.in",
    )
}


@dataclass
class Result:
    """How a boot went. code is the exit code, verdict the guest's own status,
    None if it gave none.
    """

    code: int
    reason: str
    log: Path
    out_tar: Path
    verdict: int | None = None
    badness: list = field(default_factory=list)
    tail: list = field(default_factory=list)
    seconds: float = 0.0
    qemu: str = ""
    command: str = ""

    @property
    def folder(self):
        return self.log.parent

    @property
    def console(self):
        """All that the guest has printed; '' if it got to print nothing."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""


# The command


def cores():
    """The CPUs that we may use."""
    return len(os.sched_getaffinity(0))


def split_append(append):
    """The kernel's parameters, and what is for /init: `--` and all after it."""
    for word in re.finditer(r'(?:"[^"]*"?|[^\s"])+', append):
        if word[0] == "--":
            return append[: word.start()].strip(), append[word.start() :].strip()
    return append.strip(), ""


def command_line(arch, append):
    """The kernel's command line: ours first, so that the user's wins, and all of it before a `--`.

    panic=-1 makes a panic a reset, which QEMU reports, instead of a busy loop.
    """
    own, after = split_append(append)
    return " ".join(filter(None, (arch.console, "panic=-1", own, after)))


def _idle():
    """The idle time of all CPUs and the time of all, in ticks."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return ticks[3] + ticks[4], sum(ticks[:8])


def free_cores(seconds=0.5):
    """The CPUs that nothing else uses just now, rounded."""
    idle, whole = _idle()
    time.sleep(seconds)
    idle_now, whole_now = _idle()
    share = (idle_now - idle) / max(1, whole_now - whole)
    return min(cores(), round(share * os.cpu_count()))


def wait_for_cores(count, patience, pause=0, words=""):
    """The free CPUs, after a wait of at most patience seconds for so many; the words are said
    each time that one begins.
    """
    until = time.monotonic() + patience
    while (free := free_cores()) < count and time.monotonic() < until:
        if words:
            say(words)
        time.sleep(pause)
    return free


def enough_cores(smp):
    """The free CPUs, after a short wait for smp of them: the build before may still be writing."""
    return wait_for_cores(smp if smp <= cores() else 0, PATIENCE)


# Every instruction takes a ns of the guest's time, which passes at no other pace. It can be counted
# then.
COUNTED = "-icount shift=0,sleep=off"


def accelerator(smp, free):
    """CPUs for which the host has none free must take turns.

    Else one of them can go on with code that another has already changed, which looks
    like a bug of ours: a translation is made while its page is written. A single one needs
    no threads, and QEMU refuses them with -icount.
    """
    return f"tcg,thread={'multi' if 1 < smp <= free else 'single'}"


def default_timeout(smp, free):
    """CPUs that take turns take their time."""
    return TIMEOUT * max(1, -(-smp // max(1, free)))


def _port(name):
    """A virtio port whose bytes end up in a file of the folder that QEMU runs in."""
    return (
        "-chardev",
        f"file,id={name},path={name}",
        "-device",
        f"virtserialport,chardev={name},name=org.textpoke.{name}",
    )


def words(qemu_args):
    """The words of QEMU_ARGS."""
    try:
        return shlex.split(qemu_args)
    except ValueError as error:
        raise Fail(
            USAGE, f"QEMU_ARGS cannot be split into words ({error}): check its quotes"
        ) from None


def compose(arch, image, initrd, smp=2, append="", qemu_args="", mem=MEMORY, mode=BATCH, free=1):
    """QEMU's command, to be run in a folder of its own. pvpanic does not stop the guest:
    its report comes first.
    """
    return [
        arch.qemu,
        "-M",
        arch.machine,
        "-cpu",
        arch.cpu,
        "-accel",
        accelerator(smp, free),
        "-smp",
        str(smp),
        "-m",
        mem,
        "-nodefaults",
        "-no-user-config",
        "-display",
        "none",
        "-no-reboot",
        "-action",
        "panic=none",
        *arch.devices,
        "-kernel",
        str(image),
        *(("-initrd", str(initrd)) if initrd else ()),
        "-append",
        command_line(arch, append),
        *CONSOLE[mode],
        "-serial",
        "chardev:console",
        "-device",
        "virtio-serial-pci",
        *_port("verdict"),
        *_port("out"),
        *INPUT.get(mode, ()),
        "-device",
        "pvpanic-pci",
        "-qmp",
        f"unix:{SOCKET},server=on,wait=off",
        *words(qemu_args),
    ]


# QEMU's version


def parse_version(text):
    """(major, minor) in what `qemu --version` prints."""
    found = re.search(r"version (\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def qemu_version(program):
    """The version line of a QEMU that is good enough; another is refused."""
    if not shutil.which(program):
        raise Fail(MISSING, f"{program} is missing: run `make setup` as root")
    line = output([program, "--version"], what=f"asking {program} for its version").splitlines()[0]
    if parse_version(line) < OLDEST_QEMU:
        wanted = ".".join(map(str, OLDEST_QEMU))
        raise Fail(
            MISSING,
            f"{program} is too old ({line}): it loses changes to code that another CPU is "
            "translating; "
            f"install QEMU {wanted} or newer, as `make setup` does",
        )
    return line


def _good_qemu(arch):
    """The version of a QEMU that will do: one that is there, or Debian's."""
    try:
        return qemu_version(arch.qemu)
    except Fail:
        host.need_qemu(arch.name)
        return qemu_version(arch.qemu)


# A boot's folder


def _changed(path):
    """When; now, if another boot has just removed it."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()


_held = []  # files that lock the folders of this process' boots until it ends


def _lock(path):
    """Lock a boot's folder: a file to be kept open, or None if another command has locked it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def _prune(home):
    """Remove the oldest boots beyond KEEP, but for those in use: torture may go on for hours."""
    folders = sorted((path for path in home.iterdir() if path.is_dir()), key=_changed)
    for path in folders[:-KEEP]:
        if time.time() - _changed(path) <= YOUNG:
            continue
        lock = _lock(path)
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def _folder(arch):
    """A folder for a boot's console, verdict and files, and QEMU's socket."""
    home = paths.BUILD / "boot"
    home.mkdir(parents=True, exist_ok=True)
    _prune(home)
    folder = Path(tempfile.mkdtemp(prefix=f"{arch.name}-{time.strftime('%H%M%S')}-", dir=home))
    _held.append(_lock(folder))
    for name in ("console.log", "verdict", "out"):
        (folder / name).touch()
    return folder


# The run


@contextlib.contextmanager
def _terminal_kept(mode):
    """QEMU changes the terminal's settings; they are put back even when it is killed."""
    kept = termios.tcgetattr(sys.stdin) if mode == TERMINAL else None
    try:
        yield
    finally:
        if kept:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, kept)


class Run:
    """One running QEMU and all that is known of its guest."""

    def __init__(self, command, folder, mode, console, timeout, grace=PANIC_GRACE, sysrq=""):
        self.folder, self.mode, self.console, self.grace, self.sysrq = (
            folder,
            mode,
            console,
            grace,
            sysrq,
        )
        self.qmp, self.picker = Qmp(), selectors.DefaultSelector()
        self.began = time.monotonic()
        self.limit = self.began + timeout if timeout else float("inf")
        self.timed_out = self.verdict_seen = self.panicked = False
        self.errors = open(folder / "qemu.log", "wb")
        # QEMU must not outlive these tools, however they end.
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            preexec_fn=functools.partial(die_with_us, signal.SIGKILL),
            stderr=self.errors,
            stdin=subprocess.PIPE if mode == BATCH else None,
            stdout=None if mode == TERMINAL else subprocess.PIPE,
        )
        if self.process.stdout:
            self.picker.register(self.process.stdout, selectors.EVENT_READ)

    def _take_output(self):
        assert self.process.stdout
        data = os.read(self.process.stdout.fileno(), 65536)
        if data:
            self.console.feed(data)
        else:
            self.picker.unregister(self.process.stdout)

    def _take_events(self):
        """A panic gives the guest a little more time for its report, no more."""
        self.qmp.read()
        if self.qmp.closed:
            self.picker.unregister(self.qmp)
        self.panicked = self.panicked or any(
            event["event"] == "GUEST_PANICKED" for event in self.qmp.events
        )

    def _shorten(self, grace):
        self.limit = min(self.limit, time.monotonic() + grace)

    def _look(self):
        """What has become known shortens the time that is left."""
        if not self.verdict_seen and self.verdict_text():
            self.verdict_seen = True
            self._shorten(VERDICT_GRACE)
        if self.panicked or self.console.panicked:
            self._shorten(self.grace)

    def _turn(self):
        """Handle what arrives within a moment."""
        if not self.qmp.socket and self.qmp.connect(self.folder):
            self.picker.register(self.qmp, selectors.EVENT_READ)
        if not self.picker.get_map():
            time.sleep(0.1)
        for key, _ in self.picker.select(0.2):
            self._take_events() if key.fileobj is self.qmp else self._take_output()
        self._look()

    def watch(self):
        """Until QEMU ends or the time is up."""
        while self.process.poll() is None:
            self._turn()
            if time.monotonic() > self.limit:
                self.timed_out = True
                self._save_registers()
                if self.mode == BATCH:
                    self._save_tasks()
                return
        while self.picker.get_map():
            self._turn()

    def _save_registers(self):
        """Where every CPU was, from which the reader can find out why it hung."""
        said = self.qmp.ask("human-monitor-command", **{"command-line": "info registers -a"})
        (self.folder / "registers.txt").write_text(said or "QEMU did not answer\n")

    def _save_tasks(self):
        """What every task waits for, if the guest's kernel still listens to its console:
        SysRq-t.
        """
        if not self.sysrq:
            self.qmp.ask("chardev-send-break", id="console")
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin and stdout, "in batches they are pipes"
        stdin.write(f"{self.sysrq}t".encode())
        stdin.flush()
        end, more = time.monotonic() + TASKS_LIMIT, True
        with open(self.folder / "tasks.txt", "wb") as tasks:
            while more and time.monotonic() < end:
                ready = select.select([stdout], [], [], TASKS_GRACE)[0]
                more = bool(ready and tasks.write(os.read(stdout.fileno(), 65536)))

    def close(self):
        """End QEMU, whatever it is doing, and what is left of the watch."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.qmp.close()
        self.picker.close()
        self.errors.close()
        for pipe in filter(None, (self.process.stdin, self.process.stdout)):
            pipe.close()
        self.console.end()

    def verdict_text(self):
        return (self.folder / "verdict").read_text(errors="replace").strip()

    def shutdown(self):
        """QEMU's reason for its end; '' if it gave none."""
        reasons = [
            event["data"]["reason"] for event in self.qmp.events if event["event"] == "SHUTDOWN"
        ]
        return reasons[-1] if reasons else ""

    def said(self):
        """QEMU's own words."""
        return (self.folder / "qemu.log").read_text(errors="replace").strip()


# What it means


def _went_wrong(panicked, restarted, timed_out, verdict, shutdown, status):
    """(code, reason) of a guest that did not end by itself in good order, or None.

    A reset that the kernel did not announce is a panic of a kernel without a panic device.
    """
    if panicked or shutdown == "guest-panic":
        return PANIC, "the kernel panicked"
    if shutdown == "guest-reset" and not restarted:
        return PANIC, "the guest was reset without a word (a panic, or a triple fault)"
    if timed_out:
        gave = (
            f"it gave the verdict {verdict} but did not power off"
            if verdict
            else "no verdict in time"
        )
        return HANG, f"the guest hung: {gave}"
    if status:
        return INFRA, f"QEMU ended by itself (status {status})"
    return None


def judge(panicked, restarted, timed_out, verdict, shutdown, status=0):
    """(code, reason, verdict) from what is known.

    The worst wins: a panic after a good verdict is a panic.
    """
    number = int(verdict) if re.fullmatch(r"\d{1,3}", verdict) else None
    if wrong := _went_wrong(panicked, restarted, timed_out, verdict, shutdown, status):
        return *wrong, number
    if verdict and number is None:
        return TEST_FAILED, f"the guest's verdict is no number: {verdict[:40]!r}", None
    if number is not None:
        return (TEST_FAILED if number else OK), f"the guest's verdict is {number}", number
    if shutdown in ("guest-shutdown", "guest-reset"):
        done = "powered off" if shutdown == "guest-shutdown" else "restarted"
        return OK, f"the guest {done} without giving a verdict", None
    return INFRA, f"QEMU was ended from outside ({shutdown or 'it gave no reason'})", None


def _result(run, command, version, out):
    """All that is known, once QEMU is gone."""
    if run.mode == TERMINAL:
        console = Console(echo=False)
        console.feed((run.folder / "console.log").read_bytes())
        run.console = console
    panicked = run.panicked or (run.timed_out and run.console.panicked)
    code, reason, verdict = judge(
        panicked,
        run.console.restarted,
        run.timed_out,
        run.verdict_text(),
        run.shutdown(),
        run.process.returncode,
    )
    if code == INFRA and run.said():
        reason = f"{reason}: {run.said().splitlines()[-1]}"
    tar = run.folder / "out"
    if out:
        tar = Path(shutil.move(tar, out))
    return Result(
        code,
        reason,
        run.folder / "console.log",
        tar,
        verdict,
        run.console.badness,
        run.console.tail(),
        time.monotonic() - run.began,
        version,
        shlex.join(command),
    )


def _run(command, folder, mode, echo, timeout, grace=PANIC_GRACE, sysrq=""):
    """Run QEMU to its end; the Run with all that was seen."""
    with open(folder / "console.log", "wb") as log, _terminal_kept(mode):
        run = Run(
            command,
            folder,
            mode,
            Console(None if mode == TERMINAL else log, echo),
            timeout,
            grace,
            sysrq,
        )
        try:
            run.watch()
        finally:
            run.close()
    return run


def _mode(interactive):
    if not interactive:
        return BATCH
    return TERMINAL if sys.stdin.isatty() and sys.stdout.isatty() else PIPE


_least = 0  # seconds that every guest has, as the user wants it


def be_patient(seconds):
    """Give every guest of this command that many seconds, or more if it has more."""
    global _least  # pylint: disable=global-statement
    _least = seconds or 0


def patience():
    """How many seconds the user wants every guest to have; 0: as many as it has."""
    return _least


def _announce(command, folder):
    """The log's path first, so that it is known whatever happens; then what is run."""
    say(f"console log: {folder / 'console.log'}")
    say(f"QEMU: cd {shlex.quote(str(folder))} && {shlex.join(command)}")


def boot(
    arch,
    kernel_path,
    initrd,
    smp=2,
    append="",
    qemu_args="",
    timeout=None,
    out=None,
    interactive=False,
    mem=MEMORY,
    echo=True,
    turns=False,
    grace=PANIC_GRACE,
):
    """Boot a build folder or an image with an initramfs; returns the Result.

    out   where the tar stream of the guest's files goes (default: beside the log)
    echo  whether the console is shown on stdout
    turns the guest's CPUs take turns, however many are free here
    grace seconds from a panic to the end: there may be a kernel that goes on
    """
    arch = arches.get(arch)
    image = kernel.image_of(arch, kernel_path).absolute()
    version, mode, folder = _good_qemu(arch), _mode(interactive), _folder(arch)
    free = 1 if turns else enough_cores(smp)
    command = compose(
        arch, image, initrd and Path(initrd).absolute(), smp, append, qemu_args, mem, mode, free
    )
    _announce(command, folder)
    reproduce.write(folder, command, version, kernel_path)
    if smp > free and not turns:
        say(
            f"{free} of {cores()} CPUs are free here: the guest's {smp} take turns, which is slower"
        )
    if timeout is None and not interactive:
        timeout = default_timeout(smp, free)
    timeout = timeout and max(timeout, _least)
    return _result(
        _run(command, folder, mode, echo, timeout, grace, arch.sysrq), command, version, out
    )


def identity(arch, kernel_path, initrd, append="", smp=2, qemu_args="", mem=MEMORY, **how):
    """All that goes into a boot, as parts to be hashed:
    not where it lies, nor how busy this machine is.
    """
    arch = arches.get(arch)
    command = compose(arch, "kernel", initrd and "initrd", smp, append, qemu_args, mem)
    _good_qemu(arch)
    files = [kernel.image_of(arch, kernel_path), *[Path(initrd)] * bool(initrd)]
    return [
        command,
        sorted(f"{name}={value}" for name, value in how.items()),
        files,
        made.packages(*host.QEMU[arch.name]),
        list(made.programs(arch.qemu)),
    ]


def report(result):
    """How it went, in a line; what came last on the console when it went wrong."""
    if result.code in (PANIC, HANG, INFRA):
        print(
            "\n".join(["--- the console's last lines", *result.tail, "---"]),
            file=sys.stderr,
            flush=True,
        )
    where = f"; registers.txt and tasks.txt in {result.folder}" if result.code == HANG else ""
    complaints = (
        f"; the kernel complained {len(result.badness)} times, first: {result.badness[0].strip()}"
        if result.badness
        else ""
    )
    say(
        f"{result.reason} ({result.seconds:.0f} s, {result.qemu}){complaints}{where}; console log: "
        f"{result.log}"
    )
    if result.code != OK:
        say(f"once more: {result.folder / reproduce.NAME}")


# The commands


def _kernel(options):
    """KDIR, or the default kernel, built if need be."""
    if given := options.get("KDIR"):
        return Path(given).absolute()
    return kernel.build_kernel(options.arch, base=options.flag("BASE"), llvm=options.flag("LLVM"))


def _boot(options, job, interactive):
    smp, timeout = options.number("SMP", 2), options.number("TIMEOUT")
    initrd, qemu_args = options.get("INITRD"), options.get("QEMU_ARGS", "")
    kernel_path = _kernel(options)
    if not initrd:
        initrd = initramfs.build_initramfs(
            options.arch, job=job, args=[str(smp)] if job else (), kdir=kernel_path
        )
    result = boot(
        options.arch,
        kernel_path,
        initrd,
        smp,
        options.get("APPEND", ""),
        qemu_args,
        timeout,
        interactive=interactive,
    )
    report(result)
    return result.code


def main(options):
    """`boot`: any kernel, any initramfs; its exit status is the guest's."""
    return _boot(options, HELLO, False)


def shell(options):
    """`shell`: the console is this terminal, or takes what is piped in."""
    return _boot(options, None, True)
