#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""run.py TUTORIAL.md SOURCE BUILD: does what a tutorial says, in an empty folder, and holds what it shows against what comes out.

Blocks of the document: ```sh is run by bash; ```text behind it is what it prints, where a line `...` matches any lines;
```yaml, ```python and the like with a name behind the language (```yaml chip.yaml) are files that the reader writes.
With VINCI_UPDATE_EXPECTED=1 the text blocks are written again, as many lines as they had between `...`.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MOST = 16  # lines of a block that is written for the first time
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def matches(expected, printed):
    """Whether the lines are equal, apart from blanks at their ends and from what `...` leaves out."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r"[ \t]*\n"
                      for line in expected.splitlines())
    return re.fullmatch(pattern, printed if printed.endswith("\n") or not printed else printed + "\n") is not None


def renewed(expected, printed):
    """What came out, cut to what was shown before: its first lines, or its last ones behind a leading `...`."""
    lines, old = [line.rstrip() for line in printed.splitlines()], expected.splitlines()
    if expected.strip() == "...":
        return "\n".join(lines[:MOST] + ["..."] * (len(lines) > MOST)) + "\n"
    count = sum(line.strip() != "..." for line in old)
    if len(lines) <= count or "..." not in (line.strip() for line in old):
        return "\n".join(lines) + "\n"
    head = next(i for i, line in enumerate(old) if line.strip() == "...")
    tail = count - head
    shown = lines[:head] + ["..."] + (lines[-tail:] if tail else [])
    return "\n".join(shown) + "\n"


def run(command, folder, environment):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def main():
    tutorial, source, build = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
    text = tutorial.read_text(encoding="utf-8")
    environment = {**os.environ, "PATH": f"{build}/tools/vinci:/usr/bin:/bin", "VINCI_SOURCE": str(source), "LC_ALL": "C.UTF-8",
                   "PYTHONPATH": str(build / "tools/python"), "CMAKE_PREFIX_PATH": str(build), "COLUMNS": "100"}
    failed, printed, blocks, out, at = 0, None, 0, "", 0
    with tempfile.TemporaryDirectory(prefix="vinci-tutorial-") as name:
        folder = pathlib.Path(name)
        for block in BLOCK.finditer(text):
            language, file, body = block.groups()
            if language == "sh":
                blocks += 1
                code, printed = run(body, folder, environment)
                if code != 0:
                    failed += 1
                    print(f"{tutorial.name}: exit code {code} of\n{body}{printed}")
            elif language == "text" and printed is not None:
                if body.strip() == "..." or not matches(body, printed):
                    if os.environ.get("VINCI_UPDATE_EXPECTED") == "1":
                        out += text[at:block.start(3)] + renewed(body, printed)
                        at = block.end(3)
                    else:
                        failed += 1
                        print(f"{tutorial.name}: it shows\n{body}\nand this came out\n{printed}")
            elif file:
                (folder / file).write_text(body, encoding="utf-8")
    if at:
        tutorial.write_text(out + text[at:], encoding="utf-8")
    if blocks == 0:
        sys.exit(f"{tutorial.name} has no commands")
    print(f"{tutorial.name}: {blocks} commands, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
