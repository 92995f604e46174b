// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isa/base/types.h"

namespace vinci::io {

// A YAML document as a flat array of nodes with positions. Built from parser events, so that size, nesting and aliases
// are bounded while the text is read and not after it has filled the memory.
class YamlTree {
 public:
  enum class Kind : u8 { null, scalar, sequence, map };

  struct Node {
    Kind kind = Kind::null;
    bool quoted = false;  // a scalar in quotes or a block
    u32 line = 0;         // from 1
    u32 column = 0;
    std::string text;           // of a scalar
    std::vector<u32> children;  // of a map: key, value, key, value ...
  };

  static constexpr usize kMaxNodes = 10'000'000;
  static constexpr usize kMaxNesting = 64;

  // Parses exactly one document; throws Fault::Input at "name:line:column".
  static YamlTree parse(std::string_view text, const std::string& name);

  const Node& root() const { return nodes_[root_]; }
  const Node& operator[](u32 i) const { return nodes_[i]; }
  usize size() const { return nodes_.size(); }

 private:
  friend class YamlTreeBuilder;

  std::vector<Node> nodes_;
  u32 root_ = 0;
};

constexpr std::string_view name(YamlTree::Kind k) {
  switch (k) {
    case YamlTree::Kind::null: return "nothing";
    case YamlTree::Kind::scalar: return "a scalar";
    case YamlTree::Kind::sequence: return "a list";
    case YamlTree::Kind::map: return "a map";
  }
  return "";
}

}  // namespace vinci::io
