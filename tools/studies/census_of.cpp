// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/census_of.h"

namespace vinci::studies {
namespace {

const std::string& name_of(const Run& run, u32 position) { return run.stream.streams[0].tasks[position].name; }

u64 events_in(const isa::TaskCensus& counted, isa::NumericEvent event) {
  u64 sum = 0;
  for (const auto& [site, events] : counted.sites)
    sum += events.count(event);
  return sum;
}

}  // namespace

u64 events_of(const Run& run, const isa::Census& census, std::string_view task, isa::NumericEvent event) {
  u64 sum = 0;
  for (const auto& [position, counted] : census.tasks)
    if (name_of(run, position) == task) sum += events_in(counted, event);
  return sum;
}

std::string first_task(const Run& run, const isa::Census& census, isa::NumericEvent event) {
  for (const auto& [position, counted] : census.tasks)
    if (events_in(counted, event) > 0) return name_of(run, position);
  return "";
}

}  // namespace vinci::studies
