# SPDX-License-Identifier: GPL-2.0
"""Reading C as far as these tools have to: functions, calls and their arguments, by names alone.

It is no parser: what the preprocessor makes of a text is not seen, and a function begins at the
left margin and ends with a brace there.
"""

import re

_NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_STRING = r'"(?:\\.|[^"\\\n])*"'
_ASM = re.compile(rf"\basm\s+(?:volatile\s*)?\(\s*((?:{_STRING}\s*)+)")
_CALL = re.compile(r"\b(\w+)\s*\(")


def code(text):
    """A text without its comments and strings."""
    return _NO_CODE.sub(" ", text)


def body(text, name, strings=False):
    """What stands between the braces of a function, without comments and strings, or with
    these; None: the text does not define it.
    """
    start = rf"^(?![ \t#])[^;{{}}#]*?\b{name}\([^;{{}}]*\)\s*"
    text = _COMMENT.sub(" ", text) if strings else code(text)
    match = re.search(start + r"(?:\n\{\n(.*?)^\}|\{([^{}\n]*)\})", text, re.S | re.M)
    return match and (match[1] or match[2] or "")


def called(text):
    """The names of all that is called, in their order."""
    return _CALL.findall(text)


def instructions(text):
    """The mnemonics of all assembly in a text that has its strings, in their order."""
    parts = (
        part.split()
        for match in _ASM.finditer(text)
        for string in re.findall(_STRING, match[1])
        for part in re.split(r";|\\[nt]", string[1:-1])
    )
    return [words[0] for words in parts if words]


def closing(text, at):
    """Where the parenthesis before `at` is closed, one further."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def arguments(text, name):
    """The arguments of the first call of a function; None: it is not called."""
    if not (call := re.search(rf"\b{name}\s*\(", text)):
        return None
    depth, found = 0, [""]
    for char in text[call.end() : closing(text, call.end()) - 1]:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and not depth:
            found.append("")
        else:
            found[-1] += char
    return [argument.strip() for argument in found]
