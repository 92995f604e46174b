#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""The Python module as an architect uses it: chips as objects, statistics as tables, many runs, networks.

Usage: architect_test.py VINCI MAKE_NETWORK (the command, which must say the same, and the example that writes networks)
"""
import importlib.util
import inspect
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

import vinci

TOOL, MAKE_NETWORK = sys.argv[1:3]
del sys.argv[1:3]


class Chips(unittest.TestCase):
    def test_values_are_nested_objects(self):
        chip = vinci.Chip("ascend-910b1")
        self.assertEqual(chip.core.rates.m, 16)
        self.assertEqual(chip.memory.l2.size, 192 << 20)
        self.assertEqual(chip.core.instructions["vexp.f16"].per_step, 3.9)
        self.assertEqual(chip.values.clock, chip.clock)
        self.assertEqual(chip.numerics.overflow_mode, "inf_nan")
        self.assertIn("cube", dir(chip.core))
        self.assertEqual(set(chip.core.rates), {"m", "n", "k", "lanes", "from"})
        self.assertEqual(chip.core.rates.to_dict()["lanes"], 128)
        with self.assertRaisesRegex(AttributeError, "chip.core.cube has no key 'statup'; did you mean 'startup'?"):
            chip.core.cube.statup
        with self.assertRaisesRegex(AttributeError, "changed"):
            chip.core.cube.startup = 3

    def test_a_changed_chip_is_another_one(self):
        chip = vinci.Chip("ascend-910b1")
        other = chip.changed({"core": {"cube": {"startup": 30}, "mask_waits": False}, "memory.hbm.bandwidth": "2.4TB/s"})
        self.assertEqual((other.core.cube.startup, other.core.mask_waits), (30, False))
        self.assertEqual(other.memory.hbm.bandwidth, 2.4e12)
        self.assertEqual(chip.core.cube.startup, 0)
        self.assertEqual(chip.changed({}).values, chip.values)
        with self.assertRaises(vinci.Error) as caught:
            chip.changed({"core": {"cube": {"statup": 30}}})
        self.assertIn("did you mean 'startup'", str(caught.exception))


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temp = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temp.name)
        subprocess.run([TOOL, "gen", "gemm", "--m", "100", "--n", "60", "--k", "70", "-o", cls.folder / "gemm"], check=True,
                       stdout=subprocess.DEVNULL)
        cls.stream = vinci.TaskStream.load(str(cls.folder / "gemm/gemm.yaml"))
        cls.chip = vinci.Chip("ascend-910b1")
        cls.run_ = cls.stream.run(cls.chip)

    @classmethod
    def tearDownClass(cls):
        cls.temp.cleanup()

    def test_warm_and_cold(self):
        run = self.run_
        self.assertEqual(run.warm_cycles + run.cold_cycles, run.kernel_cycles)
        self.assertGreater(run.cold_cycles, 0)
        warm = self.stream.run(self.chip.changed({"scheduler": {"first_start": "0us", "first_start_per_core": "0us"}}))
        self.assertEqual(warm.cold_cycles, 0)
        self.assertAlmostEqual(warm.kernel_cycles, run.warm_cycles, delta=200)

    def test_statistics_are_columns(self):
        tables = self.run_.tables()
        self.assertEqual(list(tables), ["tasks", "pipes", "counters"])
        for columns in tables.values():
            self.assertEqual(len({len(column) for column in columns.values()}), 1)
        kernel = tables["tasks"]["name"].index("gemm")
        self.assertAlmostEqual(tables["tasks"]["us"][kernel], self.run_.warm_cycles / self.chip.clock * 1e6)
        at = list(zip(tables["counters"]["unit"], tables["counters"]["counter"])).index(("core0.AIC", "M.busy"))
        self.assertEqual(tables["counters"]["value"][at], self.run_.counter("core0.AIC/M/busy"))
        with self.assertRaises(ValueError):
            self.stream.run(self.chip, mode="functional").tables()
        if importlib.util.find_spec("pandas") is None:
            with self.assertRaises(ImportError):
                self.run_.frames()
        else:
            self.assertEqual(len(self.run_.frames()["pipes"]), len(tables["pipes"]["core"]))

    def test_the_timeline_has_the_kernel(self):
        spans = self.run_.spans()
        longest = max(d for what, d in zip(spans["what"], spans["duration"]) if what == "gemm")
        self.assertAlmostEqual(longest, self.run_.kernel_cycles / self.chip.clock * 1e6, delta=0.01)
        busy = sum(d for d, group, lane in zip(spans["duration"], spans["group"], spans["lane"])
                   if group == "core0.AIC" and lane == "M")
        self.assertGreater(busy, 0)

    def test_the_range_contains_the_time(self):
        subprocess.run([TOOL, "run", self.folder / "gemm/gemm.yaml", "--range", "-q", "--out", self.folder / "out"], check=True)
        told = json.loads((self.folder / "out/range.json").read_text())
        range_ = self.run_.range()
        self.assertEqual(told, range_)
        self.assertEqual(range_["as_is"], {"kernel_cycles": self.run_.warm_cycles, "cycles": self.run_.cycles})
        self.assertLess(range_["low"]["kernel_cycles"], self.run_.warm_cycles)
        self.assertGreater(range_["high"]["kernel_cycles"], self.run_.warm_cycles)
        for part in range_["contributions"]:
            self.assertTrue(part["reason"])

    def test_a_notebook_shows_the_report(self):
        page = self.run_._repr_html_()
        self.assertTrue(page.startswith("<iframe") and page.endswith("</iframe>"))
        self.assertNotIn("<", page[len("<iframe"):-len("</iframe>") - 1].replace("&lt;", ""))
        self.assertIn('"operators"', self.run_.report())

    def test_many_runs_in_processes(self):
        chips = [self.chip.changed({"core": {"cube": {"startup": n}}}) for n in (0, 100, 1000)]
        results = vinci.run_all([(self.stream, chip) for chip in chips], processes=2, outputs=True)
        for chip, result in zip(chips, results):
            alone = self.stream.run(chip)
            self.assertEqual((result["cycles"], result["stats"]), (alone.cycles, alone.stats))
            numpy.testing.assert_array_equal(result["outputs"]["c"], alone.output("c"))
        other, good = vinci.run_all([(self.stream, vinci.Chip("ascend-910a")), (self.stream, self.chip)], mode="timing")
        self.assertEqual((other["error"].status, other["error"].code), ("input", 2))
        self.assertEqual(good["cycles"], self.run_.cycles)
        self.assertEqual(vinci.run_all([]), [])

    def test_a_wrong_job_says_what_is_wrong(self):
        with self.assertRaisesRegex(RuntimeError, "job 1: TypeError: "):
            vinci.run_all([(self.stream, self.chip), (self.stream, None)], processes=1, mode="timing")
        with self.assertRaisesRegex(RuntimeError, "(?s)job 0: TypeError: .*no_such_option"):
            vinci.run_all([(self.stream, self.chip)], no_such_option=1)


class Networks(unittest.TestCase):
    @unittest.skipIf(importlib.util.find_spec("onnx") is None, "needs python3-onnx")
    def test_a_compiled_network_runs(self):
        with tempfile.TemporaryDirectory() as name:
            model = os.path.join(name, "mlp.onnx")
            subprocess.run([sys.executable, MAKE_NETWORK, "resnet18", model, "--size", "small"], check=True,
                           stdout=subprocess.DEVNULL)
            chip = vinci.Chip("ascend-310p3")
            stream = vinci.compile_network(model, chip)
            run = stream.run(chip, mode="timing")
            self.assertGreater(len(run.tables()["tasks"]["name"]), 10)
            with self.assertRaises(vinci.Error) as caught:
                vinci.compile_network(os.path.join(name, "missing.onnx"), "ascend-310p3")
            self.assertEqual(caught.exception.status, "input")


class Types(unittest.TestCase):
    """What editors read has every public name, with its arguments."""

    def test_the_stubs_are_complete(self):
        stub = pathlib.Path(vinci.__file__).with_name("vinci.pyi")
        if not stub.exists():
            self.skipTest("made without stubgen")
        text = stub.read_text()
        compile(text, str(stub), "exec")
        self.assertNotIn(": function", text)
        self.assertIn("def run_all(jobs: Iterable[Tuple[TaskStream, Chip]], *, processes: Optional[int] = ...", text)
        self.assertRegex(text, r"@staticmethod\n    def load\(path: str\) -> TaskStream: ...")
        if importlib.util.find_spec("mypy") is not None:
            done = subprocess.run([sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", os.devnull,
                                   *(f"--disable-error-code={code}" for code in ("assignment", "misc", "override")),
                                   str(stub)],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.stdout, "")
        for name, value in vars(vinci).items():
            if name.startswith("_") or inspect.ismodule(value):
                continue
            self.assertRegex(text, rf"(class|def) {name}\b|^{name}:")
            if not inspect.isclass(value):
                continue
            for member in vars(value):
                if not member.startswith("_"):
                    self.assertRegex(text, rf"\b{member}\b", f"{name}.{member}")


if __name__ == "__main__":
    unittest.main()
