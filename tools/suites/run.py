#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Run the cases of a suite against a checkout of its sources, and print what compiled, ran and was verified."""

import argparse
import collections
import concurrent.futures
import dataclasses
import datetime
import hashlib
import importlib.util
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import execute  # noqa: E402
import tables  # noqa: E402
from suite import Case  # noqa: E402

NOT_RIGHT, USAGE, INTERRUPTED = 1, 2, 130


class Wrong(Exception):
    """An argument or a file that cannot be used."""


@dataclasses.dataclass
class Tools:
    """The programs that cases use."""

    vinci: pathlib.Path
    prefix: pathlib.Path  # what CMake finds the package ASC in
    python: pathlib.Path
    version: str
    files: list  # what programs are compiled and linked with: the tool, its library, its headers
    identity: str

    def changed(self):
        """Whether these files are others than at the start of the run."""
        return stamps(self.files) != self.start

    def __post_init__(self):
        self.start = stamps(self.files)


def stamps(paths):
    found = {}
    for root in paths:
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            try:
                stat = path.stat()
                found[path] = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
            except OSError:
                found[path] = None  # it is being replaced
    return found


# Arguments ----------------------------------------------------------------------------------------------------------


def options(arguments):
    parser = argparse.ArgumentParser(
        prog="run.py", description=__doc__,
        epilog="Exit code 0: every case is right, unchecked or skipped (with --against: none has become worse); "
               "1: not; 2: wrong arguments; 130: interrupted. docs/suites.md describes suites and states.")
    parser.add_argument("suite", help="a suite file, or the name of one in tools/suites")
    parser.add_argument("checkout", type=pathlib.Path, help="the folder with the sources of the suite")
    parser.add_argument("--only", metavar="REGEX", help="cases whose names match")
    parser.add_argument("--sample", type=int, metavar="N", help="N cases at random, of those that are not skipped")
    parser.add_argument("--seed", type=int, help="of the sample (default: a new one, which is printed)")
    parser.add_argument("--list", action="store_true", help="name the cases, run nothing")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="cases at a time (default: 1)")
    parser.add_argument("--build-jobs", type=int, default=1, metavar="N", help="{jobs} of a case's build (default: 1)")
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help="seconds of a command (default: 600)")
    parser.add_argument("--vinci", type=pathlib.Path, metavar="PATH",
                        help="an installation, a build folder or the tool (default: the build of these sources)")
    parser.add_argument("--python", type=pathlib.Path, default=pathlib.Path(sys.executable), metavar="PATH",
                        help="the Python of the suite's scripts, such as that of a venv (default: this one)")
    parser.add_argument("--mode", choices=("timing", "functional", "full"), default="",
                        help="VINCI_MODE of the programs (default: theirs)")
    parser.add_argument("--work", type=pathlib.Path, metavar="FOLDER",
                        help="for builds, logs and results (default: suites/NAME in the current folder)")
    parser.add_argument("--fresh", action="store_true", help="use no kept results")
    parser.add_argument("--keep", action="store_true", help="keep the folders of right cases, too")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="all results")
    parser.add_argument("--junit", type=pathlib.Path, metavar="FILE", help="results for a CI server")
    parser.add_argument("--against", type=pathlib.Path, metavar="FILE", help="compare with an earlier --json")
    o = parser.parse_args(arguments)
    for name in ("jobs", "build_jobs", "sample"):
        if (value := getattr(o, name)) is not None and value < 1:
            parser.error(f"--{name.replace('_', '-')}: at least 1")
    if not o.timeout > 0:
        parser.error("--timeout: more than 0 seconds")
    if o.seed is not None and o.sample is None:
        parser.error("--seed belongs to --sample")
    try:
        o.matches = re.compile(o.only or "").search
    except re.error as e:
        parser.error(f"--only: {e}")
    return o


def suite_path(name):
    path = pathlib.Path(name)
    if path.suffix == ".py":
        return path
    known = sorted(p.stem.removesuffix("_suite") for p in HERE.glob("*_suite.py"))
    if name not in known:
        raise Wrong(f"no suite '{name}': give the path of a suite file (*.py), or one of: {', '.join(known)}")
    return HERE / f"{name}_suite.py"


def load_cases(path, checkout):
    """The cases of a suite file: what its function cases(checkout) yields."""
    if not path.is_file():
        raise Wrong(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(f"suite_file_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
        if not callable(getattr(module, "cases", None)):
            raise Wrong(f"{path}: there is no function cases(checkout)")
        cases = list(module.cases(checkout))
    except Wrong:
        raise
    except Exception as e:  # the file is the user's
        raise Wrong(f"{path}: {type(e).__name__}: {e}") from e
    finally:
        sys.path.pop(0)
    for case in cases:
        if not isinstance(case, Case):
            raise Wrong(f"{path}: cases() yields a {type(case).__name__}, not a Case of suite.py")
    twice = [name for name, count in collections.Counter(case.name for case in cases).items() if count > 1]
    if twice:
        raise Wrong(f"{path}: two cases are called {twice[0]}")
    if not cases:
        raise Wrong(f"{checkout}: {path.name} finds no case there")
    return cases


def find_tools(vinci, python):
    """The tool and its prefix, from the tool itself, from an installation or from a build folder."""
    if vinci is None:
        builds = HERE.parents[1] / "build"
        places = [builds / "release", *sorted(builds.glob("*"))]
        vinci = next((place for place in places if (place / "tools/vinci/vinci").is_file()), None)
        if vinci is None:
            found = shutil.which("vinci")
            if not found:
                raise Wrong(f"no vinci in {builds} or on PATH: build it, or name an installation with --vinci")
            vinci = pathlib.Path(found)
    candidates = [(vinci / "bin/vinci", vinci), (vinci / "tools/vinci/vinci", vinci)]
    if vinci.is_file():
        real = vinci.resolve()
        candidates = [(real, real.parents[2] if real.parts[-3:-1] == ("tools", "vinci") else real.parents[1])]
    for tool, prefix in candidates:
        if tool.is_file() and os.access(tool, os.X_OK):
            break
    else:
        raise Wrong(f"--vinci {vinci}: there is neither bin/vinci nor tools/vinci/vinci")
    # A link stays a link: the Python of a venv knows its packages by the name that it is called by.
    found = shutil.which(str(python))
    if not found:
        raise Wrong(f"--python {python}: no such program")
    tool, prefix = tool.resolve(), prefix.resolve()
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout.strip().splitlines()
    if not version:
        raise Wrong(f"--vinci {vinci}: `{tool} --version` says nothing")
    files = files_of(tool, prefix)
    return Tools(tool, prefix, pathlib.Path(found).absolute(), version[0], files, execute.digest_of(files))


def files_of(tool, prefix):
    """What compiled programs depend on: the tool, its library and its headers, as the package ASC names them."""
    paths = next(iter(sorted(prefix.glob("lib*/cmake/ASC/ASCPaths.cmake"))), None)
    if not paths:
        return [tool]
    said = dict(re.findall(r'set\((\w+) "([^"]*)"\)', paths.read_text()))
    named = (said.get(name, "").replace("${ASC_PREFIX}", str(prefix)) for name in ("ASC_LIBRARY", "ASC_INCLUDE_DIR"))
    return [tool, *(pathlib.Path(name) for name in named if name)]


def git(checkout, *arguments):
    try:
        done = subprocess.run(["git", "-C", str(checkout), *arguments], capture_output=True, text=True,
                              errors="replace")
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def describe_checkout(checkout):
    """The commit, and what is changed against it as a digest."""
    commit = git(checkout, "rev-parse", "HEAD")
    changes = git(checkout, "diff", "HEAD", "--binary") if commit else ""
    return {"commit": commit, "modified": hashlib.sha256(changes.encode()).hexdigest() if changes else ""}


def choose(cases, o):
    """The cases that the options select, and the seed of the sample."""
    chosen = [case for case in cases if o.matches(case.name)]
    if not chosen:
        raise Wrong(f"--only {o.only}: none of {len(cases)} cases matches")
    seed = None
    if o.sample is not None:
        seed = o.seed if o.seed is not None else random.SystemRandom().randrange(1 << 31)
        runnable = sorted((case for case in chosen if not case.skip), key=lambda case: case.name)
        names = {case.name for case in random.Random(seed).sample(runnable, min(o.sample, len(runnable)))}
        chosen = [case for case in chosen if case.name in names]
    return chosen, seed


# Running ------------------------------------------------------------------------------------------------------------


def kept_path(work, case):
    return work / "results" / f"{case.folder()}.json"


def kept_result(work, case, key):
    """The result of an earlier run of the same case with the same sources, tool and options."""
    try:
        kept = json.loads(kept_path(work, case).read_text())
        return kept["result"] if kept["key"] == key else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def keep_result(work, case, key, result):
    path = kept_path(work, case)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps({"key": key, "result": result}))
    part.replace(path)


def run_cases(runner, cases, o):
    """Results by name; fewer than cases if the user has interrupted."""
    results, lock = {}, threading.Lock()

    def finish(case, result, kept):
        with lock:
            results[case.name] = result
            times = "".join(f"  {phase} {t['wall']:.1f} s" for phase, t in result["phases"].items()
                            if phase in ("compile", "run"))
            said = f"  {result['reason']}" if result["reason"] else ""
            count = f"[{len(results)}/{len(cases)}]"
            print(f"{count} {result['state']}: {case.name}{times}{' (kept)' if kept else ''}{said}", file=sys.stderr,
                  flush=True)

    def work(case):
        if runner.processes.stopped:
            return
        key = runner.key(case)
        result = None if o.fresh else kept_result(o.work, case, key)
        kept = result is not None
        if not kept:
            try:
                result = runner.run(case)
            except execute.Stopped:
                return
            if runner.tools.changed():
                stop()
                return
            keep_result(o.work, case, key, result)
        finish(case, result, kept)

    def stop(*_):
        runner.processes.stopped = True  # the lock may be held by this thread
        threading.Thread(target=runner.processes.stop).start()

    handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            for future in [pool.submit(work, case) for case in cases]:
                future.result()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return results


def compare(report, earlier):
    """Names of cases that were right or unchecked and are not any more, and the reverse."""
    good = ("right", "unchecked")
    before = {r["name"]: r["state"] for r in earlier["cases"]}
    both = [r for r in report["cases"] if r["name"] in before]
    worse = [r["name"] for r in both if before[r["name"]] in good and r["state"] not in good]
    better = [r["name"] for r in both if before[r["name"]] not in good and r["state"] in good]
    return worse, better


def load_report(path):
    try:
        report = json.loads(path.read_text())
    except (OSError, ValueError) as e:
        raise Wrong(f"{path}: {e}") from None
    if not isinstance(report, dict) or report.get("format") != tables.FORMAT:
        raise Wrong(f"{path}: no results of run.py --json ({tables.FORMAT})")
    return report


def write(path, text):
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except OSError as e:
        raise Wrong(f"{path}: {e.strerror}") from None


def main(arguments):
    o = options(arguments)
    try:
        path = suite_path(o.suite)
        o.checkout = o.checkout.resolve()
        if not o.checkout.is_dir():
            raise Wrong(f"{o.checkout}: no such folder: a checkout of the suite's sources belongs there")
        name = path.stem.removesuffix("_suite")
        o.work = (o.work or pathlib.Path("suites") / name).resolve()
        cases = load_cases(path, o.checkout)
        chosen, seed = choose(cases, o)
        if o.list:
            for case in chosen:
                print(f"{case.name}  {case.category}" + (f"  skipped: {case.skip}" if case.skip else ""))
            return 0
        earlier = load_report(o.against) if o.against else None
        tools, checkout = find_tools(o.vinci, o.python), describe_checkout(o.checkout)
        for folder in ("results", "logs", "cases"):
            try:
                (o.work / folder).mkdir(parents=True, exist_ok=True)
            except OSError as e:
                raise Wrong(f"--work {o.work}: {e.strerror}") from None
        if seed is not None:
            print(f"{len(chosen)} cases at random: --sample {o.sample} --seed {seed}", file=sys.stderr)
        runner = execute.Runner(o.work, tools, o.checkout, checkout["commit"] + checkout["modified"],
                                o.build_jobs, o.timeout, o.mode, o.keep)
        begin = time.monotonic()
        results = run_cases(runner, chosen, o)
        report = {"format": tables.FORMAT, "suite": name, "checkout": checkout,
                  "vinci": {"version": tools.version, "digest": tools.identity},
                  "date": datetime.date.today().isoformat(), "mode": o.mode, "jobs": o.jobs, "timeout": o.timeout,
                  "wall": round(time.monotonic() - begin, 1),
                  "chosen": {"all": len(cases), "cases": len(chosen), "only": o.only or "", "sample": o.sample or 0,
                             "seed": seed},
                  "complete": len(results) == len(chosen),
                  "cases": [results[case.name] for case in chosen if case.name in results]}
        if o.json:
            write(o.json, json.dumps(report, indent=1) + "\n")
        if o.junit:
            write(o.junit, tables.junit(report) + "\n")
        print(tables.render(report, tables.text_table), end="")
        worse = []
        if earlier:
            worse, better = compare(report, earlier)
            print(f"\nAgainst {o.against}: {len(worse)} worse, {len(better)} better")
            print("".join(f"  worse: {n}\n" for n in worse) + "".join(f"  better: {n}\n" for n in better), end="")
    except Wrong as e:
        print(f"run.py: {e}", file=sys.stderr)
        return USAGE
    if not report["complete"]:
        if tools.changed():
            print(f"run.py: {tools.vinci}, its library or its headers have changed during the run, which has ended "
                  "therefore: results of two builds do not belong into one table", file=sys.stderr)
            return USAGE
        print(f"run.py: interrupted; the same command goes on with the results in {o.work}", file=sys.stderr)
        return INTERRUPTED
    if earlier:
        return NOT_RIGHT if worse else 0
    return 0 if all(r["state"] in ("right", "unchecked", "skipped") for r in report["cases"]) else NOT_RIGHT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
