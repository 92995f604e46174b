# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""The Swin transformer, with its index arithmetic folded: rolls are Slice and Concat, windows Reshape and Transpose."""
import numpy as np

from transformers import patches

WINDOW = 7


def roll(b, x, side, by):
    """Rows and columns [by, side) in front of [0, by), as exporters write it: an axis after the other."""
    for axis in (1, 2):
        x = b.node("Concat", b.sliced(x, axis, by, side), b.sliced(x, axis, 0, by), axis=axis)
    return x


def shift_mask(side, shift):
    """-100 between tokens of a window that the roll brought together: 1, windows, 1, 49, 49."""
    region = np.zeros((side, side), np.int64)
    parts = (slice(0, side - WINDOW), slice(side - WINDOW, side - shift), slice(side - shift, side))
    for number, (rows, columns) in enumerate((r, c) for r in parts for c in parts):
        region[rows, columns] = number
    windows = region.reshape(side // WINDOW, WINDOW, side // WINDOW, WINDOW).transpose(0, 2, 1, 3).reshape(-1, WINDOW ** 2)
    apart = windows[:, None, :] != windows[:, :, None]
    return np.where(apart, -100.0, 0.0).astype(np.float32)[None, :, None]


def window_attention(b, x, o, side, width, heads, shift):
    """Attention of the tokens of each window; x: batch, side, side, width."""
    across, tokens, head = side // WINDOW, WINDOW ** 2, width // heads
    windows = across ** 2
    if shift:
        x = roll(b, x, side, shift)
    x = b.shaped(x, o.batch, across, WINDOW, across, WINDOW, width)
    x = b.shaped(b.node("Transpose", x, perm=[0, 1, 3, 2, 4, 5]), o.batch * windows, tokens, width)
    x = b.shaped(b.product(x, width, 3 * width), o.batch * windows, tokens, 3, heads, head)
    x = b.node("Transpose", x, perm=[2, 0, 3, 1, 4])
    queries, keys, values = (b.node("Gather", x, b.constant(np.int64(i)), axis=0) for i in range(3))
    queries = b.node("Mul", queries, b.number(head ** -0.5))
    scores = b.node("MatMul", queries, b.node("Transpose", keys, perm=[0, 1, 3, 2]))
    places = b.random.normal(0, 0.5, (1, heads, tokens, tokens)).astype(np.float32)
    scores = b.node("Add", scores, b.constant(places))
    if shift:
        scores = b.shaped(scores, o.batch, windows, heads, tokens, tokens)
        scores = b.node("Add", scores, b.constant(shift_mask(side, shift)))
        scores = b.shaped(scores, -1, heads, tokens, tokens)
    x = b.node("MatMul", b.node("Softmax", scores, axis=-1), values)
    x = b.shaped(b.node("Transpose", x, perm=[0, 2, 1, 3]), o.batch * windows, tokens, width)
    x = b.shaped(b.product(x, width, width), o.batch, across, across, WINDOW, WINDOW, width)
    x = b.shaped(b.node("Transpose", x, perm=[0, 1, 3, 2, 4, 5]), o.batch, side, side, width)
    return roll(b, x, side, side - shift) if shift else x


def merge_patches(b, x, side, width):
    """Squares of 2 x 2 tokens become one of twice the width."""
    corners = []
    for column in (0, 1):
        for row in (0, 1):
            corner = b.sliced(x, 1, row, side, 2)
            corners.append(b.sliced(corner, 2, column, side, 2))
    return b.matrix(b.layer_norm(b.node("Concat", *corners, axis=-1), 4 * width), 4 * width, 2 * width)


def swin(b, o):
    side, width, heads = o.image // 4, o.hidden, o.heads
    x = b.layer_norm(b.node("Transpose", patches(b, width, 4), perm=[0, 2, 3, 1]), width)
    for stage, count in enumerate(o.layers):
        if stage > 0:
            x = merge_patches(b, x, side, width)
            side, width, heads = side // 2, 2 * width, 2 * heads
        for i in range(count):
            shift = WINDOW // 2 if i % 2 == 1 and side > WINDOW else 0
            x = b.node("Add", x, window_attention(b, b.layer_norm(x, width), o, side, width, heads, shift))
            inner = b.gelu(b.product(b.layer_norm(x, width), width, 4 * width))
            x = b.node("Add", x, b.product(inner, 4 * width, width))
    x = b.node("Transpose", b.layer_norm(x, width), perm=[0, 3, 1, 2])
    b.save(o.file, "swin", {"x": [o.batch, 3, o.image, o.image]}, {b.head(x, width, 1000): [o.batch, 1000]})
