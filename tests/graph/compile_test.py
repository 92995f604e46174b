# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""`vinci compile` as a user meets it: compile_test.py VINCI MAKE_NETWORK."""
import csv
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy
import onnx
import onnx.numpy_helper

VINCI, MAKE = sys.argv[1:3]


def vinci(*args):
    return subprocess.run([VINCI, *map(str, args)], capture_output=True, text=True, check=False)


class Compile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        cls.model = cls.work / "block.onnx"
        subprocess.run([sys.executable, MAKE, "block", cls.model], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def compiled(self, soc, *options, model=None):
        out = self.work / f"{soc}{len(list(self.work.iterdir()))}"
        result = vinci("compile", model or self.model, "--soc_version", soc, "-o", out, "--check_nodes", *options)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        passes = json.loads((out / "fusion_result.json").read_text())[0]["session_and_graph_id_0_0"]
        return out, (out / "nodes.txt").read_text(), passes

    def test_compiles_and_runs_without_findings(self):
        for soc, tasks in (("Ascend910B1", 9), ("Ascend310P3", 8), ("Ascend910A", 8)):
            chip = soc.lower().replace("ascend", "ascend-")
            out, table, passes = self.compiled(soc)
            self.assertIn(f"{tasks} tasks on {chip}", table)
            self.assertEqual(passes["graph_fusion"]["ConvBatchnormFusionPass"]["effect_times"], "3")
            norms = passes["graph_fusion"]["ConvBatchnormFusionPass"]
            self.assertEqual((len(norms["applied"]), norms["tasks_fewer"]), (3, 3))
            saved = f"    3 x Conv2D + BatchNorm, {norms['bytes_not_written']} B not written, "
            self.assertIn(saved, (out / "fusion.txt").read_text())
            run = vinci("run", out / "block.yaml", "--chip", chip, "--check", "-o", out / "run")
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertIn("no findings", run.stdout)
            self.assertTrue((out / "run" / "Gemm_12.npy").exists())

    def test_shadow_reports_by_node(self):
        out, table, _ = self.compiled("Ascend910B1")
        run = vinci("run", out / "block.yaml", "--chip", "ascend-910b1", "--numerics=shadow", "--mode", "functional", "-o",
                    out / "run")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        shadow = json.loads((out / "run" / "numerics.json").read_text())["shadow"]
        tasks = {t["task"]: t for t in shadow["tasks"]}
        for node in ("Conv_0", "Conv_3", "Conv_6", "Add_8", "GlobalAveragePool_10", "Gemm_12"):
            self.assertIn(node, table)
            self.assertGreater(tasks[node]["results"], 0)
            self.assertIn(f"\n{node} ", run.stdout)
        self.assertLess(shadow["restarted"] + shadow["ended"], shadow["results"] / 1000)
        error = {o["buffer"]: o["error"]["rms_relative"] for o in shadow["outputs"]}["out_Gemm_12"]
        self.assertTrue(0 < error < 0.01, error)

    def test_says_where_f16_has_few_bits(self):
        node, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(
            [node("Softmax", ["x"], ["s"], axis=-1), node("Mul", ["s", "c"], ["a"], name="scale"),
             node("HardSwish", ["a"], ["y"])], "net", [value("x", onnx.TensorProto.FLOAT, [4, 100])],
            [value("y", onnx.TensorProto.FLOAT, None)], [onnx.helper.make_tensor("c", onnx.TensorProto.FLOAT, [], [1e-4])])
        path = self.work / "tiny.onnx"
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 14)]), str(path))
        result = vinci("compile", path, "-o", self.work / "tiny", "--check_nodes")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("the first one is scale", result.stdout)
        self.assertIn("below the normal numbers of f16", result.stdout)

    def test_bins_of_a_dynamic_batch(self):
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node("Relu", ["x"], ["r"]), onnx.helper.make_node("Softmax", ["r"], ["y"], axis=-1)], "net",
            [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 48])],
            [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 48])])
        model = self.work / "dynamic.onnx"
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]), str(model))
        out, table, _ = self.compiled("Ascend910B1", "--input_shape", "x:-1,48", "--dynamic_batch_size", "1,4,16", model=model)
        self.assertIn("(AICPU)", table)
        stream = out / "dynamic.yaml"
        text = stream.read_text()
        self.assertIn("label_switch", text)
        for mode in ("timing", "full"):
            run = vinci("run", stream, "--chip", "ascend-910b1", "--mode", mode, "-o", out / mode)
            self.assertEqual(run.returncode, 0, run.stderr)
        y = numpy.load(out / "full" / "y.npy")
        self.assertEqual(y.shape, (16, 48))
        numpy.testing.assert_allclose(y.sum(axis=1), 1, atol=2e-2)  # the largest bin, without another choice
        for options, message in ((["--dynamic_batch_size", "1,1"], "E10039"), (["--dynamic_batch_size", "4"], "E10035"),
                                 (["--dynamic_dims", "1,2;3,4"], "E10045"), (["--dynamic_batch_size", "x"], "no extent")):
            failed = vinci("compile", model, "-o", out / "bad", "--input_shape", "x:-1,48", *options)
            self.assertEqual(failed.returncode, 2 if message == "no extent" else failed.returncode)
            self.assertIn(message, failed.stderr)

    def functions_model(self, name, functions, nodes, outputs, opset=13):
        value, opsets = onnx.helper.make_tensor_value_info, [onnx.helper.make_opsetid("", 13), onnx.helper.make_opsetid("my", 1)]
        made = [
            onnx.helper.make_function("my", f, ins, outs, body, [onnx.helper.make_opsetid("", opset), opsets[1]], attributes)
            for f, ins, outs, body, attributes in functions
        ]
        graph = onnx.helper.make_graph(nodes, "net", [value("x", onnx.TensorProto.FLOAT, [4, 32])],
                                       [value(y, onnx.TensorProto.FLOAT, None) for y in outputs])
        path = self.work / f"{name}.onnx"
        onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, functions=made), str(path))
        return path

    def test_functions_of_the_model(self):
        node = onnx.helper.make_node
        along = node("Softmax", ["a"], ["s"], name="soft")
        reference = along.attribute.add()
        reference.name, reference.ref_attr_name, reference.type = "axis", "along", onnx.AttributeProto.INT
        functions = [("Soft", ["a"], ["s"], [along], ["along"]),
                     ("Twice", ["a"], ["b", "a"], [node("Add", ["a", "a"], ["b"])], []),
                     ("Both", ["a", "k"], ["r"],
                      [node("Twice", ["a"], ["t", "same"], domain="my"), node("Soft", ["t"], ["s"], domain="my", along=0),
                       node("Mul", ["s", "same"], ["r"])], [])]
        nodes = [node("Both", ["x", ""], ["y"], domain="my", name="both"), node("Soft", ["x"], ["z"], domain="my", along=1)]
        path = self.functions_model("functions", functions, nodes, ["y", "z"])
        x = numpy.random.default_rng(3).standard_normal((4, 32)).astype(numpy.float32)
        numpy.save(self.work / "functions.npy", x)
        out, table, _ = self.compiled("Ascend910B1", "--precision_mode", "must_keep_origin_dtype", "--input",
                                      f"x:{self.work / 'functions.npy'}", model=path)
        self.assertIn("both/Soft/soft", table)
        run = vinci("run", out / "functions.yaml", "--chip", "ascend-910b1", "--mode", "functional", "-o", out / "run")
        self.assertEqual(run.returncode, 0, run.stderr)

        def soft(v, axis):
            e = numpy.exp(v - v.max(axis=axis, keepdims=True))
            return e / e.sum(axis=axis, keepdims=True)

        numpy.testing.assert_allclose(numpy.load(out / "run" / "y.npy"), soft(2 * x, 0) * x, atol=1e-4)
        numpy.testing.assert_allclose(numpy.load(out / "run" / "z.npy"), soft(x, 1), atol=1e-4)

    def test_functions_that_have_no_end(self):
        node = onnx.helper.make_node
        calls = [("F", ["a"], ["b"], [node("F", ["a"], ["b"], domain="my")], [])]
        wide = [(f"F{i}", ["a"], ["b"], [node(f"F{i + 1}", ["a"], [b], domain="my") for b in ("b", "c", "d")], [])
                for i in range(25)] + [("F25", ["a"], ["b"], [node("Relu", ["a"], ["b"])], [])]
        for functions, op, opset, message in ((calls, "F", 13, "functions call each other more than 32 deep"),
                                              (wide, "F0", 13, "functions of more than 1048576 nodes"),
                                              (wide[-1:], "F25", 11, "of version 11 of the operators"),
                                              (wide[-1:], "F24", 13, "the operator is not supported")):
            path = self.functions_model("endless", functions, [node(op, ["x"], ["y"], domain="my")], ["y"], opset)
            failed = vinci("compile", path, "-o", self.work / "endless")
            self.assertIn(failed.returncode, (2, 4))
            self.assertIn(message, failed.stderr)

    def test_many_nodes_without_a_name(self):
        nodes = [onnx.helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(20_000)]
        graph = onnx.helper.make_graph(nodes, "net", [onnx.helper.make_tensor_value_info("v0", onnx.TensorProto.FLOAT, [8])],
                                       [onnx.helper.make_tensor_value_info("v20000", onnx.TensorProto.FLOAT, None)])
        path = self.work / "nameless.onnx"
        onnx.save(onnx.helper.make_model(graph), str(path))
        begin = time.monotonic()
        self.assertEqual(vinci("compile", path, "--mode", "3").returncode, 0)
        self.assertLess(time.monotonic() - begin, 10)

    def test_files_of_outputs(self):
        names = ["a/b", "a_b", "a b"]
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node(op, ["x"], [y]) for op, y in zip(("Relu", "Neg", "Abs"), names)], "net",
            [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [8])],
            [onnx.helper.make_tensor_value_info(y, onnx.TensorProto.FLOAT, None) for y in names])
        path = self.work / "names.onnx"
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]), str(path))
        out, _, _ = self.compiled("Ascend910B1", model=path)
        run = vinci("run", out / "names.yaml", "--chip", "ascend-910b1", "--mode", "functional", "-o", out / "run")
        self.assertEqual(run.returncode, 0, run.stderr)
        y = {f: numpy.load(out / "run" / f"{f}.npy") for f in ("a_b", "a_b_1", "a_b_2")}
        numpy.testing.assert_array_equal(y["a_b_1"], numpy.maximum(-y["a_b"], 0))
        numpy.testing.assert_array_equal(y["a_b_2"], abs(y["a_b"]))

    def test_integers_that_the_reference_does_not_hold(self):
        value = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph([onnx.helper.make_node("Neg", ["x"], ["y"])], "net",
                                       [value("x", onnx.TensorProto.INT64, [2])], [value("y", onnx.TensorProto.INT64, None)])
        path, data = self.work / "wide.onnx", self.work / "wide.npy"
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]), str(path))
        for number, code in ((2**53 + 2, 0), (2**53 + 1, 4)):
            numpy.save(data, numpy.array([number, -1], numpy.int64))
            result = vinci("compile", path, "-o", self.work / "wide", "--input", f"x:{data}")
            self.assertEqual(result.returncode, code, result.stderr)

    def test_options_that_contradict(self):
        for options, message in ((["--input_shape", "x:1,16,32,32;x:2,16,32,32"], "--input_shape: 'x' is there twice"),
                                 (["--dynamic_batch_size", ","], "E10035: --dynamic_batch_size has no bins"),
                                 (["--host_op_time", "nan"], "--host_op_time: it is no number")):
            failed = vinci("compile", self.model, "-o", self.work / "contradict", *options)
            self.assertEqual(failed.returncode, 2, failed.stderr)
            self.assertIn(message, failed.stderr)
            self.assertFalse((self.work / "contradict").exists())

    def test_an_encoder_layer_of_bert(self):
        bert = self.work / "bert.onnx"
        subprocess.run([sys.executable, MAKE, "bert", bert, "--size", "small"], check=True)
        # 8 products, 4 transposes, 2 LayerNorm, scale and mask, Softmax, Gelu, 2 sums, 3 Casts at the borders; without
        # fusion of element-wise nodes, scale and mask are two. On joint cores the products take in the transposes, scale
        # and mask, Gelu and the sums.
        for options, split in (([], 22), (["--optimization_switch", "TbeEltwiseFusionPass:off"], 23)):
            for soc in ("Ascend910B1", "Ascend310P3", "Ascend910A"):
                tasks = split if soc == "Ascend910B1" else 22 - 8
                chip = soc.lower().replace("ascend", "ascend-")
                out, table, passes = self.compiled(soc, *options, model=bert)
                self.assertIn(f"{tasks} tasks on {chip}", table)
                self.assertEqual(passes["graph_fusion"]["LayerNormONNXFusionPass"]["effect_times"], "2")
                self.assertEqual(passes["graph_fusion"]["TransposeBatchMatMulFusionPass"]["effect_times"], "1")
                run = vinci("run", out / "bert.yaml", "--chip", chip, "--check", "-o", out / "run")
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                self.assertIn("no findings", run.stdout)

    def test_switches_turn_fusion_off(self):
        switches = self.work / "switches.cfg"
        switches.write_text("TbeConv2DEltwiseFusionPass:off\nTbeEltwiseFusionPass:off\n")
        _, table, passes = self.compiled("Ascend310P3", "--fusion_switch_file", switches)
        self.assertEqual(passes["ub_fusion"], {})
        self.assertIn("12 tasks", table, "three Relu and an Add more")

    def test_batch_normalisation_can_stay_apart(self):
        for soc in ("Ascend910B1", "Ascend310P3"):
            _, table, passes = self.compiled(soc, "--optimization_switch", "ConvBatchnormFusionPass:off")
            self.assertNotIn("ConvBatchnormFusionPass", passes["graph_fusion"])
            self.assertEqual(passes["graph_fusion"]["BatchNormBnInferFusionPass"]["effect_times"], "3")

    def test_dumps_the_graph_of_each_stage(self):
        out, _, _ = self.compiled("Ascend910B1", "--dump_graph")
        stages = sorted(p.name for p in out.glob("ge_*.txt"))
        self.assertEqual(stages[0], "ge_00000_graph_PreRunAfterPrepare.txt")
        self.assertIn("BatchNorm", (out / stages[0]).read_text())
        self.assertNotIn("BatchNorm(", (out / stages[1]).read_text())

    def test_tilings_by_simulation_are_kept(self):
        cache = self.work / "cache"
        said = []
        for mode in ("enable", "enable", "disable"):
            result = vinci("compile", self.model, "--soc_version", "Ascend910B1", "-o", self.work / "tiled", "--tiling",
                           "simulate", "--op_compiler_cache_dir", cache, "--op_compiler_cache_mode", mode)
            self.assertEqual(result.returncode, 0, result.stderr)
            said.append(next(line for line in result.stdout.splitlines() if line.startswith("tilings of")))
        self.assertRegex(said[0], r"tilings of (\d+) different nodes, 0 of them from the cache; 8 simulations: .* loses \d+\.\d %")
        self.assertRegex(said[1], r"tilings of (\d+) different nodes, \1 of them from the cache; 0 simulations$")
        self.assertRegex(said[2], "; 8 simulations")
        self.assertEqual(len(list(cache.iterdir())), 1)

    def test_says_what_each_pass_is_worth(self):
        result = vinci("compile", self.model, "--soc_version", "Ascend910B1", "-o", self.work / "ablation", "--ablation")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\(all passes\) +9 +\d")
        self.assertRegex(result.stdout, r"ConvBatchnormFusionPass +3 +11 +\d+\.\d\d +\+\d")
        self.assertEqual((self.work / "ablation" / "ablation.txt").read_text(), result.stdout)

    def test_tables_as_the_profiler_has_them(self):
        for soc in ("Ascend910B1", "Ascend310P3"):
            out, table, _ = self.compiled(soc)
            self.assertRegex(table, r"us warm, \d+\.\d+ us in the first execution")
            with open(out / "op_summary.csv", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            first = next(row for row in rows if row["OP Type"] == "Conv2D")
            self.assertEqual(first["Input Shapes"], "1,16,32,32;64,16,3,3;64")
            self.assertEqual(first["Input Data Types"], "FLOAT16;FLOAT16;FLOAT")
            self.assertTrue(first["Input Formats"].startswith("NC1HWC0;FRACTAL_Z;"), first["Input Formats"])
            self.assertEqual(first["Output Shapes"], "1,64,32,32")
            with open(out / "op_statistic.csv", encoding="utf-8") as file:
                counts = {row["OP Type"]: int(row["Count"]) for row in csv.DictReader(file)}
            self.assertEqual(counts["Conv2D"], sum(row["OP Type"] == "Conv2D" for row in rows))

    def test_kernels_alone(self):
        out = self.work / "alone"
        for chip in ("ascend-910b1", "ascend-310p3"):
            for name, *args in (("conv", "--shape", "1,32,12,12", "--filters", "48", "--pad", "1", "--bias"),
                                ("pool", "--shape", "1,32,12,12", "--kernel", "2", "--stride", "2"),
                                ("softmax", "--shape", "4,33"), ("layer_norm", "--shape", "5,64"),
                                ("reduce", "--shape", "5,64", "--op", "ReduceMax"),
                                ("transpose", "--shape", "4,6,32", "--perm", "1,0,2"),
                                ("elementwise", "--shape", "4,32", "--op", "Add", "--other", "4,32"),
                                ("op", "BatchMatMulV2", "--input", "3,16,32", "--input", "3,32,48"),
                                ("matmul", "--m", "20", "--n", "48", "--k", "64", "--batch", "2", "--transpose-b"),
                                ("matmul", "--m", "20", "--n", "48", "--k", "64", "--type", "i8", "--bias"),
                                ("matmul", "--m", "20", "--n", "48", "--k", "64", "--type", "u8"),
                                ("conv", "--shape", "1,32,12,12", "--filters", "40", "--pad", "1", "--type", "i8", "--bias")):
                made = vinci("gen", name, *args, "--chip", chip, "--check", "-o", out)
                self.assertEqual(made.returncode, 0, made.stderr + made.stdout)
                self.assertIn("right: off by", made.stdout)
                run = vinci("run", out / f"{name}.yaml", "--chip", chip, "--check", "-o", out / "run")
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                self.assertIn("no findings", run.stdout)
        for args in (("matmul", "--m", "20", "--n", "48", "--k", "64"), ("conv", "--shape", "1,24,12,12", "--bias")):
            for kind in ("bf16", "f32", "f32 --hf32"):
                options = (*args, "--type", *kind.split(), "--check", "-o", out)
                made = vinci("gen", *options)
                self.assertEqual(made.returncode, 0, made.stderr + made.stdout)
                self.assertIn("right: off by", made.stdout)
                refused = vinci("gen", *options, "--chip", "ascend-310p3")
                self.assertEqual(refused.returncode, 4, refused.stdout)
                self.assertIn("no kernel computes", refused.stderr)
        listed = vinci("gen", "conv", "--shape", "1,32,28,28", "--pad", "1", "--list-tilings")
        self.assertGreaterEqual(len(listed.stdout.splitlines()), 3, listed.stderr)
        for args, message in ((["--tiling", "m=100000"], "bytes of L0A"), (["--tiling", "m=17"], "takes multiples of 16"),
                              (["--tiling", "q=1"], "has no 'q'"), (["--tiling", "m"], "is no name=size"),
                              (["--groups", "5"], "do not divide")):
            failed = vinci("gen", "conv", "--shape", "1,32,28,28", "-o", out, *args)
            self.assertEqual(failed.returncode, 2, failed.stdout)
            self.assertIn(message, failed.stderr)
        self.assertIn("did you mean 'Conv2D'", vinci("gen", "op", "Conv2", "--input", "4", "-o", out).stderr)

    def test_lists_support_without_compiling(self):
        result = vinci("compile", self.model, "--mode", 3)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("all nodes can be read", result.stdout)

    def saved(self, name, nodes, inputs, outputs, constants=()):
        """A model of these nodes; inputs and outputs are pairs of name and shape."""
        def values(pairs):
            return [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in pairs]
        graph = onnx.helper.make_graph(nodes, "g", values(inputs), values(outputs), list(constants))
        path = self.work / f"{name}.onnx"
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]), path)
        return path

    def runs(self, model, chip="Ascend910B1"):
        """Compiles and runs a model; the names of its outputs' files."""
        out = model.with_suffix("")
        result = vinci("compile", model, "--soc_version", chip, "-o", out, "--check_nodes")
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        run = vinci("run", out / f"{model.stem}.yaml", "--chip", chip.lower().replace("ascend", "ascend-"), "-o",
                    out / "run")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return sorted(p.name for p in (out / "run").glob("*.npy"))

    def test_random_inputs_are_of_the_domain(self):
        node = onnx.helper.make_node
        half = onnx.numpy_helper.from_array(numpy.float32(0.5), "half")
        shape = onnx.numpy_helper.from_array(numpy.int64([20, 2]), "shape")
        model = self.saved("domain", [node("Log", ["x"], ["a"]), node("Sqrt", ["z"], ["b"]), node("Pow", ["u", "half"], ["c"]),
                                      node("Reshape", ["v", "shape"], ["w"]), node("Log", ["w"], ["d"])],
                           [(n, [4, 10]) for n in "xzuv"], [(n, None) for n in "abcd"], [half, shape])
        for soc in ("Ascend910B1", "Ascend310P3", "Ascend910A"):
            for precision in ("force_fp16", "must_keep_origin_dtype"):
                self.compiled(soc, "--precision_mode", precision, model=model)

    def test_a_signal_leaves_no_folder(self):
        bert = self.work / "long.onnx"
        subprocess.run([sys.executable, MAKE, "bert", bert, "--size", "small"], check=True)
        kept = self.work / "kept"
        kept.mkdir()
        (kept / "file").write_text("old")
        for out in (self.work / "new" / "inner", kept):
            with subprocess.Popen([VINCI, "compile", bert, "--ablation", "-o", out], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True) as run:
                limit = time.monotonic() + 60
                while not out.exists() and time.monotonic() < limit:
                    time.sleep(0.01)
                time.sleep(0.1)
                run.send_signal(signal.SIGINT)
                run.communicate()
            self.assertEqual(run.returncode, -signal.SIGINT)
        self.assertFalse((self.work / "new").exists())
        self.assertEqual([p.name for p in kept.iterdir()], ["file"])
        # The same where no kernel computes a node.
        node = onnx.helper.make_node
        refused = self.saved("refused", [node("Conv", ["x", "w"], ["y"])], [("x", [1, 16, 8, 8])], [("y", None)],
                             [onnx.numpy_helper.from_array(numpy.ones((16, 16, 1, 1), "float32"), "w")])
        result = vinci("compile", refused, "-o", self.work / "none", "--soc_version", "Ascend310P3", "--precision_mode",
                       "must_keep_origin_dtype")
        self.assertNotEqual(result.returncode, 0)
        self.assertFalse((self.work / "none").exists())

    def test_names_of_the_model_may_collide(self):
        node = onnx.helper.make_node
        model = self.saved("names", [node("Add", ["x/y", "x_y"], ["a/b"], name="line\nbreak"),
                                     node("Mul", ["weights", "in_x_y"], ["a_b"])],
                           [(n, [4]) for n in ("x/y", "x_y", "weights", "in_x_y")], [("a/b", [4]), ("a_b", [4])])
        self.assertEqual(self.runs(model), ["a_b.npy", "a_b_1.npy"])

    def test_outputs_may_be_constants_and_scalars(self):
        node = onnx.helper.make_node
        constant = onnx.numpy_helper.from_array(numpy.float32([[1, 2], [3, 4]]), "w")
        model = self.saved("scalars", [node("Mul", ["x", "s"], ["y"]), node("ReduceMax", ["x"], ["z"], keepdims=0)],
                           [("x", [6]), ("s", [])], [("y", [6]), ("z", []), ("w", [2, 2])], [constant])
        self.assertEqual(self.runs(model), ["w.npy", "y.npy", "z.npy"])

    def test_errors_name_what_is_wrong(self):
        cases = (
            (["--fusion_switch_file", self.work / "none"], "No such file"),
            (["--optimization_switch", "ConvBatchnorm:off"], "there is no pass 'ConvBatchnorm'"),
            (["--input_shape", "y:1,16,32,32"], "no input 'y'"),
            (["--input_shape", "x:1,x"], "'x' is no extent"),
            (["--soc_version", "Ascend999"], "ascend-999"),
        )
        for options, message in cases:
            result = vinci("compile", self.model, "-o", self.work / "bad", *options)
            self.assertEqual(result.returncode, 2, options)
            self.assertIn(message, result.stderr)
        text = self.work / "text.onnx"
        text.write_text("no model")
        result = vinci("compile", text, "-o", self.work / "bad")
        self.assertEqual(result.returncode, 2)
        self.assertIn("not an ONNX file", result.stderr)


class Kernels(unittest.TestCase):
    """`vinci gen op`."""

    def test_names_the_operators_that_kernels_compute(self):
        with tempfile.TemporaryDirectory() as folder:
            for op in ("FusedOp", "While", "If", "Case", "CustomOp", "Nothing"):
                result = vinci("gen", "op", op, "--input", "4,4", "-o", folder + "/op")
                self.assertEqual(result.returncode, 2, op)
                self.assertIn(f"there is no operator '{op}'", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
