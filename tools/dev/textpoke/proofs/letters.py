# SPDX-License-Identifier: GPL-2.0
"""The letters a to h: the code, its documentation and the models have to mean the same by them.

The code has them in comments behind the statements that take a step, `/* b */`. What a
statement does is told by the names in it, the order of the steps by what each of them
works on: a round of write_round() takes a wave from what was synced after one step to the
next, so that the syncs' letters are those in between.

A model has each letter behind what stands for the step, `/* b */`, `// b` or `(* b *)`,
with or without a word (`/* b: trap */`), and may say in a comment which steps it has:

    Steps: f g h
    Left out: a b c d e

Without these lines it has all of them. `Steps: none` is for a model of something else.
"""

import re

from .. import paths
from ..code.csource import arguments, called
from ..errors import INFRA, Fail
from ..results.ktap import FAILED, PASSED, Result

CORE = paths.ROOT / "kernel/text_poke/guard.c"
TIMELINES = (
    paths.ROOT / "include/linux/text_poke.h",
    paths.ROOT / "Documentation/core-api/text-poke.rst",
)
MODELS = (
    (paths.ROOT / "tools/verification/text_poke", ("*.litmus", "*.pml")),
    (paths.ROOT / "Documentation/litmus-tests/text-poke", ("*.litmus",)),
)

# What a step is called, by what the code calls to take it.
WORDS = {
    "text_poke_publish": "publish",
    "PASS_ARM": "trap",
    "sync_cpus": "sync",
    "emit_records": "record",
    "PASS_TAIL": "tail",
    "PASS_FINAL": "unit",
    "text_poke_retire": "retire",
}

_CODE = re.compile(r"^(?P<statement>.*\S)\s*/\* (?P<letters>[a-z](?: [a-z])*) \*/$", re.M)
_MAKES = re.compile(r"&\w+->(\w+)")
_BOUND = re.compile(r"\w+\.(\w+)|\w+")
_LINE = re.compile(r"^[ *]*(?P<letter>[a-z]): (?P<text>\S.*?)(?: \.\.\..*| {2,}.*)?$", re.M)
_MARK = re.compile(
    r"(?:/\*|//|\(\*) *(?P<letters>[a-z](?: [a-z])*)(?:: *(?P<word>\w+))? *(?:\*/|\*\)|$)", re.M
)


def _bad(path, sentence):
    return Fail(INFRA, f"{path.name}: {sentence}")


# The code


def _word(path, statement):
    """What a statement does."""
    found = [word for name, word in WORDS.items() if name in statement]
    if len(found) != 1:
        raise _bad(path, f"`{statement.strip()}` has a letter, but does not say which step it is")
    return found[0]


def _wave(statement):
    """(what of a round a step makes, after what of the synced ones it comes);
    '' if it is for no wave.

    Its last two arguments say so: where the step has got to, in what the round has made, and how
    far it may get, which is what was synced after another step, or the end of the wave.
    """
    made, bound = ["", "", *arguments(statement, called(statement)[0])][-2:]
    makes, bound = _MAKES.fullmatch(made), _BOUND.fullmatch(bound)
    return (makes[1], bound[1]) if makes and bound else ("", None)


def _stages(path, steps):
    """The steps of a round that a wave takes together, in the order in which it takes them."""
    stages, made = [], {None}
    while steps:
        ready = [step for step in steps if step[2] in made]
        if not ready:
            raise _bad(path, f"step {steps[0][0]} waits for something that no step does")
        stages.append([(letter, word) for letter, word, _, _ in ready])
        made = {makes for _, _, _, makes in ready}
        steps = [step for step in steps if step not in ready]
    return stages


def _read(path, text):
    """The lettered statements: those of a round as (letter, word, after, makes), the syncs,
    and those around the rounds.
    """
    waves: list = []
    syncs: list = []
    around: list = []
    for match in _CODE.finditer(text):
        word, letters = _word(path, match["statement"]), match["letters"].split()
        makes, after = _wave(match["statement"])
        if word == "sync":
            syncs += letters
        elif len(letters) != 1:
            raise _bad(path, f"`{match['statement'].strip()}` has more than one letter")
        elif word in ("publish", "retire"):
            around.append((letters[0], word))
        elif makes:
            waves.append((letters[0], word, after, makes))
        else:
            raise _bad(path, f"step {letters[0]} does not say what it works on")
    return waves, syncs, around


def of_code(path, text):
    """(letter, word) of every step that the code takes, in the order in which a site sees them."""
    waves, syncs, around = _read(path, text)
    stages = _stages(path, waves)
    if len(stages) != len(syncs) or [word for _, word in around] != ["publish", "retire"]:
        raise _bad(
            path,
            f"{len(stages)} stages of a wave with {len(syncs)} syncs between {len(around)} steps "
            "are no protocol",
        )
    taken = [step for stage, letter in zip(stages, syncs) for step in (*stage, (letter, "sync"))]
    steps = [around[0], *taken, around[1]]
    if (letters := [letter for letter, _ in steps]) != sorted(letters):
        raise _bad(path, f"the steps are taken in the order {' '.join(letters)}")
    return steps


# What is written about it


def of_timeline(path, text):
    """(letter, word) of the lines of a timeline."""
    _, found, rest = text.partition("The protocol")
    steps = []
    for match in _LINE.finditer(rest):
        for part in match["text"].split(";"):
            word = next((word for word in part.split() if word.rstrip("s") in WORDS.values()), None)
            if word is None:
                raise _bad(
                    path,
                    f"step {match['letter']}, `{part.strip()}`, is called by no name of a step",
                )
            steps.append((match["letter"], word.rstrip("s")))
    if not found or not steps:
        raise _bad(path, "it has no timeline of the protocol")
    return steps


# Models


def _listed(text, title):
    """The letters of a line of a model's comment; None: there is no such line."""
    match = re.search(rf"^\W*{title}: (none|[a-z](?: [a-z])*)$", text, re.M)
    return match[1].replace("none", "").split() if match else None


def _in_order(letters):
    """Whether letters ascend; after the last step of a batch the next one may begin."""
    return all(one < other or one == "h" for one, other in zip(letters, letters[1:]))


def _marks(path, text, words):
    """The letters at a model's steps, in their order; words: letter -> what the code does there."""
    letters: list[str] = []
    sure = True
    for match in _MARK.finditer(text):
        here = match["letters"].split()
        if unknown := [letter for letter in here if letter not in words]:
            raise _bad(path, f"the code has no step {unknown[0]}")
        if match["word"] and any(match["word"] not in words[letter] for letter in here):
            raise _bad(
                path,
                f"it calls step {here[0]} {match['word']}, which the code calls "
                f"{' and '.join(words[here[0]])}",
            )
        letters, sure = letters + here, sure and len(here) == 1
    return letters if sure else sorted(set(letters))


def check_model(path, text, steps):
    """Raise Fail if a model's steps are not those that it says, or not the code's."""
    words = {letter: [word for one, word in steps if one == letter] for letter, _ in steps}
    marks, said, left_out = (
        _marks(path, text, words),
        _listed(text, "Steps"),
        _listed(text, "Left out") or [],
    )
    if said is None:
        said = [letter for letter in words if letter not in left_out]
    if said and sorted(set(said + left_out)) != sorted(words) or set(said) & set(left_out):
        raise _bad(
            path,
            f"steps {' '.join(said)} and left out {' '.join(left_out) or 'none'} are not "
            f"{' '.join(words)} of the code",
        )
    if marks != said:
        raise _bad(
            path,
            f"it says that it takes steps {' '.join(said) or 'none'}, and takes "
            f"{' '.join(marks) or 'none'}",
        )
    if not _in_order(marks):
        raise _bad(path, f"steps {' '.join(marks)} are in another order than the code's")


def check_timeline(path, text, steps):
    """Raise Fail if a timeline is not the code's."""
    if (said := of_timeline(path, text)) != steps:
        wrong = [step for step in said if step not in steps] + [
            step for step in steps if step not in said
        ]
        what = f"{wrong[0][0]}, {wrong[0][1]}," if wrong else "the order"
        raise _bad(path, f"{what} is not as in {CORE.name}")


# Results


def models():
    """Every file that has letters, without the broken twins, which are like their originals."""
    for folder, patterns in MODELS:
        for pattern in patterns:
            yield from (
                path for path in sorted(folder.rglob(pattern)) if not path.stem.endswith("-broken")
            )


def _result(path, check, steps):
    name = f"letters: {path.relative_to(paths.ROOT)}"
    try:
        check(path, path.read_text(), steps)
    except Fail as failure:
        return Result(name, FAILED, failure.message)
    return Result(name, PASSED)


def results():
    """A result for the code, and one for each file that uses its letters."""
    steps = of_code(CORE, CORE.read_text())
    yield Result(
        f"letters: {CORE.relative_to(paths.ROOT)}",
        PASSED,
        " ".join(f"{letter}:{word}" for letter, word in steps),
    )
    for path in TIMELINES:
        yield _result(path, check_timeline, steps)
    for path in models():
        yield _result(path, check_model, steps)
