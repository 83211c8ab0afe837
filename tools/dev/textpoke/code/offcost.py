# SPDX-License-Identifier: GPL-2.0
"""What the runtime checker, the faults,
the tests and the overlay cost a kernel that has none of them: nothing.

The core's and the backend's sources are compiled with the very command that builds the kernel:
as the series has them, and without any mention of what can be switched off. Both have to come to
the same instructions. What the overlay changes is compiled with that as well: the compiler may
use other registers then, but there must be no symbol more, nor one less, that it refers to.
"""

import re
import shlex
import tempfile
from pathlib import Path

from .. import arch as arches
from .. import paths
from ..errors import INFRA, Fail
from ..guests import kernel
from ..results.ktap import FAILED, PASSED, Result
from ..say import output
from ..series import overlay, series
from .csource import closing

CORE = "kernel/text_poke/"
# Not stop.c: to be without a call of nothing lets GCC number its registers in another way.
SOURCES = (
    *(
        f"{CORE}{name}.c"
        for name in ("core", "guard", "path", "report", "settle", "slot", "sync", "trap", "write")
    ),
    "arch/{arch}/kernel/text_poke.c",
)
FRAGMENTS = ("bench",)
# What is mentioned, and what stands there if it is not: C text of the same type, or another
# function's name.
MENTIONS = {
    "is_replaced": "0",
    "text_poke_store": "arch_text_poke_store(",
    "text_poke_should_fail": "0",
    "text_poke_store_fails": "0",
    "text_poke_plan_stores": "((void)0)",
    "text_poke_delay": "((void)0)",
    r"text_poke_check_\w+": "((void)0)",
}
HOOK = re.compile("|".join(rf"\b(?P<h{i}>{name})\(" for i, name in enumerate(MENTIONS)))
COMMAND = re.compile(r"^savedcmd_\S+ := (.*?)(?: ; .*)?$")
INSTRUCTION = re.compile(r"^\s*[0-9a-f]+:\t")
# What a relocation is to; not a place in the object itself.
SYMBOL = re.compile(r"\bR_\w+\s+(\w[\w.$]*)")


def without(text):
    """A source without any mention, its lines where they were."""
    done, at = [], 0
    while found := HOOK.search(text, at):
        assert found.lastgroup, "each mention is a group"
        instead = list(MENTIONS.values())[int(found.lastgroup[1:])]
        end = found.end() if instead.endswith("(") else closing(text, found.end())
        done += [text[at : found.start()], instead, "\n" * text.count("\n", found.start(), end)]
        at = end
    return "".join([*done, text[at:]])


def command(line, source, out):
    """The compiler's command of a .cmd file, for another source and object."""
    found = COMMAND.match(line)
    if not found:
        raise Fail(INFRA, f"`{line[:60]}` is not how a kernel's build writes its commands down")
    words = [word for word in shlex.split(found[1]) if not word.startswith("-Wp,-MMD")]
    words[words.index("-o") + 1], words[-1] = str(out), str(source)
    return words


def _instructions(path, text, kdir, arch, folder):
    """The instructions and relocations of a source's text, compiled as the kernel's was."""
    source, out = folder / Path(path).name, folder / "out.o"
    source.write_text(text)
    line = (kdir / Path(path).parent / f".{Path(path).stem}.o.cmd").read_text().splitlines()[0]
    here = series.source_tree() / Path(path).parent
    output([*command(line, source, out), f"-iquote{here}"], cwd=kdir)
    shown = output([f"{arch.cross}objdump", "-dr", "--no-show-raw-insn", out])
    return [
        line
        for line in shown.splitlines()
        if INSTRUCTION.match(line) or "R_" in line or line.endswith(">:")
    ]


def symbols(code):
    """What instructions refer to outside of their function, but for addresses."""
    return {found[1] for line in code if (found := SYMBOL.search(line))}


def compare(path, kdir, arch):
    """A result for a source: whether it comes to the same with and without."""
    text, overlaid = (paths.ROOT / path).read_text(), (series.source_tree() / path).read_text()
    with tempfile.TemporaryDirectory() as folder:
        own, bare, over = (
            _instructions(path, each, kdir, arch, Path(folder))
            for each in (text, without(text), overlaid)
        )
    name = f"{path} has no instruction for what is switched off"
    if own != bare:
        return Result(
            name,
            FAILED,
            f"{len(own)} lines of code as it is, {len(bare)} without {', '.join(MENTIONS)}",
        )
    if other := sorted(symbols(own) ^ symbols(over)):
        return Result(
            name,
            FAILED,
            f"only with or only without {overlay.FOLDER} it refers to {', '.join(other)}",
        )
    return Result(name, PASSED, f"{len(own)} lines of code are the same")


def results(name):
    """A result for every source that the kernel without a checker is built from."""
    arch = arches.get(name)
    sources = [source.format(arch=arch.name) for source in SOURCES]
    kdir = kernel.build_objects(arch, (CORE, sources[-1].replace(".c", ".o")), fragments=FRAGMENTS)
    for path in sources:
        if (kdir / Path(path).with_suffix(".o")).exists():
            yield compare(path, kdir, arch)
