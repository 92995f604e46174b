// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/memory/l2_tags.h"

#include <algorithm>

namespace vinci::models {

L2Tags::L2Tags(u64 bytes, u64 line_bytes, u32 ways)
    : sets_(std::max<u64>(1, bytes / line_bytes / ways)), ways_(ways), table_(sets_ * ways), stamp_(sets_) {}

L2Tags::Result L2Tags::touch(u64 line, bool write) {
  const u64 set = line % sets_;
  Way* const ways = &table_[set * ways_];
  const u32 stamp = ++stamp_[set];
  Way* victim = ways;
  for (u32 w = 0; w < ways_; ++w) {
    if (ways[w].line == line) {
      ways[w].used = stamp;
      ways[w].dirty |= write;
      return {.hit = true, .ready = &ways[w].ready};
    }
    if (ways[w].used < victim->used) victim = &ways[w];
  }
  Result result;
  if (victim->dirty) result.written_back = victim->line;
  *victim = {.line = line, .ready = 0, .used = stamp, .dirty = write};
  result.ready = &victim->ready;
  return result;
}

}  // namespace vinci::models
