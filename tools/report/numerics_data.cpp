// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/report/numerics_data.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "isa/census/census.h"

namespace vinci::report {
namespace {

u64 all_events(const Json& site) {
  u64 sum = 0;
  for (const std::string_view event : isa::kNumericEventNames)
    sum += site.at(std::string(event)).get<u64>();
  return sum;
}

// Earlier in the run: by the task that computes first, then block, then program order.
auto moment(const Json& site, const std::string& event) {
  const Json& first = site.at("first").at(event);
  return std::tuple(site.at("sequence").get<u64>(), first.at("block").get<u64>(), first.at("order").get<u64>());
}

Json event_row(const std::string& event, const Json& sites, u64 results) {
  u64 count = 0;
  const Json* first = nullptr;
  for (const Json& s : sites) {
    const u64 n = s.at(event);
    count += n;
    if (n > 0 && (first == nullptr || moment(s, event) < moment(*first, event))) first = &s;
  }
  Json row = {{"event", event},
              {"count", count},
              {"share", results == 0 ? 0 : static_cast<double>(count) / static_cast<double>(results)}};
  if (first == nullptr) return row;
  row["first"] = {{"task", first->at("task")},
                  {"instruction", first->at("instruction")},
                  {"place", first->at("place")},
                  {"occurrence", first->at("first").at(event)}};
  return row;
}

}  // namespace

Json numerics_data(const Json& numerics) {
  const Json& sites = numerics.at("sites");
  u64 results = 0;
  std::vector<const Json*> eventful;
  for (const Json& s : sites) {
    results += s.at("results").get<u64>();
    if (all_events(s) > 0) eventful.push_back(&s);
  }
  std::ranges::stable_sort(eventful, std::greater<>(), [](const Json* s) { return all_events(*s); });
  Json events = Json::array(), rows = Json::array();
  for (const std::string_view event : isa::kNumericEventNames)
    events.push_back(event_row(std::string(event), sites, results));
  for (usize i = 0; i < std::min(eventful.size(), kSitesShown); ++i) {
    Json row = *eventful[i];
    row.erase("first");
    rows.push_back(std::move(row));
  }
  return {{"results", results},          {"overflow_mode", numerics.at("overflow_mode")},
          {"sites_total", sites.size()}, {"sites_eventful", eventful.size()},
          {"events", std::move(events)}, {"sites", std::move(rows)}};
}

}  // namespace vinci::report
