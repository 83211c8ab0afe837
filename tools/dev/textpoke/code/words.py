# SPDX-License-Identifier: GPL-2.0
"""The words that the series, its documents and these tools do without;
tools/dev/terms.md has those that they use instead.

In sentences the names of things are not looked at; a name is what has an underscore, a hyphen
before it, or the ending of a file behind it. The series' code and its messages have a shorter
list: code that upstream owns, and perf's word for all events of a process, may go by the rest.
"""

import io
import itertools
import re
import tokenize

from .. import paths
from ..git import decode
from ..series import patches
from . import standards

DOCUMENTS = (
    "CONTRIBUTING.md",
    "FIGURES.md",
    "INSTALL.md",
    "README.md",
    "TESTING.md",
    "NEWS",
    "MAINTAINERS",
)
# Of the tools' folders, those that hold more than Python.
TABLES = ("cases", "config", "expected", "fuzz", "guest", "overlay", "trace")

# Marked in sentences, in names, and in messages that code holds.
_ANYWHERE = (
    r"who(?:m|ever)?|(?:some|any|every)(?:body|one)|nobody|deaf|dawdl(?:e|es|ed|ing)|pluggers?"
)
# Marked in sentences alone.
_IN_SENTENCES = r"whomever|no[ ]one|s?he|him|his|himself|listeners?"
_ACT = r"act(?:s|ed|ing)?"
MARKED = re.compile(
    rf"(?<![\w@-])(?:{_ANYWHERE}|{_IN_SENTENCES}|{_ACT}(?:\s|[*#])+as)(?!\w|\.[chS]\b)", re.I
)
IN_CODE = re.compile(rf"(?<![^\W_])(?:{_ANYWHERE}|{_ACT}[_ ]as)(?![^\W_])", re.I)
# Files that hold code, by their endings.
CODE = (".c", ".h", ".S", ".pml", ".litmus", ".sh")

_COMMENT = re.compile(r'(?P<comment>/\*.*?\*/|//[^\n]*)|"(?:\\.|[^"\\\n])*"', re.S)
_STRING = re.compile(r'"[^"\n]*"')
_INSIDE = re.compile(r"\s*\*[ /]")
_FILE = re.compile(r"diff --git a/\S+ b/(\S+)")
_HASH = re.compile(r"(?<!\S)#[^\n]*")


def _blank(text):
    """As many lines with nothing in them."""
    return "\n" * text.count("\n")


def _of_code(text):
    """The comments alone, in their lines."""
    found, at = [], 0
    for match in _COMMENT.finditer(text):
        found += [_blank(text[at : match.start()]), match["comment"] or " "]
        at = match.end()
    return "".join(found)


def _of_script(text):
    """The comments of a script, in their lines."""
    return "\n".join(" ".join(_HASH.findall(line)) for line in text.split("\n"))


def _of_python(text):
    """The comments and docstrings of Python, in their lines; only comments where it has none of
    its grammar, as in a hunk.
    """
    found, begins = [""] * (1 + text.count("\n")), True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT or begins and token.type == tokenize.STRING:
                for number, line in enumerate(token.string.split("\n"), token.start[0] - 1):
                    found[number] += f" {line}"
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    except (tokenize.TokenError, SyntaxError):
        return _of_script(text)
    return "\n".join(found)


def _of_litmus(text):
    """What stands above the test, without the code that its mutants quote."""
    return _STRING.sub("", text.partition("\n *)\n")[0])


def _of_new_lines(path, lines):
    """The comments of what hunks add to a file, in their lines: those that begin in the context,
    or above it, too.
    """
    new = ["" if line.startswith("-") else line[1:] for line in lines]
    comments = prose(path, "\n".join(new)).split("\n")
    inside = [
        text.partition("*/")[0] if _INSIDE.match(text) else comment
        for text, comment in itertools.zip_longest(new, comments, fillvalue="")
    ]
    return [comment if line.startswith("+") else "" for line, comment in zip(lines, inside)]


def _of_hunks(lines):
    """The same of all files of a patch."""
    found, begin = [], 0
    for at in [*(at for at, line in enumerate(lines) if _FILE.match(line)), len(lines)]:
        if named := _FILE.match(lines[begin]) if begin < at else None:
            # The four lines or so above its first hunk are the patch's own.
            body = next((i for i in range(begin, at) if lines[i].startswith("@@")), at)
            found += [""] * (body - begin) + _of_new_lines(named[1], lines[body:at])
        else:
            found += [""] * (at - begin)
        begin = at
    return found


def _of_patch(text):
    """What stands above the hunks, and the comments that they add."""
    log, rule, hunks = text.partition("\n---\n")
    return log + (rule and "\n\n" + "\n".join(_of_hunks(hunks.split("\n"))))


_READERS = {
    ".c": _of_code,
    ".h": _of_code,
    ".S": _of_code,
    ".pml": _of_code,
    ".litmus": _of_litmus,
    ".sh": _of_script,
    ".py": _of_python,
    "tools/dev/tp": _of_python,
    "Makefile": _of_script,
    ".patch": _of_patch,
    patches.HUNKS: _of_patch,
}


def prose(path, text):
    """The sentences of a file, in the lines where they stand."""
    return next((read for ending, read in _READERS.items() if path.endswith(ending)), str)(text)


def _logs():
    """The files with the change logs of patches and variants, and the cover letters."""
    for file in (paths.ROOT / patches.FOLDER).iterdir():
        if file.name.endswith((".patch", patches.HUNKS, patches.COVER)):
            yield f"{patches.FOLDER}/{file.name}", file


def _tools():
    """The tools' Python and their tests', and what runs in guests or stands in tables."""
    for name in standards.PYTHON:
        top = paths.ROOT / "tools/dev" / name
        for file in [top] if top.is_file() else top.rglob("*.py"):
            yield str(file.relative_to(paths.ROOT)), file
    for name in TABLES:
        for file in (paths.ROOT / "tools/dev" / name).rglob("*"):
            yield str(file.relative_to(paths.ROOT)), file


def _read(files):
    return (
        (path, decode(file.read_bytes())) for path, file in sorted(files.items()) if file.is_file()
    )


def _marked(pattern, path, text):
    for match in pattern.finditer(text):
        word = " ".join(re.sub("[*#]", " ", match[0]).split())
        yield path, 1 + text.count("\n", 0, match.start()), word


def found():
    """(file, line, word) of all that is marked."""
    kept, documents = patches.kept(), {name: paths.ROOT / name for name in DOCUMENTS}
    for path, text in _read(kept | documents | dict(_logs()) | dict(_tools())):
        told = list(_marked(MARKED, path, prose(path, text)))
        if not told and path in kept and path.endswith(CODE):
            told = _marked(IN_CODE, path, text)
        yield from told
