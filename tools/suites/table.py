#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Write the tables of results (run.py --json) as Markdown, or put them between the marks of a document."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tables  # noqa: E402
from run import Wrong, load_report, write  # noqa: E402

BEGIN, END = "<!-- scores: begin, written by table.py -->", "<!-- scores: end -->"


def replaced(text, tables_text, path):
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise Wrong(f"{path}: the marks '{BEGIN}' and '{END}' must be there once each, in this order")
    return text[: text.index(BEGIN) + len(BEGIN)] + "\n" + tables_text + text[text.index(END):]


def main(arguments):
    parser = argparse.ArgumentParser(prog="table.py", description=__doc__)
    parser.add_argument("results", nargs="+", type=pathlib.Path, help="files of run.py --json")
    parser.add_argument("--into", type=pathlib.Path, metavar="FILE", help=f"put the tables between the marks: {BEGIN}")
    parser.add_argument("--reasons", type=int, default=12, metavar="N",
                        help="the N reasons with the most cases of each file; 0: all (default: 12)")
    parser.add_argument("--depth", type=int, default=0, metavar="N",
                        help="count categories a/b/c by their first N parts; 0: all (default: 0)")
    o = parser.parse_args(arguments)
    if min(o.reasons, o.depth) < 0:
        parser.error("--reasons and --depth: at least 0")
    try:
        text = "\n".join(tables.render(load_report(path), tables.markdown_table, o.reasons, o.depth)
                         for path in o.results)
        if not o.into:
            print(text, end="")
        elif not o.into.is_file():
            raise Wrong(f"{o.into}: no such file")
        else:
            write(o.into, replaced(o.into.read_text(), text, o.into))
    except Wrong as e:
        print(f"table.py: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
