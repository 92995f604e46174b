# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""What is frozen: a list of cases, each a function from a scratch folder to values."""

import csv
import hashlib
import re
from typing import Callable, NamedTuple

import host_cases
from tools import Failed
from values import Value, csv_value, digest, file_value, json_value, number, stats_values, text_values


class Case(NamedTuple):
    name: str
    run: Callable  # (folder) -> values
    quick: bool = True  # part of --quick
    seconds: float = 1.0  # of CPU, roughly: long cases begin first


def all_cases(tools):
    return [*validate_cases(tools), *study_cases(tools), *system_cases(tools), *gemm_cases(tools), *stream_cases(tools),
            *ascendc_cases(tools), *(Case(*c) for c in host_cases.host_cases(tools))]


# vinci validate: every value ---------------------------------------------------------------------------------------

SLOW_FILES = {"attention": 14, "kernels": 13, "matmul": 26}  # seconds
FEW = ["catlass-1-balanced", "catlass-basic-2048", "add-8192-case3-16512", "cube-to-vector", "flash-attention-1024",
       "jit-arm-128", "910-allreduce", "copy-l2"]  # of the slow files, in --quick as well


def validate_cases(tools):
    for file in tools.silicon_files():
        slow = SLOW_FILES.get(file.stem)
        yield Case(f"validate.{file.stem}", lambda folder, f=file: validate(tools, folder, f), slow is None, slow or 3)
    for only in FEW:
        yield Case(f"validate.only.{only}", lambda folder, o=only: validate(tools, folder, "--only", o))


def validate(tools, folder, *arguments):
    tools.tool(folder, "validate", *arguments, "--jobs", 1, "--csv", "values.csv", codes=(0, 1))
    with (folder / "values.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    if len(rows) < 2:
        raise Failed("no value")
    return [Value("time", f"{point}: {metric}", number(simulated) if simulated else "none")
            for _, point, metric, _, _, simulated, _, _ in rows[1:]]


# Studies ------------------------------------------------------------------------------------------------------------

UNSUPPORTED = 4  # exit code of the tool
MOST_CYCLES = 10**15  # training steps take minutes of simulated time
SLOW_STUDIES = {"S04": 10, "S09": 10}


def study_cases(tools):
    listed = tools.tool(tools.build, "study").stdout
    for study in re.findall(r"^(S\d+) ", listed, re.MULTILINE):
        slow = SLOW_STUDIES.get(study)
        yield Case(f"study.{study}", lambda folder, s=study: run_study(tools, folder, s), slow is None, slow or 2)


def run_study(tools, folder, study):
    """The figures of the report, the bits of all arrays, and of each task stream the time and the counters."""
    report = tools.tool(folder, "study", study, "-o", "out", codes=(0, 1)).stdout  # 1: a criterion does not hold
    chip = re.search(r"^on (\S+)", report, re.MULTILINE)
    if not chip:
        raise Failed("the report names no chip")
    values = text_values("time", report[chip.end():].partition("\n")[2])
    for file in sorted((folder / "out").rglob("*.npy")):
        values.append(file_value(file, str(file.relative_to(folder / "out"))))
    for file in sorted((folder / "out").rglob("*.yaml")):
        name = file.parent.name + "." + file.stem
        other = file.parent / "chip.txt"  # of a variant that runs on another chip than the study
        timed_run(tools, folder, file, other.read_text().strip() if other.exists() else chip.group(1), name)
        values += stats_values(folder / name / "stats.json", f"{name} ")
    return values


def timed_run(tools, folder, stream, chip, out):
    """In mode timing; in mode full where the program needs data for its control flow, which mode timing refuses."""
    for mode, codes in (("timing", (0, UNSUPPORTED)), ("full", (0,))):
        if tools.tool(folder, "run", stream, "--chip", chip, "--mode", mode, "--profile=off", "-q", "--out", out,
                      "--max-cycles", MOST_CYCLES, codes=codes).returncode == 0:
            return


# System tests: every run of the test programs -----------------------------------------------------------------------


def system_cases(tools):
    for name, seconds in (("gemm", 20), ("stream", 5)):
        yield Case(f"system.{name}", lambda folder, n=name: system_test(tools, folder, n), name == "stream", seconds)


def system_test(tools, folder, name):
    tools.run(folder, tools.system_test(name), "--gtest_brief=1", env={"VINCI_FREEZE_FOLDER": str(folder / "runs")})
    values = []
    for run in sorted((folder / "runs").iterdir()):
        values += stats_values(run / "stats.json", f"{run.name} ")
        values.append(bits_of(run.glob("*.bin"), f"{run.name} host buffers"))
    return values


def bits_of(files, label):
    files = sorted(files)
    each = "".join(hashlib.sha256(f.read_bytes()).hexdigest() for f in files)
    return Value("bits", label, f"{len(files)} files {digest(each.encode())}")


# Runs of the tool with all its outputs ------------------------------------------------------------------------------

GEMMS = [  # chip, m, n, k, more options of the generator
    ("ascend-910b1", 300, 200, 700, "--out-type f16"),
    ("ascend-910a", 130, 47, 260, "--out-type f32"),
    ("ascend-310p3", 90, 333, 77, "--double-buffer off"),
    ("ascend-310", 33, 65, 129, ""),
    ("ascend-910b4", 64, 512, 192, ""),
    ("tiny", 65, 130, 200, ""),
    ("tiny-joint", 200, 150, 170, "--out-type f32"),
]
GENERATED = ["db-log1p", "db-loss-scale", "db-maxpoolgrad"]


def gemm_cases(tools):
    for chip, m, n, k, options in GEMMS:
        generate = ["gen", "gemm", "--chip", chip, "--m", m, "--n", n, "--k", k, *options.split()]
        yield Case(f"gemm.{chip}.{m}x{n}x{k}", lambda folder, g=generate, c=chip: generated(tools, folder, g, c))
    for name in GENERATED:
        yield Case(f"gen.{name}", lambda folder, n=name: generated(tools, folder, ["gen", n], None))


def generated(tools, folder, generate, chip):
    tools.tool(folder, *generate, "-o", "in")
    streams = sorted((folder / "in").glob("*.yaml"))
    if not streams:
        raise Failed("no task stream is generated")
    values = [file_value(f, f"input {f.name}") for f in sorted((folder / "in").glob("*.npy"))]
    for stream in streams:
        values += all_outputs(tools, folder, stream, [] if chip is None else ["--chip", chip])
    return values


def all_outputs(tools, folder, stream, options):
    """All files of a run in mode full, the bits of mode functional, the time of mode timing."""
    out = folder / stream.stem
    tools.tool(folder, "run", stream, *options, "-q", "--trace", "--numerics", "--profile=all", "--out", out)
    values = [*stats_values(out / "stats.json", f"{stream.stem} "),
              json_value("time", out / "trace.json", "trace"),
              csv_value("time", out / "instructions.csv", "instructions"),
              json_value("counter", out / "numerics.json", "numerics")]
    profile = sorted(out.glob("*.csv")) + sorted(out.glob("msprof_*.json")) + sorted(out.glob("OPPROF_*/simulator/**/*"))
    for file in profile:
        if file.suffix == ".csv" and file.name not in ("instructions.csv", "numerics.csv"):
            values.append(csv_value("time", file, file.name))
        elif file.suffix == ".json":
            values.append(json_value("time", file, str(file.relative_to(out))))
    for mode in ("functional", "timing"):
        other = folder / f"{stream.stem}.{mode}"
        tools.tool(folder, "run", stream, *options, "-q", "--mode", mode, "--profile=off", "--out", other)
        if mode == "timing":
            values += stats_values(other / "stats.json", f"{stream.stem} timing ")
        values += [file_value(f, f"{stream.stem} {mode} {f.name}") for f in sorted(other.glob("*.npy"))]
    return values + [file_value(f, f"{stream.stem} {f.name}") for f in sorted(out.glob("*.npy"))]


def stream_cases(tools):
    """Task streams in the repository."""
    for name in ("alias", "float_status", "prefetch"):
        file = tools.root / f"tests/fuzz/corpus/task_yaml/{name}.yaml"
        yield Case(f"stream.{name}", lambda folder, f=file: all_outputs(tools, folder, f, []))


# Programs in Ascend C -----------------------------------------------------------------------------------------------

QUICK_KERNELS = {"add", "queues", "matmul", "events", "out_of_bounds", "deadlock"}


def ascendc_cases(tools):
    for kernel in tools.kernels():
        yield Case(f"ascendc.{kernel.stem}", lambda folder, k=kernel: ascendc(tools, folder, k),
                   kernel.stem in QUICK_KERNELS, 8)


def ascendc(tools, folder, kernel):
    """Each mode: the exit code, what is printed, time and counters, and the bits that the host gets."""
    program = folder / kernel.stem
    options = re.findall(r"^// options: (.*)", kernel.read_text(), re.MULTILINE)
    tools.tool(folder, "cc", kernel, "-o", program, "-Wno-unknown-pragmas", *" ".join(options).split())
    values = []
    for mode in ("functional", "timing", "full"):
        env = {"VINCI_MODE": mode, "VINCI_OUTPUT": mode, "VINCI": str(tools.vinci)}
        done = tools.run(folder, program, codes=None, env=env)
        values.append(Value("counter", f"{mode} exit code", str(done.returncode)))
        values.append(Value("bits", f"{mode} standard output", digest(done.stdout.encode())))
        if done.returncode != 0:
            continue  # a fault on purpose
        out = folder / mode
        if mode != "functional":
            values += stats_values(out / "stats.json", f"{mode} ")
        if mode == "full":
            values.append(bits_of(out.glob("*.bin"), "full results"))
    return values
