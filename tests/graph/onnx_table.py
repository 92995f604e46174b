#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Counts the node tests of ONNX that are right, as a table: onnx_table.py TEST_GRAPH [--docs DOCUMENT].

Runs the tests OnnxNodes and OnnxOnDevice of the program TEST_GRAPH and reads what they print. With --docs the table
goes into a document, between the lines that begin and end it.
"""
import argparse
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "examples" / "network"))
from documents import replace_table

BEGIN, END = "<!-- node tests: written by tests/graph/onnx_table.py -->", "<!-- end of node tests -->"
LINE = re.compile(r"^node tests on (.+): (\d+) right,(?: (\d+) without a task,)? (\d+) not supported; "
                  r"of the (\d+) of the measure (\d+) right$", re.MULTILINE)


def table(output):
    lines = ["| where | right | nothing left for the device | not supported | of the measure | right |",
             "|---|---:|---:|---:|---:|---:|"]
    for where, right, empty, refused, counted, counted_right in LINE.findall(output):
        lines.append(f"| {where} | {right} | {empty or '-'} | {refused} | {counted} | {counted_right} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the test program of tests/graph")
    parser.add_argument("--docs", type=pathlib.Path, help="the document that has the table")
    chosen = parser.parse_args()
    run = subprocess.run([chosen.program, "--gtest_filter=OnnxNodes.*:*OnnxOnDevice*"], capture_output=True, text=True,
                         check=False)
    lines = table(run.stdout)
    print("\n".join(lines))
    if run.returncode != 0 or len(lines) < 3:
        print(run.stdout[-3000:], file=sys.stderr)
        return 1
    if chosen.docs:
        replace_table(chosen.docs, BEGIN, END, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
