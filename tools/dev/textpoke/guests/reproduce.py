# SPDX-License-Identifier: GPL-2.0
"""What boots a guest once more, as it was: a script beside its console, with what it was made from.
"""

import shlex
import shutil
from pathlib import Path

NAME, CONFIGURATION = "reproduce.sh", "kernel.config"
SCRIPT = """\
#!/bin/sh
# {release}, under {qemu}
# The kernel's configuration: {configuration}. The guest's verdict comes into
# the file `verdict` here. Words behind it are QEMU's, such as -s for a debugger, which needs
# APPEND=nokaslr as well to know the addresses.
cd "$(dirname -- "$0")" || exit
[ -z "$APPEND" ] || set -- -append "$APPEND "{append} "$@"
exec {command} "$@"
"""


def _release(kernel):
    """What a build folder says that it is."""
    path = Path(kernel) / "include/config/kernel.release"
    return f"Linux {path.read_text().strip()}" if path.is_file() else "a kernel image"


def _append(command):
    """The kernel's command line: of two, QEMU takes the last."""
    return command[command.index("-append") + 1] if "-append" in command else ""


def write(folder, command, qemu, kernel):
    """The script of a guest that is booted in a folder, from a build folder or an image;
    returns its path.

    The folder may be moved, or copied so that the verdict and the files of the first time stay.
    """
    configuration = Path(kernel) / ".config"
    if configuration.is_file():
        shutil.copy(configuration, folder / CONFIGURATION)
    known = CONFIGURATION if configuration.is_file() else "not known, for an image alone was given"
    path = folder / NAME
    path.write_text(
        SCRIPT.format(
            release=_release(kernel),
            qemu=qemu,
            configuration=known,
            append=shlex.quote(_append(command)),
            command=shlex.join(command),
        )
    )
    path.chmod(0o755)
    return path
