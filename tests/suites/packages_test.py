#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""tools/suites/run.py with packages of every state, compiled by the tool. Usage: packages_test.py VINCI"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
SUITES = HERE.parents[1] / "tools/suites"
VINCI = ""

STATES = {
    "cmake/right": "right", "cmake/wrong": "wrong", "cmake/does_not_compile": "not compiled",
    "cmake/unchecked": "unchecked", "cmake/rare_module": "skipped", "cmake/other_product": "skipped",
    "plain/right": "right", "plain/wrong": "wrong", "plain/does_not_compile": "not compiled", "plain/faults": "not run",
    "plain/framework": "skipped",
}
REASONS = {
    "cmake/wrong": "exit code 1: N of N values wrong; the first is N: N, not N",
    "cmake/does_not_compile": "use of undeclared identifier 'MultiplyAll'",
    "cmake/rare_module": "its scripts need the Python module a_module_that_does_not_exist; name a Python that has it "
                         "with --python",
    "plain/wrong": "some checks fail",
    "plain/framework": "needs a framework",
}


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        cls.done = cls.run_suite("--json", str(cls.work / "all.json"), "--junit", str(cls.work / "all.xml"))
        cls.report = json.loads((cls.work / "all.json").read_text())
        cls.results = {result["name"]: result for result in cls.report["cases"]}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_suite(cls, *more):
        return subprocess.run([sys.executable, SUITES / "run.py", HERE / "packages_suite.py", HERE, "--vinci", VINCI,
                               "--work", cls.work / "work", *more], capture_output=True, text=True)

    def test_each_case_ends_in_its_state(self):
        self.assertEqual({name: result["state"] for name, result in self.results.items()}, STATES)
        self.assertEqual(self.done.returncode, 1)

    def test_reasons(self):
        self.assertEqual({name: self.results[name]["reason"] for name in REASONS}, REASONS)
        self.assertIn("larger than the memory", self.results["plain/faults"]["reason"])

    def test_checks_inside_a_program_are_counted(self):
        self.assertEqual(self.results["plain/right"]["checks"], {"right": 2, "all": 2})
        self.assertEqual(self.results["plain/wrong"]["checks"], {"right": 1, "all": 2})
        self.assertIn("Checks inside the cases: 3 of 4 passed.", self.done.stdout)

    def test_times_are_there(self):
        phases = self.results["cmake/right"]["phases"]
        self.assertEqual(list(phases), ["prepare", "compile", "run", "verify"])
        self.assertGreater(phases["compile"]["cpu"], 0.1)

    def test_junit(self):
        root = xml.parse(self.work / "all.xml").getroot()
        self.assertEqual((root.get("tests"), root.get("failures"), root.get("skipped")), ("11", "5", "3"))

    def test_a_second_run_takes_the_results_that_are_kept(self):
        again = self.run_suite()
        self.assertEqual(again.stdout, self.done.stdout)
        self.assertEqual(again.stderr.count("(kept)"), len(STATES))


if __name__ == "__main__":
    VINCI = sys.argv.pop(1)
    unittest.main()
