// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <streambuf>

#include "isa/base/error.h"

namespace vinci::io {
namespace {

// Reads a text in place; std::istringstream would copy it.
class TextBuffer final : public std::streambuf {
 public:
  explicit TextBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // never written: no pbackfail, no overflow
    setg(begin, begin, begin + text.size());
  }
};

constexpr u32 kUnfinished = ~u32{0};

}  // namespace

// Turns parser events into nodes.
class YamlTreeBuilder final : public YAML::EventHandler {
 public:
  YamlTreeBuilder(YamlTree& tree, const std::string& name) : tree_(tree), name_(name) {}

  bool finished() const { return finished_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (finished_) problem(mark, "there is more than one YAML document");
  }
  void OnDocumentEnd() override { finished_ = true; }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    attach(make(YamlTree::Kind::null, mark), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (anchor >= anchors_.size() || anchors_[anchor] == kUnfinished) problem(mark, "the alias contains itself");
    attach(anchors_[anchor], 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    const u32 i = make(YamlTree::Kind::scalar, mark);
    tree_.nodes_[i].quoted = tag == "!";
    tree_.nodes_[i].text = value;
    attach(i, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlTree::Kind::sequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlTree::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    u32 node;
    YAML::anchor_t anchor;
  };

  [[noreturn]] void problem(const YAML::Mark& mark, std::string_view what) const {
    fail_at(Fault::Input, fmt::format("{}:{}:{}", name_, mark.line + 1, mark.column + 1), "{}", what);
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!") problem(mark, "YAML tags have no meaning here");
  }

  u32 make(YamlTree::Kind kind, const YAML::Mark& mark) {
    if (tree_.nodes_.size() == YamlTree::kMaxNodes) {
      problem(mark, fmt::format("the file has more than {} YAML nodes; use the .vts form", YamlTree::kMaxNodes));
    }
    YamlTree::Node& node = tree_.nodes_.emplace_back();
    node.kind = kind;
    node.line = static_cast<u32>(mark.line + 1);
    node.column = static_cast<u32>(mark.column + 1);
    return static_cast<u32>(tree_.nodes_.size() - 1);
  }

  void attach(u32 node, YAML::anchor_t anchor) {
    set_anchor(anchor, node);
    if (stack_.empty()) {
      tree_.root_ = node;
    } else {
      tree_.nodes_[stack_.back().node].children.push_back(node);
    }
  }

  void set_anchor(YAML::anchor_t anchor, u32 node) {
    if (anchor == 0) return;  // of yaml-cpp: no anchor
    if (anchor >= anchors_.size()) anchors_.resize(anchor + 1, kUnfinished);
    anchors_[anchor] = node;
  }

  void open(YamlTree::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    check_tag(mark, tag);
    if (stack_.size() == YamlTree::kMaxNesting) {
      problem(mark, fmt::format("more than {} levels of nesting", YamlTree::kMaxNesting));
    }
    const u32 node = make(kind, mark);
    attach(node, 0);
    stack_.push_back({node, anchor});
  }

  void close() {
    set_anchor(stack_.back().anchor, stack_.back().node);  // only now: an alias inside would make a circle
    stack_.pop_back();
  }

  YamlTree& tree_;
  const std::string& name_;
  std::vector<Open> stack_;
  std::vector<u32> anchors_;
  bool finished_ = false;
};

YamlTree YamlTree::parse(std::string_view text, const std::string& name) {
  YamlTree tree;
  YamlTreeBuilder builder(tree, name);
  try {
    TextBuffer buffer(text);
    std::istream in(&buffer);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& e) {
    // A mark of -1 means that yaml-cpp does not know.
    const std::string where =
        e.mark.is_null() ? name : fmt::format("{}:{}:{}", name, e.mark.line + 1, e.mark.column + 1);
    fail_at(Fault::Input, where, "not valid YAML: {}", e.msg);
  }
  if (!builder.finished() || tree.nodes_.empty()) fail_at(Fault::Input, name, "the file is empty");
  return tree;
}

}  // namespace vinci::io
