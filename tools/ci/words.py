#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Refuses new uses of the words in words.txt in comments, documents and messages.

    words.py            compares each file with tests/words/counts.txt; the exit code is 1 where a file has more
    words.py --update   writes the counts where they have become smaller
    words.py --accept   writes all counts, also larger ones
    words.py --list FILE...    every use in these files

A comment is one of C++, Python, CMake, YAML or a shell; a document is a .md; a message is a string of C++ in isa, sim,
models and tools. Identifiers never count. --root ROOT looks at another tree.
"""
import argparse
import collections
import pathlib
import re
import sys

FOLDERS = ["isa", "sim", "models", "tools", "tests", "docs", "examples", "configs"]
PRODUCT = ("isa", "sim", "models", "tools")
SKIPPED = ("docs/logs/", "tests/words/", "tools/ci/words", "tests/fuzz/corpus/")
C_LIKE = {".h", ".cpp", ".cc", ".c", ".asc", ".js", ".css"}
HASH_LIKE = {".cmake", ".yaml", ".yml", ".sh", ".txt"}

C_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*(?:\n[ \t]*//[^\n]*)*|/\*.*?\*/)"
    r"|(?P<raw>R\"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)\")"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\")"
    r"|\b\d[\w']*|'(?:\\.|[^'\\\n])+'", re.S)
PYTHON_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*(?:\n[ \t]*#[^\n]*)*)"
    r"|(?P<doc>(?:\"\"\".*?\"\"\"|'''.*?'''))"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)


def load_words(path):
    """The patterns of words.txt: a name for each, and what finds it."""
    words = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        forms, advice = re.split(r"\s{2,}", line.strip(), maxsplit=1)
        forms = [f.strip() for f in forms.split("|")]
        name = forms[0]
        # A word of several may go over two lines of a comment.
        forms = [re.escape(f).replace(r"\ ", r"\s+(?:(?://|\#|\*)\s*)?") for f in forms]
        words[name] = (re.compile(r"(?<![\w-])(?:" + "|".join(forms) + r")(?![\w-])", re.I), advice)
    return words


def prose(name, text):
    """The parts of a file that people read, as (position, text)."""
    suffix = pathlib.PurePath(name).suffix
    if suffix == ".md":
        # Code of a document is no prose.
        blank = lambda m: " " * len(m.group())
        yield 0, re.sub(r"```.*?```|`[^`\n]*`", blank, text, flags=re.S)
    elif suffix in C_LIKE:
        in_product = name.startswith(PRODUCT)
        for token in C_TOKEN.finditer(text):
            if token["comment"]:
                yield token.start(), token["comment"]
            elif in_product and (token["string"] or token["raw"]):
                yield token.start(), token.group()
    elif suffix == ".py":
        for token in PYTHON_TOKEN.finditer(text):
            if token["comment"] or token["doc"]:
                yield token.start(), token.group()
    else:
        for found in re.finditer(r"(?:^|(?<=\s))#[^\n]*", text):
            yield found.start(), found.group()


def files(root):
    for path in sorted([*root.glob("*.md"), root / "CMakeLists.txt",
                        *(p for folder in FOLDERS for p in (root / folder).rglob("*"))]):
        name = path.relative_to(root).as_posix()
        known = path.suffix in C_LIKE | {".md", ".py"} or path.suffix in HASH_LIKE - {".txt"} or path.name == "CMakeLists.txt"
        if known and path.is_file() and not path.is_symlink() and not name.startswith(SKIPPED):
            yield name, path


def uses(name, text, words):
    """Each use of a word in a file: its line, the word, and the text of the line."""
    for start, part in prose(name, text):
        for word, (pattern, _) in words.items():
            for found in pattern.finditer(part):
                at = start + found.start()
                line = text.count("\n", 0, at) + 1
                yield line, word, text.splitlines()[line - 1].strip()


def read_counts(path):
    counts = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                name, word, count = line.rsplit("\t", 2)
                counts[name, word] = int(count)
    return counts


def write_counts(path, counts):
    head = "# How many uses of the words in tools/ci/words.txt a file has: path, word, number. tools/ci/words.py --update\n"
    path.write_text(head + "".join(f"{name}\t{word}\t{n}\n" for (name, word), n in sorted(counts.items()) if n > 0),
                    encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Refuses new uses of some words in comments, documents and messages.")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--update", action="store_true")
    group.add_argument("--accept", action="store_true")
    group.add_argument("--list", nargs="+", metavar="FILE")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    root = options.root.resolve()
    words = load_words(root / "tools/ci/words.txt")
    if options.list:
        for name in options.list:
            for line, word, text in sorted(uses(name, (root / name).read_text(encoding="utf-8"), words)):
                print(f"{name}:{line}: {word}: {text}")
        return 0
    counts_file = root / "tests/words/counts.txt"
    allowed = read_counts(counts_file)
    found, places = collections.Counter(), collections.defaultdict(list)
    for name, path in files(root):
        for line, word, text in uses(name, path.read_text(encoding="utf-8", errors="replace"), words):
            found[name, word] += 1
            places[name, word].append((line, text))
    if options.accept:
        write_counts(counts_file, found)
        return 0
    if options.update:
        write_counts(counts_file, {key: min(found[key], n) for key, n in allowed.items()})
    refused = sorted(key for key, n in found.items() if n > allowed.get(key, 0))
    for name, word in refused:
        print(f"{name}: '{word}' {found[name, word]} times, {allowed.get((name, word), 0)} before; write {words[word][1]}")
        for line, text in places[name, word]:
            print(f"  {name}:{line}: {text}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
