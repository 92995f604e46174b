// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <vector>

#include "isa/shadow/shadow.h"

namespace vinci::isa {

// One execution of an instruction that sorts or merges records: each record of the result is one of the sources, and
// takes its references along. Records that are equal in all bytes keep their order.
class SortedRecords {
 public:
  static bool sorts(const Row& row);

  SortedRecords(const Issued& inst, const ExecContext& context);
  // Before it runs: what the sources hold. `first`: the shadows.
  void take(ShadowPoint* first);
  // When it has run.
  void put(ShadowPoint* first) const;

 private:
  using Bytes = std::vector<std::byte>;
  using Planes = std::array<Bytes, kPlanes>;
  struct Record {
    u64 address;          // of what has the references
    Bytes key;            // as the result has it
    u64 bytes_with_refs;  // from the start of a record
  };

  void add_sources();
  // Neighbours of a result that the references would order otherwise.
  u64 inversions(const RefSpace& ub, u64 begin, u64 bytes) const;

  const Issued& inst_;
  const ExecContext& context_;
  Footprint footprint_;
  LaneType type_;
  u64 record_ = 8;  // bytes
  std::vector<Record> sources_;
  // By shadow: the references of the records, by their bytes, in the order of the sources; empty: there are none.
  std::vector<std::map<Bytes, std::vector<Planes>>> taken_;
};

}  // namespace vinci::isa
