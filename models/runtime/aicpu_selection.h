// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>

#include "models/runtime/aicpu.h"

namespace vinci::models {

// The functions of the AICPU whose results have as many elements as their data choose: NonZero, Compress,
// NonMaxSuppression, Unique. Each has room for `capacity` of them and writes as many as there are to `found`, an int64:
// what is beyond the room is dropped, and zeros fill what is left.
std::span<const AicpuFunction> selection_functions();

}  // namespace vinci::models
