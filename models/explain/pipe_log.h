// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "models/explain/block_log.h"

namespace vinci::models {

// The log of the block that a core runs, as one of its pipes fills it; there may be none. Functions as those of
// BlockLog.
class PipeLog {
 public:
  static constexpr u32 kNone = Cause::kScalar;  // no instruction
  // `log` is that of the present block of the core.
  PipeLog(BlockLog* const& log, isa::PipeId pipe) : log_(log), pipe_(pipe) {}

  explicit operator bool() const { return log_ != nullptr; }
  u32 wait_flag(const isa::Issued& inst, u64 queued, u64 t, u64 set_at, u64 since) const {
    return log_->wait_flag(pipe_, inst, queued, t, set_at, since);
  }
  u32 barrier(const isa::Issued& inst, u64 queued, u64 t) const { return log_->barrier(pipe_, inst, queued, t); }
  u32 set_flag(const isa::Issued& inst, u64 queued, u64 t, u64 effect, bool holds) const {
    return log_->set_flag(pipe_, inst, queued, t, effect, holds);
  }
  u32 work(const isa::Issued& inst, const Resolved& resolved, u64 queued, u64 t, u64 end, u64 done, bool alone,
           const BlockLog::UnitOf& unit) const {
    return log_->work(pipe_, inst, resolved, queued, t, end, done, alone, unit);
  }
  void copied(u32 node, u64 end, u64 done, const CopyLog& log) const { log_->copied(node, end, done, log); }
  void touches(u32 node, u64 address) const { log_->touches(node, address); }
  void raised(const isa::insn::SetFlag::Args& flag, u32 node, u64 t) const { log_->raised(flag, node, t); }

 private:
  BlockLog* const& log_;
  isa::PipeId pipe_;
};

}  // namespace vinci::models
