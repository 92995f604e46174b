#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""examples/tuning: what the loop calls best is the fastest of what it ran, a choice that does not fit is refused with its
reason and does not stop the others, and the same question has the same answer. Usage: tuning_test.py TOOL FOLDER"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

tool, folder = sys.argv[1:]


def tune(*options, code=0):
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "results.json"
        ended = subprocess.run(
            [sys.executable, f"{folder}/tune.py", f"{folder}/affine.asc", "--vinci", tool, "--jobs", "2", "--json", file,
             *options], capture_output=True, text=True)
        print(ended.stdout, ended.stderr)
        assert ended.returncode == code, ended.returncode
        return ended.stdout, json.loads(file.read_text()) if file.exists() else None


macros = ["--macro", "TILE=256,4096,30000", "--macro", "BUFFERS=2", "--macro", "BLOCKS=8"]
text, results = tune(*macros)
assert [r["TILE"] for r in results] == ["256", "4096", "30000"]
small, large, too_large = results
assert too_large["refused"].startswith("exit code 3: "), too_large
assert re.search("UB|InitBuffer|buffer", too_large["refused"]), too_large
# Copies of 1 KiB pay their latency 16 times as often.
assert large["cycles"] < small["cycles"], results
best = next(line for line in text.splitlines() if line.endswith("<- best"))
assert best.split()[:4] == ["4096", "2", "8", str(large["cycles"])], best
assert abs(large["us"] - large["cycles"] / 1850) < 1e-6, large

# The time is that of `vinci sim`, of the last launch.
with tempfile.TemporaryDirectory() as scratch:
    subprocess.run([tool, "cc", f"{folder}/affine.asc", "-DTILE=4096", "-DBUFFERS=2", "-DBLOCKS=8", "-o", f"{scratch}/app"], check=True)
    subprocess.run([tool, "sim", f"--output={scratch}/out", "-q", f"{scratch}/app"], check=True)
    tasks = json.loads(pathlib.Path(scratch, "out/stats.json").read_text())["tasks"]
    last = [t for t in tasks if t["type"].startswith("KERNEL")][-1]
    assert last["end"] - last["start"] == large["cycles"], (last, large)

# Nothing but refused choices is a failure.
_, results = tune("--macro", "TILE=30000", code=1)
assert "refused" in results[0]
print("tuning: the best is the fastest")
