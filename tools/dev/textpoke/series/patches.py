# SPDX-License-Identifier: GPL-2.0
"""The patches on disk, and the files of ours that they add.

A patch file is a mail without its envelope:

    Subject: arm64: poke text through the core
    From: Name <address>
    Date: Fri, 21 Nov 2025 12:00:00 +0000
    Part: 3-arm64

    The change log.

    Adds: arch/arm64/kernel/text_poke.c
    ---
    diff --git a/arch/arm64/Kconfig b/arch/arm64/Kconfig
    ...

Subject, From, Date, Part and log are authoritative: nothing regenerates them. `Adds:`
lines and hunks are what `refresh` rewrites. A file that is added is kept whole, at
its place in this repository, as it is after the last patch. Hunks are for the files
that upstream owns, and for those that an earlier patch adds: what is kept, with the
hunks of all later patches taken out again, is what that earlier patch adds.

Part is the piece of the series that the patch is sent in: patches that follow each other,
with a cover letter, which is the part's name and `.cover`, a Subject and a text. A patch
that is new is in the part of the one before it.

Where another 6.12.y needs other hunks, a variant beside the patch holds these alone:

    Subject: arm64: poke text through the core
    For: 6.12.118+

    Why: what the base has changed there.

    Whole: arch/arm64/kernel/sdei.c 0123456789ab
    ---
    diff --git a/arch/arm64/kernel/sdei.c b/arch/arm64/kernel/sdei.c
    ...

A hunk of a variant stands for the hunk of the patch whose added lines are all among its
own. Where the base does part of the change itself there is none such: `Whole:` says that
the variant has all the hunks for a file, or that there are none, and which ones of the patch
(by their hash, see Patch.hash_of) it was made from. A patch that has changed since is noticed
by either. `Named: new old` says that the base calls old what is new in the patch.
"""

import hashlib
import os
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path

from .. import paths
from ..errors import INFRA, Fail
from ..git import decode, encode

FOLDER = "patches/v6.12"
ROOTS = ("arch", "include", "kernel", "lib", "mm", "Documentation", "tools", "samples", "scripts")
OURS = "tools/dev"
LITTER = ("__pycache__", "*.pyc", "*.orig", "*.rej", "*~", ".*.sw?", "*.part", ".checkpatch-*")
HEADER = re.compile(r"(Subject|From|Date|Part): (.+)")
COVER = ".cover"
NAME = re.compile(r"\d{4}-.*\.patch$")
HUNKS = ".hunks"
PART = re.compile(r"[0-9]+-[a-z0-9-]+")
RANGE = re.compile(r"6\.12\.(\d+)(?:-(\d+)|(\+))")
_DIFF = re.compile(r"^diff --git a/(\S+) b/\1$", re.M)


def level(version):
    """6.12.y as y."""
    return int(version.split(".")[2])


def split_hunks(diff):
    """A file's part of a diff: what leads its hunks, and these."""
    head, *parts = re.split(r"^(?=@@ )", diff, flags=re.M)
    return head, parts


def _marked(hunk, mark):
    return Counter(
        line[1:].strip()
        for line in hunk.splitlines()[1:]
        if line.startswith(mark) and line[1:].strip()
    )


def essence(hunk):
    """What a hunk is known by on any base:
    the lines it adds, or, if it adds none, those it takes away.
    """
    return _marked(hunk, "+") or _marked(hunk, "-")


@dataclass(frozen=True)
class Variant:
    """What a patch is on some other point releases."""

    subject: str
    range: str
    why: str
    whole: tuple = ()  # (path, hash of the patch's hunks for it)
    named: tuple = ()  # (its name in the patch, its name in this base)
    diff: str = field(default="", repr=False)

    @property
    def hunks(self):
        """Upstream file -> the hunks for it."""
        return by_file(self.diff)

    def fits(self, version):
        """Is it for this 6.12.y?"""
        first, last = self.bounds()
        return int(first) <= level(version) <= (int(last) if last else level(version))

    def bounds(self):
        """The first and the last y as words; the last is None where it has no end."""
        found = RANGE.fullmatch(self.range)
        assert found, f"{self.range} was read as one"
        return found[1], found[2]

    def text(self):
        """The variant's file."""
        whole = "".join(f"Whole: {path} {sum}\n" for path, sum in self.whole)
        whole += "".join(f"Named: {new} {old}\n" for new, old in self.named)
        return (
            f"Subject: {self.subject}\nFor: {self.range}\n\n{self.why}\n"
            f"{whole and chr(10) + whole}---\n{self.diff}"
        )

    def name(self, patch):
        """Its file beside the patch's."""
        return f"{patch.name.removesuffix('.patch')}.{self.range}{HUNKS}"


def by_file(diff):
    """File -> what a diff does to it."""
    _, *parts = _DIFF.split(diff)
    return dict(zip(parts[::2], parts[1::2]))


def _stand_in(name, path, hunks, other):
    """A file's hunks with one of them replaced by the variant's."""
    wanted = essence(other)
    fit = [number for number, hunk in enumerate(hunks) if essence(hunk) <= wanted]
    best = max(fit, key=lambda number: essence(hunks[number]).total(), default=None)
    if best is None:
        raise bad(
            name,
            f"has a hunk for {path} that adds less than any hunk of the patch does: bring it up to "
            "date with the patch",
        )
    return hunks[:best] + [other] + hunks[best + 1 :]


@dataclass(frozen=True)
class Patch:
    """One patch of the series."""

    subject: str
    author: str
    date: str
    log: str
    adds: tuple = ()
    diff: str = field(default="", repr=False)
    name: str = ""
    part: str = ""
    variants: tuple = field(default=(), repr=False)

    @property
    def hunks(self):
        """File -> what the patch does to it."""
        return by_file(self.diff)

    def hash_of(self, path):
        """Changes with what the patch does to a file, not with where that is."""
        changed = [
            line
            for hunk in split_hunks(self.hunks[path])[1]
            for line in hunk.splitlines()[1:]
            if line[:1] in "+-"
        ]
        return hashlib.sha256(encode("\n".join(changed))).hexdigest()[:12]

    def _merged(self, variant):
        """Upstream file -> hunks, with a variant's in the place of those it stands for."""
        name, merged, whole = variant.name(self), self.hunks, dict(variant.whole)
        if strange := set(variant.hunks).union(whole) - set(merged):
            raise bad(
                name, f"has hunks for {min(strange)}, which the patch does not change: remove them"
            )
        for path, made_from in whole.items():
            if made_from != self.hash_of(path):
                raise bad(
                    name,
                    f"was made from other hunks for {path} than the patch has now: bring it up to "
                    "date, "
                    f"then write `Whole: {path} {self.hash_of(path)}`",
                )
            merged[path] = variant.hunks.get(path, "")
        for path in set(variant.hunks) - set(whole):
            head, hunks = split_hunks(merged[path])
            for other in split_hunks(variant.hunks[path])[1]:
                hunks = _stand_in(name, path, hunks, other)
            merged[path] = head + "".join(hunks)
        return {path: diff for path, diff in merged.items() if diff}

    def at(self, version):
        """The patch for a 6.12.y."""
        patch = self
        for variant in self.variants:
            if variant.fits(version):
                merged = patch._merged(variant)
                patch = replace(
                    patch,
                    diff="".join(
                        f"diff --git a/{path} b/{path}{diff}" for path, diff in merged.items()
                    ),
                )
        return patch

    @property
    def changes(self):
        """The files that the hunks are for: upstream's, and those that an earlier patch adds."""
        return tuple(self.hunks)

    def diff_of(self, wanted):
        """The hunks for the files that a function picks."""
        return "".join(
            f"diff --git a/{path} b/{path}{diff}"
            for path, diff in self.hunks.items()
            if wanted(path)
        )

    @property
    def message(self):
        """What git keeps as the message: `Adds:` is bookkeeping of this repository."""
        return f"{self.subject}\n\n{self.log}\n" if self.log else f"{self.subject}\n"

    def text(self):
        """The patch file."""
        part = f"Part: {self.part}\n" if self.part else ""
        parts = [f"Subject: {self.subject}\nFrom: {self.author}\nDate: {self.date}\n{part}"]
        if self.log:
            parts.append(f"{self.log}\n")
        if self.adds:
            parts.append("".join(f"Adds: {path}\n" for path in self.adds))
        return "\n".join(parts) + "---\n" + self.diff

    def numbered(self, number):
        return replace(
            self, name=f"{number:04}-{slug(self.subject) or in_short(self.subject)}.patch"
        )


def slug(subject):
    """A file name for a subject, as git format-patch makes it."""
    words = re.sub(r"[^A-Za-z0-9.]+", "-", subject).strip("-.")
    return re.sub(r"\.+", ".", words)[:52].rstrip("-.")


def in_short(subject):
    """What names a patch whose subject has no letter that a file's name may have."""
    return hashlib.sha256(encode(subject)).hexdigest()[:12]


def bad(name, problem):
    return Fail(INFRA, f"{FOLDER}/{name}: {problem}")


def parse(name, text):
    """A patch file's text as a Patch; what is wrong with it is one sentence."""
    head, found, diff = text.partition("\n---\n")
    if not found and not text.endswith("\n---\n"):
        raise bad(name, "has no line `---` between the change log and the hunks: add one")
    head, _, body = head.partition("\n\n")
    lines = map(HEADER.fullmatch, head.splitlines())
    header: dict[str, str] = {match[1]: match[2] for match in lines if match}
    for wanted in ("Subject", "From", "Date"):
        if wanted not in header:
            raise bad(name, f"has no line `{wanted}: …` at its top: add one")
    adds = tuple(re.findall(r"^Adds: (\S+)$", body, re.M))
    log = re.sub(r"^Adds: .*\n?", "", body, flags=re.M).strip("\n")
    patch = Patch(
        header["Subject"],
        header["From"],
        header["Date"],
        log,
        adds,
        diff,
        name,
        header.get("Part", ""),
    )
    if problem := flaw(patch):
        raise bad(name, problem)
    return patch


def parse_variant(name, text):
    """A variant's file as a Variant."""
    head, found, diff = text.partition("\n---\n")
    match = re.fullmatch(r"Subject: (.+)\nFor: (\S+)\n\n(.+)", head, re.S)
    if not found or not match or not RANGE.fullmatch(match[2]):
        raise bad(
            name,
            "does not begin with `Subject: …`, `For: 6.12.N-M` or `For: 6.12.N+`, an empty line, "
            "why, and `---`: correct it",
        )
    whole = tuple(re.findall(r"^Whole: (\S+) (\S+)$", match[3], re.M))
    named = tuple(re.findall(r"^Named: (\S+) (\S+)$", match[3], re.M))
    why = re.sub(r"^(Whole|Named): .*\n?", "", match[3], flags=re.M).strip("\n")
    variant = Variant(match[1], match[2], why, whole, named, diff)
    if not why or not (variant.hunks or whole):
        raise bad(
            name,
            "does not say why it is needed, or has no hunks: add what is missing, or remove it",
        )
    return variant


def flaw(patch):
    """What a patch's text must not be, as a sentence; '' when all is well."""
    said = patch.message
    rules = (
        (
            not patch.subject.strip(),
            "has no subject: give it one, in build/tree with `git rebase -i base`",
        ),
        (
            re.search(r"^signed-off-by:", said, re.M | re.I),
            "has a Signed-off-by line: remove it, the submitter of the series signs it",
        ),
        (
            re.search(r"^(---|diff -|Index: )", patch.log, re.M),
            "has a line in its change log that git takes for the start of the diff: indent it",
        ),
        (
            re.search(r"^Adds: ", patch.log, re.M),
            "has an `Adds:` line that names no path: remove it",
        ),
        (
            patch.subject.startswith("["),
            "has a subject in brackets, which git am removes: reword it",
        ),
        (
            re.match(r"(fixup|squash|amend)! ", patch.subject),
            "is a fixup: run `git -C build/tree rebase -i --autosquash base`",
        ),
        (
            not re.fullmatch(r"[^<>]+ <[^<>\s]+>", patch.author),
            "has a From that is not `Name <address>`: correct it",
        ),
        (not patch.adds and not patch.diff, "changes nothing: remove it"),
        (
            patch.diff and not patch.changes,
            "has hunks that no `diff --git a/… b/…` line leads: make them with `make refresh`",
        ),
    )
    return next((sentence for broken, sentence in rules if broken), "")


def read(path):
    return decode(path.read_bytes())


def write(path, text):
    """Write under a temporary name and rename, and only what has changed."""
    data = text if isinstance(text, bytes) else encode(text)
    if path.exists() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    part.rename(path)
    return True


def files():
    """The patch files in order."""
    return sorted(path for path in (paths.ROOT / FOLDER).glob("*.patch") if NAME.match(path.name))


def variant_files():
    """The files of variants."""
    return sorted((paths.ROOT / FOLDER).glob(f"*{HUNKS}"))


def strangers():
    """Names of files beside the patches that are nothing we know:
    they would be left out without a word.
    """
    known = {
        "base",
        *(path.name for path in files() + variant_files()),
        *(f"{part}{COVER}" for part, _ in parts_of(load())),
    }
    return sorted(
        path.name
        for path in (paths.ROOT / FOLDER).iterdir()
        if path.name not in known and not _litter(path.name)
    )


def _with_variants(series):
    """The patches, each with its variants, which are found by its subject:
    numbers may be about to change.
    """
    known = {patch.subject: patch for patch in series}
    for path in variant_files():
        variant = parse_variant(path.name, read(path))
        if variant.subject not in known:
            raise bad(
                path.name,
                f"is for the subject `{variant.subject}`, which no patch has: correct it, or "
                "remove the file",
            )
        patch = known[variant.subject]
        # An interrupted refresh leaves the same one under two numbers.
        others = tuple(other for other in patch.variants if other.range != variant.range)
        known[variant.subject] = replace(patch, variants=(*others, variant))
    return [known[patch.subject] for patch in series]


def load():
    """The series; a subject or a file that two patches claim is an error."""
    series = [parse(path.name, read(path)) for path in files()]
    # Variants are found by the subject, so that one that two have is to be told first.
    _unique(series, "subject", lambda patch: [patch.subject])
    _unique(series, "added file", lambda patch: patch.adds)
    _check_order(series)
    return _with_variants(series)


def parts_of(series):
    """(part, its patches) in order; patches of none are left out."""
    return [
        (part, list(group)) for part, group in groupby(series, lambda patch: patch.part) if part
    ]


def _place(part):
    """What parts are in the order of: their numbers, then their names; none comes first."""
    number = part.partition("-")[0]
    return (int(number) if number.isdigit() else -1, part)


def check_parts(series):
    """Each part is one piece, in the order of the names, has its cover letter,
    and leaves no patch out.
    """
    names = sorted({patch.part for patch in series}, key=_place)
    last = ""
    for patch in series:
        if patch.part not in ("", last) and not PART.fullmatch(patch.part):
            raise bad(
                patch.name,
                f"is of the part `{patch.part}`: a name is a number, a hyphen and small letters",
            )
        if (
            _place(patch.part) < _place(last)
            or patch.part != last
            and names.index(patch.part) != (names.index(last) + 1 if last else 0)
        ):
            raise bad(
                patch.name,
                f"is of the part `{patch.part}`, behind one of `{last}`: correct the line `Part:`, "
                "or move the patch",
            )
        last = patch.part
    for name in names:
        if name:
            cover(name)


def cover(part):
    """The subject and the text of a part's cover letter."""
    path = paths.ROOT / FOLDER / f"{part}{COVER}"
    if not path.exists():
        raise bad(
            path.name,
            "is not there: write the cover letter of that part, `Subject: ...`, an empty line and "
            "the text",
        )
    if not (match := re.fullmatch(r"Subject: (.+)\n\n(.+)", read(path), re.S)):
        raise bad(
            path.name,
            "does not begin with `Subject: ...` and an empty line before the text: correct it",
        )
    return match[1], match[2].strip("\n")


def _unique(series, what, claims):
    owner: dict = {}
    for patch in series:
        for claim in claims(patch):
            if claim in owner:
                raise bad(
                    patch.name,
                    f"has the {what} `{claim}`, which {owner[claim]} has too: change one of them",
                )
            owner[claim] = patch.name


def owners(series):
    """added path -> the patch that adds it."""
    return {path: patch for patch in series for path in patch.adds}


def _check_order(series):
    """A file is added before it is changed."""
    owned, there = owners(series), set()
    for patch in series:
        if early := [path for path in patch.changes if path in owned and path not in there]:
            raise bad(
                patch.name,
                f"has hunks for {early[0]}, which {owned[early[0]].name} adds after it, or itself: "
                "move it behind that one with `git rebase -i base` in build/tree",
            )
        there.update(patch.adds)


def upstreams(series):
    """Every file of upstream's that any hunk is for."""
    owned = owners(series)
    return sorted({path for patch in series for path in patch.changes if path not in owned})


def headers():
    """subject -> Patch, also from a folder that an interrupted refresh left half renamed."""
    known = {patch.subject: patch for patch in (parse(path.name, read(path)) for path in files())}
    return {patch.subject: patch for patch in _with_variants(known.values())}


def _litter(name):
    return any(fnmatch(name, pattern) for pattern in LITTER)


def litter(path):
    """Whether a path, or a folder on its way, is what editors and interpreters leave behind."""
    return any(_litter(part) for part in Path(path).parts)


def kept():
    """path -> file of everything kept whole in this repository."""
    found: dict[str, Path] = {}
    for root in ROOTS:
        for folder, folders, names in os.walk(paths.ROOT / root):
            relative = Path(folder).relative_to(paths.ROOT)
            folders[:] = [
                one for one in folders if not _litter(one) and str(relative / one) != OURS
            ]
            found |= {
                str(relative / name): Path(folder) / name for name in names if not _litter(name)
            }
    return found


def allowed(path):
    """May a new file be at this path?"""
    return (
        path.split("/")[0] in ROOTS
        and "/" in path
        and not path.startswith(OURS + "/")
        and not litter(path)
    )


def unowned(series, have):
    """The kept files that no patch adds."""
    return sorted(set(have) - set(owners(series)))


def check_owned(series, have):
    """Every kept file has its patch, and every `Adds:` its file."""
    owned = {path: patch.name for patch in series for path in patch.adds}
    for path in unowned(series, have):
        raise Fail(
            INFRA,
            f"{path} belongs to no patch: "
            f"add the line `Adds: {path}` to the one that introduces it",
        )
    for path in sorted(set(owned) - set(have)):
        raise bad(
            owned[path], f"adds {path}, which is not there: restore the file or remove the line"
        )


def fingerprint():
    """A hash of everything the series is made of."""
    total = hashlib.sha256()
    everything = kept() | {f"{FOLDER}/{path.name}": path for path in files() + variant_files()}
    for name, path in sorted(everything.items()):
        data = path.read_bytes()
        total.update(encode(f"{name}\0{os.access(path, os.X_OK)}\0{len(data)}\0"))
        total.update(data)
    return total.hexdigest()
