// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ascendc/special.h"
#include "ascendc/system.h"

// Printing and assertions. Documentation: Ascend C API, debugging.
namespace AscendC {

// Prints from the host's stdout, as the simulation of the kernel goes; the compiler has kernels say which core it is.
template <typename... A>
void printf(const char* format, A... args) {
  if constexpr (sizeof...(A) == 0) {
    std::printf("%s", format);
  } else {
    std::printf(format, args...);
  }
}
template <typename... A>
void PRINTF(const char* format, A... args) {
  AscendC::printf(format, args...);
}

namespace vinci_detail {
inline std::string FailedAssertion(const char* expression) { return std::string("assertion failed: ") + expression; }
template <typename... A>
std::string FailedAssertion(const char* expression, const char* format, A... args) {
  char text[512];
  if constexpr (sizeof...(A) == 0) {
    std::snprintf(text, sizeof(text), "%s", format);
  } else {
    std::snprintf(text, sizeof(text), format, args...);
  }
  return FailedAssertion(expression) + ": " + text;
}
// Ends the kernel, and with it the program; host code that uses the same header ends, too.
[[noreturn]] inline void EndAtAssertion(const std::string& text, Place place) {
  if (::vinci::ascendc::in_kernel()) ::vinci::ascendc::wrong(text.c_str(), place);
  std::fprintf(stderr, "%s:%d: %s\n", place.file, place.line, text.c_str());
  std::abort();
}
}  // namespace vinci_detail

#define VINCI_ASSERT_AS(text, condition, ...)                                                   \
  ((condition) ? (void)0                                                                        \
               : ::AscendC::vinci_detail::EndAtAssertion(                                       \
                     ::AscendC::vinci_detail::FailedAssertion(text __VA_OPT__(, ) __VA_ARGS__), \
                     ::AscendC::vinci_detail::Place::here()))
#undef assert
#define assert(...) VINCI_ASSERT_AS(#__VA_ARGS__, __VA_ARGS__)
// For debugging on the host alone, as published (kernel_macros.h of asc-devkit): otherwise its text is not compiled.
#if defined(ASCENDC_CPU_DEBUG) && ASCENDC_CPU_DEBUG == 1
#define ASSERT(...) VINCI_ASSERT_AS(#__VA_ARGS__, __VA_ARGS__)
#elif !defined(ASSERT)
#define ASSERT(...)
#endif
#define ascendc_assert(...) VINCI_ASSERT_AS(#__VA_ARGS__, __VA_ARGS__)
#define ASSERT_MSG(...) VINCI_ASSERT_AS(#__VA_ARGS__, __VA_ARGS__)

namespace vinci_detail {
// Elements of any memory of the core, as they are now.
template <typename T>
void DumpMemory(::vinci::ascendc::Memory memory, uint64_t address, uint32_t label, uint32_t elements, Place place) {
  std::fprintf(stdout, "DumpTensor %u, block %ld:", label, static_cast<long>(GetBlockIdx()));
  for (uint32_t i = 0; i < elements; ++i) {
    const uint64_t bits = ::vinci::ascendc::peek(memory, address + i * sizeof(T), sizeof(T), place);
    std::fprintf(stdout, " %g", static_cast<double>(FromBits<T>(bits)));
  }
  std::fprintf(stdout, "\n");
}
// The scalar unit reads UB and global memory; what is in others comes out by instructions of the debugger's, which are
// not those of the program.
template <typename T>
bool DumpElsewhere(const LocalTensor<T>& tensor, uint32_t label, uint32_t first, uint32_t elements, Place place) {
  const auto memory = MemoryOf(tensor.GetPosition());
  if (memory == ::vinci::ascendc::Memory::ub) return false;
  DumpMemory<T>(memory, tensor.Address() + BytesOf<T>(first), label, elements, place);
  return true;
}
template <typename T>
bool DumpElsewhere(const GlobalTensor<T>&, uint32_t, uint32_t, uint32_t, Place) {
  return false;
}
// The first elements of a tensor, as they are now.
template <typename Tensor>
void DumpElements(const Tensor& tensor, uint32_t label, uint32_t first, uint32_t elements, Place place) {
  if (DumpElsewhere(tensor, label, first, elements, place)) return;
  std::fprintf(stdout, "DumpTensor %u, block %ld:", label, static_cast<long>(GetBlockIdx()));
  for (uint32_t i = first; i < first + elements; ++i)
    std::fprintf(stdout, " %g", static_cast<double>(tensor.GetValue(i, place)));
  std::fprintf(stdout, "\n");
}
}  // namespace vinci_detail

template <typename T>
void DumpTensor(const LocalTensor<T>& tensor, uint32_t label, uint32_t elements, VINCI_PLACE) {
  vinci_detail::DumpElements(tensor, label, 0, elements, place);
}
template <typename T>
void DumpTensor(const GlobalTensor<T>& tensor, uint32_t label, uint32_t elements, VINCI_PLACE) {
  vinci_detail::DumpElements(tensor, label, 0, elements, place);
}
template <typename T>
void DumpTensor(const LocalTensor<T>& tensor, uint32_t label, uint32_t elements, const ShapeInfo& /*shape*/,
                VINCI_PLACE) {
  vinci_detail::DumpElements(tensor, label, 0, elements, place);
}
template <typename T>
void DumpTensor(const GlobalTensor<T>& tensor, uint32_t label, uint32_t elements, const ShapeInfo& /*shape*/,
                VINCI_PLACE) {
  vinci_detail::DumpElements(tensor, label, 0, elements, place);
}
// The same from an element on.
template <typename T>
void DumpAccChkPoint(const LocalTensor<T>& tensor, uint32_t index, uint32_t countOff, uint32_t dumpSize, VINCI_PLACE) {
  vinci_detail::DumpElements(tensor, index, countOff, dumpSize, place);
}
template <typename T>
void DumpAccChkPoint(const GlobalTensor<T>& tensor, uint32_t index, uint32_t countOff, uint32_t dumpSize, VINCI_PLACE) {
  vinci_detail::DumpElements(tensor, index, countOff, dumpSize, place);
}

// Only if the program asks for it, as the documentation says.
inline void PrintTimeStamp([[maybe_unused]] uint32_t descId, [[maybe_unused]] VINCI_PLACE) {
#ifdef ASCENDC_TIME_STAMP_ON
  std::printf("descId is %u, rsv is 0, timeStamp is %ld\n", descId, static_cast<long>(GetSystemCycle(place)));
#endif
}
// Marks for the profiler, which has every instruction anyway.
inline void MetricsProfStart() {}
inline void MetricsProfStop() {}
namespace vinci_detail {
template <pipe_t pipe, uint16_t index>
void MarkStamp() {}
template <pipe_t pipe>
void MarkStamp(uint16_t) {}
}  // namespace vinci_detail

}  // namespace AscendC
