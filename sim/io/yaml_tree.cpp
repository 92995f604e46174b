// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/yaml_tree.h"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <vector>

#include "isa/base/error.h"

namespace vinci::io {
namespace {

constexpr u64 kMaxTextBytes = u64{64} << 20;

// The events of libyaml, one at a time.
class Events {
 public:
  Events(std::string_view text, const std::string& name) : name_(name) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    // libyaml asserts that the pointer is not null, which that of an empty text may be.
    const char* const begin = text.empty() ? "" : text.data();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(begin), text.size());
  }
  ~Events() {
    forget();
    yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  const yaml_event_t& next() {
    forget();
    if (yaml_parser_parse(&parser_, &event_) == 0) fail_parse();
    return event_;
  }

 private:
  void forget() {
    yaml_event_delete(&event_);
    event_ = {};
  }

  [[noreturn]] void fail_parse() const {
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    // The reader of bytes has no mark of its own.
    const yaml_mark_t& mark = parser_.error == YAML_READER_ERROR ? parser_.mark : parser_.problem_mark;
    const std::string context = parser_.context == nullptr
                                    ? std::string{}
                                    : fmt::format(" {} at {}:{}", parser_.context, parser_.context_mark.line + 1,
                                                  parser_.context_mark.column + 1);
    fail_at(Fault::Input, fmt::format("{}:{}:{}", name_, mark.line + 1, mark.column + 1), "not valid YAML: {}{}",
            parser_.problem, context);
  }

  const std::string& name_;
  yaml_parser_t parser_;
  yaml_event_t event_ = {};
};

std::string_view view(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

bool is_null(std::string_view plain) {
  return plain.empty() || plain == "~" || plain == "null" || plain == "Null" || plain == "NULL";
}

}  // namespace

// Turns events into nodes.
class YamlTreeBuilder {
 public:
  // A node takes a byte of text at least, but for a few in files that mean nothing.
  YamlTreeBuilder(std::string_view text, const std::string& name, YamlTree& tree)
      : name_(name), tree_(tree), max_nodes_(text.size() + 16) {
    tree_.nodes_ = std::make_unique_for_overwrite<YamlTree::Node[]>(max_nodes_);
    // An escape of two bytes becomes three at most.
    tree_.texts_ = std::make_unique_for_overwrite<char[]>(text.size() + text.size() / 2 + 16);
    texts_end_ = tree_.texts_.get();
  }

  // Whether the event ended the text.
  bool take(const yaml_event_t& event) {
    const yaml_mark_t& mark = event.start_mark;
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (documents_++ != 0) problem(mark, "there is more than one YAML document");
        break;
      case YAML_ALIAS_EVENT: alias(mark, view(event.data.alias.anchor)); break;
      case YAML_SCALAR_EVENT: scalar(mark, event); break;
      case YAML_SEQUENCE_START_EVENT:
        refuse_tag(mark, event.data.sequence_start.tag);
        open(YamlTree::Kind::sequence, mark, view(event.data.sequence_start.anchor));
        break;
      case YAML_MAPPING_START_EVENT:
        refuse_tag(mark, event.data.mapping_start.tag);
        open(YamlTree::Kind::map, mark, view(event.data.mapping_start.anchor));
        break;
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: close(); break;
      case YAML_STREAM_END_EVENT: return true;
      default: break;
    }
    return false;
  }

 private:
  struct Open {
    YamlTree::Node* node;
    std::string anchor;
  };

  [[noreturn]] void problem(const yaml_mark_t& mark, std::string_view what) const {
    fail_at(Fault::Input, fmt::format("{}:{}:{}", name_, mark.line + 1, mark.column + 1), "{}", what);
  }

  void refuse_tag(const yaml_mark_t& mark, const yaml_char_t* tag) const {
    if (tag != nullptr) problem(mark, "YAML tags have no meaning here");
  }

  YamlTree::Node& make(YamlTree::Kind kind, const yaml_mark_t& mark) {
    if (tree_.size_ == max_nodes_) problem(mark, "the text has more YAML nodes than characters");
    if (!open_.empty()) ++open_.back().node->size_;
    if (tree_.lines_.empty() || tree_.lines_.back().number < mark.line)
      tree_.lines_.push_back({static_cast<u32>(mark.index - mark.column), static_cast<u32>(mark.line)});
    YamlTree::Node& node = tree_.nodes_[tree_.size_++];
    node.text_ = nullptr;
    node.size_ = 0;
    node.kind = kind;
    node.quoted = false;
    node.position_ = static_cast<u32>(mark.index);
    return node;
  }

  void scalar(const yaml_mark_t& mark, const yaml_event_t& event) {
    const auto& s = event.data.scalar;
    refuse_tag(mark, s.tag);
    const std::string_view text(reinterpret_cast<const char*>(s.value), s.length);
    const bool plain = s.style == YAML_PLAIN_SCALAR_STYLE;
    YamlTree::Node& node = make(plain && is_null(text) ? YamlTree::Kind::null : YamlTree::Kind::scalar, mark);
    set_anchor(view(s.anchor), &node);
    if (node.kind == YamlTree::Kind::null) return;
    node.quoted = !plain;
    node.text_ = texts_end_;
    node.size_ = static_cast<u32>(text.size());
    texts_end_ = std::copy(text.begin(), text.end(), texts_end_);
  }

  void alias(const yaml_mark_t& mark, std::string_view anchor) {
    const auto at = anchors_.find(anchor);
    if (at == anchors_.end()) problem(mark, fmt::format("not valid YAML: no anchor is called '{}'", anchor));
    if (at->second == nullptr) problem(mark, "the alias contains itself");
    make(YamlTree::Kind::alias, mark).target_ = at->second;
  }

  void open(YamlTree::Kind kind, const yaml_mark_t& mark, std::string_view anchor) {
    if (open_.size() == YamlTree::kMaxNesting)
      problem(mark, fmt::format("more than {} levels of nesting", YamlTree::kMaxNesting));
    YamlTree::Node& node = make(kind, mark);
    set_anchor(anchor, nullptr);  // until it is closed: an alias inside would make a circle
    open_.push_back({&node, std::string(anchor)});
  }

  void close() {
    YamlTree::Node& node = *open_.back().node;
    node.beneath_ = static_cast<u32>(&tree_.nodes_[tree_.size_] - &node - 1);
    set_anchor(open_.back().anchor, &node);
    open_.pop_back();
  }

  void set_anchor(std::string_view anchor, const YamlTree::Node* node) {
    if (!anchor.empty()) anchors_.insert_or_assign(std::string(anchor), node);
  }

  const std::string& name_;
  YamlTree& tree_;
  usize max_nodes_;
  char* texts_end_ = nullptr;
  std::vector<Open> open_;
  std::map<std::string, const YamlTree::Node*, std::less<>> anchors_;  // null: not closed yet
  int documents_ = 0;
};

YamlTree YamlTree::parse(std::string_view text, const std::string& name) {
  static_assert(sizeof(Node) == 16);
  if (text.size() > kMaxTextBytes)
    fail_at(Fault::Input, name, "the text has {} bytes; at most {} are read", text.size(), kMaxTextBytes);
  YamlTree tree;
  YamlTreeBuilder builder(text, name, tree);
  Events events(text, name);
  while (!builder.take(events.next())) {
  }
  if (tree.size_ == 0) fail_at(Fault::Input, name, "the file is empty");
  return tree;
}

YamlTree::Mark YamlTree::mark(const Node& node) const {
  const auto behind = std::ranges::upper_bound(lines_, node.position_, {}, [](const Line& line) { return line.first; });
  const Line& line = *std::prev(behind);
  return {line.number + 1, node.position_ - line.first + 1};
}

std::string YamlTree::at(const std::string& name, const Node& node) const {
  const Mark m = mark(node);
  return fmt::format("{}:{}:{}", name, m.line, m.column);
}

}  // namespace vinci::io
