# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""The packages of this folder: of each kind cases that end in every state."""

from suite import GTEST, Case, Step, cmake_steps, compare_step


def cases(checkout):
    folder = checkout / "cmake_package"

    def cmake_case(name, operation="Muls", factor=3, data=(), verify=True):
        return Case(f"cmake/{name}", "cmake", source=folder, prepare=[["{python}", "data.py", *data]],
                    compile=cmake_steps(f"-DOPERATION={operation}", f"-DFACTOR={factor}"), run=[["build/triple"]],
                    verify=[compare_step("output.bin", "golden.bin", "float32")] if verify else [])

    yield cmake_case("right")
    yield cmake_case("wrong", factor=2)
    yield cmake_case("does_not_compile", operation="MultiplyAll")
    yield cmake_case("unchecked", verify=False)
    yield cmake_case("rare_module", data=["--with-rare-module"])
    yield Case("cmake/other_product", "cmake", skip="needs another product")

    def plain_case(name, length=64, function="Add", *options):
        return Case(f"plain/{name}", "plain", source=checkout / "plain_package", compile=[[
            "{vinci}", "cc", "checks.asc", "-o", "checks", f"-DLENGTH={length}", f"-DDOUBLE={function}", *options]],
            run=[Step(["./checks"], **GTEST)])

    yield plain_case("right")
    yield plain_case("wrong", 32)
    yield plain_case("does_not_compile", 64, "AddAll")
    yield plain_case("faults", 64, "Add", "-DBUFFER=1048576")
    yield Case("plain/framework", "plain", skip="needs a framework")
