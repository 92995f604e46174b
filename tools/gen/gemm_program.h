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

// Row pitches that the chip's copies can work with: the joint core moves whole blocks of 32 bytes, so its rows are
// padded; the split core works on packed rows.
GemmPitches choose_pitches(const GemmProblem& problem, const config::ChipConfig& chip);

// The kernel; arguments are the device addresses of A, B and C.
isa::BuiltProgram gemm_program(const GemmProblem& problem, const GemmTiling& tiling, const GemmPitches& pitches,
                               const config::ChipConfig& chip);

}  // namespace vinci::gen
