#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Mutants of kernels in Ascend C: compiles and records programs, and gives the recordings to vinci_kernel_mutants.

Usage: kernel_mutants.py VINCI GENERATOR KERNELS [--work FOLDER] [--only NAME,...] [OPTIONS OF THE GENERATOR]
KERNELS is the folder of the sources. A recording that is in the work folder already is used again.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

# No programs that work: they fault, are refused, wait for ever or crash; or what orders them is data, which flags do not show.
LEFT_OUT = {"crash", "deadlock", "hccl", "no_progress", "out_of_bounds", "polls_forever", "polling", "memory_sync", "matmul_one_aiv",
            "deadlock_in_destructor", "fault_before_destructor", "fault_in_destructor"}


def record(vinci, source, folder):
    recording = folder / f"{source.stem}.vts"
    if recording.exists():
        return recording
    program = folder / source.stem
    options = re.findall(r"^// options: (.*)$", source.read_text(), re.M)
    compiled = subprocess.run([vinci, "cc", "-O0", source, "-o", program, "-I", source.parent, *" ".join(options).split()],
                              capture_output=True, text=True)
    if compiled.returncode != 0:
        sys.exit(f"{source}: {compiled.stderr}")
    done = subprocess.run([vinci, "record", "-o", recording, program], capture_output=True, text=True, cwd=folder)
    if not recording.exists():  # a program that looks at times ends with another code: there are none here
        sys.exit(f"{source}: exit code {done.returncode}: {done.stderr}")
    return recording


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vinci", type=pathlib.Path)
    parser.add_argument("generator", type=pathlib.Path)
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--only", help="names of sources")
    options, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or pathlib.Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        sources = [s for s in sorted(options.kernels.resolve().glob("*.asc")) if s.stem not in LEFT_OUT]
        if options.only:
            sources = [s for s in sources if s.stem in options.only.split(",")]
        recordings = [record(options.vinci.resolve(), s, work.resolve()) for s in sources]
        return subprocess.run([options.generator, *recordings, *rest], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
