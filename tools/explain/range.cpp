// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/explain/range.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "isa/insns/system.h"
#include "isa/table/codec.h"
#include "tools/explain/simulate.h"
#include "tools/processes/processes.h"

namespace vinci::explain {
namespace {

using Json = nlohmann::ordered_json;
using isa::insn::Nop;

constexpr std::string_view kApi = "core.scalar.api", kCode = "core.scalar.code";

bool is_nop(const isa::Inst& inst) { return inst.row->opcode == Nop::opcode && !inst.operands[0].is_reg; }

// Multiplies the scalar code of recordings: nop has its cycles, and how many of them are the program's own. One whose
// cycles change from turn to turn of a loop stays as it is.
void scale_scalar_code(task::TaskStream& stream, double api, double own) {
  for (task::Kernel& kernel : stream.kernels) {
    std::set<u32> strided;
    for (const isa::Stride& s : kernel.program.strides)
      strided.insert(s.inst);
    for (u32 i = 0; i < kernel.program.code.size(); ++i) {
      isa::Inst inst = isa::decode(kernel.program.code[i]);
      if (!is_nop(inst) || strided.contains(i)) continue;
      u64 &cycles = inst.operands[0].value, &counted = inst.operands[1].value;
      const u64 of_own = std::min(counted, cycles);
      counted = static_cast<u64>(std::llround(static_cast<double>(of_own) * own));
      cycles = std::max<u64>(1, counted + static_cast<u64>(std::llround(static_cast<double>(cycles - of_own) * api)));
      kernel.program.code[i] = isa::encode(inst);
    }
  }
}

// What a task stream uses of a chip, as far as it can be told without running it.
struct Uses {
  std::set<std::string> lines;  // keys of cost lines
  bool nop = false, aicpu = false;
};

Uses uses_of(const config::ChipConfig& chip, const task::TaskStream& stream) {
  Uses out;
  std::set<const config::CostLine*> lines;
  for (const task::Kernel& kernel : stream.kernels) {
    for (const isa::Word& word : kernel.program.code) {
      const isa::Inst inst = isa::decode(word);
      const std::string_view type = inst.row->types.empty() ? std::string_view() : inst.row->types[inst.type].name;
      lines.insert(&config::cost_line(chip.core, inst.row->cost, inst.row->name, type));
      out.nop |= is_nop(inst);
    }
  }
  for (const config::CostLine* line : lines)
    out.lines.insert(config::path_of(chip, *line));
  for (const task::Stream& s : stream.streams)
    for (const task::Task& t : s.tasks)
      out.aicpu |= task::kOpNames[t.op.index()].find("aicpu") != std::string_view::npos;
  return out;
}

// Whether a cost can matter. Lines of copies depend on operands, so all of them may.
bool can_matter(const config::AssumedCost& cost, const Uses& uses, const task::TaskStream& stream) {
  const std::string& key = cost.key;
  if (key.starts_with(kApi) || key.starts_with(kCode)) return uses.nop && (key == kApi || key == kCode);
  for (const std::string_view lines : {"core.vector.", "core.instructions.", "core.cube", "core.scalar."})
    if (key.starts_with(lines))
      return std::ranges::any_of(uses.lines, [&](const std::string& l) { return key.starts_with(l); });
  if (key.starts_with("links")) return stream.devices > 1;
  if (key.starts_with("aicpu")) return uses.aicpu;
  return true;
}

// A simulation: which costs are scaled, and to which end of their range.
struct Variant {
  std::vector<const config::AssumedCost*> costs;
  bool high = false;
};

Times simulate_variant(const config::ChipConfig& chip, const task::TaskStream& stream, const Options& o,
                       const Variant& v) {
  config::ChipConfig changed = chip;
  double api = 1, own = 1;
  for (const config::AssumedCost* cost : v.costs) {
    const double factor = v.high ? cost->range.high : cost->range.low;
    if (cost->key == kApi) {
      api = factor;
    } else if (cost->key == kCode) {
      own = factor;
    } else {
      changed = config::scaled(changed, cost->key, factor);
    }
  }
  Times out;
  const auto run = [&](const task::TaskStream& tasks) {
    simulate_fastest(o, [&](bool with_data) {
      const models::Result r = simulate(changed, tasks, o, with_data, nullptr, nullptr);
      out = {r.warm_cycles(), r.cycles};
    });
  };
  if (api == 1 && own == 1) {
    run(stream);
  } else {
    task::TaskStream scalar = stream;
    scale_scalar_code(scalar, api, own);
    run(scalar);
  }
  return out;
}

// The times of variants, by several processes: "kernels all", or "!fault message" of one that failed.
std::vector<Times> simulate_all(const std::vector<Variant>& variants, unsigned jobs,
                                const std::function<Times(const Variant&)>& f, const Options& o) {
  const auto texts = processes::in_processes(
      variants.size(), jobs,
      [&](usize i) -> std::string {
        try {
          const Times t = f(variants[i]);
          return fmt::format("{} {}", t.kernels, t.all);
        } catch (const Error& e) {
          return fmt::format("!{} {}", static_cast<int>(e.fault()), e.what());
        }
      },
      [&](usize begun) {
        if (o.progress) o.progress(fmt::format("assumed costs: {} of {}", begun, variants.size()));
        if (o.interrupted && o.interrupted()) fail(Fault::Limit, "interrupted");
      });
  std::vector<Times> out;
  for (const std::string& text : texts) {
    const usize blank = text.find(' ');
    if (text.starts_with('!'))
      throw Error(static_cast<Fault>(std::stoi(text.substr(1, blank))), text.substr(blank + 1));
    out.push_back({std::stoull(text.substr(0, blank)), std::stoull(text.substr(blank + 1))});
  }
  return out;
}

u64 width(const Contribution& c, u64 Times::*time) {
  return std::max(c.low.*time, c.high.*time) - std::min(c.low.*time, c.high.*time);
}

void widen(TimeRange& range, const Times& t) {
  range.low = {std::min(range.low.kernels, t.kernels), std::min(range.low.all, t.all)};
  range.high = {std::max(range.high.kernels, t.kernels), std::max(range.high.all, t.all)};
}

double microseconds(u64 cycles, double hertz) { return static_cast<double>(cycles) / hertz * 1e6; }

Json times_json(const Times& t) { return {{"kernel_cycles", t.kernels}, {"cycles", t.all}}; }

}  // namespace

TimeRange time_range(const config::ChipConfig& chip, const task::TaskStream& stream, const Options& o, unsigned jobs) {
  TimeRange out;
  const Uses uses = uses_of(chip, stream);
  std::vector<config::AssumedCost> costs;
  for (config::AssumedCost& cost : config::assumed_costs(chip)) {
    if (can_matter(cost, uses, stream)) {
      costs.push_back(std::move(cost));
    } else {
      out.without_effect.push_back(cost.key);
    }
  }
  std::vector<Variant> variants{{}, {{}, false}, {{}, true}};
  for (const config::AssumedCost& cost : costs) {
    for (const bool high : {false, true}) {
      variants[high ? 2 : 1].costs.push_back(&cost);
      variants.push_back({{&cost}, high});
    }
  }
  const std::vector<Times> times = simulate_all(
      variants, jobs, [&](const Variant& v) { return simulate_variant(chip, stream, o, v); }, o);
  out.as_is = out.low = out.high = times[0];
  for (const Times& t : times)
    widen(out, t);
  for (usize i = 0; i < costs.size(); ++i) {
    const Times &low = times[3 + 2 * i], &high = times[4 + 2 * i];
    if (low == out.as_is && high == out.as_is) {
      out.without_effect.push_back(costs[i].key);
    } else {
      out.contributions.push_back({costs[i], low, high});
    }
  }
  std::ranges::stable_sort(out.contributions, std::ranges::greater(), [](const Contribution& c) {
    return std::pair(width(c, &Times::kernels), width(c, &Times::all));
  });
  return out;
}

std::string range_text(const TimeRange& r, double hertz) {
  const auto line = [&](std::string_view what, u64 Times::*time) {
    return fmt::format("{:<19} {:.3f} us, {:.3f} to {:.3f} us by what the chip assumes\n", what,
                       microseconds(r.as_is.*time, hertz), microseconds(r.low.*time, hertz),
                       microseconds(r.high.*time, hertz));
  };
  std::string out;
  if (r.as_is.kernels > 0) out += line("kernels, warm", &Times::kernels);
  out += line("simulated time", &Times::all);
  if (!r.contributions.empty()) {
    u64 Times::*const time = r.as_is.kernels > 0 ? &Times::kernels : &Times::all;
    out += fmt::format("\n{:<28} {:<13} {:>12} {:>12} {:>8}  {}\n", "assumed", "times", "low(us)", "high(us)",
                       "of all(%)", "because");
    for (const Contribution& c : r.contributions) {
      const double share =
          100 * microseconds(width(c, time), hertz) / std::max(1e-9, microseconds(r.as_is.*time, hertz));
      out +=
          fmt::format("{:<28} {:<13} {:>12.3f} {:>12.3f} {:>9.1f}  {}\n", c.cost.key,
                      fmt::format("{:g} to {:g}", c.cost.range.low, c.cost.range.high),
                      microseconds(c.low.*time, hertz), microseconds(c.high.*time, hertz), share, c.cost.range.reason);
    }
  }
  if (!r.without_effect.empty()) {
    out += fmt::format("{} assumed costs change nothing here: {}\n", r.without_effect.size(),
                       fmt::join(r.without_effect, ", "));
  }
  return out;
}

std::string range_json(const TimeRange& r, double hertz) {
  Json out = {
      {"clock_hz", hertz}, {"as_is", times_json(r.as_is)}, {"low", times_json(r.low)}, {"high", times_json(r.high)}};
  out["contributions"] = Json::array();
  for (const Contribution& c : r.contributions) {
    out["contributions"].push_back({{"key", c.cost.key},
                                    {"factors", {c.cost.range.low, c.cost.range.high}},
                                    {"reason", c.cost.range.reason},
                                    {"low", times_json(c.low)},
                                    {"high", times_json(c.high)}});
  }
  out["without_effect"] = r.without_effect;
  return out.dump(1) + "\n";
}

}  // namespace vinci::explain
