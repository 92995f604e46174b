# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Layers of a decoder as LLaMA has them: RMSNorm, rotary positions, grouped heads, SwiGLU; for all tokens of a prompt, or for
one token behind those of a cache."""
import numpy as np

ROTARY_BASE = 500000.0


def rms_norm(b, x, width):
    mean = b.node("ReduceMean", b.node("Pow", x, b.number(2)), axes=[-1])
    inverse = b.node("Div", b.number(1), b.node("Sqrt", b.node("Add", mean, b.number(1e-5))))
    scale = b.constant(b.random.uniform(0.8, 1.2, width).astype(np.float32))
    return b.node("Mul", b.node("Mul", x, inverse), scale)


def angles(first, count, head):
    """Cosines and sines of the positions from `first` on."""
    rates = ROTARY_BASE ** (-np.arange(0, head, 2) / head)
    turns = np.outer(np.arange(first, first + count), np.concatenate([rates, rates]))
    return np.cos(turns).astype(np.float32), np.sin(turns).astype(np.float32)


def rotary(b, x, head, cosines, sines):
    low, high = b.sliced(x, 3, 0, head // 2), b.sliced(x, 3, head // 2, 2 ** 63 - 1)
    turned = b.node("Concat", b.node("Neg", high), low, axis=-1)
    return b.node("Add", b.node("Mul", x, cosines), b.node("Mul", turned, sines))


def repeated(b, x, o, tokens, head):
    """Each head of the keys or values for all heads of the queries that share it."""
    times = o.heads // o.groups
    if times == 1:
        return x
    x = b.node("Unsqueeze", x, b.integers(2))
    x = b.node("Expand", x, b.integers(o.batch, o.groups, times, tokens, head))
    return b.shaped(x, o.batch, o.heads, tokens, head)


def attention(b, x, o, place, cache):
    """`place`: cosines and sines; `cache`: names of the keys and values of earlier tokens, or none. The sum of the heads,
    and keys and values of all tokens."""
    head = o.hidden // o.heads

    def heads(count):
        y = b.shaped(b.matrix(x, o.hidden, count * head), o.batch, o.tokens, count, head)
        return b.node("Transpose", y, perm=[0, 2, 1, 3])

    queries, keys, values = heads(o.heads), heads(o.groups), heads(o.groups)
    queries, keys = rotary(b, queries, head, *place), rotary(b, keys, head, *place)
    if cache:
        keys = b.node("Concat", cache[0], keys, axis=2)
        values = b.node("Concat", cache[1], values, axis=2)
    wide = repeated(b, keys, o, o.sequence, head), repeated(b, values, o, o.sequence, head)
    scores = b.node("MatMul", queries, b.node("Transpose", wide[0], perm=[0, 1, 3, 2]))
    scores = b.node("Add", b.node("Div", scores, b.number(np.sqrt(head))), "mask")
    sums = b.node("MatMul", b.node("Softmax", scores, axis=-1), wide[1])
    sums = b.shaped(b.node("Transpose", sums, perm=[0, 2, 1, 3]), o.batch, o.tokens, o.hidden)
    return b.matrix(sums, o.hidden, o.hidden), keys, values


def swiglu(b, x, o):
    gate = b.matrix(x, o.hidden, o.inner)
    gate = b.node("Mul", gate, b.node("Sigmoid", gate))
    return b.matrix(b.node("Mul", gate, b.matrix(x, o.hidden, o.inner)), o.inner, o.hidden)


def llama(b, o, decode):
    """`sequence` tokens of a prompt; or with `decode` one token behind `sequence` - 1 of the cache."""
    o.tokens = 1 if decode else o.sequence
    head, past = o.hidden // o.heads, o.sequence - o.tokens
    tokens = [o.batch, o.tokens, o.hidden]
    inputs = {"x": tokens, "mask": [1, 1, o.tokens, o.sequence]}
    if decode:
        place = ("cosines", "sines")
        inputs.update({name: [1, 1, 1, head] for name in place})
    else:
        place = [b.constant(a[None, None]) for a in angles(0, o.tokens, head)]
    x, outputs = "x", {}
    for layer in range(o.layers):
        cache = [f"past_{kind}_{layer}" for kind in ("key", "value")] if decode else None
        for name in cache or ():
            inputs[name] = [o.batch, o.groups, past, head]
        y, keys, values = attention(b, rms_norm(b, x, o.hidden), o, place, cache)
        x = b.node("Add", x, y)
        x = b.node("Add", x, swiglu(b, rms_norm(b, x, o.hidden), o))
        outputs.update({v: [o.batch, o.groups, o.sequence, head] for v in (keys, values)})
    b.save(o.file, "llama", inputs, {x: tokens, **outputs})
