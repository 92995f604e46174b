// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/host/type_utils.h"

// Prototypes of operators for graphs, which nothing here builds: read over. Documentation: operator prototype
// definition, REG_OP.
namespace ge {
struct VinciPrototype {
  VinciPrototype& Ignored() { return *this; }
};
}  // namespace ge

#define REG_OP(name) [[maybe_unused]] static ::ge::VinciPrototype vinci_prototype_##name = ::ge::VinciPrototype()
#define OP_END_FACTORY_REG(name) Ignored();
#define INPUT(...) Ignored()
#define OPTIONAL_INPUT(...) Ignored()
#define DYNAMIC_INPUT(...) Ignored()
#define OUTPUT(...) Ignored()
#define OPTIONAL_OUTPUT(...) Ignored()
#define DYNAMIC_OUTPUT(...) Ignored()
#define ATTR(...) Ignored()
#define REQUIRED_ATTR(...) Ignored()
#define DATATYPE(...) Ignored()
#define GRAPH(...) Ignored()
#define DYNAMIC_GRAPH(...) Ignored()
