// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>

#include "models/memory/request.h"

namespace vinci::models {

// The hints of regions of device memory; all else is CacheHint::normal.
class CacheHints {
 public:
  // `bytes` from `address`; regions do not overlap.
  void set(u64 address, u64 bytes, CacheHint hint) { regions_[address] = {address + bytes, hint}; }

  CacheHint of(u64 address) const {
    if (regions_.empty()) return CacheHint::normal;
    const auto next = regions_.upper_bound(address);
    if (next == regions_.begin()) return CacheHint::normal;
    const Region& region = std::prev(next)->second;
    return address < region.end ? region.hint : CacheHint::normal;
  }

 private:
  struct Region {
    u64 end;
    CacheHint hint;
  };
  std::map<u64, Region> regions_;  // by their first address
};

}  // namespace vinci::models
