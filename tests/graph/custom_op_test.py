# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Kernels of the user in `vinci compile --custom_op`: custom_op_test.py VINCI EXAMPLES."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy
import onnx
import onnx.numpy_helper

VINCI = sys.argv[1]
EXAMPLES = pathlib.Path(sys.argv[2])


def vinci(*args):
    return subprocess.run([VINCI, *map(str, args)], capture_output=True, text=True, check=False)


class CustomOps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def model(self, name, nodes, shape, opset=None, weights=()):
        value = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(nodes, "net", [value("x", onnx.TensorProto.FLOAT, shape)],
                                       [value("y", onnx.TensorProto.FLOAT, None)], list(weights))
        opsets = [onnx.helper.make_opsetid("", 13)] + ([onnx.helper.make_opsetid(opset, 1)] if opset else [])
        path = self.work / f"{name}.onnx"
        onnx.save(onnx.helper.make_model(graph, opset_imports=opsets), str(path))
        return path

    def leaky(self):
        node = onnx.helper.make_node
        weights = [onnx.numpy_helper.from_array(numpy.linspace(-1, 1, 33 * 100, dtype=numpy.float32).reshape(33, 100), "w")]
        return self.model("leaky", [node("LeakyRelu", ["x"], ["a"], name="first", alpha=0.25),
                                    node("MatMul", ["a", "w"], ["b"], name="product"),
                                    node("LeakyRelu", ["b"], ["c"], name="second", alpha=0.125),
                                    node("Add", ["c", "c"], ["y"], name="sum")], [7, 33], weights=weights)

    def compile(self, model, op, kernel, *options, code=0):
        out = self.work / f"out{len(list(self.work.iterdir()))}"
        result = vinci("compile", model, "-o", out, "--custom_op", f"{op}={kernel}", *options)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return out, result

    def test_computes_the_nodes_of_its_operator(self):
        for precision in ("force_fp16", "must_keep_origin_dtype"):
            out, result = self.compile(self.leaky(), "LeakyRelu", EXAMPLES / "leaky_relu.asc", "--check_nodes",
                                       "--precision_mode", precision)
            self.assertEqual(result.stdout.count(" custom "), 2, result.stdout)
            self.assertIn("right; the largest error", result.stdout)
            run = vinci("run", out / "leaky.yaml", "--chip", "ascend-910b1", "--check", "-o", out / "run")
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertIn("no findings", run.stdout)
            own = self.work / f"own-{precision}"
            self.assertEqual(vinci("compile", self.leaky(), "-o", own, "--precision_mode", precision).returncode, 0)
            self.assertEqual(vinci("run", own / "leaky.yaml", "--chip", "ascend-910b1", "-o", own / "run").returncode, 0)
            self.assertEqual((out / "run" / "y.npy").read_bytes(), (own / "run" / "y.npy").read_bytes())

    def test_a_wrong_kernel_is_found_by_node(self):
        text = (EXAMPLES / "leaky_relu.asc").read_text().replace("custom_op::attr::alpha", "0.5f")
        (self.work / "wrong.asc").write_text(text)
        _, result = self.compile(self.leaky(), "LeakyRelu", self.work / "wrong.asc", "--check_nodes", code=1)
        self.assertIn("the first one is first (custom)", result.stdout)

    def test_an_operator_that_only_its_kernel_knows(self):
        (self.work / "twice.asc").write_text("""
            #include "kernel_operator.h"
            #define BLOCK_DIM 1
            #define WORKSPACE_BYTES 4096
            // __global__ __aicore__ void not_this(GM_ADDR a)
            extern "C" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
              static_assert(custom_op::x::rank == 2 && custom_op::x::dims[1] == 48 && sizeof(DTYPE_X) == 2);
              AscendC::GlobalTensor<DTYPE_X> from, to, between;
              from.SetGlobalBuffer((__gm__ DTYPE_X*)x);
              to.SetGlobalBuffer((__gm__ DTYPE_Y*)y);
              between.SetGlobalBuffer((__gm__ DTYPE_X*)workspace);
              AscendC::TPipe pipe;
              AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
              pipe.InitBuffer(buffer, 4096);
              AscendC::LocalTensor<DTYPE_X> t = buffer.Get<DTYPE_X>();
              const uint32_t size = custom_op::x::size;
              AscendC::DataCopy(t, from, size);
              AscendC::PipeBarrier<PIPE_ALL>();
              AscendC::DataCopy(between, t, size);
              AscendC::PipeBarrier<PIPE_ALL>();
              AscendC::DataCopy(t, between, size);
              AscendC::PipeBarrier<PIPE_ALL>();
              AscendC::Muls(t, t, (DTYPE_X)custom_op::attr::factor, size);
              AscendC::PipeBarrier<PIPE_ALL>();
              AscendC::DataCopy(to, t, size);
            }""")
        model = self.model("twice", [onnx.helper.make_node("Twice", ["x"], ["a"], name="t", domain="my", factor=2.0),
                                     onnx.helper.make_node("Relu", ["a"], ["y"], name="r")], [4, 48], "my")
        out, _ = self.compile(model, "Twice", self.work / "twice.asc")
        numpy.save(out / "x.npy", numpy.linspace(-3, 3, 192, dtype=numpy.float32).reshape(4, 48))
        stream = (out / "twice.yaml").read_text()
        (out / "twice.yaml").write_text(stream.replace("random: true", "file: x.npy"))
        run = vinci("run", out / "twice.yaml", "--chip", "ascend-910b1", "--check", "-o", out / "run")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        x = numpy.load(out / "x.npy").astype(numpy.float16)
        numpy.testing.assert_array_equal(numpy.load(out / "run" / "y.npy"), numpy.maximum(x * 2, 0).astype(numpy.float32))
        _, result = self.compile(model, "Twice", self.work / "twice.asc", "--check_nodes", code=4)
        self.assertIn("the operator Twice is known by its kernel alone", result.stderr)

    def test_stores_of_the_scalar_unit_reach_the_tensor(self):
        (self.work / "ones.asc").write_text("""
            #include "kernel_operator.h"
            constexpr uint32_t BLOCK_DIM = 1;
            extern "C" __global__ __aicore__ void ones(GM_ADDR x, GM_ADDR y) {
              AscendC::GlobalTensor<DTYPE_Y> to;
              to.SetGlobalBuffer((__gm__ DTYPE_Y*)y);
              for (uint32_t i = 0; i < custom_op::y::size; ++i) to.SetValue(i, (DTYPE_Y)1);
            }""")
        model = self.model("ones", [onnx.helper.make_node("Relu", ["x"], ["a"], name="first"),
                                    onnx.helper.make_node("Ones", ["a"], ["y"], name="ones", domain="my")], [3, 50], "my")
        out, _ = self.compile(model, "Ones", self.work / "ones.asc")
        run = vinci("run", out / "ones.yaml", "--chip", "ascend-910b1", "-o", out / "run")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        numpy.testing.assert_array_equal(numpy.load(out / "run" / "y.npy"), numpy.ones((3, 50), numpy.float32))

    def test_says_what_is_wrong(self):
        kernel = EXAMPLES / "leaky_relu.asc"
        for op, file, text, code, message in (
                ("LeakyRelo", kernel, None, 2, "the model has no operator LeakyRelo; did you mean 'LeakyRelu'?"),
                ("LeakyRelu", "none.asc", None, 2, "none.asc"),
                ("LeakyRelu", "empty.asc", "int x;", 2, "there is no kernel"),
                ("LeakyRelu", "more.asc", "__global__ __aicore__ void a(GM_ADDR x){} __global__ __aicore__ void b(GM_ADDR x){}",
                 2, "none of its kernels (a, b) is called leaky_relu"),
                ("LeakyRelu", "few.asc", "extern \"C\" __global__ __aicore__ void k(GM_ADDR x) {}", 2,
                 "the kernel k has 1 parameters; first (LeakyRelu) has 1 inputs and 1 outputs"),
                ("LeakyRelu", "bad.asc", "extern \"C\" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) { return z; }", 2,
                 "the kernel of first (LeakyRelu) does not compile for its shapes"),
                ("LeakyRelu", "reads.asc", "extern \"C\" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) {\n"
                 "AscendC::GlobalTensor<half> t, u; t.SetGlobalBuffer((__gm__ half*)x); u.SetGlobalBuffer((__gm__ half*)y);\n"
                 "u.SetValue(0, t.GetValue(1)); }", 4, "reads.asc:4: the scalar unit reads a tensor or a result here"),
                ("LeakyRelu", "blocks.asc", "constexpr int BLOCK_DIM = -3;\n"
                 "extern \"C\" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) {}", 2, "BLOCK_DIM: 1 to 65535 blocks"),
                ("LeakyRelu", "fault.asc", "extern \"C\" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) "
                 "{ AscendC::GlobalTensor<half> t; t.SetGlobalBuffer((__gm__ half*)x); t.SetValue(1 << 20, half(1)); }", 2,
                 "the kernel of first (LeakyRelu) does not run")):
            if text is not None:
                (self.work / file).write_text('#include "kernel_operator.h"\n' + text)
            _, result = self.compile(self.leaky(), op, self.work / file, code=code)
            self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
