# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""How many instructions the host needs for a run: a measure of speed that does not depend on its load."""

from tools import count_instructions
from values import Value

ONE_CORE = """\
extends: ascend-910b1
ai_cores: 1
vector_cores: 2
"""


def host_cases(tools):
    """Tuples of Case: name, function, quick, seconds."""
    for name, (prepare, command, quick, seconds) in ROWS.items():
        yield (f"host.{name}",
               lambda folder, p=prepare, c=command: count(tools, folder, p, c), quick, seconds)


def count(tools, folder, prepare, command):
    """`prepare` makes the inputs and is not counted."""
    prepare(tools, folder)
    return [Value("host", "instructions", str(count_instructions(tools, folder, command.split())))]


def nothing(tools, folder):
    pass


def gemm(edge, chip="ascend-910b1"):
    def prepare(tools, folder):
        (folder / "one-core.yaml").write_text(ONE_CORE)
        tools.tool(folder, "gen", "gemm", "--m", edge, "--n", edge, "--k", edge, "--chip", chip, "-o", "gemm")
    return prepare


def kernel(case):
    """The task stream of a case of `vinci validate`."""
    return lambda tools, folder: tools.tool(folder, "validate", "--only", case, "--write", "kernel.yaml")


def empty_stream(tools, folder):
    (folder / "empty.yaml").write_text("vinci: 1\nname: empty\narch: c220\nstreams:\n  main: []\n")


def launches(count):
    def prepare(tools, folder):
        launch = "    - kernel_launch: {kernel: wait, block_dim: 1, args: []}\n"
        (folder / "launches.yaml").write_text(
            "vinci: 1\nname: launches\narch: c220\nkernels:\n  wait: {type: AIV_ONLY, time: 1us}\nstreams:\n  main:\n"
            + launch * count)
        tools.tool(folder, "pack", "launches.yaml", "-o", "launches.vts")
    return prepare


RUN = "run {} --threads 1 -q --profile=off --out out"
GEMM = RUN.format("gemm/gemm.yaml --chip {}")
ROWS = {  # name: inputs, command, part of --quick, seconds of CPU
    "start": (nothing, "--version", True, 1),
    "start-run": (empty_stream, RUN.format("empty.yaml") + " --chip ascend-910b1", True, 2),
    "timing-gemm-2048-1-core": (gemm(2048, "one-core.yaml"), GEMM.format("one-core.yaml") + " --mode timing", True, 3),
    "timing-gemm-2048-24-cores": (gemm(2048), GEMM.format("ascend-910b1") + " --mode timing", True, 4),
    "full-gemm-512": (gemm(512), GEMM.format("ascend-910b1"), True, 4),
    "full-gemm-1024": (gemm(1024), GEMM.format("ascend-910b1"), False, 20),
    "functional-gemm-512": (gemm(512), GEMM.format("ascend-910b1") + " --mode functional", True, 3),
    "check-gemm-512": (gemm(512), GEMM.format("ascend-910b1") + " --check", True, 6),
    "numerics-gemm-256": (gemm(256), GEMM.format("ascend-910b1") + " --numerics", True, 3),
    "timing-add-8192": (kernel("add-8192-case5-serial"),
                        RUN.format("kernel.yaml") + " --chip ascend-910b1 --mode timing", False, 20),
    "timing-add-4k": (kernel("b4-8core-4k"), RUN.format("kernel.yaml") + " --chip ascend-910b4 --mode timing", True, 3),
    "timing-attention-1024": (kernel("flash-attention-1024"),
                              RUN.format("kernel.yaml") + " --chip ascend-910b2 --mode timing", True, 4),
    "full-attention-1024": (kernel("flash-attention-1024"),
                            RUN.format("kernel.yaml") + " --chip ascend-910b2", False, 20),
    "launches-10000": (launches(10_000), RUN.format("launches.vts") + " --chip ascend-910b1", True, 4),
    "launches-100000": (launches(100_000), RUN.format("launches.vts") + " --chip ascend-910b1", False, 30),
    "load-yaml": (launches(2_000), "check launches.yaml", True, 5),
}
