#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Counts the kernels of networks with fusion on and off, next to what CANN's rules give: kernel_counts.py VINCI.

Reads kernel_counts.csv: a row for each network, chip and set of switches, with the count derived from the rules of CANN's
passes with its derivation, the count that is expected here, and why the two differ. Tasks that replace no node of the model (Cast and
TransData at the borders, borders and cuts of rows) are counted apart. Exit code 1 where a count is another one than
expected, or differs from the derived one without a reason. With --docs the table goes into a document, between the lines
that begin and end it.
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
BEGIN, END = "<!-- kernel counts: written by examples/network/kernel_counts.py -->", "<!-- end of kernel counts -->"
SWITCHES = {
    "all": "",
    "without UB fusion": "TbeConv2DEltwiseFusionPass:off;TbeMatmulElemwiseFusionPass:off;"
                         "MatmulConfusiontransposeUbFusion:off;TbeEltwiseFusionPass:off",
    "without TbeEltwiseFusionPass": "TbeEltwiseFusionPass:off",
}


def counts(vinci, model, row, folder):
    """Tasks that replace nodes of the model, and the others."""
    command = [vinci, "compile", model, "--soc_version", f"Ascend{row['chip']}", "-o", folder / "out"]
    if SWITCHES[row["fusion"]]:
        command += ["--optimization_switch", SWITCHES[row["fusion"]]]
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stderr)
    lines = [line for line in run.stdout.splitlines() if re.match(r" *\d+ \S+ +\S+ +\d+ +[\d.]+ ", line)]
    header = next(line for line in run.stdout.splitlines() if line.startswith("task node"))
    column = header.index("nodes of the model")
    own = sum(1 for line in lines if line[column:].strip())
    return own, len(lines) - own


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vinci", help="the tool")
    parser.add_argument("--docs", type=pathlib.Path, help="the document that has the table")
    chosen = parser.parse_args()
    with open(HERE / "kernel_counts.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = ["| network | chip | fusion | derived | here | other tasks | derived from | why it differs |",
             "|---|---|---|---:|---:|---:|---|---|"]
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for row in rows:
            model = folder / f"{row['network']}.onnx"
            if not model.exists():
                subprocess.run([sys.executable, HERE / "make_network.py", row["network"], model, *row["options"].split()],
                               check=True)
            own, others = counts(chosen.vinci, model, row, folder)
            title = f"{row['network']} {row['chip']} {row['fusion']}"
            if own != int(row["here"]):
                wrong.append(f"{title}: {own} kernels, not {row['here']}")
            if (row["derived"] != row["here"]) != bool(row["why"]):
                wrong.append(f"{title}: a difference needs a reason, and none needs none")
            lines.append(f"| {row['network']} {row['options']} | {row['chip']} | {row['fusion']} | {row['derived']} | {own} | "
                         f"{others} | {row['derivation']} | {row['why']} |")
            print(lines[-1], flush=True)
    if chosen.docs:
        replace_table(chosen.docs, BEGIN, END, lines)
    return "\n".join(wrong) if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
