# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Reads the profile of a run with Python's own csv and json modules and does the accounts.

check_profile.py FOLDER: prints what does not add up, one line each; nothing printed means that all is well.
"""
import csv
import glob
import json
import sys

folder = sys.argv[1]
problems = []


def check(condition, text):
    if not condition:
        problems.append(text)


def rows(name):
    [path] = glob.glob(f"{folder}/{name}_{'[0-9]' * 14}.csv")
    with open(path, newline="") as file:
        table = list(csv.reader(file, strict=True))
    for number, row in enumerate(table[1:], 2):
        check(len(row) == len(table[0]), f"{path}:{number}: {len(row)} fields under {len(table[0])} names")
    return [dict(zip(table[0], row)) for row in table[1:]]


def number(text):
    return float(text.rstrip("\t"))


summary, times, statistic, steps = map(rows, ["op_summary", "task_time", "op_statistic", "step_trace"])
stats = json.load(open(f"{folder}/stats.json"))
hertz = stats["clock_hz"]
us = lambda cycles: cycles / hertz * 1e6
near = lambda a, b, tolerance=0.0021: abs(a - b) <= tolerance  # two roundings to a nanosecond

# Pipes: one state at every cycle.
for pipe in stats["pipes"]:
    check(pipe["busy"] + pipe["stalled"] + pipe["idle"] == stats["cycles"], f"{pipe} does not add up to the run")

# Every task of stats.json is in task_time, with its time.
check(len(times) == len(stats["tasks"]), f"{len(times)} rows of task_time, {len(stats['tasks'])} tasks")
for row, task in zip(times, sorted(stats["tasks"], key=lambda t: t["start"])):
    start, stop, time = (number(row[c]) for c in ("task_start(us)", "task_stop(us)", "task_time(us)"))
    check(near(stop - start, time, 1e-6), f"{row} is not stop - start")
    check(near(start, us(task["start"])), f"{row} does not start with {task}")
check([number(r["task_start(us)"]) for r in times] == sorted(number(r["task_start(us)"]) for r in times),
      "task_time is not in the order of start")

# Operators: the same durations in three files.
operators = {"KERNEL_AICORE", "KERNEL_AIVEC", "KERNEL_MIX_AIC", "KERNEL_AICPU", "COMMUNICATION"}
total = sum(number(r["Task Duration(us)"]) for r in summary)
check(len(summary) > 0 or not any(r["kernel_type"] in operators for r in times), "no operators")
check(near(total, sum(number(r["task_time(us)"]) for r in times if r["kernel_type"] in operators), 1e-6),
      "op_summary and task_time differ")
check(near(total, sum(number(r["Total Time(us)"]) for r in statistic), 1e-6), "op_summary and op_statistic differ")
for device in {r["Device_id"] for r in statistic}:
    check(near(sum(number(r["Ratio(%)"]) for r in statistic if r["Device_id"] == device), 100, 0.01),
          f"op_statistic of device {device} is not 100 %")

busy = {}
for row in summary:
    for column, value in row.items():
        if value == "N/A":
            continue
        if column.endswith("_ratio") or column == "icache_miss_rate":
            check(0 <= number(value) <= 1, f"{column} of {row['Op Name']} is {value}")
        if column == "cube_utilization(%)":
            check(0 <= number(value) <= 100.001, f"{column} of {row['Op Name']} is {value}")
    # The counters of the tasks together are what the pipes of all cores were busy.
    for kind, cycles, names in (
        ("AIC", "aic_total_cycles", {"M": "aic_mac", "S": "aic_scalar", "MTE1": "aic_mte1", "MTE2": "aic_mte2",
                                     "FIX": "aic_fixpipe"}),
        ("AIV", "aiv_total_cycles", {"V": "aiv_vec", "S": "aiv_scalar", "MTE2": "aiv_mte2", "MTE3": "aiv_mte3"}),
        ("AI_CORE", "total_cycles", {"V": "vec", "M": "mac", "S": "scalar", "MTE1": "mte1", "MTE2": "mte2",
                                     "MTE3": "mte3"})):
        if row.get(cycles, "N/A") == "N/A":
            continue
        for pipe, name in names.items():
            key = (kind, pipe)
            part, error = busy.get(key, (0, 0))
            busy[key] = (part + number(row[cycles]) * number(row[name + "_ratio"]),
                         error + number(row[cycles]) * 0.0005 + 1e-6)
for (kind, pipe), (cycles, error) in busy.items():
    whole = sum(p["busy"] for p in stats["pipes"] if p["pipe"] == pipe and p["core"].endswith(kind))
    check(abs(whole - cycles) <= error, f"{kind}.{pipe}: busy {whole} in stats.json, {cycles} +- {error} in op_summary")

check(len(steps) >= 1 and near(max(number(r["Iteration End(us)"]) for r in steps),
                               max(number(r["task_stop(us)"]) for r in times)), "step_trace ends elsewhere")

# The timeline, where there is one: the same tasks, and arrows with two ends.
for path in glob.glob(f"{folder}/msprof_{'[0-9]' * 14}.json"):
    events = json.load(open(path))
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    spans = [e for e in events if e["ph"] == "X" and names[e["pid"]] == "Ascend Hardware"]
    check(len(spans) == len(times), f"{len(spans)} tasks in {path}")
    check(near(sum(e["dur"] for e in spans), sum(number(r["task_time(us)"]) for r in times), 1e-3), "msprof differs")
    ranks = [e for e in events if e["ph"] == "X" and names[e["pid"]] == "Communication"]
    check(sorted((e["pid"] % 32, e["args"]["op_type"], e["ts"]) for e in ranks) == sorted(
        (int(r["Device_id"]), r["OP Type"], number(r["Task Start Time(us)"])) for r in summary
        if r["Task Type"] == "COMMUNICATION"), "the collectives of msprof and of op_summary differ")
    starts = sorted(e["id"] for e in events if e["ph"] == "s")
    check(starts == sorted(e["id"] for e in events if e["ph"] == "f"), "arrows without an end")
    check(len(set(starts)) == len(starts), "arrows with one id")

# Each core of the simulator's tree: its instructions and its lines cost the same, and what its timeline shows.
for path in glob.glob(f"{folder}/OPPROF_*/simulator/*/"):
    name = path.rstrip("/").rsplit("/", 1)[1]
    tables = [list(csv.DictReader(open(f"{path}{name}_{kind}_exe.csv", newline=""))) for kind in ("instr", "code")]
    events = json.load(open(path + "trace.json"))["traceEvents"]
    calls = [sum(int(r["call_count"]) for r in table) for table in tables]
    cycles = [sum(int(r["cycles"]) for r in table) for table in tables]
    check(calls == [len(events)] * 2, f"{name}: {calls} calls, {len(events)} events")
    check(cycles[0] == cycles[1], f"{name}: {cycles} cycles")
    check(near(sum(e["dur"] for e in events), us(cycles[0]), 0.001 * len(events) + 1e-6), f"{name}: time")

for problem in problems:
    print(problem)
