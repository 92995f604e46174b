// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// C = A * B of f16 with the kernel of `vinci gen gemm`, in place of kernels of closed libraries: tiles, split and
// layout are its own.
#include "isa/base/error.h"
#include "tools/gen/gemm_program.h"
#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

KernelStream generated_gemm_kernel(const Params& p, const config::ChipConfig& chip) {
  const gen::GemmProblem problem{.m = p.whole("m"), .n = p.whole("n"), .k = p.whole("k")};
  if (problem.m == 0 || problem.n == 0 || problem.k == 0) fail_at(Fault::Input, p.place(), "sizes are not 0");
  const gen::GemmTiling tiling = gen::choose_tiling(problem, chip);
  const gen::GemmPitches pitch = gen::choose_pitches(problem, chip);
  return {.code = gen::gemm_program(problem, tiling, pitch, chip),
          .cube = true,
          .blocks = tiling.blocks,
          .l2 = l2_state(p),
          .buffers = {{problem.m * pitch.a * 2}, {problem.k * pitch.b * 2}, {problem.m * pitch.c * 2}}};
}

Values measure_generated_gemm(const Params& p, const config::ChipConfig& chip) {
  Values out = kernel_times(generated_gemm_kernel(p, chip), chip);
  const double flops = 2 * p.number("m") * p.number("n") * p.number("k");
  out["throughput"] = flops / out.at("task") / 1e6;
  return out;
}

std::vector<Metric> metrics() {
  std::vector<Metric> out = kernel_metrics();
  out.push_back({"throughput", "TFLOPS", "of the task"});
  return out;
}

}  // namespace

Family generated_gemm() {
  return {.name = "generated_gemm",
          .doc = "a product of f16 with the kernel that `vinci gen gemm` writes",
          .parameters = {{"m", "", "", "rows of A and C"},
                         {"n", "", "", "columns of C"},
                         {"k", "", "", "columns of A"},
                         l2_parameter("empty")},
          .metrics = metrics(),
          .kernel = generated_gemm_kernel,
          .measure = measure_generated_gemm};
}

}  // namespace vinci::validate
