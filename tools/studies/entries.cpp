// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/entries.h"

#include <array>

namespace vinci::studies {

std::span<const Entry> entries() {
  static constexpr std::array kEntries{
      Entry{"S05", fused_optimizer},
      Entry{"S09", transdata},
  };
  return kEntries;
}

}  // namespace vinci::studies
