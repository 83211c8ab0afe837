# SPDX-License-Identifier: GPL-2.0
"""The words of the series: which are marked, where they are looked for,
and that the gate tells of them.
"""

import unittest

from textpoke import errors, paths
from textpoke.checks import gates
from textpoke.code import words
from textpoke.series import patches
from tests.test_series import (  # noqa: F401  pylint: disable=unused-import
    Case,
    setUpModule,
    write_tree,
)

CORE = "kernel/text_poke/core.c"
TERMS = paths.DEV / "terms.md"
MARKED = (
    "who",
    "whom",
    "Whoever",
    "somebody",
    "someone",
    "nobody",
    "no one",
    "everybody",
    "anyone",
    "he",
    "his",
    "act as",
    "acts as",
    "acted as",
    "acting\n * as",
    "listener",
    "Listeners",
    "deaf",
    "dawdles",
    "plugger",
)
PLAIN = (
    "whose",
    "whole",
    "listens",
    "an event that listens",
    "the",
    "there",
    "act on",
    "no-mb-of-listener",
    "text_poke_listener_open()",
    "<listener.h>",
    "listener.c",
    "nobody_runs()",
    "acts_as",
    "text_poke_dawdle()",
    "NR_WHO",
)


class Words(unittest.TestCase):
    """Which they are."""

    def test_marked_ones_are(self):
        for word in MARKED:
            with self.subTest(word=word):
                self.assertTrue(words.MARKED.search(f"Then {word}, says it."))

    def test_others_and_names_are_not(self):
        for word in PLAIN:
            with self.subTest(word=word):
                self.assertIsNone(words.MARKED.search(f"Then {word}, says it."))

    def test_sentences_are_what_is_read(self):
        for path, text, wanted in (
            ("a.c", 'int who; /* one */ f("who /* who */"); // two\n', ("one", "two")),
            ("a.S", "who:\n/* one\n * two */ nop\n", ("one", "two")),
            ("a.litmus", 'C x\n(*\n * one: drop "B who"\n *)\nB who ; who:\n', ("one",)),
            ("a.sh", "who # one\n# two\n", ("one", "two")),
            (
                "a.py",
                'def who():\n    """one\n\n    two"""\n    f(\n        # three\n        "who",\n'
                "    )\n    return 'who'  # four\n",
                ("one", "two", "three", "four"),
            ),
            ("tools/dev/tp", '#!/bin/sh\n""":"\none\n"""\n# two\nf("who")\n', ("one", "two")),
            # A hunk ends where it ends.
            ("a.py", 'f("who",  # one\n', ("one",)),
            ("a.py", "    who()\n  who()  # one\n", ("one",)),
            (
                "a.patch",
                "Subject: one\n\ntwo\n---\ndiff --git a/a.c b/a.c\n+/* who */\n",
                ("one", "two"),
            ),
            ("a.rst", "one, ``two``\n", ("one", "two")),
        ):
            with self.subTest(path=path):
                sentences = words.prose(path, text)
                self.assertNotIn("who", sentences)
                for word in wanted:
                    self.assertIn(word, sentences)

    def test_what_python_says_is_read_in_its_lines(self):
        text = '"""one\n\ntwo"""\n\nA = "who"  # three\n\n\nclass B:\n    # four\n    """five"""\n'
        found = words.prose("a.py", text).split("\n")
        for number, word in (1, "one"), (3, "two"), (5, "three"), (9, "four"), (10, "five"):
            self.assertIn(word, found[number - 1])

    def test_comments_that_hunks_add_are_read_in_their_lines(self):
        text = (
            "Subject: x\n---\ndiff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n"
            "@@ -1,5 +1,4 @@ who()\n  * who is there\n+ * one\n"
            '-/* who */\n /* who\n+ * two */ f("who");\n'
            "diff --git a/b.sh b/b.sh\n@@ -0,0 +1 @@\n+who # three\n"
        )
        found = words.prose("a.patch", text).split("\n")
        lines = text.split("\n")
        self.assertNotIn("who", "".join(found[1:]))
        for word in ("one", "two", "three"):
            with self.subTest(word=word):
                at = next(at for at, line in enumerate(lines) if word in line)
                self.assertIn(word, found[at])

    def test_code_has_its_own(self):
        for word in ("nobody_runs()", "acts_as", "text_poke_dawdle()", "NR_WHO", "act as", "DEAF"):
            with self.subTest(word=word):
                self.assertTrue(words.IN_CODE.search(f'f({word}, "one");'))
        for word in ("whole", "text_poke_listener_open()", "whose_turn", "somebodys", "react_as"):
            with self.subTest(word=word):
                self.assertIsNone(words.IN_CODE.search(f'f({word}, "one");'))

    def test_the_page_says_which_they_are(self):
        text = TERMS.read_text()
        self.assertLess(text.count("\n"), 60)
        for word in (
            "act as",
            "listener",
            "deaf",
            "dawdle",
            "plugger",
            "who",
            "somebody",
            "nobody",
        ):
            self.assertIn(word, text)

    def test_ours_have_none(self):
        self.assertEqual(list(words.found()), [])


class Gate(Case):
    """The gate, on a series of three."""

    def setUp(self):
        super().setUp()
        self.three()

    def test_it_tells_where(self):
        gates.words_are_plain()
        for path, text, told in (
            (
                CORE,
                "int core;\n/*\n * The trap acts\n * as a call.\n */\n",
                f"{CORE}:3 has `acts as`, the first of 1 ",
            ),
            (
                "README.md",
                "It is for those who trace.\nNobody else.\n",
                "README.md:1 has `who`, the first of 2 ",
            ),
            (
                "tools/dev/textpoke/series/one.py",
                'ONE = "who"\n\n\ndef one():\n    """What nobody calls."""\n',
                "tools/dev/textpoke/series/one.py:5 has `nobody`, the first of 1 ",
            ),
            (
                "tools/dev/tests/test_one.py",
                "ONE = 1  # for whoever asks\n",
                "tools/dev/tests/test_one.py:1 has `whoever`, the first of 1 ",
            ),
            (
                "arch/arm64/kernel/text_poke.c",
                "int arm64; // Without a listener\n",
                ":1 has `listener`",
            ),
        ):
            with self.subTest(path=path):
                before = (self.root / path).read_text() if (self.root / path).exists() else ""
                write_tree(self.root, {path: text})
                self.refused(
                    gates.words_are_plain, told, "tools/dev/terms.md", code=errors.TEST_FAILED
                )
                write_tree(self.root, {path: before})
        gates.words_are_plain()

    def test_change_logs_are_read(self):
        for name in ("0004-a.patch", "0001-a.6.12.30+.hunks", "1-fixes.cover"):
            path = f"{patches.FOLDER}/{name}"
            with self.subTest(path=path):
                write_tree(
                    self.root, {path: "Subject: a\n\nWhoever reads.\n---\n+/* Nobody reads. */\n"}
                )
                told = self.refused(
                    gates.words_are_plain, f"{path}:3 has `Whoever`", code=errors.TEST_FAILED
                )
                self.assertIn(
                    "the first of 1 " if not name.endswith(patches.COVER) else "the first of 2 ",
                    told,
                )
                (self.root / path).unlink()
        gates.words_are_plain()

    def test_names_and_messages_are_told_of_as_well(self):
        for text, word in (
            ("int core;\nint who;\n", "who"),
            ('int core;\nf("somebody listens");\n', "somebody"),
            ("int core;\nvoid harms_nobody(void);\n", "nobody"),
        ):
            with self.subTest(word=word):
                write_tree(self.root, {CORE: text})
                self.refused(
                    gates.words_are_plain,
                    f"{CORE}:2 has `{word}`, the first of 1 ",
                    code=errors.TEST_FAILED,
                )

    def test_perf_s_word_may_be_a_name(self):
        write_tree(self.root, {CORE: "struct perf_listener core;\n"})
        gates.words_are_plain()


if __name__ == "__main__":
    unittest.main()
