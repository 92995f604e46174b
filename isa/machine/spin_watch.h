// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <limits>
#include <string>
#include <unordered_set>
#include <vector>

#include "isa/machine/sequencer.h"

namespace vinci::isa {

// Proves that a scalar unit repeats the same instructions for ever, unless something outside of it changes. The rule
// and the reason why it is a proof: docs/livelock.md.
//
// The owner drives the sequencer, and asks before it runs instructions how many may run until it asks again. It watches
// only where a unit has run for long without any change, and then only a part of what it runs.
class SpinWatch {
 public:
  // `changes` counts what happens outside of the scalar units, and what they do besides arithmetic, branches and loads:
  // as long as it stays, no memory and no flag changes.
  u32 most(const Sequencer& front, u64 changes) {
    if (changes != changes_) restart(changes);
    if (proven_) return kFree;
    if (!watching_ && quiet_ < next_) return static_cast<u32>(std::min<u64>(kFree, next_ - quiet_));
    return look(front);
  }
  // So many instructions have begun since it was asked.
  void ran(u64 instructions) { quiet_ += instructions; }
  void restart(u64 changes) {
    changes_ = changes;
    quiet_ = 0;
    if (has_looked_) forget();
  }

  // Whether it is proven, and nothing has changed since.
  bool spins(u64 changes) const { return proven_ && changes == changes_; }
  // "poll.s:4..6", and what could end it, of a unit that spins. Memory is named by its allocation in `gm`.
  std::string where() const { return where_; }
  std::string why(const GlobalMemory& gm) const;

 private:
  static constexpr u32 kFree = std::numeric_limits<u32>::max();
  static constexpr u64 kFirst = u64{1} << 14;  // instructions without a change before it looks
  static constexpr u64 kPart = 16;             // it looks at one of so many instructions
  static constexpr usize kReads = 4;           // instructions that read, of which a message tells

  struct Read {
    u32 pc = 0;
    Access access;    // at the lowest address
    u64 highest = 0;  // address
  };

  void forget();
  u32 look(const Sequencer& front);
  void place_anchor(const Sequencer& front);
  void note(const Sequencer& front);
  void note_read(const Sequencer& front);
  bool recurs(const Sequencer& front);
  void find_relevant(const Code& code);
  void prove(const Code& code);

  u64 changes_ = 0;
  u64 quiet_ = 0;  // instructions since the latest change
  u64 next_ = kFirst, until_ = 0, looked_ = 0;
  bool has_looked_ = false, watching_ = false, proven_ = false;

  // Since the anchor: an earlier state, that of the latest power of two of instructions (Brent, 1980).
  Sequencer::State anchor_;
  u64 steps_ = 0, power_ = 1;
  u32 latest_ = 0;                            // pc
  std::unordered_set<const CodeInst*> seen_;  // stored instructions: those of a loop have many positions
  std::vector<u32> pcs_;                      // of each the position that came first, in the order in which they came
  std::vector<Read> reads_;
  bool found_relevant_ = false;
  bool depends_on_time_ = false;  // a relevant register is read from a counter of time
  u32 relevant_ = 0;              // bits: registers that decide where the program goes and what it accesses
  std::string where_;
  std::vector<std::string> places_;  // of reads_
};

}  // namespace vinci::isa
