// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string_view>

#include "isa/base/enums.h"
#include "isa/base/types.h"

namespace vinci::task {

// What L2 does with the lines of a buffer. Ascend C gives it with GlobalTensor::SetL2CacheHint; what the hardware does
// in detail with CACHE_MODE_DISABLE is not public: here a line that L2 holds already leaves it, written back where it
// is dirty.
enum class CacheHint : u8 {
  normal,       // allocate on read and on write (CACHE_MODE_NORMAL)
  no_allocate,  // a line that is there serves the request; what is not there stays outside
  bypass,       // past L2 (CACHE_MODE_DISABLE)
};
inline constexpr auto kCacheHintNames = enum_names<CacheHint>;

}  // namespace vinci::task
