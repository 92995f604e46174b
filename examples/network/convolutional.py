# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Networks of convolutions."""
import numpy as np

from builder import pointwise, relu6, relu_conv, swish


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


def block(b, o):
    """One residual block of 16 to 64 channels with its classifier."""
    x = b.node("Relu", b.batch_norm(b.conv("x", 16, 64, 3, 1, 1), 64))
    x = basic_block(b, x, 64, 64, 1)
    b.save(o.file, "block", {"x": [o.batch, 16, 32, 32]}, {b.head(x, 64, 10): [o.batch, 10]})


def resnet(b, o, name, layers, unit, expansion):
    x = b.node("Relu", b.batch_norm(b.conv("x", 3, 64, 7, 2, 3), 64))
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage, count in enumerate(layers):
        width = 64 << stage
        for i in range(count):
            x = unit(b, x, channels, width, 2 if stage > 0 and i == 0 else 1)
            channels = width * expansion
    b.save(o.file, name, {"x": [o.batch, 3, o.image, o.image]}, {b.head(x, channels, 1000): [o.batch, 1000]})


def classifier(b, x, inputs, hidden):
    """Three layers on a map of `inputs` elements, as VGG and AlexNet end."""
    x = b.node("Flatten", x)
    for width in hidden:
        x = b.node("Relu", b.linear(x, inputs, width))
        inputs = width
    return b.linear(x, inputs, 1000)


def vgg16(b, o):
    x, channels = "x", 3
    for filters, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            x = relu_conv(b, x, channels, filters, 3, pad=1)
            channels = filters
        x = b.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = classifier(b, x, 512 * (o.image // 32) ** 2, (o.hidden, o.hidden))
    b.save(o.file, "vgg16", {"x": [o.batch, 3, o.image, o.image]}, {y: [o.batch, 1000]})


def alexnet(b, o):
    x = relu_conv(b, "x", 3, 64, 11, stride=4, pad=2)
    x = relu_conv(b, b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2]), 64, 192, 5, pad=2)
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    for channels, filters in ((192, 384), (384, 256), (256, 256)):
        x = relu_conv(b, x, channels, filters, 3, pad=1)
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    y = classifier(b, x, 256 * ((o.image - 32) // 32) ** 2, (o.hidden, o.hidden))
    b.save(o.file, "alexnet", {"x": [o.batch, 3, o.image, o.image]}, {y: [o.batch, 1000]})


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


def mobilenet_v2(b, o):
    x, channels = relu6(b, b.batch_norm(b.conv("x", 3, 32, 3, 2, 1), 32)), 32
    for expand, filters, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                           (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            x = inverted_residual(b, x, channels, filters, stride if i == 0 else 1, expand)
            channels = filters
    x = relu6(b, b.batch_norm(b.conv(x, 320, 1280, 1), 1280))
    b.save(o.file, "mobilenet_v2", {"x": [o.batch, 3, o.image, o.image]}, {b.head(x, 1280, 1000): [o.batch, 1000]})


def efficientnet_b0(b, o):
    x, channels = swish(b, b.batch_norm(b.conv("x", 3, 32, 3, 2, 1), 32)), 32
    for expand, filters, count, stride, kernel in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
                                                   (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)):
        for i in range(count):
            x = inverted_residual(b, x, channels, filters, stride if i == 0 else 1, expand, kernel, swish,
                                  gate=max(1, channels // 4))
            channels = filters
    x = swish(b, b.batch_norm(b.conv(x, 320, 1280, 1), 1280))
    b.save(o.file, "efficientnet_b0", {"x": [o.batch, 3, o.image, o.image]}, {b.head(x, 1280, 1000): [o.batch, 1000]})


def densenet121(b, o):
    x, channels = b.node("Relu", b.batch_norm(b.conv("x", 3, 64, 7, 2, 3), 64)), 64
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for stage, count in enumerate(o.layers):
        for _ in range(count):
            y = b.conv(b.node("Relu", b.batch_norm(x, channels)), channels, 128, 1)
            y = b.conv(b.node("Relu", b.batch_norm(y, 128)), 128, 32, 3, 1, 1)
            x = b.node("Concat", x, y, axis=1)
            channels += 32
        x = b.node("Relu", b.batch_norm(x, channels))
        if stage < len(o.layers) - 1:
            x = b.node("AveragePool", b.conv(x, channels, channels // 2, 1), kernel_shape=[2, 2], strides=[2, 2])
            channels //= 2
    b.save(o.file, "densenet121", {"x": [o.batch, 3, o.image, o.image]}, {b.head(x, channels, 1000): [o.batch, 1000]})


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
    b.save(o.file, "unet", {"x": [o.batch, 3, o.image, o.image]},
           {pointwise(b, x, channels, 2): [o.batch, 2, o.image, o.image]})
