// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/native_core.h"

#include <utility>

#include "isa/base/error.h"

namespace vinci::isa {

void NativeCore::start(const Launch& launch, CrossCoreFlags* flags, TaskCore self, const std::string& source) {
  code_ = Code(arch_, source, [this](u32 pc) { return trace_.line_of(pc); });
  trace_.clear();
  if (auto_sync_) auto_sync_->begin_block();
  machine_.start(code_, launch, flags, self);
}

void NativeCore::insert(std::span<const Inst> list, u32 line, u16 file) {
  inserted_ = list;
  for (const Inst& inst : list)
    put(inst, line, file);
}

void NativeCore::order(const Access& access, u32 line, u16 file) {
  if (auto_sync_) insert(auto_sync_->before(access, machine_.blocked()), line, file);
}

Machine::State NativeCore::issue(const Inst& inst, u32 line, u16 file) {
  if (auto_sync_) insert(auto_sync_->before(inst, machine_.spr(), machine_.blocked()), line, file);
  return put(inst, line, file);
}

Machine::State NativeCore::put(const Inst& inst, u32 line, u16 file) {
  if (trace_.positions() == kMaxPositions)
    fail(Fault::Limit, "a core issues at most {} instructions for a block", kMaxPositions);
  trace_.add(inst, line, file);
  code_.append(inst, line, file);
  const Machine::State state = machine_.advance(budget_, 1);
  return inst.row->role == Role::end ? machine_.advance(budget_, 0) : state;
}

Folder NativeCore::take_trace() {
  trace_.end();
  return std::exchange(trace_, Folder());
}

}  // namespace vinci::isa
