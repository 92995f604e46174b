#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""stubs.py STUBGEN FOLDER: writes FOLDER/vinci.pyi for the module there, from its signatures.

stubgen knows what pybind11 says of its functions. The part of the module that is written in Python and the static
methods are added from the module itself.
"""
import inspect
import pathlib
import re
import subprocess
import sys


def text_of(annotation):
    """An annotation as it is written in a stub."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = re.sub(r"ForwardRef\('(\w+)'\)", r"\1", text.strip("'\""))
    return re.sub(r"\b(typing|_typing|vinci)\.", "", text)


def signature(name, function):
    parts = []
    star = False
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        text = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name
        star = star or p.kind is p.VAR_POSITIONAL
        if p.annotation is not p.empty:
            text += f": {text_of(p.annotation)}"
        if p.default is not p.empty:
            text += " = ..." if p.annotation is not p.empty else "=..."
        parts.append(text)
    result = inspect.signature(function).return_annotation
    return f"def {name}({', '.join(parts)}) -> {'Any' if result is inspect.Signature.empty else text_of(result)}: ..."


def split_arguments(text):
    """The arguments of a signature; types may have commas."""
    out, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            out.append("")
        else:
            out[-1] += c
    return [a.strip() for a in out]


def with_keywords(line):
    """Arguments without a default behind one that has it can only be given by name."""
    found = re.match(r"( *def \w+)\((.*)\)( -> .*)$", line)
    if not found:
        return line
    arguments = split_arguments(found.group(2))
    plain = [i for i, a in enumerate(arguments) if " = " not in a and not a.startswith("*")]
    given = [i for i, a in enumerate(arguments) if " = " in a]
    if given and plain and given[0] < plain[-1] and not any(a.startswith("*") for a in arguments):
        arguments.insert(given[0], "*")
    return f"{found.group(1)}({', '.join(arguments)}){found.group(3)}"


def class_lines(name, value, lines):
    """The lines of a class, with members that are written in Python and static methods in full."""
    out = []
    for line in lines:
        member = re.match(r"    (\w+): ClassVar\[function\]", line) or re.match(r"    def (\w+)\(self, \*args, \*\*kwargs\) -> Any", line)
        raw = vars(value).get(member.group(1)) if member else None
        if inspect.isfunction(raw):
            shown = member.group(1)
            if not shown.startswith("_") or shown.startswith("__") or shown == "_repr_html_":
                out.append("    " + signature(shown, raw))
        elif isinstance(raw, staticmethod):
            first = raw.__func__.__doc__.splitlines()[0]
            out += ["    @staticmethod", "    def " + re.sub(r"\bvinci\.", "", first) + ": ..."]
        else:
            out.append(with_keywords(line))
    return out


def main():
    stubgen, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    sys.path.insert(0, str(folder))
    import vinci
    subprocess.run([stubgen, "--quiet", "--module", "vinci", "--output", str(folder)], check=True)
    path = folder / "vinci.pyi"
    out, block, owner = ["import typing", "from typing import *"], [], None

    def flush():
        out.extend(class_lines(owner, getattr(vinci, owner), block) if owner else block)
        block.clear()

    for line in path.read_text(encoding="utf-8").splitlines():
        function = re.match(r"(\w+): function$", line)
        if function:
            name = function.group(1)
            if not name.startswith("_"):
                block.append(signature(name, getattr(vinci, name)))
            continue
        start = re.match(r"class (\w+)", line)
        if start or (line and not line.startswith(" ")):
            flush()
            owner = start.group(1) if start else None
        block.append(line)
    flush()
    # What pybind11 calls a buffer is anything with the buffer protocol.
    text = re.sub(r"\bbuffer\b(?=[,)])", "Any", "\n".join(out) + "\n")
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
