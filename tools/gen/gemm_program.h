// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/builder/program_builder.h"
#include "tools/gen/gemm_tiling.h"

namespace vinci::gen {

// Distances between rows of the device matrices, in elements.
struct GemmPitches {
  u64 a = 0, b = 0, c = 0;
};

// Numbers of the launch arguments that are the addresses of the matrices.
struct GemmArguments {
  u32 a = 0, b = 1, c = 2, bias = 3, factors = 4;
};

// Row pitches that the chip's copies can work with: the joint core moves whole blocks of 32 bytes, so its rows are
// padded; the split core works on packed rows.
GemmPitches choose_pitches(const GemmProblem& problem, const config::ChipConfig& chip);

// The kernel. Throws Fault::Unsupported where the chip has no such product: BF16, FP32 and 8-bit results are of the
// split core, and integers need B transposed.
isa::BuiltProgram gemm_program(const GemmProblem& problem, const GemmTiling& tiling, const GemmPitches& pitches,
                               const config::ChipConfig& chip, const GemmArguments& arguments = {});

}  // namespace vinci::gen
