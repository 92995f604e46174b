#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""vinci.ProgramBuilder and vinci.StreamBuilder: what they write, what runs, and that wrong use raises."""
import gc
import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy

import vinci


def program(write, arch="c220", **named):
    p = vinci.ProgramBuilder("k", arch, **named)
    write(p)
    p.end()
    return p.finish()


def lines(built):
    return [line.strip() for line in built.text.splitlines() if not line.startswith((".arch", ".alias", ".const"))]


def run_program(write, count=1):
    """The numbers that a program stores to its only argument, of a functional run."""
    device = vinci.Device(vinci.Chip("ascend-910b1"))
    out = device.alloc(8 * count)
    device.kernel(program(write)).launch(1, out)
    device.run(mode="functional")
    numbers = numpy.zeros(count, numpy.int64)
    out.read(numbers)
    return numbers.tolist()


TOOL = sys.argv[1]


class Refusals(unittest.TestCase):
    def refused(self, pattern, call, *arguments, **named):
        with self.assertRaisesRegex(vinci.Error, pattern) as caught:
            call(*arguments, **named)
        return caught.exception


class Programs(Refusals):
    def test_each_instruction_of_the_table_is_a_method(self):
        kept = {"and": "and_", "or": "or_", "xor": "xor_", "not": "not_"}
        table = subprocess.run([TOOL, "isa"], capture_output=True, text=True, check=True).stdout
        names = [line.split()[0] for line in table.splitlines()[1:] if re.match(r"[a-z]", line)]
        self.assertGreater(len(names), 100)
        for name in names:
            self.assertTrue(hasattr(vinci.ProgramBuilder, kept.get(name, name)), name)

    def test_operands_by_position_by_name_and_left_out(self):
        def write(p):
            a = p.reg("a")
            p.vadd("f16", a, 64, dst_ := 128, 4, 1, 1, 1, 8, 8, 8)
            p.vadd("f16", a, src0=64, src1=dst_, repeat=4, dstBlkStride=1, src0BlkStride=1, src1BlkStride=1,
                   dstRepStride=8, src0RepStride=8, src1RepStride=8)
            p.call("vadd.f16", a, 64, 128, 4, 1, 1, 1, 8, 8, 8)
            p.set_flag("PIPE_V", "MTE3", 1)
            p.wait_flag("PIPE_V", "PIPE_MTE3", 1)
            p.pipe_barrier("PIPE_ALL")
        built = program(write)
        self.assertEqual(lines(built)[:3], ["vadd.f16 a, 0x40, 0x80, 4, 1, 1, 1, 8, 8, 8"] * 3)
        self.assertEqual(lines(built)[3:], ["set_flag PIPE_V, PIPE_MTE3, EVENT_ID1",
                                            "wait_flag PIPE_V, PIPE_MTE3, EVENT_ID1", "pipe_barrier PIPE_ALL", "end"])
        self.assertEqual(built.words.shape, (7, 4))
        self.assertEqual(built.words.dtype, numpy.uint64)
        self.assertEqual(built.file[40:72], built.words[0].tobytes())

    def test_control_runs(self):
        def write(p):
            out = p.arg("out")
            i, total, small = p.regs("i", "total", "small")
            n = p.constant("N", 3)
            with p.loop(4) as j:  # 0 + 1 + 2 + 3
                p.add(total, total, j)
            with p.loop(i, 10, 20, step=5):  # 10 + 15
                p.add(total, total, i)
                with p.if_(i == 10):
                    p.add(small, small, 1)
                with p.else_():
                    p.add(small, small, 100)
            with p.if_(total > n * 100):
                p.mov(small, 0)
            with p.if_(~(total < 5)):
                p.set(total, total * 2 - n + i)
            p.st_dev("b64", total, out)
            p.set(small, (1000 - small).max(0))
            p.st_dev("b64", small, out, offset=8)
        self.assertEqual(run_program(write, 2), [31 * 2 - 3 + 20, 1000 - 101])

    def test_labels_scopes_and_names(self):
        def write(p):
            with p.scope():
                p.reg("a")
                self.assertEqual(p.reg("b").number, 1)
            a = p.reg("c")
            self.assertEqual(a.number, 0)
            b = p.alias("d", a)
            p.comment("counts down")
            again, done = p.here("again"), p.label("done")
            p.branch(a <= 0, done)
            p.sub(a, b, 1)
            p.b(again)
            p.bind(done)
            p.release(a)
            self.assertEqual(p.x(0).number, 0)
            self.assertEqual(len(p), 3)
        self.assertIn("// counts down", program(write).text.replace("; counts down", "// counts down"))

    def test_arithmetic_of_constants_is_that_of_numbers(self):
        p = vinci.ProgramBuilder("k", "c220")
        n, m = p.constant("N", 12), p.constant("M", -5)
        self.assertEqual([n + 1, 1 + n, n * m, n // 5, 100 // n, n % 5, -m, 1 << n, n == 12, m < n, int(m)],
                         [13, 13, -60, 2, 8, 2, 5, 4096, True, True, -5])
        self.assertEqual([0] * 20, [0] * 20 if range(20)[n] == 12 else None)

    def test_refusals_have_the_text_of_the_assembler(self):
        p = vinci.ProgramBuilder("gemm", "c220")
        a = p.reg("a")
        p.mov(a, 0)
        error = self.refused(r"^gemm\.s: instruction 1: vadd: repeat = 256 is not in \[0, 255\]$", p.vadd, "f16", a, a,
                             a, 256, 1, 1, 1, 8, 8, 8)
        self.assertEqual((error.status, error.code), ("input", 2))
        self.refused("vadd needs a type", p.vadd, a, a, a, 1, 1, 1, 1, 8, 8, 8)
        self.refused("f15", p.vadd, "f15", a, a, a, 1, 1, 1, 1, 8, 8, 8)
        self.refused("operand 2 .* is missing", p.mov, a)
        self.refused("mov has 2 operands, not 3", p.mov, a, 1, 2)
        self.refused("mov: 'rd' must be a register", p.mov, 1, 2)
        self.refused("must be a number or a register, not a pipe", p.mov, a, "PIPE_V")
        self.refused("vector: no|no pipe 'vector'", p.mov, a, "vector")
        self.refused("vexp has no operand 'colour'", p.vexp, "f32", a, a, 1, 1, 1, 8, 8, colour=1)
        self.refused("mov: 'a' is given twice", p.mov, a, 1, a=2)
        self.refused("vadd: 'src0' is missing", p.vadd, "f16", a, src1=3)
        self.refused(r"vinci\.f32\(\)", p.mov, a, 1.5)
        self.refused("is no number", p.mov, a, None)
        self.refused("not from -2", p.mov, a, 2**64)
        self.refused("set\\(\\) puts it into a register", p.mov, a, a + 1)
        self.refused("did you mean 'vadd'", p.call, "vad.f16", 0, 0, 0)
        self.refused("no memory 'L3'", p.buffer, "b", "L3", 64)
        self.refused("architecture", vinci.ProgramBuilder, "k", "c221")
        self.refused("only on", program, lambda q: q.vbitsort("f16", 0, 0, 1))
        p.end()
        self.assertEqual(lines(p.finish()), ["mov a, 0", "end"])  # what was refused is not there

    def test_a_core_is_checked(self):
        core = vinci.CoreLimits("AIV", {"UB": 1024}, flags_per_pair=4)
        p = vinci.ProgramBuilder("k", "c220", core)
        self.refused("no PIPE_M", p.mad, "f162f32", 0, 0, 0, 16, 16, 16, 1)
        self.refused("event id 4", p.hand_over, "V", "MTE3", 4)
        self.refused("AIV has 1024 bytes", p.buffer, "x", "UB", 2000)
        self.refused("kind of core", vinci.CoreLimits, "AIX", {})

    def test_floats_as_bits(self):
        self.assertEqual(vinci.f32(1.0), 0x3F800000)
        self.assertEqual(vinci.f16(1.0), 0x3C00)

    def test_comparisons_have_no_truth(self):
        p = vinci.ProgramBuilder("k", "c220")
        a = p.reg("a")
        self.refused("true or false when the program runs", lambda: bool(a < 1))
        self.refused("true or false when the program runs", lambda: 0 < a < 5)
        with self.assertRaises(TypeError):
            a + "1"
        with self.assertRaises(TypeError):
            (a + 1) + (a + 2)


class Lifetimes(Refusals):
    def test_a_builder_makes_one_program(self):
        p = vinci.ProgramBuilder("k", "c220")
        a, slots, target = p.reg("a"), p.slots("s", 1, 64), p.label("t")
        with p.fill(slots) as at:
            p.vector_dup("f32", at, 0, 1, 1, 1, 8, 0)
        with p.drain(slots) as at:
            p.copy_ubuf_to_gm(a, at, 0, 1, 1, 0, 0)
        p.bind(target)
        p.end_block()
        built = p.finish()
        for call in (p.finish, p.end, p.end_block, lambda: p.reg("b"), lambda: p.mov(a, 1), lambda: p.bind(target),
                     lambda: p.alias("b", a), lambda: p.set(a, a + 1), lambda: p.release(a), lambda: p.comment("x"),
                     lambda: p.fill(slots).__enter__(), lambda: len(p), lambda: p.arch, lambda: p.slots("t", 1, 64)):
            q = self.refused("has been finished|left by an exception", call)
            self.assertEqual(q.status, "input")
        del p, a, slots, target, at
        gc.collect()
        self.assertIn("vector_dup", built.text)

    def test_parts_outlive_their_builder(self):
        p = vinci.ProgramBuilder("k", "c220")
        a, n, body, slots = p.reg("a"), p.constant("N", 5), p.loop(3), p.slots("s", 2, 64)
        condition, expression = a < n, a + n
        del p
        gc.collect()
        self.assertEqual((a.number, int(n), slots.count), (0, 5, 2))
        with body as i:
            self.assertEqual(i.number, 3)
        self.assertIsNotNone((~condition, expression * 2))

    def test_parts_of_another_builder_are_refused(self):
        p, q = vinci.ProgramBuilder("p", "c220"), vinci.ProgramBuilder("q", "c220")
        a, n, t, s = q.reg("a"), q.constant("N", 5), q.label("t"), q.slots("s", 1, 64)
        b = p.reg("b")
        for call in (lambda: p.mov(a, 1), lambda: p.mov(b, a), lambda: p.mov(b, n), lambda: p.b(t), lambda: p.bind(t),
                     lambda: p.fill(s), lambda: p.drain(s), lambda: p.set(b, a + 1), lambda: p.set(b, b + a),
                     lambda: p.branch(b < 1, t), lambda: p.if_(a < 1), lambda: a < b, lambda: p.release(a),
                     lambda: p.alias("x", a), lambda: p.loop(a), lambda: p.loop(b, 0, a)):
            self.refused("of another ProgramBuilder", call)
        p.end()
        self.assertEqual(lines(p.finish()), ["end"])

    def test_a_body_that_raises_makes_the_builder_unusable(self):
        for open_body in (lambda p: p.loop(3), lambda p: p.if_(p.reg("a") == 0), lambda p: p.scope(),
                          lambda p: p.fill(p.slots("s", 2, 64)), lambda p: p.drain(p.slots("s", 2, 64))):
            p = vinci.ProgramBuilder("k", "c220")
            with self.assertRaises(ZeroDivisionError):
                with p.loop(2):
                    with open_body(p):
                        1 // 0
            for call in (p.end, p.finish, lambda: p.loop(1).__enter__(), lambda: len(p)):
                self.refused("left by an exception", call)

    def test_an_exception_inside_that_is_caught_is_no_end(self):
        p = vinci.ProgramBuilder("k", "c220")
        with self.assertRaisesRegex(vinci.Error, "left by an exception"):
            with p.loop(2):
                try:
                    with p.loop(2):
                        raise KeyError
                except KeyError:
                    pass

    def test_bodies_in_the_wrong_order_are_refused(self):
        p = vinci.ProgramBuilder("k", "c220")
        one, two = p.loop(2), p.loop(3)
        one.__enter__()
        two.__enter__()
        self.refused("another order", one.__exit__, None, None, None)
        self.refused("another order", two.__exit__, None, None, None)
        p = vinci.ProgramBuilder("k", "c220")
        self.refused("without a beginning", p.loop(2).__exit__, None, None, None)
        p = vinci.ProgramBuilder("k", "c220")
        body = p.loop(2)
        with body:
            pass
        self.refused("entered twice", body.__enter__)
        p = vinci.ProgramBuilder("k", "c220")
        with p.loop(2):
            self.refused("inside the body", p.finish)
        p.end()
        p.finish()

    def test_else_follows_its_if(self):
        p = vinci.ProgramBuilder("k", "c220")
        a = p.reg("a")
        with p.if_(a == 0):
            p.mov(a, 1)
        p.mov(a, 2)
        self.refused("follows the body of an if_", p.else_().__enter__)

    def test_slots_without_an_instruction_are_refused(self):
        p = vinci.ProgramBuilder("k", "c220")
        slots = p.slots("s", 2, 64)
        with self.assertRaisesRegex(vinci.Error, "no instruction uses slots 's' here"):
            with p.fill(slots):
                pass
        self.refused("left by an exception", p.end_block)


def add_one(name="add_one"):
    p = vinci.ProgramBuilder(name, "c220")
    x, y = p.arg("x"), p.arg("y")
    at = p.buffer("at", "UB", 256)
    p.copy_gm_to_ubuf(at, x, 0, 1, 8, 0, 0)
    p.hand_over("MTE2", "V", 0)
    p.vadds("f32", at, at, vinci.f32(1), 1, 1, 1, 8, 8)
    p.hand_over("V", "MTE3", 0)
    p.copy_ubuf_to_gm(y, at, 0, 1, 8, 0, 0)
    p.end()
    return p.finish()


class Streams(Refusals):
    def setUp(self):
        self.chip = vinci.Chip("ascend-910b1")
        self.x = numpy.arange(64, dtype=numpy.float32).reshape(8, 8)

    def stream(self):
        s = vinci.StreamBuilder("add", "c220", comment="adds one")
        x, y = s.host("x", self.x), s.host("y", dtype="f4", shape=(8, 8), output="y.npy")
        dx, dy = s.device("dx", 256), s.device("dy", 512)
        k = s.kernel("add_one", add_one(), "AIV_ONLY")
        ready = s.event("ready")
        main, other = s.stream("main"), s.stream("other", priority=3)
        main.memcpy(dx, x).launch(k, 1, dx, dy + 256, name="first").record(ready)
        other.wait(ready).memcpy(y, dy + 256)
        self.assertEqual((len(main), (dy + 256).offset), (3, 256))
        return s

    def test_a_stream_runs(self):
        built = self.stream().finish()
        self.assertEqual((built.name, built.arch), ("add", "c220"))
        run = built.run(self.chip)
        numpy.testing.assert_array_equal(run.output("y"), self.x + 1)
        self.assertEqual([t["name"] for t in run.stats["tasks"]][1], "first")
        built.set_input("x", -self.x)
        numpy.testing.assert_array_equal(built.run(self.chip, mode="functional").output("y"), 1 - self.x)

    def test_saved_forms_run_in_the_same_time(self):
        built = self.stream().finish()
        cycles = built.run(self.chip).cycles
        self.assertEqual(vinci.TaskStream.parse(built.yaml()).run(self.chip).cycles, cycles)
        self.assertEqual(vinci.TaskStream.parse(built.vts()).run(self.chip).cycles, cycles)
        with tempfile.TemporaryDirectory() as folder:
            path = built.write(os.path.join(folder, "new"))
            self.assertEqual(sorted(os.listdir(os.path.dirname(path))), ["add.yaml", "add_one.s", "x.npy"])
            numpy.testing.assert_array_equal(numpy.load(os.path.join(folder, "new/x.npy")), self.x)
            run = vinci.TaskStream.load(path).run(self.chip)
            self.assertEqual(run.cycles, cycles)
            numpy.testing.assert_array_equal(run.output("y"), self.x + 1)

    def test_host_threads_models_and_collectives(self):
        s = vinci.StreamBuilder("all", "c220", devices=2)
        k = s.opaque_kernel("work", "AIC_ONLY", 2e-6)
        graph, peer, world, slots = s.model("graph"), s.notify("peer"), s.comm("pair", [0, 1]), s.semaphore("slots", 1)
        buffers = [s.device(f"b{d}", 64, device=d, l2="bypass") for d in range(2)]
        streams = [s.stream(f"s{d}", device=d) for d in range(2)]
        for b, stream in zip(buffers, streams):
            stream.memset(b, 0).hccl("all_reduce", world, b, b, 16, dtype="f4").hccl("broadcast", s.world(), b, count=16)
        streams[0].launch(k, 4).execute(graph).record(peer)
        streams[1].wait(peer).reduce(buffers[1], buffers[1] + 32, 32, "MAX", "i4").free(buffers[1])
        s.stream("head", model=graph).launch(k, 2).end_graph(graph)
        t = s.thread("main")
        t.enqueue(streams[0]).enqueue(streams[1], 0, 2).enqueue(streams[1], 2)
        with t.repeat(3):
            t.wait(slots).compute(1e-6, "work").post(slots)
        t.synchronize(streams[0]).synchronize_device(1)
        built = s.finish()
        for part in ("hccl: {op: all_reduce", "model_execute: graph", "repeat", "reduce_async", "free: b1", "l2: bypass"):
            self.assertIn(part, built.yaml())
        self.assertGreater(built.run(vinci.Chip("ascend-910b1"), mode="timing").cycles, 3000)

    def test_contents_of_the_host(self):
        s = vinci.StreamBuilder("data", "c220")
        s.host("raw", b"\x01\x02")
        s.host("half", numpy.ones((2, 3), numpy.float16))
        s.host("random", dtype="f4", shape=[5], random=True)
        s.stream("main").memset(s.device("d", 32), 1)
        text = s.finish().yaml()
        for part in ('raw: {place: host, bytes: 2, data: "0102"}', "half: {place: host, bytes: 12, dtype: f2, shape: [2, 3]",
                     "random: {place: host, bytes: 20, dtype: f4, shape: [5], random: true"):
            self.assertIn(part, text)
        s = vinci.StreamBuilder("data", "c220")
        self.refused("contiguous", s.host, "x", numpy.ones((4, 4), numpy.float32)[:, 1])
        self.refused("byte order", s.host, "x", numpy.ones(4, ">f4"))
        self.refused("byte order", s.host, "x", numpy.array([None]))

    def test_refusals(self):
        s = vinci.StreamBuilder("s", "c220")
        k, d = s.opaque_kernel("k", "AIC_ONLY", 1e-6), s.device("d", 64)
        main = s.stream("main")
        self.refused("kernel type 'AIX'", s.opaque_kernel, "k", "AIX", 1e-6)
        self.refused("cache hint", s.device, "d", 64, 0, "none")
        self.refused(r"argument 2 of the launch: 1\.5", main.launch, k, 1, d, 1.5)
        self.refused("argument 1 of the launch: 'x' is no number", main.launch, k, 1, "x")
        self.refused("collective 'sum'", main.hccl, "sum", s.comm("w", [0]), d, d, 1)
        main.memcpy(d, s.device("e", 32))
        self.refused("the source has 32 bytes, the destination 64", s.finish)

    def test_parts_of_another_builder_are_refused(self):
        s, q = vinci.StreamBuilder("s", "c220"), vinci.StreamBuilder("q", "c220")
        k, d, e, m = q.opaque_kernel("k", "AIC_ONLY", 1e-6), q.device("d", 64), q.event("e"), q.model("m")
        main, thread, own = s.stream("main"), s.thread("t"), s.device("d", 64)
        for call in (lambda: main.launch(k, 1), lambda: main.memcpy(own, d), lambda: main.memset(d, 0),
                     lambda: main.record(e), lambda: main.execute(m), lambda: main.activate(q.stream("a")),
                     lambda: thread.enqueue(q.stream("b")), lambda: thread.synchronize(e), lambda: main.free(d),
                     lambda: s.stream("x", model=m), lambda: thread.post(q.semaphore("s"))):
            self.refused("another StreamBuilder", call)
        self.assertEqual(len(main), 0)

    def test_a_builder_makes_one_stream(self):
        s = self.stream()
        main, thread, d, e = s.stream("late"), s.thread("t"), s.device("d", 64), s.event("e")
        main.memset(d, 0)
        thread.enqueue(main)
        repeat = thread.repeat(3)
        self.refused("", s.finish)  # the other streams are not enqueued
        s = self.stream()
        main, d, e = s.stream("late"), s.device("d", 64), s.event("e")
        main.memset(d, 0)
        built = s.finish()
        for call in (s.finish, lambda: s.device("x", 64), lambda: main.memset(d, 0), lambda: len(main),
                     lambda: main.record(e), lambda: s.stream("x"), lambda: s.event("x"), lambda: s.thread("x")):
            self.refused("has been finished", call)
        del s, main, d, e
        gc.collect()
        numpy.testing.assert_array_equal(built.run(self.chip).output("y"), self.x + 1)
        self.assertIsNotNone(repeat)

    def test_parts_outlive_their_builder(self):
        s = self.stream()
        main, d, thread = s.stream("late"), s.device("d", 64), s.thread("t")
        del s
        gc.collect()
        self.assertEqual(len(main.memset(d + 32, 0)), 1)
        with thread.repeat(2):
            thread.enqueue(main)

    def test_a_repeat_that_raises_makes_the_builder_unusable(self):
        s = self.stream()
        thread = s.thread("t")
        with self.assertRaises(KeyError):
            with thread.repeat(2):
                raise KeyError
        self.refused("left by an exception", s.finish)
        self.refused("left by an exception", thread.compute, 1e-6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
