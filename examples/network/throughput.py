#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Simulated throughput of networks next to the published one: throughput.py VINCI [NETWORK...].

Reads published.csv: images or sentences per second of one chip, f16, with the source; how many executions of the network
are the work of one image (3 for a step of training: the backward pass has twice the products of the forward pass); and what
the simulator said when it saw the network for the first time, before anything was changed because of it, with the commit.
Each network is made with random weights, compiled and simulated; a warm execution of the model counts, without copies from
and to the host. Rows of first sight up to commit e513e46 are of a first execution. With --docs the table goes into a
document, between the lines that begin and end it.
"""
import argparse
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

from documents import replace_table

HERE = pathlib.Path(__file__).parent
BEGIN, END = "<!-- throughput: written by examples/network/throughput.py -->", "<!-- end of throughput -->"


def simulated(vinci, row, options, folder):
    """Images a second, or None with the reason."""
    model = folder / f"{row['network']}.onnx"
    subprocess.run([sys.executable, HERE / "make_network.py", row["network"], model, "--batch", row["batch"],
                    *row["options"].split()], check=True)
    run = subprocess.run([vinci, "compile", model, "--soc_version", row["chip"], "-o", folder / "out", *options],
                         capture_output=True, text=True, check=False)
    found = re.search(r"tasks on \S+, ([\d.]+) us", run.stdout)
    if run.returncode != 0 or not found:
        return None, (run.stderr.splitlines() or ["no time"])[0]
    return int(row["batch"]) * 1e6 / (float(found.group(1)) * int(row["work"])), ""


def error(value, published):
    return f"{100 * (value / published - 1):+.0f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vinci", help="the tool")
    parser.add_argument("networks", nargs="*", help="only these")
    parser.add_argument("--tiling", default="model", help="as of `vinci compile` (model)")
    parser.add_argument("--docs", type=pathlib.Path, help="the document that has the table")
    chosen = parser.parse_args()
    with open(HERE / "published.csv", encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if not chosen.networks or r["network"] in chosen.networks]
    lines = ["| network | chip | batch | published | of | at first sight | | now | |",
             "|---|---|---:|---:|---|---:|---:|---:|---:|"]
    print("\n".join(lines))
    failed = False
    for row in rows:
        with tempfile.TemporaryDirectory() as folder:
            now, reason = simulated(chosen.vinci, row, ["--tiling", chosen.tiling], pathlib.Path(folder))
        published = float(row["published"])
        first = f"{row['first_sight']} | {error(float(row['first_sight']), published)}" if row["first_sight"] else "- |"
        here = f"{now:.0f} | {error(now, published)}" if now else f"{reason} |"
        failed = failed or now is None
        kind = "inference" if row["work"] == "1" else "training"
        lines.append(f"| {row['network']} {row['options']} | {row['chip']} | {row['batch']} | {row['published']} | {kind} | "
                     f"{first} | {here} |")
        print(lines[-1], flush=True)
    if chosen.docs:
        replace_table(chosen.docs, BEGIN, END, lines)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
