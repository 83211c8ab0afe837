# SPDX-License-Identifier: GPL-2.0
"""What boots a guest once more, as it was: a script beside its console, with what it was made from."""

import shlex
import shutil
from pathlib import Path

NAME, CONFIGURATION = "reproduce.sh", "kernel.config"
SCRIPT = """\
#!/bin/sh
# {release}, under {qemu}
# The kernel's configuration: {configuration}. The guest's verdict comes into the file `verdict` here.
# Words behind it are QEMU's, such as -s for a debugger.
cd {folder} || exit
exec {command} "$@"
"""


def _release(kernel):
    """What a build folder says that it is."""
    path = Path(kernel) / "include/config/kernel.release"
    return f"Linux {path.read_text().strip()}" if path.is_file() else "a kernel image"


def write(folder, command, qemu, kernel):
    """The script of a guest that is booted in a folder, from a build folder or an image; returns its path."""
    configuration = Path(kernel) / ".config"
    if configuration.is_file():
        shutil.copy(configuration, folder / CONFIGURATION)
    known = CONFIGURATION if configuration.is_file() else "not known, for an image alone was given"
    path = folder / NAME
    path.write_text(SCRIPT.format(release=_release(kernel), qemu=qemu, configuration=known,
                                  folder=shlex.quote(str(folder)), command=shlex.join(command)))
    path.chmod(0o755)
    return path
