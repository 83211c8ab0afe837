# SPDX-License-Identifier: GPL-2.0
"""The hooks and the core call what the models take for granted.

No guest notices a barrier, a cache operation or a synchronisation that is left out inside of
a function: emulation has neither stale fetches nor weak memory. Models notice, but they are
written by hand after the code. So tools/dev/expected/hooks lists which function has to call what,
in which order, and which mutant of a model shows why:

    FILE | FUNCTION | CALL... or nothing | FAMILY/FILE: MUTANT or no model: WHY

Where it has no names for that but assembly, the instructions are listed, `asm:isync`. A file that
the series only changes is read as it is with all patches.

What else a function calls is its own matter, but one that is to call nothing is empty. On
which condition it calls is for the reader to see.
"""

from dataclasses import dataclass

from .. import paths
from ..code.csource import body, called, instructions
from ..results.ktap import FAILED, PASSED, Result
from ..results.tables import FOLDER, rows
from ..series import series

TABLE = FOLDER / "hooks"
BACKENDS = "arch/*/kernel/text_poke.c"
# What a backend may define of them, it has a line for.
HOOKS = (
    "arch_text_poke_flush",
    "arch_text_poke_sync_cpu",
    "arch_text_poke_sync",
    "arch_text_poke_slots_written",
    "arch_text_poke_fetch_mb",
    "arch_text_poke_is_trap",
)
NOTHING, NO_MODEL, ASM = "nothing", "no model: ", "asm:"
FORM = f"FILE | FUNCTION | CALL... or {NOTHING} | MUTANT or {NO_MODEL}WHY"
PREFIX = "hooks"


@dataclass(frozen=True)
class Hook:
    """A function, and what it has to call."""

    path: str
    function: str
    calls: tuple
    mutant: str


def parse(text):
    """The lines of the table."""
    return [
        Hook(path, function, () if calls == NOTHING else tuple(calls.split()), mutant)
        for path, function, calls, mutant in rows(TABLE, FORM, text, lengths=(4,))
    ]


def _first_without(wanted, made):
    made = iter(made)
    return next((call for call in wanted if call not in made), "")


def missing(wanted, code, assembly=()):
    """The first call, or else instruction, that code does not have behind those before it;
    '' if all are there.
    """
    calls = [call for call in wanted if not call.startswith(ASM)]
    return _first_without(calls, called(code)) or _first_without(
        [call for call in wanted if call not in calls], (ASM + each for each in assembly)
    )


def wrong(hook, text, declared):
    """What does not hold, as a sentence; '' if all does."""
    code = body(text, hook.function)
    if code is None:
        return f"{hook.path} has no {hook.function}(): correct {TABLE}"
    if not hook.calls and code.strip():
        return f"{hook.function}() is to do nothing, and has `{' '.join(code.split())}`"
    assembly = instructions(body(text, hook.function, strings=True))
    if call := missing(hook.calls, code, assembly):
        order = f" in the order {' '.join(hook.calls)}" if len(hook.calls) > 1 else ""
        has = f"have {call}" if call.startswith(ASM) else f"call {call}()"
        return f"{hook.function}() does not {has}{order}: {hook.mutant}"
    if not hook.mutant.startswith(NO_MODEL) and hook.mutant not in declared:
        return f"no model has the mutant `{hook.mutant}`: correct {TABLE}"
    return ""


def unlisted(hooks, root):
    """(file, function) of each hook of a backend without a line."""
    listed = {(hook.path, hook.function) for hook in hooks}
    for path in sorted(root.glob(BACKENDS)):
        text, name = path.read_text(), str(path.relative_to(root))
        yield from (
            (name, hook)
            for hook in HOOKS
            if body(text, hook) is not None and (name, hook) not in listed
        )


def place(path, root=paths.ROOT, patched=series.source_tree):
    """Where a file is as the last patch leaves it: here, or else among those of a whole tree."""
    return root / path if (root / path).is_file() else patched() / path


def results(declared, root=paths.ROOT, table=TABLE, patched=series.source_tree):
    """A result for each function; declared: the mutants of all models; patched() gives a tree."""
    hooks = parse(table.read_text())
    for hook in hooks:
        path = place(hook.path, root, patched)
        found = (
            wrong(hook, path.read_text(), declared)
            if path.is_file()
            else f"there is no {hook.path}: correct {table}"
        )
        yield Result(f"{PREFIX}: {hook.path}: {hook.function}", FAILED if found else PASSED, found)
    for path, function in unlisted(hooks, root):
        yield Result(
            f"{PREFIX}: {path}: {function}",
            FAILED,
            f"{table} has no line for it: say what it has to call",
        )
