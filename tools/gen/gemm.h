// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "tools/gen/gemm_program.h"

namespace vinci::gen {

// Writes a GEMM as a compiled task stream into `folder`, which is made if need be: gemm.yaml, its kernel gemm.s, and
// the inputs a.npy and b.npy with values uniform in [-1, 1) from `seed`. Running gemm.yaml writes c.npy. Returns the
// tiling that was chosen. Throws Fault::Limit where the matrices are too large for a task stream or for the chip,
// Fault::Input when another process of Vinci uses the folder.
GemmTiling write_gemm(const GemmProblem& problem, const config::ChipConfig& chip, u64 seed, const std::string& folder);

}  // namespace vinci::gen
