# SPDX-License-Identifier: GPL-2.0
"""`make deb`: the kernel with the series as Debian packages, configured as Debian's own,
and its perf.

The configuration is the one that Debian built its kernel of that flavour with (linux-config-6.12),
with what tools/dev/deb/*.config says on top; what Kconfig does not grant of it is named. Upstream's
bindeb-pkg makes the packages. An interrupted build goes on where it was, and a finished one
is done again only if it would be made from something else.
"""

import json
import lzma
import os
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from .. import arch as arches
from .. import host, paths
from ..errors import INFRA, MISSING, USAGE, Fail
from ..guests import kernel, perf
from ..results import made
from ..say import output, run, say
from ..series import base as bases
from ..series import series
from . import perfdeb

OURS = paths.DEV / "deb"
CONFIG = "linux-config-6.12"
PACKAGES = ("debhelper", "dpkg-dev", "libssl-dev")
# What must not come about by itself, beside what kernel.py takes from the environment.
UNSET = (
    "DEBUG",
    "DEB_BUILD_OPTIONS",
    "DEB_BUILD_PROFILES",
    "DPKG_FLAGS",
    "KBUILD_DEBARCH",
    "KDEB_SOURCENAME",
    "KDEB_HOOKDIR",
)
# Its maker's name, and that it is of no release of Debian's. zstd, for xz takes its time over debug
# information.
PACKED = {
    "DEBFULLNAME": "Text Poke",
    "DEBEMAIL": "text-poke@localhost",
    "KDEB_CHANGELOG_DIST": "unstable",
    "KDEB_COMPRESS": "zstd",
}
# GiB that the whole takes: without debug information, and with it.
ROOM = {"cloud": (6, 20), "generic": (14, 60)}
# What a distribution's kernel is asked for: where Debian's configuration has one of these it has to
# come about.
WANTED = re.compile(
    "TEXT_POKE|NO_HZ_FULL|LIVEPATCH|X86_KERNEL_IBT|ARM64_BTI_KERNEL|"
    "MITIGATION_(RETHUNK|RETPOLINE|CALL_DEPTH_TRACKING|PAGE_TABLE_ISOLATION)|"
    "UNMAP_KERNEL_AT_EL0|XEN_PV|KVM|ARM_SDE_INTERFACE|PREEMPT_DYNAMIC|"
    "CORESIGHT(_SOURCE_ETM4X|_LINKS_AND_SINKS|_LINK_AND_SINK_TMC)?|"
    "SECURITY_LOCKDOWN_LSM|FUNCTION_TRACER|DYNAMIC_FTRACE|KPROBES|KPROBE_EVENTS|JUMP_LABEL|"
    "BPF_SYSCALL|BPF_JIT|FUNCTION_GRAPH_TRACER|HOTPLUG_CPU|KEXEC|KEXEC_FILE|CRASH_DUMP|MODULES|"
    "DEBUG_INFO_BTF"
)
# What compilers and other tools are like is not asked for.
TOOLS = re.compile(
    r"(CC|GCC|CLANG|AS|LD|LLD|RUSTC|PAHOLE|TOOLS|BINDGEN|HAVE|ARCH_HAS|ARCH_WANT|ARCH_SUPPORTS)_"
    r"|.*_HAS_|GCC\d+_"
)
# Among the headers are programs for the machine that they are for. One of them, sign-file, is
# linked with OpenSSL, of which there is but this machine's own here.
SSL = {"bookworm": ("libssl-dev", "libssl3"), "trixie": ("libssl-dev", "libssl3t64")}
COMPILER = """#!/bin/sh
exec {compiler} -isystem {top}/usr/include -isystem {top}/usr/include/{triplet} "$@" \
-L{top}/usr/lib/{triplet} -Wl,--allow-shlib-undefined
"""
NOT_FOR_USE = "linux-libc-dev"  # bindeb-pkg makes it as well; it would take the place of Debian's


@dataclass(frozen=True)
class Offer:
    """What Debian has for an architecture."""

    suites: tuple  # the first that can be asked is taken
    flavours: dict  # the name here -> Debian's; the first is the default
    lean: tuple = ()  # those of them that Debian does not have: see lean()


OFFERS = {
    "x86": Offer(
        ("bookworm-security", "trixie", "bookworm-backports"),
        {"cloud": "cloud-amd64", "generic": "amd64"},
    ),
    "arm64": Offer(
        ("bookworm-security", "trixie", "bookworm-backports"),
        {"cloud": "cloud-arm64", "generic": "arm64"},
    ),
    "riscv": Offer(
        ("trixie", "trixie-security"), {"cloud": "riscv64", "generic": "riscv64"}, ("cloud",)
    ),
    "powerpc": Offer(
        ("trixie", "trixie-security", "bookworm-backports"),
        {"cloud": "powerpc64le", "generic": "powerpc64le"},
        ("cloud",),
    ),
}
# Where Debian has no kernel for virtual machines, this one's is the measure of what they need; and
# this is what machines of these architectures need besides.
LIKE = "arm64"
BESIDES = re.compile(r"KVM.*|.*IBMV.*|.*OPAL.*|.*PSERIES.*|CRYPTO_.*|HOTPLUG_PCI_RPA.*|.*SBI.*")


def flavour_of(arch, named=None):
    """A flavour that the architecture has, by default the smallest."""
    if arch not in OFFERS:
        raise Fail(
            USAGE,
            f"there is no kernel of Debian's to go by for ARCH={arch}: use {', '.join(OFFERS)}",
        )
    known = OFFERS[arch].flavours
    if named and named not in known:
        raise Fail(
            USAGE,
            f"there is no FLAVOUR={named} for ARCH={arch}: use {' or '.join(known)}",
        )
    return named or next(iter(known))


@dataclass(frozen=True)
class Deb:
    """One set of packages: of what, from where, and to where."""

    arch: arches.Arch
    source: Path
    flavour: str
    debug: bool

    @property
    def name(self):
        return "-".join([self.arch.name, self.flavour, *["debug"] * self.debug])

    @property
    def folder(self):
        """Where the packages come to lie, for bindeb-pkg has them beside the objects."""
        return self.source.parent / "deb" / self.name

    @property
    def kdir(self):
        return self.folder / "objects"

    @property
    def suffix(self):
        """What tells its release from Debian's, and from others of these."""
        return "-".join(["", "textpoke", self.flavour, *["debug"] * self.debug])

    @property
    def version(self):
        """The packages' own: above Debian's of the same Linux,
        and below that of a release of the series to come.
        """
        said = re.match(r"Text Poke (\d[\w.]*)( \(not)?", paths.noted(paths.ROOT / "NEWS"))
        own = (said[1] + "~dev" * bool(said[2])) if said else "0"
        return f"{bases.version_of(self.source)}+textpoke{own}-1"

    def log(self, what):
        return paths.LOGS / f"deb-{self.name}.{what}.log"


# Debian's configuration


def best(offered, wanted):
    """The version of a package to take: the wanted one, or one of the same Linux, or the newest,
    which comes first.
    """
    same = [version for version in offered if version.split("-")[0] == wanted.split("-")[0]]
    return wanted if wanted in offered else next(iter(same or offered), None)


def _suite(suite, debarch):
    """apt for a suite of another architecture, or of this one as if it were."""
    return host.Apt(
        f"{debarch}-{suite}",
        [host.source(host.mirror_of(suite), suite, f" arch={debarch}")],
        debarch,
    )


def _offered(apt):
    """The versions that a suite has, the newest first."""
    if not apt.listed.exists():
        apt.update()
    rows = output(
        ["apt-cache", "-c", apt.home / "apt.conf", "madison", CONFIG],
        what=f"reading the lists of {apt.home.name}",
    )
    return [row.split("|")[1].strip() for row in rows.splitlines() if row.count("|") >= 2]


def _fetched(suite, debarch, wanted, store):
    """The package, from a suite."""
    apt = _suite(suite, debarch)
    if not (version := best(_offered(apt), wanted)):
        raise Fail(INFRA, f"{suite} has no {CONFIG} for {debarch}: check the machine's apt sources")
    say(f"downloading {CONFIG} {version} for {debarch} (2 MB)")
    return apt.download([f"{CONFIG}={version}"], store)[0]


def _package(arch, wanted):
    """The package with Debian's configurations, from the cache if it has one of the same Linux."""
    debarch, store = arch.debarch, paths.CACHE / "debs"
    with host.locked(f"packages-{debarch}"):
        kept = {
            deb.name.split("_")[1]: deb for deb in sorted(store.glob(f"{CONFIG}_*_{debarch}.deb"))
        }
        if (version := best(list(kept), wanted)) and version.split("-")[0] == wanted.split("-")[0]:
            return kept[version]
        failures = []
        for suite in OFFERS[arch.name].suites:
            try:
                return _fetched(suite, debarch, wanted, store)
            except Fail as failure:
                failures.append(failure)
        if not kept:
            raise failures[0]
    say(f"{failures[0].message}; taking the older {kept[version].name}")
    return kept[version]


def lean(theirs, cloud):
    """A configuration without the modules that one for virtual machines has in no form."""
    there = {name for name, value in kernel.settings(cloud).items() if value != "n"}
    lines = []
    for line in theirs.splitlines():
        ((name, value),) = kernel.settings(line).items() or [("", "")]
        goes = value == "m" and name not in there and not BESIDES.fullmatch(name)
        lines.append(f"# CONFIG_{name} is not set" if goes else line)
    return "\n".join(lines) + "\n"


def debians(arch, flavour, wanted):
    """Debian's configuration of a flavour, as text, or what comes close to it where it has none;
    wanted: Debian's version of the kernel.
    """
    offer = OFFERS[arch.name]
    theirs = _configuration(arch, offer.flavours[flavour], wanted)
    if flavour not in offer.lean:
        return theirs
    like = OFFERS[LIKE].flavours["cloud"]
    return lean(theirs, _configuration(arches.get(LIKE), like, wanted))


def _configuration(arch, flavour, wanted):
    """The one that Debian's package has of a flavour of its own."""
    deb, part = _package(arch, wanted), paths.BUILD / "tmp" / f"{CONFIG}-{os.getpid()}"
    name = f"usr/src/{CONFIG}/config.{arch.debarch}_none_{flavour}.xz"
    part.mkdir(parents=True)
    try:
        run(
            ["dpkg-deb", "--extract", deb, part],
            log=paths.LOGS / "deb-config.log",
            what=f"opening {deb.name}",
        )
        if not (part / name).exists():
            raise Fail(
                INFRA,
                f"{deb.name} has no {name}: remove it from {deb.parent} and run the command again",
            )
        return lzma.open(part / name, "rt").read()
    finally:
        shutil.rmtree(part, ignore_errors=True)


def ours(deb):
    """What is to differ from it, as text."""
    names = ("kernel", "debug" if deb.debug else "plain")
    return (
        "".join((OURS / f"{name}.config").read_text() for name in names)
        + f'CONFIG_LOCALVERSION="{deb.suffix}"\n'
    )


def composed(theirs, own):
    """One configuration of both: a symbol of our own is not in it twice."""
    mine = kernel.settings(own)
    kept = [line for line in theirs.splitlines() if not mine.keys() & kernel.settings(line).keys()]
    return (
        "\n".join([*kept, *(line for line in own.splitlines() if not line.startswith("#:"))]) + "\n"
    )


def lost(theirs, own, got):
    """(what has to be and is not, what else is not) of the settings that were asked for,
    as words.
    """
    asked = {
        name: value for name, value in kernel.settings(theirs).items() if not TOOLS.match(name)
    } | kernel.settings(own)
    lacking = kernel.unmet(asked, got, kernel.exceptions(own, {None}))
    grave = [
        word
        for word in lacking
        if WANTED.fullmatch(word.split("=")[0])
        and not word.endswith("=n")
        or word.split("=")[0] in kernel.settings(own)
    ]
    return grave, [word for word in lacking if word not in grave]


def _check(deb, theirs, own):
    """Whether Kconfig has granted what was asked for."""
    grave, rest = lost(theirs, own, kernel.settings((deb.kdir / ".config").read_text()))
    (deb.folder / "lost.txt").write_text("".join(f"{word}\n" for word in [*grave, *rest]))
    if grave:
        raise Fail(
            INFRA,
            f"the configuration of {deb.name} lacks {' '.join(grave)}, which it has to have: see "
            f"{deb.kdir / '.config'}",
        )
    if rest:
        some = " ".join(rest[:8]) + (
            f" and {len(rest) - 8} more (in {deb.folder / 'lost.txt'})" if len(rest) > 8 else ""
        )
        say(f"of Debian's configuration {some} did not come about")


# Building


def words(deb):
    """The variables that every make of it is given.

    No ccache: nothing of it is ever compiled twice.
    """
    return [
        f"O={deb.kdir}",
        f"ARCH={deb.arch.name}",
        f"CROSS_COMPILE={deb.arch.cross}",
        "LOCALVERSION=",
    ]


def _make(deb, target, doing, log, more=()):
    env = (
        dict.fromkeys((*kernel.UNSET, *UNSET))
        | kernel.FIXED
        | PACKED
        | {"KDEB_PKGVERSION": deb.version}
        | dict(more)
    )
    run(
        [
            "make",
            "-C",
            deb.source,
            f"-j{len(os.sched_getaffinity(0))}",
            *words(deb),
            *target.split(),
        ],
        log=deb.log(log),
        what=f"{doing} the {deb.name} kernel",
        env=env,
    )


def configure(deb, theirs):
    """Make its .config, unless the last one was made from the same."""
    own = ours(deb)
    whole, asked = composed(theirs, own), deb.kdir / "asked.config"
    deb.kdir.mkdir(parents=True, exist_ok=True)
    if paths.noted(asked) != whole or not (deb.kdir / ".config").exists():
        (deb.kdir / ".config").write_text(whole)
    offer = OFFERS[deb.arch.name]
    without = f", without the modules that its cloud kernel of {LIKE} has not"
    say(
        f"configuring the {deb.name} kernel as Debian's {offer.flavours[deb.flavour]}"
        + without * (deb.flavour in offer.lean)
    )
    _make(deb, "olddefconfig", "configuring", "config")
    _check(deb, theirs, own)
    asked.write_text(whole)


def compiler(deb):
    """The folder of a compiler that finds the architecture's own OpenSSL; it goes by the same name,
    so that nothing is compiled again.
    """
    name, guest = f"{deb.arch.cross}gcc", perf.GUESTS[deb.arch.name]
    top = host.unpack_foreign(
        SSL[guest.suite],
        deb.arch.debarch,
        guest.suite,
        paths.BUILD / "foreign" / f"ssl-{deb.arch.name}",
    )
    if not (real := shutil.which(name)):
        raise Fail(MISSING, f"{name} is missing: run `make setup` as root")
    program = deb.folder / "bin" / name
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(COMPILER.format(compiler=real, top=top, triplet=guest.triplet))
    program.chmod(0o755)
    return program.parent


def _across(deb):
    """The environment that packs for another architecture. Of that one's packages dpkg knows none,
    so it has to leave out the check for them; what this machine has to have is seen to before.
    """
    return {"PATH": f"{compiler(deb)}:{os.environ['PATH']}", "DPKG_FLAGS": "-d"}


def _made(deb):
    """The packages that bindeb-pkg says it has made, but for what is of no use beside Debian's."""
    listed = [
        line.split()[0]
        for line in paths.noted(deb.kdir / "debian/files").splitlines()
        if line.split()
    ]
    for path in [
        *deb.folder.glob("*.changes"),
        *deb.folder.glob("*.buildinfo"),
        *deb.folder.glob(f"{NOT_FOR_USE}_*"),
    ]:
        path.unlink()
    return [
        name for name in listed if name.endswith(".deb") and not name.startswith(f"{NOT_FOR_USE}_")
    ]


def _package_kernel(deb):
    """The image's and the headers' package; with debug information that of the symbols too."""
    for path in deb.folder.glob("*.deb"):
        path.unlink()
    say(f"packing the {deb.name} kernel, log in {deb.log('pack')}")
    _make(
        deb,
        "bindeb-pkg",
        "packing",
        "pack",
        _across(deb) if deb.arch.cross else {},
    )
    names = _made(deb)
    if not names or (gone := [name for name in names if not (deb.folder / name).exists()]):
        raise Fail(
            INFRA, f"packing made no {gone[0] if names else 'packages'}: see {deb.log('pack')}"
        )
    return names


def parts(deb, theirs):
    """What the packages are made from: see made.py."""
    arch = deb.arch
    tools = (
        *host.BUILD,
        *PACKAGES,
        *host.PERF,
        *arch.compiler_packages,
        *(host.BTF if deb.debug else ()),
    )
    return [
        deb.name,
        deb.version,
        theirs,
        ours(deb),
        made.base(),
        list(made.series_of(arch.name)),
        made.environment(),
        perfdeb.parts(arch.name),
        made.packages(*tools),
        list(made.programs("make", f"{arch.cross}gcc", f"{arch.cross}ld")),
        made.modules("packages.deb"),
    ]


def finished(deb, key):
    """The packages, if they were made from the same and are all there; else nothing."""
    known = paths.noted_fields(deb.folder / ".made")
    names = known.get("packages") or []
    there = (
        key is not made.UNKNOWN
        and known.get("key") == key
        and all((deb.folder / name).is_file() for name in names)
    )
    return [deb.folder / name for name in names] if there else []


def _build(deb, theirs):
    """Everything, each part where the last attempt has left it."""
    if not (deb.kdir / "asked.config").exists():
        host.room(deb.folder, ROOM[deb.flavour][deb.debug], f"building the {deb.name} packages")
    configure(deb, theirs)
    say(
        f"building the {deb.name} kernel and its modules, log in {deb.log('build')}; interrupted, "
        "it goes on where it was"
    )
    _make(deb, "all", "building", "build")
    names = _package_kernel(deb)
    return [*names, perfdeb.build(deb.arch, deb.version, deb.folder).name]


def plan(arch, flavour=None, debug=False):
    """What is to be built."""
    return Deb(arches.get(arch), Path(series.source_tree()), flavour_of(arch, flavour), debug)


def build(arch, flavour=None, debug=False):
    """The packages of a kernel, built unless they are there; returns (Deb, their paths)."""
    flavour = flavour_of(arch, flavour)
    known = arches.get(arch)
    host.need_to_build(
        *PACKAGES, *host.PERF, *known.compiler_packages, *(host.BTF if debug else ())
    )
    deb = plan(arch, flavour, debug)
    with host.locked(f"deb-{deb.name}", paths.BUILD):
        base = bases.current()
        theirs = debians(known, flavour, base.package or base.version)
        key = made.safely(lambda: parts(deb, theirs))
        if not (found := finished(deb, key)):
            (deb.folder / ".made").unlink(missing_ok=True)
            names = _build(deb, theirs)
            (deb.folder / ".made").write_text(json.dumps({"key": key, "packages": names}) + "\n")
            found = [deb.folder / name for name in names]
    return deb, found


def _shown(path):
    """A path as it is typed where the user is."""
    near = os.path.relpath(path)
    shown = str(path) if near.startswith("..") else f"./{near}"
    # A tilde, as in our versions, means nothing within a word.
    return shown if re.fullmatch(r"[\w./+~-]+", shown) else shlex.quote(shown)


def main(options):
    """`deb`: the packages, and what to do with them."""
    deb, found = build(options.arch, options.get("FLAVOUR"), options.flag("DEBUG"))
    for path in found:
        print(path)
    print(
        f"\nTo install them, on {deb.arch.debarch}:\n\n"
        "    sudo apt install "
        f"{' '.join(_shown(path) for path in found if '-dbg_' not in path.name)}\n\n"
        "then restart; Debian's kernels stay, and can be chosen at the boot menu. `perf_textpoke` "
        "is the perf of the same tree.",
        flush=True,
    )
