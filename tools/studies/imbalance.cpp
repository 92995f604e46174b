// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S31: batches of sequences of unequal lengths, and how long ranks wait for each other at the all-reduce.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "isa/base/enums.h"
#include "isa/base/random.h"
#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

// none: sequences in the order of the data, each as long as it is. pad: all as long as the longest of the step. sort:
// the sequences of the step, longest first, each to the rank that has the fewest tokens.
enum class Way : u8 { none, pad, sort };
constexpr auto kWayNames = enum_names<Way>;

// Lengths that are lognormal: the product of factors that are uniform, without a function of the host's mathematical
// library, whose last bit differs between hosts.
std::vector<u64> make_lengths(u64 count, double spread, u64 most) {
  Random random(31);
  std::vector<u64> out;
  for (u64 i = 0; i < count; ++i) {
    double x = 64;
    for (int factor = 0; factor < 12; ++factor)
      x *= 1 + spread * random.uniform();
    out.push_back(std::clamp<u64>(static_cast<u64>(x), 1, most));
  }
  return out;
}

// Tokens of each rank in a step.
std::vector<u64> deal(std::span<const u64> step, u64 ranks, Way way) {
  std::vector<u64> tokens(ranks), sorted(step.begin(), step.end());
  const u64 each = step.size() / ranks;
  switch (way) {
    case Way::none:
      for (u64 i = 0; i < step.size(); ++i)
        tokens[i / each] += step[i];
      break;
    case Way::pad: tokens.assign(ranks, each * *std::ranges::max_element(step)); break;
    case Way::sort:
      std::ranges::sort(sorted, std::greater());
      for (const u64 length : sorted)
        *std::ranges::min_element(tokens) += length;
      break;
  }
  return tokens;
}

struct Steps {
  std::vector<std::vector<u64>> tokens;  // by step and rank
  double token = 0;                      // s
};

task::BuiltStream task_stream(const config::ChipConfig& chip, const std::string& name, const Steps& x, u64 gradients) {
  const u64 ranks = x.tokens.front().size();
  task::StreamBuilder s(name, chip.arch, static_cast<u32>(ranks));
  const task::CommRef world = s.world();
  for (u32 r = 0; r < ranks; ++r) {
    const task::BufferRef g = s.device(fmt::format("g{}", r), gradients * sizeof(float), r);
    task::StreamRef main = s.stream(fmt::format("rank{}", r), {.device = r});
    for (usize step = 0; step < x.tokens.size(); ++step) {
      const double seconds = static_cast<double>(x.tokens[step][r]) * x.token;
      launch_all(main, chip, opaque_kernel(s, fmt::format("compute{}_{}", step, r), chip, seconds));
      main.add(task::Hccl{.comm = world.index, .send = g, .recv = g, .count = gradients}, fmt::format("AR_{}", step));
    }
    s.thread(fmt::format("rank{}", r)).enqueue(main);
  }
  return s.finish();
}

struct Found {
  double wait = 0, step = 0;  // s: of all ranks and steps; a step
  double error = 0;           // largest distance of a wait from max - own, cycles
};

Found measure(const Run& run, const Steps& x) {
  const u64 ranks = x.tokens.front().size(), steps = x.tokens.size();
  std::vector<std::vector<const models::TaskTime*>> reduced(steps, std::vector<const models::TaskTime*>(ranks)),
      computed = reduced;
  for (const models::TaskTime& t : run.result.tasks) {
    auto& list = t.name.starts_with("AR_") ? reduced : computed;
    const std::string number = t.name.substr(t.name.starts_with("AR_") ? 3 : 7);
    list[std::stoul(number)][std::stoul(t.stream.substr(4))] = &t;
  }
  // What the all-reduce takes when all have come: what the last to come sees.
  Found out{.step = run.seconds() / static_cast<double>(steps)};
  for (u64 i = 0; i < steps; ++i) {
    u64 longest = 0, shortest_wait = ~u64{0};
    for (u64 r = 0; r < ranks; ++r) {
      longest = std::max(longest, computed[i][r]->end - computed[i][r]->start);
      shortest_wait = std::min(shortest_wait, reduced[i][r]->end - reduced[i][r]->start);
    }
    for (u64 r = 0; r < ranks; ++r) {
      const auto own = static_cast<double>(computed[i][r]->end - computed[i][r]->start);
      const auto wait = static_cast<double>(reduced[i][r]->end - reduced[i][r]->start - shortest_wait);
      out.error = std::max(out.error, std::fabs(wait - (static_cast<double>(longest) - own)));
      out.wait += wait / run.hertz;
    }
  }
  return out;
}

}  // namespace

void imbalance(Study& study) {
  const config::ChipConfig& chip = study.chip();
  const u64 ranks = study.whole("ranks"), batch = study.whole("batch"), steps = study.whole("steps");
  const std::vector<u64> lengths = make_lengths(ranks * batch * steps, study.number("spread"), 512);
  u64 tokens = 0;
  for (const u64 length : lengths)
    tokens += length;
  const auto found = study.variants(kWayNames.size(), [&](usize i) {
    Steps x{.tokens = {}, .token = study.number("token") * 1e-6};
    for (u64 step = 0; step < steps; ++step)
      x.tokens.push_back(deal(std::span(lengths).subspan(step * ranks * batch, ranks * batch), ranks, Way(i)));
    const std::string name(kWayNames[i]);
    return measure(study.time(name, task_stream(chip, name, x, study.whole("gradients")), chip), x);
  });
  const auto [shortest, longest] = std::ranges::minmax_element(lengths);
  study.fact("mean length", static_cast<double>(tokens) / static_cast<double>(lengths.size()), "tokens");
  study.fact("shortest", static_cast<double>(*shortest), "tokens");
  study.fact("longest", static_cast<double>(*longest), "tokens");
  double error = 0;
  for (const Way way : {Way::none, Way::pad, Way::sort}) {
    const Found& f = found[usize(way)];
    study.fact(fmt::format("{}: step", kWayNames[usize(way)]), f.step * 1e3, "ms");
    study.fact(fmt::format("{}: wait of a rank in a step", kWayNames[usize(way)]),
               f.wait / static_cast<double>(ranks * steps) * 1e3, "ms");
    error = std::max(error, f.error);
  }
  const Found &none = found[0], &pad = found[1], &sort = found[2];
  study.measured("wait_error", error);
  study.measured("pad_wait", pad.wait);
  study.measured("sorted_wait", 100 * sort.wait / none.wait);
  study.measured("sorted_step", none.step / sort.step);
  study.measured("padded_step", pad.step / sort.step);
}

}  // namespace vinci::studies
