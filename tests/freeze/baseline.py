# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""The committed file: a line for each value, `case kind label value` between tabs, sorted."""

import re

from values import Value

HEAD = """\
# Times, counters, hashes of output bits and host instructions of every case; see docs/freeze.md.
# Written by `./dev freeze --accept REASON`. Columns: case, kind, label, value.
"""
HOST = "# host instructions counted with: "


def natural(text):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


class Baseline:
    def __init__(self, cases=None, environment=""):
        self.cases = cases or {}  # name -> list of Value
        self.environment = environment  # that of the host instructions

    def to_text(self):
        lines = [HEAD, f"{HOST}{self.environment}\n"]
        for name in sorted(self.cases, key=natural):
            for v in sorted(self.cases[name], key=lambda v: (v.kind, natural(v.label))):
                lines.append(f"{name}\t{v.kind}\t{v.label}\t{v.text}\n")
        return "".join(lines)

    @staticmethod
    def from_text(text):
        out = Baseline()
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith(HOST):
                out.environment = line[len(HOST):]
            elif not line.startswith("#"):
                columns = line.split("\t")
                if len(columns) != 4:
                    raise ValueError(f"line {number} has {len(columns)} columns, not 4")
                out.cases.setdefault(columns[0], []).append(Value(*columns[1:]))
        return out

    @staticmethod
    def read(path):
        return Baseline.from_text(path.read_text()) if path.exists() else Baseline()
