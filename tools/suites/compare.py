#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Compare two binary files of numbers. Exit code 0: equal within the tolerances; 1: not; 2: cannot be compared."""

import argparse
import pathlib
import sys

try:
    import numpy
except ImportError:
    sys.exit("compare.py: this Python has no numpy: install python3-numpy, or name one that has it with --python")

TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
         "bfloat16", "bits")


def load(path, kind):
    try:
        data = path.read_bytes()
    except OSError as e:
        raise ValueError(f"{path}: {e.strerror}") from None
    stored = numpy.dtype({"bits": "uint8", "bfloat16": "<u2"}.get(kind, kind)).newbyteorder("<")
    if len(data) % stored.itemsize:
        raise ValueError(f"{path}: {len(data)} bytes are no whole number of {kind}")
    values = numpy.frombuffer(data, stored)
    if kind == "bfloat16":  # the upper half of a float32
        values = (values.astype("<u4") << 16).view("<f4")
    return values


def compare(result, golden, rtol, atol):
    """A mask of the values that differ."""
    if result.dtype.kind != "f":
        if not (rtol or atol):
            return result != golden
        result, golden = result.astype("f8"), golden.astype("f8")
    with numpy.errstate(invalid="ignore", over="ignore"):
        return ~numpy.isclose(result.astype("f8"), golden.astype("f8"), rtol=rtol, atol=atol, equal_nan=True)


def main(arguments):
    parser = argparse.ArgumentParser(prog="compare.py", description=__doc__)
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("golden", type=pathlib.Path)
    parser.add_argument("--type", choices=TYPES, default="bits", help="of both files (default: bits, byte by byte)")
    parser.add_argument("--rtol", type=float, default=0.0, help="tolerance relative to the golden value (default: 0)")
    parser.add_argument("--atol", type=float, default=0.0, help="absolute tolerance (default: 0)")
    parser.add_argument("--wrong", type=float, default=0.0, metavar="SHARE",
                        help="share of values that may be outside the tolerances (default: 0)")
    o = parser.parse_args(arguments)
    try:
        result, golden = load(o.result, o.type), load(o.golden, o.type)
        if not len(golden):
            raise ValueError(f"{o.golden} is empty: there is nothing to compare with")
        if len(result) != len(golden):
            raise ValueError(f"{o.result} has {len(result)} values, {o.golden} has {len(golden)}")
    except ValueError as e:
        print(f"compare.py: {e}", file=sys.stderr)
        return 2
    differs = compare(result, golden, o.rtol, o.atol)
    count = int(differs.sum())
    if count > o.wrong * len(golden):
        first = int(differs.argmax())
        print(f"{count} of {len(golden)} values wrong; the first is {first}: {result[first]}, not {golden[first]}")
        return 1
    print(f"{len(golden)} values right" if not count else f"{count} of {len(golden)} values outside the tolerances")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
