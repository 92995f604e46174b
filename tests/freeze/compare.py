# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Differences between a baseline and what was measured."""

import math
from typing import NamedTuple

from values import same, unordered

HOST_ROW_LIMIT = 0.08  # a row may need so much more host instructions than the baseline
HOST_MEAN_LIMIT = 0.03  # all rows together, geometric mean


class Difference(NamedTuple):
    case: str
    kind: str
    label: str
    old: str  # "" when the baseline does not have it
    new: str  # "" when it is gone

    def to_text(self):
        old, new = self.old or "(not in the baseline)", self.new or "(gone)"
        return f"{self.case}  {self.kind}  {self.label}: {old} -> {new}{percent(self.old, self.new)}"


def percent(old, new):
    try:
        return f" ({100 * (float(new) / float(old) - 1):+.2f} %)"
    except (ValueError, ZeroDivisionError):
        return ""


def split_renamed(old, new):
    """Takes pairs of equal values under different labels out of both: a name is not a value."""
    by_value = {}
    for key, text in new.items():
        by_value.setdefault(unordered(text), []).append(key)
    renamed = []
    for key in list(old):
        matches = by_value.get(unordered(old[key]))
        if matches:
            renamed.append((key, matches[0]))
            del old[key], new[matches.pop(0)]
    return renamed


class Comparison:
    def __init__(self):
        self.values = 0
        self.differences = []
        self.renamed = []  # (case, old label, new label)
        self.one_sided = {}  # case -> what is wrong with it, when only one side has it
        self.host_rows = {}  # label -> ratio

    def case(self, name, old_values, new_values):
        """Compares all but host instructions."""
        old = {(v.kind, v.label): v.text for v in old_values if v.kind != "host"}
        new = {(v.kind, v.label): v.text for v in new_values if v.kind != "host"}
        self.values += len(new)
        for key in [k for k in old if k in new]:
            if not same(old[key], new[key]):
                self.differences.append(Difference(name, *key, old[key], new[key]))
            del old[key], new[key]
        self.renamed += [(name, a[1], b[1]) for a, b in split_renamed(old, new)]
        self.differences += [Difference(name, *key, text, "") for key, text in old.items()]
        self.differences += [Difference(name, *key, "", text) for key, text in new.items()]

    def host(self, name, old_values, new_values):
        old = {v.label: v.text for v in old_values if v.kind == "host"}
        new = {v.label: v.text for v in new_values if v.kind == "host"}
        self.values += len(new)
        for label in sorted(old.keys() | new.keys()):
            a, b = old.get(label, ""), new.get(label, "")
            if a and b:
                self.host_rows[name, label] = int(b) / int(a)
            if not a or not b or int(b) > int(a) * (1 + HOST_ROW_LIMIT):
                self.differences.append(Difference(name, "host", label, a, b))

    def host_mean(self):
        ratios = self.host_rows.values()
        return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 1.0

    def finish(self):
        mean = self.host_mean()
        if mean > 1 + HOST_MEAN_LIMIT:
            self.differences.append(Difference("host", "host", "geometric mean of all rows", "1", f"{mean:.4f}"))


def compare(baseline, measured, chosen, with_host=True):
    """`chosen`: tells of a name whether that case was to run. Cases that only one side has are differences."""
    out = Comparison()
    for name in sorted(filter(chosen, baseline.cases.keys() | measured.keys())):
        old, new = baseline.cases.get(name, []), measured.get(name, [])
        if not old and all(v.kind != "failure" for v in new):
            out.one_sided[name] = f"unknown: {len(new)} values that the baseline does not have"
        if name not in measured:
            out.one_sided[name] = f"missing: the baseline has {len(old)} values of it"
        out.case(name, old, new)
        if with_host:
            out.host(name, old, new)
    out.finish()
    return out


def report(comparison, most=40):
    """For people: what differs, at most so many values of each case, and how many in all."""
    lines, shown = [], {}
    for d in comparison.differences:
        shown[d.case] = shown.get(d.case, 0) + 1
        if d.case in comparison.one_sided:
            if shown[d.case] == 1:
                lines.append(f"  {d.case}  {comparison.one_sided[d.case]}")
        elif shown[d.case] <= most:
            lines.append("  " + d.to_text())
        elif shown[d.case] == most + 1:
            lines.append(f"  {d.case}  ... more")
    for (case, label), ratio in sorted(comparison.host_rows.items()):
        lines.append(f"  host instructions  {case} {100 * (ratio - 1):+7.2f} %")
    if comparison.host_rows:
        lines.append(f"  host instructions  geometric mean {100 * (comparison.host_mean() - 1):+7.2f} %")
    if comparison.renamed:
        case, a, b = comparison.renamed[0]
        lines.append(f"  {len(comparison.renamed)} values have another label and are equal, such as {case}: {a} -> {b}")
    kinds = {}
    for d in comparison.differences:
        kinds[d.kind] = kinds.get(d.kind, 0) + 1
    counts = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
    lines.append(f"{comparison.values} values, {len(comparison.differences)} differences"
                 + (f" in {len(shown)} cases: {counts}" if counts else ""))
    return "\n".join(lines)
