# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Recurrent networks."""
import numpy as np
from onnx import helper


def lstm(b, o):
    """Layers of a bidirectional LSTM over a sequence, and a score of each step for each class."""
    x, width = "x", o.hidden
    for _ in range(o.layers):
        def weights(*extents):
            return b.constant(b.random.normal(0, np.sqrt(1.0 / extents[-1]), extents).astype(np.float32))
        name = f"LSTM_{len(b.nodes)}"
        b.nodes.append(helper.make_node(
            "LSTM", [x, weights(2, 4 * o.hidden, width), weights(2, 4 * o.hidden, o.hidden),
                     weights(2, 8 * o.hidden)], [name], name=name, hidden_size=o.hidden, direction="bidirectional"))
        x = b.shaped(b.node("Transpose", name, perm=[0, 2, 1, 3]), o.sequence, o.batch, 2 * o.hidden)
        width = 2 * o.hidden
    scores = b.node("LogSoftmax", b.product(x, width, o.classes), axis=-1)
    b.save(o.file, "lstm", {"x": [o.sequence, o.batch, o.hidden]}, {scores: [o.sequence, o.batch, o.classes]})
