#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of `vinci study --all` into README.md, between its two comments.

Usage: readme.py TABLE, the table.md of `vinci study --all -o FOLDER`."""

import pathlib
import sys

BEGIN, END = "<!-- studies: written by ./dev studies -->\n", "<!-- end of studies -->\n"
README = pathlib.Path(__file__).resolve().parents[2] / "README.md"

text = README.read_text()
before, _, rest = text.partition(BEGIN)
_, found, after = rest.partition(END)
if not found:
    sys.exit(f"{README.name} has no comments around the table of studies")
README.write_text(before + BEGIN + pathlib.Path(sys.argv[1]).read_text() + END + after)
