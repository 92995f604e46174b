#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Shadow execution against float64 programs of the same data flow.

Each case is a task stream and, built by the same calls, a NumPy program: the values as the chip rounds them, what the
exact operation makes of them, and the references in float64, whose decisions are those of the values. The errors that
--numerics=shadow reports for each line, and for the outputs, must be those of the NumPy program.

Usage: shadow.py VINCI [--case NAME] [--keep FOLDER]
"""
import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np

SIZE = {"f16": 2, "f32": 4}
FRACTION, LEAST, MOST = {"f16": 10, "f32": 23}, {"f16": -14, "f32": -126}, {"f16": 15, "f32": 127}
LANES = {"f16": 128, "f32": 64}


def rounded(x, kind):
    with np.errstate(over="ignore"):
        return np.asarray(x).astype(np.float16 if kind == "f16" else np.float32).astype(np.float64)


def bits(x, kind):
    x = float(rounded(x, kind))
    return "0x%04x" % struct.unpack("<H", struct.pack("<e", x)) if kind == "f16" else "0x%08x" % struct.unpack(
        "<I", struct.pack("<f", x))


def ulp(reference, kind):
    exponent = np.floor(np.log2(np.maximum(np.abs(reference), 2.0**LEAST[kind])))
    return 2.0**(np.clip(exponent, LEAST[kind], MOST[kind]) - FRACTION[kind])


class Tensor:
    """Values as simulated, and their references; both float64."""

    def __init__(self, kind, values, references=None):
        self.kind = kind
        self.v = np.asarray(values, np.float64)
        self.r = self.v.copy() if references is None else np.asarray(references, np.float64)
        self.at = None  # byte in UB
        self.buffer = None

    @property
    def bytes(self):
        return self.v.size * SIZE[self.kind]


class Case:
    """A task stream, with the errors that each of its lines must have."""

    def __init__(self, name):
        self.name, self.buffers, self.kernels = name, [], []
        self.arch, self.on, self.streams = "c220", 0, {0: []}  # on: the device of what comes next
        self.files, self.outputs, self.expected, self.decided = {}, {}, {}, {}
        self.restarted, self.ended = 0, 0

    @property
    def tasks(self):
        return self.streams.setdefault(self.on, [])

    def place(self):
        return f"place: device, device: {self.on}" if self.on else "place: device"

    def constant(self, kind, values, raw=None):
        t = Tensor(kind, rounded(values, kind))
        t.buffer = f"b{len(self.buffers)}"
        data = (t.v if raw is None else raw(t.v)).astype("<f2" if kind == "f16" else "<f4")
        self.files[t.buffer] = data
        self.buffers += [f"  {t.buffer}h: {{place: host, bytes: {t.bytes}, file: {t.buffer}.bin}}",
                         f"  {t.buffer}: {{{self.place()}, bytes: {t.bytes}}}"]
        self.tasks.append(f"    - memcpy_async: {{dst: {t.buffer}, src: {t.buffer}h}}")
        return t

    def table(self, data):
        """Bytes that are no floats."""
        t = self.constant("f32", np.zeros(data.nbytes // 4))
        self.files[t.buffer] = data
        return t

    def device(self, t):
        t.buffer = f"b{len(self.buffers)}"
        self.buffers.append(f"  {t.buffer}: {{{self.place()}, bytes: {t.bytes}}}")
        return t

    def output(self, name, t):
        dtype = "f2" if t.kind == "f16" else "f4"
        self.buffers.append(f"  {name}: {{place: host, dtype: {dtype}, shape: [{t.v.size}], output: {name}.npy}}")
        self.tasks.append(f"    - memcpy_async: {{dst: {name}, src: {t.buffer}}}")
        self.outputs[name] = t

    def expect(self, key, kind, value, exact, reference):
        self.expected.setdefault(key, []).append((kind, *(np.ravel(x) for x in (value, exact, reference))))

    def text(self):
        out = ["vinci: 1", f"name: {self.name}", f"arch: {self.arch}", *(["devices: 2"] if 1 in self.streams else []),
               "buffers:", *self.buffers, "kernels:"]
        places = {}
        for name, kind, code in self.kernels:
            out += [f"  {name}:", *([f"    type: {kind}"] if kind else []), "    code: |"]
            for key, line in code:
                out.append("      " + line)
                if key is not None:
                    places[key] = f"{self.name}.yaml:{len(out)}"
        out.append("streams:")
        for device, tasks in self.streams.items():
            out += [f"  s{device}:", f"    device: {device}", "    tasks:", *tasks]
        return "\n".join(out) + "\n", places


class Vector:
    """A kernel of one vector core; every call is a line."""

    def __init__(self, case, name):
        self.case, self.name, self.code, self.args = case, name, [], []
        self.top, self.stored = 0, []

    def line(self, text):
        self.code.append(((self.name, len(self.code)), text))
        return self.code[-1][0]

    def place(self, t):
        t.at = self.top
        self.top += (t.bytes + 255) // 256 * 256
        assert self.top <= 192 * 1024
        return t

    def load(self, t):
        t = self.place(Tensor(t.kind, t.v, t.r)) if t.buffer is None else self.place(self._of(t))
        self.line(f"ld_arg X1, {len(self.args)}")
        self.args.append(t.buffer)
        self.line(f"copy_gm_to_ubuf {t.at}, X1, sid=0, nBurst=1, lenBurst={t.bytes // 32}, srcGap=0, dstGap=0")
        return t

    @staticmethod
    def _of(t):
        out = Tensor(t.kind, t.v, t.r)
        out.buffer = t.buffer
        return out

    def made(self, text, kind, exact, reference, value=None):
        self.line("pipe_barrier PIPE_V" if any("set_flag" in c for _, c in self.code) else self._begin())
        out = self.place(Tensor(kind, rounded(exact, kind) if value is None else value, reference))
        key = self.line(text.format(out.at))
        self.case.expect(key, kind, out.v, exact, reference)
        return out

    @staticmethod
    def _begin():
        return "set_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n      wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0"

    def line_split(self):
        code = []
        for key, text in self.code:
            parts = text.split("\n      ")
            code += [(None, p) for p in parts[:-1]] + [(key, parts[-1])]
        return code

    def repeats(self, t):
        return t.v.size // LANES[t.kind]

    def binary(self, op, a, b, f, row=False):
        strides = "1, 1, 0, 8, 8, 1" if row else "1, 1, 1, 8, 8, 8"
        x = (b.v[:, None], b.r[:, None]) if row else (b.v, b.r)
        return self.made(f"{op}.{a.kind} {{}}, {a.at}, {b.at}, {self.repeats(a)}, {strides}", a.kind, f(a.v, x[0]),
                         f(a.r, x[1]))

    def add(self, a, b, row=False):
        return self.binary("vadd", a, b, np.add, row)

    def sub(self, a, b, row=False):
        return self.binary("vsub", a, b, np.subtract, row)

    def mul(self, a, b, row=False):
        return self.binary("vmul", a, b, np.multiply, row)

    def div(self, a, b, row=False):
        return self.binary("vdiv", a, b, np.divide, row)

    def max(self, a, b):
        return self.made(f"vmax.{a.kind} {{}}, {a.at}, {b.at}, {self.repeats(a)}, 1, 1, 1, 8, 8, 8", a.kind,
                         np.maximum(a.v, b.v), np.where(a.v > b.v, a.r, np.where(a.v < b.v, b.r, np.maximum(a.r, b.r))))

    def unary(self, op, a, f):
        return self.made(f"{op}.{a.kind} {{}}, {a.at}, {self.repeats(a)}, 1, 1, 8, 8", a.kind, f(a.v), f(a.r))

    def exp(self, a):
        return self.unary("vexp", a, np.exp)

    def ln(self, a):
        return self.unary("vln", a, np.log)

    def sqrt(self, a):
        return self.unary("vsqrt", a, np.sqrt)

    def rec(self, a):
        return self.unary("vrec", a, np.reciprocal)

    def relu(self, a):
        decided = int(np.sum((a.v > 0) & (a.r < 0) | (a.v < 0) & (a.r > 0)))
        out = self.made(f"vrelu.{a.kind} {{}}, {a.at}, {self.repeats(a)}, 1, 1, 8, 8", a.kind, np.maximum(a.v, 0),
                        np.where(a.v > 0, a.r, np.where(a.v < 0, 0, np.maximum(a.r, 0))))
        self.case.decided[self.code[-1][0]] = decided
        return out

    def scalar(self, op, a, by, f):
        c = float(rounded(by, a.kind))
        return self.made(f"{op}.{a.kind} {{}}, {a.at}, {bits(by, a.kind)}, {self.repeats(a)}, 1, 1, 8, 8", a.kind,
                         f(a.v, c), f(a.r, c))

    def adds(self, a, by):
        return self.scalar("vadds", a, by, np.add)

    def muls(self, a, by):
        return self.scalar("vmuls", a, by, np.multiply)

    def madd(self, old, a, b):
        """old * a + b, in place of old."""
        self.line("pipe_barrier PIPE_V")
        exact, reference = old.v * a.v + b.v, old.r * a.r + b.r
        out = Tensor(a.kind, rounded(exact, a.kind), reference)
        out.at = old.at
        key = self.line(f"vmadd.{a.kind} {old.at}, {a.at}, {b.at}, {self.repeats(a)}, 1, 1, 1, 8, 8, 8")
        self.case.expect(key, a.kind, out.v, exact, reference)
        return out

    def widen(self, a):
        n = a.v.size // 64
        return self.made(f"vconv_f162f32 {{}}, {a.at}, {n}, 1, 1, 8, 4", "f32", a.v, a.r)

    def narrow(self, a):
        n = a.v.size // 64
        return self.made(f"vconv_f322f16 {{}}, {a.at}, {n}, 1, 1, 4, 8", "f16", a.v, a.r)

    def moved(self, text, v, r, kind="f16"):
        """An instruction that moves elements."""
        self.line("pipe_barrier PIPE_V")
        out = self.place(Tensor(kind, v, r))
        self.line(text.format(out.at))
        return out

    def row_sum(self, a):
        """Of rows of one repeat: a tree of pairs, each rounded."""
        tree = a.v
        while tree.shape[1] > 1:
            tree = rounded(tree[:, 0::2] + tree[:, 1::2], a.kind)
        return self.made(f"vcadd.{a.kind} {{}}, {a.at}, {a.v.shape[0]}, 1, 1, 8", a.kind, a.v.sum(1), a.r.sum(1),
                         tree[:, 0])

    def row_max(self, a):
        at = a.v.argmax(1)[:, None]
        return self.made(f"vcmax.{a.kind} {{}}, {a.at}, {a.v.shape[0]}, 1, 1, 8, 2", a.kind, a.v.max(1),
                         np.take_along_axis(a.r, at, 1)[:, 0])

    def over_rows(self, a):
        """Each element in a block of its own, for binary operations with row=True."""
        self.line("pipe_barrier PIPE_V")
        out = Tensor(a.kind, a.v, a.r)
        out.at = self.top
        self.top += a.v.size * 32
        self.line(f"vbrcb.{a.kind} {out.at}, {a.at}, 1, 8, {a.v.size // 8}")
        return out

    def store(self, t):
        self.case.device(t)
        self.stored.append(t)
        return t

    def launch(self, before_stores=()):
        self.line("set_flag PIPE_V, PIPE_MTE3, EVENT_ID0")
        self.line("wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0")
        for text in before_stores:
            self.line(text)
        for t in self.stored:
            self.line(f"ld_arg X1, {len(self.args)}")
            self.args.append(t.buffer)
            self.line(f"copy_ubuf_to_gm X1, {t.at}, sid=0, nBurst=1, lenBurst={t.bytes // 32}, srcGap=0, dstGap=0")
        self.line("end")
        self.case.kernels.append((self.name, "AIV_ONLY", self.line_split()))
        self.case.tasks.append(f"    - {{name: {self.name}, kernel_launch: {{kernel: {self.name}, block_dim: 1, "
                               f"args: [{', '.join(self.args)}]}}}}")


def nz(b):
    """B as the fractals of L0B: [k1][n1][16 n][16 k]."""
    k, n = b.shape
    return b.reshape(k // 16, 16, n // 16, 16).transpose(0, 2, 3, 1).ravel()


def matmul(case, name, a, b, relu=False):
    """f16 = a (m x k, row-major) * b (k x n, a constant as nz); relu on the way out."""
    (m, k), n = a.v.shape, b.v.shape[1]
    total = np.zeros((m, n))
    for i in range(k):  # products of f16 are exact in f32
        total = rounded(total + rounded(a.v[:, i:i + 1] * b.v[i:i + 1], "f32"), "f32")
    exact, reference = a.v @ b.v, a.r @ b.r
    if relu:
        out_exact, out_reference = np.maximum(total, 0), np.where(
            total > 0, reference, np.where(total < 0, 0, np.maximum(reference, 0)))
    else:
        out_exact, out_reference = total, reference
    out = case.device(Tensor("f16", rounded(out_exact, "f16"), out_reference))
    lines = [
        "ld_arg X1, 0", "ld_arg X2, 1", "ld_arg X3, 2", "set_nd_para 1",
        f"copy_gm_to_cbuf_multi_nd2nz_b16 0, X1, 0, 1, {m}, {k}, 0, {k}, {m}, 1, 0",
        f"load_gm_to_cb 0, X2, 0, {k // 16 * (n // 16)}, 1, 0",
        "set_flag PIPE_MTE2, PIPE_MTE1, EVENT_ID0", "wait_flag PIPE_MTE2, PIPE_MTE1, EVENT_ID0"
    ]
    for i in range(m // 16):
        lines.append(f"load_cbuf_to_ca {i * (k // 16) * 512}, 0, {i}, {k // 16}, {m // 16}, 0, 0")
    lines += ["set_flag PIPE_MTE1, PIPE_M, EVENT_ID0", "wait_flag PIPE_MTE1, PIPE_M, EVENT_ID0",
              f"mad.f162f32 0, 0, 0, {m}, {k}, {n}, 1", "set_flag PIPE_M, PIPE_FIX, EVENT_ID0",
              "wait_flag PIPE_M, PIPE_FIX, EVENT_ID0",
              f"copy_matrix_cc_to_gm X3, 0, 0, {n}, {m}, {n}, {m}, 0, 1, {int(relu)}, 0, 1", "end"]
    code = [((name, i), line) for i, line in enumerate(lines)]
    mad = next(key for key, line in code if line.startswith("mad"))
    fix = next(key for key, line in code if line.startswith("copy_matrix"))
    case.expect(mad, "f32", total, exact, reference)
    case.expect(fix, "f16", out.v, out_exact, out_reference)
    case.kernels.append((name, "AIC_ONLY", code))
    case.tasks.append(f"    - {{name: {name}, kernel_launch: {{kernel: {name}, block_dim: 1, "
                      f"args: [{a.buffer}, {b.buffer}, {out.buffer}]}}}}")
    return out


def softmax_rows(k, x, stable=True):
    if stable:
        x = k.sub(x, k.over_rows(k.row_max(x)), row=True)
    e = k.exp(x)
    return k.div(e, k.over_rows(k.row_sum(e)), row=True)


def softmax(rng):
    case = Case("softmax")
    x = case.constant("f16", rng.normal(0, 3, (32, 128)))
    k = Vector(case, "softmax")
    y = k.store(softmax_rows(k, k.load(x)))
    k.launch()
    case.output("y", y)
    return case


def log1p(rng, wide=False):
    """ln(1 + x): what 1 + x loses comes in at ln. `wide`: both in f32."""
    case = Case("log1p")
    x = case.constant("f16", 10.0**rng.uniform(-5, 1, (16, 128)))
    k = Vector(case, "log1p")
    x = k.load(x)
    one = k.adds(k.widen(x) if wide else x, 1)
    case.add = k.code[-1][0]
    y = k.ln(one)
    y = k.store(k.narrow(y) if wide else y)
    k.launch()
    case.output("y", y)
    return case


def log1p_stable(rng, stable=True):
    """ln(1 + x) * x / ((1 + x) - 1): what 1 + x loses does not count."""
    case = Case("log1p_stable" if stable else "log1p_naive")
    x = case.constant("f16", 10.0**rng.uniform(-2.5, 1, (16, 128)))
    k = Vector(case, "log1p")
    x = k.load(x)
    u = k.adds(x, 1)
    y = k.ln(u)
    y = k.store(k.mul(y, k.div(x, k.adds(u, -1))) if stable else y)
    k.launch()
    case.output("y", y)
    return case


def sums_by_order(rng):
    """A row of f16 summed by vcadd, and a product whose f32 sums cancel: both depend on the order."""
    case = Case("sums_by_order")
    x = case.constant("f16", rng.normal(0, 1, (32, 128)))
    k = Vector(case, "rows")
    y = k.store(k.row_sum(k.load(x)))
    k.launch()
    case.output("y", y)
    case.rows = x.v
    a = rng.normal(0, 1, (16, 64)) * np.where(rng.integers(0, 2, (16, 64)) == 1, 2048, 1 / 64)
    a[:, 32:] = -a[:, :32] + rng.normal(0, 1 / 64, (16, 32))
    b = np.tile(rng.normal(0, 1, (32, 16)), (2, 1))
    case.a, case.b = case.constant("f16", a), case.constant("f16", b, nz)
    case.output("c", matmul(case, "product", case.a, case.b))
    return case


def in_order(addends, order, kind):
    """Sums along the last axis, with a rounding each."""
    x = np.asarray(addends, np.float64)
    if order == "pairwise":
        while x.shape[-1] > 1:
            odd = x[..., -1:] if x.shape[-1] % 2 else x[..., :0]
            x = np.concatenate([rounded(x[..., 0:-1:2] + x[..., 1::2], kind), odd], axis=-1)
        return x[..., 0]
    if order == "reversed":
        x = x[..., ::-1]
    total = x[..., 0]
    for i in range(1, x.shape[-1]):
        total = rounded(total + x[..., i], kind)
    return total


def sorted_scores(rng):
    """Sort32 of products: each record takes its reference along."""
    case = Case("sorted_scores")
    x, y = (case.constant("f16", rng.normal(0, 1, (4, 128))) for _ in range(2))
    index = case.table(np.arange(512, dtype=np.uint32))
    k = Vector(case, "sort")
    a = k.mul(k.load(x), k.load(y))
    index = k.load(index)
    k.line("set_flag PIPE_MTE2, PIPE_V, EVENT_ID1")
    k.line("wait_flag PIPE_MTE2, PIPE_V, EVENT_ID1")
    k.line("pipe_barrier PIPE_V")
    records = k.place(Tensor("f32", np.zeros(1024)))
    k.line(f"vbitsort32.f16 {records.at}, {a.at}, {index.at}, 16")
    rows, references = a.v.reshape(16, 32), a.r.reshape(16, 32)
    order = np.argsort(-rows, axis=1, kind="stable")
    v, r = (np.take_along_axis(t, order, 1).reshape(4, 128) for t in (rows, references))
    offsets = k.load(case.table((records.at + 8 * np.arange(512)).astype(np.uint32)))
    k.line("set_flag PIPE_MTE2, PIPE_V, EVENT_ID2")
    k.line("wait_flag PIPE_MTE2, PIPE_V, EVENT_ID2")
    g = k.moved(f"vgather.f16 {{}}, {offsets.at}, 0, 8, 4", v, r)
    out = k.store(k.muls(g, 0.3))
    k.launch()
    case.output("y", out)
    return case


def through_ub(rng):
    """A product that leaves L0C for UB on a joint core."""
    case = Case("through_ub")
    case.arch = "c100"
    a, b = (case.constant("f16", rng.normal(0, 1, (16, 16))) for _ in range(2))  # one fractal of A, and of B as nZ
    total = np.zeros((16, 16))
    for i in range(16):
        total = rounded(total + rounded(a.v[:, i:i + 1] * b.v[:, i], "f32"), "f32")
    exact = a.v @ b.v.T
    half = Tensor("f16", rounded(np.maximum(total, 0), "f16"), np.maximum(exact, 0))
    half.r = np.where(total > 0, exact, np.where(total < 0, 0, np.maximum(exact, 0)))
    scaled = rounded(half.v * rounded(0.3, "f16"), "f16")
    out = case.device(Tensor("f16", scaled, half.r * float(rounded(0.3, "f16"))))
    lines = [
        "ld_arg X1, 0", "ld_arg X2, 1", "ld_arg X3, 2", "load_gm_to_ca 0, X1, 0, 1, 1, 0", "load_gm_to_cb 0, X2, 0, 1, 1, 0",
        "set_flag PIPE_MTE2, PIPE_M, EVENT_ID0", "wait_flag PIPE_MTE2, PIPE_M, EVENT_ID0",
        "mad.f162f32 0, 0, 0, 16, 16, 16, 1", "set_flag PIPE_M, PIPE_V, EVENT_ID0", "wait_flag PIPE_M, PIPE_V, EVENT_ID0",
        "copy_matrix_cc_to_ubuf.f32 0, 0, 0, 1, 1, 0, 0, 2", "pipe_barrier PIPE_V", "set_vector_mask -1, -1",
        f"vmuls.f16 1024, 0, {bits(0.3, 'f16')}, 2, 1, 1, 8, 8", "set_flag PIPE_V, PIPE_MTE3, EVENT_ID0",
        "wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0", "copy_ubuf_to_gm X3, 1024, 0, 1, 16, 0, 0", "end"
    ]
    code = [(("through", i), line) for i, line in enumerate(lines)]
    case.expect(("through", 7), "f32", total, exact, exact)
    case.expect(("through", 10), "f16", half.v, np.maximum(total, 0), half.r)
    case.expect(("through", 13), "f16", scaled, half.v * float(rounded(0.3, "f16")), out.r)
    case.kernels.append(("through", "", code))
    case.tasks.append(f"    - {{name: through, kernel_launch: {{kernel: through, block_dim: 1, "
                      f"args: [{a.buffer}, {b.buffer}, {out.buffer}]}}}}")
    case.output("y", out)
    return case


def reduced_over_devices(rng):
    """An all_reduce of products of two devices."""
    case = Case("reduced_over_devices")
    parts = []
    for device in range(2):
        case.on = device
        x, y = (case.constant("f16", rng.normal(0, 1, (4, 128))) for _ in range(2))
        k = Vector(case, f"product{device}")
        parts.append(k.store(k.mul(k.load(x), k.load(y))))
        k.launch()
    exact, reference = parts[0].v + parts[1].v, parts[0].r + parts[1].r
    for device in range(2):
        case.on = device
        total = case.device(Tensor("f16", rounded(exact, "f16"), reference))
        case.tasks.append(f"    - hccl: {{op: all_reduce, send: {parts[device].buffer}, recv: {total.buffer}, "
                          "count: 512, dtype: f2, reduce: sum}")
        case.output(f"y{device}", total)
    return case


def layer_norm(rng):
    case = Case("layer_norm")
    x = case.constant("f16", rng.normal(3, 1, (32, 128)))
    gamma, beta = (case.constant("f16", np.tile(rng.normal(m, 0.1, 128), (32, 1))) for m in (1, 0))
    k = Vector(case, "layer_norm")
    x, gamma, beta = k.load(x), k.load(gamma), k.load(beta)
    mean = k.muls(_padded(k, k.row_sum(x)), 1 / 128)
    d = k.sub(x, k.over_rows(_rows(mean, 32)), row=True)
    variance = k.adds(k.muls(_padded(k, k.row_sum(k.mul(d, d))), 1 / 128), 1e-3)
    y = k.div(d, k.over_rows(_rows(k.sqrt(variance), 32)), row=True)
    y = k.store(k.madd(y, gamma, beta))
    k.launch()
    case.output("y", y)
    return case


def _padded(k, t):
    """A column of results as a whole repeat; the rest is ones."""
    lanes = LANES[t.kind]
    k.line("pipe_barrier PIPE_V")
    fill = Tensor(t.kind, np.ones(lanes - t.v.size))
    k.line(f"set_vector_mask {_mask(t.v.size, lanes)}")
    k.line(f"vector_dup.{t.kind} {t.at}, {bits(1, t.kind)}, 1, 1, 0, 8, 0")
    k.line("set_vector_mask -1, -1")
    return _at(t.at, Tensor(t.kind, np.concatenate([t.v, fill.v]), np.concatenate([t.r, fill.r])))


def _mask(first, lanes):
    word = ((1 << lanes) - 1) & ~((1 << first) - 1)
    return f"0x{word >> 64:x}, 0x{word & (1 << 64) - 1:x}"


def _at(at, t):
    t.at = at
    return t


def _rows(t, count):
    return _at(t.at, Tensor(t.kind, t.v[:count], t.r[:count]))


def adam(rng, kind="f16"):
    """One step; the second moment in f16 loses small gradients. Inputs and constants are f16 in both types."""
    case = Case("adam")
    shape = (8 * 128 // LANES[kind], LANES[kind])

    def half(values):
        return case.constant(kind, rounded(values, "f16"))

    g = half(rng.normal(0, 1, shape) * 10.0**rng.uniform(-3, -1, shape))
    m, v = half(rng.normal(0, 1e-2, shape)), half(10.0**rng.uniform(-5, -2, shape))
    p = half(rng.normal(0, 1, shape))
    k = Vector(case, "adam")
    g, m, v, p = (k.load(t) for t in (g, m, v, p))
    m = k.add(k.muls(m, 0.875), k.muls(g, 0.125))
    v = k.add(k.muls(v, 1 - 2.0**-8), k.muls(k.mul(g, g), 2.0**-8))
    step = k.muls(k.div(m, k.adds(k.sqrt(v), 2.0**-13)), -(2.0**-10))
    p = k.store(k.add(p, step))
    v = k.store(v)
    k.launch()
    case.output("p", p)
    case.output("v", v)
    return case


def loss_scaling(rng):
    """Gradients of f32 through f16, without a scale and with one of 2^12."""
    case = Case("loss_scaling")
    g = case.constant("f32", rng.normal(0, 1, (32, 64)) * 10.0**rng.uniform(-9, -4, (32, 64)))
    w = case.constant("f16", rng.normal(0, 1, (32, 64)))
    for name, scale in (("plain", 1), ("scaled", 2.0**12)):
        k = Vector(case, name)
        x = k.narrow(k.muls(k.load(g), scale))
        back = k.muls(k.widen(k.mul(x, k.load(w))), 1 / scale)
        case_out = k.store(back)
        k.launch()
        case.output(name + "_g", case_out)
    return case


def attention(rng):
    case = Case("attention")
    q = case.constant("f16", rng.normal(0, 1, (64, 64)))
    keys = case.constant("f16", rng.normal(0, 1, (64, 128)), nz)
    values = case.constant("f16", rng.normal(0, 1, (128, 64)), nz)
    scores = matmul(case, "scores", q, keys)
    k = Vector(case, "softmax")
    p = k.store(softmax_rows(k, k.muls(k.load(scores), 0.125)))
    k.launch()
    case.output("o", matmul(case, "mix", p, values))
    return case


def residual(rng):
    case = Case("residual")
    x = case.constant("f16", rng.normal(0, 1, (64, 64)))
    first, second = (case.constant("f16", rng.normal(0, 0.1, (64, 64)), nz) for _ in range(2))
    h = matmul(case, "first", x, first, relu=True)
    y = matmul(case, "second", h, second)
    k = Vector(case, "add")
    y = k.store(k.relu(k.add(k.load(y), k.load(x))))
    k.launch()
    case.output("y", y)
    return case


def moves(rng):
    """Selection by a mask, a gather, and arithmetic on what they give."""
    case = Case("moves")
    x, y = (case.constant("f16", rng.normal(0, 1, (4, 128))) for _ in range(2))
    bits_of_mask = rng.integers(0, 2, 128).astype(np.uint8)
    mask = case.table(np.concatenate([np.packbits(bits_of_mask, bitorder="little"), np.zeros(16, np.uint8)]))
    order = rng.permutation(512)
    k = Vector(case, "moves")
    x, y, mask = k.load(x), k.load(y), k.load(mask)
    a, b = k.mul(x, y), k.add(x, y)
    offsets = k.load(case.table((a.at + 2 * order).astype(np.uint32)))
    k.line("set_flag PIPE_MTE2, PIPE_V, EVENT_ID1")
    k.line("wait_flag PIPE_MTE2, PIPE_V, EVENT_ID1")
    k.line(f"set_cmpmask {mask.at}")
    chosen = bits_of_mask[None, :] != 0
    s = k.moved(f"vsel.f16 {{}}, {a.at}, {b.at}, 4, 1, 1, 1, 8, 8, 8, 0", np.where(chosen, a.v, b.v),
                np.where(chosen, a.r, b.r))
    g = k.moved(f"vgather.f16 {{}}, {offsets.at}, 0, 8, 4", np.ravel(a.v)[order].reshape(a.v.shape),
                np.ravel(a.r)[order].reshape(a.v.shape))
    out = k.store(k.sub(s, g))
    k.launch()
    case.output("y", out)
    return case


def sums_in_memory(rng):
    """An atomic write and reduce_async."""
    case = Case("sums_in_memory")
    x, y = (case.constant("f16", rng.normal(0, 1, (4, 128))) for _ in range(2))
    k = Vector(case, "plain")
    total = k.store(k.mul(k.load(x), k.load(y)))
    k.launch()
    k = Vector(case, "atomic")
    addend = k.muls(k.load(x), 0.3)
    buffer, addend.buffer = total.buffer, total.buffer
    k.stored.append(addend)
    k.launch(["set_atomic_add", "set_atomic_f16"])
    exact, reference = total.v + addend.v, total.r + addend.r
    total = Tensor("f16", rounded(exact, "f16"), reference)
    case.expect(k.code[-2][0], "f16", total.v, exact, reference)
    k = Vector(case, "more")
    addend = k.store(k.muls(k.load(y), 0.7))
    k.launch()
    case.tasks.append(f"    - reduce_async: {{dst: {buffer}, src: {addend.buffer}, dtype: f2}}")
    total = Tensor("f16", rounded(total.v + addend.v, "f16"), total.r + addend.r)
    total.buffer = buffer
    case.output("y", total)
    return case


def bits_end(rng):
    """Bits end references; what is computed from them begins anew."""
    case = Case("bits_end")
    x, y = (case.constant("f16", rng.normal(0, 1, (4, 128))) for _ in range(2))
    k = Vector(case, "bits")
    a = k.add(k.load(x), k.load(y))
    b = k.moved(f"vand.s16 {{}}, {a.at}, {a.at}, 4, 1, 1, 1, 8, 8, 8", a.v, a.v)
    out = k.store(k.muls(b, 0.3))
    k.launch()
    case.output("y", out)
    case.ended = case.restarted = a.v.size
    return case


CASES = {f.__name__: f for f in (log1p, log1p_stable, softmax, layer_norm, adam, loss_scaling, attention, residual, moves,
                                   sums_in_memory, bits_end, sorted_scores, through_ub, reduced_over_devices,
                                   sums_by_order)}
WITHIN = 1.01  # of each figure; the promise is a factor of two


def near(a, b):
    return a == b or (min(a, b) > 0 and max(a, b) <= WITHIN * min(a, b)) or max(a, b) < 1e-9


def check_errors(what, kinds, got, problems):
    for name, index in (("error", (0, 2)), ("made", (0, 1)), ("come_in", (1, 2))):
        ulps, relative = [], []
        for entry in kinds:
            kind, columns = entry[0], entry[1:]
            with np.errstate(invalid="ignore", divide="ignore"):
                d = np.abs(columns[index[0]] - columns[index[1]])
                share = np.where(columns[2] == 0, 0, d / np.abs(columns[2]))
            d, share = np.where(np.isfinite(d), d, 0), np.where(np.isfinite(share), share, 0)
            ulps.append(d / ulp(columns[2], kind))
            relative.append(share)
        ulps, relative = np.concatenate(ulps), np.concatenate(relative)
        for key, value in (("max_ulp", ulps.max()), ("rms_ulp", np.sqrt(np.mean(ulps**2))),
                           ("max_relative", relative.max()), ("rms_relative", np.sqrt(np.mean(relative**2)))):
            if not near(float(value), float(got[name][key])):
                problems.append(f"{what}: {name} {key} is {got[name][key]}, expected {value:.6g}")


def run(vinci, case, folder, options=()):
    text, places = case.text()
    (folder / f"{case.name}.yaml").write_text(text)
    for name, data in case.files.items():
        data.tofile(folder / f"{name}.bin")
    done = subprocess.run([
        vinci, "run", str(folder / f"{case.name}.yaml"), "--numerics=shadow", "--out", str(folder / "out"), "--set",
        "numerics.precision=high_precision", "--profile=off", *options
    ], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{case.name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads((folder / "out" / "numerics.json").read_text())["shadow"], places, done.stdout


def check(vinci, case, folder):
    shadow, places, _ = run(vinci, case, folder)
    problems = []
    lines = {line["place"]: line for line in shadow["lines"]}
    for key, kinds in case.expected.items():
        line = lines.get(places[key])
        if line is None:
            problems.append(f"{places[key]}: no such line in the report")
            continue
        if line["results"] != sum(e[1].size for e in kinds):
            problems.append(f"{places[key]}: {line['results']} results")
        check_errors(f"{places[key]} ({', '.join(line['instructions'])})", kinds, line, problems)
        if key in case.decided and case.decided[key] != line["decided_otherwise"]:
            problems.append(f"{places[key]}: {line['decided_otherwise']} decisions, not {case.decided[key]}")
    outputs = {o["buffer"]: o for o in shadow["outputs"]}
    for name, t in case.outputs.items():
        data = np.load(folder / "out" / f"{name}.npy").astype(np.float64)
        if not np.array_equal(data, np.ravel(t.v), equal_nan=True):
            problems.append(f"output {name}: {np.sum(data != np.ravel(t.v))} values are not those of NumPy")
        entry = {"error": outputs[name]["error"], "made": outputs[name]["error"], "come_in": dict.fromkeys(
            outputs[name]["error"], 0)}
        v, r = np.ravel(t.v), np.ravel(t.r)
        check_errors(f"output {name}", [(t.kind, v, r, r)], entry, problems)
    if shadow["restarted"] != case.restarted or shadow["ended"] != case.ended:
        problems.append(f"{shadow['restarted']} results restarted, {shadow['ended']} ended")
    return problems


def what_if(vinci, folder, seed):
    """Errors that --what-if foretells, and those of programs that are written so."""

    def errors(case, key, *options):
        (folder / case.name).mkdir(parents=True, exist_ok=True)
        shadow, _, _ = run(vinci, case, folder / case.name, options)
        return {o["buffer"]: o[key]["rms_relative"] for o in shadow["outputs"]}

    def rng():
        return np.random.default_rng(seed)

    log = log1p(rng())
    line = log.text()[1][log.add]
    scaling = loss_scaling(rng())
    scaled = errors(scaling, "error")
    questions = [
        ("log1p, the sum in f32", errors(log, "what_if", "--what-if", f"{line}=f32")["y"],
         errors(log1p(rng(), wide=True), "error")["y"]),
        ("adam in f32", errors(adam(rng()), "what_if", "--what-if", "all=f32")["p"],
         errors(adam(rng(), "f32"), "error")["p"]),
        ("gradients times 2^12", errors(scaling, "what_if", "--what-if", "plain=own*2^12")["plain_g"],
         scaled["scaled_g"]),
    ]
    problems = []
    if not scaled["plain_g"] > 4 * scaled["scaled_g"]:
        problems.append("a loss scale of 2^12 gains nothing")
    stable = errors(log1p_stable(rng()), "error")["y"]
    naive = errors(log1p_stable(rng(), stable=False), "error")["y"]
    print(f"log1p: {naive:.4g} naive, {stable:.4g} stable")
    if not naive > 4 * stable:
        problems.append(f"log1p: the stable one, {stable:.4g}, is no better than the naive one, {naive:.4g}")
    orders = sums_by_order(rng())
    exact = orders.rows.sum(1)
    products = rounded(orders.a.v[:, None, :] * orders.b.v.T[None, :, :], "f32")
    c = orders.a.v @ orders.b.v
    for order in ("sequential", "reversed", "pairwise"):
        for task, key, values, right in (("rows", "y", in_order(orders.rows, order, "f16"), exact),
                                         ("product", "c", rounded(in_order(products, order, "f32"), "f16"), c)):
            got = errors(sums_by_order(rng()), "what_if", "--what-if", f"{task}=own@{order}")[key]
            share = (values - right) / right
            questions.append((f"{task}, sums {order}", got, float(np.sqrt(np.mean(share**2)))))
    for name, foretold, rerun in questions:
        print(f"what if: {name}: {foretold:.4g} foretold, {rerun:.4g} when rerun")
        if not 0 < max(foretold, rerun) <= 2 * min(foretold, rerun):
            problems.append(f"what if: {name}: {foretold:.4g} foretold, {rerun:.4g} when rerun")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vinci")
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        for name, build in CASES.items():
            if options.case not in (None, name):
                continue
            folder = (options.keep or pathlib.Path(temporary)) / name
            folder.mkdir(parents=True, exist_ok=True)
            problems = check(options.vinci, build(np.random.default_rng(options.seed)), folder)
            print(f"{name}: {'ok' if not problems else f'{len(problems)} problems'}")
            for problem in problems[:20]:
                print("  " + problem)
            failed |= bool(problems)
        if options.case is None:
            problems = what_if(options.vinci, (options.keep or pathlib.Path(temporary)) / "what_if", options.seed)
            for problem in problems:
                print("  " + problem)
            failed |= bool(problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
