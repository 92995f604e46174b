// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/links/schedule.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "models/links/algorithms.h"
#include "sim/task/reduce.h"

namespace vinci::models {

using Op = task::Hccl::Op;
using Algorithm = task::Hccl::Algorithm;

Schedule schedule(const CollectiveShape& shape) {
  const auto n = static_cast<u32>(shape.groups.size());
  const u64 count = shape.count;
  const bool whole = shape.op == Op::all_reduce || shape.op == Op::broadcast;  // `count` is all there is
  const u64 all = whole ? count : count * n;

  Blocks blocks;
  for (u64 b = 0; b <= n; ++b)
    blocks.at.push_back(whole ? count / n * b + count % n * b / n : count * b);

  const u64 work = shape.op == Op::all_to_all ? all_to_all_work(shape) : all;
  ScheduleBuilder out(n, work, shape.piece);
  for (u32 r = 0; r < n; ++r) {
    Schedule::Range &in = out.schedule().input[r], &result = out.schedule().output[r];
    in = result = {0, all};
    switch (shape.op) {
      case Op::all_reduce: break;
      case Op::all_gather: in = {count * r, count}; break;
      case Op::reduce_scatter: result = {count * r, count}; break;
      case Op::broadcast: in.count = r == shape.root ? count : 0; break;
      case Op::all_to_all: result = {all, all}; break;
    }
  }
  switch (shape.op) {
    case Op::all_reduce: all_reduce(shape, blocks, out); break;
    case Op::all_gather: all_gather(shape, blocks, out); break;
    case Op::reduce_scatter: reduce_scatter(shape, blocks, out); break;
    case Op::broadcast: broadcast(shape, blocks, out); break;
    case Op::all_to_all: all_to_all(shape, out); break;
  }
  return out.take();
}

Algorithm choose_algorithm(Op op, const std::vector<u32>& groups, u64 bytes) {
  const std::set<u32> distinct(groups.begin(), groups.end());
  if (distinct.size() <= 1) return Algorithm::mesh;
  if (distinct.size() < groups.size()) return Algorithm::hierarchical;
  return op != Op::all_to_all && bytes <= kSmallCollective ? Algorithm::halving_doubling : Algorithm::ring;
}

void carry_out(const Schedule& schedule, task::Hccl::Reduce reduce, task::ElementType type,
               std::vector<std::vector<std::byte>>& work, isa::CensusPoint* census, TransferObserver* observer) {
  const u64 element = task::element_bytes(type);
  for (const Schedule::Transfer& t : schedule.transfers) {
    const auto src = std::span<const std::byte>(work[t.from]).subspan(t.src * element, t.count * element);
    const auto dst = std::span(work[t.to]).subspan(t.dst * element, t.count * element);
    if (observer != nullptr) observer->before(t);
    if (t.reduce) {
      std::optional<isa::ReductionCensus> counted;
      if (census != nullptr) counted.emplace(isa::ReductionCensus{*census, t.dst});
      task::reduce(reduce, type, dst, src, counted ? &*counted : nullptr);
    } else {
      std::ranges::copy(src, dst.begin());
    }
    if (observer != nullptr) observer->after(t);
  }
}

}  // namespace vinci::models
