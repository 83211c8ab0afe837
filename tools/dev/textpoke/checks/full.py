# SPDX-License-Identifier: GPL-2.0
"""`make check-full`: everything of `make check`, and what takes hours.

Kernels of other kinds are built and tested, every patch is built, and tools that read code
look at it. What has passed is kept as soon as it has, with what it was made from (kept.py):
an interrupted run goes on where it was, and a passed step is done again only when what
concerns its architecture has changed, be it of the series, the configuration, these tools
or the machine. ONLY=PATTERN picks steps by their names, LIST=1 tells which have passed and
which are left, and FRESH=1 does all.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

from .. import arch as arches
from .. import host, paths
from ..code import core, lint, realmode, worldswitch
from ..guests import bare, boot, initramfs, kernel, perf, tests, torture
from ..packages import deb, installed
from ..results import kept, made
from ..results.ktap import PASSED, Result
from ..results.report import Named as Steps, Picked as Kept
from ..series import base as bases
from ..series import patches, series
from ..trace import qemus, trace
from . import cases, check, coverage, elsewhere, fuzz, suites

# Packages that only kernels and tools of other kinds want.
OTHER_TOOLS = (*host.LLVM, *host.LINT, *host.BTF)
CODE = (".c", ".h", ".S", "Kconfig", "Makefile", ".lds.S", ".tbl")


@dataclass(frozen=True)
class Variant:
    """A kernel or a boot of another kind."""

    name: str
    arches: tuple = ()  # empty: all that have a backend
    fragments: tuple = ()
    llvm: bool = False
    append: str = ""
    smp: int = 2
    kind: str = ""  # the Arch to build, if it is not the architecture's own
    machine: str = ""  # QEMU's, if it is not the usual one
    devices: tuple = ()  # QEMU options that this machine needs
    cpu: str = ""  # the same
    paging: str = ""  # what /proc/cpuinfo has to say of it
    minutes: int = torture.MINUTES  # of torture
    parts: tuple = ("KUnit", "selftests")


# With hash page tables 6.12 stops the machine for 77 s under QEMU as it protects its text, with
# and without the series; of two minutes of torture that leaves too little for a second replay.
PATIENT = "watchdog_thresh=60 workqueue.watchdog_thresh=120 rcupdate.rcu_cpu_stall_timeout=200"

# Each of the two PCI devices of a guest needs a bridge there, and to power off needs a management
# controller.
BARE_METAL = (
    "-device",
    "pnv-phb,chip-id=0,index=0,id=phb0",
    "-device",
    "pnv-phb-root-port,bus=phb0",
    "-device",
    "pnv-phb,chip-id=0,index=1,id=phb1",
    "-device",
    "pnv-phb-root-port,bus=phb1",
    "-device",
    "ipmi-bmc-sim,id=bmc",
    "-device",
    "isa-ipmi-bt,bmc=bmc,irq=10",
)
VARIANTS = (
    Variant("KASAN", fragments=("kasan",)),
    Variant("lockdep", fragments=("debug",), parts=("KUnit", "selftests", "torture")),
    Variant(
        "PREEMPT_RT",
        ("x86", "arm64", "riscv"),
        fragments=("rt",),
        parts=("KUnit", "selftests", "torture"),
    ),
    Variant("clang", llvm=True),
    Variant("64K pages", ("arm64",), ("64k",)),
    Variant("no CALL_OPS", ("arm64",), ("no-call-ops",)),
    Variant("BPF's direct calls", fragments=("debuginfo",), parts=("selftests",)),
    Variant("five levels of page tables", ("arm64",), cpu="max,pauth-impdef=on"),
    Variant("user page tables apart", ("arm64",), append="kpti=on"),
    Variant("pseudo NMIs", ("arm64",), append="irqchip.gicv3_pseudo_nmi=1"),
    Variant(
        "landing pads in the kernel (BTI)",
        ("arm64",),
        ("bti",),
        llvm=True,
        parts=("KUnit", "selftests", "samples", "torture"),
    ),
    Variant(
        "modules far away",
        ("arm64",),
        ("far-modules",),
        parts=("KUnit", "selftests", "samples", "torture"),
    ),
    Variant(
        "KVM, SDEI and KGDB",
        ("arm64",),
        ("kvm",),
        parts=("world switch", "KUnit", "beside a guest", "selftests"),
    ),
    Variant(
        "another preemption model",
        ("arm64", "riscv"),
        ("dynamic",),
        append="preempt=voluntary",
        parts=("KUnit", "selftests", "stays"),
    ),
    Variant(
        "another preemption model, and KVM",
        ("x86",),
        ("dynamic", "vendor"),
        append="preempt=none",
        parts=("KUnit", "selftests", "stays"),
    ),
    Variant("no compressed instructions", ("riscv",), ("no-c",)),
    Variant("functions that are not aligned", ("riscv",), ("size",)),
    Variant(
        "Sv48",
        ("riscv",),
        append="no5lvl",
        cpu="max",
        paging="sv48",
        parts=("boots", "KUnit", "selftests", "torture"),
    ),
    Variant(
        "Sv57",
        ("riscv",),
        cpu="max",
        paging="sv57",
        parts=("boots", "KUnit", "selftests", "torture"),
    ),
    Variant(
        "not preemptible", ("riscv",), ("no-preempt",), parts=("KUnit", "selftests", "torture")
    ),
    Variant("Ziccif, announced and not", ("riscv",), parts=("Ziccif",)),
    Variant("in a ROM", ("riscv",), ("xip",), parts=("BPF alone",)),
    Variant(
        "fences by firmware", ("riscv",), machine="virt", parts=("boots", "KUnit", "selftests")
    ),
    Variant("users' memory is looked after", ("powerpc",), ("kuap",), parts=("KUnit", "torture")),
    Variant(
        "hash page tables",
        ("powerpc",),
        append=f"disable_radix {PATIENT}",
        minutes=5,
        parts=("KUnit", "selftests", "torture"),
    ),
    Variant(
        "POWER8",
        ("powerpc",),
        append=PATIENT,
        cpu="power8",
        minutes=5,
        parts=("KUnit", "selftests", "torture"),
    ),
    Variant("POWER10", ("powerpc",), cpu="power10"),
    Variant("text that can be written", ("powerpc",), ("hibernation",)),
    Variant(
        "no hypervisor",
        ("powerpc",),
        ("powernv",),
        machine="powernv9",
        devices=BARE_METAL,
        parts=("real mode", "boots", "KUnit", "torture"),
    ),
    Variant("a hypervisor and XMON", ("powerpc",), ("powernv", "kvm-hv"), parts=("real mode",)),
    Variant(
        "mflr goes",
        ("powerpc",),
        append="ftrace_mflr=remove",
        parts=("selftests", "ftracetest", "torture"),
    ),
    Variant("its own scripts", ("powerpc",), parts=("scripts",)),
    Variant(
        "32 bits, one CPU",
        ("powerpc",),
        ("small",),
        smp=1,
        kind="ppc32",
        parts=("no core", "changes"),
    ),
    Variant("big-endian", ("powerpc",), kind="ppc64", parts=("no core", "changes")),
    Variant("samples of the function tracer", parts=("samples",)),
    Variant("the rest of ftracetest", parts=("ftracetest",)),
    Variant(
        "ends that x86 shows for all", ("arm64", "riscv", "powerpc"), parts=("ends of guests",)
    ),
    Variant("calls that stay", parts=("stays",)),
    Variant(
        "CPUs that are left alone",
        ("x86", "arm64", "riscv"),
        ("nohz-full",),
        append="nohz_full=1",
        parts=("KUnit", "selftests", "torture"),
    ),
    Variant(
        "CPUs that are left alone, without PAN",
        ("arm64",),
        ("nohz-full", "no-pan"),
        append="nohz_full=1",
        cpu="cortex-a57",
        parts=("KUnit", "selftests", "torture"),
    ),
    Variant("fixed address", append="nokaslr"),
    Variant("four CPUs that take turns", smp=4),
    Variant("32 bits", ("x86",), kind="i386", parts=("boots", "KUnit", "stays")),
    Variant(
        "32 bits, ftrace's tests at boot",
        ("x86",),
        ("startup-tests",),
        kind="i386",
        parts=("boots",),
    ),
    Variant("Xen PV", ("x86",), ("xen",)),
    Variant("one CPU, no modules", ("x86",), ("small",), smp=1, parts=("boots", "KUnit")),
    Variant("locked down", fragments=("lockdown",), parts=("lockdown",)),
    Variant(
        "control flow integrity",
        ("x86", "arm64", "riscv"),
        fragments=("cfi",),
        llvm=True,
        parts=("KUnit", "selftests", "LKDTM"),
    ),
    Variant("ftrace's tests at boot", fragments=("startup-tests",), parts=("boots",)),
    Variant("traced from early boot on", append="ftrace=function", parts=("boots", "KUnit")),
)
PARTS: dict[str, Callable] = {
    "boots": check.boots,
    "BPF alone": core.for_bpf,
    "changes": bare.changes_text,
    "ends of guests": check.same_ends,
    "KUnit": tests.kunit,
    "real mode": realmode.real_mode,
    "selftests": tests.selftests,
    "lockdown": tests.lockdown,
    "no core": core.left_out,
    "ftracetest": tests.ftracetest_rest,
    "LKDTM": tests.lkdtm,
    "samples": tests.samples,
    "scripts": tests.scripts,
    "stays": tests.stays,
    "torture": torture.for_a_while,
    "Ziccif": tests.ziccif,
    "world switch": worldswitch.world_switch,
    "beside a guest": worldswitch.beside_a_guest,
}


# Kernels of other kinds


def _kernel(name, variant):
    return kernel.build_kernel(name, llvm=variant.llvm, fragments=variant.fragments)


def _builds(name, variant):
    _kernel(name, variant)
    yield Result("builds", PASSED)


def _part(name, variant, title):
    """One part of check on a variant's kernel."""
    kdir, arch = _kernel(name, variant), arches.get(name)
    more = {"boots": variant.paging, "torture": variant.minutes}.get(title)
    other = {
        what: word for what in ("machine", "cpu", "devices") if (word := getattr(variant, what))
    }
    where = replace(arch, **other) if other else name
    return PARTS[title](where, kdir, variant.append, variant.smp, *[more] * bool(more))


def _variant(report, name, variant):
    def parts(name=name):
        return [report.parts(name), repr(variant)]

    prefix, name = f"{name}: {variant.name}", variant.kind or name
    if report.keep(f"{prefix}: kernel", lambda: _builds(name, variant), parts):
        for title in variant.parts:
            report.keep(
                f"{prefix}: {title}", lambda title=title: _part(name, variant, title), parts
            )


def _variants(report, name):
    for variant in VARIANTS:
        if name in (variant.arches or (name,)):
            _variant(report, name, variant)


def _clang_boots(name):
    """Where there is no backend there is nothing to test, but a kernel to boot."""
    return check.boots(name, kernel.build_kernel(name, llvm=True))


def _traces(report, names):
    """All of the trace, of which check has a tenth."""
    for name in filter(trace.MACHINES.__contains__, names):
        report.step(
            f"{name}: the whole trace",
            trace.whole,
            name,
            parts=functools.partial(trace.whole_parts, name),
        )
        report.step(
            f"{name}: trace with QEMU {qemus.INSTALLED}",
            trace.installed,
            name,
            parts=functools.partial(trace.parts, name),
        )


# Other kernels of Debian, and other releases of it

SUITE_PARTS = ("boots", "KUnit")
ELSEWHERE = ("gates", "kernel ARCH=x86", "check")


def _on(source, name, title):
    """A kernel of another 6.12.y, or one part of check on it."""
    with suites.as_kernel(source):
        kdir = kernel.build_kernel(name)
        return list(PARTS[title](name, kdir, "", 2)) if title else [Result("builds", PASSED)]


def _suites(report, names):
    """What Debian's suites have besides the pinned version."""
    for source in suites.others():
        for name in names:

            def keep(title, step, name=name, source=source):
                return report.keep(
                    f"{name}: Linux {source.package}: {title}",
                    lambda: _on(source, name, step),
                    lambda: [
                        report.parts(name),
                        patches.variant_files(),
                        made.modules("checks.suites"),
                    ],
                )

            if keep("kernel", ""):
                for title in SUITE_PARTS:
                    keep(title, title)


def _releases(report):
    """Our commands on other releases: the first makes the chroot that the others use."""
    for release in elsewhere.RELEASES:
        for words in ELSEWHERE:
            if not report.keep(
                f"Debian {release}: make {words}",
                lambda release=release, words=words: elsewhere.result(release, words),
            ):
                break


# Packages

# Flavour, and whether with debug information, of what is installed and booted; riscv's and
# powerpc's are only built.
PACKAGES = (("cloud", False), ("cloud", True), ("generic", False))


def _packages(report, names):
    """The packages of `make deb`; where there is a Debian for them they are installed,
    and its tools used.
    """
    for name in names:
        boots = name in installed.ARCHES
        for flavour, debug in PACKAGES if boots else ((deb.flavour_of(name), False),):
            prefix = f"{name}: package {flavour}{' with debug information' * debug}"

            def parts(name=name):
                return [
                    report.parts(name),
                    made.modules("packages.installed"),
                    list(made.folder(deb.OURS)),
                    [installed.LISTEN / each for each in installed.LISTENS],
                ]

            built = report.keep(
                f"{prefix}: built",
                lambda name=name, how=(flavour, debug): installed.packages(name, *how),
                parts,
            )
            if built and boots:
                report.keep(
                    f"{prefix}: installed",
                    lambda name=name, how=(flavour, debug): installed.installed(name, *how),
                    parts,
                )


# Every patch

# Of the kernels after a patch every so many boot too.
BOOTS_EVERY = 5


def built_for(patch):
    """The architectures that can tell whether a patch builds:
    its own, or all if it changes what they share.
    """
    code = [path for path in (*patch.changes, *patch.adds) if path.endswith(CODE)]
    code = [
        path for path in code if path.split("/")[0] not in ("Documentation", "samples", "tools")
    ]
    shared = any(not path.startswith("arch/") for path in code)
    own = {path.split("/")[1] for path in code if path.startswith("arch/")}
    return [
        name for name, arch in arches.ARCHES.items() if not arch.kind_of and (shared or name in own)
    ]


def is_perf_s(patch):
    """Whether a patch changes what perf is built from."""
    parts = tuple(f"tools/{part}/" for part in perf.PARTS)
    return any(path.startswith(parts) for path in (*patch.changes, *patch.adds))


def _stages():
    """(number, patch, files) of the series: what the files that it touches are after a patch,
    whatever its place and change log.
    """
    base = bases.current()
    with series.micro(base.path, base.version) as small:
        files = map(small.files_after, small.commits)
        return [(number, *both) for number, both in enumerate(zip(small.series, files), 1)]


def kernel_files(name, files):
    """Those that an architecture's kernel is built from."""
    return [[path, what] for path, what in files if made.of_kernel(path, name)]


def _after(name, number, boots):
    source, _ = series.source_after(number)
    kdir = kernel.build_part(name, source, boots)
    yield Result("builds", PASSED)
    if boots:
        yield from check.boots(name, kdir)


def _building(name):
    """What a kernel is built from, besides what the series makes of the files that it touches."""
    arch = arches.get(name)
    return [
        name,
        made.base(),
        list(made.configuration(name)),
        made.environment(),
        made.modules("guests.kernel"),
        made.packages(*host.BUILD, *arch.compiler_packages),
        list(made.programs("make", f"{arch.cross}gcc", f"{arch.cross}ld")),
    ]


def _booting(name):
    """And what boots it."""
    return [
        boot.HELLO,
        initramfs.busybox(name),
        made.modules("guests.boot", "guests.initramfs"),
        made.packages(*host.QEMU[name]),
    ]


def _perf_after(number):
    source, _ = series.source_after(number)
    perf.build_part(source)
    yield Result("builds", PASSED)


def _perf_building():
    """What perf is built from, besides what the series makes of the files that it touches."""
    return [
        made.base(),
        made.environment(),
        made.modules("guests.perf"),
        made.packages(*host.BUILD, *host.PERF),
        list(made.programs("make", "gcc", "ld")),
    ]


def _every_perf(report, stages):
    """perf after each patch of its own."""
    building = report.remembered(_perf_building)
    for number, patch, files in stages:
        if is_perf_s(patch):
            report.keep(
                f"perf: after patch: {patch.subject}",
                lambda number=number: _perf_after(number),
                lambda files=files: [
                    [[path, what] for path, what in files if perf.concerns(path)],
                    building(),
                ],
            )


def of_name(stages, name):
    """(stage, whether it boots) of the patches after which an architecture is built."""
    own = [stage for stage in stages if name in built_for(stage[1])]
    return [(stage, place % BOOTS_EVERY == 0) for place, stage in enumerate(own, 1)]


def _every_patch(report, names):
    """An architecture at a time, so that each patch builds only what it changes."""
    stages = _stages()
    building, booting = report.remembered(_building), report.remembered(_booting)
    for name in names:
        for (number, patch, files), boots in of_name(stages, name):
            report.keep(
                f"{name}: after patch: {patch.subject}",
                functools.partial(_after, name, number, boots),
                lambda files=files, boots=boots: [
                    kernel_files(name, files),
                    building(name),
                    *[booting(name)] * boots,
                ],
            )
    _every_perf(report, stages)


# Reading code


def _tools(report, names):
    for title, tool in lint.GENERAL.items():
        report.keep(f"code: {title}", tool)
    for name in names:
        for title, tool in lint.named(name).items():
            report.keep(f"{name}: code: {title}", lambda tool=tool: tool(name))


# The command


def everything():
    """What a step is made from that does not tell: all there is."""
    names = [name for name, arch in arches.ARCHES.items() if not arch.kind_of]
    return [
        list(made.repository()),
        list(made.folder(made.TOOLS)),
        [list(made.architecture(name, OTHER_TOOLS)) for name in names],
    ]


# The code of an architecture's steps, which the table of variants is no part of.
JUDGES = (
    "guests.bare",
    "guests.kernel",
    "guests.tests",
    "guests.torture",
    "guests.endings",
    "records.run",
    "results.report",
    "code.core",
    "code.lint",
    "code.offcost",
    "code.realmode",
    "code.unwatched",
    "code.worldswitch",
)


def parts_of(arch):
    """What an architecture's steps are made from; those of none, from everything."""
    if arch not in arches.ARCHES:
        return everything()
    kinds = [each.name for each in arches.kinds_of(arch)]
    own = [list(made.architecture(each, OTHER_TOOLS)) for each in (arch, *kinds)]
    return [
        own,
        made.modules(*JUDGES),
        # The whole of it uses every module there is.
        [paths.DEV / "textpoke/checks/check.py"],
        [check.UNIT_TESTS / "test_boot.py", paths.DEV / "tp", paths.DEV / "sparse.sh"],
        [[path.name, path] for path in realmode.tables()] if arches.get(arch).real_mode else [],
    ]


def setup():
    """`setup`: all that any command needs."""
    host.setup(more=(*fuzz.PACKAGES, *deb.PACKAGES))


def main(options):
    """`check-full`: the last line counts, as check's does."""
    names = check.names(options)
    backends = [name for name in names if arches.get(name).has_backend]
    kind = Steps if options.flag("LIST") else Kept
    report = kind(kept.Store(options.flag("FRESH")), options.get("ONLY", "*"), parts_of).into(
        "check-full"
    )
    check.everything(report, names)
    report.keep("perf: fuzzer", fuzz.results, fuzz.parts)
    _traces(report, names)
    _tools(report, names)
    for name in backends:
        _variants(report, name)
    for name in backends:
        report.keep(
            f"{name}: coverage",
            lambda name=name: coverage.coverage(name),
            lambda name=name: [report.parts(name), made.modules("checks.coverage")],
        )
    for name in names:
        report.step(
            f"{name}: cases",
            lambda name=name: check.named(name, cases.cases(name)),
            parts=lambda name=name: [
                report.parts(name),
                made.modules("checks.cases"),
                list(made.folder(cases.FOLDER)),
            ],
        )
    for name in [name for name in names if name not in backends]:
        report.keep(f"{name}: clang", lambda name=name: _clang_boots(name))
    _suites(report, backends)
    _releases(report)
    _packages(report, names)
    _every_patch(report, names)
    return report.end()
