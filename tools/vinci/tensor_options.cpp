// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/tensor_options.h"

#include <string>
#include <vector>

#include "isa/base/error.h"
#include "isa/base/suggest.h"

namespace vinci::cli {

graph::DataType type_named(std::string_view name, std::string_view option) {
  std::vector<std::string_view> names;
  for (usize i = 0; i < graph::kDataTypes.size(); ++i) {
    if (graph::kDataTypes[i].name == name) return static_cast<graph::DataType>(i);
    names.push_back(graph::kDataTypes[i].name);
  }
  fail_at(Fault::Input, std::string(option), "there is no type '{}'{}", name, did_you_mean(name, names));
}

}  // namespace vinci::cli
