#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Random sequences of calls of the Python module. Usage: random_calls.py [SEQUENCES] [FIRST_SEED]

A call returns or raises vinci.Error or one of the exceptions of Python for wrong types; an internal error, another
exception or a crash is a failure. The seed of a sequence is printed before it runs, so that a crash can be repeated:
random_calls.py 1 SEED.
"""
import array
import faulthandler
import gc
import random
import sys
import threading
import traceback

import numpy

import vinci
from programs import DOUBLE

ALLOWED = (AttributeError, BufferError, IndexError, OverflowError, TypeError, ValueError)
PROGRAMS = ["end\n", "loop: add X1, X1, 1\nbeq X2, 0, loop\nend\n", "vxor\n", "", b"VNCPROG\0".decode() + "x" * 64,
            DOUBLE]
STREAMS = ["""vinci: 1
name: s
arch: c220
buffers:
  a: {place: host, dtype: f4, shape: [4, 2], random: true, output: a.npy}
  d: {place: device, bytes: 32}
streams:
  m:
    - memcpy_async: {dst: d, src: a}
    - memcpy_async: {dst: a, src: d}
""", """vinci: 1
name: s
arch: c220
kernels:
  k: {type: AIV_ONLY, code: "loop: beq X2, 0, loop\\nend\\n"}
streams:
  m:
    - kernel_launch: {kernel: k, block_dim: 2}
""", "vinci: 1\nname: s\narch: m100\nstreams: {}\n", "", "{", "\0"]
NUMBERS = [0, 1, 2, 3, 8, 64, 255, 256, 512, 513, -1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 2**64, -2**63,
           -2**63 - 1, 10**30, True, None, "1", 1.5]


class Sequence:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.chips = [vinci.Chip("tiny")]
        self.devices = [vinci.Device(self.chips[0])]
        self.buffers = [self.devices[0].alloc(512), self.devices[0].alloc(512)]
        self.kernels = [self.devices[0].kernel(PROGRAMS[-1])]
        self.streams = [vinci.TaskStream.parse(STREAMS[0])]
        self.runs, self.arrays = [], []

    def pick(self, things):
        if not things or self.random.random() < 0.03:
            return self.random.choice([None, 0, "", object(), *self.chips, *self.buffers, *self.runs])
        return self.random.choice(things)

    def number(self):
        return self.random.choice(NUMBERS) if self.random.random() < 0.3 else self.random.choice([0, 1, 2, 8, 256])

    def data(self):
        size = self.random.choice([0, 1, 31, 32, 256, 512, 513, 4096])
        made = self.random.choice([
            lambda: bytes(size), lambda: bytearray(size), lambda: array.array("H", bytes(2 * (size // 2))),
            lambda: numpy.zeros(size // 4, numpy.float32), lambda: numpy.zeros((2, size), ">i2"),
            lambda: numpy.zeros((4, 8))[:, ::2], lambda: numpy.zeros(4, object), lambda: memoryview(bytearray(size)),
            lambda: "text", lambda: numpy.float32(1), lambda: numpy.zeros((0, 3)), lambda: None])()
        self.arrays.append(made)
        return made

    def options(self):
        out = {"max_cycles": self.random.choice([0, 1, 100, 20000])}
        for name, values in (("mode", ["full", "functional", "timing", "fast", ""]),
                             ("seed", [0, 7, 2**64 - 1, -1]), ("threads", [1, 2, 1025, 2**32]), ("check", [False, True])):
            if self.random.random() < 0.5:
                out[name] = self.random.choice(values)
        out.setdefault("threads", 1)
        return out

    def resize(self):
        """What a program may do with its arrays at any time."""
        it = self.pick(self.arrays)
        if isinstance(it, (bytearray, array.array)):
            self.random.choice([lambda: it.extend([1] * 5000), lambda: it.pop(), lambda: it.append(1)])()
        elif isinstance(it, numpy.ndarray):
            it.resize(self.random.choice([0, 1, 100000]), refcheck=self.random.random() < 0.3)

    def drop(self):
        things = self.random.choice([self.devices, self.buffers, self.kernels, self.streams, self.runs, self.arrays])
        if things:
            things.pop(self.random.randrange(len(things)))
        if self.random.random() < 0.1:
            gc.collect()

    def read(self):
        run = self.pick(self.runs)
        name = self.random.choice(["cycles", "seconds", "kernel_cycles", "instructions", "stats", "findings", "outputs"])
        value = getattr(run, name)
        if name == "outputs":
            self.arrays.extend(value.values())
        path = self.random.choice(["hbm/read_bytes", "core0.AIV/V/busy", "a~b", "", "/", "\0", "x/" * 100])
        self.random.choice([lambda: run.counter(path), lambda: self.arrays.append(run.output("a")),
                            lambda: run.output("\0")])()

    def together(self):
        """Two threads at the same things."""
        run = self.pick(self.runs)

        def body(call):
            try:
                call()
            except (vinci.Error, *ALLOWED):
                pass
        calls = [run.wait if hasattr(run, "wait") else len, self.random.choice(
            [lambda: run.wait(), lambda: run.cancel(), lambda: run.stats, self.transfer])]
        threads = [threading.Thread(target=body, args=(c,)) for c in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def transfer(self):
        buffer = self.pick(self.buffers)
        call = getattr(buffer, self.random.choice(["write", "read", "copy_in", "copy_out"]))
        if self.random.random() < 0.5:
            call(self.data())
        else:
            call(self.data(), self.number())

    def launch(self):
        arguments = [self.random.choice([self.pick(self.buffers), self.number(), (self.pick(self.buffers), self.number()),
                                         (), (1, 2, 3), [1]]) if self.random.random() < 0.3 else self.pick(self.buffers)
                     for _ in range(self.random.randrange(4))]
        self.pick(self.kernels).launch(self.random.choice([1, 2, self.number()]), *arguments)

    def step(self):
        choose = self.random.choice
        choose([
            lambda: self.chips.append(vinci.Chip(choose(["tiny", "tiny\0x", "none"]), choose([[], ["ai_cores=1"], ["x"]]))),
            lambda: self.devices.append(vinci.Device(self.pick(self.chips))),
            lambda: self.buffers.append(self.pick(self.devices).alloc(choose([256, 512, self.number()]))),
            lambda: self.kernels.append(self.pick(self.devices).kernel(
                choose(PROGRAMS), core=choose(["vector", "cube", "ai", "x"]), name=choose(["k", "", "k\0"]))),
            lambda: self.kernels.append(self.pick(self.devices).kernel(PROGRAMS[-1])),
            lambda: self.streams.append(vinci.TaskStream.parse(choose(STREAMS))),
            lambda: self.pick(self.streams).set_input(choose(["a", "d", "\0"]), self.data()),
            lambda: self.runs.append(self.pick(self.streams).submit(self.pick(self.chips), **self.options())),
            lambda: self.runs.append(self.pick(self.devices).submit(**self.options())),
            lambda: self.runs.append(self.pick(self.devices).run(**self.options())),
            lambda: self.pick(self.runs).wait(),
            lambda: self.pick(self.runs).cancel(),
            lambda: self.pick(self.buffers).free(),
            self.transfer, self.transfer, self.launch, self.launch, self.read, self.resize, self.drop, self.together])()

    def run(self):
        for _ in range(self.random.randrange(10, 80)):
            try:
                self.step()
            except vinci.Error as e:
                if e.status == "internal" or not str(e):
                    raise
            except ALLOWED:
                pass
        for made in self.arrays:  # outputs outlive their runs
            if isinstance(made, numpy.ndarray) and made.dtype != object:
                made.tobytes()


def main():
    faulthandler.enable()
    sequences = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for seed in range(first, first + sequences):
        print(f"seed {seed}", flush=True)
        try:
            Sequence(seed).run()
        except BaseException:
            traceback.print_exc()
            sys.exit(f"the sequence of seed {seed} failed")
    print(f"{sequences} sequences")


if __name__ == "__main__":
    main()
