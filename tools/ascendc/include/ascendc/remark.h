// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/tensor.h"

// Remarks for the checker (`--check`), which instructions alone do not show: the buffers that a program makes, and
// values beyond what the documentation allows. They take no time.
namespace AscendC {
namespace vinci_detail {

inline void NoteBuffer(TPosition position, uint32_t address, uint32_t bytes, Place place) {
  static ::vinci::ascendc::Insn insn("local_buffer");
  const auto memory = static_cast<uint64_t>(MemoryOf(position));
  const bool in_core = memory != 0 && memory < static_cast<uint64_t>(::vinci::ascendc::Memory::none);
  if (bytes != 0 && in_core) ::vinci::ascendc::issue(insn, {memory, address, bytes}, place);
}
inline void NoteNoBuffers(unsigned memory, Place place) {
  static ::vinci::ascendc::Insn insn("local_buffer");
  ::vinci::ascendc::issue(insn, {memory, 0, 0}, place);
}

enum class Misuse : uint64_t { mask = 1, cross_core_flag = 2 };
inline void NoteMisuse(Misuse what, uint64_t value, uint64_t limit, Place place) {
  static ::vinci::ascendc::Insn insn("misuse");
  ::vinci::ascendc::issue(insn, {static_cast<uint64_t>(what), value, limit}, place);
}

}  // namespace vinci_detail
}  // namespace AscendC
