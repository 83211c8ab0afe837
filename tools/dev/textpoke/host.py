# SPDX-License-Identifier: GPL-2.0
"""The host's packages: what is wanted, what is missing, and how it gets here.

apt is used with a configuration of our own: its lists and cache lie in our cache,
its sources are derived from the mirrors the machine already uses, plus backports
where the release itself has no good QEMU (Debian 12). /etc/apt is read, never changed.
apt is asked only when dpkg says that something is missing, so that a machine
that has everything needs neither network nor root.
"""

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from . import paths
from .errors import INFRA, MISSING, USAGE, Fail
from .lock import locked
from .say import output, run, say, tail

# Where foreign packages come from while the lists of their own suite cannot be had: the first is
# often that suite under another name, which a mirror updates at another time.
STANDBYS = ("stable", "testing")
# as a suite: <release>-backports, or nothing where the release itself is new enough
BACKPORTS = "backports"
BACKPORTED = ("bookworm",)  # the releases that are not
SECURITY = "-security"
BUILDS = "x86_64"  # as uname calls an amd64 machine
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

BUILD = (
    "bc",
    "bison",
    "ccache",
    "cpio",
    "flex",
    "gcc",
    "git",
    "kmod",
    "libc6-dev",
    "libelf-dev",
    "libssl-dev",
    "make",
    "python3",
    "rsync",
    "xz-utils",
)
CROSS = {
    "x86": (),
    "i386": (),
    "arm64": ("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"),
    "riscv": ("gcc-riscv64-linux-gnu", "libc6-dev-riscv64-cross"),
    "powerpc": ("gcc-powerpc64le-linux-gnu", "libc6-dev-ppc64el-cross"),
    "ppc32": ("gcc-powerpc64le-linux-gnu",),
    "ppc64": ("gcc-powerpc64le-linux-gnu",),
}
LLVM = ("clang-19", "lld-19", "llvm-19")
LINT = ("perl", "sparse")
# What these tools themselves are looked through with: see standards.py.
STANDARDS = ("black", "flake8", "mypy", "shellcheck")
BTF = ("dwarves",)
PAGE = ("python3-pygal",)
# What reads a page in the tests, as a user does.
BROWSER = ("chromium",)
# A second opinion of trace that is made here: see lister.py.
LISTER = ("libopencsd-bin",)
# What makes a Debian of its own, and executes the programs of one for another machine.
ROOT = ("mmdebstrap",)
USER_EMULATION = ("qemu-user-static",)
MODELS = ("spin", "tcc", "libc6-dev")
PERF = (
    "libcap-dev",
    "libcapstone-dev",
    "libdw-dev",
    "libopencsd-dev",
    "libslang2-dev",
    "libtraceevent-dev",
    "libunwind-dev",
    "libzstd-dev",
    "pkg-config",
    "zlib1g-dev",
)
QEMU = {
    "x86": ("qemu-system-x86",),
    "i386": ("qemu-system-x86",),
    "arm64": ("qemu-system-arm",),
    "riscv": ("qemu-system-riscv", "opensbi"),
    "powerpc": ("qemu-system-ppc",),
    "ppc32": ("qemu-system-ppc",),
    "ppc64": ("qemu-system-ppc",),
}
# What a package is known by where there is no dpkg: the program that it brings. Of libraries
# nothing can be told there.
PROGRAMS = {
    name: name
    for name in (
        *("bc", "bison", "ccache", "cpio", "flex", "gcc", "git", "make", "python3", "rsync"),
        *STANDARDS,
    )
} | {"xz-utils": "xz"}
QEMU_OLDEST = "1:10.0"  # older ones lose writes to code that another CPU is translating

# What apt says, and what the user can do about it.
ADVICE = (
    (
        r"No space left on device|enough free space",
        "the disk is full: make room and run the command again",
    ),
    (
        r"dpkg was interrupted",
        "an earlier installation was interrupted: run `dpkg --configure -a` as root, then the "
        "command again",
    ),
    (
        r"Could not get lock|Unable to acquire the dpkg",
        "another installation is running: run the command again when it has ended",
    ),
    (
        r"Unable to locate package (?P<name>\S+)",
        "the mirror has no package {name}: check the machine's apt sources",
    ),
    (
        r"Release '(?P<name>[^']+)' .*not found",
        "the mirror has no {name}: check the machine's apt sources",
    ),
    (
        r"Version '[^']+' for '(?P<name>[^']+)' was not found",
        "the mirror has no such version of {name}",
    ),
    (
        r"unmet dependencies|held broken packages",
        "the installed packages conflict with what is needed: run `apt-get -f install` as root and "
        "see {log}",
    ),
    (
        r"Mirror sync in progress|Hash Sum mismatch",
        "the package mirror is being updated: run the command again later",
    ),
    (
        r"Could not resolve|Temporary failure|Could not connect|Unable to connect|Connection"
        r"|Failed to fetch|Unable to fetch|timed out",
        "the package mirror cannot be reached: check the network and run the command again",
    ),
)


def room(path, gib, what):
    """Refuse to begin what cannot be finished for lack of disk space."""
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(path).free / 2**30
    if free < gib:
        raise Fail(
            INFRA,
            f"{what} needs {gib} GiB in {path}, which has {free:.1f} GiB free: make room and run "
            "the command again",
        )


def _os_release():
    """What this system says of itself."""
    text = Path("/etc/os-release").read_text() if Path("/etc/os-release").exists() else ""
    return dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.M))


def is_debian():
    """Ubuntu and the like have other packages under the same names."""
    return _os_release().get("ID") == "debian"


def _release():
    """The code name of this Debian."""
    name = _os_release().get("VERSION_CODENAME")
    if not is_debian() or not name:
        raise Fail(
            MISSING,
            "what has to be fetched comes from Debian's mirrors, which this machine does not use, "
            "for it is no Debian: "
            "there, `make apply` and `make series` work, on a tree of your own (KERNEL=)",
        )
    return name


def _mirrors():
    """(URI, suite) of every Debian suite that the machine's own apt sources name."""
    uris = output(["apt-get", "update", "--print-uris"], what="reading the machine's apt sources")
    found = re.findall(r"^'([^']+?)/dists/([^']+?)/(?:In)?Release'", uris, re.M)
    release = _release()
    return [
        (uri, suite) for uri, suite in found if suite == release or suite.startswith(release + "-")
    ]


def _main_mirror():
    """The mirror of the release proper, which has its backports and the other releases too."""
    for uri, suite in _mirrors():
        if suite == _release():
            return uri
    raise Fail(
        MISSING,
        f"the machine's apt sources name no mirror of Debian {_release()}: add one, then run the "
        "command again",
    )


def source(uri, suite, option=""):
    return f"deb [signed-by={KEYRING}{option}] {uri} {suite} main"


def mirror_of(suite):
    """Where a suite is, of whatever release: security updates have a mirror of their own."""
    if not suite.endswith(SECURITY):
        return _main_mirror()
    own = [uri for uri, name in _mirrors() if name.endswith(SECURITY)]
    return own[0] if own else f"{_main_mirror().rstrip('/')}{SECURITY}"


def _host_sources():
    """What the machine uses itself, and backports where they are needed."""
    lines = [source(uri, suite) for uri, suite in _mirrors()]
    if _release() not in BACKPORTED:
        return lines
    backports = source(_main_mirror(), f"{_release()}-backports")
    return lines if backports in lines else lines + [backports]


class Apt:
    """apt-get with lists, cache and sources of its own under our cache."""

    def __init__(self, name, sources, debarch=None):
        self.home = paths.CACHE / "apt" / name
        self.log = paths.CACHE / "log" / f"apt-{name}.log"
        for part in ("lists/partial", "archives/partial"):
            (self.home / part).mkdir(parents=True, exist_ok=True)
        self._write("sources.list", "\n".join(sources) + "\n")
        self._write("apt.conf", self._configuration(debarch))
        self.listed = self.home / "listed"

    def _write(self, name, text):
        """A changed source makes the lists stale."""
        path = self.home / name
        if paths.noted(path) != text:
            path.write_text(text)
            (self.home / "listed").unlink(missing_ok=True)

    def _configuration(self, debarch):
        """A foreign architecture must not see what is installed here."""
        settings = {
            "Dir::Etc::sourcelist": self.home / "sources.list",
            "Dir::Etc::sourceparts": "-",
            "Dir::State::lists": self.home / "lists",
            "Dir::Cache": self.home,
            "Dir::Cache::archives": self.home / "archives",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
            "APT::Sandbox::User": "",
            "APT::Update::Error-Mode": "any",
            "DPkg::Lock::Timeout": "300",
        }
        if debarch:
            (self.home / "status").touch()
            settings |= {"APT::Architecture": debarch, "Dir::State::status": self.home / "status"}
        lines = [f'{name} "{value}";' for name, value in settings.items()]
        if debarch:
            lines += ["#clear APT::Architectures;", f'APT::Architectures {{ "{debarch}"; }};']
        return "\n".join(lines) + "\n"

    def command(self, *words):
        return ["apt-get", "-q", "-c", self.home / "apt.conf", *words]

    def attempt(self, *words, what, cwd=None):
        """One run of apt-get; its failure as one sentence."""
        env = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        if run(self.command(*words), log=self.log, what=what, cwd=cwd, env=env, check=False):
            raise Fail(INFRA, f"{what} failed: {advice(self.log)}")

    def update(self):
        say(f"fetching the package lists ({self.home.name})")
        self.attempt("update", what="fetching the package lists")
        self.listed.touch()

    def do(self, *words, what, cwd=None):
        """Run apt-get; lists that have aged are the usual cause of failure,
        so refresh them once.
        """
        fresh = not self.listed.exists()
        if fresh:
            self.update()
        try:
            self.attempt(*words, what=what, cwd=cwd)
        except Fail:
            if fresh:
                raise
            self.update()
            self.attempt(*words, what=what, cwd=cwd)

    def download(self, packages, dest):
        """Fetch packages into dest; what was cut short stays in a folder that is thrown away."""
        part = self.home / "download"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        self.do("download", *packages, what=f"downloading {' '.join(packages)}", cwd=part)
        Path(dest).mkdir(parents=True, exist_ok=True)
        fetched = [
            Path(shutil.move(deb, Path(dest) / deb.name)) for deb in sorted(part.glob("*.deb"))
        ]
        part.rmdir()
        return fetched


def advice(log):
    """apt's failure as something to do."""
    text = tail(log, 60)
    for pattern, sentence in ADVICE:
        if match := re.search(pattern, text):
            return sentence.format(log=log, **match.groupdict())
    return f"see {log}"


def host_apt():
    """apt for this machine's own architecture and release."""
    if not shutil.which("apt-get"):
        raise Fail(MISSING, "apt-get is missing: this needs Debian 12 or newer")
    return Apt(f"host-{_release()}", _host_sources())


def suite_apt(suite, debarch):
    """apt for one suite of whatever release, from this machine's mirror;
    nothing is installed by it.
    """
    return Apt(f"suite-{suite}", [source(mirror_of(suite), suite, f" arch={debarch}")], debarch)


def release_apt(release):
    """apt for a release and its security updates:
    this machine's own where it is of that release.
    """
    if _release() == release:
        return host_apt()
    sources = [
        source(mirror_of(suite), suite, " arch=amd64")
        for suite in (release, f"{release}{SECURITY}")
    ]
    return Apt(f"release-{release}", sources, "amd64")


def _installed():
    """name -> version of what dpkg has installed;
    without dpkg, of what brings a program that is there.
    """
    if not shutil.which("dpkg-query"):
        return {name: "" for name, program in PROGRAMS.items() if shutil.which(program)}
    listing = output(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\n"])
    rows = (line.split() for line in listing.splitlines())
    return {row[1]: row[2] for row in rows if row[0] == "installed"}


def _new_enough(have, oldest):
    done = subprocess.run(["dpkg", "--compare-versions", have, "ge", oldest], check=False)
    return done.returncode == 0


def missing(*packages):
    """Those of packages that are not there; a package may be given as name>=version."""
    have = _installed()
    lacking = []
    for package in packages:
        name, _, oldest = package.partition(">=")
        if name not in have or (oldest and not _new_enough(have[name], oldest)):
            lacking.append(name)
    return lacking


def _suite_options(suite):
    """Backports of another release than this machine's are of no use to it."""
    if suite and suite.endswith(BACKPORTS):
        own = f"{_release()}-backports"
        return ["-t", own] if suite in (BACKPORTS, own) and _release() in BACKPORTED else []
    return ["-t", suite] if suite else []


def _resume_dpkg():
    """Finish an installation that was interrupted, which dpkg insists on before another."""
    if any(Path("/var/lib/dpkg/updates").glob("[0-9]*")):
        run(
            ["dpkg", "--configure", "-a"],
            log=paths.CACHE / "log" / "dpkg.log",
            what="finishing an interrupted installation",
        )


def _lacking(*packages):
    """Those of packages that are missing, for root; another user is told of them."""
    lacking = missing(*packages)
    if lacking and not is_debian():
        raise Fail(
            MISSING,
            "this is no Debian, for which alone packages are installed here: install by hand what "
            f"is {' '.join(lacking)} there",
        )
    if lacking and os.geteuid() != 0:
        raise Fail(
            MISSING,
            f"missing packages ({' '.join(lacking)}): "
            "run `sudo make setup`, then the command again",
        )
    return lacking


def need(*packages, suite=None):
    """Install what is missing of packages (name or name>=version), or say how to."""
    if not _lacking(*packages):
        return
    with locked("apt"):
        if not (lacking := missing(*packages)):
            return
        room("/usr", 1, "installing packages")
        say(f"installing {' '.join(lacking)}")
        _resume_dpkg()
        host_apt().do(
            "install",
            "-y",
            "--no-install-recommends",
            *_suite_options(suite),
            *lacking,
            what="installing packages",
        )
        if still := missing(*packages):
            raise Fail(
                MISSING,
                f"the mirror has no new enough {' '.join(still)}: check the machine's apt sources",
            )


def need_to_build(*packages):
    """What a kernel is built with. Each architecture's compiler is known by the name of its
    package on amd64.
    """
    if (machine := platform.machine()) != BUILDS:
        raise Fail(
            MISSING,
            f"kernels are built on {BUILDS} machines alone, and this one is {machine}: "
            "run the command on one of these",
        )
    need(*BUILD, *packages)


def _qemu(*arches):
    names = [name for arch in arches for name in QEMU[arch]]
    return [name if name == "opensbi" else f"{name}>={QEMU_OLDEST}" for name in names]


def need_qemu(*arches):
    """A QEMU for each of arches that is known to be good."""
    need(*_qemu(*arches), suite=BACKPORTS)


def setup(arches=None, more=()):
    """Everything that any command needs, at once; more: packages that are not listed here."""
    arches = arches or list(CROSS)
    cross = [name for arch in arches for name in CROSS[arch]]
    packages = [*BUILD, *cross, *PERF, *LLVM, *LINT, *STANDARDS, *BTF, *MODELS, *PAGE]
    packages += [*BROWSER, *LISTER, *ROOT, *USER_EMULATION, *more]
    # All in one sentence, for a user that is not root.
    _lacking(*packages, *_qemu(*arches))
    need(*packages)
    need_qemu(*arches)
    say("everything is installed")


def _unpack(debs, part):
    """Unpack into a folder with a temporary name; the caller renames it."""
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for deb in debs:
        run(
            ["dpkg-deb", "--extract", deb, part],
            log=paths.CACHE / "log" / "unpack.log",
            what=f"unpacking {deb.name}",
        )


def _fetch_foreign(apt, packages):
    """The .deb files of packages, from the cache where they are there."""
    store = paths.CACHE / "debs"
    if not apt.listed.exists():
        apt.update()
    uris = output(
        apt.command("download", "--print-uris", *packages), what=f"looking up {' '.join(packages)}"
    )
    names = re.findall(r"^'[^']+' (\S+\.deb) ", uris, re.M)
    lacking = [name.split("_")[0] for name in names if not (store / name).exists()]
    if lacking or len(names) < len(packages):
        say(f"downloading {' '.join(lacking)}")
        apt.download(lacking or packages, store)
    return [store / name for name in names]


def _foreign_debs(packages, debarch, suite):
    """The .deb files of packages of another architecture or release."""
    apt = Apt(f"{debarch}-{suite}", [source(_main_mirror(), suite, f" arch={debarch}")], debarch)
    return _fetch_foreign(apt, packages)


def _foreign_debs_of_any(packages, debarch, suite):
    """A mirror that is being updated has lists that apt refuses, for days at times:
    of one suite, seldom of all.
    """
    failures: list[Fail] = []
    for each in (suite, *STANDBYS):
        if failures:
            say(f"{failures[-1].message}; trying {each} instead")
        try:
            return _foreign_debs(packages, debarch, each)
        except Fail as failed:
            failures.append(failed)
    raise failures[0]


def unpack_noted(dest, note, lock, debs):
    """Have what debs() gives unpacked in the folder dest, all of it or nothing, with a note of what
    it is; again if that changes.

    Where note is what was noted nothing is done. Other commands that want what lock names wait
    meanwhile.
    """
    stamp = dest / ".debs"
    if paths.noted(stamp) == note:
        return dest
    with locked(lock):
        if paths.noted(stamp) == note:  # the one before us has done it
            return dest
        part = dest.with_name(dest.name + ".part")
        _unpack(debs(), part)
        (part / ".debs").write_text(note)
        shutil.rmtree(dest, ignore_errors=True)
        part.rename(dest)
    return dest


def unpack_foreign(packages, debarch, suite, dest):
    """Unpack packages of another architecture or release into the folder dest;
    nothing is installed.
    """
    if not packages:
        raise Fail(USAGE, "no packages to unpack")
    # Not locked per suite: whatever suite is asked for, it may come to be one of STANDBYS.
    return unpack_noted(
        Path(dest),
        f"{debarch} {suite} {' '.join(packages)}\n",
        f"packages-{debarch}",
        lambda: _foreign_debs_of_any(packages, debarch, suite),
    )
