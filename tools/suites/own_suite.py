# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""The programs in Ascend C of this repository: they check themselves. The checkout is one of Vinci."""

import re

from suite import Case, Step, cmake_steps


def on_purpose(checkout):
    """Programs that end with a fault, hang or crash on purpose: tests with another exit code than 0, or with a script."""
    text = (checkout / "tests/ascendc/CMakeLists.txt").read_text()
    return {"crash", "no_progress", *re.findall(r"^vinci_ascendc_test\((\w+) [1-9]", text, re.M)}


def cases(checkout):
    fail = on_purpose(checkout)
    folder = checkout / "tests/ascendc/kernels"
    headers = sorted(folder.glob("*.h"))
    for path in [*sorted(folder.glob("*.asc")), checkout / "examples/axpy.asc"]:
        found = re.search(r"^// options: (.*)$", path.read_text(), re.M)
        category = "examples" if path.parent.name == "examples" else "kernels"
        if path.stem in fail:
            yield Case(path.stem, category, skip="fails on purpose")
            continue
        yield Case(path.stem, category, checks_itself=True, inputs=[path, *headers],
                   compile=[["{vinci}", "cc", path, "-o", path.stem, *(found.group(1).split() if found else ())]],
                   run=[Step([f"./{path.stem}"], wrong_codes=(1,))])
    yield Case("project", "project", source=checkout / "tests/ascendc/project", compile=cmake_steps(),
               checks_itself=True,
               run=[Step(["build/scale"], wrong_codes=(1,)), Step(["build/scale_shared"], wrong_codes=(1,))])
