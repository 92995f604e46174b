#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""./dev nightly [STEP...]: the checks that take too long for each change.

Each step runs by itself and adds a row to docs/logs/nightly.md: date, commit, step, result. Its output goes to
build/nightly/STEP.log. The step `fuzz` also adds its executions to docs/logs/fuzzing.md, one row for each harness. The
exit code is 1 if a step failed, 2 on wrong arguments.
"""
import argparse
import datetime
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / "docs" / "logs"
JOBS = os.environ.get("JOBS") or str(os.cpu_count())
OPTIONS = {"ASAN_OPTIONS": "detect_stack_use_after_return=1", "UBSAN_OPTIONS": "print_stacktrace=1",
           "TSAN_OPTIONS": "halt_on_error=1"}

# Tests in which several threads work: the thread pool, runs on several threads, readers of global memory, the C API.
THREADED_TARGETS = "vinci_test_deferred vinci_test_speed vinci_test_global_memory vinci_test_capi"
THREADED_TESTS = r"^(deferred\.|speed\.Threads|global_memory\.|capi\.)"
# The bindings under memcheck; a test executable is run as a whole. Of misuse_test.py the tests of memory: a forked child
# never frees what its parent had, and those of signals and threads wait for simulations, which take minutes there.
MEMCHECK = ("valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite "
            "--errors-for-leak-kinds=definite "
            "--suppressions=tests/python/valgrind.supp")


class Step:
    """A step: what it is for, the shell commands that make it up, and the preset whose tests it counts."""

    def __init__(self, doc, *commands):
        self.doc = doc
        self.commands = commands


def preset(name, targets="", tests=""):
    """Configure, build and test one preset."""
    chosen = f"--target {targets}" if targets else ""
    only = f"-R {shlex.quote(tests)}" if tests else ""
    return (f"cmake --preset {name} -DVINCI_TESTS=ON", f"cmake --build build/{name} -j {JOBS} {chosen}",
            f"ctest --test-dir build/{name} -j {JOBS} --output-on-failure --no-tests=error {only}")


STEPS = {
    "clang": Step("the complete test suite, built with clang", *preset("ci-clang")),
    "asan": Step("the complete test suite under AddressSanitizer and UndefinedBehaviorSanitizer", "./dev asan"),
    "tsan": Step("the tests that have threads under ThreadSanitizer", *preset("tsan", THREADED_TARGETS, THREADED_TESTS)),
    "memcheck": Step(
        "the C and the Python interface and the virtual platform under valgrind's memcheck",
        "cmake --preset release -DVINCI_TESTS=ON -DVINCI_PYTHON=ON",
        f"cmake --build build/release -j {JOBS} --target vinci_test_capi vinci_python vinci "
        "vinci_test_platform vinci_test_sc_main",
        f"{MEMCHECK} build/release/tests/capi/vinci_test_capi",
        # Values on the stacks that SystemC switches are unknown to valgrind.
        *(f"{MEMCHECK} --undef-value-errors=no build/release/tests/platform/vinci_test_{test}"
          for test in ("platform", "sc_main")),
        *(f"env PYTHONMALLOC=malloc PYTHONPATH=build/release/tools/python {MEMCHECK} /usr/bin/python3 tests/python/{call}"
          for call in ("module_test.py build/release/tools/vinci/vinci", "misuse_test.py Lifetimes Values", "random_calls.py 20"))),
    "numerics": Step(
        "a million random instances for the census, 1000 planted events, mutants of all kernels in Ascend C, what a census "
        "and a shadow cost",
        "cmake --preset release -DVINCI_TESTS=ON",
        f"cmake --build build/release -j {JOBS} --target vinci vinci_test_census vinci_kernel_mutants",
        "env VINCI_INSTANCES=1000000 build/release/tests/unit/isa/vinci_test_census --gtest_filter=CensusModel.*",
        "/usr/bin/python3 tests/system/planted_origins.py build/release/tools/vinci/vinci --programs 1000",
        "/usr/bin/python3 tests/check/kernels/kernel_mutants.py build/release/tools/vinci/vinci "
        "build/release/tests/check/vinci_kernel_mutants tests/ascendc/kernels --each 2 --least 500",
        "/usr/bin/python3 tests/speed/numerics_cost.py build/release/tools/vinci/vinci"),
    "slurm": Step(
        "a sweep on a cluster of one node, with a real slurmctld and slurmd (root)",
        "cmake --preset release -DVINCI_TESTS=ON",
        f"cmake --build build/release -j {JOBS} --target vinci",
        "/usr/bin/python3 tests/system/slurm.py build/release/tools/vinci/vinci"),
    "mutations": Step(
        "rules of the units of a core, broken one at a time: each time a unit test fails",
        "cmake --preset release -DVINCI_TESTS=ON",
        f"cmake --build build/release -j {JOBS} --target vinci_test_core_units",
        "tools/ci/mutations.py"),
    "coverage": Step("line and branch coverage of the tests", "./dev coverage"),
    "tidy": Step("clang-tidy over all sources", "./dev tidy"),
    "freeze": Step("times, counters and bits against the committed values, all cases", "./dev freeze"),
    "fuzz": Step("every fuzz harness, one after the other, for --minutes each"),
}


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout.strip()


def commit():
    """The commit that is checked; a `+` says that the work tree differs from it outside docs/logs."""
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/logs")
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")


def minutes_of(seconds):
    return f"{seconds / 60:.1f} min"


def run(command, log):
    """Runs a command in the root of the repository, its output into `log`; returns the exit code."""
    log.write(f"$ {command}\n")
    log.flush()
    code = subprocess.run(shlex.split(command), cwd=ROOT, stdout=log, stderr=subprocess.STDOUT,
                          env={**os.environ, **OPTIONS}).returncode
    log.write(f"exit code {code}\n")
    log.flush()
    return code


def summary(text):
    """What a log says of its tests: the last line of ctest, or of coverage the line of each folder is left to the log."""
    found = re.findall(r"(\d+)% tests passed, (\d+) tests failed out of (\d+)", text)
    if found:
        _, failed, total = found[-1]
        return f"{int(total) - int(failed)} of {total} tests pass"
    mutations = re.findall(r"^\d+ mutations, \d+ survived$", text, re.MULTILINE)
    if mutations:
        return mutations[-1]
    lines = re.findall(r"^(isa|sim|models|tools)\s+lines\s+([\d.]+%)", text, re.MULTILINE)
    return "lines " + ", ".join(f"{folder} {share}" for folder, share in lines) if lines else ""


def add_row(file, row):
    """Appends a row to the table at the end of a document."""
    with open(LOGS / file, "a", encoding="utf-8") as out:
        out.write("| " + " | ".join(row) + " |\n")


def report(name, ok, what, seconds):
    today = datetime.date.today().isoformat()
    add_row("nightly.md", [today, commit(), name, "clean" if ok else "FAILED", what, minutes_of(seconds)])
    print(f"{name}: {'clean' if ok else 'FAILED'}{', ' + what if what else ''} ({minutes_of(seconds)})", flush=True)


def run_step(name, folder):
    start = time.monotonic()
    path = folder / f"{name}.log"
    with open(path, "w", encoding="utf-8") as log:
        code = next((c for c in (run(command, log) for command in STEPS[name].commands) if c != 0), 0)
    report(name, code == 0, summary(path.read_text(encoding="utf-8", errors="replace")), time.monotonic() - start)
    return code == 0


def ledger():
    """Rows of docs/logs/fuzzing.md by harness: executions, seconds of CPU, findings."""
    rows = {}
    for line in (LOGS / "fuzzing.md").read_text(encoding="utf-8").splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if len(cells) == 5 and cells[1].replace(",", "").isdigit():
            rows[cells[0]] = [int(cells[1].replace(",", "")), float(cells[2]), int(cells[3]), cells[4]]
    return rows


def write_ledger(rows):
    text = (LOGS / "fuzzing.md").read_text(encoding="utf-8")
    head = text[:text.index("|---")] + "|---|---|---|---|---|\n"
    body = "".join(f"| {name} | {runs:,} | {hours:.2f} | {found} | {last} |\n"
                   for name, (runs, hours, found, last) in sorted(rows.items()))
    (LOGS / "fuzzing.md").write_text(head + body, encoding="utf-8")


def cpu_seconds():
    """CPU time of the processes that have run so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fuzz_one(binary, seconds, folder):
    """Runs a harness; returns its executions, its seconds and whether it found something."""
    name = binary.name.removeprefix("vinci_fuzz_")
    corpus = binary.parent / f"corpus_{name}"
    corpus.mkdir(exist_ok=True)
    artifacts = folder / f"fuzz-{name}-"
    path = folder / f"fuzz-{name}.log"
    with open(path, "w", encoding="utf-8") as log:
        code = run(f"{binary} -max_total_time={seconds} -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 "
                   f"-artifact_prefix={artifacts} {corpus} tests/fuzz/corpus/{name}", log)
    text = path.read_text(encoding="utf-8", errors="replace")
    runs = re.findall(r"stat::number_of_executed_units:\s+(\d+)", text)
    return int(runs[-1]) if runs else 0, code != 0


def run_fuzz(minutes, folder):
    start = time.monotonic()
    with open(folder / "fuzz.log", "w", encoding="utf-8") as log:
        built = all(run(command, log) == 0
                    for command in ("cmake --preset fuzz", f"cmake --build build/fuzz -j {JOBS} --target fuzzers"))
    binaries = sorted(p for p in (ROOT / "build/fuzz/tests/fuzz").glob("vinci_fuzz_*") if p.is_file()) if built else []
    rows, found, total = ledger(), 0, 0
    for binary in binaries:
        began = cpu_seconds()
        runs, bad = fuzz_one(binary, round(minutes * 60), folder)
        name = binary.name.removeprefix("vinci_fuzz_")
        row = rows.get(name, [0, 0.0, 0, ""])
        hours = (cpu_seconds() - began) / 3600
        rows[name] = [row[0] + runs, row[1] + hours, row[2] + bad, f"{datetime.date.today().isoformat()}, {commit()}"]
        write_ledger(rows)
        found += bad
        total += runs
        print(f"fuzz {name}: {runs:,} executions, {'a finding' if bad else 'no finding'}", flush=True)
    report("fuzz", bool(binaries) and found == 0, f"{len(binaries)} harnesses, {total:,} executions, {found} findings",
           time.monotonic() - start)
    return bool(binaries) and found == 0


def arguments():
    steps = "\n".join(f"  {name:10}{step.doc}" for name, step in STEPS.items())
    parser = argparse.ArgumentParser(prog="./dev nightly", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description=__doc__, epilog=f"steps, in this order if none is named:\n{steps}")
    parser.add_argument("step", nargs="*", metavar="STEP", help="the steps to run; all of them if none is named")
    parser.add_argument("--minutes", type=float, default=60, help="of fuzzing, for each harness (60)")
    chosen = parser.parse_args()
    for name in chosen.step:
        if name not in STEPS:
            parser.error(f"there is no step '{name}'; the steps are {', '.join(STEPS)}")
    if not 0 < chosen.minutes <= 24 * 60:
        parser.error("--minutes is from 0 to 1440")
    return chosen


def main():
    chosen = arguments()
    folder = ROOT / "build" / "nightly"
    folder.mkdir(parents=True, exist_ok=True)
    results = [run_fuzz(chosen.minutes, folder) if name == "fuzz" else run_step(name, folder)
               for name in chosen.step or STEPS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
