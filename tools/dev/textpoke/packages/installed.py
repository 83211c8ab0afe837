# SPDX-License-Identifier: GPL-2.0
"""A Debian that a package of the kernel was installed into, booted from its disk,
with the tools that Debian has.

The root comes from mmdebstrap, once; the packages are installed into a copy of it by apt, as a user
does it, so that Debian's own scripts make the initrd. mke2fs makes a disk of that, which QEMU does
not change. What fails is tried once more with Debian's own kernel, which is in there as well: what
that cannot do either is left out, with this as the reason.
"""

import os
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from .. import arch as arches
from .. import host, paths
from ..errors import HANG, INFRA, MISSING, PANIC, Fail
from ..guests import boot, initramfs, tests
from ..results import ktap
from ..results.ktap import FAILED, PASSED, SKIPPED, Result
from ..say import output, run, say
from . import deb

RELEASE = "bookworm"
BACKPORTS = f"{RELEASE}-backports"
SUITES = (RELEASE, f"{RELEASE}{host.SECURITY}", BACKPORTS)
# What boots, what a user traces and builds modules with, and libraries of the backports' perf.
PACKAGES = (
    "systemd-sysv",
    "udev",
    "dbus",
    "kmod",
    "initramfs-tools",
    "linux-base",
    "procps",
    "util-linux",
    "zstd",
    "ca-certificates",
    "linux-perf",
    "bpftrace",
    "bpfcc-tools",
    "libbpf-tools",
    "trace-cmd",
    "stress-ng",
    "kexec-tools",
    "makedumpfile",
    "gcc",
    "make",
    "libcapstone4",
    "libdebuginfod1",
    "libpfm4",
    "libtraceevent1",
)
# Where these have a package, beside the flavour's own: what is compared with.
ARCHES = ("x86", "arm64")
OWN_KERNEL = "linux-image-{flavour} linux-headers-{flavour}"
OURS = "usr/lib/textpoke"
SERVICE = f"""[Unit]
Description=What the host wants to know

[Service]
ExecStart=/{OURS}/installed.sh
StandardOutput=journal+console
"""
FSTAB = "/dev/vda / ext4 defaults 0 1\n"
# A machine without one asks on the console at its first start.
MACHINE = "74657874706f6b650000000000000001\n"
GUEST = "the installed Debian"
# What is a failure where a guest ends before its time: what it has said until then excuses nothing.
WHOLE = ("all tests ran", f"{GUEST}: the guest ends by itself")
# What Debian's own kernel does nothing of, architecture -> cases: that it fails these as well
# excuses nothing. Base kernels for arm64 have no text-poke records.
OURS_ALONE = {
    "arm64": ("perf of the package records text pokes and shows them",),
}


@dataclass(frozen=True)
class Skip:
    """A case that may have nothing to try, and where."""

    case: str
    why: str  # what the guest says then, as a pattern
    arches: tuple = ()  # empty: all
    debug: bool = False  # whether also with debug information


CRASH = "a kernel that panics while sites trap leaves a dump"
BTF = "this kernel has no BTF: it was built without DEBUG=1"
# All else that is skipped has failed, for nothing else would tell that it is never tried.
SKIPS = (
    Skip("bpftrace has a kfunc while the tracer and keys are switched", BTF),
    Skip(
        "funccount of bcc counts while the tracer and keys are switched",
        "bcc of this Debian cannot compile against these headers: .*",
        debug=True,
    ),
    Skip("tools of libbpf-tools trace while the tracer and keys are switched", BTF),
    *(
        Skip(
            f"perf of {origin} records text pokes and shows them",
            "this perf copies all that lies between modules and programs of BPF",
            ("arm64",),
            debug=True,
        )
        for origin in (RELEASE, "the backports")
    ),
    Skip(
        "stress-ng loads modules while text changes",
        "stress-ng of this Debian has nothing for modules",  # from 0.16 on
        debug=True,
    ),
    Skip(
        "a function is replaced and put back three times while it is called and text changes",
        "this kernel has no live patching, or the module was not built for it",
        ("arm64",),  # of which Linux 6.12 has none there
        debug=True,
    ),
    Skip(
        "kexec into the same kernel with the tracer on",
        "under this emulation the next kernel dies, tracer or no tracer",
        ("arm64",),
        debug=True,
    ),
    # 1.7.2 does not, of pages of 4 KiB: so are Debian's own kernels from 6.9 on.
    Skip(
        CRASH,
        "makedumpfile of this Debian does not know arm64's 52 bits of address",
        ("arm64",),
        debug=True,
    ),
)
# What a distribution's kernel has at hand, and does not do by itself; some of the first boot's
# cases are tried with it. Not lockdown: the packages' modules are not signed, and the disk's driver
# is one.
WORDS = {"x86": "pti=on nohz_full=1 preempt=full", "arm64": "kpti=on nohz_full=1"}
SOME = "textpoke.some"
MEMORY, TIMEOUT = "2G", 4 * 3600
# What takes over where the kernel panics starts systemd as well.
CRASH_KERNEL, CRASH_TIMEOUT = "crashkernel=512M textpoke.crash", 1800
# Runs a command while an event listens, for the selftests and here.
LISTEN = paths.ROOT / "tools/testing/selftests/text_poke"
LISTENS = ("listen.c", "events.c", "notes.c")
SPARE = 2 << 30  # bytes that the guest can write
DISK = (
    "-drive file={disk},if=none,id=disk,format=raw,snapshot=on "
    "-device virtio-blk-pci,drive=disk -device virtio-rng-pci"
)
# A program for arm64 is executed here by QEMU's user emulation, as long as a root is made. The flag
# F: it is opened now, and need not be in the root.
EMULATED = {
    "arm64": (
        "aarch64",
        r":qemu-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:"
        r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:"
        r"/usr/bin/qemu-aarch64-static:F",
    )
}
# $1: what is registered, or nothing; then the command. It is gone afterwards, unless it was there
# before.
ENTER = r"""set -e
mount --make-rprivate /
misc=/proc/sys/fs/binfmt_misc rule=$1
shift
if [ -n "$rule" ]; then
	[ -e $misc/register ] || mount -t binfmt_misc binfmt_misc $misc
	name=${rule#:} name=${name%%:*}
	if [ ! -e "$misc/$name" ]; then
		trap 'echo -1 >"$misc/$name"' EXIT
		trap 'exit 1' INT TERM HUP
		printf %s "$rule" >$misc/register
	fi
fi
"$@"
"""
# $0: the root, $1: a shell command there.
CHROOT = """set -e
mount --rbind /dev "$0/dev"
mount -t proc proc "$0/proc"
mount -t sysfs sysfs "$0/sys"
chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
TERM=dumb LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -c "$1"
"""
# In the root: the backports' perf, beside bookworm's, and Debian's own kernel.
PREPARE = f"""set -e
apt-get -q update
cd /tmp && apt-get -q download linux-perf/{BACKPORTS}
dpkg-deb --extract linux-perf_*.deb /opt/backports && rm linux-perf_*.deb
/opt/backports/usr/bin/perf --version
apt-get -q install -y --no-install-recommends -t {BACKPORTS} {{kernel}}
apt-get clean
"""
# Modules that a user builds, with the headers of the package.
MODULES = ("module", "livepatch")
INSTALL = """set -e
apt-get -q update
apt-get -q install -y --no-install-recommends /srv/packages/*.deb
for modules in /lib/modules/*textpoke*; do
	for folder in /srv/modules/*; do
		[ "${folder##*/}" != livepatch ] ||
			grep -q CONFIG_LIVEPATCH=y "$modules/build/include/config/auto.conf" || continue
		make -C "$modules/build" M="$folder" modules
		install -D -t "$modules/updates" "$folder"/*.ko
	done
	depmod "${modules##*/}"
done
apt-get clean
rm -rf /srv/packages /srv/modules /var/lib/apt/lists
"""


@dataclass(frozen=True)
class Disk:
    """A disk to boot from, and its kernels beside it."""

    path: Path
    releases: tuple  # ours first, then Debian's own if there is one

    def kernel(self, release):
        return self.path.parent / f"vmlinuz-{release}"

    def initrd(self, release):
        return self.path.parent / f"initrd.img-{release}"


# The root


def home(arch, flavour):
    return paths.BUILD / "installed" / f"{arch.debarch}-{flavour}"


def _rule(arch):
    """What has to be registered with the kernel so that the architecture's programs
    are executed here.
    """
    native = output(
        ["dpkg", "--print-architecture"], what="asking this machine's architecture"
    ).strip()
    if arch.debarch == native:
        return ""
    if arch.name not in EMULATED:
        raise Fail(MISSING, f"programs of {arch.debarch} cannot be executed here")
    host.need(*host.USER_EMULATION)
    return EMULATED[arch.name][1]


def _as_root():
    if os.geteuid():
        raise Fail(
            MISSING,
            "a Debian can be installed into a folder by root alone: run the command as root",
        )


def entered(arch, command, what, log):
    """A command in a mount namespace of its own,
    in which programs of the architecture are executed.
    """
    run(
        ["unshare", "--mount", "sh", "-c", ENTER, "sh", _rule(arch), *command],
        log=paths.LOGS / f"installed-{arch.name}.{log}.log",
        what=what,
    )


def chrooted(arch, root, words, what, log):
    """A shell command in a root."""
    entered(arch, ["sh", "-c", CHROOT, root, words], what, log)


def _note():
    """What a root is made from."""
    return "\n".join([*PACKAGES, *SUITES, PREPARE, OWN_KERNEL]) + "\n"


def make_root(arch, flavour):
    """A root with everything but our packages, made once, with Debian's kernel of that flavour."""
    place = home(arch, flavour)
    root = place / "root"
    with host.locked(f"installed-{arch.name}", paths.BUILD):
        if paths.noted(place / ".root") == _note() and root.is_dir():
            return root
        host.need(*host.ROOT)
        host.room(place, 4, "a Debian")
        say(f"making a Debian {RELEASE} for {arch.debarch} in {root}")
        part = root.with_name("root.part")
        for folder in (part, root):
            shutil.rmtree(folder, ignore_errors=True)
        sources = [host.source(host.mirror_of(suite), suite) for suite in SUITES]
        entered(
            arch,
            [
                "mmdebstrap",
                "--mode=root",
                "--variant=minbase",
                "--skip=check/qemu",
                f"--architectures={arch.debarch}",
                f"--include={','.join(PACKAGES)}",
                RELEASE,
                part,
                *sources,
            ],
            f"making a Debian for {arch.debarch}",
            "root",
        )
        _resolver(part)
        chrooted(
            arch,
            part,
            PREPARE.format(
                kernel=OWN_KERNEL.format(flavour=deb.OFFERS[arch.name].flavours[flavour])
            ),
            "adding Debian's own kernel",
            "prepare",
        )
        part.rename(root)
        (place / ".root").write_text(_note())
    return root


def _resolver(root):
    """Else nothing is downloaded there."""
    (root / "etc/resolv.conf").unlink(missing_ok=True)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")


# The disk


def _build_listen(arch, program):
    """Static, so that it needs nothing of the root's."""
    run(
        [
            f"{arch.cross}gcc",
            "-static",
            "-O2",
            "-D__SANE_USERSPACE_TYPES__",
            *(LISTEN / name for name in LISTENS),
            "-o",
            program,
            "-lpthread",
        ],
        log=paths.LOGS / f"installed-{arch.name}.listen.log",
        what=f"building listen for {arch.debarch}",
    )


def furnish(arch, root):
    """What reports to the host, as a service."""
    place, units = root / OURS, root / "etc/systemd/system"
    wants = units / "multi-user.target.wants"
    for folder in (place, wants):
        folder.mkdir(parents=True, exist_ok=True)
    for name in ("textpoke.sh", "installed.sh"):
        shutil.copy(initramfs.GUEST / name, place / name)
        (place / name).chmod(0o755)
    _build_listen(arch, place / "listen")
    (units / "textpoke.service").write_text(SERVICE)
    (wants / "textpoke.service").unlink(missing_ok=True)
    (wants / "textpoke.service").symlink_to("../textpoke.service")
    (root / "etc/fstab").write_text(FSTAB)
    (root / "etc/hostname").write_text("textpoke\n")
    (root / "etc/machine-id").write_text(MACHINE)


def releases(root):
    """The kernels that are installed there, ours first."""
    found = sorted(path.name.partition("-")[2] for path in (root / "boot").glob("vmlinuz-*"))
    return tuple(sorted(found, key=lambda release: "textpoke" not in release))


def _take_kernels(root, folder):
    """Kernels and initrds to beside the disk: QEMU loads them from here."""
    found = releases(root)
    if not found or "textpoke" not in found[0]:
        raise Fail(INFRA, f"the package has put no kernel into {root}/boot: see {paths.LOGS}")
    for release in found:
        for name in (f"vmlinuz-{release}", f"initrd.img-{release}"):
            if not (root / "boot" / name).is_file():
                raise Fail(
                    INFRA,
                    f"there is no /boot/{name} where the packages were installed: see {paths.LOGS}",
                )
            shutil.copy(root / "boot" / name, folder / name)
    return found


def _size(root):
    """MiB for a disk with all of a root and room to write."""
    used = int(
        output(["du", "-s", "--block-size=1", "-x", root], what="measuring the root").split()[0]
    )
    return -(-(used * 5 // 4 + SPARE) >> 20)


def make_disk(arch, flavour, root, debs):
    """A disk with the packages installed;
    it is made anew each time, for it takes a minute or two.
    """
    folder, part = home(arch, flavour) / "disk", home(arch, flavour) / "disk.part"
    for old in (folder, part):
        shutil.rmtree(old, ignore_errors=True)
    folder.mkdir(parents=True)
    host.room(folder, 8, "a disk with Debian")
    run(
        ["cp", "-a", "--reflink=auto", root, part],
        log=paths.LOGS / f"installed-{arch.name}.copy.log",
        what="copying the root",
    )
    for name in MODULES:
        shutil.copytree(initramfs.GUEST / name, part / "srv/modules" / name)
    (part / "srv/packages").mkdir()
    for path in debs:
        shutil.copy(path, part / "srv/packages")
    say(f"installing {', '.join(path.name.split('_')[0] for path in debs)} into it")
    chrooted(arch, part, INSTALL, "installing the packages", "install")
    furnish(arch, part)
    found = _take_kernels(part, folder)
    disk = folder / "disk"
    run(
        ["mke2fs", "-q", "-F", "-t", "ext4", "-d", part, disk, f"{_size(part)}M"],
        log=paths.LOGS / f"installed-{arch.name}.disk.log",
        what="making the disk",
    )
    shutil.rmtree(part)
    return Disk(disk, found)


# The guest


def append(arch):
    """Words for the kernel. Only where kexec works under emulation is it tried."""
    kexec = "textpoke.kexec" if "kexec" in arch.endings else ""
    return f"{tests.LOG} root=/dev/vda rw systemd.show_status=1 {kexec}".strip()


def _boot(arch, disk, release, words, **how):
    return boot.boot(
        arch,
        disk.kernel(release),
        disk.initrd(release),
        append=words,
        qemu_args=DISK.format(disk=disk.path),
        mem=MEMORY,
        echo=False,
        turns=True,
        **how,
    )


def crashed(arch, disk, debug=False):
    """How a kernel that panics leaves a dump: a guest of its own, for a panic ends all others."""
    if "crash" not in arch.endings:
        return [Result(CRASH, SKIPPED, "no crash kernel was tried under this emulation")]
    say("booting it once more, to panic")
    result = _boot(
        arch,
        disk,
        disk.releases[0],
        f"{append(arch)} {CRASH_KERNEL}",
        timeout=CRASH_TIMEOUT,
        grace=CRASH_TIMEOUT,
    )
    if not (text := reported(result)):
        return [Result(CRASH, FAILED, f"no kernel has reported after the panic: {result.reason}")]
    return list(tried(arch, debug, ktap.parse(text)))


def booted(arch, disk, release, words=""):
    """Boot one of a disk's kernels, with more words on its command line; how it went."""
    say(f"booting {release} with systemd from a disk{' and ' * bool(words)}{words}")
    result = _boot(arch, disk, release, f"{append(arch)} {words}".strip(), timeout=TIMEOUT)
    if result.code in (PANIC, HANG):
        boot.report(result)
    return result


def reported(result):
    """What the guest has reported, line by line as it came."""
    return result.out_tar.read_text(errors="replace") if result.out_tar.is_file() else ""


def said(result):
    """The results of that, and how it ended."""
    return [*ktap.parse(reported(result)), *tests.guest_results(GUEST, result)]


def _may_skip(arch, debug, result):
    return any(
        result.name == skip.case
        and re.fullmatch(skip.why, result.note)
        and (skip.debug or not debug)
        and arch.name in (skip.arches or ARCHES)
        for skip in SKIPS
    )


def tried(arch, debug, results):
    """Results, of which what is skipped without leave has failed."""
    for each in results:
        if each.status == SKIPPED and not _may_skip(arch, debug, each):
            each = replace(each, status=FAILED, note=f"not tried: {each.note}")
        yield each


def _same(result):
    """What a failure and the same one of another kernel have in common:
    no times, CPUs and addresses.
    """
    return result.name, re.sub(r"0x[0-9a-f]+|\d+", "", result.note)


def compared(arch, ours, theirs):
    """Our results, where what fails with Debian's own kernel in the same way is left out,
    and says so, unless that kernel is without it.
    """
    alone = OURS_ALONE.get(arch.name, ())
    failed = [each for each in theirs if each.status == FAILED and each.name not in alone]
    there = set() if any(each.name in WHOLE for each in failed) else set(map(_same, failed))
    for each in ours:
        if each.status == FAILED and _same(each) in there:
            each = replace(
                each,
                status=SKIPPED,
                note=f"with Debian's own kernel as well: {each.note}",
                before=(),
                after=(),
            )
        yield each


def judged(arch, disk, debug=False, words=""):
    """The results of our kernel; with failures among them, beside Debian's."""
    ours = list(tried(arch, debug, said(booted(arch, disk, disk.releases[0], words))))
    if len(disk.releases) > 1 and any(each.status == FAILED for each in ours):
        say(f"what has failed is tried with {disk.releases[1]}, Debian's own")
        ours = compared(arch, ours, said(booted(arch, disk, disk.releases[1], words)))
    return list(ours)


def with_words(arch, disk, debug):
    """The same disk once more, with other words, and fewer cases."""
    words = WORDS[arch.name]
    for each in judged(arch, disk, debug, f"{words} {SOME}"):
        yield replace(each, name=f"{each.name}, with {words}")


def packages(name, flavour, debug):
    """A step: they are built."""
    _, debs = deb.build(name, flavour, debug)
    yield Result("the packages are built", PASSED, ", ".join(path.name for path in debs))


def installed(name, flavour, debug):
    """A step: they are installed, and boot, and Debian's tools go with them."""
    _as_root()
    arch = arches.get(name)
    _, debs = deb.build(name, flavour, debug)
    root = make_root(arch, flavour)
    disk = make_disk(arch, flavour, root, [path for path in debs if "-dbg_" not in path.name])
    yield Result("the packages are installed by apt, and make an initrd", PASSED)
    yield from judged(arch, disk, debug)
    yield from with_words(arch, disk, debug)
    yield from crashed(arch, disk, debug)
