# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""What a suite file imports: Case, Step and steps that many suites share. docs/suites.md describes them."""

import dataclasses
import pathlib
import re

PHASES = ("prepare", "compile", "run", "verify")


@dataclasses.dataclass(frozen=True)
class Step:
    """One command of a case.

    `command` is a list of arguments; {vinci}, {prefix}, {python}, {checkout}, {suites}, {work} and {jobs} are replaced.
    `cwd` is relative to the folder of the case. `right` and `wrong` are regular expressions for lines of the output:
    a matching line counts as one check that passed or failed, whatever the exit code. `wrong_codes` are the exit codes
    by which a program that checks itself says that its results are wrong.
    """

    command: tuple
    cwd: str = "."
    env: tuple = ()  # pairs of name and value
    right: str = ""
    wrong: str = ""
    wrong_codes: tuple = ()

    def __post_init__(self):
        if isinstance(self.command, str):
            raise ValueError(f"a command is a list of arguments, not the text '{self.command}'")
        object.__setattr__(self, "command", tuple(str(word) for word in self.command))
        env = self.env.items() if isinstance(self.env, dict) else self.env
        object.__setattr__(self, "env", tuple((str(name), str(value)) for name, value in env))
        object.__setattr__(self, "wrong_codes", tuple(self.wrong_codes))
        for expression in (self.right, self.wrong):
            re.compile(expression)


@dataclasses.dataclass(frozen=True)
class Case:
    """One case of a suite.

    `source` is a folder that is copied into the folder of the case before the first step. `inputs` are other files that
    the result depends on: a kept result is not used after one of them has changed. A case with `skip` is not run.
    `modules` are the Python modules that its scripts import beyond the standard library. A case without a `verify` step
    has a check of its own only if `checks_itself` is set, or if a step has `right` or `wrong`.
    """

    name: str
    category: str = ""
    source: pathlib.Path | None = None
    inputs: tuple = ()
    skip: str = ""
    modules: tuple = ()
    prepare: tuple = ()
    compile: tuple = ()
    run: tuple = ()
    verify: tuple = ()
    checks_itself: bool = False

    def __post_init__(self):
        if not self.name or re.search(r"[^\w./+=,-]|(^|/)\.\.?(/|$)", self.name):
            raise ValueError(f"name of a case: '{self.name}': letters, digits and _ . / + = , - are allowed")
        for phase in PHASES:
            steps = getattr(self, phase)
            steps = [step if isinstance(step, Step) else Step(step) for step in steps]
            object.__setattr__(self, phase, tuple(steps))
        for name in ("inputs", "modules"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.skip and not self.run:
            raise ValueError(f"case {self.name}: no step runs anything")

    def folder(self):
        """The name as that of a folder: one level, so that cases `a` and `a/b` do not mix; no name contains `~`."""
        return self.name.replace("/", "~")

    def has_check(self):
        steps = [step for phase in PHASES for step in getattr(self, phase)]
        return bool(self.verify) or self.checks_itself or any(step.right or step.wrong for step in steps)


def cmake_steps(*options, mode="sim"):
    """Configures and builds a project that uses the CMake package ASC, in the folder `build`."""
    return (Step(["cmake", "-S", ".", "-B", "build", "-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_ASC_RUN_MODE={mode}",
                  *options]),
            Step(["cmake", "--build", "build", "--parallel", "{jobs}"]))


def compare_step(result, golden, kind, *options, cwd="."):
    """Compares two binary files of numbers; `kind` and `options` are those of tools/suites/compare.py."""
    return Step(["{python}", "{suites}/compare.py", result, golden, "--type", kind, *options], cwd=cwd)


# Lines of GoogleTest, one for each test.
GTEST = {"right": r"^\[       OK \] ", "wrong": r"^\[  FAILED  \] .* \(\d+ ms\)$", "wrong_codes": (1,)}
