#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Which tile size is best for y = 2 x + 1 of floats, with two buffers? Tries them all on a simulated chip.

Usage: tune_tile.py [CHIP [OVERRIDE...]], with the module vinci in PYTHONPATH (docs/c-api.md)."""
import sys

import numpy

import vinci

BLOCKS = 8
BYTES = 192 * 1024  # for each block
TILES = [1024, 2048, 4096, 8192, 16384, 32768, 49152]  # bytes; a vector instruction has at most 255 repeats of 256


def kernel(tile):
    """Assembly of a block: copy in, compute and copy out of neighbouring tiles overlap."""
    lines = ["ld_arg X1, 0", "ld_arg X2, 1", "get_block_idx X3", f"mul X3, X3, {BYTES}", "add X1, X1, X3",
             "add X2, X2, X3"]
    for i in range(BYTES // tile):
        slot = i % 2
        at, burst, repeats = slot * tile, tile // 32, tile // 256
        if i >= 2:  # the tile that was here is out
            lines.append(f"wait_flag PIPE_MTE3, PIPE_MTE2, {slot}")
        lines += [
            f"copy_gm_to_ubuf {at}, X1, sid=0, nBurst=1, lenBurst={burst}, srcGap=0, dstGap=0",
            f"set_flag PIPE_MTE2, PIPE_V, {slot}",
            f"wait_flag PIPE_MTE2, PIPE_V, {slot}",
            f"vmuls.f32 {at}, {at}, 2.0f, {repeats}, 1, 1, 8, 8",
            "pipe_barrier PIPE_V",
            f"vadds.f32 {at}, {at}, 1.0f, {repeats}, 1, 1, 8, 8",
            f"set_flag PIPE_V, PIPE_MTE3, {slot}",
            f"wait_flag PIPE_V, PIPE_MTE3, {slot}",
            f"copy_ubuf_to_gm X2, {at}, sid=0, nBurst=1, lenBurst={burst}, srcGap=0, dstGap=0",
            f"set_flag PIPE_MTE3, PIPE_MTE2, {slot}",
            f"add X1, X1, {tile}",
            f"add X2, X2, {tile}",
        ]
    for slot in range(min(2, BYTES // tile)):
        lines.append(f"wait_flag PIPE_MTE3, PIPE_MTE2, {slot}")
    return "\n".join(lines + ["end", ""])


def measure(chip, tile, x):
    device = vinci.Device(chip)
    a, b = device.alloc(x.nbytes), device.alloc(x.nbytes)
    a.write(x)
    device.kernel(kernel(tile), name=f"tile{tile}").launch(BLOCKS, a, b)
    y = numpy.empty_like(x)
    run = device.run()
    b.read(y)
    if not numpy.array_equal(y, 2 * x + 1):
        raise SystemExit(f"tile {tile}: wrong results")
    return run.kernel_cycles


def main():
    chip = vinci.Chip(sys.argv[1] if len(sys.argv) > 1 else "ascend-910b1", sys.argv[2:])
    x = numpy.random.default_rng(1).random(BLOCKS * BYTES // 4, numpy.float32)
    cycles = {tile: measure(chip, tile, x) for tile in TILES}
    best = min(cycles, key=cycles.get)
    for tile, c in cycles.items():
        rate = 2 * x.nbytes / (c / chip.clock) * 1e-9
        print(f"tile {tile:6} bytes  {c:8} cycles  {rate:7.1f} GB/s{'  <- best' if tile == best else ''}")


if __name__ == "__main__":
    main()
