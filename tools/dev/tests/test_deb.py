# SPDX-License-Identifier: GPL-2.0
"""Packages: Debian's configuration and ours, what is made again and what is not, and perf as a
package; up to what make does.
"""

import contextlib
import io
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from textpoke import arch as arches  # noqa: E402
from textpoke import host, paths, say  # noqa: E402
from textpoke.checks import full  # noqa: E402
from textpoke.errors import INFRA, USAGE, Fail  # noqa: E402
from textpoke.guests import kernel, perf  # noqa: E402
from textpoke.packages import deb, perfdeb  # noqa: E402
from textpoke.results import made  # noqa: E402
from textpoke.series import base as bases  # noqa: E402
from textpoke.series import series  # noqa: E402

THEIRS = """\
CONFIG_CC_VERSION_TEXT="gcc-12"
CONFIG_LOCALVERSION=""
CONFIG_LIVEPATCH=y
CONFIG_XEN_PV=y
CONFIG_MODULE_SIG=y
CONFIG_EXT4_FS=m
# CONFIG_WERROR is not set
# CONFIG_DEBUG_INFO_NONE is not set
CONFIG_DEBUG_INFO=y
CONFIG_DEBUG_INFO_BTF=y
"""
WANTED = "6.12.117-1~deb12u1"


def config_deb(folder, debarch, text, version="6.12.117-1", flavour="cloud"):
    """A real package with one configuration in it."""
    root = folder / "root"
    home = root / f"usr/src/{deb.CONFIG}"
    home.mkdir(parents=True)
    with lzma.open(home / f"config.{debarch}_none_{flavour}-{debarch}.xz", "wt") as file:
        file.write(text)
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(
        f"Package: {deb.CONFIG}\nVersion: {version}\nArchitecture: {debarch}\nMaintainer: a <a@b>\n"
        "Description: none\n"
    )
    path = folder / f"{deb.CONFIG}_{version}_{debarch}.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Znone", "--build", root, path],
        check=True,
        capture_output=True,
    )
    shutil.rmtree(root)
    return path


class Case(unittest.TestCase):
    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name, path in (("CACHE", "cache"), ("BUILD", "build"), ("LOGS", "build/log")):
            self.enterContext(mock.patch.object(paths, name, self.home / path))
        self.said = []
        for module in (deb, perfdeb, say):
            self.enterContext(mock.patch.object(module, "say", self.said.append))


class Flavours(unittest.TestCase):
    def test_the_smallest_is_the_default(self):
        self.assertEqual([deb.flavour_of(name) for name in deb.OFFERS], ["cloud"] * 4)

    def test_what_there_is_not_is_one_sentence(self):
        for arch, flavour, says in (
            ("riscv", "rt", "there is no FLAVOUR=rt for ARCH=riscv: use cloud or generic"),
            ("x86", "rt", "use cloud or generic"),
            ("i386", None, "use x86, arm64, riscv, powerpc"),
        ):
            with self.assertRaises(Fail) as caught:
                deb.flavour_of(arch, flavour)
            self.assertEqual(caught.exception.code, USAGE)
            self.assertIn(says, caught.exception.message)


class Versions(unittest.TestCase):
    def test_the_wanted_one_or_one_of_the_same_linux_or_the_newest(self):
        self.assertEqual(deb.best(["6.12.118-1", WANTED], WANTED), WANTED)
        self.assertEqual(deb.best(["6.12.118-1", "6.12.117-1"], WANTED), "6.12.117-1")
        self.assertEqual(deb.best(["6.12.119-1", "6.12.118-1"], WANTED), "6.12.119-1")
        # A tree of the user's own is no version of Debian's.
        self.assertEqual(deb.best(["6.12.119-1", "6.12.118-1"], "6.12.118"), "6.12.118-1")
        self.assertIsNone(deb.best([], WANTED))


class Fetching(Case):
    """Which package is taken, and from where."""

    def package(self, suites, arch="x86", wanted=WANTED):
        """The package, where suites maps those that can be asked to what they have;
        which were asked.
        """
        asked = []

        def suite(name, debarch):
            asked.append(name)
            return mock.Mock(**{"home.name": name, "debarch": debarch, "download": download})

        def offered(apt):
            if isinstance(suites.get(asked[-1]), Fail):
                raise suites[asked[-1]]
            return suites.get(asked[-1], [])

        def download(words, store):
            store.mkdir(parents=True, exist_ok=True)
            path = (
                store / f"{deb.CONFIG}_{words[0].partition('=')[2]}_{arches.get(arch).debarch}.deb"
            )
            path.touch()
            return [path]

        with mock.patch.object(deb, "_suite", suite), mock.patch.object(deb, "_offered", offered):
            return deb._package(arches.get(arch), wanted).name, asked

    def test_the_first_suite_that_can_be_asked(self):
        both = {"bookworm-security": [WANTED], "trixie": ["6.12.117-1"]}
        self.assertEqual(
            self.package(both), (f"{deb.CONFIG}_{WANTED}_amd64.deb", ["bookworm-security"])
        )

    def test_another_while_that_is_updated(self):
        broken = {"bookworm-security": Fail(INFRA, "it is being updated"), "trixie": ["6.12.118-1"]}
        self.assertEqual(
            self.package(broken),
            (f"{deb.CONFIG}_6.12.118-1_amd64.deb", ["bookworm-security", "trixie"]),
        )

    def test_what_is_in_the_cache_needs_no_network(self):
        self.package({"trixie": ["6.12.117-1"]}, "riscv")
        self.assertEqual(self.package({}, "riscv"), (f"{deb.CONFIG}_6.12.117-1_riscv64.deb", []))

    def test_an_older_one_will_do_without_a_network(self):
        self.package({"trixie": ["6.12.95-1"]}, "riscv")
        name, asked = self.package({"trixie": Fail(INFRA, "no network")}, "riscv")
        self.assertEqual(
            (name, asked), (f"{deb.CONFIG}_6.12.95-1_riscv64.deb", ["trixie", "trixie-security"])
        )
        self.assertIn("no network; taking the older", self.said[-1])

    def test_none_at_all_is_the_first_suite_s_sentence(self):
        with self.assertRaisesRegex(Fail, "^it is being updated$"):
            self.package({"bookworm-security": Fail(INFRA, "it is being updated")})
        with self.assertRaisesRegex(Fail, f"^trixie has no {deb.CONFIG} for riscv64"):
            self.package({"trixie-security": Fail(INFRA, "no network")}, "riscv")

    def test_the_configuration_in_it(self):
        path = config_deb(self.home, "amd64", THEIRS)
        with mock.patch.object(deb, "_package", return_value=path):
            self.assertEqual(deb.debians(arches.get("x86"), "cloud", WANTED), THEIRS)
            with self.assertRaisesRegex(
                Fail, "has no usr/src/linux-config-6.12/config.amd64_none_amd64.xz"
            ):
                deb.debians(arches.get("x86"), "generic", WANTED)
        self.assertEqual(list((paths.BUILD / "tmp").iterdir()), [])

    def test_where_debian_has_no_cloud_it_is_generic_without_what_arm64_s_has_not(self):
        whole = "# a word\nCONFIG_XFS_FS=m\nCONFIG_DRM_RADEON=m\nCONFIG_VFAT_FS=m\nCONFIG_KVM_X=m\n"
        cloud = "CONFIG_XFS_FS=m\nCONFIG_VFAT_FS=y\n# CONFIG_DRM_RADEON is not set\n"
        known = {"riscv64": whole + "CONFIG_DRM=y\n", "cloud-arm64": cloud}
        with mock.patch.object(
            deb, "_configuration", side_effect=lambda arch, flavour, wanted: known[flavour]
        ) as asked:
            self.assertEqual(deb.debians(arches.get("riscv"), "generic", WANTED), known["riscv64"])
            self.assertEqual(
                deb.debians(arches.get("riscv"), "cloud", WANTED),
                whole.replace("CONFIG_DRM_RADEON=m", "# CONFIG_DRM_RADEON is not set")
                + "CONFIG_DRM=y\n",
            )
        self.assertEqual([call.args[0].name for call in asked.call_args_list][-1], "arm64")


class Configuration(Case):
    def plan(self, debug=False, arch="x86", flavour="cloud"):
        return deb.Deb(arches.get(arch), self.home / "build/src", flavour, debug)

    def test_ours_wins_and_is_there_once(self):
        whole = deb.composed(THEIRS, deb.ours(self.plan()))
        self.assertEqual(whole.count("LOCALVERSION="), 1)
        self.assertIn('CONFIG_LOCALVERSION="-textpoke-cloud"\n', whole)
        self.assertIn("CONFIG_DEBUG_INFO_NONE=y\n", whole)
        self.assertNotIn("# CONFIG_DEBUG_INFO_NONE is not set", whole)
        self.assertNotIn("#:", whole)
        got = kernel.settings(whole)
        self.assertEqual(
            (got["LIVEPATCH"], got["EXT4_FS"], got["MODULE_SIG_ALL"], got["SYSTEM_TRUSTED_KEYS"]),
            ("y", "m", "n", '""'),
        )

    def test_debug_is_another_release_with_btf(self):
        whole = kernel.settings(deb.composed(THEIRS, deb.ours(self.plan(True))))
        self.assertEqual(
            (whole["LOCALVERSION"], whole["DEBUG_INFO_BTF"], whole["DEBUG_INFO_NONE"]),
            ('"-textpoke-cloud-debug"', "y", "n"),
        )
        self.assertNotEqual(self.plan().folder, self.plan(True).folder)

    def lost(self, changes, debug=False):
        own = deb.ours(self.plan(debug))
        return deb.lost(THEIRS, own, kernel.settings(deb.composed(THEIRS, own)) | changes)

    def test_what_is_granted_is_no_loss(self):
        self.assertEqual(self.lost({}), ([], []))
        self.assertEqual(self.lost({"CC_VERSION_TEXT": '"gcc-14"'}), ([], []))

    def test_debug_information_is_not_missed_without_debug(self):
        without = {"DEBUG_INFO": "n", "DEBUG_INFO_BTF": "n"}
        self.assertEqual(self.lost(without), ([], []))
        grave, _ = self.lost(without, debug=True)
        self.assertEqual(grave, ["DEBUG_INFO_BTF=y"])

    def test_what_must_be_there_is_told_from_what_may_go(self):
        self.assertEqual(self.lost({"TEXT_POKE": "n"})[0], ["TEXT_POKE=y"])
        self.assertEqual(self.lost({"XEN_PV": "n", "EXT4_FS": "n"}), (["XEN_PV=y"], ["EXT4_FS=m"]))
        # What is there though it was not asked for is named as well.
        self.assertEqual(self.lost({"WERROR": "y"}), ([], ["WERROR=n"]))

    def test_a_kernel_without_it_is_refused(self):
        plan = self.plan()
        plan.kdir.mkdir(parents=True)
        (plan.kdir / ".config").write_text(THEIRS)
        with self.assertRaisesRegex(
            Fail,
            r"^the configuration of x86-cloud lacks .*\bTEXT_POKE=y .*, which it has to have: see ",
        ):
            deb._check(plan, THEIRS, deb.ours(plan))

    def test_what_went_is_named_and_listed(self):
        plan = self.plan()
        plan.kdir.mkdir(parents=True)
        many = "".join(f"CONFIG_DRIVER{number}=m\n" for number in range(11))
        (plan.kdir / ".config").write_text(deb.composed(THEIRS, deb.ours(plan)))
        deb._check(plan, THEIRS + many, deb.ours(plan))
        self.assertIn("DRIVER7=m and 3 more", self.said[-1])
        self.assertEqual(len((plan.folder / "lost.txt").read_text().split()), 11)

    def test_the_version_is_above_debian_s_and_below_a_release_to_come(self):
        plan = self.plan()
        with mock.patch.object(bases, "version_of", return_value="6.12.117"):
            version = plan.version
        self.assertRegex(version, r"^6\.12\.117\+textpoke[\d.]+(~dev)?-1$")
        self.assertEqual(
            subprocess.run(
                ["dpkg", "--compare-versions", version, "gt", "6.12.117-1"], check=False
            ).returncode,
            0,
        )
        self.assertEqual(
            subprocess.run(["dpkg", "--validate-version", version], check=False).returncode, 0
        )


class Building(Case):
    """What make is asked for, by a make that is none."""

    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(bases, "version_of", return_value="6.12.117"))
        self.enterContext(
            mock.patch.object(bases, "current", return_value=mock.Mock(package=WANTED))
        )
        self.enterContext(
            mock.patch.object(series, "source_tree", return_value=self.home / "build/src")
        )
        self.enterContext(mock.patch.object(host, "need"))
        self.enterContext(mock.patch.object(host, "room"))
        self.parts = self.enterContext(
            mock.patch.object(deb, "parts", side_effect=lambda plan, theirs: [plan.name, theirs])
        )
        self.theirs = self.enterContext(mock.patch.object(deb, "debians", return_value=THEIRS))
        self.enterContext(mock.patch.object(deb.perfdeb, "build", self.perf))
        self.enterContext(mock.patch.object(deb, "run", self.run_make))
        self.targets, self.breaks, self.calls = [], None, []

    def perf(self, arch, version, dest):
        path = dest / f"{perfdeb.NAME}_{version}_{arch.debarch}.deb"
        path.touch()
        return path

    def run_make(self, cmd, env, **_):
        """A make that leaves what the kernel's would."""
        cmd = list(map(str, cmd))
        target = cmd[-1]
        self.targets.append(target)
        self.calls.append((cmd, env))
        kdir = Path(next(word for word in cmd if word.startswith("O="))[2:])
        if target == self.breaks:
            raise Fail(INFRA, "interrupted")
        if target == "bindeb-pkg":
            release = "6.12.117-textpoke-cloud"
            names = [
                f"{name}_{env['KDEB_PKGVERSION']}_amd64.deb"
                for name in (f"linux-image-{release}", f"linux-headers-{release}", deb.NOT_FOR_USE)
            ]
            (kdir / "debian").mkdir(exist_ok=True)
            (kdir / "debian/files").write_text(
                "".join(f"{name} kernel optional\n" for name in names)
            )
            for name in (
                *names,
                "linux-upstream_1_amd64.changes",
                "linux-upstream_1_amd64.buildinfo",
            ):
                (kdir.parent / name).touch()

    def build(self, arch="x86", **how):
        self.targets.clear()
        return [path.name for path in deb.build(arch, **how)[1]]

    def test_packages_of_image_headers_and_perf(self):
        names = self.build()
        self.assertEqual(
            [name.split("_")[0] for name in names],
            [
                "linux-image-6.12.117-textpoke-cloud",
                "linux-headers-6.12.117-textpoke-cloud",
                perfdeb.NAME,
            ],
        )
        self.assertEqual(self.targets, ["olddefconfig", "all", "bindeb-pkg"])
        self.assertEqual(
            sorted(
                path.name
                for path in (self.home / "build/deb/x86-cloud").glob("*.*")
                if path.suffix != ".txt" and not path.name.startswith(".")
            ),
            sorted(names),
        )

    def test_a_finished_one_is_not_done_again(self):
        names = self.build()
        self.assertEqual((self.build(), self.targets), (names, []))

    def test_it_is_where_a_package_is_gone_or_something_has_changed(self):
        first = self.build()
        (self.home / "build/deb/x86-cloud" / first[0]).unlink()
        self.build()
        self.assertEqual(self.targets[-1], "bindeb-pkg")
        self.theirs.return_value = THEIRS + "CONFIG_NEW=m\n"
        self.build()
        self.assertEqual(self.targets[-1], "bindeb-pkg")
        self.build()
        self.assertEqual(self.targets, [])

    def test_it_is_always_where_it_cannot_be_told(self):
        self.parts.side_effect = lambda *_: [made.UNKNOWN]
        self.build()
        self.build()
        self.assertEqual(self.targets, ["olddefconfig", "all", "bindeb-pkg"])

    def test_an_interrupted_one_goes_on(self):
        self.breaks = "all"
        with self.assertRaises(Fail):
            self.build()
        kdir = self.home / "build/deb/x86-cloud/objects"
        before = (kdir / ".config").stat().st_mtime_ns
        (kdir / "half.o").touch()
        self.breaks = None
        host.room.reset_mock()
        self.build()
        # What make goes by is as it was, and disk space is asked for once.
        self.assertEqual((kdir / ".config").stat().st_mtime_ns, before)
        self.assertTrue((kdir / "half.o").exists())
        host.room.assert_not_called()

    def test_one_that_broke_is_not_taken_for_a_finished_one(self):
        self.build()
        self.theirs.return_value = THEIRS + "CONFIG_NEW=m\n"
        self.breaks = "bindeb-pkg"
        with self.assertRaises(Fail):
            self.build()
        self.breaks, self.theirs.return_value = None, THEIRS
        self.build()
        self.assertEqual(self.targets[-1], "bindeb-pkg")

    def test_packages_that_make_did_not_make_are_a_sentence(self):
        with mock.patch.object(deb, "_made", return_value=[]), self.assertRaisesRegex(
            Fail, "^packing made no packages: see "
        ):
            self.build()
        with mock.patch.object(deb, "_made", return_value=["x.deb"]), self.assertRaisesRegex(
            Fail, "^packing made no x.deb: see "
        ):
            self.build()

    def test_nothing_of_the_user_s_shell_gets_in(self):
        self.build()
        for cmd, env in self.calls:
            self.assertIn("LOCALVERSION=", cmd)
            self.assertFalse([word for word in cmd if "ccache" in word])
            for name in (
                "MAKEFLAGS",
                "LLVM",
                "DEBUG",
                "DEB_BUILD_PROFILES",
                "DEB_BUILD_OPTIONS",
                "KERNEL",
            ):
                self.assertIsNone(env[name])
        # Else the version's object would be compiled and the kernel linked once more as it is
        # packed.
        self.assertEqual(env["KDEB_PKGVERSION"].rpartition("-")[2], env["KBUILD_BUILD_VERSION"])

    def test_for_another_machine_it_packs_with_a_compiler_that_finds_that_machine_s_openssl(self):
        real = self.home / "gcc"
        real.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        real.chmod(0o755)
        for name in ("arm64", "riscv", "powerpc"):
            with mock.patch.object(
                host, "unpack_foreign", return_value=self.home / "ssl"
            ) as unpacked, mock.patch.object(deb.shutil, "which", return_value=str(real)):
                self.build(name)
            self.assertIn("libssl-dev", unpacked.call_args.args[0])
            paths_of = {cmd[-1]: env.get("PATH") for cmd, env in self.calls[-3:]}
            self.assertIsNone(paths_of["all"])
            # dpkg knows no package of that machine.
            self.assertEqual(self.calls[-1][1]["DPKG_FLAGS"], "-d")
            first = Path(paths_of["bindeb-pkg"].split(":")[0]) / f"{arches.get(name).cross}gcc"
            said = subprocess.run(
                [first, "a b.c"], check=True, capture_output=True, text=True
            ).stdout.splitlines()
            self.assertIn("a b.c", said)
            self.assertIn(f"{self.home}/ssl/usr/include/{perf.GUESTS[name].triplet}", said)
            self.assertIn(f"-L{self.home}/ssl/usr/lib/{perf.GUESTS[name].triplet}", said)

    def test_for_this_machine_it_needs_none(self):
        with mock.patch.object(deb, "compiler", side_effect=AssertionError("it was asked for")):
            self.build()
        self.assertIsNone(self.calls[-1][1]["DPKG_FLAGS"])

    def test_setup_installs_all_that_it_needs(self):
        with mock.patch.object(host, "setup") as setup:
            full.setup()
        said = {*setup.call_args.kwargs["more"]}
        host.need.reset_mock()
        self.build()
        # What is the others' is in host.py.
        rest = {*host.BUILD, *host.PERF, *host.BTF}
        self.assertLessEqual(
            {name for call in host.need.call_args_list for name in call.args} - rest, said
        )

    def test_what_to_type_is_said_last(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            deb.main(mock.Mock(arch="x86", get=lambda *_: None, flag=lambda _: False))
        said = out.getvalue()
        self.assertIn("sudo apt install ", said)
        typed = said.split("sudo apt install ")[1].splitlines()[0].split()
        # apt takes a word for a file only if there is a / in it.
        self.assertTrue(all("/" in word and Path(word).exists() for word in typed))
        self.assertEqual(len(typed), 3)

    def test_a_path_is_shown_as_it_is_typed_where_the_user_is(self):
        self.assertEqual(deb._shown(Path("x.deb").absolute()), "./x.deb")
        self.assertEqual(
            deb._shown(Path("build/it's.deb").absolute()), """'./build/it'"'"'s.deb'"""
        )
        self.assertEqual(deb._shown(Path("/x.deb")), "/x.deb")


class Perf(Case):
    SYMBOLS = (
        "1: 0 FUNC GLOBAL DEFAULT UND free@GLIBC_2.2.5 (2)\n"
        "2: 0 FUNC GLOBAL DEFAULT UND x@GLIBC_2.34 (3)\n"
        "3: 0 UND y@GLIBC_2.4\n"
    )

    def test_the_c_library_that_has_all_of_it(self):
        self.assertEqual(perfdeb.newest_libc(self.SYMBOLS), "2.34")
        self.assertEqual(perfdeb.newest_libc(""), "")

    def test_what_a_program_for_elsewhere_depends_on(self):
        needed = ["libz.so.1", "libm.so.6", "libelf.so.1", "libc.so.6", "ld-linux-aarch64.so.1"]
        self.assertEqual(perfdeb.depends(needed, self.SYMBOLS), "libc6 (>= 2.34), libelf1, zlib1g")
        with self.assertRaisesRegex(Fail, "^perf needs libslang.so.2, of which it is not known"):
            perfdeb.depends(["libslang.so.2"], "")

    def test_the_libraries_of_guests_are_all_known(self):
        brought = {
            name
            for guest in perf.GUESTS.values()
            for name in (*guest.libraries, *guest.decodes)
            if "-dev" not in name
        }
        # OpenCSD itself wants the last two, and says so.
        others = {"libelf1t64", "libc6", "libstdc++6", "libgcc-s1"}
        self.assertLessEqual(brought - others, set(perfdeb.LIBRARIES.values()))

    def test_two_libraries_of_a_package_are_one_dependence(self):
        needed = ["libopencsd_c_api.so.1", "libopencsd.so.1", "libelf.so.1"]
        self.assertEqual(
            perfdeb.depends(needed, self.SYMBOLS), "libc6 (>= 2.34), libelf1, libopencsd1"
        )

    def test_which_of_them_decode(self):
        for arch in ("x86", "arm64", "riscv", "powerpc"):
            text = perfdeb.control(arches.get(arch).debarch, "1", "libc6", 1)
            able = arch in ("x86", "arm64")
            self.assertEqual((perfdeb.DECODES in text, perfdeb.RECORDS in text), (able, not able))

    def built(self, arch):
        """(folder, make's words, libraries) of the perf that a package gets."""
        found = []

        def build(_, out, options, what):
            found.append((out.name, options))
            return self.home / "perf"

        with (
            mock.patch.object(perf, "build", build),
            mock.patch.object(perf, "_libraries", return_value={}),
            mock.patch.object(perf, "_find", return_value=self.home / "ld.so"),
            mock.patch.object(perf.series, "source_tree", return_value=self.home),
            mock.patch.object(perf.host, "need"),
            mock.patch.object(perf.host, "unpack_foreign", return_value=self.home) as unpacked,
            mock.patch.object(perfdeb, "pack"),
        ):
            perfdeb.build(arch, "1", self.home)
        return *found[0], unpacked.call_args.args[0]

    def test_arm64_s_is_built_with_opencsd_and_another_one_than_guests_have(self):
        folder, words, libraries = self.built("arm64")
        self.assertEqual((folder, "CORESIGHT=1" in words), ("perf-decodes-arm64", True))
        self.assertIn("libopencsd-dev", libraries)
        folder, words, libraries = self.built("riscv")
        self.assertEqual((folder, "CORESIGHT=1" in words), ("perf-riscv", False))
        self.assertNotIn("libopencsd-dev", libraries)

    def test_perf_does_not_take_the_name_for_a_command_of_its_own(self):
        self.assertFalse(perfdeb.PROGRAM.startswith(("perf-", "trace")))

    @unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "dpkg-shlibdeps is missing")
    def test_a_package_of_a_program(self):
        program = Path(os.path.realpath("/bin/true"))
        path = perfdeb.pack("x86", program, "6.12.117+textpoke1.0-1", self.home)

        def field(name):
            return subprocess.run(
                ["dpkg-deb", "-f", path, name], check=True, capture_output=True, text=True
            ).stdout.strip()

        self.assertEqual(path.name, f"{perfdeb.NAME}_6.12.117+textpoke1.0-1_amd64.deb")
        self.assertEqual(
            (field("Package"), field("Architecture"), field("Version")),
            (perfdeb.NAME, "amd64", "6.12.117+textpoke1.0-1"),
        )
        self.assertIn("libc6 (>= ", field("Depends"))
        out = self.home / "out"
        subprocess.run(["dpkg-deb", "--extract", path, out], check=True)
        self.assertEqual(
            subprocess.run([out / "usr/bin" / perfdeb.PROGRAM], check=False).returncode, 0
        )
        listed = subprocess.run(
            ["dpkg-deb", "-c", path], check=True, capture_output=True, text=True
        ).stdout
        self.assertNotIn("DEBIAN", listed)
        self.assertTrue(all(" root/root " in line for line in listed.splitlines()))
        self.assertEqual(
            [each.name for each in self.home.iterdir() if each.name.endswith(".part")], []
        )


if __name__ == "__main__":
    unittest.main()
