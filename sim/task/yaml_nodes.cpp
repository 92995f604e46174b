// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/yaml_nodes.h"

#include <charconv>

#include "sim/config/unit_text.h"

namespace vinci::task {
namespace {

constexpr u64 kNodeCost = 64;
constexpr u64 kMaxAliasBytes = u64{64} << 20;
constexpr u64 kMemoryOfByte = 20;  // of programs, for each byte of their text

}  // namespace

const Node* YamlLocator::value(const Node& map, std::string_view key) const {
  for (const auto& [name, value] : map.entries()) {
    if (name.text() == key) return &value;
  }
  return nullptr;
}

const Node* YamlLocator::host_step(const Node& list, usize& index) const {
  if (list.kind != NodeKind::sequence) return nullptr;
  for (const Node& item : list.children()) {
    if (index-- == 0) return &item;
    const Node* repeat = value(item, "repeat");
    const Node* steps = repeat != nullptr ? value(*repeat, "steps") : nullptr;
    const Node* found = steps != nullptr ? host_step(*steps, index) : nullptr;
    if (found != nullptr) return found;
  }
  return nullptr;
}

std::string YamlLocator::at(const Path& path) const {
  const Node* node = &tree_.root();
  const Node* shown_node = node;
  bool steps = false;  // an index counts the steps of a host thread with those inside repeats
  for (const Path::Step& step : path) {
    const io::YamlTree::Children children = node->children();
    if (steps && step.key.empty()) {
      usize index = step.index;
      const Node* found = host_step(*node, index);
      if (found != nullptr) node = shown_node = found;
      steps = false;
      continue;
    }
    steps = step.key == "steps";
    if (node->kind == NodeKind::map && !step.key.empty()) {
      if (const Node* found = value(*node, step.key)) node = shown_node = found;
    } else if (node->kind == NodeKind::map && 2 * step.index + 1 < children.size()) {
      shown_node = &children[2 * step.index];  // an entry is found by its name
      node = &children[2 * step.index + 1];
    } else if (node->kind == NodeKind::sequence && step.key.empty() && step.index < children.size()) {
      node = shown_node = &children[step.index];
    }
  }
  return at(*shown_node);
}

bool read_number(std::string_view text, u64& out) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  u64 v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v, hex ? 16 : 10);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return false;
  if (negative && v > u64{1} << 63) return false;
  out = negative ? ~v + 1 : v;
  return true;
}

YamlNodes::YamlNodes(std::string_view text, const YamlLocator& where, config::Problems& problems)
    : where_(where),
      tree_(where.tree()),
      problems_(problems),
      budget_(kMaxAliasBytes + 4 * (kNodeCost * where.tree().size() + text.size())),
      file_budget_(kMaxExpandedBytes),
      memory_(kMaxAliasBytes + kMemoryOfByte * text.size()) {}

void YamlNodes::visit(const Node& node) {
  const u64 cost = kNodeCost + node.text().size();
  if (cost > budget_) {
    fail_at(Fault::Input, where_.at(node), "aliases expand the file by more than {} bytes", kMaxAliasBytes);
  }
  budget_ -= cost;
}

void YamlNodes::spend_file(const Node& node, u64 size) {
  if (size > file_budget_)
    fail(Fault::Input, "the kernels together have more than {} bytes of text", kMaxExpandedBytes);
  file_budget_ -= size;
  if (files_.emplace(node.text()).second) memory_ += kMemoryOfByte * size;
  visit(node);
}

void YamlNodes::spend_program(const Node& node, u64 instructions) {
  const u64 bytes = instructions * (sizeof(isa::Word) + sizeof(u32));
  if (bytes > memory_) {
    fail_at(Fault::Input, where_.at(node),
            "the kernels take more memory than {} bytes and {} for each byte of text: aliases, and files that several "
            "kernels name, count each time; let launches share one kernel",
            kMaxAliasBytes, kMemoryOfByte);
  }
  memory_ -= bytes;
}

bool YamlNodes::need(const Node& parent, const Node* node, std::string_view what, std::string_view key) {
  if (node != nullptr) return true;
  report(parent, "{}: '{}' is missing", what, key);
  return false;
}

bool YamlNodes::expect(const Node& node, NodeKind kind, std::string_view what) {
  if (node.kind == kind) return true;
  report(node, "{} must be {}, not {}", what, name(kind), name(node.kind));
  return false;
}

std::string YamlNodes::read_text(const Node& node, std::string_view what) {
  return std::string(expect(node, NodeKind::scalar, what) ? node.text() : std::string_view{});
}

bool YamlNodes::read_truth(const Node& node, std::string_view what) {
  static constexpr std::array<std::string_view, 2> kTruth{"false", "true"};
  u8 truth = 0;
  read_name(node, what, kTruth, truth);
  return truth == 1;
}

u64 YamlNodes::read_size(const Node& node, std::string_view what) {
  config::Bytes bytes;
  u64 plain = 0;
  if (!expect(node, NodeKind::scalar, what)) return 0;
  if (!node.text().starts_with('-') && read_number(node.text(), plain)) return plain;
  if (config::read_text(node.text(), bytes)) return bytes;
  report(node, "{}: cannot read '{}'; write {}", what, shown(node.text()), config::how_to_write(bytes));
  return 0;
}

u64 YamlNodes::read_count(const Node& node, std::string_view what, u64 max, u64 min) {
  u64 v = 0;
  if (!expect(node, NodeKind::scalar, what)) return min;
  if (node.text().starts_with('-') || !read_number(node.text(), v) || v > max || v < min) {
    report(node, "{} = {} is not a number in [{}, {}]", what, shown(node.text()), min, max);
    return min;
  }
  return v;
}

double YamlNodes::read_time(const Node& node, std::string_view what) {
  config::Seconds time;
  if (!expect(node, NodeKind::scalar, what)) return 0;
  if (config::read_text(node.text(), time)) return time;
  report(node, "{}: cannot read '{}'; write {}", what, shown(node.text()), config::how_to_write(time));
  return 0;
}

}  // namespace vinci::task
