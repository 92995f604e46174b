// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "isa/base/types.h"

namespace vinci::io {

// A YAML document as nodes with positions. It is built from the events of libyaml, whose look-ahead is bounded, and
// takes at most 20 bytes of memory for each byte of text: 16 for a node, of which a text has at most one a byte, and
// the texts of scalars.
class YamlTree {
 public:
  enum class Kind : u8 { null, scalar, sequence, map, alias };  // readers never meet an alias: they meet its target

  class Node;
  class Children;
  class Entries;

  // Where a node begins, both from 1; columns count characters.
  struct Mark {
    u32 line = 1;
    u32 column = 1;
  };

  static constexpr usize kMaxNesting = 64;

  // Parses exactly one document; throws Fault::Input at "name:line:column".
  static YamlTree parse(std::string_view text, const std::string& name);

  const Node& root() const { return nodes_[0]; }
  usize size() const { return size_; }
  Mark mark(const Node& node) const;
  // "name:line:column"
  std::string at(const std::string& name, const Node& node) const;

 private:
  friend class YamlTreeBuilder;

  // The first character of a line that holds nodes, counted from the start of the text.
  struct Line {
    u32 first;
    u32 number;  // from 0
  };

  std::unique_ptr<Node[]> nodes_;  // as in the text; the children of a node follow it
  usize size_ = 0;
  std::unique_ptr<char[]> texts_;
  std::deque<Line> lines_;
};

// 16 bytes. Children are found behind their parent, so a node cannot be copied.
class YamlTree::Node {
 public:
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Of a scalar; empty for others.
  std::string_view text() const { return kind == Kind::scalar ? std::string_view(text_, size_) : std::string_view(); }
  // The items of a list, the keys and values of a map in turn; none of others.
  Children children() const;
  // The entries of a map; none of others.
  Entries entries() const;

 private:
  friend class YamlTreeBuilder;
  friend class YamlTree;

  // The node that is meant.
  const Node& target() const { return kind == Kind::alias ? *target_ : *this; }
  bool holds() const { return kind == Kind::sequence || kind == Kind::map; }
  // The node behind this one and all that it holds.
  const Node* next() const { return this + 1 + (holds() ? beneath_ : 0); }

  union {
    const char* text_;
    const Node* target_;
    u32 beneath_;  // nodes beneath a list or a map
  };
  u32 size_ : 28;  // bytes of text, or number of children

 public:
  Kind kind : 3;
  bool quoted : 1;  // a scalar in quotes or a block

 private:
  u32 position_;  // in characters from the start of the text
};

class YamlTree::Children {
 public:
  class Iterator {
   public:
    using value_type = Node;
    using difference_type = std::ptrdiff_t;
    using reference = const Node&;
    using pointer = const Node*;
    using iterator_category = std::forward_iterator_tag;

    Iterator() = default;
    explicit Iterator(const Node* at) : at_(at) {}
    const Node& operator*() const { return at_->target(); }
    Iterator& operator++() {
      at_ = at_->next();
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Node* at_ = nullptr;
  };

  explicit Children(const Node& parent) : parent_(parent) {}
  Iterator begin() const { return Iterator(&parent_ + 1); }
  Iterator end() const { return Iterator(parent_.next()); }
  usize size() const { return parent_.holds() ? parent_.size_ : 0; }
  bool empty() const { return size() == 0; }
  // Walks there.
  const Node& operator[](usize i) const { return *std::next(begin(), static_cast<std::ptrdiff_t>(i)); }

 private:
  const Node& parent_;
};

class YamlTree::Entries {
 public:
  class Iterator {
   public:
    explicit Iterator(Children::Iterator at) : at_(at) {}
    std::pair<const Node&, const Node&> operator*() const { return {*at_, *std::next(at_)}; }
    Iterator& operator++() {
      std::advance(at_, 2);
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Children::Iterator at_;
  };

  explicit Entries(const Node& map) : children_(map), any_(map.kind == Kind::map) {}
  Iterator begin() const { return Iterator(any_ ? children_.begin() : children_.end()); }
  Iterator end() const { return Iterator(children_.end()); }

 private:
  Children children_;
  bool any_;
};

inline YamlTree::Children YamlTree::Node::children() const { return Children(*this); }
inline YamlTree::Entries YamlTree::Node::entries() const { return Entries(*this); }

constexpr std::string_view name(YamlTree::Kind k) {
  switch (k) {
    case YamlTree::Kind::null: return "nothing";
    case YamlTree::Kind::scalar: return "a scalar";
    case YamlTree::Kind::sequence: return "a list";
    case YamlTree::Kind::map: return "a map";
    case YamlTree::Kind::alias: return "an alias";
  }
  return "";
}

}  // namespace vinci::io
