// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <span>
#include <string>

#include "isa/machine/auto_sync.h"
#include "isa/machine/machine.h"
#include "isa/program/folder.h"

namespace vinci::isa {

// A core that is given its instructions one by one by native code, in place of a program: the reference machine behind
// a front that the caller is. What it was given is a program afterwards, without branches but for those of the caller
// and with loops (docs/folded.md), which gives the same bits on every machine. Scalar work of the caller is unknown to
// it, unless the caller says so with nop.
class NativeCore {
 public:
  NativeCore(const CoreSpec& core, GlobalMemory& gm, u32 core_id, Census* census = nullptr)
      : arch_(core.arch), machine_(core, gm, core_id, census), code_(core.arch, {}, {}) {}

  // From the next block on, the synchronisation of AutoSync is issued where it is needed.
  void synchronise_automatically(const CoreSpec& core) {
    if (core.kind != CoreKind::cube) auto_sync_.emplace(core, machine_);
  }
  // Begins a block, as Machine::start; `launch` and `flags` must outlive it. `source` is the file that lines are of.
  void start(const Launch& launch, CrossCoreFlags* flags, TaskCore self, const std::string& source);

  // The number of a file, for issue().
  u16 file(const std::string& name) { return code_.file(name); }
  // Executes an instruction whose operands are immediates, as far as flags and barriers allow. State::waits: it waits
  // for another core; resume() until it does not. Faults carry "file:line". `end` ends the block.
  Machine::State issue(const Inst& inst, u32 line, u16 file = 0);
  // Of a load or store through a tensor, before it is issued: issues what it needs.
  void order(const Access& access, u32 line, u16 file = 0);
  // What the latest issue() or order() has inserted.
  std::span<const Inst> inserted() const { return inserted_; }
  Machine::State resume() { return machine_.advance(budget_, 0); }

  Machine& machine() { return machine_; }
  const Machine& machine() const { return machine_; }
  const Code& code() const { return code_; }

  // What was issued since start().
  const Folder& trace() const { return trace_; }
  // The same after `end`, for good; files are those of code().sources().
  Folder take_trace();

 private:
  // Of what was appended last.
  Machine::State run(const Inst& inst, u32 line, u16 file);
  void insert(std::span<const Inst> list, u32 line, u16 file);

  Arch arch_;
  Machine machine_;
  Code code_;
  Folder trace_;
  std::optional<AutoSync> auto_sync_;
  std::span<const Inst> inserted_;
  u64 budget_ = ~u64{0};
};

}  // namespace vinci::isa
