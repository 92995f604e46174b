# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""How long compiling and simulating networks takes: times_test.py VINCI MAKE_NETWORK.

Seconds of the processor, so that other programs count little. They do share caches and cores, so what takes too
long is measured twice more, and the least counts. Limits are those that users were promised; a run in mode full has two
cores, so it may take twice its limit.
"""
import pathlib
import resource
import subprocess
import sys
import tempfile

VINCI, MAKE = sys.argv[1:3]
CHIP = "ascend-910b1"


def seconds(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {run.returncode}\n{run.stdout}{run.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    wrong = []

    def check(what, limit, *command):
        taken = seconds(*command)
        print(f"{what}: {taken:.2f} s, at most {limit} s")
        for _ in range(2):
            if taken > limit:
                taken = min(taken, seconds(*command))
                print(f"{what}, again: {taken:.2f} s")
        if taken > limit:
            wrong.append(what)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        resnet, layer, cache = folder / "resnet50.onnx", folder / "bert.onnx", folder / "cache"
        subprocess.run([sys.executable, MAKE, "resnet50", resnet], check=True)
        subprocess.run([sys.executable, MAKE, "bert", layer, "--layers", "1"], check=True)
        compiled = [VINCI, "compile", "--soc_version", CHIP, "-o", folder / "out"]
        tuned = ["--tiling", "simulate", "--op_compiler_cache_dir", cache]
        check("ResNet-50, compiled", 10, *compiled, resnet)
        check("a layer of BERT, compiled", 2, *compiled, layer)
        seconds(*compiled, *tuned, layer)
        check("a layer of BERT with tilings of the cache", 0.5, *compiled, *tuned, layer)
        run = [VINCI, "run", folder / "out" / "resnet50.yaml", "--chip", CHIP, "-o", folder / "run", "--mode"]
        seconds(*compiled, resnet)
        check("ResNet-50, batch 1, mode timing", 1, *run, "timing")
        check("ResNet-50, batch 1, mode full", 2 * 3, *run, "full")
    return f"too slow: {', '.join(wrong)}" if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
