# SPDX-License-Identifier: GPL-2.0
"""What RISC-V's link makes of a table of traceable functions: arch/riscv/tools/ftrace_check.sh."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import paths  # noqa: E402

CHECK = paths.ROOT / "arch/riscv/tools/ftrace_check.sh"
START = 0xFFFFFFFF80A00008
FUNCTIONS = [0xFFFFFFFF80201000, 0xFFFFFFFF80201238, 0xFFFFFFFF80204568]


def dump(data, start):
    """As objdump shows the bytes of a section from start on."""
    lines = ["vmlinux:     file format elf64-littleriscv", "", "Contents of section .init.data:"]
    for at in range(0, len(data), 16):
        part = data[at : at + 16]
        words = " ".join(part[i : i + 4].hex() for i in range(0, len(part), 4))
        characters = "".join(chr(byte) if 32 < byte < 127 else "." for byte in part)
        lines.append(f" {start + at:x} {words:<35}  {characters}")
    return "\n".join(lines)


def table(functions, size=8):
    return b"".join(function.to_bytes(8, "little")[:size] for function in functions)


def relocations(functions, start=START):
    return "\n".join(
        f"{start + 8 * i:016x} R_RISCV_RELATIVE  *ABS*+0x{function:016x}"
        for i, function in enumerate(functions)
    )


class TheLink(unittest.TestCase):
    def check(self, alignment=8, relocs="", contents="", start=START, entries=3, size=8):
        """The script's exit code and what it says, of a kernel with such a table."""
        width = 2 * size
        symbols = "\n".join(
            f"{at:0{width}x} d {name}"
            for name, at in (
                ("__start_mcount_loc", start),
                ("__stop_mcount_loc", start + size * entries),
            )
        )
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            for name, text in (("relocs", relocs), ("contents", contents), ("symbols", symbols)):
                (folder / name).write_text(text + "\n" if text else "")
            (folder / "nm").write_text(f"#!/bin/sh\ncat {folder}/symbols\n")
            (folder / "objdump").write_text(
                f'#!/bin/sh\n[ "$1" = -R ] && exec cat {folder}/relocs\n'
                f"exec cat {folder}/contents\n"
            )
            for tool in ("nm", "objdump"):
                (folder / tool).chmod(0o755)
            result = subprocess.run(
                ["sh", CHECK, folder / "objdump", folder / "nm", "vmlinux", str(alignment)],
                capture_output=True,
                text=True,
            )
        return result.returncode, result.stderr

    def assert_refused(self, result, words):
        self.assertEqual(result[0], 1)
        self.assertIn(words, result[1])

    def test_relocations(self):
        self.assertEqual(self.check(relocs=relocations(FUNCTIONS)), (0, ""))
        misaligned = [FUNCTIONS[0], FUNCTIONS[1] + 4, FUNCTIONS[2] + 2]
        self.assert_refused(
            self.check(relocs=relocations(misaligned)),
            "2 traceable functions are not aligned to 8 bytes",
        )
        self.assert_refused(
            self.check(relocs=relocations(misaligned), alignment=4), "1 traceable functions"
        )

    def test_tables_in_place(self):
        """Of any length, and wherever they begin: a last line is shorter, and looks like words
        where its characters are.
        """
        letters = [0x6162636465666768]
        for entries in range(1, 6):
            for before in range(0, 24, 8):
                with self.subTest(entries=entries, before=before):
                    functions = (FUNCTIONS * 2)[: entries - 1] + letters
                    contents = dump(b"\xff" * before + table(functions), START - before)
                    self.assertEqual(self.check(contents=contents, entries=entries), (0, ""))
                    self.assertEqual(
                        self.check(
                            contents=contents + "\n" + dump(b"\xff" * 40, START + 0x1000),
                            entries=entries,
                        ),
                        (0, ""),
                    )

    def test_misaligned_tables_in_place(self):
        for wrong in range(3):
            functions = [
                function + 2 * (number == wrong) for number, function in enumerate(FUNCTIONS)
            ]
            result = self.check(contents=dump(b"\xff" * 8 + table(functions), START - 8))
            self.assert_refused(result, "1 traceable functions")

    def test_32_bits(self):
        start = 0xC0A00004
        functions = [0xC0201000, 0xC0201004, 0xC020100C, 0xC0201010, 0xC0201014]
        for wrong in (0, 2):
            functions[3] += wrong
            contents = dump(b"\xff" * 4 + table(functions, 4), start - 4)
            code, _ = self.check(alignment=4, contents=contents, start=start, entries=5, size=4)
            self.assertEqual(code, 1 if wrong else 0)

    def test_no_table(self):
        self.assert_refused(self.check(), "cannot be read")
        self.assert_refused(self.check(relocs=relocations(FUNCTIONS[:2])), "cannot be read")


if __name__ == "__main__":
    unittest.main()
