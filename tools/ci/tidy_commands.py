#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Writes a compile_commands.json with an entry for each source of a build that compiles sources in groups.

Usage: tidy_commands.py BUILD FOLDER: reads BUILD/compile_commands.json, writes FOLDER/compile_commands.json."""
import json
import pathlib
import re
import sys


def main():
    build, folder = map(pathlib.Path, sys.argv[1:3])
    out = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        group = pathlib.Path(entry["file"])
        sources = re.findall(r'^#include "(.*\.cpp)"', group.read_text(), re.M) if "/Unity/" in str(group) else [str(group)]
        for source in sources:
            out.append({**entry, "file": source, "command": entry["command"].replace(str(group), source)})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
