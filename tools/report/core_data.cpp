// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/report/core_data.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>

#include "isa/arch.h"

namespace vinci::report {
namespace {

constexpr std::array kDoing{"busy", "stall_wait_flag", "stall_barrier", "stall_queue_full", "stall_drain"};

// A core among the counters: "core0.AIC", of a device.
struct CoreCounters {
  std::string name;  // "core0.AIC", with several devices "npu0.core0.AIC"
  std::string kind;  // "AIC"
  const Json* counters;
};

bool had_work(const Json& core) {
  for (const Json& pipe : core) {
    if (pipe.is_object() && pipe.at("busy") > 0) return true;
  }
  return false;
}

void collect(const Json& counters, const std::string& prefix, std::vector<CoreCounters>& out) {
  for (const auto& [name, group] : counters.items()) {
    if (name.starts_with("core") && had_work(group)) {
      out.push_back({prefix + name, name.substr(name.find('.') + 1), &group});
    } else if (name.starts_with("npu")) {
      collect(group, name + ".", out);
    }
  }
}

std::vector<CoreCounters> working_cores(const Json& stats) {
  std::vector<CoreCounters> out;
  collect(stats.at("counters"), "", out);
  return out;
}

usize pipe_order(const std::string& pipe) {
  usize p = 0;
  while (p < isa::kPipeCount && isa::name(static_cast<isa::PipeId>(p)) != pipe)
    ++p;
  return p;
}

// By kind of core and pipe, in the order of PipeId.
using PipeKey = std::tuple<std::string, usize, std::string>;

template <class Visit>
void for_each_pipe(const std::vector<CoreCounters>& cores, Visit visit) {
  for (const CoreCounters& core : cores) {
    for (const auto& [pipe, counters] : core.counters->items()) {
      if (counters.is_object()) visit(PipeKey{core.kind, pipe_order(pipe), pipe}, counters);
    }
  }
}

}  // namespace

std::vector<const Json*> devices(const Json& counters) {
  std::vector<const Json*> out;
  for (const auto& [name, group] : counters.items()) {
    if (name.starts_with("npu")) out.push_back(&group);
  }
  if (out.empty()) out.push_back(&counters);
  return out;
}

Json pipes(const Json& stats, u64 kernel_cycles) {
  struct Sum {
    u64 cores = 0;
    std::array<u64, kDoing.size()> cycles{};
  };
  std::map<PipeKey, Sum> sums;
  for_each_pipe(working_cores(stats), [&](const PipeKey& key, const Json& counters) {
    Sum& s = sums[key];
    ++s.cores;
    for (usize i = 0; i < kDoing.size(); ++i)
      s.cycles[i] += counters.at(kDoing[i]).get<u64>();
  });
  Json rows = Json::array();
  for (const auto& [key, s] : sums) {
    const u64 whole = kernel_cycles * s.cores;
    u64 accounted = 0;
    Json row = {{"pipe", std::get<0>(key) + "." + std::get<2>(key)}, {"cores", s.cores}, {"whole", whole}};
    for (usize i = 0; i < kDoing.size(); ++i) {
      const std::string_view name = kDoing[i];
      row[std::string(name.starts_with("stall_") ? name.substr(6) : name)] = s.cycles[i];
      accounted += s.cycles[i];
    }
    row["idle"] = whole - std::min(whole, accounted);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json cores(const Json& stats) {
  const std::vector<CoreCounters> all = working_cores(stats);
  const usize shown = std::min(all.size(), kCoresShown);
  Json names = Json::array(), blocks = Json::array(), rows = Json::array();
  for (usize i = 0; i < shown; ++i) {
    names.push_back(all[i].name);
    blocks.push_back(all[i].counters->at("blocks"));
  }
  for (usize p = 0; p < isa::kPipeCount; ++p) {
    const std::string pipe(isa::name(static_cast<isa::PipeId>(p)));
    Json busy = Json::array();
    bool any = false;
    for (usize i = 0; i < shown; ++i) {
      const Json& core = *all[i].counters;
      const auto counters = core.find(pipe);
      any = any || counters != core.end();
      busy.push_back(counters == core.end() ? Json() : counters->at("busy"));  // null: the core has no such pipe
    }
    if (any) rows.push_back({{"pipe", pipe}, {"busy", std::move(busy)}});
  }
  return {
      {"total", all.size()}, {"names", std::move(names)}, {"blocks", std::move(blocks)}, {"pipes", std::move(rows)}};
}

Json pipe_traffic(const Json& stats) {
  struct Sum {
    u64 read = 0, written = 0;
  };
  std::map<PipeKey, Sum> sums;
  for_each_pipe(working_cores(stats), [&](const PipeKey& key, const Json& counters) {
    if (!counters.contains("read_bytes")) return;  // the scalar unit
    Sum& s = sums[key];
    s.read += counters.at("read_bytes").get<u64>();
    s.written += counters.at("write_bytes").get<u64>();
  });
  Json rows = Json::array();
  for (const auto& [key, s] : sums) {
    if (s.read + s.written == 0) continue;
    rows.push_back({{"level", std::get<0>(key) + "." + std::get<2>(key)}, {"read", s.read}, {"written", s.written}});
  }
  return rows;
}

}  // namespace vinci::report
