#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""sweep.py VINCI [POINTS [KILLS]]: `vinci sweep` as its users see it, with processes that are killed.

POINTS of the grid (48) and KILLS of a sweep at a random moment (4). With 1000 and 50 it takes some minutes.
"""
import csv
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

VINCI = os.path.abspath(sys.argv[1])
POINTS = int(sys.argv[2]) if len(sys.argv) > 2 else 48
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 4

GRID = """
command: gen gemm --m 64 --n 64 --k 64
chip: ascend-910b1
grid:
  --m: {{low: 16, high: {high}, step: 16}}
  core.cube.startup: [10, 20, 30, 40]
measures: [us, kernel_us, AIC.M.busy]
pareto: [kernel_us, core.cube.startup]
"""


def grid(points):
    return GRID.format(high=16 * (points // 4))


class Sweep(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="vinci-test-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def write(self, text):
        (self.folder / "points.yaml").write_text(text, encoding="utf-8")

    def command(self, out, *options):
        return [VINCI, "sweep", "points.yaml", "-o", out, *options]

    def run_sweep(self, out, *options, code=0):
        done = subprocess.run(self.command(out, *options), cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def rows(self, out):
        with open(self.folder / out / "sweep.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def query(self, out, sql):
        db = sqlite3.connect(self.folder / out / "sweep.db")
        self.addCleanup(db.close)
        return db.execute(sql).fetchall()

    def test_workers_give_the_table_of_one(self):
        self.write(grid(POINTS))
        self.run_sweep("one", "--jobs", "1")
        self.run_sweep("two", "--jobs", "2")
        one = self.rows("one")
        self.assertEqual(len(one), POINTS // 4 * 4)
        self.assertEqual(one, self.rows("two"))
        self.assertTrue(all(float(row["kernel_us"]) > 0 and row["error"] == "" for row in one))
        # A slower cube is busy for longer, so the rows are of chips of their own.
        self.assertLess(float(one[0]["AIC.M.busy"]), float(one[3]["AIC.M.busy"]))

    def test_what_was_simulated_is_not_simulated_again(self):
        self.write(grid(16))
        self.run_sweep("out")
        before = self.query("out", "select key, finished, cpu_seconds from points order by key")
        self.assertIn("16 known", self.run_sweep("out").stdout)
        self.assertEqual(before, self.query("out", "select key, finished, cpu_seconds from points order by key"))
        # More points: the new ones alone.
        self.write(grid(24))
        self.assertIn("16 known", self.run_sweep("out").stdout)
        self.assertEqual(len(self.rows("out")), 24)

    def test_equal_streams_on_equal_chips_are_simulated_once(self):
        self.write("command: gen gemm --m 64 --n 64 --k 64\nchip: tiny\nlist: [{--m: 64}, {--seed: 1}, {--m: 32}]\n")
        self.run_sweep("out", "--jobs", "1")
        self.assertEqual(self.query("out", "select count(*) from simulations"), [(2,)])
        self.assertEqual(self.query("out", "select count(*) from sweep where us is not null"), [(3,)])

    def test_a_killed_sweep_goes_on(self):
        self.write(grid(POINTS))
        self.run_sweep("whole", "--jobs", "2")
        whole = self.rows("whole")
        draw = random.Random(1)
        for _ in range(KILLS):
            sweep = subprocess.Popen(self.command("out", "--jobs", "2", "-q"), cwd=self.folder, start_new_session=True)
            time.sleep(draw.uniform(0, 1))
            os.kill(sweep.pid, signal.SIGKILL)
            sweep.wait()
            if not (self.folder / "out" / "sweep.db").exists():
                continue
            kept = self.query("out", "select key, finished from points order by key") if self.has_table() else []
            # What is in the table stays; a result file that is there is taken over.
            left = {path.stem for path in (self.folder / "out" / "results").glob("*.json")}
            self.run_sweep("out", "--jobs", "2", "--list")
            self.kept_and_taken_over(kept, left, draw)
        self.run_sweep("out", "--jobs", "2")
        self.assertEqual(self.rows("out"), whole)

    def has_table(self):
        return self.query("out", "select count(*) from sqlite_master where name = 'points'") == [(1,)]

    def kept_and_taken_over(self, kept, left, draw):
        """The next run, killed as well, repeats nothing of what the one before had finished."""
        sweep = subprocess.Popen(self.command("out", "--jobs", "2", "-q"), cwd=self.folder, start_new_session=True)
        time.sleep(0.2 + draw.uniform(0, 0.5))
        os.kill(sweep.pid, signal.SIGKILL)
        sweep.wait()
        now = dict(self.query("out", "select key, finished from points")) if self.has_table() else {}
        for key, finished in kept:
            self.assertEqual(now.get(key), finished)
        results = {path.stem for path in (self.folder / "out" / "results").glob("*.json")}
        self.assertTrue(left <= set(now) | results)

    def test_workers_end_with_a_killed_sweep(self):
        self.write(grid(200))
        sweep = subprocess.Popen(self.command("out", "--jobs", "2", "-q"), cwd=self.folder)
        time.sleep(0.5)
        os.kill(sweep.pid, signal.SIGKILL)
        sweep.wait()
        time.sleep(0.3)
        workers = subprocess.run(["pgrep", "-f", str(self.folder)], capture_output=True, text=True).stdout
        self.assertEqual(workers, "")

    def test_a_point_that_fails_is_a_row(self):
        self.write("command: gen gemm --m 64 --n 64 --k 64\nchip: tiny\ngrid: {--m: [64, 0], core.cube.startup: [5]}\n")
        done = self.run_sweep("out", code=1)
        self.assertIn("1 point failed", done.stderr)
        good, bad = self.rows("out")
        self.assertEqual(good["error"], "")
        self.assertIn("--m", bad["error"])
        self.assertEqual(bad["us"], "")

    def test_the_example(self):
        example = pathlib.Path(__file__).parents[2] / "examples" / "sweep" / "buffers.yaml"
        shutil.copy(example, self.folder / "points.yaml")
        self.run_sweep("out")
        self.assertEqual(len(self.rows("out")), 12)
        page = (self.folder / "out" / "index.html").read_text(encoding="utf-8")
        self.assertEqual(page.count("<figure>"), 3)  # the front, and a plot of each key

    def test_wrong_files_end_with_2(self):
        for text in ("", "command: gen gemm", "grid: [1", GRID.format(high=64).replace("AIC.M.busy", "AIC.M.bussy")):
            self.write(text)
            self.run_sweep("out", code=2)
        self.assertEqual(subprocess.run([VINCI, "sweep"], capture_output=True).returncode, 2)

    def test_a_key_that_no_chip_has_is_said_at_once(self):
        self.write(grid(16).replace("cube.startup", "cube.startpu"))
        done = self.run_sweep("out", code=2)
        self.assertIn("no point has a chip that can be read", done.stderr)
        self.assertIn("has no key 'startpu'; did you mean 'startup'?", done.stderr)
        self.assertFalse((self.folder / "out" / "sweep.csv").exists())

    def test_the_optimiser_finds_the_best_of_a_grid(self):
        if subprocess.run([sys.executable, "-c", "import optuna"], capture_output=True).returncode != 0:
            self.skipTest("python3-optuna is not installed")
        self.write("command: gen gemm --m 64 --n 64 --k 64\nchip: ascend-910b1\nmeasures: [kernel_us]\n"
                   "optimise: {trials: 20, group: 4, seed: 3, minimise: kernel_us,\n"
                   "  axes: {core.cube.startup: {low: 10, high: 100}, --double-buffer: ['on', 'off']}}\n")
        self.run_sweep("one", "--jobs", "1")
        self.run_sweep("two", "--jobs", "2")
        rows = self.rows("one")
        self.assertEqual(rows, self.rows("two"))  # the points do not depend on the number of workers
        best = min(rows, key=lambda row: float(row["kernel_us"]))
        self.assertLess(int(best["core.cube.startup"]), 30)
        # It learns: the second half is better than the first.
        times = [float(row["kernel_us"]) for row in rows]
        half = len(times) // 2
        self.assertLess(sum(times[half:]) / len(times[half:]), sum(times[:half]) / half)
        self.assertIn(f"{len(rows)} known", self.run_sweep("one", "--jobs", "2").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
