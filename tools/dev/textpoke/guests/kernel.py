# SPDX-License-Identifier: GPL-2.0
"""Configure and build a kernel: the base or the series, for any architecture, with GCC or LLVM.

A configuration is allnoconfig and the fragments in tools/dev/config. Kconfig drops what
it cannot have without a word, so every requested symbol is looked for afterwards; the
fragments say what an architecture is without, and why:

    #: without SYMBOL... [in base|in llvm|in part]: reason

In part: only some patches of the series are in the source.
"""

import hashlib
import os
import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from .. import arch as arches
from .. import host, paths
from ..errors import INFRA, MISSING, USAGE, Fail
from ..say import output, run, say
from ..series import base as bases
from ..series import series

FRAGMENTS = paths.DEV / "config"
LLVM = "-19"
BUILD_GIB = 2
# The same bytes from the same source, on any machine and at any time.
FIXED = {
    "KBUILD_BUILD_TIMESTAMP": "2024-11-17",
    "KBUILD_BUILD_USER": "textpoke",
    "KBUILD_BUILD_HOST": "textpoke",
    "KBUILD_BUILD_VERSION": "1",
}
# What a make above us, or the user's shell, must not tell the kernel's.
UNSET = (
    "MAKEFLAGS",
    "MFLAGS",
    "MAKEOVERRIDES",
    "MAKELEVEL",
    "ARCH",
    "CROSS_COMPILE",
    "LLVM",
    "KERNEL",
    "O",
    "V",
    "W",
    "C",
    "M",
    "KBUILD_OUTPUT",
    "KCONFIG_CONFIG",
    "KCONFIG_ALLCONFIG",
    "INSTALL_MOD_PATH",
    "LOCALVERSION",
)
WITHOUT = re.compile(
    r"^#: without (?P<names>[A-Z0-9_ ]+?)(?: in (?P<where>preemptible base|base|llvm|part|cfi))?: "
    r"(?P<why>.+)$"
)
SETTING = re.compile(r"^CONFIG_(\w+)=(.*)$|^# CONFIG_(\w+) is not set$")


@dataclass(frozen=True)
class Build:
    """One kernel to be built: what, from where, with what, and to where."""

    arch: arches.Arch
    source: Path
    base: bool
    llvm: bool
    fragments: tuple
    use: str = ""  # a folder of its own for this
    part: bool = False

    @property
    def kdir(self):
        return self.source.parent / name_of(
            self.arch, self.base, self.llvm, self.fragments, self.use
        )

    @property
    def log(self):
        return paths.LOGS / f"kernel-{self.kdir.name}.log"

    @property
    def what(self):
        return f"the {self.arch.name} kernel ({self.kdir.name})"

    @property
    def conditions(self):
        """The words after `in` that hold for this build."""
        base = self.base or self.part
        # The base with the series' configuration is a part of the series, with none of its patches.
        part = self.part or self.base and "series" in self.fragments
        known = {
            "base": base,
            "preemptible base": base and "no-preempt" not in self.fragments,
            "llvm": self.llvm,
            "part": part,
            "cfi": "cfi" in self.fragments,
        }
        return {None} | {word for word, holds in known.items() if holds}


def name_of(arch, base=False, llvm=False, fragments=(), use=""):
    """The folder's name, beside the source: one for each kind of build."""
    return "-".join(
        [*["base"] * base, arches.get(arch).name, *["llvm"] * llvm, *fragments, *[use] * bool(use)]
    )


# Configuration


def fragment_names(build):
    """The fragments of a build, in the order in which later ones win."""
    own = ["series"] if build.arch.has_backend and not build.base else []
    return ["common", build.arch.name, *own, *build.fragments]


def _fragment(name):
    path = FRAGMENTS / f"{name}.config"
    if not path.exists():
        known = ", ".join(sorted(path.stem for path in FRAGMENTS.glob("*.config")))
        raise Fail(USAGE, f"there is no configuration fragment {name}: there are {known}")
    return path.read_text()


def settings(text):
    """symbol -> value ('n' for one that is not set) of a configuration or fragment."""
    found = {}
    for line in text.splitlines():
        if match := SETTING.match(line):
            name, value, unset = match.groups()
            found[unset or name] = "n" if unset else value
    return found


def exceptions(text, conditions):
    """symbol -> reason, for the symbols that need not be set in a build under conditions."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("#:"):
            continue
        if not (match := WITHOUT.match(line)):
            raise Fail(
                INFRA, f"a configuration fragment has a line that is not understood: `{line}`"
            )
        if match["where"] in conditions:
            found |= dict.fromkeys(match["names"].split(), match["why"])
    return found


def unmet(requested, got, excused):
    """The requested settings that did not come about, as words, without those that are excused."""
    return [
        f"{name}={value}"
        for name, value in requested.items()
        if got.get(name, "n") != value and name not in excused
    ]


def stale(requested, got, excused):
    """Symbols that are said to be unavailable, but are set as requested."""
    return [name for name in excused if name in requested and got.get(name) == requested[name]]


def _verify(build, text):
    """Kconfig drops what it cannot have silently; we do not."""
    requested, excused = settings(text), exceptions(text, build.conditions)
    got = settings((build.kdir / ".config").read_text())
    if lacking := unmet(requested, got, excused):
        raise Fail(
            INFRA,
            f"the configuration of {build.what} lacks {' '.join(lacking)}: "
            f"correct tools/dev/config, or add a `#: without` line with the reason",
        )
    outdated = stale(requested, got, excused)
    if outdated and not build.part:
        say(f"{build.what} has {' '.join(outdated)}, though tools/dev/config says that it cannot")


def _kconfig_files(build):
    """The Kconfig files that the last configuration read, with their times."""
    listing = build.kdir / "include/config/auto.conf.cmd"
    text = listing.read_text() if listing.exists() else ""
    names = re.search(r"^deps_config := \\\n((?:\t.*\n)*)", text, re.M)
    for name in names[1].replace("\\\n", "").split() if names else ():
        path = build.source / name
        yield name, path.stat().st_mtime_ns if path.exists() else 0


def _fingerprint(build, text):
    """What a configuration follows from; unchanged, it need not be made again."""
    compiler = output(
        [*_compiler(build).split(), "--version"], what="asking the compiler's version"
    )
    kconfig = sorted(_kconfig_files(build))
    whole = repr(
        (text, build.source, compiler, kconfig, (build.kdir / ".config").exists(), bool(kconfig))
    )
    return hashlib.sha256(whole.encode()).hexdigest()


def _configure(build):
    """Make .config from the fragments, unless the last one still holds."""
    text = "\n".join(_fragment(name) for name in fragment_names(build))
    stamp = build.kdir / ".configured"
    if (known := paths.noted(stamp)) and known == _fingerprint(build, text):
        return
    stamp.unlink(missing_ok=True)
    wanted = build.kdir / "wanted.config"
    wanted.write_text(
        "\n".join(line for line in text.splitlines() if not line.startswith("#:")) + "\n"
    )
    say(f"configuring {build.what}")
    _make(build, "allnoconfig", "configuring", env={"KCONFIG_ALLCONFIG": wanted})
    _verify(build, text)
    _make(build, "syncconfig", "configuring")
    stamp.write_text(_fingerprint(build, text))


# Building


def ccache():
    """ccache's settings: within our cache, and paths do not depend on where the clone is.

    Not its depend mode, which does not see .incbin: a bzImage was given the kernel of an earlier
    build that happened to be as long when compressed. What that mode has stored is in no namespace.
    """
    return {
        "CCACHE_DIR": paths.CACHE / "ccache",
        "CCACHE_BASEDIR": paths.ROOT,
        "CCACHE_NOHASHDIR": "1",
        "CCACHE_MAXSIZE": "10G",
        "CCACHE_NAMESPACE": "preprocessed",
    }


def cached(compiler):
    """A compiler, behind ccache where there is one."""
    return f"ccache {compiler}" if shutil.which("ccache") else compiler


def _compiler(build):
    return cached(f"clang{LLVM}" if build.llvm else f"{build.arch.cross}gcc")


def _words(build):
    """The variables that every make of this build is given."""
    tools = [f"LLVM={LLVM}"] if build.llvm else [f"CROSS_COMPILE={build.arch.cross}"]
    hostcc = cached(f"clang{LLVM}" if build.llvm else "gcc")
    return [
        f"O={build.kdir}",
        f"ARCH={build.arch.kernel_arch}",
        *tools,
        f"CC={_compiler(build)}",
        f"HOSTCC={hostcc}",
    ]


def _make(build, target, doing, log=None, env=None, words=()):
    """One make in the kernel's source, with nothing inherited that would change what is built."""
    jobs = len(os.sched_getaffinity(0))
    run(
        ["make", "-C", build.source, f"-j{jobs}", *_words(build), *words, *target.split()],
        log=log or build.log.with_suffix(".config.log"),
        what=f"{doing} {build.what}",
        env=dict.fromkeys(UNSET) | FIXED | ccache() | (env or {}),
    )


def _newest_module(build):
    """The time of the newest module; 0 when there is none."""
    order = build.kdir / "modules.order"
    names = order.read_text().split() if order.exists() else []
    return max(
        ((build.kdir / name).with_suffix(".ko").stat().st_mtime_ns for name in names), default=0
    )


def _install_modules(build):
    """Modules for the guest in kdir/mods, in the layout that modprobe expects."""
    mods, newest = build.kdir / "mods", _newest_module(build)
    if mods.exists() and newest <= mods.stat().st_mtime_ns:
        return
    part = build.kdir / "mods.part"
    shutil.rmtree(part, ignore_errors=True)
    _make(
        build,
        "modules_install",
        "installing the modules of",
        words=[f"INSTALL_MOD_PATH={part}"],
        log=build.log.with_suffix(".modules.log"),
    )
    shutil.rmtree(mods, ignore_errors=True)
    part.rename(mods)
    os.utime(mods)


def _has_modules(build):
    return "m" in settings((build.kdir / ".config").read_text()).values()


def _packages(build):
    """What is needed to build it, installed on demand."""
    btf = host.BTF if "debuginfo" in build.fragments else ()
    host.need_to_build(*(host.LLVM if build.llvm else build.arch.compiler_packages), *btf)


def _plan(arch, base, llvm, fragments):
    """A Build, refused where it cannot be."""
    arch = arches.get(arch)
    if llvm and arch.llvm:
        raise Fail(
            USAGE, f"LLVM=1 is not possible for {arch.name}: {arch.llvm}; build it without LLVM=1"
        )
    for name in fragments:
        _fragment(name)
    source = bases.base_source() if base else series.source_tree()
    return Build(arch, Path(source), base, llvm, tuple(fragments))


def build_kernel(arch, base=False, llvm=False, fragments=()):
    """Build a kernel and its modules; returns its folder, which holds image, vmlinux and mods/."""
    return _build(_plan(arch, base, llvm, fragments))


def folder(arch, base=False, llvm=False, fragments=()):
    """Where that kernel is, or would be."""
    return _plan(arch, base, llvm, fragments).kdir


def build_part(arch, source, boots=True):
    """The same, from a source that has only some patches of the series, to be booted or not."""
    return _build(Build(arches.get(arch), Path(source), False, False, (), part=True), boots)


@contextmanager
def _configured(build):
    """A build's folder, configured, and no other command's meanwhile."""
    _packages(build)
    build.kdir.mkdir(parents=True, exist_ok=True)
    with host.locked(f"kernel-{build.kdir.name}", paths.BUILD):
        _configure(build)
        yield


def _build(build, boots=True):
    """vmlinux and modules; and if it is to boot, the image, and the modules where a guest finds
    them.
    """
    host.room(paths.BUILD, BUILD_GIB, f"building {build.what}")
    with _configured(build):
        modules = _has_modules(build)
        say(f"building {build.what}, log in {build.log}")
        _make(
            build,
            " ".join([*[build.arch.target] * boots, "vmlinux", *["modules"] * modules]),
            "building",
            log=build.log,
        )
        if modules and boots:
            _install_modules(build)
    say(f"{build.what} is in {build.kdir}")
    return build.kdir


# Looking at code


def build_objects(arch, targets, fragments=()):
    """Some objects of a kernel, or folders of them, and no more; returns the kernel's folder."""
    build = _plan(arch, False, False, fragments)
    with _configured(build):
        _make(build, " ".join(targets), "building some of", log=build.log)
    return build.kdir


def relink(arch, base=False, fragments=()):
    """The log of a kernel's link, with whatever is checked at that time;
    the kernel is built if need be.
    """
    build = _plan(arch, base, False, fragments)
    build_kernel(arch, base, False, fragments)
    (build.kdir / "vmlinux.o").unlink(missing_ok=True)
    log = build.log.with_suffix(".link.log")
    _make(build, "vmlinux", "linking", log=log)
    return log


def compile_again(arch, base, objects, words, use, fragments=()):
    """Compile some objects in a folder that has seen no other make; returns (source, log)."""
    plan = _plan(arch, base, False, fragments)
    build = replace(plan, use=use)
    with _configured(build):
        _make(build, "prepare", "preparing", log=build.log.with_suffix(".prepare.log"))
        for path in objects:
            (build.kdir / path).unlink(missing_ok=True)
        _make(
            build,
            " ".join(objects),
            "looking at",
            log=build.log,
            words=["--output-sync=target", *words],
        )
    return build.source, build.log


def has(kdir, symbol):
    """Whether a kernel was built with that."""
    return settings((Path(kdir) / ".config").read_text()).get(symbol) == "y"


def built_by_llvm(kdir):
    """Which compiler the modules of a kernel need."""
    return has(kdir, "CC_IS_CLANG")


def image_of(arch, kernel):
    """The bootable image in a build folder, or the image itself when that is what is given."""
    path = Path(kernel)
    image = path / arches.get(arch).image if path.is_dir() else path
    if not image.is_file():
        raise Fail(
            MISSING,
            f"there is no kernel image at {image}: build one with `make kernel "
            f"ARCH={arches.get(arch).name}`",
        )
    return image
