// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/mem/fractal_order.h"

#include <array>
#include <cstring>

#include "isa/sem/fractal_kernel.h"

namespace vinci::isa {

void FractalOrder::exchange(u64 fractal) {
  std::byte* at = buffer_.subspan(fractal * kBytes, kBytes).data();
  std::array<std::byte, kBytes> copy;
  std::memcpy(copy.data(), at, kBytes);
  transpose_b16(copy.data(), at);
  turned_[fractal] = 0;
}

}  // namespace vinci::isa
