// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <vector>

#include "models/links/topology.h"
#include "sim/task/task.h"

namespace vinci::isa {
class CensusPoint;  // isa/census/census.h
}

namespace vinci::models {

// A collective as plain data: what each rank sends to whom, and in which order the sums are made. Each rank has `work`
// elements of its own; its input is placed there before, its output is found there after.
//
// The transfers, carried out one after the other, are what the collective means; so the bits never depend on time. In
// time, a transfer has to wait for those in `depends` only. Reductions into the same elements do not wait for each
// other: SDMA adds what arrives, and we fix the order of the additions to be that of the list.
struct Schedule {
  struct Range {
    u64 begin = 0, count = 0;  // elements
  };
  struct Transfer {
    u32 step = 0;                   // round of the algorithm
    u32 from = 0, to = 0;           // ranks; the same: a copy within the rank
    bool reduce = false;            // dst = dst op src, else dst = src
    u64 src = 0, dst = 0;           // elements from the begin of the work of `from` and of `to`
    u64 count = 0;                  // elements
    std::vector<u32> depends = {};  // positions of transfers that must be over, in ascending order
  };
  u32 ranks = 0;
  u64 work = 0;                      // elements of each rank
  std::vector<Range> input, output;  // by rank
  std::vector<Transfer> transfers;
};

struct CollectiveShape {
  task::Hccl::Op op = task::Hccl::Op::all_reduce;
  task::Hccl::Algorithm algorithm = task::Hccl::Algorithm::ring;  // not automatic
  std::vector<u32> groups = {};  // by rank: ranks with the same number are near each other (Topology::group)
  u64 count = 0;                 // as in task::Hccl
  u32 root = 0;                  // rank
  u64 piece = 0;                 // elements; longer transfers go in pieces of this size, 0: in one
};

// A transfer never has more pieces than this; they are larger then.
inline constexpr u64 kMaxPieces = 64;

// The algorithms, for any number of ranks; docs/links.md has the times.
//   ring              blocks travel around the ring of ranks; a broadcast is a chain. all_to_all: one peer after the
//                     other, the next rank first.
//   mesh              every rank sends to every other one directly, all at once. A broadcast deals out blocks first.
//   halving_doubling  exchanges at distances that halve, then double; ranks beyond a power of two fold into their
//                     neighbour before. broadcast: a binomial tree. all_to_all: in log2(n) rounds (Bruck).
//   hierarchical      reduces inside groups, exchanges between groups among ranks of the same place, then spreads
//                     inside; a broadcast is a chain of one rank of each group, which sends to its group.
// all_reduce is always reduce_scatter of n blocks, then all_gather.
Schedule schedule(const CollectiveShape& shape);

// The algorithm that `automatic` selects; `groups` has the group of each rank. The first row that applies:
//   all ranks are in one group              mesh
//   a group has more than one rank          hierarchical
//   all_to_all                              ring
//   at most kSmallCollective bytes          halving_doubling
//   else                                    ring
// HCCL selects by other rules, which are not all public.
inline constexpr u64 kSmallCollective = 256 * 1024;
task::Hccl::Algorithm choose_algorithm(task::Hccl::Op op, const std::vector<u32>& groups, u64 bytes);

// Who is told of each transfer of a schedule, before its bytes move and when they have.
class TransferObserver {
 public:
  virtual ~TransferObserver() = default;
  virtual void before(const Schedule::Transfer& transfer) = 0;
  virtual void after(const Schedule::Transfer& transfer) = 0;
};

// Carries a schedule out at once. `work`: by rank, Schedule::work elements, with the inputs in their places.
void carry_out(const Schedule& schedule, task::Hccl::Reduce reduce, task::ElementType type,
               std::vector<std::vector<std::byte>>& work, isa::CensusPoint* census = nullptr,
               TransferObserver* observer = nullptr);

}  // namespace vinci::models
