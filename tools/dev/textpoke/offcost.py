# SPDX-License-Identifier: GPL-2.0
"""What the runtime checker, the broken steps and the faults cost a kernel that has none of them: nothing.

The core's and the backend's sources are compiled twice with the very command that builds the
kernel: as they are, and without any mention of what can be switched off. Both have to come to
the same instructions.
"""

import re
import shlex
import tempfile
from pathlib import Path

from . import arch as arches
from . import kernel, series
from .errors import INFRA, Fail
from .ktap import FAILED, PASSED, Result
from .say import output

CORE = "kernel/text_poke/"
SOURCES = ("kernel/text_poke/core.c", "kernel/text_poke/path.c", "kernel/text_poke/trap.c", "kernel/text_poke/slot.c", "arch/{arch}/kernel/text_poke.c")
FRAGMENTS = ("bench",)
# What is mentioned, and what stands there if it is not: C text of the same type.
MENTIONS = {
    "busted": "0",
    "text_poke_skips_sync": "0",
    "text_poke_should_fail": "0",
    "text_poke_store_fails": "0",
    "text_poke_plan_stores": "((void)0)",
    "text_poke_dawdle": "((void)0)",
    "text_poke_bust_record": "1",
    r"text_poke_check_\w+": "((void)0)",
}
HOOK = re.compile("|".join(rf"\b(?P<h{i}>{name})\(" for i, name in enumerate(MENTIONS)))
COMMAND = re.compile(r"^savedcmd_\S+ := (.*?)(?: ; .*)?$")
INSTRUCTION = re.compile(r"^\s*[0-9a-f]+:\t")


def _closing(text, at):
    """Where the parenthesis before `at` is closed, one further."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def without(text):
    """A source without any mention, its lines where they were."""
    done, at = [], 0
    while found := HOOK.search(text, at):
        end = _closing(text, found.end())
        instead = list(MENTIONS.values())[int(found.lastgroup[1:])]
        done += [text[at:found.start()], instead, "\n" * text.count("\n", found.start(), end)]
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
    return [line for line in shown.splitlines() if INSTRUCTION.match(line) or "R_" in line or line.endswith(">:")]


def compare(path, kdir, arch):
    """A result for a source: whether it comes to the same with and without."""
    text = (series.source_tree() / path).read_text()
    with tempfile.TemporaryDirectory() as folder:
        both = [_instructions(path, each, kdir, arch, Path(folder)) for each in (text, without(text))]
    name = f"{path} has no instruction for what is switched off"
    if both[0] == both[1]:
        return Result(name, PASSED, f"{len(both[0])} lines of code are the same")
    there, gone = len(both[0]), len(both[1])
    return Result(name, FAILED, f"{there} lines of code as it is, {gone} without {', '.join(MENTIONS)}")


def results(name):
    """A result for every source that the kernel without a checker is built from."""
    arch = arches.get(name)
    sources = [source.format(arch=arch.name) for source in SOURCES]
    kdir = kernel.build_objects(arch, (CORE, sources[-1].replace(".c", ".o")), fragments=FRAGMENTS)
    for path in sources:
        if (kdir / Path(path).with_suffix(".o")).exists():
            yield compare(path, kdir, arch)
