// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "isa/check/core_checker.h"
#include "models/core/block.h"
#include "models/explain/block_log.h"
#include "models/explain/inserted_sync.h"
#include "models/explain/native_code.h"

namespace vinci::models {

// The block that a core runs, and what is told about it: errors with their place, why its instructions began when they
// did, what inserted synchronisation and native code cost.
class Journal {
 public:
  // `checker` may be null.
  explicit Journal(std::string name, isa::check::CoreChecker* checker = nullptr)
      : name_(std::move(name)), checker_(checker) {}
  void watch(isa::check::CoreChecker& checker) { checker_ = &checker; }
  void begin(const Block& block) {
    block_ = block;
    if (checker_ != nullptr) checker_->begin(block_.task_id, block_.launch.block_idx, *block_.code);
  }

  const std::string& name() const { return name_; }  // of the core: "npu1.core3.AIC"
  // The present or latest one.
  const Block& block() const { return block_; }
  BlockLog* const& log() const { return block_.log; }  // null: nothing is kept

  // Rethrows an error with task, core, unit and, where it has none, its place in the program, and tells the checker.
  // `inst` is null where the message says enough.
  [[noreturn]] void blame(const Error& e, u32 pc, const isa::Issued* inst, std::string_view unit) const;
  // Tells the checker of a fault that an instruction of the present or latest block has led to.
  void failed(u32 pc, const isa::Issued* inst, const Error& e) const {
    if (checker_ != nullptr) checker_->failed(pc, inst, e);
  }

  // Cycles that inserted synchronisation has cost, and that it was done.
  void charge_inserted(const isa::Issued& inst, u64 cycles) { sums_.inserted.charge(*block_.code, inst, cycles); }
  void pass_inserted(const isa::Issued& inst, u64 cycles) { sums_.inserted.pass(*block_.code, inst, cycles); }
  // A nop: cycles of scalar code that runs natively.
  void charge_native(const isa::CodeInst& inst, u32 pc, u64 cycles, u64 counted) {
    sums_.native.add(*block_.code, inst, pc, cycles, counted);
  }
  // Of all blocks so far.
  struct Sums {
    InsertedSync inserted;
    NativeCode native;
    // What has come since `earlier` ones.
    Sums since(const Sums& earlier) const { return {inserted.since(earlier.inserted), native.since(earlier.native)}; }
  };
  const Sums& sums() const { return sums_; }
  void add(const Sums& more) {
    sums_.inserted.add(more.inserted);
    sums_.native.add(more.native);
  }

 private:
  std::string name_;
  isa::check::CoreChecker* checker_;
  Block block_;
  Sums sums_;
};

}  // namespace vinci::models
