# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Runs the steps of a case: processes with a time limit, their CPU times, and the state of the case."""

import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time

import reasons
from suite import PHASES

STATES = ("right", "unchecked", "wrong", "not run", "not compiled", "not prepared", "skipped")
FAILED = {"prepare": "not prepared", "compile": "not compiled", "run": "not run", "verify": "wrong"}
LOG_LIMIT = 64 << 20  # bytes of output of a phase; a program that writes more is ended
READ_LIMIT = 4 << 20  # bytes of a log in which a reason is looked for

NEEDS_MODULE = "its scripts need the Python module {}; name a Python that has it with --python"


class Stopped(Exception):
    """The user has interrupted the run."""


class Processes:
    """The process groups that are alive, so that an interrupt can end them."""

    def __init__(self):
        self.lock, self.groups, self.stopped = threading.Lock(), set(), False

    def start(self, command, **more):
        with self.lock:
            if self.stopped:
                raise Stopped
            process = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL, **more)
            self.groups.add(process.pid)
        return process

    def ended(self, process):
        end_group(process.pid)  # what the command has left behind
        with self.lock:
            self.groups.discard(process.pid)

    def stop(self):
        with self.lock:
            self.stopped = True
            for group in self.groups:
                end_group(group)


def end_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


@dataclasses.dataclass
class Ended:
    code: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    limit: float | None = None  # the time limit that was exceeded
    error: str = ""  # the command could not be started, or its output was too long

    def text(self):
        return self.error or reasons.ending(self.code, self.limit)


def run_command(processes, command, folder, env, log, timeout):
    """Runs a command with its output in `log`. CPU times include those of its children."""
    begin = time.monotonic()
    try:
        process = processes.start(command, cwd=folder, env=env, stdout=log, stderr=subprocess.STDOUT)
    except OSError as e:
        return Ended(code=127, error=f"{pathlib.Path(command[0]).name} cannot be started: {e.strerror}")
    ended, pause = Ended(), 0.002
    try:
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if ended.limit is None and time.monotonic() - begin > timeout:
                ended.limit = timeout
                end_group(process.pid)
            elif not ended.error and os.fstat(log.fileno()).st_size > LOG_LIMIT:
                ended.error = f"more than {LOG_LIMIT >> 20} MiB of output"
                end_group(process.pid)
            time.sleep(pause)
            pause = min(pause * 1.5, 0.1)
    finally:
        processes.ended(process)
    process.returncode = ended.code = os.waitstatus_to_exitcode(status)
    ended.wall, ended.cpu = time.monotonic() - begin, usage.ru_utime + usage.ru_stime
    return ended


def digest_of(paths):
    """A digest of names and contents of files, and of all files in folders; what is missing counts as empty."""
    digest = hashlib.sha256()
    for root in map(pathlib.Path, paths):
        for path in sorted(p for p in root.rglob("*") if p.is_file()) if root.is_dir() else [root]:
            digest.update(f"{path.relative_to(root)}\0".encode())
            if path.is_file():
                with path.open("rb") as file:
                    while block := file.read(1 << 20):
                        digest.update(block)
    return digest.hexdigest()


class Runner:
    """Runs cases in folders below `work`. `state` is that of the checkout: its commit and what is changed in it."""

    def __init__(self, work, tools, checkout, state, jobs, timeout, mode="", keep=False):
        self.work, self.tools, self.checkout, self.state = work, tools, checkout, state
        self.jobs, self.timeout, self.mode, self.keep = jobs, timeout, mode, keep
        self.processes = Processes()
        self.modules = {}  # whether the Python of the scripts has a module

    def environment(self, folder, step):
        env = {k: v for k, v in os.environ.items() if not k.startswith("VINCI_")}
        path = [str(self.tools.python.parent), str(self.tools.vinci.parent), env.get("PATH", "/usr/bin:/bin")]
        env |= {"PATH": os.pathsep.join(path), "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
                "OPENBLAS_NUM_THREADS": "1"}
        if self.mode:
            env["VINCI_MODE"] = self.mode
        return env | {name: self.replaced(value, folder) for name, value in step.env}

    def replaced(self, text, folder):
        values = {"vinci": self.tools.vinci, "prefix": self.tools.prefix, "python": self.tools.python,
                  "checkout": self.checkout, "suites": pathlib.Path(__file__).resolve().parent, "work": folder,
                  "jobs": self.jobs}
        return re.sub(r"\{(" + "|".join(values) + r")\}", lambda m: str(values[m.group(1)]), text)

    def key(self, case):
        """What the result of a case depends on; a kept result with another key is not used."""
        sources = (pathlib.Path(__file__).with_name(name) for name in ("execute.py", "reasons.py", "compare.py"))
        files = digest_of([*sources, *([case.source] if case.source else []), *case.inputs])
        parts = [repr(case), files, self.tools.identity, str(self.tools.python), self.mode, str(self.timeout),
                 self.state]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def run(self, case):
        """The result of a case, as it is kept."""
        result = {"name": case.name, "category": case.category, "state": "", "reason": "", "line": "", "log": "",
                  "checks": None, "phases": {}}
        if case.skip:
            return result | {"state": "skipped", "reason": case.skip}
        missing = self.missing_module(case.modules)
        if missing:
            return result | {"state": "skipped", "reason": NEEDS_MODULE.format(missing)}
        folder, logs = (self.work / kind / case.folder() for kind in ("cases", "logs"))
        for path in (folder, logs):
            shutil.rmtree(path, ignore_errors=True)
        logs.mkdir(parents=True)
        try:
            if case.source:
                shutil.copytree(case.source, folder, symlinks=True)
            else:
                folder.mkdir(parents=True)
        except (OSError, shutil.Error) as e:
            return result | {"state": "not prepared", "reason": f"cannot be copied: {type(e).__name__}",
                             "line": str(e)[:300]}
        counts = [0, 0]
        for phase in PHASES:
            if not self.run_phase(case, phase, folder, logs / f"{phase}.txt", result, counts):
                break
        else:
            result["state"] = "right" if case.has_check() else "unchecked"
        if sum(counts):
            result["checks"] = {"right": counts[0], "all": sum(counts)}
        if not self.keep and result["state"] in ("right", "unchecked", "skipped"):
            shutil.rmtree(folder, ignore_errors=True)
        return result

    def missing_module(self, modules):
        """The first of these modules that the Python of the scripts does not have."""
        for module in modules:
            if module not in self.modules:
                done = subprocess.run([self.tools.python, "-c", f"import {module}"], capture_output=True,
                                      stdin=subprocess.DEVNULL)
                self.modules[module] = done.returncode == 0
            if not self.modules[module]:
                return module
        return ""

    def run_phase(self, case, phase, folder, log_path, result, counts):
        """Runs the steps of a phase. Returns false, with the state set, where the case ends there."""
        times = {"wall": 0.0, "cpu": 0.0}
        for step in getattr(case, phase):
            cwd = folder / self.replaced(step.cwd, folder)
            command = [self.replaced(word, folder) for word in step.command]
            with log_path.open("ab") as log:
                begin = log.tell()
                if cwd.is_dir():
                    ended = run_command(self.processes, command, cwd, self.environment(folder, step), log, self.timeout)
                else:
                    ended = Ended(code=127, error=f"no folder {step.cwd}")
            if self.processes.stopped:
                raise Stopped
            times["wall"] += ended.wall
            times["cpu"] += ended.cpu
            result["phases"][phase] = {**{k: round(v, 3) for k, v in times.items()}, "code": ended.code}
            text = read_log(log_path, begin)
            right = len(re.findall(step.right, text, re.M)) if step.right else 0
            wrong = len(re.findall(step.wrong, text, re.M)) if step.wrong else 0
            counts[0] += right
            counts[1] += wrong
            state = judge(phase, step, ended, text, right, wrong)
            if state:
                result |= {"state": state, "log": str(log_path.relative_to(self.work)),
                           "line": reasons.first_error(phase, text)[:300]}
                result["reason"] = self.reason(phase, step, ended, text, state, right, wrong)
                return False
        return True

    def reason(self, phase, step, ended, text, state, right, wrong):
        if state == "skipped":
            return NEEDS_MODULE.format(reasons.missing_module(text))
        if ended.error:
            return ended.error
        if state == "wrong" and wrong:
            return "some checks fail" if right else "all checks fail"
        if state == "wrong" and step.right and not right and not ended.code:
            return f"no line of the output matches '{step.right}'"
        return reasons.reason("verify" if state == "wrong" else phase, ended.text(), text)


def judge(phase, step, ended, text, right, wrong):
    """The state of a case that ends with this step, or nothing if the next step follows."""
    if ended.code and reasons.missing_module(text):
        return "skipped"
    if ended.error or ended.limit is not None or ended.code < 0:
        return FAILED[phase]
    if wrong:
        return "wrong"
    if ended.code:
        own_check = phase == "run" and ended.code in step.wrong_codes
        return "wrong" if own_check else FAILED[phase]
    if step.right and not right:
        return "wrong"
    return ""


def read_log(path, begin):
    with path.open("rb") as file:
        file.seek(begin)
        return file.read(READ_LIMIT).decode("utf-8", "replace")
