// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/links/collective_in_time.h"

#include <utility>

namespace vinci::models {

CollectiveInTime::CollectiveInTime(std::shared_ptr<const Schedule> schedule, std::vector<u32> devices, u64 element,
                                   Links& links)
    : schedule_(std::move(schedule)),
      devices_(std::move(devices)),
      element_(element),
      links_(links),
      dependents_(schedule_->transfers.size()),
      left_(schedule_->ranks) {
  for (u32 id = 0; id < schedule_->transfers.size(); ++id) {
    const Schedule::Transfer& t = schedule_->transfers[id];
    waits_.push_back(static_cast<u32>(t.depends.size()));
    for (const u32 d : t.depends)
      dependents_[d].push_back(id);
    ++left_[t.from];
    if (t.from != t.to) ++left_[t.to];
  }
}

void CollectiveInTime::start(u64 now, u32 transfer, std::vector<Started>& started) {
  const Schedule::Transfer& t = schedule_->transfers[transfer];
  started.push_back({transfer, links_.transfer(now, devices_[t.from], devices_[t.to], t.count * element_).end});
}

void CollectiveInTime::begin(u64 now, std::vector<Started>& started) {
  for (u32 r = 0; r < schedule_->ranks; ++r) {
    if (left_[r] == 0) done_.push_back(r);
  }
  for (u32 id = 0; id < waits_.size(); ++id) {
    if (waits_[id] == 0) start(now, id, started);
  }
}

void CollectiveInTime::over(u32 rank) {
  if (--left_[rank] == 0) done_.push_back(rank);
}

void CollectiveInTime::arrived(u64 now, u32 transfer, std::vector<Started>& started) {
  for (const u32 id : dependents_[transfer]) {
    if (--waits_[id] == 0) start(now, id, started);
  }
  const Schedule::Transfer& t = schedule_->transfers[transfer];
  over(t.from);
  if (t.from != t.to) over(t.to);
}

std::vector<u32> CollectiveInTime::take_done() { return std::exchange(done_, {}); }

}  // namespace vinci::models
