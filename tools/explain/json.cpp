// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <nlohmann/json.hpp>

#include "tools/explain/explain.h"

namespace vinci::explain {
namespace {

using Json = nlohmann::ordered_json;

Json by_kind(const Cycles& cycles) {
  Json out = Json::object();
  for (usize i = 0; i < cycles.size(); ++i)
    if (cycles[i] > 0) out[std::string(models::kCostKindNames[i])] = cycles[i];
  return out;
}

Json limits_json(const KernelExplanation& k) {
  Json out = Json::array();
  for (const Limit& l : k.limits) {
    Json entry = {{"kind", name(l.kind)},
                  {"meaning", models::kCostKindDocs[static_cast<usize>(l.kind)]},
                  {"cycles", l.cycles},
                  {"share", static_cast<double>(l.cycles) / static_cast<double>(std::max<u64>(1, k.slowest))}};
    entry["without"] = l.without ? Json(*l.without) : Json(nullptr);
    out.push_back(std::move(entry));
  }
  return out;
}

Json lines_json(const KernelExplanation& k) {
  Json out = Json::array();
  for (const LineCost& l : k.lines)
    out.push_back({{"at", l.place}, {"instruction", l.what}, {"cycles", l.cycles}, {"kind", name(l.kind)}});
  return out;
}

Json handovers_json(const KernelExplanation& k) {
  Json out = Json::array();
  for (const Handover& h : k.handovers) {
    out.push_back({{"why", models::kWhyNames[static_cast<usize>(h.why)]},
                   {"from", isa::name(h.from)},
                   {"to", isa::name(h.to)},
                   {"count", h.count},
                   {"waited", h.waited}});
  }
  return out;
}

Json advice_json(const KernelExplanation& k) {
  Json out = Json::array();
  for (const Advice& a : k.advice)
    out.push_back({{"rule", a.rule},
                   {"share", a.share},
                   {"gain", a.gain ? Json(*a.gain) : Json(nullptr)},
                   {"found", a.found},
                   {"todo", a.todo}});
  return out;
}

Json chain_json(const KernelExplanation& k) {
  Json out = Json::array();
  for (const ChainStep& s : k.chain) {
    out.push_back({{"begin", s.begin},
                   {"end", s.end},
                   {"kind", name(s.kind)},
                   {"core", s.core},
                   {"instruction", s.what},
                   {"at", s.place}});
  }
  return out;
}

Json kernel_json(const KernelExplanation& k, double hertz) {
  Json out = {{"name", k.name},
              {"launches", k.launches},
              {"cycles", k.cycles},
              {"by_kind", by_kind(k.by_kind)},
              {"slowest", {{"stream", k.stream}, {"task", k.task}, {"start", k.start}, {"cycles", k.slowest}}},
              {"warm_cycles", k.slowest - k.cold},
              {"cold_cycles", k.cold},
              {"blocks", k.blocks},
              {"slots", k.slots},
              {"complete", k.complete},
              {"limited_by", limit_sentence(k, hertz)},
              {"path", limits_json(k)}};
  out["lines"] = lines_json(k);
  out["handovers"] = handovers_json(k);
  out["advice"] = advice_json(k);
  out["chain_steps"] = k.chain_steps;
  out["chain"] = chain_json(k);
  return out;
}

}  // namespace

std::string to_json(const Explanation& e, double hertz) {
  Json out = {{"clock_hz", hertz}, {"dropped", e.dropped}};
  out["kernels"] = Json::array();
  for (const KernelExplanation& k : e.kernels)
    out["kernels"].push_back(kernel_json(k, hertz));
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vinci::explain
