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

enum class Misuse : uint64_t { mask = 1, cross_core_flag = 2, repeats = 3 };
inline void NoteMisuse(Misuse what, uint64_t value, uint64_t limit, Place place) {
  static ::vinci::ascendc::Insn insn("misuse");
  ::vinci::ascendc::issue(insn, {static_cast<uint64_t>(what), value, limit}, place);
}

// An instruction has 8 bits for its repeats, and so has the documented parameter: what is beyond them is lost.
constexpr uint8_t Repeats(int64_t number, Place place) {
  constexpr int64_t kMost = 255;
  if (number < 0 || number > kMost) NoteMisuse(Misuse::repeats, static_cast<uint32_t>(number), kMost, place);
  return static_cast<uint8_t>(number);
}
// Such a parameter.
class RepeatTime {
 public:
  constexpr RepeatTime(int64_t number, VINCI_PLACE) : kept_(Repeats(number, place)) {}
  constexpr operator uint8_t() const { return kept_; }

 private:
  uint8_t kept_;
};
// Other numbers that are given for it: to functions whose parameter must have the documented type, as kernels take
// their addresses.
template <typename T>
using OtherNumber = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, uint8_t>>;

}  // namespace vinci_detail
}  // namespace AscendC
