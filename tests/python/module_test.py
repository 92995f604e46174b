#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""The Python module. Usage: module_test.py VINCI (the command line tool, which must say the same)."""
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy

import vinci
from programs import DOUBLE

TOOL = sys.argv.pop(1)


class Gemm(unittest.TestCase):
    def setUp(self):
        self.temp = tempfile.TemporaryDirectory()
        self.addCleanup(self.temp.cleanup)
        self.folder = pathlib.Path(self.temp.name)
        subprocess.run([TOOL, "gen", "gemm", "--m", "100", "--n", "60", "--k", "70", "--out-type", "f32", "-o",
                        self.folder / "gemm"], check=True, stdout=subprocess.DEVNULL)
        self.stream = vinci.TaskStream.load(str(self.folder / "gemm/gemm.yaml"))
        self.chip = vinci.Chip("ascend-910b1")

    def test_the_same_as_the_tool(self):
        out = self.folder / "out"
        subprocess.run([TOOL, "run", self.folder / "gemm/gemm.yaml", "--out", out, "-q"], check=True)
        run = self.stream.run(self.chip)
        self.assertEqual(run.stats, json.loads((out / "stats.json").read_text()))
        numpy.testing.assert_array_equal(run.output("c"), numpy.load(out / "c.npy"))
        self.assertEqual(run.cycles, run.stats["cycles"])
        self.assertEqual(run.counter("core0.AIC/M/busy"), run.stats["counters"]["core0.AIC"]["M"]["busy"])

    def test_files_are_those_of_the_tool(self):
        out = self.folder / "out"
        subprocess.run([TOOL, "run", self.folder / "gemm/gemm.yaml", "--out", out, "-q", "--check", "--numerics=shadow"],
                       check=True)
        run = self.stream.run(self.chip, check=True, numerics="shadow")
        self.assertEqual(run.files, ["chip.yaml", "findings.json", "numerics.csv", "numerics.json", "opdebug.json",
                                     "stats.json"])
        for name in run.files:
            self.assertEqual(run.file(name), (out / name).read_bytes(), name)
        with self.assertRaisesRegex(vinci.Error, "the run has no file 'stat.json'; it has chip.yaml"):
            run.file("stat.json")

    def test_files_of_a_run_that_fails(self):
        run = self.stream.submit(self.chip, check=True, max_cycles=10)
        with self.assertRaises(vinci.Error):
            run.wait()
        self.assertEqual(run.files, ["chip.yaml", "findings.json"])
        out = self.folder / "failed"
        self.assertEqual(subprocess.run([TOOL, "run", self.folder / "gemm/gemm.yaml", "--out", out, "-q", "--check",
                                         "--max-cycles", "10"], capture_output=True).returncode, 7)
        for name in run.files:
            self.assertEqual(run.file(name), (out / name).read_bytes(), name)

    def test_why_kernels_take_their_time(self):
        run = self.stream.run(self.chip)
        with self.assertRaises(vinci.Error):
            self.stream.run(self.chip, mode="functional").explain()
        why = run.explain()
        kernel = why["kernels"][0]
        self.assertEqual(kernel["slowest"]["cycles"], run.kernel_cycles)
        self.assertAlmostEqual(sum(part["share"] for part in kernel["path"]), 1)
        self.assertTrue(kernel["limited_by"].startswith("limited by "))

    def test_arrays_in_and_out(self):
        rng = numpy.random.default_rng(2)
        a = rng.integers(-8, 8, (100, 70)).astype(numpy.float16)
        b = rng.integers(-8, 8, (70, 60)).astype(numpy.float16)
        self.stream.set_input("a", a)
        self.stream.set_input("b", b)
        run = self.stream.run(self.chip)
        c = run.output("c")
        self.assertEqual((c.dtype, c.shape), (numpy.float32, (100, 60)))
        numpy.testing.assert_array_equal(c, a.astype(numpy.float32) @ b.astype(numpy.float32))
        self.assertIs(c.base, run)  # nothing is copied, and the run stays
        self.assertEqual(c.ctypes.data, run.output("c").ctypes.data)
        self.assertFalse(c.flags.writeable)
        self.assertEqual(list(run.outputs), ["c"])
        with self.assertRaises(vinci.Error) as caught:
            self.stream.set_input("a", a[:, ::2])
        self.assertIn("contiguous", str(caught.exception))
        with self.assertRaises(vinci.Error) as caught:
            self.stream.set_input("a", a.astype(">f2"))
        self.assertIn("byte order", str(caught.exception))

    def test_modes_and_options(self):
        timing = self.stream.run(self.chip, mode="timing")
        self.assertIsNone(timing.output("c"))
        functional = self.stream.run(self.chip, mode="functional")
        self.assertIsNone(functional.stats)
        full = self.stream.run(self.chip, check=True)
        self.assertEqual(timing.cycles, full.cycles)
        numpy.testing.assert_array_equal(functional.output("c"), full.output("c"))
        slower = vinci.Chip("ascend-910b1", ["core.cube.startup=3000"])
        self.assertGreater(self.stream.run(slower, mode="timing").cycles, timing.cycles)
        with self.assertRaises(vinci.Error) as caught:
            self.stream.run(self.chip, max_cycles=10)
        self.assertEqual((caught.exception.status, caught.exception.code), ("limit", 7))

    def test_other_threads_go_on(self):
        runs = [self.stream.submit(self.chip) for _ in range(3)]
        threads = [threading.Thread(target=run.wait) for run in runs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len({run.cycles for run in runs}), 1)
        self.assertGreater(runs[0].cycles, 0)


class Device(unittest.TestCase):
    def test_memory_kernels_and_copies(self):
        device = vinci.Device(vinci.Chip("ascend-910b1"))
        a, b = device.alloc(512), device.alloc(512)
        kernel = device.kernel(DOUBLE)
        x = numpy.arange(64, dtype=numpy.float32)
        y = numpy.zeros(64, numpy.float32)
        a.copy_in(x)
        kernel.launch(1, a, (b, 256))
        b.copy_out(y, offset=256)
        run = device.run()
        numpy.testing.assert_array_equal(y, 2 * x)
        self.assertGreater(run.cycles, run.kernel_cycles)
        kernel.launch(1, (b, 256), b)
        device.run()
        b.read(y)
        numpy.testing.assert_array_equal(y, 4 * x)

    def test_errors(self):
        device = vinci.Device(vinci.Chip("ascend-910b1"))
        with self.assertRaisesRegex(vinci.Error, "vad"):
            device.kernel("vad 1\n")
        with self.assertRaisesRegex(vinci.Error, "no such|ascend"):
            vinci.Chip("ascend")
        device.kernel(DOUBLE).launch(1, 0, -1)
        with self.assertRaises(vinci.Error) as caught:
            device.run()
        self.assertEqual(caught.exception.status, "program")

    def test_a_message_with_bytes_outside_utf8(self):
        with self.assertRaises(vinci.Error) as caught:
            vinci.Chip(b"no\xff.yaml")
        self.assertIn("no\\xff.yaml", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
