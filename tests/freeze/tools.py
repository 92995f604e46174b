# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Running the built programs for a case."""

import os
import pathlib
import re
import subprocess

TIMEOUT = 1800  # seconds of a program; a hang is a failure


class Failed(Exception):
    """A program of a case ended as it must not."""


# Nothing of the caller's environment reaches a program: its counts must repeat.
def environment(extra=None):
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "OPENBLAS_NUM_THREADS": "1", **(extra or {})}


class Tools:
    """Where sources and built programs are."""

    def __init__(self, root, build):
        self.root, self.build = root, build
        self.vinci = build / "tools/vinci/vinci"

    def silicon_files(self):
        return sorted((self.root / "configs/silicon").glob("*.yaml")) or sorted(
            (self.root / "tests/silicon").glob("*.yaml"))

    def kernels(self):
        return sorted((self.root / "tests/ascendc/kernels").glob("*.asc"))

    def system_test(self, name):
        return self.build / f"tests/system/vinci_test_system_{name}"

    def run(self, folder, *command, codes=(0,), env=None):
        """Standard output of a program that ends with one of `codes`."""
        command = [str(c) for c in command]
        try:
            done = subprocess.run(command, cwd=folder, env=environment(env), stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            raise Failed(f"{name_of(command)} has not ended after {TIMEOUT} s") from None
        except OSError as e:
            raise Failed(f"{name_of(command)}: {e.strerror}") from None
        if codes is not None and done.returncode not in codes:
            said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[0]
            raise Failed(f"{name_of(command)} ended with {done.returncode}: {said}")
        return done

    def tool(self, folder, *arguments, **more):
        return self.run(folder, self.vinci, *arguments, **more)


def name_of(command):
    return " ".join([pathlib.Path(command[0]).name, *command[1:3]])


# Counting ---------------------------------------------------------------------------------------------------------


def valgrind_version():
    try:
        return subprocess.run(["valgrind", "--version"], capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def counting_environment(vinci):
    """What counts of host instructions depend on besides the sources: they compare only where this is the same. Empty
    where valgrind cannot run the tool: its libraries may use instructions of the host that it does not know."""
    valgrind = valgrind_version()
    if not valgrind:
        return ""
    if subprocess.run(["valgrind", "--tool=none", vinci, "--version"], capture_output=True).returncode != 0:
        print("host instructions are not counted: valgrind cannot run the tool here", flush=True)
        return ""
    text = subprocess.run(["ldd", str(vinci)], capture_output=True, text=True).stdout
    libraries = sorted({os.path.realpath(p) for p in re.findall(r"=> (/\S+)", text)} - {os.path.realpath(vinci)})
    own = str(vinci.parents[2])
    versions = [pathlib.Path(p).name for p in libraries if not p.startswith(own)]
    compiler = subprocess.run(["c++", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    libc = os.confstr("CS_GNU_LIBC_VERSION")
    try:
        flags = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        flags = ""
    vectors = "avx2" if " avx2 " in flags else "avx none"
    return ", ".join([valgrind, f"c++ {compiler}", libc, vectors, *versions])


def same_environment(a, b):
    """Whether what both name has one version; a library that only one of them uses does not count."""
    versions = [{re.match(r"[A-Za-z_+]*", item).group(): item for item in text.split(", ")} for text in (a, b)]
    return all(versions[0][name] == versions[1][name] for name in versions[0].keys() & versions[1].keys())


def count_instructions(tools, folder, arguments):
    """Host instructions of a run of the tool, all of user space but libhwy's."""
    profile = folder / "callgrind.out"
    tools.run(folder, "valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", tools.vinci, *arguments)
    with open(profile, encoding="utf-8", errors="replace") as lines:
        return instructions_of(lines)


def instructions_of(lines, without="/libhwy.so"):
    """The sum of a profile of callgrind, without a library and what it calls. libhwy measures the host's clock when it is
    loaded, which needs three to six million instructions, as the host's load will have it."""
    total, object_file, callee, in_call, names = None, "", "", False, {}

    def name(text):
        number, _, given = text.strip().partition(" ")  # "(7) /usr/lib/x.so" the first time, then "(7)"
        return names.setdefault(number, given)

    left_out = 0
    for line in lines:
        if line.startswith("ob="):
            object_file = name(line[3:])
        elif line.startswith("cob="):
            callee = name(line[4:])
        elif line.startswith("calls="):
            in_call = True
        elif line.startswith(("totals:", "summary:")):
            total = int(line.split()[1])
        elif line[:1] in "0123456789+-*":
            if without in object_file and not (in_call and (not callee or without in callee)):
                left_out += int(line.split()[1])
            if in_call:
                in_call, callee = False, ""
    if total is None:
        raise Failed("valgrind has not counted")
    return total - left_out
