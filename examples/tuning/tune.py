#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Which way to split a kernel is best? Compiles it once for each choice of macros, runs each program on a simulated
chip, and prints what its last kernel takes, best first. docs/compilers.md

  tune.py affine.asc --macro TILE=1024,2048,4096,8192 --macro BUFFERS=1,2 --macro BLOCKS=24,48

The program must check its own results: where it does not end with 0, the choice counts as refused."""
import argparse
import itertools
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor


def find_tool():
    here = pathlib.Path(__file__).resolve()
    built = here.parents[2] / "build/release/tools/vinci/vinci"
    return os.environ.get("VINCI") or (str(built) if built.exists() else shutil.which("vinci") or "vinci")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("source", help="a program in Ascend C")
    parser.add_argument("--macro", action="append", default=[], metavar="NAME=VALUE,VALUE...", help="a choice of the build")
    parser.add_argument("--vinci", default=find_tool(), help="the tool; if not given, $VINCI, the build of these sources, or that in PATH")
    parser.add_argument("--chip", default="", help="a chip, if not that of --npu-arch")
    parser.add_argument("--cflags", default="", help="more options for vinci cc")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    parser.add_argument("--json", help="a file for all results")
    return parser.parse_args()


def choices(macros):
    """All combinations, each a dictionary by name."""
    lists = []
    for text in macros:
        name, _, values = text.partition("=")
        if not name or not values:
            sys.exit(f"tune.py: --macro {text}: NAME=VALUE,VALUE...")
        lists.append([(name, value) for value in values.split(",")])
    return [dict(combination) for combination in itertools.product(*lists)]


def last_kernel(stats):
    kernels = [task for task in stats["tasks"] if task["type"].startswith("KERNEL")]
    if not kernels:
        raise KeyError("no kernel has run")
    return kernels[-1]


def busiest(stats):
    """The pipe that works most, of the cores that work at all, and how much of the time kernels ran that is."""
    sums = {}
    for pipe in stats["pipes"]:
        if pipe["busy"]:
            sums.setdefault(pipe["pipe"], []).append(pipe["busy"])
    means = {name: sum(busy) / len(busy) for name, busy in sums.items()}
    name = max(means, key=means.get)
    return name, means[name] / stats["kernel_cycles"]


def measure(args, choice, folder):
    program = folder / "program"
    define = [f"-D{name}={value}" for name, value in choice.items()]
    steps = [([args.vinci, "cc", args.source, "-o", str(program), *define, *shlex.split(args.cflags)], {}),
             ([str(program)], {"VINCI_OUTPUT": str(folder / "out"), "VINCI_MODE": "timing", "VINCI_CHIP": args.chip})]
    for command, more in steps:
        ended = subprocess.run(command, env={**os.environ, **more}, capture_output=True, text=True)
        if ended.returncode != 0:
            lines = (ended.stderr + ended.stdout).strip().splitlines()
            said = next((line for line in lines if "error" in line or "fault" in line), lines[-1] if lines else "")
            return {**choice, "refused": f"exit code {ended.returncode}: {said}"}
    stats = json.loads((folder / "out/stats.json").read_text())
    kernel = last_kernel(stats)
    pipe, share = busiest(stats)
    cycles = kernel["end"] - kernel["start"]
    return {**choice, "cycles": cycles, "us": cycles / stats["clock_hz"] * 1e6, "pipe": pipe, "busy": share}


def main():
    args = arguments()
    todo = choices(args.macro)
    with tempfile.TemporaryDirectory(prefix="tune") as scratch, ThreadPoolExecutor(args.jobs) as pool:
        folders = [pathlib.Path(scratch) / str(i) for i in range(len(todo))]
        for folder in folders:
            folder.mkdir()
        results = list(pool.map(lambda pair: measure(args, *pair), zip(todo, folders)))
    done = sorted((r for r in results if "cycles" in r), key=lambda r: r["cycles"])  # a tie: in the order of the choices
    names = list(todo[0])
    print("".join(f"{name:>10}" for name in names) + f"{'cycles':>10}{'us':>10}  busiest pipe")
    for i, r in enumerate(done):
        print("".join(f"{r[name]:>10}" for name in names) +
              f"{r['cycles']:>10}{r['us']:>10.2f}  {r['pipe']} {100 * r['busy']:.0f} %" + ("  <- best" if i == 0 else ""))
    for r in results:
        if "refused" in r:
            print("".join(f"{r[name]:>10}" for name in names) + f"   refused: {r['refused']}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(results, indent=1) + "\n")
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
