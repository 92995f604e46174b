# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Results as tables: text for a terminal, Markdown for a document, JUnit for a CI server."""

import collections
import xml.etree.ElementTree as xml

from execute import STATES

FORMAT = "vinci-suites 1"
COLUMNS = ("category", "cases", "skipped", "valid", "compiled", "ran", "verified", "unchecked", "wrong",
           "compile CPU s", "run CPU s")


def reached(result, phase):
    """Whether a case got past a phase."""
    order = {"not prepared": 0, "not compiled": 1, "not run": 2, "wrong": 3, "unchecked": 4, "right": 4}
    return order.get(result["state"], -1) > {"prepare": 0, "compile": 1, "run": 2}[phase]


def cpu(results, phase):
    return sum(result["phases"].get(phase, {}).get("cpu", 0.0) for result in results)


def summary_row(name, results):
    states = collections.Counter(result["state"] for result in results)
    valid = len(results) - states["skipped"]
    compiled = sum(reached(result, "compile") for result in results)
    ran = sum(reached(result, "run") for result in results)
    return [name, len(results), states["skipped"], valid, compiled, ran, states["right"], states["unchecked"],
            states["wrong"], f"{cpu(results, 'compile'):.1f}", f"{cpu(results, 'run'):.1f}"]


def summary(results, depth=0):
    """Rows of the table by category, with the sum as the last one. `depth`: parts of a category a/b/c that count."""
    categories = collections.defaultdict(list)
    for result in results:
        parts = (result["category"] or "-").split("/")
        categories["/".join(parts[: depth or len(parts)])].append(result)
    rows = [summary_row(name, categories[name]) for name in sorted(categories)]
    return rows + [summary_row("all", results)]


def failures(results):
    """Rows of state, reason, number of cases and the first of them; the most frequent reason of a state is first."""
    groups = collections.defaultdict(list)
    for result in results:
        if result["state"] not in ("right", "unchecked"):
            groups[result["state"], result["reason"]].append(result["name"])
    order = sorted(groups, key=lambda g: (STATES.index(g[0]), -len(groups[g]), g[1]))
    return [[state, len(groups[state, reason]), reason, groups[state, reason][0]] for state, reason in order]


def checks(results):
    """Checks inside cases that passed, and all of them."""
    counted = [result["checks"] for result in results if result["checks"]]
    return sum(c["right"] for c in counted), sum(c["all"] for c in counted)


def text_table(header, rows):
    rows = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    numbers = [all(row[i].replace(".", "", 1).isdigit() for row in rows[1:]) for i in range(len(header))]
    return "\n".join("  ".join(cell.rjust(w) if number else cell.ljust(w)
                               for cell, w, number in zip(row, widths, numbers)).rstrip() for row in rows)


def markdown_table(header, rows):
    def line(cells):
        return "| " + " | ".join(str(cell).replace("|", "\\|").replace("<", "&lt;") for cell in cells) + " |"

    return "\n".join([line(header), "|" + "---|" * len(header), *map(line, rows)])


def origin(report):
    """One line: what was run, of which commit, by which build, on how many cases."""
    checkout, chosen = report["checkout"], report["chosen"]
    commit = (checkout["commit"][:12] or "no commit") + (", modified" if checkout["modified"] else "")
    said = f"{report['suite']} ({commit}), {report['vinci']['version']}, {report['date']}: "
    said += f"{chosen['cases']} of {chosen['all']} cases"
    if chosen["sample"]:
        said += f", a random sample with seed {chosen['seed']}"
    if chosen["only"]:
        said += f", those that match {chosen['only']}"
    return said + ("" if report["complete"] else "; interrupted")


def shortened(rows, limit):
    """Wrong results, the failures with the most cases, and a row that counts the others."""
    if not limit or len(rows) <= limit:
        return rows
    most = sorted(rows, key=lambda row: (row[0] != "wrong", -row[1]))[:limit]
    left = [row for row in rows if row not in most]
    others = ["others", sum(row[1] for row in left), f"{len(left)} other reasons", ""]
    return [*(row for row in rows if row in most), others]


def render(report, table, limit=0, depth=0):
    """All tables of a report, with at most `limit` reasons and with categories of `depth` parts; 0: all."""
    results = report["cases"]
    parts = [origin(report), table(COLUMNS, summary(results, depth))]
    right, every = checks(results)
    if every:
        parts.append(f"Checks inside the cases: {right} of {every} passed.")
    rows = shortened(failures(results), limit)
    if rows:
        parts.append(table(("state", "cases", "first failure", "for example"), rows))
    return "\n\n".join(parts) + "\n"


def junit(report):
    results = report["cases"]
    states = collections.Counter(result["state"] for result in results)
    good = states["right"] + states["unchecked"] + states["skipped"]
    root = xml.Element("testsuite", name=report["suite"], tests=str(len(results)), skipped=str(states["skipped"]),
                       failures=str(len(results) - good))
    for result in results:
        wall = sum(phase["wall"] for phase in result["phases"].values())
        case = xml.SubElement(root, "testcase", classname=result["category"] or report["suite"], name=result["name"],
                              time=f"{wall:.3f}")
        if result["state"] == "skipped":
            xml.SubElement(case, "skipped", message=printable(result["reason"]))
        elif result["state"] not in ("right", "unchecked"):
            failure = xml.SubElement(case, "failure", type=result["state"], message=printable(result["reason"]))
            failure.text = printable(result["line"])
    return xml.tostring(root, encoding="unicode", xml_declaration=True)


def printable(text):
    """XML has no control characters."""
    return "".join(c if c in "\t\n" or c >= " " else "?" for c in text)
