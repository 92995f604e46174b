// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "isa/program/program.h"

// Instructions that come one by one, kept as a program with loops. docs/folded.md
namespace vinci::isa {

// An instruction as it was given, apart from its operands.
struct Leaf {
  const Row* row = nullptr;
  u64 key = 0;     // of all but the numbers that may grow
  u32 values = 0;  // its first operand in the list of all
  u32 line = 0;
  u32 registers = 0;  // bit f: operand f is a register
  u16 file = 0;
  u8 type = 0;
};

// Turns of the same instructions. `first` and lengths count leaves.
struct Turns {
  struct Part {
    u32 first = 0;  // from the first leaf of a turn
    u32 leaves = 1;
    u64 positions = 1;
    std::shared_ptr<const Turns> turns = {};  // null: one leaf
  };
  struct Step {
    u8 field = 0;
    u64 by = 0;
  };
  u64 count = 0;
  u32 leaves = 0;
  u32 depth = 1;      // of loops, with those inside
  u64 positions = 0;  // of a turn
  std::vector<Part> body;
  std::vector<u32> step_of;  // by leaf: its first step; one more at the end
  std::vector<Step> steps;
};

// What follows the same loop or instruction at the top of a trace.
struct TraceItem {
  static constexpr usize kRuns = 4;
  static constexpr u32 kNone = ~u32{0};
  u64 hash = 0;
  u64 begin = 0;  // position
  u32 first = 0;  // leaf
  u32 leaves = 1;
  u32 previous = kNone;  // item of the same hash
  // Distances at which the items up to this one have continued evenly, and how many of them.
  struct Even {
    u32 distance = 0, run = 0;
  };
  std::array<Even, kRuns> even{};
  std::shared_ptr<Turns> turns = {};
};

// Folds while it records: holds what is stored, not what was given.
class Folder {
 public:
  // It gives up beyond so many stored instructions.
  explicit Folder(usize limit = kMaxProgramLength) : limit_(limit) {}

  void clear();
  void add(const Inst& inst, u32 line, u16 file);
  // All that another one has recorded, as a unit that can repeat: `file_numbers` are those of its files here. It must
  // have ended; where it has given up, this one does. Branch targets, which are relative to its beginning, move.
  void append(const Folder& part, const std::vector<u16>& file_numbers);
  // No more is to come; a turn that has not ended is stated by itself.
  void end() {
    while (open_)
      close();
  }

  u64 positions() const { return positions_; }
  usize stored() const { return leaves_.size(); }
  bool gave_up() const { return gave_up_; }
  // File and line of a position; 0, 0 where it has given up.
  std::pair<u16, u32> line_of(u64 at) const;
  // Equal after end(): the same instructions, lines and files.
  bool same(const Folder& other) const;
  u64 hash() const;

  // After end(): appends code, lines, files, loops and strides.
  void write(Program& program, bool with_files) const;

 private:
  struct Frame {
    const Turns* turns;
    u32 begin;  // leaf
    u32 part;
    u64 turn;
  };
  // What of an unfinished turn was given.
  struct Piece {
    Turns::Part part;
    std::vector<Leaf> leaves;
    std::vector<u64> values;
  };

  void push(const Leaf& leaf, const u64* values);
  void push(Piece&& piece);
  void arrived();
  u32& latest(u64 hash) { return latest_[hash * 0x9e3779b97f4a7c15 >> 32 & (latest_.size() - 1)]; }
  bool even(usize item, usize distance) const;
  void form(u32 distance);
  void close();
  bool matches(const Inst& inst, u32 line, u16 file) const;
  bool pass(const Piece& piece);
  void go_on();
  void descend();
  void begin_turn();
  u64 expected(u32 leaf, usize frames, usize field) const;
  void collect(usize frame, std::vector<Piece>& out);
  Piece piece_of(const Turns::Part& part, u32 first, usize frames) const;
  bool same_static(u32 a, u32 b, const Folder& other) const;
  bool same_turns(const Turns& a, u32 first_a, const Turns& b, u32 first_b, const Folder& other) const;
  bool same_item(const TraceItem& a, const TraceItem& b, const Folder& other) const;
  u64 rehash(const Turns& turns, u32 first) const;
  void give_up();
  void write_turns(const Turns& turns, u32 first, std::vector<std::pair<const Turns*, std::pair<u32, u32>>>& around,
                   Program& program, bool with_files) const;
  void write_leaf(u32 leaf, const std::vector<std::pair<const Turns*, std::pair<u32, u32>>>& around, Program& program,
                  bool with_files) const;

  usize limit_;
  std::vector<Leaf> leaves_;
  std::vector<u64> values_;
  std::vector<TraceItem> items_;
  // Items by hash, the latest ones: others of the same place are forgotten.
  std::vector<u32> latest_;
  u64 positions_ = 0, lone_ = 0;
  bool open_ = false;  // the last item is a loop, and what comes may be its next turn
  std::vector<Frame> frames_;
  u32 at_ = 0;  // the leaf that is expected
  bool gave_up_ = false;
};

}  // namespace vinci::isa
