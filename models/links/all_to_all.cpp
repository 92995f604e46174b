// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <bit>

#include "models/links/algorithms.h"

namespace vinci::models {

using Algorithm = task::Hccl::Algorithm;

namespace {

// Where blocks are in the work of a rank: n to send, n received, then rows of n blocks on their way.
struct Places {
  explicit Places(const CollectiveShape& shape) : n(static_cast<u32>(shape.groups.size())), count(shape.count) {}

  u64 send(u32 to) const { return count * to; }
  u64 receive(u32 from) const { return count * (n + from); }
  u64 transit(u64 row, u32 slot) const { return count * ((2 + row) * n + slot); }
  ScheduleBuilder::Move move(u32 step, u32 from, u32 to, u64 src, u64 dst) const {
    return {.step = step, .from = from, .to = to, .src = src, .dst = dst, .count = count};
  }

  u32 n;
  u64 count;
};

// One peer after the other: a rank turns to the next when it has sent and received.
void pairwise(const Places& at, ScheduleBuilder& out) {
  std::vector<std::vector<u32>> before(at.n);
  for (u32 d = 1; d < at.n; ++d) {
    std::vector<std::vector<u32>> now(at.n);
    for (u32 r = 0; r < at.n; ++r) {
      const u32 to = (r + d) % at.n;
      std::vector<u32> after = before[r];
      after.insert(after.end(), before[to].begin(), before[to].end());
      const std::vector<u32> pieces = out.add(at.move(d - 1, r, to, at.send(to), at.receive(r)), after);
      now[r].insert(now[r].end(), pieces.begin(), pieces.end());
      now[to].insert(now[to].end(), pieces.begin(), pieces.end());
    }
    before = std::move(now);
  }
}

// In round k, blocks whose way has bit k set go 2^k ranks on. A block on its way is in the slot of its distance, in
// two rows by turns, so that nothing is overwritten that its owner has yet to send.
void bruck(const Places& at, ScheduleBuilder& out) {
  for (u32 bit = 1, step = 0; bit < at.n; bit *= 2, ++step) {
    for (u32 r = 0; r < at.n; ++r) {
      for (u32 distance = 1; distance < at.n; ++distance) {
        if ((distance & bit) == 0) continue;
        const u32 gone = distance & (bit - 1);  // by the rounds before
        const u32 origin = (r + at.n - gone) % at.n;
        const auto hop = static_cast<u32>(std::popcount(gone));
        const u64 src = hop == 0 ? at.send((r + distance) % at.n) : at.transit((hop - 1) % 2, distance);
        const u64 dst = gone + bit == distance ? at.receive(origin) : at.transit(hop % 2, distance);
        out.add(at.move(step, r, (r + bit) % at.n, src, dst));
      }
    }
  }
}

// Blocks for another group go by way of the rank of the sender's group that has the place of the receiver.
void by_groups(const Places& at, const Groups& g, ScheduleBuilder& out) {
  for (u32 e = 1; e <= g.count(); ++e) {
    for (u32 r = 0; r < at.n; ++r) {
      for (const u32 to : g.members[(g.group[r] + e) % g.count()]) {
        if (to == r) continue;
        const u32 agent = g.group[to] == g.group[r] ? to : g.agent(g.group[r], to);
        if (agent == r || agent == to) {
          out.add(at.move(e, r, to, at.send(to), at.receive(r)));
        } else {
          out.add(at.move(0, r, agent, at.send(to), at.transit(g.place[r], to)));
          out.add(at.move(e, agent, to, at.transit(g.place[r], to), at.receive(r)));
        }
      }
    }
  }
}

}  // namespace

u64 all_to_all_work(const CollectiveShape& shape) {
  const u64 row = shape.count * shape.groups.size();
  switch (shape.algorithm) {
    case Algorithm::halving_doubling: return 4 * row;
    case Algorithm::hierarchical: {
      usize rows = 0;
      for (const auto& members : Groups(shape.groups).members)
        rows = std::max(rows, members.size());
      return (2 + rows) * row;
    }
    default: return 2 * row;
  }
}

void all_to_all(const CollectiveShape& shape, ScheduleBuilder& out) {
  const Places at(shape);
  for (u32 r = 0; r < at.n; ++r)
    out.add(at.move(0, r, r, at.send(r), at.receive(r)));
  switch (shape.algorithm) {
    case Algorithm::ring: return pairwise(at, out);
    case Algorithm::halving_doubling: return bruck(at, out);
    case Algorithm::hierarchical: return by_groups(at, Groups(shape.groups), out);
    case Algorithm::automatic:
    case Algorithm::mesh:
      for (u32 d = 1; d < at.n; ++d) {
        for (u32 r = 0; r < at.n; ++r)
          out.add(at.move(0, r, (r + d) % at.n, at.send((r + d) % at.n), at.receive(r)));
      }
  }
}

}  // namespace vinci::models
