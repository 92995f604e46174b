#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""tools/ci/words.py on small trees. Usage: words_test.py WORDS_PY"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

WORDS = pathlib.Path(sys.argv.pop(1))


class Words(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.root = pathlib.Path(temp.name)
        self.write("tools/ci/words.txt", WORDS.with_name("words.txt").read_text())
        self.write("tests/words/counts.txt", "")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self, *options):
        done = subprocess.run([sys.executable, WORDS, "--root", self.root, *options], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_a_comment_is_refused_at_its_line(self):
        self.write("sim/a.h", "int a;\n// Somebody else does it.\n")
        code, out = self.check()
        self.assertEqual(code, 1)
        self.assertIn("sim/a.h: 'somebody' 1 times, 0 before; write say which part of the code", out)
        self.assertIn("  sim/a.h:2: // Somebody else does it.", out)

    def test_code_and_identifiers_do_not_count(self):
        self.write("sim/a.cpp", "int stands = 1'000; bool lies(int beside);  // a number\nchar c = '\"'; // plain\n")
        self.write("tests/a_test.cpp", 'const char* text = "nobody";\n')
        self.write("docs/a.md", "Write `nobody` or\n```\nnobody\n```\n")
        self.write("docs/b.md", "A stand-alone tool.\n")
        self.assertEqual(self.check(), (0, ""))

    def test_messages_of_the_product_count(self):
        self.write("models/a.cpp", 'fail("nobody waits for \\"{}\\"", x); int n = 1\'000\'000;\n')
        self.write("tools/b.cpp", 'auto t = R"(it stands there)";\n')
        code, out = self.check()
        self.assertEqual(code, 1)
        self.assertIn("models/a.cpp:1:", out)
        self.assertIn("tools/b.cpp:1:", out)

    def test_words_over_two_lines_of_a_comment_count(self):
        self.write("isa/a.h", "// is as good\n// as chance\n")
        self.assertEqual(self.check()[0], 1)

    def test_python_cmake_and_documents_count(self):
        for name, text in (("tools/a.py", '"""What nobody knows."""\nx = "nobody"\n'), ("tools/b.py", "x = 1  # owes\n"),
                           ("sim/CMakeLists.txt", "set(x 1) # lies\n"), ("README.md", "It stands here.\n")):
            self.write(name, text)
            code, out = self.check()
            self.assertEqual(code, 1, name)
            self.assertEqual(out.count("\n"), 2, name)
            (self.root / name).unlink()

    def test_counts_allow_what_there_is_and_only_fall(self):
        self.write("sim/a.h", "// nobody\n// nobody\n")
        self.assertEqual(self.check("--accept")[0], 0)
        self.assertEqual(self.check(), (0, ""))
        self.write("sim/a.h", "// nobody\n")
        self.assertEqual(self.check("--update"), (0, ""))
        self.write("sim/a.h", "// nobody\n// nobody\n")
        code, out = self.check("--update")
        self.assertEqual(code, 1)
        self.assertIn("'nobody' 2 times, 1 before", out)
        self.assertEqual(self.check()[0], 1)  # the update has not raised the count


if __name__ == "__main__":
    unittest.main()
