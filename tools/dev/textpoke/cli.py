# SPDX-License-Identifier: GPL-2.0
"""Commands, their options, and the one place where a failure becomes a sentence and a code.

Options are NAME=value words after the command, or environment variables (which is how
make hands them on). A command's module is imported when the command is used.
"""

import contextlib
import importlib
import os
import re
import signal
import sys
import traceback
from dataclasses import dataclass, replace

from . import errors, lock, paths
from .errors import INFRA, INTERRUPTED, OK, UNREAD, USAGE, Fail
from .say import say

MAIN = os.getpid()

VARIABLES = {
    "ARCH": "x86, arm64 (default; all for check, check-full, mutants), riscv or powerpc; i386 for "
    "kernels of 32 bits",
    "LLVM": "1: build with clang",
    "KERNEL": "your own Linux 6.12.y tree: the base to build, or what `apply` and `unapply` change",
    "BASE": "1: the same on the unpatched kernel",
    "FLAVOUR": "Debian's kernel that `deb` goes by: cloud (default) or generic",
    "DEBUG": "1: packages with BTF and debug information, which take two thirds longer; not from "
    "the environment",
    "KDIR": "the kernel to boot: a build folder (default: build/<arch>)",
    "INITRD": "the initramfs to boot (default: our own)",
    "SMP": "how many CPUs the guest has (default: 2)",
    "APPEND": "more kernel parameters; after `--`, arguments of /init",
    "QEMU": "the QEMU of `trace`: 11, of a newer Debian, or 10, which boots all other guests; not "
    "from the environment (default: 11 if it can be had)",
    "QEMU_ARGS": "more arguments for QEMU",
    "TIMEOUT": "seconds until a guest counts as hung; of a test, if that is more than it has",
    "MINUTES": "how long torture goes on (default: 2), or fuzz (default: 10)",
    "ONLY": "the steps of check and check-full (`arm64: KASAN*`) or the mutants (`no-sync-*`) to "
    "do, as a pattern",
    "CASE": "the cases to try: what their names begin with (`28`; default: all)",
    "LIST": "1: name the steps of check or check-full, and which of them are still to do",
    "JOBS": "how many guests check and check-full have at a time (default: 2), each of which "
    "wants a CPU and 1 GB; not from the environment",
    "FRESH": "1: do everything, also what is unchanged since it passed",
    "DATA": "the recording that `page` shows: a file or folder of perf record --kcore; not from "
    "the environment",
    "OUT": "the folder that `series` writes (default: build/series); not from the environment",
    "COMPARE": "the bench.json of an earlier `bench`, to compare with; not from the environment",
    "DRY": "1: only say what `apply` would do",
}
# Taken only as words of the command, or of make: other programs use variables of that name.
ASKED = ("OUT", "DATA", "DEBUG", "COMPARE", "JOBS", "QEMU")
HELP, VERSION_WORDS = ("-h", "--help"), ("--version", "-V")
# Not for the programs we start: the kernel's own make would take them for its options.
PRIVATE = (
    "MAKEFLAGS",
    "MFLAGS",
    "MAKEOVERRIDES",
    "MAKELEVEL",
    "ARCH",
    "LLVM",
    "O",
    "KBUILD_OUTPUT",
    "CROSS_COMPILE",
)


class Options:
    """The NAME=value options of one command."""

    def __init__(self, given):
        self.given = given

    def get(self, name, default=None):
        """A value, or default when it is empty or not given."""
        return self.given.get(name) or default

    def flag(self, name):
        """1 or nothing."""
        value = self.get(name, "0")
        if value not in ("0", "1"):
            raise Fail(USAGE, f"{name}={value} is not 0 or 1")
        return value == "1"

    def number(self, name, default=None):
        """A whole number above zero."""
        value = self.get(name)
        if value is None:
            return default
        if not value.isdecimal() or int(value) == 0:
            raise Fail(USAGE, f"{name}={value} is not a number above 0")
        return int(value)

    @property
    def arch(self):
        """A known architecture."""
        return known_arch(self.get("ARCH", "arm64"))


def _module(name):
    return importlib.import_module(f".{name}", __package__)


def known_arch(name):
    """The name of an architecture, or one sentence."""
    known = _module("arch").ARCHES
    if name not in known:
        raise Fail(USAGE, f"ARCH={name} is not known: use {', '.join(known)}")
    return name


def _kernel(options, base=False):
    """Build one kernel and say where it is."""
    made = _module("guests.kernel").build_kernel(
        options.arch, base=base or options.flag("BASE"), llvm=options.flag("LLVM")
    )
    say(f"the kernel is in {made}")


def _series(options):
    _module("series.mails").write_series(options.get("OUT"))


def _call(module, function):
    """A command that takes no options."""
    return lambda options: getattr(_module(module), function)()


def _pass(module, function):
    """A command that takes the options as they are."""
    return lambda options: getattr(_module(module), function)(options)


@dataclass(frozen=True)
class Command:
    """What a command does, in a line, the options it knows, and how it is run."""

    help: str
    options: str
    run: object
    backend: bool = False  # only architectures that have one
    one: bool = True  # ARCH is one, by default too; else all of them
    uses_build: bool = True  # what is in build/ must stay while it runs
    word: str = ""  # the option that is also taken as a word without a name
    name: str = ""


GUEST = "ARCH LLVM KERNEL BASE KDIR INITRD SMP APPEND QEMU_ARGS TIMEOUT"
COMMANDS = {
    "help": Command("this list", "", lambda options: print(usage()), uses_build=False),
    "run": Command(
        "the main job: boot with the series, record text pokes, decode them, give a verdict",
        "ARCH LLVM KERNEL BASE SMP TIMEOUT",
        _pass("records.run", "main"),
        True,
    ),
    "check": Command(
        "the tests, on every architecture with a backend; the last line counts them",
        "ARCH KERNEL ONLY LIST FRESH JOBS TIMEOUT",
        _pass("checks.check", "main"),
        one=False,
    ),
    "check-full": Command(
        "all that, and kernels of other kinds, every patch, sparse and the like: hours; goes on "
        "where it was",
        "ARCH KERNEL ONLY LIST FRESH JOBS TIMEOUT",
        _pass("checks.full", "main"),
        one=False,
    ),
    "kernel": Command("build/<arch>: the kernel with the series", "ARCH LLVM KERNEL BASE", _kernel),
    "base-kernel": Command(
        "build/base-<arch>: the same without the series",
        "ARCH LLVM KERNEL",
        lambda options: _kernel(options, True),
    ),
    "deb": Command(
        "build/deb/<arch>-<flavour>: packages for Debian of a kernel with the series, configured "
        "as Debian's own, and of its perf",
        "ARCH FLAVOUR DEBUG KERNEL",
        _pass("packages.deb", "main"),
    ),
    "boot": Command(
        "boot any kernel with any initramfs; it passes if its /init or job does",
        GUEST,
        _pass("guests.boot", "main"),
    ),
    "shell": Command("an interactive shell in that guest", GUEST, _pass("guests.boot", "shell")),
    "kunit": Command(
        "the KUnit tests", "ARCH LLVM KERNEL TIMEOUT", _pass("checks.check", "kunit"), True
    ),
    "kselftest": Command(
        "the selftests, ftracetest among them",
        "ARCH LLVM KERNEL TIMEOUT",
        _pass("checks.check", "kselftest"),
        True,
    ),
    "models": Command(
        "the formal models of the protocol, and whether each notices its mutants",
        "KERNEL",
        lambda options: _module("checks.check").formal(),
    ),
    "mutants": Command(
        "break the core on purpose, one step after the other: a test has to notice each",
        "ARCH KERNEL ONLY",
        _pass("checks.mutants", "main"),
        True,
        one=False,
    ),
    "torture": Command(
        "the torture test, beside everything else that changes text or gets in the way",
        "ARCH LLVM KERNEL MINUTES SMP APPEND TIMEOUT",
        _pass("checks.check", "torment"),
        True,
    ),
    "cases": Command(
        "guests made from what people have reported, on the base and the series side by side",
        "ARCH KERNEL CASE",
        _pass("checks.cases", "main"),
    ),
    "coverage": Command(
        "which lines of the core and of a backend the tests execute, and which errors they provoke",
        "ARCH KERNEL",
        _pass("checks.coverage", "main"),
        True,
    ),
    "bench": Command(
        "what changing text costs, base and series side by side, against the targets; "
        "build/bench/<arch> has it as a page and as JSON",
        "ARCH KERNEL COMPARE",
        _pass("bench.bench", "main"),
        True,
    ),
    "trace": Command(
        "hardware trace made under QEMU: is it decoded as it was executed, and do the records say "
        "what was?",
        "ARCH KERNEL BASE KDIR APPEND QEMU TIMEOUT",
        _pass("trace.trace", "main"),
        True,
    ),
    "fuzz": Command(
        "broken perf.data, on which a perf with sanitizers must not crash: some by name, others "
        "from AFL++",
        "KERNEL MINUTES",
        _pass("checks.fuzz", "main"),
    ),
    "page": Command(
        "what a recording of your own says of text pokes, as a page beside it: tools/dev/tp page "
        "perf.data",
        "DATA",
        _pass("records.recorded", "main"),
        uses_build=False,
        word="DATA",
    ),
    "tree": Command(
        "build/tree: a git tree, one commit per patch, to edit and commit in",
        "",
        _call("series.series", "tree"),
    ),
    "refresh": Command(
        "write files and hunks back from build/tree", "", _call("series.series", "refresh")
    ),
    "series": Command(
        "build/series: what git am takes, for the base or for your tree", "OUT KERNEL", _series
    ),
    "apply": Command(
        "apply the series to your tree: make apply KERNEL=/path/to/linux",
        "KERNEL DRY",
        lambda options: _module("series.apply").apply(options.flag("DRY")),
    ),
    "unapply": Command(
        "take it out again: make unapply KERNEL=/path/to/linux",
        "KERNEL",
        _call("series.apply", "unapply"),
    ),
    "setup": Command(
        "install every package that any command needs (as root)",
        "",
        _call("checks.full", "setup"),
        uses_build=False,
    ),
    "gates": Command(
        "check that patches and files fit together", "", _pass("checks.gates", "main")
    ),
    "clean": Command(
        "remove what is in build/, but for work in build/tree that is nowhere else",
        "",
        _call("clean", "clean"),
        uses_build=False,
    ),
}
COMMANDS = {name: replace(command, name=name) for name, command in COMMANDS.items()}


def usage():
    """The text of `make help`."""
    commands = "\n".join(f"  {name:12} {command.help}" for name, command in COMMANDS.items())
    variables = "\n".join(f"  {name:12} {text}" for name, text in VARIABLES.items())
    codes = "\n".join(f"  {code:<12} {text}" for code, text in errors.MEANING.items())
    return (
        "make COMMAND [NAME=value ...]   or   tools/dev/tp COMMAND [NAME=value ...]\n\ncommands\n"
        f"{commands}\n\n"
        f"options\n{variables}\n\nexit codes of tools/dev/tp (make prints it as `Error N` and "
        f"itself exits with 2)\n{codes}\n\n"
        "Each command installs the packages it lacks (as root; else it names the command to run) "
        "and fetches\n"
        f"the base, Linux 6.12, once. The cache is {paths.CACHE} (TEXT_POKE_CACHE).\n"
        "`tools/dev/tp help COMMAND` tells more of one; `tools/dev/tp --version` tells the version."
    )


def about(command):
    """The text of `help COMMAND`."""
    options = "\n".join(f"  {name:12} {VARIABLES[name]}" for name in command.options.split())
    return f"make {command.name}{' [NAME=value ...]' if options else ''}\n\n  {command.help}" + (
        f"\n\noptions\n{options}" if options else ""
    )


def _named_by_make():
    """The names of the variables on make's command line: their values are in the environment."""
    _, found, words = os.environ.get("MAKEFLAGS", "").partition("-- ")
    return re.findall(r"(?:^|(?<!\\) )([A-Za-z_]\w*)=", words) if found else []


def _check_names(name, command, names):
    """An option that does nothing is a mistake to be told, not to be ignored."""
    for given in names:
        if given not in VARIABLES:
            raise Fail(USAGE, f"{given} is no option: `make help` lists them")
        if given not in command.options.split():
            knows = command.options.replace(" ", ", ") or "no options"
            raise Fail(USAGE, f"{given} means nothing to {name}, which knows {knows}")


def _known(name):
    if name not in COMMANDS:
        raise Fail(USAGE, f"{name} is no command: `make help` lists them")
    return COMMANDS[name]


def _about(names):
    """What `help` prints: all, or each of the commands that are named."""
    return "\n\n".join(about(_known(name)) for name in names) or usage()


def _version():
    """The newest that NEWS tells of."""
    return paths.noted(paths.ROOT / "NEWS").partition("\n")[0] or "Text Poke"


def _asked(words):
    """What is to be printed instead of running a command, or None."""
    if any(word in VERSION_WORDS for word in words):
        return f"{_version()}, for Linux {_module('series.base').range()}"
    asks = [word for word in words if word in HELP]
    names = [word for word in words if word not in HELP]
    return (
        _about([name for name in names if name != "help" and "=" not in name])
        if asks or names[:1] == ["help"] or not words
        else None
    )


def _from_environment(command):
    """The values of a command's options that are not given as words."""
    named = _named_by_make()
    for option in filter(os.environ.__contains__, command.options.split()):
        if option in ASKED and option not in named:
            say(
                f"{option}={os.environ[option]} of the environment is left alone: give it behind "
                "the command if it is meant"
            )
        else:
            yield option, os.environ[option]


def _pair(command, word):
    """The option and the value that a word gives."""
    option, found, value = word.partition("=")
    if command.word and option not in VARIABLES:
        return command.word, word
    if not found:
        raise Fail(USAGE, f"{word} is not NAME=value: `make help` lists the options")
    return option, value


def parse(words):
    """Command and options from the words after tp."""
    name, *rest = words
    command, given = _known(name), {}
    for word in rest:
        option, value = _pair(command, word)
        if option == command.word and option in given:
            raise Fail(USAGE, f"{word} is one too many: {name} takes one")
        given[option] = value
    _check_names(name, command, [*given, *_named_by_make()])
    options = Options(dict(_from_environment(command)) | given)
    _module("given").check(command, options)
    return command, options


def _settle(command, options):
    """Our modules see the options in the environment;
    the programs we start do not see those that are ours alone.
    """
    for name in PRIVATE:
        os.environ.pop(name, None)
    os.environ.pop("KERNEL", None)
    if "KERNEL" in command.options.split() and options.get("KERNEL"):
        os.environ["KERNEL"] = options.get("KERNEL")
    if "TIMEOUT" in command.options.split() and options.get("TIMEOUT"):
        _module("guests.boot").be_patient(options.number("TIMEOUT"))
    if "JOBS" in command.options.split() and options.get("JOBS"):
        _module("guests.tests").take(options.number("JOBS"))


def _do(words):
    """Run a command; its exit status."""
    if (answer := _asked(words)) is not None:
        print(answer, flush=True)
        return OK
    command, options = parse(words)
    _settle(command, options)
    with lock.build() if command.uses_build else contextlib.nullcontext():
        return command.run(options) or OK


def _stop(*_):
    """A request to end is handled as Ctrl-C is: children are ended, locks released.
    A child that has not begun its program yet has nothing to release.
    """
    if os.getpid() != MAIN:
        os._exit(INTERRUPTED)
    raise KeyboardInterrupt


def _unread():
    """Nothing more is to be written, not by Python either as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return UNREAD


def _unforeseen(error):
    """What is no sentence yet: the system's errors are as good as one,
    all others are mistakes in these tools.
    """
    if failure := errors.of_system(error):
        return failure
    traceback.print_exc()
    return Fail(INFRA, "this should not have happened: the lines above say where it did")


def main(words):
    """One sentence for what fails, and its code."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        return _do(words)
    except Fail as error:
        failure = error
    except KeyboardInterrupt:
        failure = Fail(INTERRUPTED, "interrupted: run the command again to go on")
    except BrokenPipeError:
        return _unread()
    except Exception as error:  # pylint: disable=broad-exception-caught
        # Whatever it is, it is no failed test.
        failure = _unforeseen(error)
    print(f"tp: {failure.message}", file=sys.stderr, flush=True)
    return failure.code
