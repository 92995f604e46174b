#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""Writes a network as ONNX, with random weights: make_network.py NETWORK FILE.

Needs python3-onnx and python3-numpy. Weights are scaled so that the values of each layer have an rms of about 1. With
--size full (the default) a network has its published extents, with --size small the same kinds of nodes in a few
milliseconds.
"""
import argparse
import sys

from builder import Builder
from convolutional import (alexnet, basic_block, block, bottleneck, densenet121, efficientnet_b0, mobilenet_v2, resnet,
                           unet, vgg16)
from heads import db, deeplab, siammask, yolo, yolo_nms
from llama import llama
from quantised import mlp_dynamic, resnet18_qdq
from recurrent import lstm
from swin import swin
from transformers import bert, gpt2, vit


def residual(name, layers, unit, expansion):
    return lambda b, o: resnet(b, o, name, layers, unit, expansion)


LLAMA = ({"layers": 1, "hidden": 64, "heads": 4, "groups": 2, "inner": 176, "sequence": 48},
         {"layers": 1, "hidden": 4096, "heads": 32, "groups": 8, "inner": 14336, "sequence": 2048})

# What writes a network, its extents when it is small, and the published ones.
NETWORKS = {
    "alexnet": (alexnet, {"image": 64, "hidden": 64}, {"image": 224, "hidden": 4096}),
    "bert": (bert, {"layers": 1, "hidden": 128, "heads": 4, "sequence": 48},
             {"layers": 12, "hidden": 768, "heads": 12, "sequence": 128}),
    "block": (block, {}, {}),
    "db": (db, {"image": 64, "hidden": 64}, {"image": 640, "hidden": 256}),
    "deeplab": (deeplab, {"image": 65, "hidden": 32, "classes": 5}, {"image": 513, "hidden": 256, "classes": 21}),
    "densenet121": (densenet121, {"image": 32, "layers": (2, 2, 3, 2)}, {"image": 224, "layers": (6, 12, 24, 16)}),
    "efficientnet_b0": (efficientnet_b0, {"image": 32}, {"image": 224}),
    "gpt2": (gpt2, {"layers": 1, "hidden": 64, "heads": 2, "sequence": 40, "classes": 128},
             {"layers": 12, "hidden": 768, "heads": 12, "sequence": 1024, "classes": 50257}),
    "llama_decode": (lambda b, o: llama(b, o, True), *LLAMA),
    "llama_prefill": (lambda b, o: llama(b, o, False), *LLAMA),
    "lstm": (lstm, {"layers": 1, "hidden": 32, "sequence": 4, "classes": 16, "batch": 3},
             {"layers": 2, "hidden": 512, "sequence": 32, "classes": 128, "batch": 32}),
    "mlp_dynamic": (mlp_dynamic, {"hidden": 64, "sequence": 20}, {"hidden": 768, "sequence": 128}),
    "mobilenet_v2": (mobilenet_v2, {"image": 32}, {"image": 224}),
    "resnet18": (residual("resnet18", [2, 2, 2, 2], basic_block, 1), {"image": 32}, {"image": 224}),
    "resnet18_qdq": (resnet18_qdq, {"image": 32}, {"image": 224}),
    "resnet50": (residual("resnet50", [3, 4, 6, 3], bottleneck, 4), {"image": 32}, {"image": 224}),
    "resnet152": (residual("resnet152", [3, 8, 36, 3], bottleneck, 4), {"image": 32}, {"image": 224}),
    "siammask": (siammask, {"image": 15, "hidden": 64, "classes": 49}, {"image": 31, "hidden": 256, "classes": 3969}),
    "swin_t": (swin, {"image": 56, "hidden": 96, "heads": 3, "layers": (2, 2)},
               {"image": 224, "hidden": 96, "heads": 3, "layers": (2, 2, 6, 2)}),
    "unet": (unet, {"image": 32}, {"image": 224}),
    "vgg16": (vgg16, {"image": 32, "hidden": 64}, {"image": 224, "hidden": 4096}),
    "vit": (vit, {"image": 32, "layers": 1, "hidden": 64, "heads": 2},
            {"image": 224, "layers": 12, "hidden": 768, "heads": 12}),
    "yolo": (yolo, {"image": 64, "hidden": 32, "classes": 11}, {"image": 640, "hidden": 128, "classes": 80}),
    "yolo_nms": (yolo_nms, {"image": 64, "hidden": 32, "classes": 11}, {"image": 640, "hidden": 128, "classes": 80}),
}
EXTENTS = {
    "batch": "images or sentences (1)",
    "layers": "of a transformer",
    "hidden": "width of a token, or channels of the first map",
    "heads": "of attention",
    "groups": "heads of keys and values",
    "inner": "width between the products of a decoder layer",
    "sequence": "tokens of a sentence, with those of the cache",
    "image": "height and width of an image; of the map that is searched",
    "classes": "scores of a place",
}


def options(chosen):
    """The extents of the chosen size, and those that are given."""
    small, full = NETWORKS[chosen.network][1:]
    known = {"batch": 1, "file": chosen.file, **(small if chosen.size == "small" else full)}
    for name in EXTENTS:
        given = getattr(chosen, name)
        if given is None:
            continue
        if given < 1:
            sys.exit(f"--{name} is at least 1")
        if not isinstance(known.get(name), int):
            sys.exit(f"{chosen.network} has no --{name}")
        known[name] = given
    if known.get("hidden", 0) % known.get("heads", 1) != 0:
        sys.exit("--hidden is a multiple of --heads")
    return argparse.Namespace(**known)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", choices=sorted(NETWORKS))
    parser.add_argument("file", help="the .onnx file to write")
    parser.add_argument("--size", choices=("small", "full"), default="full", help="extents of the network (full)")
    for name, meaning in EXTENTS.items():
        parser.add_argument(f"--{name}", type=int, help=meaning)
    parser.add_argument("--seed", type=int, default=1, help="of the weights (1)")
    chosen = parser.parse_args()
    NETWORKS[chosen.network][0](Builder(chosen.seed), options(chosen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
