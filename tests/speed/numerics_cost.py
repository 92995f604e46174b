#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""What --numerics and --numerics=shadow cost: instructions of the host as a multiple of mode full with one thread, less those of a
run of nothing. Callgrind counts them, so that the load of the machine does not matter; it has no AVX-512.

Usage: numerics_cost.py VINCI
"""
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

TURNS = 40
EMPTY = "vinci: 1\nname: empty\narch: c220\nstreams:\n  main: []\n"
# Bounds for the census and the shadow. In `arithmetic` nothing but contiguous operations of f16 happens, of which the
# host needs two or three instructions for a result; a reference alone is 16 B.
BOUNDS = {"arithmetic": (3, 8), "softmax": (3, 8), "gemm": (2, 8)}


def vector_kernel(name, operations):
    """Values from 1 to 2: none is absorbed, flushed or too large."""
    code = ["ld_arg X1, 0", "copy_gm_to_ubuf 0, X1, 0, 1, 2000, 0, 0", "set_flag PIPE_MTE2, PIPE_V, EVENT_ID0",
            "wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0", "set_vector_mask -1, -1", "mov X0, 0", "loop:"]
    for operation in operations:
        code += [operation, "pipe_barrier PIPE_V"]
    code += ["add X0, X0, 1", f"blt X0, {TURNS}, loop", "set_flag PIPE_V, PIPE_MTE3, EVENT_ID0",
             "wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0", "copy_ubuf_to_gm X1, 65536, 0, 1, 2000, 0, 0", "end"]
    return "\n".join(
        ["vinci: 1", f"name: {name}", "arch: c220", "buffers:", "  h: {place: host, bytes: 65536, file: x.bin}",
         "  d: {place: device, bytes: 65536}", "  o: {place: host, dtype: f2, shape: [32768], output: o.npy}", "kernels:",
         "  k:", "    type: AIV_ONLY", "    code: |"] + ["      " + c for c in code] +
        ["streams:", "  s:", "    - memcpy_async: {dst: d, src: h}",
         "    - kernel_launch: {kernel: k, block_dim: 4, args: [d]}", "    - memcpy_async: {dst: o, src: d}", ""])


ARITHMETIC = ["vadd.f16 65536, 0, 0, 250, 1, 1, 1, 8, 8, 8", "vmul.f16 65536, 65536, 0, 250, 1, 1, 1, 8, 8, 8",
              "vmuls.f16 65536, 65536, 0x3000, 250, 1, 1, 8, 8", "vmax.f16 65536, 65536, 0, 250, 1, 1, 1, 8, 8, 8"]
SOFTMAX = ["vcmax.f16 1024, 0, 128, 1, 1, 8, 2", "vbrcb.f16 131072, 1024, 1, 8, 16",
           "vsub.f16 65536, 0, 131072, 128, 1, 1, 0, 8, 8, 1", "vconv_f162f32 131072, 65536, 128, 1, 1, 8, 4",
           "vexp.f32 131072, 131072, 128, 1, 1, 8, 8", "vconv_f322f16 65536, 131072, 128, 1, 1, 4, 8",
           "vcadd.f16 1024, 65536, 64, 1, 1, 8", "vbrcb.f16 131072, 1024, 1, 8, 8",
           "vdiv.f16 65536, 65536, 131072, 64, 1, 1, 0, 8, 8, 1"]


def instructions(vinci, folder, stream, *options):
    profile = folder / "callgrind.out"
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", vinci, "run", stream,
                           "--chip", "ascend-910b1", "--threads", "1", "-q", "--profile=off", "--out", "out", *options],
                          cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{stream} {options}: {done.stderr}")
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def main():
    if shutil.which("valgrind") is None:
        sys.exit(77)
    vinci = str(pathlib.Path(sys.argv[1]).resolve())
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "empty.yaml").write_text(EMPTY)
        (folder / "arithmetic.yaml").write_text(vector_kernel("arithmetic", ARITHMETIC))
        (folder / "softmax.yaml").write_text(vector_kernel("softmax", SOFTMAX))
        (folder / "x.bin").write_bytes(struct.pack("<32768H", *(0x3c00 + i * 797 % 0x400 for i in range(32768))))
        subprocess.run([vinci, "gen", "gemm", "--m", "256", "--n", "256", "--k", "256", "--chip", "ascend-910b1", "-o", "gemm"],
                       cwd=folder, check=True, capture_output=True)
        start = instructions(vinci, folder, "empty.yaml")
        for case, (census_bound, shadow_bound) in BOUNDS.items():
            stream = "gemm/gemm.yaml" if case == "gemm" else f"{case}.yaml"
            full = instructions(vinci, folder, stream) - start
            census = (instructions(vinci, folder, stream, "--numerics") - start) / full
            shadow = (instructions(vinci, folder, stream, "--numerics=shadow") - start) / full
            print(f"{case:<12} full {full / 1e6:8.1f} M instructions, census {census:5.2f} times (at most {census_bound}), "
                  f"shadow {shadow:5.2f} times (at most {shadow_bound})", flush=True)
            failed |= census > census_bound or shadow > shadow_bound
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
