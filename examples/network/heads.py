# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""What detectors, text finders and trackers have behind their backbones."""
import numpy as np

from builder import pointwise, relu_conv, swish


def conv_unit(b, x, channels, filters, kernel, stride=1, activation=swish):
    x = b.conv(x, channels, filters, kernel, stride, kernel // 2)
    return activation(b, b.batch_norm(x, filters))


def relu(b, x):
    return b.node("Relu", x)


# YOLO
# ------------------------------------------------------------------------------------------------------------------------

ANCHORS = ((10, 13, 16, 30, 33, 23), (30, 61, 62, 45, 59, 119), (116, 90, 156, 198, 373, 326))


def boxes(b, x, o, side, stride, anchors):
    """Centres and sizes in pixels and scores: batch, boxes, 4 + 1 + classes."""
    values = 5 + o.classes
    x = b.shaped(x, o.batch, 3, values, side, side)
    x = b.node("Sigmoid", b.node("Transpose", x, perm=[0, 1, 3, 4, 2]))
    rows, columns = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    grid = b.constant((np.stack([columns, rows], -1) - 0.5).astype(np.float32)[None, None])
    centre = b.node("Add", b.node("Mul", b.sliced(x, 4, 0, 2), b.number(2)), grid)
    centre = b.node("Mul", centre, b.number(stride))
    size = b.node("Pow", b.node("Mul", b.sliced(x, 4, 2, 4), b.number(2)), b.number(2))
    size = b.node("Mul", size, b.constant(np.array(anchors, np.float32).reshape(1, 3, 1, 1, 2)))
    x = b.node("Concat", centre, size, b.sliced(x, 4, 4, values), axis=4)
    return b.shaped(x, o.batch, 3 * side * side, values)


def levels(b, o):
    """Three levels of maps, finer ones joined with coarser ones, and their boxes; inputs: maps of 8, 16 and 32 pixels."""
    sides, channels = [o.image // s for s in (8, 16, 32)], [o.hidden, 2 * o.hidden, 4 * o.hidden]
    inputs = {f"p{i + 3}": [o.batch, channels[i], sides[i], sides[i]] for i in range(3)}
    x, maps = "p5", [None, None, None]
    for level in (2, 1, 0):
        if level < 2:
            x = b.node("Concat", b.resized(x, 1, 1, 2, 2), f"p{level + 3}", axis=1)
        inner = channels[level] if level == 2 else 2 * channels[level]
        x = maps[level] = conv_unit(b, x, inner, channels[level], 3)
        if level > 0:
            x = conv_unit(b, x, channels[level], channels[level - 1], 1)
    found = []
    for level, x in enumerate(maps):
        x = pointwise(b, x, channels[level], 3 * (5 + o.classes))
        found.append(boxes(b, x, o, sides[level], 8 << level, ANCHORS[level]))
    return inputs, b.node("Concat", *found, axis=1), 3 * sum(side * side for side in sides)


def yolo(b, o):
    """All boxes with their scores."""
    inputs, found, count = levels(b, o)
    b.save(o.file, "yolo", inputs, {found: [o.batch, count, 5 + o.classes]})


def yolo_nms(b, o):
    """The boxes that overlap no better one of their class, as rows of image, class, box, and their corners: how many there
    are follows from the maps."""
    inputs, found, _ = levels(b, o)
    half = b.node("Mul", b.sliced(found, 2, 2, 4), b.number(0.5))
    centre = b.sliced(found, 2, 0, 2)
    corners = b.node("Concat", b.node("Sub", centre, half), b.node("Add", centre, half), axis=2)
    scores = b.node("Mul", b.sliced(found, 2, 5, 5 + o.classes), b.sliced(found, 2, 4, 5))
    chosen = b.node("NonMaxSuppression", corners, b.node("Transpose", scores, perm=[0, 2, 1]), b.integers(100),
                    b.constant(np.array([0.5], np.float32)), b.constant(np.array([0.6], np.float32)))
    places = b.node("GatherND", corners, b.node("Gather", chosen, b.integers(0, 2), axis=1))
    b.save(o.file, "yolo_nms", inputs, {chosen: ["boxes", 3], b.node("Identity", places): ["boxes", 4]},
           integers=(chosen,))


# Differentiable binarisation
# ------------------------------------------------------------------------------------------------------------------------

def transposed(b, x, channels, filters, kernel):
    """A transposed convolution with bias; windows do not overlap."""
    w = b.random.normal(0, np.sqrt(2.0 / channels), (channels, filters, kernel, kernel)).astype(np.float32)
    bias = b.random.uniform(-0.1, 0.1, filters).astype(np.float32)
    return b.node("ConvTranspose", x, b.constant(w), b.constant(bias), kernel_shape=[kernel] * 2, strides=[kernel] * 2)


def probability(b, x, channels):
    """A map of four times the height and width."""
    inner = channels // 4
    x = conv_unit(b, x, channels, inner, 3, activation=relu)
    x = relu(b, b.batch_norm(transposed(b, x, inner, inner, 2), inner))
    return b.node("Sigmoid", transposed(b, x, inner, 1, 2))


def db(b, o):
    """Maps of 4 to 32 pixels become one; probability, threshold, and their difference as a steep curve."""
    sides, channels = [o.image // s for s in (4, 8, 16, 32)], [o.hidden << i for i in range(4)]
    inputs = {f"c{i + 2}": [o.batch, channels[i], sides[i], sides[i]] for i in range(4)}
    inner = o.hidden
    maps = [b.conv(name, channels[i], inner, 1) for i, name in enumerate(inputs)]
    for i in (2, 1, 0):
        maps[i] = b.node("Add", b.resized(maps[i + 1], 1, 1, 2, 2), maps[i])
    pieces = []
    for i in (3, 2, 1, 0):
        piece = b.conv(maps[i], inner, inner // 4, 3, 1, 1)
        pieces.append(b.resized(piece, 1, 1, 1 << i, 1 << i) if i > 0 else piece)
    x = b.node("Concat", *pieces, axis=1)
    text, threshold = probability(b, x, inner), probability(b, x, inner)
    steep = b.node("Exp", b.node("Mul", b.node("Sub", text, threshold), b.number(-50)))
    edges = b.node("Reciprocal", b.node("Add", b.number(1), steep))
    shape = [o.batch, 1, o.image, o.image]
    b.save(o.file, "db", inputs, {text: shape, threshold: shape, edges: shape})


# SiamMask
# ------------------------------------------------------------------------------------------------------------------------

def correlation(b, o, template, search, side):
    """Each channel of the map of the template, as a filter, over the same channel of the map that is searched."""
    filters, wide = conv_unit_valid(b, template, o.hidden), conv_unit_valid(b, search, o.hidden)
    planes = o.batch * o.hidden
    wide = b.shaped(wide, 1, planes, side, side)
    y = b.node("Conv", wide, b.shaped(filters, planes, 1, 5, 5), kernel_shape=[5, 5], group=planes)
    # A sum of 25 products of positive numbers.
    y = b.node("Mul", y, b.number(1 / 16))
    return b.shaped(y, o.batch, o.hidden, side - 4, side - 4)


def conv_unit_valid(b, x, channels):
    return relu(b, b.batch_norm(b.conv(x, channels, channels, 3), channels))


def window_of(b, x, pad, at, side):
    """Rows and columns [at, at + side) of a map with a border of zeros."""
    x = b.node("Pad", x, b.integers(0, 0, pad, pad, 0, 0, pad, pad), mode="constant")
    return b.sliced(b.sliced(x, 2, at, at + side), 3, at, at + side)


def refine(b, o, x, levels):
    """A mask of one place of the correlation `x`, from coarse to fine; `levels`: names of maps, the finest first."""
    at, widths = (o.image - 6) // 2, [o.hidden // n for n in (64, 16, 8)]
    place = b.shaped(b.sliced(b.sliced(x, 2, at, at + 1), 3, at, at + 1), o.batch, o.hidden, 1, 1)
    x = transposed(b, place, o.hidden, widths[2], 15)
    for level, side, grown in ((2, 15, 31), (1, 31, 61), (0, 61, 127)):
        channels, width = o.maps[level][1], widths[level]
        y = window_of(b, levels[level], 16 >> level, at << (2 - level), side)
        y = relu_conv(b, relu_conv(b, y, channels, channels // 4, 3, pad=1), channels // 4, width, 3, pad=1)
        x = relu_conv(b, relu_conv(b, x, width, width, 3, pad=1), width, width, 3, pad=1)
        x = b.node("Resize", b.node("Add", x, y), "", "", b.integers(o.batch, width, grown, grown), mode="nearest",
                   coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        x = b.conv(x, width, widths[level - 1] if level > 0 else 1, 3, 1, 1)
    return b.shaped(x, o.batch, 127 * 127)


def siammask(b, o):
    """Correlations for scores, boxes and masks, and the refinement of the mask of one place."""
    side = o.image
    o.maps = [[o.batch, o.hidden // 4, 4 * side + 1, 4 * side + 1], [o.batch, o.hidden, 2 * side + 1, 2 * side + 1],
              [o.batch, 2 * o.hidden, side, side]]
    inputs = {"template": [o.batch, o.hidden, 7, 7], "search": [o.batch, o.hidden, side, side]}
    inputs.update({f"f{i}": shape for i, shape in enumerate(o.maps)})
    found, outputs = side - 6, {}
    for filters in (10, 20, o.classes):
        x = correlation(b, o, "template", "search", side - 2)
        y = relu(b, b.batch_norm(b.conv(x, o.hidden, o.hidden, 1), o.hidden))
        outputs[pointwise(b, y, o.hidden, filters)] = [o.batch, filters, found, found]
    outputs[refine(b, o, x, ["f0", "f1", "f2"])] = [o.batch, 127 * 127]
    b.save(o.file, "siammask", inputs, outputs)


def deeplab(b, o):
    """Pyramid of dilated convolutions and decoder of DeepLabV3+, behind a short backbone."""
    def unit(x, channels, filters, kernel=1, stride=1, dilation=1):
        scale = np.sqrt(2.0 / (channels * kernel * kernel))
        w = b.random.normal(0, scale, (filters, channels, kernel, kernel)).astype(np.float32)
        y = b.node("Conv", x, b.constant(w), kernel_shape=[kernel] * 2, strides=[stride] * 2,
                   pads=[kernel // 2 * dilation] * 4, dilations=[dilation] * 2)
        return b.node("Relu", b.batch_norm(y, filters))

    def resized(x, channels, extent):
        return b.node("Resize", x, "", "", b.integers(o.batch, channels, extent, extent), mode="linear",
                      coordinate_transformation_mode="half_pixel")

    quarter, small = [(o.image - 1) // s + 1 for s in (4, 16)]
    low = unit(unit("x", 3, o.hidden // 4, 7, 2), o.hidden // 4, o.hidden, 3, 2)
    x = unit(unit(low, o.hidden, 2 * o.hidden, 3, 2), 2 * o.hidden, 4 * o.hidden, 3, 2)
    branches = [unit(x, 4 * o.hidden, o.hidden)]
    branches += [unit(x, 4 * o.hidden, o.hidden, 3, dilation=d) for d in (6, 12, 18)]
    mean = unit(b.node("GlobalAveragePool", x), 4 * o.hidden, o.hidden)
    branches.append(resized(mean, o.hidden, small))
    x = resized(unit(b.node("Concat", *branches, axis=1), 5 * o.hidden, o.hidden), o.hidden, quarter)
    x = b.node("Concat", x, unit(low, o.hidden, 48), axis=1)
    x = pointwise(b, unit(x, o.hidden + 48, o.hidden, 3), o.hidden, o.classes)
    x = resized(x, o.classes, o.image)
    b.save(o.file, "deeplab", {"x": [o.batch, 3, o.image, o.image]}, {x: [o.batch, o.classes, o.image, o.image]})
