// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/native_core.h"

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
  for (const Inst& inst : list) {
    code_.append(inst, line, file);
    run(inst, line, file);
  }
}

void NativeCore::order(const Access& access, u32 line, u16 file) {
  if (auto_sync_) insert(auto_sync_->before(access), line, file);
}

Machine::State NativeCore::issue(const Inst& inst, u32 line, u16 file) {
  code_.append(inst, line, file);
  inserted_ = {};
  if (auto_sync_ && AutoSync::looks_at(*inst.row)) {
    if (const auto list = auto_sync_->before(*inst.row, code_.latest().args); !list.empty()) {
      code_.take_back();
      insert(list, line, file);
      code_.append(inst, line, file);
    }
    machine_.set_footprint(auto_sync_->footprint());
  }
  const Machine::State state = run(inst, line, file);
  return inst.row->role == Role::end ? machine_.advance(budget_, 0) : state;
}

Machine::State NativeCore::run(const Inst& inst, u32 line, u16 file) {
  if (trace_.positions() == kMaxPositions)
    fail(Fault::Limit, "a core issues at most {} instructions for a block", kMaxPositions);
  trace_.add(inst, line, file);
  return machine_.advance(budget_, 1);
}

Folder NativeCore::take_trace() {
  trace_.end();
  return std::exchange(trace_, Folder());
}

}  // namespace vinci::isa
