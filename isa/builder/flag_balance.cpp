// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/builder/flag_balance.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "isa/table/codec.h"

namespace vinci::isa {
namespace {

struct Flag {
  PipeId from, to;
  u64 event;
  friend auto operator<=>(const Flag&, const Flag&) = default;
};
std::string text(const Flag& f) {
  return fmt::format("PIPE_{} to PIPE_{}, EVENT_ID{}", name(f.from), name(f.to), f.event);
}

// Flags up, by number of the flag; nullopt where it depends on the way.
using Counts = std::vector<std::optional<i64>>;

class Balance {
 public:
  explicit Balance(const Program& program) {
    insts_.reserve(program.code.size());
    for (const Word& word : program.code)
      insts_.push_back(decode(word));
    find_flags();
  }

  std::string run() {
    for (const auto& [flag, number] : numbers_) {
      if (sets_[number] == 0) return fmt::format("a flag from {} is waited for, but never set", text(flag));
      if (waits_[number] == 0) return fmt::format("a flag from {} is set, but never waited for", text(flag));
    }
    if (numbers_.empty()) return {};
    find_blocks();
    std::set<u32> open{0};
    at_[0] = Counts(numbers_.size(), 0);
    while (!open.empty()) {
      const u32 block = open.extract(open.begin()).value();
      if (std::string problem = walk(block, open); !problem.empty())
        found_[block] = std::move(problem);
      else
        found_.erase(block);
    }
    return found_.empty() ? std::string() : found_.begin()->second;
  }

 private:
  static bool is_flag(const Inst& i) { return i.row->role == Role::set_flag || i.row->role == Role::wait_flag; }
  static std::pair<PipeId, PipeId> pair_of(const Inst& i) {
    return {static_cast<PipeId>(i.operands[0].value), static_cast<PipeId>(i.operands[1].value)};
  }
  static Flag flag_of(const Inst& i) { return {pair_of(i).first, pair_of(i).second, i.operands[2].value}; }
  static const Operand* target(const Inst& i) {
    for (usize f = 0; f < i.row->fields.size(); ++f)
      if (i.row->fields[f].kind == OperandKind::label) return &i.operands[f];
    return nullptr;
  }

  void find_flags() {
    std::set<std::pair<PipeId, PipeId>> unknown;
    for (const Inst& i : insts_)
      if (is_flag(i) && i.operands[2].is_reg) unknown.insert(pair_of(i));
    for (const Inst& i : insts_) {
      if (!is_flag(i) || unknown.contains(pair_of(i))) continue;
      const u32 number = numbers_.emplace(flag_of(i), static_cast<u32>(numbers_.size())).first->second;
      if (number == sets_.size()) sets_.push_back(0), waits_.push_back(0);
      ++(i.row->role == Role::set_flag ? sets_ : waits_)[number];
    }
  }

  // First instructions of blocks that only their last instruction leaves.
  void find_blocks() {
    starts_.assign(insts_.size() + 1, false);
    at_.resize(insts_.size() + 1);
    for (usize i = 0; i < insts_.size(); ++i) {
      if (const Operand* t = target(insts_[i])) starts_[t->value] = starts_[i + 1] = true;
    }
  }

  // Carries the counts of a block to those that follow it; a message where the block ends the program with flags up.
  std::string walk(u32 block, std::set<u32>& open) {
    Counts counts = at_[block];
    for (u32 i = block; i < insts_.size(); ++i) {
      const Inst& inst = insts_[i];
      if (const auto it = is_flag(inst) ? numbers_.find(flag_of(inst)) : numbers_.end(); it != numbers_.end()) {
        if (std::optional<i64>& n = counts[it->second]) *n += inst.row->role == Role::set_flag ? 1 : -1;
      }
      if (inst.row->role == Role::end) return left_up(counts);
      if (const Operand* t = target(inst)) {
        join(static_cast<u32>(t->value), counts, open);
        if (inst.row->fields.size() == 1) return {};  // no way but there
      }
      if (inst.row->name == "trap") return {};
      if (starts_[i + 1]) {
        join(i + 1, counts, open);
        return {};
      }
    }
    return {};
  }

  std::string left_up(const Counts& counts) const {
    for (const auto& [flag, number] : numbers_) {
      if (!counts[number] || *counts[number] == 0) continue;
      const i64 n = *counts[number];
      return fmt::format("the program ends with a flag from {} {} {} time{} more often than {}", text(flag),
                         n > 0 ? "set" : "waited for", n > 0 ? n : -n, n == 1 || n == -1 ? "" : "s",
                         n > 0 ? "waited for" : "set");
    }
    return {};
  }

  void join(u32 block, const Counts& counts, std::set<u32>& open) {
    if (block >= insts_.size()) return;
    Counts& there = at_[block];
    if (there.empty()) {
      there = counts;
      open.insert(block);
      return;
    }
    for (usize f = 0; f < counts.size(); ++f) {
      if (!there[f] || there[f] == counts[f]) continue;
      there[f] = std::nullopt;
      open.insert(block);
    }
  }

  std::vector<Inst> insts_;
  std::map<Flag, u32> numbers_;
  std::vector<u64> sets_, waits_;  // in the text, by number of the flag
  std::vector<bool> starts_;
  std::vector<Counts> at_;  // at the beginning of a block; empty: not reached yet
  std::map<u32, std::string> found_;
};

}  // namespace

std::string unbalanced_flag(const Program& program) { return Balance(program).run(); }

}  // namespace vinci::isa
