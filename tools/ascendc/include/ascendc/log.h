// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdio>

#include "ascendc/debug.h"

// Messages of kernels, and assertions with a message of the program's own. Warnings and errors are shown on stderr.
// Documentation: Ascend C, CPU debugging.
enum class LogLevel : int { KERNEL_DEBUG, KERNEL_INFO, KERNEL_WARN, KERNEL_ERROR };

namespace AscendC::vinci_detail {
template <typename... A>
void Log(::LogLevel level, Place place, const char* format, A... args) {
  if (level < ::LogLevel::KERNEL_WARN) return;
  std::fprintf(stderr, "%s:%d: %s: ", place.file, place.line, level == ::LogLevel::KERNEL_WARN ? "warning" : "error");
  if constexpr (sizeof...(A) == 0) {
    std::fputs(format, stderr);
  } else {
    std::fprintf(stderr, format, args...);
  }
  std::fputc('\n', stderr);
}
}  // namespace AscendC::vinci_detail

#define KERNEL_LOG(level, ...) \
  ::AscendC::vinci_detail::Log(::LogLevel::level, ::AscendC::vinci_detail::Place::here(), __VA_ARGS__)

// Runs `behavior`, and then ends the program, where the condition does not hold.
#define ASCENDC_ASSERT(condition, ...)                                                              \
  do {                                                                                              \
    if (!(condition)) {                                                                             \
      __VA_ARGS__;                                                                                  \
      ::AscendC::vinci_detail::EndAtAssertion(::AscendC::vinci_detail::FailedAssertion(#condition), \
                                              ::AscendC::vinci_detail::Place::here());              \
    }                                                                                               \
  } while (false)
#define ASCENDC_ASSERT_WARNING(condition, ...) \
  do {                                         \
    if (!(condition)) {                        \
      __VA_ARGS__;                             \
    }                                          \
  } while (false)
