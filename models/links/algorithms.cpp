// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/links/algorithms.h"

#include <bit>
#include <map>

namespace vinci::models {

using Algorithm = task::Hccl::Algorithm;

namespace {

// Halving and doubling takes a power of two of ranks. Of the first 2 * rest ranks, each even one folds into the odd one
// after it, so that the ranks that take part hold consecutive blocks.
struct Folding {
  explicit Folding(u32 n) : ranks(n), players(std::bit_floor(n)), rest(n - players) {}

  u32 rank(u32 player) const { return player < rest ? 2 * player + 1 : player + rest; }
  u32 first_block(u32 player) const { return player < rest ? 2 * player : player + rest; }

  u32 ranks, players, rest;
};

void halve(const Folding& f, const Blocks& blocks, ScheduleBuilder& out) {
  u32 step = 0;
  for (u32 p = 0; p < f.rest; ++p)
    out.add(blocks.move(step, 2 * p, 2 * p + 1, 0, f.ranks, true));
  for (u32 d = f.players / 2; d > 0; d /= 2) {
    ++step;
    for (u32 p = 0; p < f.players; ++p) {
      const u32 peer = p ^ d, first = peer & ~(d - 1);  // the half of the peer
      out.add(blocks.move(step, f.rank(p), f.rank(peer), f.first_block(first), f.first_block(first + d), true));
    }
  }
}

void double_up(const Folding& f, const Blocks& blocks, ScheduleBuilder& out) {
  u32 step = 0;
  for (u32 d = 1; d < f.players; d *= 2) {
    ++step;
    for (u32 p = 0; p < f.players; ++p) {
      const u32 first = p & ~(d - 1);
      out.add(blocks.move(step, f.rank(p), f.rank(p ^ d), f.first_block(first), f.first_block(first + d), false));
    }
  }
}

void hierarchical_reduce_scatter(const Groups& g, const Blocks& blocks, ScheduleBuilder& out) {
  const auto each_block = [&](u32 distance, auto visit) {  // of the group at a distance, for each group
    for (u32 a = 0; a < g.count(); ++a) {
      for (const u32 block : g.members[(a + distance) % g.count()])
        visit(a, block);
    }
  };
  for (u32 e = 1; e <= g.count(); ++e) {  // blocks of other groups first: they have the longer way
    each_block(e, [&](u32 a, u32 block) {
      const u32 agent = g.agent(a, block);
      for (const u32 r : g.members[a]) {
        if (r != agent) out.add(blocks.move(0, r, agent, block, block + 1, true));
      }
    });
  }
  for (u32 e = 1; e < g.count(); ++e) {
    each_block(e, [&](u32 a, u32 block) { out.add(blocks.move(e, g.agent(a, block), block, block, block + 1, true)); });
  }
}

void hierarchical_all_gather(const Groups& g, const Blocks& blocks, ScheduleBuilder& out) {
  for (u32 e = 1; e < g.count(); ++e) {
    for (u32 a = 0; a < g.count(); ++a) {
      for (const u32 r : g.members[a])
        out.add(blocks.move(e, r, g.agent((a + e) % g.count(), r), r, r + 1, false));
    }
  }
  for (u32 e = 0; e < g.count(); ++e) {  // a group's own blocks, which are there, then those of groups further on
    for (u32 a = 0; a < g.count(); ++a) {
      for (const u32 block : g.members[(a + g.count() - e) % g.count()]) {
        const u32 agent = g.agent(a, block);
        for (const u32 r : g.members[a]) {
          if (r != agent) out.add(blocks.move(g.count() + e, agent, r, block, block + 1, false));
        }
      }
    }
  }
}

}  // namespace

Groups::Groups(const std::vector<u32>& group_of_rank) {
  std::map<u32, u32> index;  // by number of the group, in the order of the ranks
  for (u32 r = 0; r < group_of_rank.size(); ++r) {
    const u32 g = index.try_emplace(group_of_rank[r], static_cast<u32>(index.size())).first->second;
    if (g == members.size()) members.emplace_back();
    group.push_back(g);
    place.push_back(static_cast<u32>(members[g].size()));
    members[g].push_back(r);
  }
}

void reduce_scatter(const CollectiveShape& shape, const Blocks& blocks, ScheduleBuilder& out) {
  const auto n = static_cast<u32>(shape.groups.size());
  switch (shape.algorithm) {
    case Algorithm::ring:
      for (u32 s = 0; s + 1 < n; ++s) {
        for (u32 r = 0; r < n; ++r) {
          const u32 block = (r + 2 * n - s - 1) % n;
          out.add(blocks.move(s, r, (r + 1) % n, block, block + 1, true));
        }
      }
      break;
    case Algorithm::halving_doubling: {
      const Folding f(n);
      halve(f, blocks, out);
      for (u32 p = 0; p < f.rest; ++p)
        out.add(blocks.move(n, 2 * p + 1, 2 * p, 2 * p, 2 * p + 1, false));
      break;
    }
    case Algorithm::hierarchical: hierarchical_reduce_scatter(Groups(shape.groups), blocks, out); break;
    case Algorithm::automatic:
    case Algorithm::mesh:
      for (u32 d = 1; d < n; ++d) {
        for (u32 r = 0; r < n; ++r)
          out.add(blocks.move(0, r, (r + d) % n, (r + d) % n, (r + d) % n + 1, true));
      }
      break;
  }
}

void all_gather(const CollectiveShape& shape, const Blocks& blocks, ScheduleBuilder& out) {
  const auto n = static_cast<u32>(shape.groups.size());
  switch (shape.algorithm) {
    case Algorithm::ring:
      for (u32 s = 0; s + 1 < n; ++s) {
        for (u32 r = 0; r < n; ++r) {
          const u32 block = (r + n - s) % n;
          out.add(blocks.move(s, r, (r + 1) % n, block, block + 1, false));
        }
      }
      break;
    case Algorithm::halving_doubling: {
      const Folding f(n);
      for (u32 p = 0; p < f.rest; ++p)
        out.add(blocks.move(0, 2 * p, 2 * p + 1, 2 * p, 2 * p + 1, false));
      double_up(f, blocks, out);
      for (u32 p = 0; p < f.rest; ++p) {  // all but what the other one has
        out.add(blocks.move(n, 2 * p + 1, 2 * p, 0, 2 * p, false));
        out.add(blocks.move(n, 2 * p + 1, 2 * p, 2 * p + 1, n, false));
      }
      break;
    }
    case Algorithm::hierarchical: hierarchical_all_gather(Groups(shape.groups), blocks, out); break;
    case Algorithm::automatic:
    case Algorithm::mesh:
      for (u32 d = 1; d < n; ++d) {
        for (u32 r = 0; r < n; ++r)
          out.add(blocks.move(0, r, (r + d) % n, r, r + 1, false));
      }
      break;
  }
}

void all_reduce(const CollectiveShape& shape, const Blocks& blocks, ScheduleBuilder& out) {
  if (shape.algorithm != Algorithm::halving_doubling) {
    reduce_scatter(shape, blocks, out);
    all_gather(shape, blocks, out);
    return;
  }
  // Ranks that folded need no block of their own in between.
  const Folding f(static_cast<u32>(shape.groups.size()));
  halve(f, blocks, out);
  double_up(f, blocks, out);
  for (u32 p = 0; p < f.rest; ++p)
    out.add(blocks.move(f.ranks, 2 * p + 1, 2 * p, 0, f.ranks, false));
}

void broadcast(const CollectiveShape& shape, const Blocks& blocks, ScheduleBuilder& out) {
  const auto n = static_cast<u32>(shape.groups.size());
  const auto rank = [&](u32 r) { return (r + shape.root) % n; };  // counted from the root
  const auto all = [&](u32 step, u32 from, u32 to) { out.add(blocks.move(step, from, to, 0, n, false)); };
  switch (shape.algorithm) {
    case Algorithm::ring:
      for (u32 r = 0; r + 1 < n; ++r)
        all(r, rank(r), rank(r + 1));
      break;
    case Algorithm::halving_doubling:
      for (u32 d = 1, step = 0; d < n; d *= 2, ++step) {
        for (u32 r = 0; r < d && r + d < n; ++r)
          all(step, rank(r), rank(r + d));
      }
      break;
    case Algorithm::hierarchical: {
      const Groups g(shape.groups);
      u32 head = shape.root;
      for (u32 e = 0; e < g.count(); ++e) {
        const u32 a = (g.group[shape.root] + e) % g.count();
        if (e > 0) {
          all(e, head, g.members[a].front());
          head = g.members[a].front();
        }
        for (const u32 r : g.members[a]) {
          if (r != head) all(g.count() + e, head, r);
        }
      }
      break;
    }
    case Algorithm::automatic:
    case Algorithm::mesh:
      for (u32 d = 1; d < n; ++d)
        out.add(blocks.move(0, shape.root, rank(d), rank(d), rank(d) + 1, false));
      for (u32 d = 1; d < n; ++d) {
        for (u32 r = 0; r < n; ++r) {
          if ((r + d) % n != shape.root) out.add(blocks.move(1, r, (r + d) % n, r, r + 1, false));
        }
      }
      break;
  }
}

}  // namespace vinci::models
