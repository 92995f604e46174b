// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/profile/op_statistic.h"

#include <algorithm>
#include <vector>

#include "sim/io/text_file.h"

namespace vinci::profile {

void OpStatistic::task(const models::TaskRecord& r) {
  if (!is_operator(r)) return;
  const u64 duration = target_.duration(r);
  Sum& s = sums_[{r.device, target_.op_type(r), task_type(r)}];
  ++s.count;
  s.total += duration;
  s.min = std::min(s.min, duration);
  s.max = std::max(s.max, duration);
}

void OpStatistic::commit() {
  std::map<u32, u64> whole;
  for (const auto& [key, sum] : sums_)
    whole[std::get<0>(key)] += sum.total;
  std::vector<std::pair<Key, Sum>> rows(sums_.begin(), sums_.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
    return std::pair(std::get<0>(a.first), b.second.total) < std::pair(std::get<0>(b.first), a.second.total);
  });
  io::TextFile file(path_);
  file.print("Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n");
  for (const auto& [key, sum] : rows) {
    const auto& [device, type, core] = key;
    const u64 all = whole[device];
    file.print("{},{},{},{},{},{},{},{},{}\n", device, io::csv_field(type), core, sum.count, microseconds(sum.total),
               microseconds(sum.min), microseconds(sum.total / sum.count), microseconds(sum.max),
               decimal(all == 0 ? 0.0 : 100 * static_cast<double>(sum.total) / static_cast<double>(all)));
  }
  file.commit();
}

}  // namespace vinci::profile
