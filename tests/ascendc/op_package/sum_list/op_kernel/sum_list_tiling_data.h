// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once
#include <cstdint>

struct SumListTilingData {
  uint32_t length = 0;  // elements of a block
  int32_t times = 1;
};
