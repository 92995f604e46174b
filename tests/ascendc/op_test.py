# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""`vinci op`: operators of a package with their own tiling functions, against NumPy."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

VINCI = sys.argv[1]
PACKAGE = pathlib.Path(sys.argv[2])


class OpTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = os.environ | {"XDG_CACHE_HOME": str(CACHE)}

    def op(self, name, *arguments, code=0):
        done = subprocess.run([VINCI, "op", PACKAGE / name, *arguments], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def output(self, name, tensor="y"):
        return numpy.load(self.folder / "out" / name / f"{tensor}.npy")

    def test_runs_as_its_tiling_function_says(self):
        x = numpy.random.default_rng(1).standard_normal((96, 64)).astype(numpy.float16)
        numpy.save(self.folder / "x.npy", x)
        done = self.op("scale_add", "--input", "x=x.npy", "--input", "bias=f16:96,64=0.5", "--attr", "alpha=4",
                       "--attr", "limits=1,2", "--check")
        # 96 units of 64 elements on 48 cores
        self.assertIn("ScaleAdd: tiling key 2, 48 blocks, workspace 0 bytes, tiling data 32 bytes", done.stdout)
        expected = x * numpy.float16(4)
        for addend in (0.5, 1, 2):
            expected = expected + numpy.float16(addend)
        numpy.testing.assert_array_equal(self.output("scale_add"), expected)
        self.assertIn("for_another_chip.cpp", done.stderr)  # it does not compile, and is not needed

    def test_an_optional_input_may_be_absent_and_defaults_hold(self):
        self.op("scale_add", "--input", "x=f32:64=0.25", "-q")
        numpy.testing.assert_array_equal(self.output("scale_add"), numpy.full(64, 0.5, numpy.float32))

    def test_a_template_gets_the_arguments_of_its_key_and_a_list_its_tensors(self):
        self.op("sum_list", "--input", "x=f16:2,64=1.5", "--input", "x=f16:128=2", "--input", "times=i64=3", "--attr",
                "square=true", "--output", "y=2,64", "-q")
        # into an output that holds zeros before
        numpy.testing.assert_array_equal(self.output("sum_list"), numpy.full((2, 64), 3 * (2.25 + 4), numpy.float16))
        self.op("sum_list", "--input", "x=f32:2,64=1.5", "--input", "times=i64=3", "--attr", "square=false", "--output",
                "y=2,64", "-q")
        numpy.testing.assert_array_equal(self.output("sum_list"), numpy.full((2, 64), 4.5, numpy.float32))

    def test_an_operator_with_products_has_a_block_for_each_ai_core(self):
        done = self.op("count_cores", "--input", "x=i32:8=1", "--output", "y=8")
        self.assertIn("24 blocks, workspace 16777216 bytes", done.stdout)
        self.assertEqual(self.output("count_cores")[0], 25)

    def test_writes_the_inputs_of_an_operator_without_outputs(self):
        self.op("increment", "--input", "x=f32:64=1.5", "-q")
        numpy.testing.assert_array_equal(self.output("increment", "x"), numpy.full(64, 2.5, numpy.float32))

    def test_takes_the_definition_for_another_chip_where_there_is_no_other(self):
        done = self.op("racy", "--input", "x=f32:64=1.5")
        self.assertIn("note: Racy is not defined for ascend910b, ascend910_93; its definition for ascend310b is taken",
                      done.stderr)
        numpy.testing.assert_array_equal(self.output("racy"), numpy.full(64, 2.5, numpy.float32))

    def test_writes_outputs_where_the_check_has_findings(self):
        done = self.op("racy", "--input", "x=f32:64=1.5", "--check", code=3)
        self.assertIn("1 finding", done.stderr + done.stdout)
        numpy.testing.assert_array_equal(self.output("racy"), numpy.full(64, 2.5, numpy.float32))

    def test_tensors_in_one_allocation_may_be_left_by_a_few_bytes(self):
        # The kernel reads the block in front of x.
        self.assertIn("is in no allocation", self.op("increment", "--input", "x=f32:64=1.5", "--attr", "back=8", code=3).stderr)
        self.op("increment", "--input", "x=f32:64=1.5", "--attr", "back=8", "-q", "--allocation", "pages")

    def test_keeps_the_program(self):
        self.op("scale_add", "--input", "x=f32:64=1", "-q", "--program", "scale")
        self.assertTrue((self.folder / "scale").exists())

    def test_tells_what_an_operator_takes(self):
        self.assertEqual(self.op("sum_list", "--describe").stdout, """SumList
  input  x                        a list
  input  times                    required, read by the host
  output y                        required
  attr   square                   bool, required
data types of inputs and outputs:
  x:f32 times:i64 y:f32
  x:f16 times:i64 y:f16
""")

    def test_what_is_wrong_has_an_answer(self):
        x = ("--input", "x=f16:64")
        for arguments, message in [
                ((), "the input x is missing"),
                (("--input", "z=f16:64"), "there is no input z; there are x, bias"),
                ((*x, *x), "x is one tensor, and is given 2 times"),
                (("--input", "x=i8:64"), "no kernel has these data types; there are\n  x:f32 bias:f32 y:f32"),
                ((*x, "--attr", "beta=1"), "there is no attribute beta; there are alpha, limits"),
                ((*x, "--attr", "alpha=fast"), "the attribute alpha is no number: fast"),
                (("--input", "x=f16:63"), "the tiling function refuses this use"),
                (("--input", "x=f17:64"), "--input: there is no type 'f17'; did you mean 'f16'?"),
                (("--input", "x=f16:64:NX"), "--input: there is no format 'NX'; did you mean 'ND'?"),
                (("--input", "x=f16"), "the shape is missing"),
                (("--input", "x=f16:64=1,2"), "2 values for 64 elements"),
                (("--input", "x=f16:64@none.bin"), "none.bin"),
                ((*x, "--op-type", "Other"), "--op-type=Other: the operators are ScaleAdd"),
                ((*x, "--op-lib", "none"), "--op-lib=none: no such folder"),
        ]:
            self.assertIn(message, self.op("scale_add", *arguments, code=2).stderr)
        self.assertIn("there is no such folder", self.op("none", code=2).stderr)
        self.assertIn("there is no folder op_host", self.op("kernel_common", code=2).stderr)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        CACHE = cache
        unittest.main(argv=sys.argv[:1])
