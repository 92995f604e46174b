// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S26: gradients that are compressed before they are exchanged, and the bandwidth at which that no longer pays.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "isa/base/enums.h"
#include "isa/base/random.h"
#include "sim/config/load.h"
#include "tools/studies/sign_kernels.h"
#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

// Swin-B: parameters, and multiply-accumulates of an image forward. Source: Liu et al. 2021.
constexpr u64 kParameters = 87'768'224;
constexpr double kMacs = 15.4e9;

// none: all-reduce of f32. f16: cast, all-reduce, cast. sign: one bit, voted by majority; each rank votes for its
// share. top: the elements of largest size with their indices go to all. low_rank: PowerSGD, two thin matrices for each
// of 1024 x 1024.
enum class Way : u8 { none, f16, sign, top, low_rank };
constexpr auto kWayNames = enum_names<Way>;
constexpr u64 kWays = kWayNames.size(), kEdge = 1024;

struct Exchange {
  u64 ranks = 0, elements = 0, kept = 0, rank = 0;
  double compute = 0;
  std::array<double, kWays> before = {}, between = {}, after = {};  // s of opaque kernels around the collectives

  u64 matrices() const { return ceil_div(elements, kEdge * kEdge); }
  // Bytes that all links carry.
  double bytes(Way way) const {
    const auto p = static_cast<double>(ranks), n = static_cast<double>(elements);
    switch (way) {
      case Way::none: return 2 * (p - 1) * 4 * n;
      case Way::f16: return 2 * (p - 1) * 2 * n;
      case Way::sign: return 2 * (p - 1) * n / 8;
      case Way::top: return p * (p - 1) * 8 * static_cast<double>(kept);
      case Way::low_rank: return 2 * (p - 1) * 4 * static_cast<double>(matrices() * rank * 2 * kEdge);
    }
    return 0;
  }
};

void add_collectives(task::StreamRef main, const Exchange& x, Way way, u32 comm, task::BufferRef whole,
                     task::BufferRef other, const std::function<void()>& between) {
  using enum task::HcclOp;
  using enum task::ElementType;
  const auto hccl = [&](task::Hccl::Op op, task::BufferRef send, task::BufferRef recv, u64 count,
                        task::ElementType type) {
    main.add(task::Hccl{.op = op,
                        .comm = comm,
                        .send = send,
                        .recv = recv,
                        .count = count,
                        .type = type,
                        .algorithm = task::Hccl::Algorithm::ring});
  };
  switch (way) {
    case Way::none: return hccl(all_reduce, whole, whole, x.elements, float32);
    case Way::f16: return hccl(all_reduce, whole, whole, x.elements, float16);
    case Way::sign:
      hccl(all_to_all, whole, other, x.elements / 8 / x.ranks, uint8);
      between();
      return hccl(all_gather, whole, other, x.elements / 8 / x.ranks, uint8);
    case Way::top: return hccl(all_gather, whole, other, 8 * x.kept, uint8);
    case Way::low_rank:
      hccl(all_reduce, whole, whole, x.matrices() * x.rank * kEdge, float32);
      between();
      return hccl(all_reduce, whole, whole, x.matrices() * x.rank * kEdge, float32);
  }
}

task::BuiltStream task_stream(const config::ChipConfig& chip, const std::string& name, const Exchange& x, Way way) {
  task::StreamBuilder s(name, chip.arch, static_cast<u32>(x.ranks));
  const task::CommRef world = s.world();
  const auto w = usize(way);
  const auto opaque = [&](const char* what, double seconds) {
    return opaque_kernel(s, what, chip, std::max(seconds, 1e-9));
  };
  const task::KernelRef compute = opaque("compute", x.compute), before = opaque("before", x.before[w]),
                        between = opaque("between", x.between[w]), after = opaque("after", x.after[w]);
  for (u32 r = 0; r < x.ranks; ++r) {
    const u64 bytes = std::max<u64>(x.elements * 4, x.ranks * 8 * x.kept);
    const task::BufferRef whole = s.device(fmt::format("whole{}", r), bytes, r),
                          other = s.device(fmt::format("other{}", r), bytes, r);
    task::StreamRef main = s.stream(fmt::format("rank{}", r), {.device = r});
    launch_all(main, chip, compute);
    if (x.before[w] > 0) launch_all(main, chip, before);
    add_collectives(main, x, way, world.index, whole, other, [&] { launch_all(main, chip, between); });
    if (x.after[w] > 0) launch_all(main, chip, after);
    s.thread(fmt::format("rank{}", r)).enqueue(main);
  }
  return s.finish();
}

// The sign way with real kernels and data on a few ranks: elements that are not what most ranks say.
u64 wrong_votes(const Study& study, const config::ChipConfig& chip) {
  constexpr u64 kRanks = 5, kShare = 2 * kSignTile, kElements = kRanks * kShare;
  Random random(26);
  std::vector<std::vector<float>> g(kRanks, std::vector<float>(kElements));
  std::vector<int> votes(kElements);
  for (std::vector<float>& list : g)
    for (u64 i = 0; i < kElements; ++i)
      list[i] = random.uniform(), votes[i] += list[i] >= 0 ? 1 : -1;
  using enum task::KernelType;
  task::StreamBuilder s("bits-sign", chip.arch, kRanks);
  const task::KernelRef pack = s.kernel("pack", AIV_ONLY, pack_signs(chip.arch, kElements)),
                        vote = s.kernel("vote", AIV_ONLY, vote_signs(chip.arch, kShare, kRanks)),
                        unpack = s.kernel("unpack", AIV_ONLY, unpack_signs(chip.arch, kElements));
  const task::CommRef world = s.world();
  for (u32 r = 0; r < kRanks; ++r) {
    const auto device = [&](const char* what, u64 bytes) { return s.device(fmt::format("{}{}", what, r), bytes, r); };
    const task::BufferRef in = device("g_dev", kElements * 4), bits = device("bits", kElements / 8),
                          shares = device("shares", kElements / 8), out = device("out_dev", kElements * 4);
    task::StreamRef main = s.stream(fmt::format("rank{}", r), {.device = r});
    main.memcpy(in, s.host_data<float>(fmt::format("g{}", r), "f4", g[r])).launch(pack, 4, {in, bits});
    using enum task::HcclOp;
    const auto hccl = [&](task::Hccl::Op op, task::BufferRef send, task::BufferRef recv) {
      main.add(task::Hccl{.op = op,
                          .comm = world.index,
                          .send = send,
                          .recv = recv,
                          .count = kShare / 8,
                          .type = task::ElementType::uint8});
    };
    hccl(all_to_all, bits, shares);
    main.launch(vote, 2, {shares, bits});
    hccl(all_gather, bits, shares);
    main.launch(unpack, 4, {shares, out});
    const std::string name = fmt::format("out{}", r);
    main.memcpy(s.host({.name = name, .output = name + ".npy", .dtype = "f4", .shape = {kElements}}), out);
    s.thread(fmt::format("rank{}", r)).enqueue(main);
  }
  const Run run = study.run("bits-sign", s.finish(), chip);
  u64 wrong = 0;
  for (u64 r = 0; r < kRanks; ++r) {
    const std::vector<float> out = run.values<float>(fmt::format("out{}", r));
    for (u64 i = 0; i < kElements; ++i)
      wrong += out[i] != (votes[i] >= 0 ? 1.0f : -1.0f);
  }
  return wrong;
}

// Seconds of the three kernels of the sign way on one device.
std::array<double, 3> sign_times(const Study& study, const config::ChipConfig& chip, const Exchange& x) {
  task::StreamBuilder s("sign-kernels", chip.arch);
  using enum task::KernelType;
  const u64 share = x.elements / x.ranks;
  const task::BufferRef g = s.device("g", x.elements * 4), bits = s.device("bits", x.elements / 8),
                        other = s.device("other", x.elements / 8);
  task::StreamRef main = s.stream("main");
  main.launch(s.kernel("pack", AIV_ONLY, pack_signs(chip.arch, x.elements)), chip.vector_cores, {g, bits});
  main.launch(s.kernel("vote", AIV_ONLY, vote_signs(chip.arch, share, x.ranks)), chip.vector_cores, {bits, other});
  main.launch(s.kernel("unpack", AIV_ONLY, unpack_signs(chip.arch, x.elements)), chip.vector_cores, {other, g});
  s.thread("main").enqueue(main);
  const Run run = study.time("sign-kernels", s.finish(), chip);
  std::array<double, 3> out{};
  for (usize i = 0; i < out.size(); ++i)
    out[i] = run.us(run.result.tasks[i].end - run.result.tasks[i].start) * 1e-6;
  return out;
}

// That leave all devices; they enter the others' ports as well.
double link_bytes(const Run& run) {
  double sum = 0;
  for (const auto& [link, group] : run.result.stats["links"].items())
    if (link.ends_with(".out")) sum += group["bytes"].get<double>();
  return sum;
}

struct Point {
  double seconds = 0, bytes = 0;
};

}  // namespace

void compressed_exchange(Study& study) {
  if (study.chip().vector_cores == 0)
    fail(Fault::Unsupported, "S26: the kernels are for cores with vcmpvs: the split core");
  const auto chip_of = [&](double gigabits) {
    return study.chip_with(
        {"links.devices_per_node=1", fmt::format("links.roce_bandwidth={:.0f}B/s", gigabits * 1e9 / 8)});
  };
  const double slow = study.number("network");
  Exchange x{.ranks = study.whole("ranks")};
  x.elements = align_up<u64>(kParameters, x.ranks * kSignTile);
  x.kept = static_cast<u64>(static_cast<double>(x.elements) * study.number("kept") / 100);
  x.rank = study.whole("rank");
  const double flops = config::summarize(study.chip()).peak_fp16_tflops * 1e12 * study.number("efficiency") / 100;
  x.compute = 3 * 2 * kMacs * static_cast<double>(study.whole("images")) / flops;

  study.measured("different_results", static_cast<double>(wrong_votes(study, chip_of(slow))));
  // Real kernels for the bits; what casts, selects, adds and multiplies is as fast as memory.
  const auto [pack, vote, unpack] = sign_times(study, chip_of(slow), x);
  const auto memory = [&](double bytes) {
    return bytes * static_cast<double>(x.elements) / study.chip().memory.hbm.bandwidth;
  };
  const double kept = study.number("kept") / 100 * static_cast<double>(x.ranks) * 8;
  x.before = {0, memory(6), pack, memory(8), memory(4)};
  x.between = {0, 0, vote, 0, memory(4)};
  x.after = {0, memory(6), unpack, memory(4 + 2 * kept), memory(8)};
  study.fact("sign: kernels", (pack + vote + unpack) * 1e6, "us");

  const auto step = [&](double gigabits, Way way) {
    const std::string name = fmt::format("{}_{:.0f}", kWayNames[usize(way)], gigabits);
    const config::ChipConfig chip = chip_of(gigabits);
    const Run run = study.time(name, task_stream(chip, name, x, way), chip);
    return Point{.seconds = run.seconds(), .bytes = link_bytes(run)};
  };
  const std::array networks{slow, 4 * slow, 16 * slow};
  const auto points =
      study.variants(networks.size() * kWays, [&](usize i) { return step(networks[i / kWays], Way(i % kWays)); });
  double bytes_error = 0, least_fall = 1e300;
  for (usize w = 0; w < kWays; ++w) {
    double last = 1e300;
    for (usize n = 0; n < networks.size(); ++n) {
      const double gain = points[n * kWays].seconds / points[n * kWays + w].seconds;
      study.fact(fmt::format("{:.0f} Gbit/s, {}: a step", networks[n], kWayNames[w]),
                 points[n * kWays + w].seconds * 1e3, "ms");
      if (w > 0) least_fall = std::min(least_fall, last - gain);
      last = gain;
    }
    bytes_error = std::max(bytes_error, std::fabs(points[w].bytes / x.bytes(Way(w)) - 1));
    study.fact(fmt::format("{}: bytes less than f32 by", kWayNames[w]), points[0].bytes / points[w].bytes, "x");
  }
  study.measured("bytes_error", 100 * bytes_error);
  study.measured("sign_bytes", points[0].bytes / points[usize(Way::sign)].bytes);
  study.measured("least_fall", least_fall);
  study.measured("sign_gain", points[0].seconds / points[usize(Way::sign)].seconds);

  // One bit costs its kernels, launches and latencies, whatever the network, and saves bytes: T = kernels - saved /
  // bandwidth.
  constexpr double kFast = 8e4;  // Gbit/s
  const double saved =
      (x.bytes(Way::none) - x.bytes(Way::sign)) / static_cast<double>(x.ranks) * 8e-9;  // Gbit of a port
  const double costs = step(kFast, Way::sign).seconds - step(kFast, Way::none).seconds + saved / kFast;
  const double expected = saved / costs;
  double low = slow, high = kFast;
  while (high / low > 1.01) {
    const double middle = std::sqrt(low * high);
    (step(middle, Way::sign).seconds < step(middle, Way::none).seconds ? low : high) = middle;
  }
  study.fact("break-even of the sign way", low, "Gbit/s");
  study.fact("the same, by saved bytes and costs", expected, "Gbit/s");
  study.fact("the same, by saved bytes and kernels alone", saved / (pack + vote + unpack), "Gbit/s");
  study.measured("break_even", low / expected);
}

}  // namespace vinci::studies
