#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Writes a table of networks and chips: measure.py VINCI [NETWORK...].

Each network is made with random weights and compiled for each chip; each node is compared with its reference. Columns: tasks, the
simulated time of a warm execution, seconds of a processor for compiling and for runs in the modes timing and full, the
node with the largest error, and the one that takes the largest share of the time. With --docs the table goes into a document, between the lines
that begin and end it.
"""
import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

from documents import replace_table

HERE = pathlib.Path(__file__).parent
NETWORKS = ("resnet50", "vgg16", "bert", "mobilenet_v2", "efficientnet_b0", "densenet121", "unet", "yolo", "db", "siammask", "vit", "swin_t")
# llama_prefill and llama_decode, which take 7 GB and minutes for each chip, are measured where they are named.
CHIPS = ("910A", "310P3", "910B1")
BEGIN, END = "<!-- networks: written by examples/network/measure.py -->", "<!-- end of networks -->"


def ran(command):
    """The output of a command and its seconds of a processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        raise RuntimeError((run.stderr or run.stdout).strip().splitlines()[-1])
    return run.stdout, after.ru_utime - before.ru_utime


def longest(table):
    """Name and share of the task that takes longest, by the lines of nodes.txt."""
    rows = re.findall(r"^ +\d+ (\S+) +\S+ +\d+ +([\d.]+) +([\d.]+)%", table, re.MULTILINE)
    name, _, share = max(rows, key=lambda row: float(row[1]))
    return f"{name}, {float(share):.0f} %"


def measured(vinci, model, chip, check):
    """The cells of a row."""
    out = model.with_name(f"{model.stem}-{chip}")
    compile_it = [vinci, "compile", model, "--soc_version", f"Ascend{chip}", "-o", out]
    said, compiling = ran(compile_it)
    tasks, time = re.search(r"(\d+) tasks on \S+, ([\d.]+) us", said).groups()
    worst = re.search(r"largest error is (\S+) .*, of (\S+)", ran([*compile_it, "--check_nodes"])[0]) if check else None
    run = [vinci, "run", out / f"{model.stem}.yaml", "--chip", f"ascend-{chip.lower()}", "-o", out / "run", "--mode"]
    timing, running = ran([*run, "timing"])[1], ran([*run, "full"])[1]
    error = f"{worst.group(2)}, {float(worst.group(1)):.1e}" if worst else "not checked"
    return [tasks, f"{float(time):.0f}", f"{compiling:.1f}", f"{timing:.1f}", f"{running:.1f}", error,
            longest((out / "nodes.txt").read_text(encoding="utf-8"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vinci", help="the tool")
    parser.add_argument("networks", nargs="*", help="only these")
    parser.add_argument("--size", choices=("small", "full"), default="full", help="extents of the networks (full)")
    parser.add_argument("--options", default="", help="of make_network.py, as \"--sequence 128\"")
    parser.add_argument("--no-check", action="store_true", help="do not compare nodes with their references")
    parser.add_argument("--docs", type=pathlib.Path, help="the document that has the table")
    chosen = parser.parse_args()
    lines = ["| network | chip | tasks | us | compile s | timing s | full s | largest error | longest task |",
             "|---|---|---:|---:|---:|---:|---:|---|---|"]
    print("\n".join(lines))
    failed = False
    for network in chosen.networks or NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / f"{network}.onnx"
            subprocess.run([sys.executable, HERE / "make_network.py", network, model, "--size", chosen.size,
                            *chosen.options.split()], check=True)
            for chip in CHIPS:
                try:
                    cells = measured(chosen.vinci, model, chip, not chosen.no_check)
                except RuntimeError as error:
                    failed, cells = True, [str(error)]
                lines.append(f"| {network} | {chip} | " + " | ".join(cells) + " |")
                print(lines[-1], flush=True)
    if chosen.docs:
        replace_table(chosen.docs, BEGIN, END, lines)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
