#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of `vinci study --all` into docs/studies.md, between its two comments.

Usage: write_answers.py TABLE, the table.md of `vinci study --all -o FOLDER`."""

import pathlib
import sys

BEGIN, END = "<!-- studies: written by ./dev studies -->\n", "<!-- end of studies -->\n"
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "studies.md"

text = PAGE.read_text()
before, _, rest = text.partition(BEGIN)
_, found, after = rest.partition(END)
if not found:
    sys.exit(f"{PAGE.name} has no comments around the table of studies")
PAGE.write_text(before + BEGIN + pathlib.Path(sys.argv[1]).read_text() + END + after)
