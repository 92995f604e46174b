// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <vector>

#include "models/links/links.h"
#include "models/links/schedule.h"

namespace vinci::models {

// One collective under way, from when all ranks are ready. A transfer starts when what it depends on is over; its end
// follows from the links. Who drives it calls back at that cycle. Pure numbers.
class CollectiveInTime {
 public:
  // `devices` by rank; `element`: bytes.
  CollectiveInTime(std::shared_ptr<const Schedule> schedule, std::vector<u32> devices, u64 element, Links& links);

  struct Started {
    u32 transfer = 0;
    u64 end = 0;  // cycle in which to call arrived()
  };
  // What starts as a consequence is appended.
  void begin(u64 now, std::vector<Started>& started);
  void arrived(u64 now, u32 transfer, std::vector<Started>& started);
  // Ranks whose part is over, since the last call.
  std::vector<u32> take_done();

 private:
  void start(u64 now, u32 transfer, std::vector<Started>& started);
  void over(u32 rank);

  std::shared_ptr<const Schedule> schedule_;
  std::vector<u32> devices_;
  u64 element_;
  Links& links_;
  std::vector<u32> waits_;                    // by transfer: how many others it waits for
  std::vector<std::vector<u32>> dependents_;  // by transfer
  std::vector<u64> left_;                     // transfers by rank that are not over
  std::vector<u32> done_;
};

}  // namespace vinci::models
