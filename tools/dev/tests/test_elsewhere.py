# SPDX-License-Identifier: GPL-2.0
"""The chroot with another release."""

import unittest

from textpoke.checks import elsewhere


class Settings(unittest.TestCase):
    DUMP = (
        'APT::Architecture "amd64";\n'
        'Acquire "";\n'
        'Acquire::cdrom::mount "/media/cdrom/";\n'
        'Acquire::http::Proxy "http://proxy:3128";\n'
        'Acquire::Check-Valid-Until "false";\n'
        'Acquire::Check-Valid-Until-Else "false";\n'
    )

    def test_what_concerns_the_mirror_is_the_machine_s(self):
        """Else a machine whose mirror is late, or behind a proxy, fails in the chroot alone."""
        self.assertEqual(
            elsewhere._settings(self.DUMP).splitlines(),
            ['Acquire::http::Proxy "http://proxy:3128";', 'Acquire::Check-Valid-Until "false";'],
        )

    def test_most_machines_have_nothing_of_it(self):
        self.assertEqual(elsewhere._settings('APT "";\n'), "")


if __name__ == "__main__":
    unittest.main()
