# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""A network in its small form: it compiles for each chip, each node is right, and a run has no findings.

networks_test.py VINCI MAKE_NETWORK NETWORK
"""
import pathlib
import subprocess
import sys
import tempfile

VINCI, MAKE, NETWORK = sys.argv[1:4]


def said(*command):
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def expect(text, output):
    if text not in output:
        sys.exit(f"'{text}' is not in:\n{output}")


with tempfile.TemporaryDirectory() as folder:
    model = pathlib.Path(folder) / f"{NETWORK}.onnx"
    said(sys.executable, MAKE, NETWORK, model, "--size", "small")
    for chip in ("910B1", "310P3", "910A"):
        out = model.with_name(chip)
        expect("nodes right", said(VINCI, "compile", model, "--soc_version", f"Ascend{chip}", "-o", out, "--check_nodes"))
        expect("no findings", said(VINCI, "run", out / f"{NETWORK}.yaml", "--chip", f"ascend-{chip.lower()}", "--check",
                                   "-o", out / "run"))
