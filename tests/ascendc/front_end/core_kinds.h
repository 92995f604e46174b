// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "kernel_operator.h"

// The same inline function in two files and for two kinds of cores: each caller gets that of its own kind.
__aicore__ inline int shared_name() {
#ifdef __DAV_C220_CUBE__
  return 1;
#else
  return 2;
#endif
}

void launch_other(uint8_t* out);

namespace support {
inline int twice(int x) { return 2 * x; }
}  // namespace support
