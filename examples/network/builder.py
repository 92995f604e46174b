# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Nodes and weights of a network, and the layers that several networks share."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    """Nodes and weights of a network; each call returns the name of its result."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def constant(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def node(self, op, *inputs, **attributes):
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def conv(self, x, channels, filters, kernel, stride=1, pad=0, group=1):
        inner = channels // group
        scale = np.sqrt(2.0 / (inner * kernel * kernel))
        w = self.random.normal(0, scale, (filters, inner, kernel, kernel)).astype(np.float32)
        return self.node("Conv", x, self.constant(w), kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4,
                         group=group)

    def batch_norm(self, x, channels, gain=1.0):
        def vector(low, high):
            return self.constant(self.random.uniform(low, high, channels).astype(np.float32))
        return self.node("BatchNormalization", x, vector(0.8 * gain, 1.2 * gain), vector(-0.1, 0.1), vector(-0.1, 0.1),
                         vector(0.8, 1.2))

    def several(self, op, count, *inputs):
        """The results of a node with `count` of them."""
        name = f"{op}_{len(self.nodes)}"
        results = [f"{name}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(op, list(inputs), results, name=name))
        return results

    def split(self, x, parts, axis):
        """Pieces of one size along an axis."""
        name = f"Split_{len(self.nodes)}"
        pieces = [f"{name}_{i}" for i in range(parts)]
        self.nodes.append(helper.make_node("Split", [x], pieces, name=name, axis=axis))
        return pieces

    def linear(self, x, inputs, outputs):
        w = self.random.normal(0, np.sqrt(1.0 / inputs), (outputs, inputs)).astype(np.float32)
        b = self.random.uniform(-0.1, 0.1, outputs).astype(np.float32)
        return self.node("Gemm", x, self.constant(w), self.constant(b), transB=1)

    def head(self, x, channels, classes):
        pooled = self.node("Flatten", self.node("GlobalAveragePool", x))
        return self.linear(pooled, channels, classes)

    def matrix(self, x, inputs, outputs):
        """x * w on the last axis."""
        w = self.random.normal(0, np.sqrt(1.0 / inputs), (inputs, outputs)).astype(np.float32)
        return self.node("MatMul", x, self.constant(w))

    def product(self, x, inputs, outputs):
        """x * w + b on the last axis, as exporters write it: MatMul and Add."""
        b = self.random.uniform(-0.1, 0.1, outputs).astype(np.float32)
        return self.node("Add", self.constant(b), self.matrix(x, inputs, outputs))

    def layer_norm(self, x, width):
        """As nodes of operator set 13, which has no LayerNormalization."""
        centred = self.node("Sub", x, self.node("ReduceMean", x, axes=[-1]))
        squares = self.node("Pow", centred, self.constant(np.float32(2)))
        variance = self.node("ReduceMean", squares, axes=[-1])
        deviation = self.node("Sqrt", self.node("Add", variance, self.constant(np.float32(1e-5))))
        scale = self.constant(self.random.uniform(0.8, 1.2, width).astype(np.float32))
        offset = self.constant(self.random.uniform(-0.1, 0.1, width).astype(np.float32))
        return self.node("Add", self.node("Mul", self.node("Div", centred, deviation), scale), offset)

    def gelu(self, x):
        erf = self.node("Erf", self.node("Div", x, self.constant(np.float32(np.sqrt(2)))))
        half = self.node("Mul", x, self.node("Add", erf, self.constant(np.float32(1))))
        return self.node("Mul", half, self.constant(np.float32(0.5)))

    def shaped(self, x, *extents):
        return self.node("Reshape", x, self.integers(*extents))

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def number(self, value):
        return self.constant(np.float32(value))

    def sliced(self, x, axis, begin, end, step=1):
        """Elements [begin, end) of an axis."""
        return self.node("Slice", x, self.integers(begin), self.integers(end), self.integers(axis), self.integers(step))

    def resized(self, x, *scales):
        """Each element so many times along the axes, as exporters write nearest neighbours."""
        return self.node("Resize", x, "", self.constant(np.array(scales, np.float32)), mode="nearest",
                         coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    def save(self, path, name, inputs, outputs, integers=()):
        """`inputs` and `outputs`: shapes by name; those of `integers` are i64."""
        def values(shapes):
            return [helper.make_tensor_value_info(n, TensorProto.INT64 if n in integers else TensorProto.FLOAT, s)
                    for n, s in shapes.items()]
        graph = helper.make_graph(self.nodes, name, values(inputs), values(outputs), self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)


def relu_conv(b, x, channels, filters, kernel, stride=1, pad=0):
    """A convolution with bias and its Relu."""
    scale = np.sqrt(2.0 / (channels * kernel * kernel))
    w = b.random.normal(0, scale, (filters, channels, kernel, kernel)).astype(np.float32)
    bias = b.random.uniform(-0.1, 0.1, filters).astype(np.float32)
    y = b.node("Conv", x, b.constant(w), b.constant(bias), kernel_shape=[kernel] * 2, strides=[stride] * 2,
               pads=[pad] * 4)
    return b.node("Relu", y)


def relu6(b, x):
    return b.node("Clip", x, b.constant(np.float32(0)), b.constant(np.float32(6)))


def swish(b, x):
    return b.node("Mul", x, b.node("Sigmoid", x))


def pointwise(b, x, channels, filters):
    """1 x 1 with bias."""
    w = b.random.normal(0, np.sqrt(1.0 / channels), (filters, channels, 1, 1)).astype(np.float32)
    bias = b.random.uniform(-0.1, 0.1, filters).astype(np.float32)
    return b.node("Conv", x, b.constant(w), b.constant(bias), kernel_shape=[1, 1])
