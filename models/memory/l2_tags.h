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
    std::optional<u64> written_back;  // line number of a dirty victim
  };
  Result touch(u64 line, bool write);

 private:
  struct Way {
    u64 line = ~u64{0};
    u32 used = 0;  // stamp of the last use within the set
    bool dirty = false;
  };
  u64 sets_;
  u32 ways_;
  std::vector<Way> table_;
  std::vector<u32> stamp_;  // per set
};

}  // namespace vinci::models
