# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""The values of a case, and how files of results become values.

Names are labels for people. Strings never enter a hash: files are reduced to their numbers and their structure, so that
a renamed key, member or file changes nothing.
"""

import csv
import hashlib
import json
import re
from typing import NamedTuple

MAX_SHOWN = 12  # a tree of at most this many numbers is written in full, a larger one as a hash
NUMBER = re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")
TIMES = {"cycles", "seconds", "kernel_cycles", "tasks", "pipes"}  # of stats.json; all else counts as a counter


class Value(NamedTuple):
    kind: str  # time, counter, bits, host (instructions of the host) or failure
    label: str
    text: str


def number(x):
    """One spelling for each number: 1, 1.0 and true are the same."""
    if isinstance(x, str):
        x = int(x) if re.fullmatch(r"[-+]?\d+", x) else float(x)
    if isinstance(x, int):
        return str(int(x))
    return str(int(x)) if abs(x) < 1 << 53 and x == int(x) else repr(x)


def leaves(tree):
    if isinstance(tree, dict):
        return [n for child in tree.values() for n in leaves(child)]
    if isinstance(tree, list):
        return [n for child in tree for n in leaves(child)]
    return [number(tree)] if isinstance(tree, (int, float)) else []


def canonical(tree):
    """Arrays in their order, members of objects in an order that does not depend on their names; no strings."""
    if isinstance(tree, dict):
        return "{" + " ".join(sorted(filter(None, map(canonical, tree.values())))) + "}"
    if isinstance(tree, list):
        return "[" + " ".join(map(canonical, tree)) + "]"
    return number(tree) if isinstance(tree, (int, float)) else ""


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def tree_text(tree):
    numbers = leaves(tree)
    if len(numbers) <= MAX_SHOWN:
        return " ".join(numbers)
    return f"{len(numbers)} numbers {digest(canonical(tree).encode())}"


def unordered(text):
    """Numbers that are written in full may come in another order: their keys may be sorted by name."""
    return tuple(sorted(text.split()))


def same(a, b):
    return a == b or unordered(a) == unordered(b)


def siblings(tree):
    """Members whose names differ by digits alone (core0, core1) as one list: a line of the baseline each."""
    groups = {}
    for key, child in tree.items():
        groups.setdefault(re.sub(r"\d+", "*", key), []).append(child)
    names = {re.sub(r"\d+", "*", key): key for key in tree}
    return {key if len(of) > 1 else names[key]: of if len(of) > 1 else of[0] for key, of in groups.items()}


def stats_values(path, prefix=""):
    """Of stats.json: a value for each of its members, and for each group of counters. Cold starts are part of the times."""
    out = []
    document = json.loads(path.read_text())
    for task in document.get("tasks", []):
        task.pop("cold", None)
    for key, tree in document.items():
        kind = "time" if key in TIMES else "counter"
        if key in ("format", "cold_cycles") or isinstance(tree, str):
            continue
        parts = siblings(tree) if isinstance(tree, dict) else {"": tree}
        for name, part in parts.items():
            out.append(Value(kind, f"{prefix}{key} {name}".strip(), tree_text(part)))
    return out


def json_value(kind, path, label):
    return Value(kind, label, tree_text(json.loads(path.read_text())))


def csv_value(kind, path, label):
    with path.open(newline="") as file:
        rows = [[number(cell) for cell in row if NUMBER.match(cell)] for row in csv.reader(file)]
    return Value(kind, label, f"{len(rows)} rows {digest(repr(rows).encode())}")


def file_value(path, label):
    return Value("bits", label, digest(path.read_bytes()))


def text_values(kind, text, prefix=""):
    """Of a printed report: the numbers of each line that has some, under the words of that line."""
    out = []
    for line in text.splitlines():
        words = line.split()
        numbers = [w for w in words if NUMBER.match(w)]
        if numbers:
            label = " ".join(w for w in words if not NUMBER.match(w))
            out.append(Value(kind, prefix + label, " ".join(map(number, numbers))))
    return out


def numbered(values):
    """Labels that occur again get a number: each names one line of the baseline. Without values that have no number."""
    seen, out = {}, []
    for v in filter(lambda v: v.text, values):
        label = " ".join(v.label.split()) or "-"
        n = seen[v.kind, label] = seen.get((v.kind, label), 0) + 1
        out.append(v._replace(label=f"{label} #{n}" if n > 1 else label))
    return out
