#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""z = x + y on 8 vector cores: writes the program and its task stream, simulates and saves them.

Usage: vector_add.py [FOLDER], with the module vinci in PYTHONPATH (docs/builder.md)."""
import sys

import numpy

import vinci

BLOCKS, TILES, TILE = 8, 4, 16384  # a block adds so many tiles of so many bytes


def add_program():
    p = vinci.ProgramBuilder("add", "c220")
    x, y, z = p.arg("x"), p.arg("y"), p.arg("z")
    first = p.reg("first")
    p.get_block_idx(first)
    p.set(first, first * TILES * TILE)
    for r in x, y, z:
        p.add(r, r, first)
    a, b, c = (p.slots(name, 2, TILE) for name in "abc")  # copies and additions of neighbouring tiles overlap
    with p.loop(TILES):
        for slots, source in (a, x), (b, y):
            with p.fill(slots) as to:
                p.copy_gm_to_ubuf(to, source, sid=0, nBurst=1, lenBurst=TILE // 32, srcGap=0, dstGap=0)
        with p.drain(a) as u, p.drain(b) as v, p.fill(c) as w:
            p.vadd("f32", w, u, v, TILE // 256, 1, 1, 1, 8, 8, 8)
        with p.drain(c) as source:
            p.copy_ubuf_to_gm(z, source, sid=0, nBurst=1, lenBurst=TILE // 32, srcGap=0, dstGap=0)
        for r in x, y, z:
            p.add(r, r, TILE)
    p.end_block()
    return p.finish()


x = numpy.random.default_rng(1).random(BLOCKS * TILES * TILE // 4, numpy.float32)
y = numpy.arange(x.size, dtype=numpy.float32)
s = vinci.StreamBuilder("vector_add", "c220")
dx, dy, dz = (s.device(name, x.nbytes) for name in ("x", "y", "z"))
hz = s.host("hz", dtype="f4", shape=[x.size], output="z.npy")
add = s.kernel("add", add_program(), "AIV_ONLY")
s.stream("main").memcpy(dx, s.host("hx", x)).memcpy(dy, s.host("hy", y)).launch(add, BLOCKS, dx, dy, dz).memcpy(hz, dz)
stream = s.finish()
run = stream.run(vinci.Chip("ascend-910b1"))
print(f"{run.cycles} cycles, {numpy.count_nonzero(run.output('hz') != x + y)} wrong")
if len(sys.argv) > 1:
    print("saved", stream.write(sys.argv[1]))  # with add.s and the data: for vinci run
