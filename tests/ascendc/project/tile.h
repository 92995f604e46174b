// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "kernel_operator.h"

__aicore__ inline void multiply(AscendC::LocalTensor<float> z, AscendC::LocalTensor<float> x, uint32_t count) {
  AscendC::Muls(z, x, static_cast<float>(FACTOR), count);  // line 8: where the multiplication is
}
