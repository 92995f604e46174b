#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""./dev freeze: times, counters, output bits and host instructions against those of the committed baseline."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import tools as tools_module
from baseline import Baseline
from cases import all_cases
from compare import compare, report
from tools import Failed, Tools
from values import Value, numbered

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIFFERENCES, USAGE = 1, 2


def options(arguments):
    parser = argparse.ArgumentParser(prog="./dev freeze", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the cases that take less than three minutes together")
    parser.add_argument("--only", metavar="REGEX", help="cases whose names match")
    parser.add_argument("--list", action="store_true", help="name the cases; nothing is run")
    parser.add_argument("--accept", metavar="REASON", help="renew the baseline and commit it with this reason")
    parser.add_argument("--no-host", action="store_true", help="count no host instructions")
    parser.add_argument("--keep", action="store_true", help="keep the outputs of all cases, not only of those that differ")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at a time (default: all processors)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build folder")
    parser.add_argument("--baseline", type=pathlib.Path, default=ROOT / "tests/freeze/baseline.tsv")
    o = parser.parse_args(arguments)
    if o.accept is not None and not o.accept.strip():
        parser.error("--accept needs a reason")
    if o.jobs < 1:
        parser.error("--jobs: at least 1")
    try:
        o.matches = re.compile(o.only or "").search
    except re.error as e:
        parser.error(f"--only: {e}")
    return o


# Running ------------------------------------------------------------------------------------------------------------


def measure(case, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    begin = time.monotonic()
    try:
        values = numbered(case.run(folder))
    except (Failed, OSError, ValueError, LookupError) as e:  # also an output that is missing or cannot be read
        values = [Value("failure", "-", " ".join(f"{type(e).__name__}: {e}".split()))]
    return values, time.monotonic() - begin


def run_cases(cases, folder, jobs):
    """Name -> values; says on stderr what has ended."""
    measured = {}
    cases = sorted(cases, key=lambda c: -c.seconds)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(measure, c, folder / c.name): c for c in cases}
        for future in concurrent.futures.as_completed(futures):
            case = futures[future]
            measured[case.name], seconds = future.result()
            print(f"[{len(measured)}/{len(cases)}] {case.name}  {seconds:.1f} s", file=sys.stderr, flush=True)
    return measured


def clean(folder, cases, differing):
    for case in cases:
        if case.name not in differing:
            shutil.rmtree(folder / case.name, ignore_errors=True)


# Accepting ----------------------------------------------------------------------------------------------------------


def git(root, *arguments):
    return subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True).stdout


def refuse_staged(path):
    root = git(path.parent, "rev-parse", "--show-toplevel").strip()
    staged = [f for f in git(root, "diff", "--cached", "--name-only").splitlines()
              if (pathlib.Path(root) / f).resolve() != path.resolve()]
    if staged:
        fail(f"other files are staged, such as {staged[0]}: the baseline is a commit of its own")
        raise SystemExit(USAGE)


def fail(message):
    print(f"error: {message}", file=sys.stderr)
    return USAGE


def accept(path, baseline, measured, comparison, chosen, environment, reason):
    """Takes over what was measured, and commits it. Host instructions within the limits stay: small steps add up."""
    renew_host = environment and (not tools_module.same_environment(environment, baseline.environment)
                                  or any(d.kind == "host" for d in comparison.differences))
    for name in [n for n in baseline.cases if chosen(n) and n not in measured]:
        del baseline.cases[name]
    for name, values in measured.items():
        old = {v.label: v for v in baseline.cases.get(name, []) if v.kind == "host"}
        baseline.cases[name] = [v if v.kind != "host" or renew_host else old.get(v.label, v) for v in values]
    if renew_host:
        baseline.environment = environment
    path.write_text(baseline.to_text())
    if not git(path.parent, "status", "--porcelain", "--", str(path)).strip():
        print("the baseline is as it was")
        return
    git(path.parent, "add", "--", str(path))
    count = len(comparison.differences)
    git(path.parent, "commit", "-q", "-m", f"freeze: accept {count} changed value{'s' * (count != 1)}", "-m", reason.strip(),
        "--", str(path))
    print(git(path.parent, "log", "-1", "--stat", "--format=%h %s"))


# --------------------------------------------------------------------------------------------------------------------


def counts_host(baseline, environment, o):
    """Whether host instructions are counted: they compare with those of the same valgrind and libraries alone."""
    if not environment or o.no_host:
        return False
    whole = o.accept is not None and not o.quick and not o.only  # renews all of them
    if whole or not baseline.environment or tools_module.same_environment(environment, baseline.environment):
        return True
    print(f"host instructions are not compared: counted with {baseline.environment}\n  here: {environment}")
    return False


def chooser(cases, o, with_host):
    """Tells whether a name of a case, or of one that only the baseline has, is to be run."""
    slow = {c.name for c in cases if not c.quick}

    def chosen(name):
        return bool(o.matches(name)) and not (o.quick and name in slow) and (with_host or not name.startswith("host."))

    return chosen


def main(arguments, cases_of=all_cases, environment_of=tools_module.counting_environment):
    o = options(arguments)
    o.baseline = o.baseline.resolve()
    if o.accept is not None:
        refuse_staged(o.baseline)
    tools = Tools(ROOT, o.build.resolve())
    if not tools.vinci.exists():
        return fail(f"{tools.vinci} is not built")
    baseline = Baseline.read(o.baseline)
    environment = environment_of(tools.vinci)
    with_host = counts_host(baseline, environment, o)
    cases = list(cases_of(tools))
    chosen = chooser(cases, o, with_host)
    cases = [c for c in cases if chosen(c.name)]
    if o.list:
        print("\n".join(c.name for c in cases))
        return 0
    if not cases:
        return fail(f"no case matches '{o.only}'")
    return check(cases, chosen, baseline, tools.build / "freeze", environment if with_host else "", o)


def check(cases, chosen, baseline, folder, environment, o):
    """Runs, compares, and accepts if asked to. `environment` is empty where host instructions do not count."""
    begin = time.monotonic()
    measured = run_cases(cases, folder, o.jobs)
    (folder / "measured.tsv").write_text(Baseline(measured, environment).to_text())
    comparison = compare(baseline, measured, chosen, with_host=bool(environment))
    differing = {d.case for d in comparison.differences}
    if not o.keep:
        clean(folder, cases, differing)
    print(report(comparison))
    print(f"{len(cases)} cases in {time.monotonic() - begin:.0f} s")
    if o.accept is None:
        if differing:
            print(f"the outputs of these cases are in {folder}, all values in {folder}/measured.tsv")
        return DIFFERENCES if differing else 0
    failed = [n for n, values in measured.items() if any(v.kind == "failure" for v in values)]
    if failed:
        print(f"not accepted: {', '.join(sorted(failed))} failed", file=sys.stderr)
        return DIFFERENCES
    accept(o.baseline, baseline, measured, comparison, chosen, environment, o.accept)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
