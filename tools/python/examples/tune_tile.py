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


def kernel(arch, tile):
    """The program of a block: copy in, compute and copy out of neighbouring tiles overlap."""
    p = vinci.ProgramBuilder(f"tile{tile}", arch)
    x, y = p.arg("x"), p.arg("y")
    first = p.reg("first")
    p.get_block_idx(first)
    p.mul(first, first, BYTES)
    p.add(x, x, first)
    p.add(y, y, first)
    for i in range(BYTES // tile):
        slot = i % 2
        at, burst, repeats = slot * tile, tile // 32, tile // 256
        if i >= 2:  # the tile that was here is out
            p.wait_flag("MTE3", "MTE2", slot)
        p.copy_gm_to_ubuf(at, x, sid=0, nBurst=1, lenBurst=burst, srcGap=0, dstGap=0)
        p.hand_over("MTE2", "V", slot)
        p.vmuls("f32", at, at, vinci.f32(2), repeats, 1, 1, 8, 8)
        p.pipe_barrier("V")
        p.vadds("f32", at, at, vinci.f32(1), repeats, 1, 1, 8, 8)
        p.hand_over("V", "MTE3", slot)
        p.copy_ubuf_to_gm(y, at, sid=0, nBurst=1, lenBurst=burst, srcGap=0, dstGap=0)
        p.set_flag("MTE3", "MTE2", slot)
        p.add(x, x, tile)
        p.add(y, y, tile)
    for slot in range(min(2, BYTES // tile)):
        p.wait_flag("MTE3", "MTE2", slot)
    p.end()
    return p.finish()


def measure(chip, tile, x):
    device = vinci.Device(chip)
    a, b = device.alloc(x.nbytes), device.alloc(x.nbytes)
    a.write(x)
    device.kernel(kernel(chip.arch, tile), name=f"tile{tile}").launch(BLOCKS, a, b)
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
