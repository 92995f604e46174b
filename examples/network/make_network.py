#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Writes a small network as ONNX, with random weights: make_network.py NETWORK FILE.

Needs python3-onnx and python3-numpy. Weights are scaled so that the values of each layer have an rms of about 1.
"""
import argparse
import sys

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

    def linear(self, x, inputs, outputs):
        w = self.random.normal(0, np.sqrt(1.0 / inputs), (outputs, inputs)).astype(np.float32)
        b = self.random.uniform(-0.1, 0.1, outputs).astype(np.float32)
        return self.node("Gemm", x, self.constant(w), self.constant(b), transB=1)

    def head(self, x, channels, classes):
        pooled = self.node("Flatten", self.node("GlobalAveragePool", x))
        return self.linear(pooled, channels, classes)

    def product(self, x, inputs, outputs):
        """x * w + b on the last axis, as exporters write it: MatMul and Add."""
        w = self.random.normal(0, np.sqrt(1.0 / inputs), (inputs, outputs)).astype(np.float32)
        b = self.random.uniform(-0.1, 0.1, outputs).astype(np.float32)
        return self.node("Add", self.constant(b), self.node("MatMul", x, self.constant(w)))

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
        return self.node("Reshape", x, self.constant(np.array(extents, np.int64)))

    def save(self, path, name, inputs, output, shape):
        values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()]
        out = helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, name, values, [out], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)


def basic_block(b, x, channels, filters, stride):
    """Conv, BN, Relu, Conv, BN, Add, Relu; a convolution of 1 x 1 where the shapes differ."""
    y = b.node("Relu", b.batch_norm(b.conv(x, channels, filters, 3, stride, 1), filters))
    y = b.batch_norm(b.conv(y, filters, filters, 3, 1, 1), filters, gain=0.5)
    if stride != 1 or channels != filters:
        x = b.batch_norm(b.conv(x, channels, filters, 1, stride), filters)
    return b.node("Relu", b.node("Add", y, x))


def bottleneck(b, x, channels, width, stride):
    """Convolutions of 1 x 1, 3 x 3 and 1 x 1 to four times the width; the stride is that of the middle one."""
    y = b.node("Relu", b.batch_norm(b.conv(x, channels, width, 1), width))
    y = b.node("Relu", b.batch_norm(b.conv(y, width, width, 3, stride, 1), width))
    y = b.batch_norm(b.conv(y, width, 4 * width, 1), 4 * width, gain=0.5)
    if stride != 1 or channels != 4 * width:
        x = b.batch_norm(b.conv(x, channels, 4 * width, 1, stride), 4 * width)
    return b.node("Relu", b.node("Add", y, x))


def block(b, batch, path):
    """One residual block of 16 to 64 channels with its classifier."""
    x = b.node("Relu", b.batch_norm(b.conv("x", 16, 64, 3, 1, 1), 64))
    x = basic_block(b, x, 64, 64, 1)
    b.save(path, "block", {"x": [batch, 16, 32, 32]}, b.head(x, 64, 10), [batch, 10])


def resnet(b, batch, path, name, layers, unit, expansion):
    x = b.node("Relu", b.batch_norm(b.conv("x", 3, 64, 7, 2, 3), 64))
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage, count in enumerate(layers):
        width = 64 << stage
        for i in range(count):
            x = unit(b, x, channels, width, 2 if stage > 0 and i == 0 else 1)
            channels = width * expansion
    b.save(path, name, {"x": [batch, 3, 224, 224]}, b.head(x, channels, 1000), [batch, 1000])


def relu_conv(b, x, channels, filters, kernel, stride=1, pad=0):
    """A convolution with bias and its Relu."""
    scale = np.sqrt(2.0 / (channels * kernel * kernel))
    w = b.random.normal(0, scale, (filters, channels, kernel, kernel)).astype(np.float32)
    bias = b.random.uniform(-0.1, 0.1, filters).astype(np.float32)
    y = b.node("Conv", x, b.constant(w), b.constant(bias), kernel_shape=[kernel] * 2, strides=[stride] * 2,
               pads=[pad] * 4)
    return b.node("Relu", y)


def classifier(b, x, inputs, hidden):
    """Three layers on a map of `inputs` elements, as VGG and AlexNet end."""
    x = b.node("Flatten", x)
    for width in hidden:
        x = b.node("Relu", b.linear(x, inputs, width))
        inputs = width
    return b.linear(x, inputs, 1000)


def vgg16(b, batch, path):
    x, channels = "x", 3
    for filters, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            x = relu_conv(b, x, channels, filters, 3, pad=1)
            channels = filters
        x = b.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    b.save(path, "vgg16", {"x": [batch, 3, 224, 224]}, classifier(b, x, 512 * 49, (4096, 4096)), [batch, 1000])


def alexnet(b, batch, path):
    x = relu_conv(b, "x", 3, 64, 11, stride=4, pad=2)
    x = relu_conv(b, b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2]), 64, 192, 5, pad=2)
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    for channels, filters in ((192, 384), (384, 256), (256, 256)):
        x = relu_conv(b, x, channels, filters, 3, pad=1)
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    b.save(path, "alexnet", {"x": [batch, 3, 224, 224]}, classifier(b, x, 256 * 36, (4096, 4096)), [batch, 1000])


def attention(b, x, o, mask="mask"):
    """Scores of all heads, the mask if there is one, Softmax, the weighted sum of the values."""
    def heads(perm):
        y = b.shaped(b.product(x, o.hidden, o.hidden), o.batch, o.sequence, o.heads, o.hidden // o.heads)
        return b.node("Transpose", y, perm=perm)

    queries, keys, values = heads([0, 2, 1, 3]), heads([0, 2, 3, 1]), heads([0, 2, 1, 3])
    scale = b.constant(np.float32(np.sqrt(o.hidden // o.heads)))
    scores = b.node("Div", b.node("MatMul", queries, keys), scale)
    weights = b.node("Softmax", b.node("Add", scores, mask) if mask else scores, axis=-1)
    sums = b.node("Transpose", b.node("MatMul", weights, values), perm=[0, 2, 1, 3])
    return b.product(b.shaped(sums, o.batch, o.sequence, o.hidden), o.hidden, o.hidden)


def bert(b, o):
    """Layers of an encoder as BERT has them; the mask is added to the scores."""
    x = "x"
    for _ in range(o.layers):
        x = b.layer_norm(b.node("Add", attention(b, x, o), x), o.hidden)
        inner = b.product(b.gelu(b.product(x, o.hidden, 4 * o.hidden)), 4 * o.hidden, o.hidden)
        x = b.layer_norm(b.node("Add", inner, x), o.hidden)
    shape = [o.batch, o.sequence, o.hidden]
    b.save(o.file, "bert", {"x": shape, "mask": [o.batch, 1, 1, o.sequence]}, x, shape)


def relu6(b, x):
    return b.node("Clip", x, b.constant(np.float32(0)), b.constant(np.float32(6)))


def inverted_residual(b, x, channels, filters, stride, expand, kernel=3, activation=relu6, gate=0):
    """1 x 1 to `expand` times the channels, depthwise, with `gate` squeeze and excitation, 1 x 1 back."""
    inner, y = channels * expand, x
    if expand != 1:
        y = activation(b, b.batch_norm(b.conv(y, channels, inner, 1), inner))
    y = activation(b, b.batch_norm(b.conv(y, inner, inner, kernel, stride, kernel // 2, group=inner), inner))
    if gate:
        squeezed = swish(b, pointwise(b, b.node("GlobalAveragePool", y), inner, gate))
        y = b.node("Mul", b.node("Sigmoid", pointwise(b, squeezed, gate, inner)), y)
    y = b.batch_norm(b.conv(y, inner, filters, 1), filters, gain=0.5)
    return b.node("Add", x, y) if stride == 1 and channels == filters else y


def swish(b, x):
    return b.node("Mul", x, b.node("Sigmoid", x))


def pointwise(b, x, channels, filters):
    """1 x 1 with bias."""
    w = b.random.normal(0, np.sqrt(1.0 / channels), (filters, channels, 1, 1)).astype(np.float32)
    bias = b.random.uniform(-0.1, 0.1, filters).astype(np.float32)
    return b.node("Conv", x, b.constant(w), b.constant(bias), kernel_shape=[1, 1])


def mobilenet_v2(b, o):
    x, channels = relu6(b, b.batch_norm(b.conv("x", 3, 32, 3, 2, 1), 32)), 32
    for expand, filters, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                           (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            x = inverted_residual(b, x, channels, filters, stride if i == 0 else 1, expand)
            channels = filters
    x = relu6(b, b.batch_norm(b.conv(x, 320, 1280, 1), 1280))
    b.save(o.file, "mobilenet_v2", {"x": [o.batch, 3, o.size, o.size]}, b.head(x, 1280, 1000), [o.batch, 1000])


def efficientnet_b0(b, o):
    x, channels = swish(b, b.batch_norm(b.conv("x", 3, 32, 3, 2, 1), 32)), 32
    for expand, filters, count, stride, kernel in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
                                                   (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)):
        for i in range(count):
            x = inverted_residual(b, x, channels, filters, stride if i == 0 else 1, expand, kernel, swish,
                                  gate=max(1, channels // 4))
            channels = filters
    x = swish(b, b.batch_norm(b.conv(x, 320, 1280, 1), 1280))
    b.save(o.file, "efficientnet_b0", {"x": [o.batch, 3, o.size, o.size]}, b.head(x, 1280, 1000), [o.batch, 1000])


def densenet121(b, o):
    x, channels = b.node("Relu", b.batch_norm(b.conv("x", 3, 64, 7, 2, 3), 64)), 64
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for stage, count in enumerate((6, 12, 24, 16)):
        for _ in range(count):
            y = b.conv(b.node("Relu", b.batch_norm(x, channels)), channels, 128, 1)
            y = b.conv(b.node("Relu", b.batch_norm(y, 128)), 128, 32, 3, 1, 1)
            x = b.node("Concat", x, y, axis=1)
            channels += 32
        x = b.node("Relu", b.batch_norm(x, channels))
        if stage < 3:
            x = b.node("AveragePool", b.conv(x, channels, channels // 2, 1), kernel_shape=[2, 2], strides=[2, 2])
            channels //= 2
    b.save(o.file, "densenet121", {"x": [o.batch, 3, o.size, o.size]}, b.head(x, channels, 1000), [o.batch, 1000])


def unet(b, o):
    """Four levels down and up again; transposed convolutions go up, and maps of one level are concatenated."""
    def double(x, channels, filters):
        return relu_conv(b, relu_conv(b, x, channels, filters, 3, pad=1), filters, filters, 3, pad=1)

    x, channels, levels = "x", 3, []
    for filters in (32, 64, 128, 256):
        x = double(x, channels, filters)
        levels.append((x, filters))
        x, channels = b.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), filters
    x, channels = double(x, channels, 512), 512
    for level, filters in reversed(levels):
        w = b.random.normal(0, np.sqrt(1.0 / channels), (channels, filters, 2, 2)).astype(np.float32)
        x = b.node("ConvTranspose", x, b.constant(w), kernel_shape=[2, 2], strides=[2, 2])
        x, channels = double(b.node("Concat", level, x, axis=1), 2 * filters, filters), filters
    b.save(o.file, "unet", {"x": [o.batch, 3, o.size, o.size]}, pointwise(b, x, channels, 2),
           [o.batch, 2, o.size, o.size])


def vit(b, o):
    """Patches of 16 x 16 as tokens, a token for the class, layers with the norm in front."""
    tokens = (o.size // 16) ** 2
    x = b.shaped(patches(b, o.hidden), o.batch, o.hidden, tokens)
    x = b.node("Transpose", x, perm=[0, 2, 1])
    token = b.constant(b.random.normal(0, 1, (o.batch, 1, o.hidden)).astype(np.float32))
    x = b.node("Concat", token, x, axis=1)
    x = b.node("Add", x, b.constant(b.random.normal(0, 0.1, (1, tokens + 1, o.hidden)).astype(np.float32)))
    o.sequence = tokens + 1
    for _ in range(o.layers):
        x = b.node("Add", attention(b, b.layer_norm(x, o.hidden), o, mask=None), x)
        inner = b.gelu(b.product(b.layer_norm(x, o.hidden), o.hidden, 4 * o.hidden))
        x = b.node("Add", b.product(inner, 4 * o.hidden, o.hidden), x)
    first = b.node("Gather", b.layer_norm(x, o.hidden), b.constant(np.int64(0)), axis=1)
    b.save(o.file, "vit", {"x": [o.batch, 3, o.size, o.size]}, b.linear(first, o.hidden, 1000), [o.batch, 1000])


def patches(b, hidden):
    w = b.random.normal(0, np.sqrt(1.0 / 768), (hidden, 3, 16, 16)).astype(np.float32)
    bias = b.random.uniform(-0.1, 0.1, hidden).astype(np.float32)
    return b.node("Conv", "x", b.constant(w), b.constant(bias), kernel_shape=[16, 16], strides=[16, 16])


NETWORKS = {
    "alexnet": lambda b, o: alexnet(b, o.batch, o.file),
    "bert": bert,
    "block": lambda b, o: block(b, o.batch, o.file),
    "densenet121": densenet121,
    "efficientnet_b0": efficientnet_b0,
    "mobilenet_v2": mobilenet_v2,
    "resnet18": lambda b, o: resnet(b, o.batch, o.file, "resnet18", [2, 2, 2, 2], basic_block, 1),
    "resnet50": lambda b, o: resnet(b, o.batch, o.file, "resnet50", [3, 4, 6, 3], bottleneck, 4),
    "resnet152": lambda b, o: resnet(b, o.batch, o.file, "resnet152", [3, 8, 36, 3], bottleneck, 4),
    "unet": unet,
    "vgg16": lambda b, o: vgg16(b, o.batch, o.file),
    "vit": vit,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", choices=sorted(NETWORKS))
    parser.add_argument("file", help="the .onnx file to write")
    parser.add_argument("--batch", type=int, default=1, help="images or sentences (1)")
    parser.add_argument("--layers", type=int, default=1, help="bert, vit: layers (1)")
    parser.add_argument("--hidden", type=int, default=768, help="bert, vit: width of a token (768)")
    parser.add_argument("--heads", type=int, default=12, help="bert, vit: of attention (12)")
    parser.add_argument("--sequence", type=int, default=128, help="bert: tokens of a sentence (128)")
    parser.add_argument("--size", type=int, default=224,
                        help="height and width of an image: densenet, efficientnet, mobilenet, unet, vit (224)")
    parser.add_argument("--seed", type=int, default=1, help="of the weights (1)")
    chosen = parser.parse_args()
    for name in ("batch", "layers", "hidden", "heads", "sequence", "size"):
        if getattr(chosen, name) < 1:
            parser.error(f"--{name} is at least 1")
    if chosen.hidden % chosen.heads != 0:
        parser.error("--hidden is a multiple of --heads")
    NETWORKS[chosen.network](Builder(chosen.seed), chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
