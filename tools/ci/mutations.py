#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Break one rule of a unit at a time, and show that the test which holds it fails.

    tools/ci/mutations.py [--build build/release] [--only REGEX]   # builds, runs; 1 where a mutation is not found out
    tools/ci/mutations.py --check                                  # only whether the list fits the sources

The list is tests/unit/models/core/mutations.yaml: the rule in words, the file, the text of the source (`old`, which
must occur once), what replaces it (`new`), and the test (a gtest filter) that must fail. `old` and `new` are
statements when they end with `;`, else expressions of one type.

All mutations are built at once, into a copy of the sources: each chooses between old and new text by the environment
variable VINCI_MUTANT. Without it all tests must pass; with a number, its test must fail. A test that hangs has failed.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path("tests/unit/models/core")
TARGET = "vinci_test_core_units"
SECONDS = 20  # of a test that hangs
HOOK = """\
#pragma once
#include <cstdlib>
inline bool vinci_mutant(int number) {
  static const int chosen = std::getenv("VINCI_MUTANT") != nullptr ? std::atoi(std::getenv("VINCI_MUTANT")) : 0;
  return number == chosen;
}
"""


def read_list():
    mutations = yaml.safe_load((ROOT / FOLDER / "mutations.yaml").read_text(encoding="utf-8"))
    for number, m in enumerate(mutations, 1):
        m["number"] = number
    return mutations


def problems(mutations):
    """What is wrong with the list: texts that are not there once or are no expression, missing tests, overlaps."""
    tests = "".join(p.read_text(encoding="utf-8") for p in sorted((ROOT / FOLDER).glob("*_test.cpp")))
    known = {f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_F)?\((\w+), (\w+)\)", tests, re.MULTILINE)}
    spans = {}
    for m in mutations:
        text = (ROOT / m["file"]).read_text(encoding="utf-8")
        times = text.count(m["old"])
        if times != 1:
            yield f"{m['number']} ({m['rule']}): {times} times in {m['file']}: {m['old']}"
            continue
        if not m["old"].rstrip().endswith(";"):
            for expression in (m["old"], m["new"]):
                if expression.startswith("return ") or expression.count("(") != expression.count(")"):
                    yield f"{m['number']} ({m['rule']}): neither an expression nor a statement: {expression}"
        if m["test"] not in known:
            yield f"{m['number']} ({m['rule']}): there is no test {m['test']}"
        begin = text.index(m["old"])
        for other, (first, last) in spans.setdefault(m["file"], {}).items():
            if begin < last and first < begin + len(m["old"]):
                yield f"{m['number']} and {other} change the same text of {m['file']}"
        spans[m["file"]][m["number"]] = (begin, begin + len(m["old"]))


def mutated(m):
    if m["old"].rstrip().endswith(";"):
        return f"if (::vinci_mutant({m['number']})) {{ {m.get('new') or ''} }} else {{ {m['old']} }}"
    return f"(::vinci_mutant({m['number']}) ? ({m['new']}) : ({m['old']}))"


def put(path, text):
    """Writes a file unless it has this text already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def write_sources(mutations, folder):
    """The sources with all mutations."""
    put(folder / "mutant.h", HOOK)
    for path in sorted((ROOT / "models").rglob("*.[ch]*")):
        name = str(path.relative_to(ROOT))
        text = path.read_text(encoding="utf-8")
        for m in (m for m in mutations if m["file"] == name):
            text = text.replace(m["old"], mutated(m))
        put(folder / name, text)


def is_new(out, path, folder):
    """Whether an object is newer than its source and all headers that may be mutated or are of the tests."""
    others = [*folder.rglob("*.h"), *(ROOT / FOLDER).glob("*.h"), path]
    return out.exists() and out.stat().st_mtime > max(p.stat().st_mtime for p in others)


def compile_all(mutations, build, folder):
    """Compiles the mutated sources and the tests on the command lines of the build, and links both with its libraries."""
    commands = {str(pathlib.Path(c["file"]).relative_to(ROOT)): c
                for c in json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
                if pathlib.Path(c["file"]).is_relative_to(ROOT)}
    tests = [str(p.relative_to(ROOT)) for p in sorted((ROOT / FOLDER).glob("*_test.cpp"))]
    of_tests = shlex.split(commands[tests[0]]["command"])
    includes = [w for w in of_tests if w.startswith("-I") or w.startswith("-D")]
    jobs = []
    sources = sorted({m["file"] for m in mutations if m["file"].endswith(".cpp")})
    for source in tests + sources:
        path = ROOT / source if source in tests else folder / source
        out = folder / (source.replace("/", "_") + ".o")
        # The folder of mutated headers comes first and hides the others.
        jobs.append((out, path, ["c++", "-std=c++20", "-O0", "-fPIC", "-ffp-contract=off", "-I", str(folder), "-include",
                                 str(folder / "mutant.h"), *includes, "-c", str(path), "-o", str(out)]))
    running = []
    width = int(os.environ.get("JOBS") or os.cpu_count())
    for out, path, command in jobs:
        if is_new(out, path, folder):
            continue
        running.append(subprocess.Popen(command))
        if len(running) >= width and running.pop(0).wait() != 0:
            sys.exit(f"error: {out.name} does not compile")
    if any(p.wait() != 0 for p in running):
        sys.exit("error: a mutated source does not compile")
    last = subprocess.run(["ninja", "-C", str(build), "-t", "commands", TARGET], capture_output=True, text=True,
                          check=True).stdout.strip().splitlines()[-1]
    link = next(part for part in last.split(" && ") if "-o " in part)
    words = [w for w in shlex.split(link) if not w.endswith("_test.cpp.o")]
    binary = folder / "mutants"
    words[words.index("-o") + 1] = str(binary)
    # The mutated objects come first, and their functions win over those of the libraries.
    at = next(i for i, w in enumerate(words) if w.endswith(".a"))
    words[at:at] = [str(out) for out, _, _ in jobs] + ["-Wl,--allow-multiple-definition"]
    subprocess.run(words, cwd=build, check=True)
    return binary


def passes(binary, number, test):
    try:
        return subprocess.run([binary, f"--gtest_filter={test}", "--gtest_brief=1"], capture_output=True, timeout=SECONDS,
                              env={**os.environ, "VINCI_MUTANT": str(number)}).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--only", default="", help="rules by a regular expression")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    mutations = read_list()
    wrong = list(problems(mutations))
    if wrong:
        sys.exit("error: " + "\n       ".join(wrong))
    if args.check:
        print(f"{len(mutations)} mutations fit the sources")
        return
    folder = ROOT / "build/mutations"
    write_sources(mutations, folder)
    binary = compile_all(mutations, args.build.resolve(), folder)
    if not passes(binary, 0, "*"):
        sys.exit("error: the tests fail without a mutation")
    survived = 0
    for m in mutations:
        if not re.search(args.only, m["rule"]):
            continue
        found = not passes(binary, m["number"], m["test"])
        survived += not found
        print(f"{'found out' if found else 'SURVIVED '}  {m['rule']}  ({m['test']})", flush=True)
    print(f"{len(mutations)} mutations, {survived} survived")
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()
