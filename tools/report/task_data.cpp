// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/report/task_data.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace vinci::report {
namespace {

std::string cut(const std::string& name) {
  if (name.size() <= kNameBytes) return name;
  usize end = kNameBytes;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80)  // not inside a character
    --end;
  return name.substr(0, end) + "...";
}

// Numbers strings in the order in which they come.
class Names {
 public:
  usize index(const std::string& name) {
    const auto [it, fresh] = indices_.try_emplace(name, list_.size());
    if (fresh) list_.push_back(cut(name));
    return it->second;
  }
  Json take() { return std::move(list_); }

 private:
  std::unordered_map<std::string, usize> indices_;
  Json list_ = Json::array();
};

bool does_work(const std::string& kind) {
  constexpr std::array kWork{"KERNEL_", "MEMCPY_", "MEMSET_", "NPU_", "REDUCE_", "HCCL"};
  return std::ranges::any_of(kWork, [&](const char* prefix) { return kind.starts_with(prefix); });
}

}  // namespace

u64 warm_duration(const Json& task) {
  const u64 all = task.at("end").get<u64>() - task.at("start").get<u64>();
  return all - std::min(all, task.value("cold", u64{0}));
}

Json task_columns(const Json& stats) {
  const Json& tasks = stats.at("tasks");
  const usize shown = std::min(tasks.size(), kTasksShown);
  constexpr std::array kNumbers{"enqueued", "start", "end", "blocks", "bytes"};
  Names names, kinds, streams;
  Json out = {{"total", stats.at("task_count")}, {"shown", shown}};
  std::map<std::string, Json> columns;
  for (const char* key : {"name", "kind", "stream", "enqueued", "start", "end", "blocks", "bytes"})
    columns[key] = Json::array();
  for (usize i = 0; i < shown; ++i) {
    const Json& t = tasks[i];
    columns["name"].push_back(names.index(t.at("name")));
    columns["kind"].push_back(kinds.index(t.at("type")));
    columns["stream"].push_back(streams.index(t.at("stream")));
    for (const char* key : kNumbers)
      columns[key].push_back(t.at(key));
  }
  out["names"] = names.take();
  out["kinds"] = kinds.take();
  out["streams"] = streams.take();
  for (auto& [key, column] : columns)
    out[key] = std::move(column);
  return out;
}

Json operators(const Json& stats) {
  struct Sums {
    u64 count = 0, total = 0, shortest = ~u64{0}, longest = 0, bytes = 0;
  };
  std::map<std::pair<std::string, std::string>, Sums> sums;
  for (const Json& t : stats.at("tasks")) {
    Sums& s = sums[{t.at("name"), t.at("type")}];
    const u64 duration = warm_duration(t);
    ++s.count;
    s.total += duration;
    s.shortest = std::min(s.shortest, duration);
    s.longest = std::max(s.longest, duration);
    s.bytes += t.at("bytes").get<u64>();
  }
  std::vector<std::pair<const std::pair<std::string, std::string>*, const Sums*>> order;
  for (const auto& [key, s] : sums)
    order.emplace_back(&key, &s);
  std::ranges::stable_sort(order, std::greater<>(), [](const auto& row) { return row.second->total; });
  Json rows = Json::array();
  for (usize i = 0; i < std::min(order.size(), kOperatorsShown); ++i) {
    const auto& [key, s] = order[i];
    rows.push_back({{"name", cut(key->first)},
                    {"kind", key->second},
                    {"count", s->count},
                    {"total", s->total},
                    {"shortest", s->shortest},
                    {"longest", s->longest},
                    {"bytes", s->bytes}});
  }
  return {{"total", order.size()}, {"rows", std::move(rows)}};
}

Json task_cycles(const Json& stats) {
  const Json& tasks = stats.at("tasks");
  if (stats.at("task_count") > tasks.size()) return nullptr;
  std::vector<std::pair<u64, u64>> spans;
  for (const Json& t : tasks) {
    if (does_work(t.at("type"))) spans.emplace_back(t.at("start"), t.at("end"));
  }
  std::ranges::sort(spans);
  u64 sum = 0, covered = 0;
  for (const auto& [begin, end] : spans) {
    if (end <= covered) continue;
    sum += end - std::max(begin, covered);
    covered = end;
  }
  return sum;
}

}  // namespace vinci::report
