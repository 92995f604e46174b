# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Networks of attention."""
import numpy as np


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
    b.save(o.file, "bert", {"x": shape, "mask": [o.batch, 1, 1, o.sequence]}, {x: shape})


def patches(b, width, side):
    """A token for each square of pixels, as a map."""
    w = b.random.normal(0, np.sqrt(1.0 / (3 * side * side)), (width, 3, side, side)).astype(np.float32)
    bias = b.random.uniform(-0.1, 0.1, width).astype(np.float32)
    return b.node("Conv", "x", b.constant(w), b.constant(bias), kernel_shape=[side, side], strides=[side, side])


def vit(b, o):
    """Patches of 16 x 16 as tokens, a token for the class, layers with the norm in front."""
    tokens = (o.image // 16) ** 2
    x = b.shaped(patches(b, o.hidden, 16), o.batch, o.hidden, tokens)
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
    b.save(o.file, "vit", {"x": [o.batch, 3, o.image, o.image]}, {b.linear(first, o.hidden, 1000): [o.batch, 1000]})


def gpt2(b, o):
    """Layers of a decoder as GPT-2 has them: tokens by number, a causal mask that Where applies, Gelu by Tanh."""
    head = o.hidden // o.heads
    table = b.constant(b.random.normal(0, 0.5, (o.classes, o.hidden)).astype(np.float32))
    places = b.constant(b.random.normal(0, 0.3, (o.sequence, o.hidden)).astype(np.float32))
    x = b.node("Add", b.node("Gather", table, "ids", axis=0), places)
    causal = b.constant(np.tril(np.ones((1, 1, o.sequence, o.sequence), bool)))
    for _ in range(o.layers):
        parts = b.split(b.product(b.layer_norm(x, o.hidden), o.hidden, 3 * o.hidden), 3, 2)
        queries, keys, values = [
            b.node("Transpose", b.shaped(y, o.batch, o.sequence, o.heads, head), perm=perm)
            for y, perm in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))]
        scores = b.node("Div", b.node("MatMul", queries, keys), b.number(np.sqrt(head)))
        weights = b.node("Softmax", b.node("Where", causal, scores, b.number(-10000.0)), axis=-1)
        sums = b.node("Transpose", b.node("MatMul", weights, values), perm=[0, 2, 1, 3])
        x = b.node("Add", x, b.product(b.shaped(sums, o.batch, o.sequence, o.hidden), o.hidden, o.hidden))
        y = b.product(b.layer_norm(x, o.hidden), o.hidden, 4 * o.hidden)
        cube = b.node("Mul", b.node("Pow", y, b.number(3)), b.number(0.044715))
        inner = b.node("Tanh", b.node("Mul", b.node("Add", y, cube), b.number(np.sqrt(2 / np.pi))))
        y = b.node("Mul", b.node("Mul", y, b.number(0.5)), b.node("Add", inner, b.number(1)))
        x = b.node("Add", x, b.product(y, 4 * o.hidden, o.hidden))
    logits = b.matrix(b.layer_norm(x, o.hidden), o.hidden, o.classes)
    b.save(o.file, "gpt2", {"ids": [o.batch, o.sequence]}, {logits: [o.batch, o.sequence, o.classes]}, ["ids"])
