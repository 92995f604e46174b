// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/native_core.h"

#include "isa/codec.h"

namespace vinci::isa {

void NativeCore::start(const Launch& launch, CrossCoreFlags* flags, TaskCore self, const std::string& source) {
  code_ = Code(arch_, source, [this](u32 pc) { return std::pair(files_[pc], lines_[pc]); });
  words_.clear();
  lines_.clear();
  files_.clear();
  machine_.start(code_, launch, flags, self);
}

Machine::State NativeCore::issue(const Inst& inst, u32 line, u16 file) {
  words_.push_back(encode(inst));
  lines_.push_back(line);
  files_.push_back(file);
  code_.append(inst, line, file);
  const Machine::State state = machine_.advance(budget_, 1);
  return inst.row->role == Role::end ? machine_.advance(budget_, 0) : state;
}

}  // namespace vinci::isa
