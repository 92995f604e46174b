// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <queue>
#include <tuple>
#include <vector>

#include "models/links/collective_in_time.h"

namespace vinci::test {

// Drives a collective that begins at `start`; ranks are devices. Returns when each rank is done.
inline std::vector<u64> run(const models::CollectiveShape& shape, models::Links& links, u64 element, u64 start = 0) {
  const auto n = static_cast<u32>(shape.groups.size());
  std::vector<u32> devices(n);
  std::iota(devices.begin(), devices.end(), 0);
  models::CollectiveInTime c(std::make_shared<const models::Schedule>(models::schedule(shape)), devices, element,
                             links);
  using Entry = std::tuple<u64, u64, u32>;  // cycle, order, transfer
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> agenda;
  u64 order = 0;
  std::vector<u64> done(n, ~u64{0});
  std::vector<models::CollectiveInTime::Started> started;
  const auto note = [&](u64 now) {
    for (const auto& s : started)
      agenda.push({s.end, order++, s.transfer});
    started.clear();
    for (const u32 r : c.take_done()) {
      EXPECT_EQ(done[r], ~u64{0}) << "rank " << r << " is done twice";
      done[r] = now;
    }
  };
  c.begin(start, started);
  note(start);
  while (!agenda.empty()) {
    const auto [now, _, id] = agenda.top();
    agenda.pop();
    c.arrived(now, id, started);
    note(now);
  }
  return done;
}

}  // namespace vinci::test
