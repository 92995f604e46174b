// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tools/gen/gemm_tiling.h"
#include "tools/graph/kernels/kernel.h"

// What a product does with its results before they go to memory.
namespace vinci::graph {

u64 elements_of(std::span<const i64> dims);

// Which matrix of an operand with the batch axes `operand` a product with the batch axes `out` reads. The axes that the
// operand has must follow each other; none where they do not.
std::optional<gen::GemmBatch> matrices_of(std::span<const i64> operand, std::span<const i64> out);

// "" where a joint core computes what is behind the product of the group, else the reason why not.
std::string epilogue_refuses(const Group& group, const gen::GemmProblem& product, const config::ChipConfig& chip);

// Adds it to the problem. The group must outlive the problem.
void add_epilogue(gen::GemmProblem& product, const Group& group, const config::ChipConfig& chip);

}  // namespace vinci::graph
