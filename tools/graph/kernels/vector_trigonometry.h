// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <span>

#include "tools/graph/kernels/vector_functions.h"

namespace vinci::graph {

std::span<const VectorFunction> trigonometric_functions();

}  // namespace vinci::graph
