// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string_view>

#include "tools/graph/ir/tensor.h"

// How tensors are written in options.
namespace vinci::cli {

// The type "f16". Throws Fault::Input at `option` with the nearest name.
graph::DataType type_named(std::string_view name, std::string_view option);

}  // namespace vinci::cli
