// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <vector>

#include "isa/base/types.h"

namespace vinci::models {

// Which lines the L2 holds: set associative, least recently used, write-back, allocate on read and write.
class L2Tags {
 public:
  L2Tags(u64 bytes, u64 line_bytes, u32 ways);

  struct Result {
    bool hit = false;
    std::optional<u64> written_back = std::nullopt;  // line number of a dirty victim
    u64* ready = nullptr;  // when the line's data are there; the caller sets it where it fetches the line
  };
  Result touch(u64 line, bool write);

 private:
  struct Way {
    u64 line = ~u64{0};
    u64 ready = 0;  // when its data have arrived, in the caller's time
    u32 used = 0;   // stamp of the last use within the set
    bool dirty = false;
  };
  u64 sets_;
  u32 ways_;
  std::vector<Way> table_;
  std::vector<u32> stamp_;  // per set
};

}  // namespace vinci::models
