# SPDX-License-Identifier: GPL-2.0
"""bench.json: the figures of a run of `make bench`, with which a later one can be compared."""

import json
from pathlib import Path

from ..errors import USAGE, Fail
from ..series import patches

BASE, SERIES = "base", "series"
KIND, FORMAT = "text poke bench", 1


def write(path, arch, found):
    """Name -> (case, metric) -> values, whole or not at all."""
    subjects = {
        name: {f"{case} {metric}": numbers for (case, metric), numbers in values.items()}
        for name, values in found.items()
    }
    whole = {"kind": KIND, "format": FORMAT, "arch": arch, "subjects": subjects}
    patches.write(Path(path), json.dumps(whole, indent=1) + "\n")


def _values(given):
    """What one subject came to; ValueError if it is something else."""
    found = {}
    for name, numbers in given.items():
        case, _, metric = name.partition(" ")
        if not metric or not numbers or not all(type(number) is int for number in numbers):
            raise ValueError(f"`{name[:60]}` has no numbers")
        found[case, metric] = numbers
    return found


def _parsed(text):
    """Architecture and figures; ValueError if the text is something else."""
    whole = json.loads(text)
    if not isinstance(whole, dict) or whole.get("kind") != KIND:
        raise ValueError("it is another kind of JSON")
    if whole.get("format") != FORMAT:
        raise ValueError(f"its format is {whole.get('format')}, not {FORMAT}")
    found = {name: _values(values) for name, values in whole["subjects"].items()}
    if lacking := {BASE, SERIES} - set(found):
        raise ValueError(f"it has no figures of {' and '.join(sorted(lacking))}")
    return whole["arch"], found


def read(path, arch):
    """The figures of a file, which are to be of an architecture; else one sentence."""
    try:
        of, found = _parsed(Path(path).read_text())
    except OSError as error:
        raise Fail(
            USAGE,
            f"COMPARE={path} cannot be read ({error.strerror}): "
            "name a bench.json that `make bench` has left",
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = str(error) if type(error) is ValueError else "its contents are of another kind"
        raise Fail(USAGE, f"COMPARE={path} is no bench.json of `make bench`: {why}") from None
    if of != arch:
        raise Fail(
            USAGE,
            f"COMPARE={path} is of ARCH={of}, not of {arch}: "
            "only figures of one architecture can be compared",
        )
    return found
