# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Writes input.bin and golden.bin: 256 numbers, and three times each."""
import array
import sys

if "--with-rare-module" in sys.argv:
    import a_module_that_does_not_exist  # noqa: F401

numbers = array.array("f", [i / 4 - 32 for i in range(256)])
with open("input.bin", "wb") as file:
    numbers.tofile(file)
with open("golden.bin", "wb") as file:
    array.array("f", [3 * x for x in numbers]).tofile(file)
