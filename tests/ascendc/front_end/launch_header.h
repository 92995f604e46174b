// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdint>

struct Tiling {
  uint32_t length, tiles;
  float factor;
  uint32_t rest[5];
};
struct Pair {
  uint16_t first, second;
};
