#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Tests of ./dev freeze itself, with cases that need no simulator."""

import contextlib
import io
import json
import pathlib
import subprocess
import tempfile
import unittest

import freeze
from baseline import Baseline
from cases import Case
from compare import compare, report
from tools import Failed, counting_environment, instructions_of, same_environment
from values import Value, canonical, csv_value, numbered, same, stats_values, text_values

HERE = pathlib.Path(__file__).resolve().parent


def everything(name):
    return True


def compared(old, new):
    return compare(Baseline(old), new, everything)


class Names(unittest.TestCase):
    """Names are not frozen, numbers and structure are."""

    def test_renamed_and_reordered_members_are_the_same(self):
        a = {"core0": {"busy": 7, "idle": 93}, "hits": [1, 2, {"x": True}]}
        b = {"hit_count": [1, 2, {"y": 1}], "aic0": {"waiting": 93.0, "at_work": 7}}
        self.assertEqual(canonical(a), canonical(b))

    def test_numbers_of_two_cores_do_not_change_places(self):
        a = [{"busy": 7, "idle": 93}, {"busy": 8, "idle": 92}]
        self.assertNotEqual(canonical(a), canonical(a[::-1]))
        mixed = {"a": {"busy": 8, "idle": 93}, "b": {"busy": 7, "idle": 92}}
        self.assertNotEqual(canonical({"a": a[0], "b": a[1]}), canonical(mixed))

    def test_numbers_that_are_written_in_full_come_in_any_order(self):
        self.assertTrue(same("1 2 3", "3 1 2"))
        self.assertFalse(same("1 2 3", "1 2 2"))

    def test_each_core_is_part_of_one_value(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "stats.json"
            path.write_text(json.dumps({"format": 1, "chip": "tiny", "cycles": 12, "counters": {
                "core0": {"busy": 1}, "core1": {"busy": 2}, "l2": {"hits": 3}}}))
            self.assertEqual(stats_values(path), [
                Value("time", "cycles", "12"), Value("counter", "counters core*", "1 2"),
                Value("counter", "counters l2", "3")])

    def test_a_cell_of_a_table_changes_its_hash_a_heading_does_not(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t.csv"
            texts = []
            for table in ("name,us\nadd,1.5\n", "op,time\nsum,1.5\n", "name,us\nadd,1.6\n"):
                path.write_text(table)
                texts.append(csv_value("time", path, "t").text)
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def test_lines_of_a_report(self):
        values = numbered(text_values("time", "  2 turns  27.5 s\n  5 turns  24 s\nno number\n"))
        self.assertEqual(values, [Value("time", "turns s", "2 27.5"), Value("time", "turns s #2", "5 24")])


class Comparing(unittest.TestCase):
    OLD = {"gemm": [Value("time", "cycles", "1000"), Value("bits", "c.npy", "abcd")]}

    def test_equal(self):
        self.assertEqual(compared(self.OLD, dict(self.OLD)).differences, [])

    def test_a_changed_value_is_named_with_old_new_and_percentage(self):
        found = compared(self.OLD, {"gemm": [Value("time", "cycles", "1010"), Value("bits", "c.npy", "abcd")]})
        self.assertEqual(len(found.differences), 1)
        self.assertIn("gemm  time  cycles: 1000 -> 1010 (+1.00 %)", report(found))
        self.assertIn("2 values, 1 differences in 1 cases: 1 time", report(found))

    def test_changed_bits(self):
        found = compared(self.OLD, {"gemm": [Value("time", "cycles", "1000"), Value("bits", "c.npy", "abce")]})
        self.assertEqual([d.kind for d in found.differences], ["bits"])

    def test_another_label_of_an_equal_value_is_none(self):
        found = compared(self.OLD, {"gemm": [Value("time", "ticks", "1000"), Value("bits", "c.npy", "abcd")]})
        self.assertEqual(found.differences, [])
        self.assertEqual(found.renamed, [("gemm", "cycles", "ticks")])

    def test_a_value_that_is_gone_and_one_that_is_new(self):
        found = compared(self.OLD, {"gemm": [Value("time", "cycles", "1000"), Value("counter", "hits", "5")]})
        self.assertEqual({(d.label, d.old, d.new) for d in found.differences}, {("c.npy", "abcd", ""), ("hits", "", "5")})

    def test_a_missing_case(self):
        found = compared(self.OLD, {})
        self.assertEqual(len(found.differences), 2)
        self.assertIn("gemm  missing: the baseline has 2 values of it", report(found))

    def test_an_unknown_case(self):
        found = compared(self.OLD, {**self.OLD, "new": [Value("time", "cycles", "1")]})
        self.assertEqual(len(found.differences), 1)
        self.assertIn("new  unknown: 1 values that the baseline does not have", report(found))

    def test_a_failure_is_a_difference(self):
        found = compared(self.OLD, {"gemm": [Value("failure", "-", "vinci run ended with 3: no")]})
        self.assertIn("vinci run ended with 3: no", report(found))


class HostInstructions(unittest.TestCase):
    @staticmethod
    def rows(*counts):
        return {f"host.{i}": [Value("host", "instructions", str(n))] for i, n in enumerate(counts)}

    def differences(self, *counts):
        return compared(self.rows(*[100_000] * len(counts)), self.rows(*counts)).differences

    def test_a_row_may_need_eight_percent_more(self):
        self.assertEqual(self.differences(108_000, 95_000, 95_000), [])
        self.assertEqual([d.case for d in self.differences(108_001, 95_000, 95_000)], ["host.0"])

    def test_all_together_three_percent(self):
        self.assertEqual(self.differences(103_000, 103_000), [])
        found = self.differences(103_000, 103_100)
        self.assertEqual([d.label for d in found], ["geometric mean of all rows"])

    def test_counts_compare_with_the_same_versions(self):
        here = "valgrind-3.19.0, c++ 12.2.0, avx2, libc.so.6, libsystemc-2.3.4.so"
        self.assertTrue(same_environment(here, here + ", libboost_filesystem.so.1.74.0"))
        for other in ("valgrind-3.20.0", "c++ 13.1.0", "avx none", "libsystemc-2.3.3.so"):
            self.assertFalse(same_environment(here, other), other)

    def test_nothing_is_counted_where_valgrind_cannot_run_the_tool(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(counting_environment(pathlib.Path("/none/of/these/vinci")), "")

    def test_a_library_and_what_it_calls_are_left_out(self):
        profile = """\
ob=(1) /usr/bin/vinci
fn=(1) main
1 100
calls=1 0
2 60
ob=(2) /usr/lib/libhwy.so.1.0.3
fn=(2) start
+1 10
calls=3 0
* 20
cob=(3) /usr/lib/libc.so.6
calls=1 0
-4 7
ob=(1)
fn=(1)
9 5

totals: 500
"""
        self.assertEqual(instructions_of(profile.splitlines(), without="/libhwy.so"), 500 - 10 - 7)
        self.assertEqual(instructions_of(profile.splitlines(), without="/libm.so"), 500)
        with self.assertRaises(Failed):
            instructions_of(["ob=(1) /usr/bin/vinci"])

    def test_fewer_are_welcome(self):
        self.assertEqual(self.differences(10_000, 20_000), [])


class Baselines(unittest.TestCase):
    def test_text_and_back(self):
        b = Baseline({"b": [Value("time", "x 10", "1"), Value("time", "x 9", "2")], "a": [Value("bits", "y", "3")]}, "vg")
        text = b.to_text()
        self.assertLess(text.index("x 9"), text.index("x 10"))
        again = Baseline.from_text(text)
        self.assertEqual(again.to_text(), text)
        self.assertEqual(again.environment, "vg")
        self.assertEqual(sorted(again.cases["b"]), sorted(b.cases["b"]))

    def test_the_committed_file_is_as_it_is_written(self):
        text = (HERE / "baseline.tsv").read_text()
        self.assertEqual(Baseline.from_text(text).to_text(), text)
        self.assertNotIn("\tfailure\t", text)


class Repository(unittest.TestCase):
    """The command, with a baseline in a repository of its own."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "build/tools/vinci").mkdir(parents=True)
        (self.root / "build/tools/vinci/vinci").touch()
        self.baseline = self.root / "baseline.tsv"
        self.git("init", "-q")
        self.git("config", "user.name", "tester")
        self.git("config", "user.email", "tester@localhost")
        (self.root / ".gitignore").write_text("build\n")
        self.git("add", ".gitignore")
        self.git("commit", "-q", "-m", "start")
        self.cycles, self.count = {"one": "10", "two": "20"}, "1000"
        self.main("--accept", "first")

    def tearDown(self):
        self.folder.cleanup()

    def git(self, *arguments):
        done = subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def cases(self, tools):
        def run(name):
            if self.cycles[name] == "":
                raise Failed("vinci ended with 8")
            return [Value("time", "cycles", self.cycles[name]), Value("host", "instructions", self.count)]
        return [Case(name, lambda folder, n=name: run(n), quick=name == "one") for name in self.cycles]

    def main(self, *arguments):
        """The exit code and what is printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                code = freeze.main(["--build", str(self.root / "build"), "--baseline", str(self.baseline), *arguments],
                                   self.cases, lambda vinci: "valgrind-1")
            except SystemExit as e:
                code = e.code
        return code, out.getvalue()

    def test_nothing_has_changed(self):
        self.assertEqual(self.main()[0], 0)

    def test_a_change_is_told(self):
        self.cycles["two"] = "25"
        code, text = self.main()
        self.assertEqual(code, 1)
        self.assertIn("two  time  cycles: 20 -> 25 (+25.00 %)", text)

    def test_quick_and_only_leave_the_rest_alone(self):
        self.cycles["two"] = "25"
        self.assertEqual(self.main("--quick")[0], 0)
        self.assertEqual(self.main("--only", "^one$")[0], 0)
        self.assertEqual(self.main("--only", "tw")[0], 1)

    def test_a_case_that_is_gone(self):
        del self.cycles["two"]
        code, text = self.main()
        self.assertEqual(code, 1)
        self.assertIn("two  missing", text)

    def test_a_new_case(self):
        self.cycles["three"] = "30"
        code, text = self.main()
        self.assertEqual(code, 1)
        self.assertIn("three  unknown", text)

    def test_a_wrong_command(self):
        self.assertEqual(self.main("--only", "(")[0], 2)
        self.assertEqual(self.main("--only", "nothing")[0], 2)
        self.assertEqual(self.main("--nonsense")[0], 2)
        self.assertEqual(self.main("--build", "/nowhere")[0], 2)

    def test_accepting_needs_a_reason(self):
        self.cycles["two"] = "25"
        before = self.baseline.read_text()
        for reason in ("", "  \n"):
            self.assertEqual(self.main("--accept", reason)[0], 2)
        self.assertEqual(self.main("--accept")[0], 2)
        self.assertEqual(self.baseline.read_text(), before)

    def test_accepting_refuses_other_staged_files(self):
        self.cycles["two"] = "25"
        (self.root / "other.txt").touch()
        self.git("add", "other.txt")
        before = self.baseline.read_text()
        code, text = self.main("--accept", "because")
        self.assertEqual(code, 2)
        self.assertIn("other.txt", text)
        self.assertEqual(self.baseline.read_text(), before)

    def test_accepting_makes_one_commit_with_the_reason(self):
        self.cycles["two"] = "25"
        (self.root / "other.txt").touch()
        self.assertEqual(self.main("--accept", "The second law of everything")[0], 0)
        self.assertEqual(self.git("log", "-1", "--format=%s"), "freeze: accept 1 changed value")
        self.assertEqual(self.git("log", "-1", "--format=%b"), "The second law of everything")
        self.assertEqual(self.git("show", "--name-only", "--format="), "baseline.tsv")
        self.assertEqual(self.main()[0], 0)

    def test_accepting_takes_what_is_gone_out(self):
        del self.cycles["two"]
        self.assertEqual(self.main("--accept", "it is gone")[0], 0)
        self.assertNotIn("two\t", self.baseline.read_text())

    def test_failures_are_not_accepted(self):
        self.cycles["two"] = ""
        before = self.baseline.read_text()
        code, text = self.main("--accept", "because")
        self.assertEqual(code, 1)
        self.assertIn("vinci ended with 8", text)
        self.assertEqual(self.baseline.read_text(), before)

    def test_an_output_that_cannot_be_read_is_a_failure(self):
        cases = [Case("one", lambda folder: stats_values(folder / "stats.json"))]
        self.cases = lambda tools: cases
        code, text = self.main("--only", "one")
        self.assertEqual(code, 1)
        self.assertIn("one  failure  -: (not in the baseline) -> FileNotFoundError", text)

    def test_host_instructions_within_limits_do_not_creep(self):
        self.cycles["two"], self.count = "25", "1029"
        self.main("--accept", "because")
        self.assertIn("\tinstructions\t1000\n", self.baseline.read_text())
        self.count = "1200"
        self.main("--accept", "because")
        self.assertIn("\tinstructions\t1200\n", self.baseline.read_text())

    def test_counts_of_another_valgrind_are_not_compared(self):
        self.baseline.write_text(self.baseline.read_text().replace("valgrind-1", "valgrind-2"))
        self.count = "2000"
        code, text = self.main()
        self.assertEqual(code, 0)
        self.assertIn("host instructions are not compared", text)


if __name__ == "__main__":
    unittest.main()
