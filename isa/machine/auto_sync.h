// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <map>
#include <span>
#include <vector>

#include "isa/machine/machine.h"
#include "isa/program/program.h"

namespace vinci::isa {

// The synchronisation that the vendor's compiler inserts under --cce-auto-sync, for a program that comes instruction by
// instruction: pipe_barrier PIPE_V between dependent vector instructions, set_flag and wait_flag between the scalar
// unit and V, MTE2 or MTE3. Cube cores get none. docs/auto-sync.md
class AutoSync {
 public:
  // `machine` is the one that the instructions go to; it must outlive this.
  AutoSync(const CoreSpec& core, const Machine& machine);

  // A block starts: all pipes are idle, and no flag is set.
  void begin_block();

  // Whether the instruction can need anything, or others can need something because of it.
  static bool looks_at(const Row& row) { return row.role != Role::scalar || row.reads_results; }
  // What to issue before such an instruction, in this order; it is taken as issued, and so is the instruction. Valid
  // until the next call.
  std::span<const Inst> before(const Row& row, const ArgsStorage& args);
  // What that instruction touches; null where it is not known.
  const Footprint* footprint() const { return known_footprint_ ? &footprint_ : nullptr; }
  // The same before a load or store of the scalar unit through a tensor.
  std::span<const Inst> before(const Access& access);

 private:
  // By pipe, how many of its instructions are known to be finished.
  using Marks = std::array<u32, kPipeCount>;
  struct Flag {
    Marks clock{};  // what the latest set_flag of it knew
    i32 up = 0;     // set_flag without their wait_flag; negative: the waits were issued first
    u32 taken = 0;  // position of the latest wait_flag on the waiting pipe
    bool inserted = false, of_program = false;  // the latest one; any one
  };
  struct Range {
    u64 end = 0;
    u32 position = 0;
  };
  // Disjoint ranges of global memory, by their begin, each with the latest access.
  class Ranges {
   public:
    void clear() { ranges_.clear(); }
    void put(u64 begin, u64 end, u32 position);
    // The same; with one that ends at `begin` it becomes one range.
    void join(u64 begin, u64 end, u32 position);
    // The latest access to a part of [begin, end); 0: none.
    u32 latest(u64 begin, u64 end) const;

   private:
    std::map<u64, Range> ranges_;
  };
  using Cells = std::vector<u32>;  // by granule of UB: position << kPipeBits | pipe; empty until one is entered

  struct Needs {
    bool barrier = false;
    bool after_scalar = false;  // S before the pipe
  };
  void pass(const Row& row, const ArgsStorage& args);
  // Calls f(from, to) for the granules of UB that the access meets.
  template <class F>
  void each_granules(const Access& a, F&& f) const;
  Needs needs(PipeId pipe, const Footprint& footprint) const;
  void enter(PipeId pipe, const Footprint& footprint);
  void emit(const Row& row, std::initializer_list<u64> operands);
  void emit_flag(PipeId src, PipeId dst, u32 event);
  // The scalar unit goes on when the pipe has done all before; false: it would wait for ever.
  bool to_scalar(PipeId pipe);
  // The pipe goes on when the scalar unit has done all before.
  void from_scalar(PipeId pipe);
  Flag& flag(PipeId src, PipeId dst, u32 event) {
    return flags_[(index(src) * kPipeCount + index(dst)) * core_.flags_per_pair + event];
  }
  bool in_flight(const Flag& f, PipeId dst) const { return f.taken > clocks_[index(PipeId::S)][index(dst)]; }
  // What an instruction of the pipe that is issued now comes after.
  u32 known(PipeId pipe, PipeId of) const { return std::max(clocks_[index(pipe)][index(of)], issue_clock_[index(of)]); }
  Cells& cells(Cells& of) const {
    if (of.empty()) of.resize(granules_);
    return of;
  }

  CoreSpec core_;
  const Machine& machine_;
  u64 granules_;
  std::vector<u32> events_;  // in the order in which they are chosen
  std::vector<Flag> flags_;  // by source, destination, event
  Marks positions_{};        // instructions of each pipe so far
  std::array<Marks, kPipeCount> clocks_{};
  Marks issue_clock_{};    // what all that is issued now comes after
  u32 barrier_ = 0;        // position of V at its latest barrier
  u32 vector_work_ = 0;    // of the latest vector instruction
  u32 scalar_access_ = 0;  // of the latest load or store of the scalar unit
  Cells written_;
  std::array<Cells, kPipeCount> read_;
  Ranges stores_, loads_;  // of global memory: by MTE3, and by the scalar unit
  std::vector<Inst> out_;
  Footprint footprint_;
  bool known_footprint_ = false;
};

}  // namespace vinci::isa
