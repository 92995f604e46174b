# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""The reason of a failure: the first line of a log that names an error, without what differs between cases."""

import re
import signal

LONGEST = 140  # characters of a reason
# In this order: a log with a line of the first kind is grouped by it.
ERRORS = {
    "compile": (r"(?<!collect2: )(?<!ld: )\berror: ", r"undefined reference", r"^CMake Error", r"\bcannot find -l",
                r"(?i)\berror\b"),
    "run": (r"(?i)\b(unsupported )?fault: ", r"(?i)^\S*vinci\S*: ", r"(?i)\[error\]", r"(?i)\berror\b", r"what\(\):",
            r"(?i)\b(assert|abort|terminate)"),
    "verify": (r"(?i)\b(mismatch|wrong|fail|error|differ)",),
    "prepare": (r"^\w*(Error|Exception|Interrupt)\b", r"(?i)\berror\b"),
}


def missing_module(text):
    found = re.search(r"^ModuleNotFoundError: No module named '([\w.]+)'", text, re.M)
    return found.group(1).split(".")[0] if found else ""


def first_error(phase, text):
    """The first line of the log that names an error, or its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for expression in ERRORS[phase]:
        search = re.compile(expression).search
        for number, line in enumerate(lines):
            if search(line):
                # CMake writes the text of an error into the next line.
                follows = phase == "compile" and line.startswith("CMake Error") and number + 1 < len(lines)
                return f"{line} {lines[number + 1]}" if follows else line
    return lines[-1] if lines else ""


def without_templates(text):
    """Arguments of templates are left out: `LocalTensor<half>` and `LocalTensor<float>` are one reason."""
    while True:
        shorter = re.sub(r"(?<=[\w\0])<[^<>]*>", "\0", text)  # from inside to outside
        if shorter == text:
            return text.replace("\0", "<>")
        text = shorter


def normalise(line):
    """The line without places, paths, numbers and arguments of templates."""
    line = re.sub(r"[‘’`]", "'", line)
    line = re.sub(r"\x1b\[[0-9;]*m", "", line)
    line = re.sub(r"^CMake Error at \S+ \((\w+)\):", r"CMake Error (\1):", line)
    line = re.sub(r"(?<!\S)[^\s:'\"()]+\.\w+:\d+(:\d+)?[:,]? ?", "", line)  # file:line:column
    line = re.sub(r"^(/\S*/)?(ld|collect2|cc1plus|g\+\+|clang\+\+)(\.\w+)?: ", "", line)
    line = re.sub(r"^\S+\.o: in function .*?: ?", "", line)
    line = re.sub(r"^(fatal )?error: ", "", line)
    line = re.sub(r"(?<![\w.<])/(?:[^\s'\":,;()]+/)+", "", line)  # folders
    line = without_templates(line)
    line = re.sub(r"\[with .*?\]", "", line)
    line = re.sub(r"; did you mean .*|,? so a declaration of .*", "", line)  # advice of the compiler
    line = re.sub(r"0x[0-9a-fA-F]+", "N", line)
    line = re.sub(r"(?<![\w.-])[-+]?\d+(\.\d+)?([eE][-+]?\d+)?(?!\w)", "N", line)
    line = re.sub(r"\bN(?:(?:, | )N\b)+", "N", line)
    line = " ".join(line.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."


def ending(code, seconds=None):
    """How a command ended: its exit code, its signal, or its time limit."""
    if seconds is not None:
        return f"no end after {seconds:g} s"
    if code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"


def reason(phase, ended, text):
    """The group of a failure: the first error, and in phases other than compile how the command ended."""
    error = normalise(first_error(phase, text))
    if phase == "compile" and error:
        return error
    return f"{ended}: {error}" if error else ended
