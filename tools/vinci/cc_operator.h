// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/types.h"
#include "sim/io/temp_folder.h"

// Kernels of operator packages. The vendor's build runs the definition of an operator (op_host) to learn its data types
// and tiling data, and compiles the kernel with macros and structs made of them. docs/ascendc.md, "Operators"
namespace vinci::cli {

struct OperatorOptions {
  std::string host;       // folder of the operator's host code; empty: no operator
  std::string type;       // which of its definitions; empty: the one of the source
  std::string chip;       // whose definition; empty: that of the architecture
  usize combination = 0;  // of data types
  std::optional<u64> tiling_key;
  std::vector<std::string>
      others;  // more folders, with tiling data of other operators that are registered for this one
  std::vector<std::string> include;  // the user's folders of headers
};

// The type of C++ of a data type by its number in the published enumeration; "" where there is none.
std::string_view operator_type(int number);

// "AddLayerNorm" is add_layer_norm, as packages name the files and kernels of operators.
std::string snake_case(std::string_view name);

// Writes the header that a kernel of the operator is compiled with, and returns its path. `compiler` is the command
// with the options that find headers. `chips` are names that definitions give, such as ascend910b; the first one that a
// definition has counts. Throws Fault::Input where the folder has no such operator, or not for these chips. Where the
// definition does not compile, the compiler has reported why.
std::string write_operator_header(const OperatorOptions& options, const std::vector<std::string>& compiler,
                                  const std::vector<std::string>& chips, const std::string& source,
                                  const io::TempFolder& scratch);

}  // namespace vinci::cli
