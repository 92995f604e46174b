// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "isa/machine/issue.h"
#include "isa/machine/observer.h"
#include "isa/program/code.h"

namespace vinci::isa {

// One block of a kernel launch, as the core sees it.
struct Launch {
  u32 task = 0;    // position of the task in the order of the task stream
  u32 kernel = 0;  // its index there
  u32 block_idx = 0;
  u32 block_num = 1;
  std::vector<u64> args = {};
  u32 part = 0;          // which core of a block in a MIX task: 0 AIC, then the AIVs
  u32 subblock_idx = 0;  // of an AIV in a MIX task
  u32 subblock_num = 1;  // AIVs of a block in a MIX task, as an AIV sees it
  u32 entry = 0;         // the instruction that it begins at
};

// The front of a core: walks a program, runs its scalar instructions, and turns the others into Issued. It knows no
// time; the untimed machine and the timed scalar unit drive the same object. Faults are thrown without a location: the
// owner adds task, core and instruction.
class Sequencer {
 public:
  // `mem` is null in timing-only runs: loads then yield unknown values, and using one is refused.
  Sequencer(const CoreSpec& core, const GlobalMemory& gm, CoreMem* mem, u32 core_id)
      : core_(core), gm_(gm), mem_(mem), core_id_(core_id) {}

  void start(const Code& code, const Launch& launch);
  // Who is told what this core is given, from the next block on; null: none.
  void set_observer(Observer* observer) { observer_ = observer; }

  // What a register of the scalar unit holds.
  u64 x(u32 index) const { return x_[index]; }
  const Spr& spr() const { return spr_; }
  // All that decides, with memory, flags and what pipes leave behind, how the program goes on.
  struct State {
    u32 pc = 0;
    u32 unknown = 0;
    std::array<u64, kRegisterCount> x{};
    Spr spr = {};
  };
  State state() const { return {.pc = pc_, .unknown = unknown_, .x = x_, .spr = spr_}; }
  const Code& code() const { return *code_; }
  bool done() const { return done_; }
  u32 pc() const { return pc_; }
  OverflowMode overflow() const { return overflow_of(core_, spr_); }
  u64 issued() const { return issued_; }  // instructions of this block that went to pipes
  // What the next instruction that is issued touches, so that it is not computed again; it must stay until then.
  void set_footprint(const Footprint* footprint) { footprint_ = footprint; }
  // The instruction at pc; throws when the program runs past its end.
  const CodeInst& current() {
    const CodeInst* inst = cursor_.find(pc_);
    if (inst == nullptr) [[unlikely]]
      fail_missing_end();
    return *inst;
  }

  // What the current instruction is about to load or store; nothing where it is none, or would not be carried out.
  std::optional<Access> next_access();
  // Runs the current instruction, which must have Role::scalar or Role::end; `status` and `results` are what the pipes
  // have left behind by now, `sys_cnt` is the system counter. Returns the bits of STATUS that it raises.
  u64 step(u64 status, const ResultRegisters& results, u64 sys_cnt = 0);
  // Runs what is arithmetic and has no fault, in place of step(), up to the first instruction that is not, or `most`.
  // Returns how many; adds what `latencies` says of each, by its form_index(), to `cycles`.
  u32 run_plain(u32 most, std::span<const u64> latencies, u64& cycles) {
    u32 n = 0;
    u64 sum = 0;
    for (; n < most; ++n) {
      const CodeInst* inst = cursor_.find(pc_);
      if (inst == nullptr || !step_plain(*inst)) break;
      sum += latencies[inst->form];
    }
    if (n != 0) forget_last();
    cycles += sum;
    return n;
  }
  // Null in runs without data.
  const CoreMem* mem() const { return mem_; }
  // What the last scalar load or store accessed; empty when the last step was none.
  const std::optional<Access>& last_access() const { return last_access_; }
  // Whether the last step was a store that has changed a byte.
  bool changed_memory() const { return last_access_ && last_access_->write && changed_memory_; }
  // Cycles that the last step stated itself: those of a nop, else 0.
  u64 stated_cycles() const { return stated_cycles_; }
  // Of them, where there are any, those of code that was counted.
  u64 counted_cycles() const { return counted_cycles_; }
  // Takes the current instruction, which must have another role, with its operands; checks that it is legal here.
  // Nothing where it is not, and the observer lets the program go on without it.
  std::optional<Issued> issue() {
    std::optional<Issued> out(std::in_place);
    if (!issue(*out, [](const Issued&) { return false; })) out.reset();
    return out;
  }
  // The same; false: nothing. Of what is `known` to be legal on such a core, that is not checked again.
  template <class Known>
  bool issue(Issued& out, Known&& known) {
    if (!take(out)) return false;
    if (!known(std::as_const(out)) && !check(out)) return false;
    ++pc_;
    if (observer_ != nullptr) observer_->issued(out);
    return true;
  }

 private:
  [[noreturn]] static void fail_missing_end();
  void forget_last() {
    last_access_.reset();
    stated_cycles_ = 0;
  }
  // Runs the current instruction where it is arithmetic and has no fault; else false, and nothing has happened.
  bool step_plain(const CodeInst& inst) {
    if (!inst.plain.what || (inst.sources & unknown_) != 0) return false;
    const auto& [what, constants, registers] = inst.plain;
    const u64 a = registers[0] == CodeInst::kNoRegister ? constants[0] : x_[registers[0]];
    const u64 b = registers[1] == CodeInst::kNoRegister ? constants[1] : x_[registers[1]];
    if (what.goes != nullptr) {
      pc_ = what.goes(static_cast<i64>(a), static_cast<i64>(b)) ? inst.target : pc_ + 1;
      return true;
    }
    try {
      x_[inst.written] = what.value(a, b);
    } catch (const IllegalIssue&) {  // step() finds it again, and knows what to say
      return false;
    }
    unknown_ &= ~(1u << inst.written);
    ++pc_;
    return true;
  }
  bool take(Issued& out);          // with its operands
  bool check(const Issued& inst);  // both go on behind what is refused
  bool refused(const Error& e, const Issued& inst);
  void leave_out(const CodeInst& inst);  // goes on behind it; its result is 0
  void patch(const CodeInst& inst, ArgsStorage& args) const;
  // Whether a store has registers `tainted` in its value alone: a run without data stores nothing.
  static bool stores_unknown(const CodeInst& inst, u32 tainted);
  void refuse_unknown(const CodeInst& inst, u8 reg) const;
  u64 bytes_at(const Access& access) const;  // of a scalar access, as a number

  const CoreSpec& core_;
  const GlobalMemory& gm_;
  CoreMem* mem_;
  u32 core_id_;

  Observer* observer_ = nullptr;

  const Code* code_ = nullptr;
  Cursor cursor_;
  const Launch* launch_ = nullptr;
  std::array<u64, kRegisterCount> x_{};
  Spr spr_;
  u32 pc_ = 0;
  u64 issued_ = 0;
  bool done_ = true;
  std::optional<Access> last_access_;
  bool changed_memory_ = false;
  u64 stated_cycles_ = 0, counted_cycles_ = 0;
  const Footprint* footprint_ = nullptr;
  u32 unknown_ = 0;                           // registers whose value only a run with data knows
  std::array<u32, kRegisterCount> origin_{};  // pc of the load that made them so
};

}  // namespace vinci::isa
