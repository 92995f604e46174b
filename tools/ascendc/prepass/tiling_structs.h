// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/types.h"

// The structs of tiling data that host code of operators registers for its kernels:
//
//   BEGIN_TILING_DATA_DEF(AddTiling)
//     TILING_DATA_FIELD_DEF(uint32_t, length);
//   END_TILING_DATA_DEF;
//   REGISTER_TILING_DATA_CLASS(Add, AddTiling)      of operator Add; Add_17 is for tiling key 17 alone
//
// The vendor's build writes them as plain structs for the kernel.
namespace vinci::ascendc {

class TilingStructs {
 public:
  // `text` is preprocessed, with these macros left as they are. Throws Fault::Input where a definition is not closed.
  explicit TilingStructs(std::string_view text);

  // The structs of an operator, by the name of their registration.
  std::map<std::string, std::string> of(const std::string& op) const;

  // C++ that declares the structs and what they are made of, in the global namespace; each name once. Sizes of arrays
  // may be integer constants of `text`.
  std::string declare(const std::vector<std::string>& names) const;

 private:
  struct Field {
    std::string type, name, size;        // size: empty, or the number of elements
    std::vector<std::string> constants;  // names in `size`
  };
  struct Constant {
    std::string value;
    std::vector<std::string> names;
  };
  class Reader;
  void add_constants(const std::vector<std::string>& names, std::vector<std::string>& done, std::string& out) const;
  void add(const std::string& name, std::vector<std::string>& done, std::string& out) const;

  std::map<std::string, std::vector<Field>> structs_;
  std::map<std::string, std::string> registered_;  // by name of operator
  std::map<std::string, Constant> constants_;
};

}  // namespace vinci::ascendc
