# SPDX-License-Identifier: GPL-2.0
"""Is the core in a kernel, and what uses it, or nothing of it? Read off vmlinux.

For kernels that are built and not booted, or have no tests of their own: where only BPF changes
text, and where the series has no backend and leaves everything as it is.
"""

from .. import arch as arches
from ..errors import INFRA, Fail
from .calls import SYMBOL, judged, matches

CORE = "text_poke_write_batch"  # what every change of text comes to
BPF = "bpf_arch_text_poke"  # BPF's own of that name is weak, and refuses
STRONG = ("T", "t")
# What changes text elsewhere: where it is, nm's words were read rightly.
OTHERS = ("patch_instruction", "arch_jump_label_transform", "arch_arm_kprobe", "ftrace_make_call")


def symbols(kdir, tools):
    """name -> nm's letter of what a kernel defines."""
    found = matches(SYMBOL, f"{tools}nm", "--defined-only", kdir / "vmlinux")
    return {match["name"]: match["type"] for match in found}


def used_by_bpf(found):
    """Results of the symbols of a kernel in which BPF is all that changes text."""
    yield judged("the core is there", [f"no {CORE}"] * (found.get(CORE) not in STRONG))
    kind = found.get(BPF)
    wrong = [] if kind in STRONG else [f"{BPF} is {'weak' if kind else 'not there'}"]
    yield judged("BPF changes its own text", wrong)


def absent(found):
    """Results of the symbols of a kernel that the series leaves as it is."""
    if lacking := [name for name in OTHERS if name not in found]:
        raise Fail(
            INFRA, f"vmlinux seems to have no {', '.join(lacking)}: nothing changes its text"
        )
    yield judged("nothing of the core is there", [CORE] * (CORE in found))


def _of(name, kdir, judge):
    return judge(symbols(kdir, arches.get(name).cross))


def for_bpf(name, kdir, *_):
    """Results of a kernel that has the core for BPF alone."""
    yield from _of(name, kdir, used_by_bpf)


def left_out(name, kdir, *_):
    """Results of a kernel that has no core."""
    yield from _of(name, kdir, absent)
