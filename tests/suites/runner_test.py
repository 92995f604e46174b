#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Tests of tools/suites with commands of the shell in place of the tool."""

import json
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

SUITES = pathlib.Path(__file__).resolve().parents[2] / "tools/suites"
sys.path.insert(0, str(SUITES))

import compare  # noqa: E402
import reasons  # noqa: E402
import tables  # noqa: E402
from suite import Case, Step  # noqa: E402


class Reasons(unittest.TestCase):
    """What differs between two cases with the same defect is not part of the reason."""

    def same(self, phase, *logs):
        found = {reasons.reason(phase, "exit code 1", log) for log in logs}
        self.assertEqual(len(found), 1, found)
        return found.pop()

    def test_places_and_arguments_of_templates(self):
        self.assertEqual(
            self.same("compile",
                      "a.asc:58:12: warning: unused\na.asc:59:3: error: no match for ‘Add(LocalTensor<half>&)’\n",
                      "/x/b.asc:7:1: error: no match for 'Add(LocalTensor<std::pair<int, float>>&)'\nb: error: x"),
            "no match for 'Add(LocalTensor<>&)'")

    def test_names_stay(self):
        a, b = (reasons.reason("compile", "exit code 1", f"a.asc:1:1: error: '{name}' was not declared")
                for name in ("Sort", "TopK"))
        self.assertNotEqual(a, b)

    def test_numbers_of_names_stay(self):
        self.assertEqual(reasons.normalise("error: dav-c220-vec, v2: 3 of -4.5e-6, 0x10"),
                         "dav-c220-vec, v2: N of N")

    def test_missing_headers_and_symbols(self):
        self.assertEqual(self.same("compile", "x.cpp:4:10: fatal error: a/b.h: No such file or directory"),
                         "a/b.h: No such file or directory")
        self.assertEqual(self.same("compile", "/usr/bin/ld: /tmp/cc1.o: undefined reference to `f'"),
                         "cc1.o: undefined reference to 'f'")
        log = "/usr/bin/ld: /tmp/a.o: in function `main':\n/tmp/a.cpp:3: undefined reference to `f()'\n"
        log += "collect2: error: ld returned 1 exit status\n"
        self.assertEqual(reasons.reason("compile", "exit code 2", log), "undefined reference to 'f()'")

    def test_advice_of_the_compiler_is_left_out(self):
        self.assertEqual(reasons.normalise("/w/a~b/k.asc:1:2: error: ‘F’ was not declared; did you mean ‘G’?"),
                         "'F' was not declared")

    def test_cmake(self):
        log = "-- Detecting\nCMake Error at CMakeLists.txt:7 (find_package):\n  By not providing X\n"
        self.assertEqual(self.same("compile", log), "CMake Error (find_package): By not providing X")

    def test_faults_of_a_program(self):
        self.assertEqual(self.same("run", "hello\nvinci: program fault: a.asc:69: DDR address 0x1000 out of range",
                                   "vinci: program fault: /tmp/b.asc:7: DDR address 0xff out of range"),
                         "exit code 1: vinci: program fault: DDR address N out of range")

    def test_without_any_output(self):
        self.assertEqual(reasons.reason("run", reasons.ending(-signal.SIGSEGV), ""), "SIGSEGV")
        self.assertEqual(reasons.ending(0, 2.0), "no end after 2 s")


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def code(self, a, b, *more):
        (self.folder / "a").write_bytes(a)
        (self.folder / "b").write_bytes(b)
        done = subprocess.run([sys.executable, SUITES / "compare.py", self.folder / "a", self.folder / "b", *more],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_tolerances(self):
        a, b = struct.pack("<4f", 1, 2, 3, 4), struct.pack("<4f", 1, 2, 3, 4.001)
        self.assertEqual(self.code(a, b, "--type", "float32")[0], 1)
        self.assertEqual(self.code(a, b, "--type", "float32", "--rtol", "1e-3")[0], 0)
        self.assertEqual(self.code(a, b, "--type", "float32", "--wrong", "0.25")[0], 0)
        self.assertEqual(self.code(a, b, "--type", "float32", "--wrong", "0.24")[0], 1)

    def test_bfloat16(self):
        one, next_one = b"\x80\x3f", b"\x81\x3f"  # 1 and 1 + 2^-7
        self.assertEqual(self.code(one, next_one, "--type", "bfloat16", "--atol", "0.008")[0], 0)
        code, said = self.code(one, next_one, "--type", "bfloat16", "--atol", "0.007")
        self.assertEqual((code, said), (1, "1 of 1 values wrong; the first is 0: 1.0, not 1.0078125\n"))

    def test_not_a_number_equals_itself_only(self):
        nan, one = struct.pack("<f", float("nan")), struct.pack("<f", 1)
        self.assertEqual(self.code(nan, nan, "--type", "float32")[0], 0)
        self.assertEqual(self.code(nan, one, "--type", "float32", "--rtol", "9")[0], 1)

    def test_what_cannot_be_compared(self):
        self.assertEqual(self.code(b"", b"")[0], 2)
        self.assertEqual(self.code(b"\0" * 4, b"\0" * 8)[0], 2)
        self.assertEqual(self.code(b"\0" * 3, b"\0" * 3, "--type", "float16")[0], 2)


class Tables(unittest.TestCase):
    def test_depth_of_categories(self):
        results = [{"name": c, "category": c, "state": "right", "phases": {}} for c in ("a/b/c", "a/b", "a/d/e", "f")]
        self.assertEqual([row[:2] for row in tables.summary(results, 2)], [["a/b", 2], ["a/d", 1], ["f", 1], ["all", 4]])
        self.assertEqual(len(tables.summary(results)), 5)

    def test_wrong_results_are_never_left_out(self):
        rows = [["wrong", 1, "bits", "a"], ["not compiled", 3, "x", "b"], ["not compiled", 2, "y", "c"]]
        self.assertEqual(tables.shortened(rows, 2), [*rows[:2], ["others", 2, "1 other reasons", ""]])
        self.assertEqual(tables.shortened(rows, 3), rows)


class Cases(unittest.TestCase):
    def test_what_a_suite_file_may_not_say(self):
        for wrong in (lambda: Case("a b", run=[["true"]]), lambda: Case("../a", run=[["true"]]), lambda: Case("a"),
                      lambda: Case("a", run=["true"]), lambda: Step(["true"], right="(")):
            with self.assertRaises(Exception):
                wrong()


SUITE = """
import pathlib
from suite import Case, Step

def shell(text, **more):
    return [Step(["sh", "-c", text], **more)]

def cases(checkout):
    yield Case("ok", "a", run=shell("true"), verify=shell("true"))
    yield Case("silent", "a", run=shell("true"))
    yield Case("bits/inner", "a", run=shell("exit 1"))
    yield Case("bits", "a", run=shell("true"), verify=shell("echo 7 values wrong; exit 1"))
    yield Case("own_check", "a", run=shell("exit 3", wrong_codes=[3]), checks_itself=True)
    yield Case("no_lines", "a", run=shell("echo nothing", right="^PASS"))
    yield Case("crash", "b", run=shell("kill -SEGV $$"))
    yield Case("hang", "b", run=shell("sleep 60 & sleep 60"))
    yield Case("text", "b", compile=shell("echo x.asc:3:4: error: nothing; exit 1"), run=shell("true"))
    yield Case("data", "b", prepare=shell("echo ValueError: no; exit 1"), run=shell("true"))
    yield Case("program", "b", run=[["no_such_program_at_all"]])
    yield Case("count", "c", source=checkout / "counted", checks_itself=True,
               run=shell("echo x >> " + str(checkout) + "/count; test -e file"))
    yield Case("module", "c", modules=["no_such_module_at_all"], run=shell("true"))
    yield Case("skip", "c", skip="not for us")
    yield Case("lines", "a", run=shell("echo PASS a; echo FAIL b", right="^PASS", wrong="^FAIL"))
    yield Case("leftover", "c", run=shell("sleep 60 & echo $! > " + str(checkout) + "/pid"))
    yield Case("env", "c", run=shell("test $A = {work} && test -x {vinci} && test -z $VINCI_CHIP", env={"A": "{work}"}),
               checks_itself=True)
"""
STATES = {"ok": "right", "silent": "unchecked", "bits": "wrong", "own_check": "wrong", "no_lines": "wrong",
          "crash": "not run", "hang": "not run", "text": "not compiled", "data": "not prepared", "program": "not run",
          "count": "right", "module": "skipped", "skip": "skipped", "bits/inner": "not run",
          "lines": "wrong", "leftover": "unchecked", "env": "right"}


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "checkout/counted").mkdir(parents=True)
        (self.folder / "checkout/counted/file").write_text("1")
        (self.folder / "suite_file.py").write_text(SUITE)
        (self.folder / "prefix/bin").mkdir(parents=True)
        tool = self.folder / "prefix/bin/vinci"
        tool.write_text("#!/bin/sh\necho vinci of the test\n")
        tool.chmod(0o755)

    def command(self, *more):
        return [sys.executable, str(SUITES / "run.py"), "suite_file.py", "checkout", "--vinci", "prefix",
                "--work", "work", "--timeout", "1", *more]

    def run_suite(self, *more, code=1):
        done = subprocess.run(self.command(*more), cwd=self.folder, capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "VINCI_CHIP": "x"})
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def report(self, *more, code=1):
        self.run_suite("--json", "all.json", *more, code=code)
        return json.loads((self.folder / "all.json").read_text())

    def counted(self):
        return len((self.folder / "checkout/count").read_text().split())

    def test_states(self):
        report = self.report()
        results = {result["name"]: result for result in report["cases"]}
        self.assertEqual({name: result["state"] for name, result in results.items()}, STATES)
        self.assertEqual(results["crash"]["reason"], "SIGSEGV")
        self.assertEqual(results["hang"]["reason"], "no end after 1 s")
        self.assertEqual(results["program"]["reason"],
                         "no_such_program_at_all cannot be started: No such file or directory")
        self.assertIn("^PASS", results["no_lines"]["reason"])
        self.assertIn("no_such_module_at_all", results["module"]["reason"])
        self.assertEqual(tables.summary(report["cases"])[-1][:9], ["all", 17, 2, 15, 13, 9, 3, 2, 4])
        self.assertEqual(results["lines"]["checks"], {"right": 1, "all": 2})
        for log in ("bits/verify.txt", "bits~inner/run.txt"):
            self.assertTrue((self.folder / "work/logs" / log).is_file())

    def test_what_a_program_leaves_behind_is_ended(self):
        self.report("--only", "^leftover$", code=0)
        try:
            stat = pathlib.Path("/proc", (self.folder / "checkout/pid").read_text().strip(), "stat").read_text()
        except OSError:
            return
        self.assertEqual(stat.rpartition(")")[2].split()[0], "Z")

    def test_kept_results_are_used_until_what_they_depend_on_changes(self):
        self.report("--only", "^count$", code=0)
        self.report("--only", "^count$", code=0)
        self.assertEqual(self.counted(), 1)
        self.report("--only", "^count$", "--fresh", code=0)
        self.assertEqual(self.counted(), 2)
        (self.folder / "checkout/counted/file").write_text("2")
        self.report("--only", "^count$", code=0)
        self.assertEqual(self.counted(), 3)
        tool = self.folder / "prefix/bin/vinci"
        tool.write_text(tool.read_text() + "# another tool\n")
        self.report("--only", "^count$", code=0)
        self.assertEqual(self.counted(), 4)

    def test_an_interrupted_run_goes_on(self):
        process = subprocess.Popen(self.command("--only", "^(count|hang|ok)$", "--timeout", "50"), cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with process:
            self.assertIn("right: ok", process.stderr.readline())
            time.sleep(0.3)  # `hang` has begun
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("the same command goes on", said)
        again = self.run_suite("--only", "^(count|ok)$", "--timeout", "50", code=0)
        self.assertIn("right: ok  run 0.0 s (kept)", again.stderr)

    def test_a_run_ends_when_the_tool_is_built_again(self):
        text = 'from suite import Case\n\ndef cases(checkout):\n'
        text += '    yield Case("a", run=[["sh", "-c", "echo >> {vinci}"]])\n    yield Case("b", run=[["true"]])\n'
        (self.folder / "suite_file.py").write_text(text)
        self.assertIn("have changed during the run", self.run_suite("--timeout", "50", code=2).stderr)
        self.assertFalse(any((self.folder / "work/results").iterdir()))
        self.assertIn("unchecked: b", self.run_suite("--only", "b", code=0).stderr)

    def test_a_sample_repeats_with_its_seed(self):
        names = [[r["name"] for r in self.report("--sample", "4", "--seed", seed)["cases"]] for seed in ("1", "1", "3")]
        self.assertEqual(names[0], names[1])
        self.assertNotEqual(names[0], names[2])
        self.assertEqual(len(names[0]), 4)

    def test_against_an_earlier_run(self):
        self.report("--only", "^(ok|bits)$")
        (self.folder / "all.json").rename(self.folder / "before.json")
        self.run_suite("--only", "^(ok|bits)$", "--against", "before.json", code=0)
        text = (self.folder / "suite_file.py").read_text()
        (self.folder / "suite_file.py").write_text(text.replace('verify=shell("true")', 'verify=shell("false")'))
        self.assertIn("worse: ok", self.run_suite("--only", "^(ok|bits)$", "--against", "before.json").stdout)

    def test_wrong_arguments(self):
        for more, text in ((["--only", "zzz"], "none of 17 cases"), (["--against", "none.json"], "none.json"),
                           (["--vinci", "checkout"], "neither bin/vinci"), (["--python", "none"], "no such program")):
            self.assertIn(text, self.run_suite(*more, code=2).stderr)
        (self.folder / "suite_file.py").write_text("def cases(checkout): return [1]")
        self.assertIn("yields a int, not a Case", self.run_suite(code=2).stderr)
        (self.folder / "suite_file.py").write_text("def cases(")
        self.assertIn("SyntaxError", self.run_suite(code=2).stderr)

    def test_tables_in_a_document(self):
        self.report("--only", "^(ok|text)$")
        page = self.folder / "page.md"
        page.write_text("before\n<!-- scores: begin, written by table.py -->\nold\n<!-- scores: end -->\nafter\n")
        command = [sys.executable, SUITES / "table.py", self.folder / "all.json", "--into", page]
        subprocess.run(command, check=True)
        text = page.read_text()
        self.assertIn("| not compiled | 1 | nothing | text |", text)
        self.assertNotIn("old", text)
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
        subprocess.run(command, check=True)
        self.assertEqual(page.read_text(), text)
        self.report()
        subprocess.run([*command, "--reasons", "2"], check=True)
        self.assertIn("| others | 10 | 10 other reasons |  |", page.read_text())
        page.write_text("no marks\n")
        self.assertEqual(subprocess.run(command, stderr=subprocess.DEVNULL).returncode, 2)


if __name__ == "__main__":
    unittest.main()
