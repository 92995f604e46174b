# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Networks of products of bytes."""
import numpy as np


def quantised(b, x, scale, zero=None, kind=np.int8):
    """To bytes and back, as exporters put it in front of a product."""
    pair = b.constant(np.float32(scale)), b.constant(kind(0 if zero is None else zero))
    return b.node("DequantizeLinear", b.node("QuantizeLinear", x, *pair), *pair)


def weights(b, w):
    """Weights as i8 with a scale for each filter (axis 0), and their DequantizeLinear."""
    scale = np.abs(w).reshape(len(w), -1).max(axis=1) / 127
    q = np.round(w / scale.reshape(-1, *[1] * (w.ndim - 1))).astype(np.int8)
    return b.node("DequantizeLinear", b.constant(q), b.constant(scale.astype(np.float32)),
                  b.constant(np.zeros(len(w), np.int8)), axis=0)


def conv(b, x, channels, filters, kernel, stride=1, pad=0):
    """A convolution with bias of a quantised map."""
    w = b.random.normal(0, np.sqrt(2.0 / (channels * kernel * kernel)), (filters, channels, kernel, kernel))
    bias = b.random.uniform(-0.1, 0.1, filters).astype(np.float32)
    return b.node("Conv", x, weights(b, w), b.constant(bias), kernel_shape=[kernel] * 2, strides=[stride] * 2,
                  pads=[pad] * 4)


def resnet18_qdq(b, o):
    """ResNet-18 with QuantizeLinear and DequantizeLinear around each product, batch norms folded."""
    def relu(x):
        return quantised(b, b.node("Relu", x), 0.04, -128)
    x = relu(conv(b, quantised(b, "x", 0.02), 3, 64, 7, 2, 3))
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage in range(4):
        width = 64 << stage
        for i in range(2):
            stride = 2 if stage > 0 and i == 0 else 1
            y = relu(conv(b, x, channels, width, 3, stride, 1))
            y = quantised(b, conv(b, y, width, width, 3, 1, 1), 0.04)
            if stride != 1 or channels != width:
                x = quantised(b, conv(b, x, channels, width, 1, stride), 0.04)
            x, channels = relu(b.node("Add", y, x)), width
    mean = quantised(b, b.node("Flatten", b.node("GlobalAveragePool", x)), 0.02, -128)
    w = b.random.normal(0, np.sqrt(1.0 / channels), (1000, channels))
    bias = b.random.uniform(-0.1, 0.1, 1000).astype(np.float32)
    y = b.node("Gemm", mean, weights(b, w), b.constant(bias), transB=1)
    b.save(o.file, "resnet18_qdq", {"x": [o.batch, 3, o.image, o.image]}, {y: [o.batch, 1000]})


def mlp_dynamic(b, o):
    """Two layers behind dynamic quantisation: scale and zero point of the rows follow from what they hold."""
    x, inputs = "x", o.hidden
    for outputs in (4 * o.hidden, o.hidden):
        w = b.random.normal(0, np.sqrt(1.0 / inputs), (inputs, outputs))
        scale = np.float32(np.abs(w).max() / 127)
        rows, row_scale, zero = b.several("DynamicQuantizeLinear", 3, x)
        sums = b.node("MatMulInteger", rows, b.constant(np.round(w / scale).astype(np.int8)), zero)
        y = b.node("Mul", b.node("Cast", sums, to=1), b.node("Mul", row_scale, b.number(scale)))
        y = b.node("Add", y, b.constant(b.random.uniform(-0.1, 0.1, outputs).astype(np.float32)))
        x, inputs = b.node("Relu", y), outputs
    b.save(o.file, "mlp_dynamic", {"x": [o.sequence, o.hidden]}, {x: [o.sequence, o.hidden]})
