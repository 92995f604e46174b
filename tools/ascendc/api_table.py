#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Writes docs/ascendc-api.md: all names of Ascend C and of the runtime that the headers declare.

Usage: api_table.py [--check]; with --check it only says whether the document is up to date."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "tools/ascendc/include"
DOCUMENT = ROOT / "docs/ascendc-api.md"

# Headers whose contents are ours alone.
OURS = {"vinci/ascendc.h", "vinci/kernel_code.h"}
# Address spaces and marks of kernels are no part of a name.
ATTRIBUTE = re.compile(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)")
# Accessors of the fields of tiling data: as many as there are fields, and under their names.
ACCESSORS = re.compile(r"(get|set)_\w*[a-z][A-Z]\w*$")
# Namespaces of helpers.
HELPERS = {"vinci", "vinci_detail", "detail", "std"}
TITLES = {
    "acl": "Host: acl",
    "ascendc": "Kernels: basic API",
    "ascendc/advanced": "Kernels: high-level API, and its sizes on the host",
    "ascendc/matmul": "Matmul, and its tilings on the host",
    "": "Others",
}


def preprocessed():
    """(header, line of text) of all our headers, after macros; definitions of macros come as '#define ...'."""
    names = sorted(str(p.relative_to(INCLUDE)) for p in INCLUDE.rglob("*.h"))
    source = "".join(f'#include "{name}"\n' for name in names)
    compiler = os.environ.get("CXX", "g++")
    text = subprocess.run([compiler, "-E", "-dD", "-std=c++17", "-D__NPU_ARCH__=2201", f"-I{INCLUDE}", "-x", "c++", "-"],
                          input=source, capture_output=True, text=True, check=True).stdout
    header = None
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            path = pathlib.Path(marker[1])
            header = str(path.relative_to(INCLUDE)) if path.is_relative_to(INCLUDE) else None
        elif header is not None:
            yield header, line if line.startswith("#") else ATTRIBUTE.sub("", line)


def tokens(lines):
    pattern = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\d[\w.\']*|::|->|[^\s]')
    for line in lines:
        yield from pattern.findall(line)


class Declarations:
    """Names that a header declares: functions, types, and members of classes that users call."""

    def __init__(self):
        self.functions, self.types, self.members = set(), set(), {}

    def read(self, stream):
        scopes = []  # (kind, name): namespace, class, enum, other
        declaration, public = [], [True]
        depth = 0  # of parentheses
        for t in stream:
            if t in "([":
                depth += 1
            elif t in ")]":
                depth -= 1
            if depth > 0 and t in "{}":  # a value of a default argument, a lambda
                declaration.append(t)
            elif depth == 0 and t == "{" and not (scopes and scopes[-1][0] == "other"):
                scopes.append(self.opened(declaration, scopes, public[-1]))
                public.append("struct" in declaration or "class" not in declaration)
                declaration = []
            elif t == "{":
                scopes.append(("other", ""))
                public.append(True)
            elif t == "}":
                kind, name = scopes.pop() if scopes else ("other", "")
                public.pop()
                if kind != "other" or (scopes and scopes[-1][0] != "other"):
                    declaration = []
            elif depth == 0 and t == ";":
                if not (scopes and scopes[-1][0] in ("other", "enum")):
                    self.opened(declaration, scopes, public[-1])
                declaration = []
            elif depth == 0 and t == ":" and declaration in (["public"], ["private"], ["protected"]):
                public[-1] = declaration == ["public"]
                declaration = []
            else:
                declaration.append(t)

    def opened(self, d, scopes, visible):
        """Notes what a declaration declares; the scope that its body is."""
        if "namespace" in d:
            path = d[d.index("namespace") + 1:] or ["detail"]
            return "namespace", next((name for name in path if name in HELPERS), path[-1])
        if d[:1] == ["extern"] and len(d) == 2:
            return "namespace", ""
        helper = any(name in HELPERS for kind, name in scopes if kind == "namespace")
        classes = [name for kind, name in scopes if kind == "class"]
        rest = self.without_template(d)
        if rest[:1] == ["typedef"] and rest[-1:] and rest[-1] != "typedef":
            if not helper and not classes and re.match(r"[A-Za-z]\w*$", rest[-1]):
                self.types.add(rest[-1])
            rest = rest[1:]
        for word in ("class", "struct", "union", "enum"):
            if word in rest[:2]:
                name = next((t for t in rest[rest.index(word) + 1:] if t not in ("class", "struct", "alignas")), "")
                if name and not helper and not classes:
                    self.types.add(name)
                return ("enum" if word == "enum" else "class"), name
        if rest[:1] == ["using"] and "=" in rest:
            if not helper and not classes:
                self.types.add(rest[1])
            return "other", ""
        if helper or not visible or "friend" in rest:
            return "other", ""
        name = self.function(rest)
        if name and self.for_users(rest, name):
            if classes:
                if name != classes[-1]:
                    self.members.setdefault(classes[0], set()).add(name)
            else:
                self.functions.add(name)
        return "other", ""

    @staticmethod
    def without_template(d):
        while d[:2] == ["template", "<"]:
            depth, end = 0, len(d)
            for i, t in enumerate(d):
                depth += (t == "<") - (t == ">")
                if t == ">" and depth == 0:
                    end = i + 1
                    break
            d = d[end:]
        return d

    @staticmethod
    def function(d):
        if "(" not in d or "operator" in d or "=" in d[:d.index("(")]:
            return None
        before = d[:d.index("(")]
        if len(before) < 2 or "~" in before or "[" in before or not re.match(r"[A-Za-z_]\w*$", before[-1]):
            return None
        return before[-1] if before[-2] != "::" else None

    @staticmethod
    def for_users(d, name):
        """Helpers get the place of a call from their caller; users' calls have it by default."""
        handed = any(d[i:i + 2] == ["Place", "place"] and d[i + 2:i + 3] != ["="] for i in range(len(d)))
        return not handed and not name.startswith(("vinci", "VINCI", "__", "_"))


def public(names):
    return {n for n in names if re.match(r"[A-Za-z]\w", n) and not ACCESSORS.match(n)}


def gather():
    by_header, macros = {}, {}
    for header, line in preprocessed():
        if header in OURS:
            continue
        define = re.match(r"#define (\w+)", line)
        if define:
            if not re.match(r"VINCI|_|ASCENDC_?CPU", define[1]):
                macros.setdefault(header, set()).add(define[1])
        elif not line.startswith("#"):
            by_header.setdefault(header, []).append(line)
    out = {}
    for header in sorted(set(by_header) | set(macros)):
        found = Declarations()
        found.read(tokens(by_header.get(header, [])))
        out[header] = (found, macros.get(header, set()))
    return out


def listing():
    """{title: [(header, kind, names)]}; a function that several headers declare is listed with the first."""
    groups = {title: [] for title in TITLES.values()}
    seen = set()
    for header, (found, macros) in gather().items():
        folder = str(pathlib.PurePath(header).parent)
        members = {f"{c}::{m}" for c in public(found.members) for m in public(found.members[c])}
        for kind, names in (("functions", public(found.functions)), ("members", members), ("types", public(found.types)),
                            ("macros", macros)):
            names = {n for n in names if n not in seen or kind != "functions"}
            seen |= names
            if names:
                groups[TITLES.get(folder, TITLES[""])].append((header, kind, names))
    return {title: entries for title, entries in groups.items() if entries}


def in_order(names):
    return ", ".join(f"`{n}`" for n in sorted(names, key=lambda n: (n.lower(), n)))


def document(groups):
    text = ["# What there is of Ascend C", "",
            "Made from the headers by `tools/ascendc/api_table.py`; a test says when it is stale. A name says that a function, type or",
            "macro is there; which types and memories an architecture has instructions for shows when it is called (`docs/ascendc.md`).",
            "What is not listed does not compile, under its name.", ""]
    for title, entries in groups.items():
        text += [f"## {title}", "", "| header | | names |", "|---|---|---|"]
        last = None
        for header, kind, names in entries:
            text.append(f"| {'' if header == last else f'`{header}` '}| {kind} | {in_order(names)} |")
            last = header
        text.append("")
    return "\n".join(text)


def main():
    groups = listing()
    text = document(groups)
    if sys.argv[1:] != ["--check"]:
        DOCUMENT.write_text(text)
    elif not DOCUMENT.exists() or DOCUMENT.read_text() != text:
        sys.exit(f"{DOCUMENT.relative_to(ROOT)} is stale: run tools/ascendc/api_table.py")


if __name__ == "__main__":
    main()
