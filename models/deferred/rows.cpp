// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/deferred/rows.h"

#include "isa/table/insn.h"

namespace vinci::models {

Rows Rows::of(const isa::Access& a) {
  if (a.empty()) return {};
  Rows r{a.address, a.address + a.len, a.len, 0};
  for (usize i = 0; i < a.count.size(); ++i) {
    if (a.count[i] < 2) continue;
    const bool rows = r.end - r.begin == a.len && a.stride[i] > a.len;  // the only dimension
    const i64 reach = static_cast<i64>(a.count[i] - 1) * a.stride[i];
    (reach < 0 ? r.begin : r.end) += static_cast<u64>(reach);
    r.step = rows ? static_cast<u64>(a.stride[i]) : 0;
  }
  return r;
}

bool Rows::meets(const Rows& o) const {
  if (begin >= o.end || o.begin >= end) return false;
  if (step == 0 || step != o.step) return true;
  const u64 offset = (o.begin + step - begin % step) % step;  // of rows of `o` in those of this
  return offset < bytes || offset + o.bytes > step;
}

}  // namespace vinci::models
