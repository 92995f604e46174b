#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Plain Python code does not break the process: lifetimes, wrong values, signals, threads, fork."""
import array
import os
import signal
import threading
import time
import unittest

import numpy

import vinci
from programs import DOUBLE

ENDLESS = """vinci: 1
name: endless
arch: c220
kernels:
  k: {type: AIV_ONLY, code: "loop: add X1, X1, 1\\nbne X1, 0, loop\\nend\\n"}
streams:
  main:
    - kernel_launch: {kernel: k, block_dim: 1}
"""
# How much slower the process is than by itself: valgrind runs with its library in LD_PRELOAD.
SLOWNESS = 50 if "vgpreload" in os.environ.get("LD_PRELOAD", "") else 1


def endless():
    return vinci.TaskStream.parse(ENDLESS)


class Lifetimes(unittest.TestCase):
    BYTES = 256 * 4096

    def setUp(self):
        self.device = vinci.Device(vinci.Chip("tiny"))
        self.buffer = self.device.alloc(self.BYTES)
        self.buffer.write(b"\x05" * self.BYTES)

    def test_a_bytearray_keeps_its_size_until_the_run_is_done(self):
        into = bytearray(self.BYTES)
        self.buffer.copy_out(into)
        for change in (lambda: into.extend(b"x" * self.BYTES), into.clear, lambda: into.append(1), into.pop):
            with self.assertRaises(BufferError):
                change()
        self.device.run()
        self.assertEqual(into, b"\x05" * self.BYTES)
        into.clear()

    def test_an_array_keeps_its_size_until_the_run_is_done(self):
        into = array.array("B", bytes(self.BYTES))
        self.buffer.copy_out(into)
        for change in (lambda: into.append(1), into.pop, lambda: into.extend([1] * 100)):
            with self.assertRaises(BufferError):
                change()
        self.device.run()
        self.assertEqual(into.tobytes(), b"\x05" * self.BYTES)
        into.append(1)

    def test_a_numpy_array_that_is_resized_by_force_is_not_written(self):
        into = numpy.zeros(self.BYTES, numpy.uint8)
        with self.assertRaises(ValueError):
            self.buffer.copy_out(into)
            into.resize(1)
        into.resize(64 * self.BYTES, refcheck=False)
        others = [numpy.zeros(self.BYTES, numpy.uint8) for _ in range(8)]
        with self.assertRaisesRegex(vinci.Error, "resized"):
            self.device.run()
        self.assertFalse(any(other.any() for other in others))
        self.assertFalse(into.any())

    def test_a_view_of_a_numpy_array_that_is_resized_by_force_is_not_written(self):
        for view in (lambda a: a.view(numpy.uint32), lambda a: a.reshape(256, -1)[1:2], memoryview,
                     lambda a: numpy.asarray(memoryview(a.view())[16:])):
            whole = numpy.zeros(self.BYTES, numpy.uint8)
            self.buffer.copy_out(view(whole))
            whole.resize(64 * self.BYTES, refcheck=False)
            others = [numpy.zeros(self.BYTES, numpy.uint8) for _ in range(8)]
            with self.assertRaisesRegex(vinci.Error, "resized"):
                self.device.run()
            self.assertFalse(any(other.any() for other in others))
            self.assertFalse(whole.any())

    def test_a_view_that_stays_is_written(self):
        whole = numpy.zeros((2, self.BYTES), numpy.uint8)
        self.buffer.copy_out(whole[1])
        self.buffer.copy_out(memoryview(whole[0])[16:])
        dates = numpy.zeros(self.BYTES // 8, "datetime64[s]")  # of which there is no buffer
        self.buffer.copy_out(dates.view(numpy.uint8))
        self.device.run()
        self.assertTrue((whole[1] == 5).all() and (whole[0, 16:] == 5).all() and not whole[0, :16].any())
        self.assertTrue((dates.view(numpy.uint8) == 5).all())

    def test_arrays_are_free_after_a_run_that_fails_or_never_happens(self):
        into = bytearray(self.BYTES)
        self.buffer.copy_out(into)
        with self.assertRaises(vinci.Error):
            self.device.run(max_cycles=1)
        into.append(1)
        self.buffer.copy_out(memoryview(into)[:self.BYTES])
        del self.device, self.buffer
        into.append(1)

    def test_sources_are_copied(self):
        source = bytearray(b"\x07" * self.BYTES)
        self.buffer.copy_in(source)
        self.buffer.write(source)
        source.clear()
        self.device.run()
        into = bytearray(self.BYTES)
        self.buffer.read(into)
        self.assertEqual(into, b"\x07" * self.BYTES)

    def test_an_array_that_cannot_be_written_is_refused(self):
        for wrong in (b"x" * 8, memoryview(b"x" * 8), numpy.broadcast_to(numpy.uint8(0), (8,))):
            for call in (self.buffer.copy_out, self.buffer.read):
                with self.assertRaises((BufferError, ValueError, vinci.Error)):
                    call(wrong)
        self.device.run()


class Values(unittest.TestCase):
    def setUp(self):
        self.device = vinci.Device(vinci.Chip("ascend-910b1"))
        self.buffer = self.device.alloc(512)
        self.kernel = self.device.kernel(DOUBLE)

    def refused(self, call, *arguments, **named):
        with self.assertRaises(vinci.Error) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.status, "input", caught.exception)

    def test_texts_with_a_zero_byte(self):
        stream = vinci.TaskStream.parse(ENDLESS)
        run = stream.submit(vinci.Chip("ascend-910b1"), mode="timing")
        for call in (vinci.Chip, lambda t: vinci.Chip("tiny", [t]), vinci.TaskStream.load, run.counter, run.output,
                     lambda t: vinci.TaskStream.parse(ENDLESS, t), lambda t: stream.set_input(t, b""),
                     lambda t: self.device.kernel(DOUBLE, name=t)):
            self.refused(call, "tiny\0x")
            self.refused(call, "\0")
        self.refused(vinci.Chip.parse, "vinci: 1\0")
        self.refused(vinci.TaskStream.parse, ENDLESS + "\0")
        self.refused(self.device.kernel, DOUBLE + "\0")

    def test_arguments_of_kernels(self):
        for wrong in (2**64, -2**63 - 1, 10**100, (), (self.buffer,), (self.buffer, 2**64), (self.buffer, -1),
                      (self.buffer, "1"), (1, self.buffer), (self.buffer, 1, 2), (self.buffer, None), 1.5, None, "1",
                      [self.buffer, 0], (self.buffer, 513)):
            self.refused(self.kernel.launch, 1, self.buffer, wrong)
        self.refused(self.kernel.launch, 0, self.buffer)
        self.refused(self.kernel.launch, 2**32 - 1, self.buffer)
        self.refused(self.kernel.launch, 1, *[0] * 10000)
        self.kernel.launch(1, self.buffer, (self.buffer, numpy.uint64(256)))
        self.kernel.launch(numpy.int32(1), self.buffer, self.buffer, 2**64 - 1, -2**63, True)
        self.device.run()

    def test_an_index_that_throws(self):
        class Wrong:
            def __index__(self):
                raise KeyError("mine")
        with self.assertRaises(KeyError):
            self.kernel.launch(1, Wrong())
        with self.assertRaises(KeyError):
            self.kernel.launch(1, (self.buffer, Wrong()))

    def test_options(self):
        stream = endless()
        chip = vinci.Chip("ascend-910b1")
        self.refused(stream.run, chip, threads=1025)
        self.refused(stream.run, chip, threads=4_000_000_000)
        self.refused(stream.run, chip, mode="")
        self.refused(stream.run, chip, mode="full\0")
        for wrong in ({"threads": -1}, {"threads": 2**32}, {"max_cycles": -1}, {"max_cycles": 2**64}, {"seed": 1.5}):
            with self.assertRaises(TypeError):
                stream.run(chip, **wrong)

    def test_counters(self):
        run = self.device.run()
        for wrong in ("a~b", "~", "", "/", "core0.AIV/~1", "core0.AIV"):
            self.refused(run.counter, wrong)


class Signals(unittest.TestCase):
    def interrupt(self, wait, after=0.3):
        """Ctrl-C after so many seconds; returns the CPU seconds until the exception came."""
        at = []

        def kill():
            at.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)
        timer = threading.Timer(after, kill)
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                wait()
            return time.process_time() - at[0]
        finally:
            timer.join()

    def test_ctrl_c_ends_a_run(self):
        chip = vinci.Chip("ascend-910b1")
        for mode in ("full", "timing", "functional"):
            with self.subTest(mode):
                self.assertLess(self.interrupt(lambda: endless().run(chip, mode=mode, threads=1)), 0.2 * SLOWNESS)
                run = endless().submit(chip, mode=mode, threads=1)
                self.assertLess(self.interrupt(run.wait), 0.2 * SLOWNESS)
                with self.assertRaises(vinci.Error) as caught:
                    run.wait()
                self.assertEqual(caught.exception.status, "limit")

    def test_ctrl_c_ends_a_run_of_a_device(self):
        device = vinci.Device(vinci.Chip("ascend-910b1"))
        buffer = device.alloc(64)
        kernel = device.kernel("loop: add X1, X1, 1\nbne X1, 0, loop\nend\n")
        kernel.launch(1)
        into = bytearray(64)
        buffer.copy_out(into)
        self.assertLess(self.interrupt(device.run), 0.2 * SLOWNESS)
        into.append(1)
        buffer.copy_in(b"x" * 64)
        device.run()

    def test_a_handler_that_returns_leaves_the_run(self):
        seen = []
        before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        with self.assertRaises(vinci.Error) as caught:
            endless().run(vinci.Chip("ascend-910b1"), max_cycles=4_000_000 // SLOWNESS)
        timer.join()
        self.assertIn("limit of", str(caught.exception))
        self.assertEqual(seen, [1])

    def test_a_handler_may_simulate(self):
        chip = vinci.Chip("ascend-910b1")
        cycles = []
        before = signal.signal(signal.SIGUSR1, lambda *_: cycles.append(vinci.Device(chip).run().cycles))
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        with self.assertRaises(vinci.Error):
            endless().run(chip, max_cycles=4_000_000 // SLOWNESS)
        timer.join()
        self.assertEqual(cycles, [0])


class Threads(unittest.TestCase):
    def test_several_wait_for_one_run(self):
        device = vinci.Device(vinci.Chip("ascend-910b1"))
        a, b = device.alloc(256), device.alloc(256)
        kernel = device.kernel(DOUBLE)
        x, y = numpy.arange(64, dtype=numpy.float32), numpy.zeros(64, numpy.float32)
        a.copy_in(x)
        kernel.launch(1, a, b)
        b.copy_out(y)
        run = device.submit()
        seen = []

        def wait():
            run.wait()
            seen.append((run.cycles, y.tolist()))
        threads = [threading.Thread(target=wait) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(seen, 6 * [(run.cycles, (2 * x).tolist())])

    def test_a_device_is_used_while_it_runs(self):
        device = vinci.Device(vinci.Chip("ascend-910b1"))
        buffers = [device.alloc(65536) for _ in range(4)]
        kernel = device.kernel(DOUBLE)
        stop = threading.Event()
        wrong = []

        def use():
            data = bytearray(65536)
            while not stop.is_set():
                try:
                    for buffer in buffers:
                        buffer.write(data)
                        buffer.read(data)
                        buffer.copy_in(data[:64])
                        kernel.launch(1, buffer, buffer)
                        buffer.copy_out(data)
                    device.alloc(64).free()
                except (vinci.Error, BufferError):
                    pass
                except BaseException as e:
                    wrong.append(e)
                    return
                data = bytearray(65536)
        threads = [threading.Thread(target=use) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(10):
                run = device.submit()
                self.assertEqual(run.cycles, 0)
                run.wait()
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(wrong, [])

    def test_a_run_is_read_while_it_runs(self):
        run = endless().submit(vinci.Chip("ascend-910b1"))
        threading.Timer(0.3, run.cancel).start()
        thread = threading.Thread(target=lambda: self.assertRaises(vinci.Error, run.wait))
        thread.start()
        while thread.is_alive():
            self.assertEqual((run.cycles, run.seconds, run.instructions), (0, 0, 0))
            self.assertIsNone(run.stats)
            self.assertIsNone(run.findings)
            self.assertEqual(run.outputs, {})
        thread.join()


class Fork(unittest.TestCase):
    def in_child(self, body):
        """Whether `body` is true in a forked process."""
        child = os.fork()
        if child == 0:
            signal.alarm(20 * SLOWNESS)  # the child that hangs dies
            try:
                os._exit(0 if body() else 1)
            finally:
                os._exit(2)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    def test_a_child_simulates_when_no_run_was_under_way(self):
        chip = vinci.Chip("ascend-910b1")
        device = vinci.Device(chip)
        self.assertTrue(self.in_child(lambda: device.run().cycles == 0 and vinci.Device(chip).run().cycles == 0))

    def test_a_child_is_told_that_it_cannot_simulate(self):
        chip = vinci.Chip("ascend-910b1")
        run = endless().submit(chip)
        thread = threading.Thread(target=lambda: self.assertRaises(vinci.Error, run.wait))
        thread.start()
        time.sleep(0.3)

        def child():
            try:
                vinci.Device(chip).run()
            except vinci.Error as e:
                return e.status == "unsupported" and "forked" in str(e)
            return False
        try:
            self.assertTrue(self.in_child(child))
        finally:
            run.cancel()
            thread.join()
        self.assertEqual(vinci.Device(chip).run().cycles, 0)  # the parent goes on


if __name__ == "__main__":
    unittest.main()
