#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""One table of whole runs and of OpenBLAS: medians of repeated runs, each row in a process of its own.

usage: table.py BENCHMARK [REGEX]     BENCHMARK is vinci_bench_run; only rows whose names match REGEX
"""

import json
import os
import platform
import re
import subprocess
import sys

LONG_ROWS = {"edge": 8192, "instructions": 10**8}  # from where two runs are enough: they take seconds


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        names = re.findall(r"^model name\s*: (.*)$", f.read(), re.MULTILINE)
    return names[0] if names else platform.machine()


def measure(binary, name, repetitions):
    """The median row of Google Benchmark, as a dictionary."""
    command = [binary, f"--benchmark_filter=^{re.escape(name)}$", "--benchmark_format=json",
               f"--benchmark_repetitions={repetitions}", "--benchmark_report_aggregates_only=true",
               "--benchmark_min_time=0"]
    # Threads that OpenBLAS starts for nothing turn round for a while and would count as time of the processors.
    threads = arguments(name)["threads"] if name.startswith("sgemm") else 1
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    rows = json.loads(done.stdout)["benchmarks"]
    return next(r for r in rows if r.get("aggregate_name") == "median")


def arguments(name):
    return {key: int(value) for key, value in re.findall(r"(\w+):(\d+)", name)}


def main():
    binary, wanted = sys.argv[1], re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    listed = subprocess.run([binary, "--benchmark_list_tests"], capture_output=True, text=True, check=True)
    names = [n for n in listed.stdout.split() if wanted.search(n)]
    names.sort(key=lambda n: not n.startswith("sgemm"))  # first what the others are compared with
    print(f"{processor()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(f"{'':44}{'ms':>10} {'cpu ms':>10} {'ns/insn':>8} {'/sgemm':>7} {'peak MiB':>9} {'data MiB':>9}")
    sgemm = {}  # by edge and threads
    for name in names:
        given = arguments(name)
        is_long = any(given.get(key, 0) >= least for key, least in LONG_ROWS.items())
        row = measure(binary, name, 2 if is_long else 9)
        time = row["real_time"]
        size = (given.get("edge"), given.get("threads", 1))
        if name.startswith("sgemm"):
            sgemm[size] = time
        instructions = row.get("instructions", 0)
        cells = [f"{name.removesuffix('/manual_time'):44}{time:10.2f}", f"{row['cpu_ms']:10.2f}",
                 f"{time * 1e6 / instructions:8.1f}" if instructions else " " * 8,
                 f"{time / sgemm[size]:7.2f}" if "gemm" in name and size in sgemm else " " * 7,
                 f"{row['peak_MiB']:9.0f}" if "peak_MiB" in row else " " * 9,
                 f"{row['data_MiB']:9.0f}" if row.get("data_MiB") else " " * 9, row.get("label", "")]
        print(" ".join(cells).rstrip(), flush=True)


if __name__ == "__main__":
    main()
