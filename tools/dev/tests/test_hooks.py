# SPDX-License-Identifier: GPL-2.0
"""Whether a call that the models take for granted is missed when it is gone."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import paths  # noqa: E402
from textpoke.code import csource  # noqa: E402
from textpoke.errors import Fail  # noqa: E402
from textpoke.proofs import hooks, models  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED  # noqa: E402

BACKEND = """\
/* arch_text_poke_flush() does not flush(). */
static void helper(void (*fence)(void))
{
	fence();
}

void arch_text_poke_flush(void *addr,
			  size_t len)
{
	/* Before clean(). */
	pr_debug("clean();");
	dsb();
	clean(addr, len);
}

noinstr bool arch_text_poke_is_trap(const void *addr)
{
	if (!addr) {
		return false;
	}
	return look(addr);
}

static inline void arch_text_poke_slots_written(void) { }

void arch_text_poke_sync_cpu(void)
{
	/* asm("isync"); */
	asm volatile("dcbst 0,%0; sync;"
		     "\\ticbi 0,%0\\n\\tsync" : : "r" (0) : "memory");
	asm ("isync");
	pr_debug("eieio");
}
"""
TABLE = """\
# why

arch/one/kernel/text_poke.c | arch_text_poke_flush | dsb clean | arm64/one.litmus: no-clean
arch/one/kernel/text_poke.c | arch_text_poke_is_trap | look | no model: of some reason
arch/one/kernel/text_poke.c | arch_text_poke_slots_written | nothing | no model: coherent
arch/one/kernel/text_poke.c | helper | fence | no model: firmware
arch/one/kernel/text_poke.c | arch_text_poke_sync_cpu | asm:dcbst asm:sync asm:icbi \
asm:sync asm:isync | no model: x
"""
DECLARED = {"arm64/one.litmus: no-clean": ""}
NAME = "hooks: arch/one/kernel/text_poke.c: "


class Functions(unittest.TestCase):
    def test_a_body_ends_with_its_brace(self):
        self.assertEqual(hooks.body(BACKEND, "helper").split(), ["fence();"])
        self.assertIn("look(addr)", hooks.body(BACKEND, "arch_text_poke_is_trap"))

    def test_comments_and_strings_are_no_code(self):
        code = hooks.body(BACKEND, "arch_text_poke_flush")
        self.assertEqual(code.count("clean"), 1)

    def test_what_is_only_called_or_declared_is_not_defined(self):
        for text in (
            "",
            "void flush(void *addr);\n",
            "static void other(void)\n{\n\tflush();\n}\n",
            "#define flush(x)\nvoid a(void)\n{\n}\n",
        ):
            with self.subTest(text):
                self.assertIsNone(hooks.body(text, "flush"))

    def test_the_order_of_calls(self):
        self.assertEqual(hooks.missing(("a", "b"), "a(); x(b()); c();"), "")
        self.assertEqual(hooks.missing(("a", "b"), "b(); a();"), "b")
        self.assertEqual(hooks.missing(("a",), "aa(); a_b(); a;"), "a")

    def test_instructions(self):
        code = csource.body(BACKEND, "arch_text_poke_sync_cpu", strings=True)
        self.assertEqual(csource.instructions(code), ["dcbst", "sync", "icbi", "sync", "isync"])

    def test_the_order_of_instructions(self):
        wanted, there = ("asm:a", "f", "asm:b"), ("a", "c", "b")
        self.assertEqual(hooks.missing(wanted, "f();", there), "")
        self.assertEqual(hooks.missing(wanted, "f();", there[::-1]), "asm:b")
        self.assertEqual(hooks.missing(wanted, "b();", there), "f")
        self.assertEqual(hooks.missing(wanted, "f();"), "asm:a")

    def test_arguments(self):
        self.assertEqual(
            csource.arguments("ret = x + f(g(a, b), &c->d,\n\te);", "f"), ["g(a, b)", "&c->d", "e"]
        )
        self.assertEqual(csource.arguments("f();", "f"), [""])
        self.assertIsNone(csource.arguments("ff(a);", "f"))


class Results(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.backend = self.root / "arch/one/kernel/text_poke.c"
        self.backend.parent.mkdir(parents=True)

    def wrong(self, backend=BACKEND, table=TABLE, declared=DECLARED):
        """What fails, name -> why."""
        self.backend.write_text(backend)
        (self.root / "table").write_text(table)
        found = list(
            hooks.results(declared, self.root, self.root / "table", lambda: self.root / "patched")
        )
        self.assertTrue(found)
        return {each.name.removeprefix(NAME): each.note for each in found if each.status == FAILED}

    def test_all_is_called(self):
        self.assertEqual(self.wrong(), {})

    def test_a_call_that_is_removed(self):
        found = self.wrong(BACKEND.replace("\tclean(addr, len);\n", ""))
        self.assertEqual(list(found), ["arch_text_poke_flush"])
        self.assertIn("does not call clean()", found["arch_text_poke_flush"])
        self.assertIn("arm64/one.litmus: no-clean", found["arch_text_poke_flush"])

    def test_a_call_that_is_commented_out(self):
        for gone in ("/* clean(addr, len); */", "// clean(addr, len);"):
            self.assertEqual(
                list(self.wrong(BACKEND.replace("clean(addr, len);", gone))),
                ["arch_text_poke_flush"],
            )

    def test_calls_in_another_order(self):
        swapped = BACKEND.replace("\tdsb();\n", "").replace("len);\n}", "len);\n\tdsb();\n}")
        self.assertEqual(list(self.wrong(swapped)), ["arch_text_poke_flush"])

    def test_what_is_to_do_nothing_and_does_something(self):
        self.assertEqual(
            list(self.wrong(BACKEND.replace("{ }", "{ clean(); }"))),
            ["arch_text_poke_slots_written"],
        )

    def test_a_function_that_is_gone(self):
        self.assertIn("has no helper()", self.wrong(BACKEND.replace("helper", "renamed"))["helper"])

    def test_an_instruction_that_is_removed(self):
        for before, after in (("; sync;", ";"), ("icbi 0,%0", ""), ('asm ("isync")', "isync()")):
            found = self.wrong(BACKEND.replace(before, after))
            self.assertEqual(list(found), ["arch_text_poke_sync_cpu"])
            self.assertIn("does not have asm:", found["arch_text_poke_sync_cpu"])

    def test_a_file_that_is_only_changed(self):
        path = self.root / "patched/lib/a.c"
        path.parent.mkdir(parents=True)
        line = "lib/a.c | b | c d | no model: e\n"
        path.write_text("void b(void)\n{\n\tc();\n\td();\n}\n")
        self.assertEqual(self.wrong(table=TABLE + line), {})
        path.write_text("void b(void)\n{\n\td();\n\tc();\n}\n")
        self.assertEqual(list(self.wrong(table=TABLE + line)), ["hooks: lib/a.c: b"])

    def test_a_file_that_is_gone(self):
        self.assertEqual(
            list(self.wrong(table=TABLE + "lib/a.c | b | c | no model: d\n")), ["hooks: lib/a.c: b"]
        )

    def test_a_hook_without_a_line(self):
        found = self.wrong(BACKEND + "\nvoid arch_text_poke_sync(void)\n{\n\tisb();\n}\n")
        self.assertIn("no line", found["arch_text_poke_sync"])

    def test_a_mutant_that_no_model_has(self):
        self.assertIn("no model has", self.wrong(declared={})["arch_text_poke_flush"])

    def test_lines_that_cannot_be_read(self):
        for line in ("a.c | f | g", "a.c | f |  | no model: x", "a.c"):
            with self.subTest(line), self.assertRaises(Fail):
                hooks.parse(line)


class OurOwn(unittest.TestCase):
    def setUp(self):
        self.declared = models.mutants()

    def test_the_code_calls_all_of_it(self):
        self.assertEqual(
            [each for each in hooks.results(self.declared) if each.status != PASSED], []
        )

    def test_each_call_is_missed(self):
        for hook in hooks.parse(hooks.TABLE.read_text()):
            text = hooks.place(hook.path).read_text()
            for call in hook.calls:
                with self.subTest(function=hook.function, call=call):
                    self.assertTrue(
                        hooks.wrong(hook, self._without(text, hook.function, call), self.declared)
                    )

    def _without(self, text, function, call):
        """A file whose function does not call it any more."""
        start = re.search(
            rf"^(?![ \t#])[^;{{}}#]*?\b{function}\([^;{{}}]*\)\s*\{{", text, re.M
        ).end()
        end = start + re.search(r"^\}", text[start:], re.M).start()
        name = call.removeprefix(hooks.ASM)
        behind = r"\b" if name != call else r"(?=\s*\()"
        code = re.sub(rf"\b{name}{behind}", "gone", text[start:end])
        self.assertNotEqual(code, text[start:end])
        return text[:start] + code + text[end:]

    def test_every_backend_has_its_lines(self):
        self.assertGreaterEqual(len(list(paths.ROOT.glob(hooks.BACKENDS))), 3)
        self.assertEqual(list(hooks.unlisted(hooks.parse(hooks.TABLE.read_text()), paths.ROOT)), [])


if __name__ == "__main__":
    unittest.main()
