// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/scalar.h"

#include <bit>
#include <cstring>

#include "isa/mem/view.h"

// The bytes of a scalar register are those of the little-endian core; a big-endian host would need a swap here.
static_assert(std::endian::native == std::endian::little);

namespace vinci::isa::insn {

// Digit by digit in base 2: exact, without a floating-point unit.
u64 alu::sqrt(u64 a) {
  if (s(a) < 0) fail_issue(FaultId::illegal_operand, "ccu_neg_sqrt: root of {}", s(a));
  u64 root = 0;
  for (u64 bit = u64{1} << 62; bit != 0; bit >>= 2) {
    const bool fits = a >= root + bit;
    if (fits) a -= root + bit;
    root = root / 2 + (fits ? bit : 0);
  }
  return root;
}

u64 scalar_load(BufId buffer, u64 address, u8 type, ScalarContext& c) {
  if (c.mem == nullptr) {
    c.loaded_unknown = true;
    return 0;
  }
  u64 value = 0;
  const u32 bytes = scalar_bytes(type);
  if (buffer == BufId::GM) {
    c.mem->gm().read(address, std::as_writable_bytes(std::span(&value, 1)).first(bytes));
  } else {
    std::memcpy(&value, (*c.mem)[buffer].bytes(address, bytes).data(), bytes);
  }
  return value;
}

void scalar_store(BufId buffer, u64 address, u8 type, u64 value, ScalarContext& c) {
  if (c.mem == nullptr) return;
  const u32 bytes = scalar_bytes(type);
  if (buffer == BufId::GM) {
    c.mem->gm().write(address, std::as_bytes(std::span(&value, 1)).first(bytes));
  } else {
    std::memcpy((*c.mem)[buffer].bytes(address, bytes).data(), &value, bytes);
  }
}

}  // namespace vinci::isa::insn
