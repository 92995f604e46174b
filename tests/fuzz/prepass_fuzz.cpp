// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Any text is refused as wrong input, or rewritten.
#include <string_view>

#include "isa/base/error.h"
#include "isa/base/types.h"
#include "tools/ascendc/prepass/launches.h"

extern "C" int LLVMFuzzerTestOneInput(const vinci::u8* data, vinci::usize size) {
  using namespace vinci;
  try {
    ascendc::rewrite_launches({reinterpret_cast<const char*>(data), size});
  } catch (const Error& e) {
    if (e.fault() != Fault::Input && e.fault() != Fault::Unsupported) throw;
  }
  return 0;
}
