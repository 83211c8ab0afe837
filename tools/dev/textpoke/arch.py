# SPDX-License-Identifier: GPL-2.0
"""The architectures, as data: nothing else in these tools knows one from another."""

from dataclasses import dataclass, replace

from . import host
from .errors import USAGE, Fail


@dataclass(frozen=True)
class Arch:
    """All that is needed to build a kernel and a guest for an architecture, and to boot them."""

    name: str  # what users call it
    cross: str  # CROSS_COMPILE
    target: str  # make target of what is booted
    image: str  # its path in a build folder
    debarch: str
    busybox: str  # Debian release with busybox-static for it
    qemu: str  # program
    machine: str
    cpu: str
    console: str  # words on the kernel's command line
    sysrq: str = ""  # what comes before the letter of a SysRq there; empty: a break
    devices: tuple = ()  # QEMU options that only this one needs
    machines: tuple = ()  # other machines of QEMU, on which other lines of the backend are executed
    has_backend: bool = False  # whether the series can change its text
    kunit: tuple = ()  # suites that it has besides those of all
    # words on the kernel's command line with which KUnit's suites run once more
    kunit_also: tuple = ()
    selftests: tuple = ()  # targets of the kernel's own that make check runs, besides those for all
    # of these, TARGET:PROGRAM that count instructions, for a guest of their own that has such a
    # counter
    counted: tuple = ()
    # whether CPUs that run user mode without a tick are left alone when text changes
    isolates: bool = False
    # scripts below the kernel's selftests that need nothing built, for check-full
    scripts: tuple = ()
    # whether kernel text also runs in real mode, where the trap cannot be taken
    real_mode: bool = False
    torture: tuple = ()  # what the torture test has to do here, besides what it does everywhere
    torture_append: str = ""  # words on the kernel's command line for that
    endings: tuple = ()  # how another kernel may go on where this one ends in the middle of a batch
    next_kernel: str = ""  # path in a build folder of what kexec takes, if that is not the image
    # fragments without which the base has no tracer: for what is compared with it
    base_fragments: tuple = ()
    objtool: bool = False  # whether the kernel's build checks noinstr text for it
    llvm: str = ""  # why LLVM=1 is refused; empty: it is not
    lkdtm: str = ""  # why LKDTM's cases cannot be tried; empty: they can
    # CPU of QEMU's that does not announce Ziccif, which a kernel has to tell of at boot
    no_ziccif: str = ""
    kind_of: str = (
        ""  # the architecture that this is another kind of; only check-full comes here by itself
    )
    make_arch: str = ""  # the kernel's ARCH=, if that is not the name
    # what the compiler is told for a program, where there is no busybox but an init of ours
    program: tuple = ()

    def __str__(self):
        """One that differs from an architecture's own, in its machine perhaps,
        goes by the same name.
        """
        return self.name

    @property
    def source(self):
        """The folder of its own in arch/."""
        return self.kind_of or self.name

    @property
    def kernel_arch(self):
        """The kernel's ARCH=."""
        return self.make_arch or self.name

    @property
    def compiler_packages(self):
        """What cross-compiles for it with GCC."""
        return host.CROSS[self.name]


# no_timer_check, as KVM's guests have it: where the host is busy too few ticks may come while the
# kernel waits for them, and it panics ("IO-APIC + timer doesn't work").
_X86 = Arch(
    name="x86",
    cross="",
    target="bzImage",
    image="arch/x86/boot/bzImage",
    debarch="amd64",
    busybox="bookworm",
    qemu="qemu-system-x86_64",
    machine="q35",
    cpu="max",
    console="console=ttyS0 earlyprintk=ttyS0 no_timer_check",
    has_backend=True,
    kunit=("text_poke_catch_up", "text_poke_bpf"),
    selftests=("livepatch", "perf_events", "user_patch"),
    objtool=True,
    isolates=True,
    endings=("crash", "kexec"),
    torture=("livepatch", "calls-nmi"),
)

# QEMU's "max" would be an AMD processor that 32-bit kernels do not want two of.
_I386 = replace(
    _X86,
    name="i386",
    debarch="i386",
    qemu="qemu-system-i386",
    cpu="Nehalem",
    kunit=(),
    selftests=(),
    objtool=False,
    isolates=False,
    torture=(),
    endings=(),
    kind_of="x86",
)

# pauth-impdef: the architected pointer authentication costs a third of the time under emulation.
# lpa2: without it there are four levels of page tables, where the emulation would load from five.
_ARM64 = Arch(
    name="arm64",
    cross="aarch64-linux-gnu-",
    target="Image",
    image="arch/arm64/boot/Image",
    debarch="arm64",
    busybox="bookworm",
    qemu="qemu-system-aarch64",
    machine="virt,gic-version=3",
    cpu="max,pauth-impdef=on,lpa2=off",
    console="console=ttyAMA0 earlycon",
    has_backend=True,
    kunit=("text_poke_stop", "text_poke_catch_up", "text_poke_bpf"),
    isolates=True,
    selftests=("perf_events", "user_patch"),
    counted=("perf_events:remove_on_exec",),
    # Then backtraces come by NMI, and the overflows of counters, in which the test reads.
    torture=("pseudo-nmis", "calls-nmi"),
    torture_append="irqchip.gicv3_pseudo_nmi=1",
    # Not by kexec, batch or no batch: with 52 bits of addresses it dies as it copies page tables,
    # with fewer the second kernel dies when it comes to its timer.
    endings=("crash",),
)

# sv39: each level of page tables is one more load that the emulation makes for a page.
_RISCV = Arch(
    name="riscv",
    cross="riscv64-linux-gnu-",
    target="Image",
    image="arch/riscv/boot/Image",
    debarch="riscv64",
    busybox="trixie",
    qemu="qemu-system-riscv64",
    machine="virt,aia=aplic-imsic",
    cpu="max,sv39=on",
    machines=("virt",),  # without AIA, firmware has the other harts fetch anew
    console="console=ttyS0 earlycon=sbi",
    devices=("-bios", "default"),
    has_backend=True,
    kunit=("text_poke_slot", "text_poke_catch_up", "text_poke_bpf", "riscv_ftrace"),
    isolates=True,
    base_fragments=("no-preempt",),
    # It takes vmlinux only, and from vmlinux itself the relocations are removed that the kernel
    # needs to boot.
    endings=("crash", "kexec"),
    next_kernel="vmlinux.relocs",
    # Of the privileged architecture 1.10; Ziccif is not older than 1.11.
    no_ziccif="sifive-u54",
    lkdtm="Linux 6.12 on RISC-V panics at every BUG(), which it takes for one in an interrupt",
)

# The capabilities are mitigations that the emulation does not have and complains about.
_POWERPC = Arch(
    name="powerpc",
    cross="powerpc64le-linux-gnu-",
    target="vmlinux",
    image="vmlinux",
    debarch="ppc64el",
    busybox="bookworm",
    qemu="qemu-system-ppc64",
    machine="pseries,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off",
    cpu="power9",
    console="console=hvc0",
    sysrq="\x0f",
    has_backend=True,
    kunit=("text_poke_slot", "powerpc_ftrace"),
    kunit_also=("ftrace_mflr=remove",),
    selftests=("livepatch",),
    scripts=("powerpc/security/mitigation-patching.sh", "powerpc/mm/stress_code_patching.sh"),
    real_mode=True,
    endings=("crash", "kexec"),
    torture=("livepatch",),
)

# What the series leaves as it is, of an architecture with a backend. The compiler can do both, but
# Debian has no busybox for them.
_UNTOUCHED = {
    "has_backend": False,
    "kunit": (),
    "kunit_also": (),
    "scripts": (),
    "real_mode": False,
    "kind_of": "powerpc",
    "make_arch": "powerpc",
}
_BIG_ENDIAN = ("-mbig-endian", "-mno-vsx")
_PPC32 = replace(
    _POWERPC,
    name="ppc32",
    debarch="powerpc",
    qemu="qemu-system-ppc",
    machine="mac99,via=pmu,graphics=off",
    cpu="g4",
    console="console=ttyPZ0",
    sysrq="",
    program=("-m32", *_BIG_ENDIAN),
    **_UNTOUCHED,
)
_PPC64 = replace(_POWERPC, name="ppc64", debarch="ppc64", program=_BIG_ENDIAN, **_UNTOUCHED)

ARCHES = {arch.name: arch for arch in (_X86, _ARM64, _RISCV, _POWERPC, _I386)}
# Only check-full knows these.
KINDS = {arch.name: arch for arch in (_PPC32, _PPC64)}


def get(arch):
    """The Arch of a name; an Arch is its own."""
    if isinstance(arch, Arch):
        return arch
    if arch not in ARCHES | KINDS:
        raise Fail(USAGE, f"ARCH={arch} is not known: it is one of {', '.join(ARCHES)}")
    return (ARCHES | KINDS)[arch]


def kinds_of(name):
    """The other kinds of an architecture."""
    return [arch for arch in (ARCHES | KINDS).values() if arch.kind_of == name]
