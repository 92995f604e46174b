// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S25: gradients of Swin-B between nodes on a slow network, reduced in one flat ring and in a hierarchy.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "isa/base/enums.h"
#include "isa/base/random.h"
#include "sim/config/load.h"
#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

// Swin-B for images of 224 x 224. Source: Liu et al. 2021 (88 M parameters, 15.4 G multiply-accumulates forward) and
// the count of its public code.
constexpr u64 kParameters = 87'768'224;
constexpr double kMacs = 15.4e9;

// flat: a ring of all ranks. rings: reduce_scatter inside a node, all_reduce between ranks of the same place,
// all_gather inside, each a ring. mesh: the hierarchy of the simulator, with all links of a node at work.
enum class Way : u8 { flat, rings, mesh };
constexpr auto kWayNames = enum_names<Way>;

struct Cluster {
  u64 nodes = 0, cards = 0;
  u64 devices() const { return nodes * cards; }
};

// Communicators of a cluster.
struct Comms {
  std::vector<task::CommRef> nodes, places;
  task::CommRef world;
};

Comms communicators(task::StreamBuilder& s, const Cluster& c) {
  Comms out;
  const auto comm = [&](std::string_view kind, u64 number, u64 first, u64 count, u64 stride) {
    std::vector<u32> members;
    for (u64 i = 0; i < count; ++i)
      members.push_back(static_cast<u32>(first + i * stride));
    return s.comm(fmt::format("{}{}", kind, number), std::move(members));
  };
  for (u64 n = 0; n < c.nodes; ++n)
    out.nodes.push_back(comm("node", n, n * c.cards, c.cards, 1));
  for (u64 p = 0; p < c.cards; ++p)
    out.places.push_back(comm("place", p, p, c.nodes, c.cards));
  out.world = s.world();
  return out;
}

// `whole` is the buffer of the device.
void add_collectives(task::StreamRef stream, const Comms& comms, Way way, const Cluster& c, u64 device,
                     task::BufferRef whole, u64 count) {
  using enum task::HcclOp;
  using enum task::HcclAlgorithm;
  const auto hccl = [&](task::Hccl::Op op, task::CommRef comm, task::BufferRef send, task::BufferRef recv, u64 n,
                        task::Hccl::Algorithm algorithm) {
    stream.add(
        task::Hccl{.op = op, .comm = comm.index, .send = send, .recv = recv, .count = n, .algorithm = algorithm});
  };
  if (way != Way::rings) {
    return hccl(all_reduce, comms.world, whole, whole, count, way == Way::flat ? ring : hierarchical);
  }
  const u64 place = device % c.cards, each = count / c.cards;
  const task::BufferRef part = whole + place * each * sizeof(float);
  const task::CommRef node = comms.nodes[device / c.cards], between = comms.places[place];
  hccl(reduce_scatter, node, whole, part, each, ring);
  hccl(all_reduce, between, part, part, each, ring);
  hccl(all_gather, node, part, whole, each, ring);
}

// Forward and backward as one opaque kernel, then the exchange. With data of each device, sums go to sum<device>.npy.
task::BuiltStream task_stream(const config::ChipConfig& chip, std::string name, Way way, const Cluster& c, u64 count,
                              double compute, const std::vector<std::vector<float>>& data = {}) {
  task::StreamBuilder s(std::move(name), chip.arch, static_cast<u32>(c.devices()));
  const Comms comms = communicators(s, c);
  const task::KernelRef kernel = opaque_kernel(s, "compute", chip, compute);
  for (u32 d = 0; d < c.devices(); ++d) {
    const task::BufferRef g = s.device(fmt::format("g{}_dev", d), count * sizeof(float), d);
    task::StreamRef main = s.stream(fmt::format("main{}", d), {.device = d});
    if (!data.empty()) main.memcpy(g, s.host_data<float>(fmt::format("g{}", d), "f4", data[d]));
    launch_all(main, chip, kernel);
    add_collectives(main, comms, way, c, d, g, count);
    if (!data.empty()) {
      const std::string sum = fmt::format("sum{}", d);
      main.memcpy(s.host({.name = sum, .output = sum + ".npy", .dtype = "f4", .shape = {count}}), g);
    }
    s.thread(fmt::format("main{}", d)).enqueue(main);
  }
  return s.finish();
}

// Devices whose sums of small integers, exact in any order, are not right.
u64 wrong_sums(const Study& study, const config::ChipConfig& chip, const Cluster& c) {
  const u64 count = 250 * c.cards;
  Random random(25);
  std::vector<std::vector<float>> data(c.devices());
  std::vector<float> sums(count);
  for (std::vector<float>& g : data) {
    for (u64 i = 0; i < count; ++i) {
      g.push_back(std::floor(random.uniform() * 100));
      sums[i] += g[i];
    }
  }
  const auto wrong = study.variants(kWayNames.size(), [&](usize i) {
    const std::string name = fmt::format("bits-{}", kWayNames[i]);
    const Run run = study.run(name, task_stream(chip, name, Way(i), c, count, 1e-6, data), chip);
    u64 out = 0;
    for (u64 d = 0; d < c.devices(); ++d)
      out += run.values<float>(fmt::format("sum{}", d)) != sums;
    return out;
  });
  return std::accumulate(wrong.begin(), wrong.end(), u64{0});
}

struct Network {
  std::string name;
  config::ChipConfig chip;
};

// Steps that are asked for first and simulated together, each once.
class Steps {
 public:
  Steps(const Cluster& cluster, double compute) : cluster_(cluster), compute_(compute) {}

  // The number of a step whose compute takes `factor` times as long as that of the study.
  usize add(Way way, const Network& network, double factor = 1) {
    const std::string name = fmt::format("{}_{}_compute_{}", kWayNames[static_cast<usize>(way)], network.name, factor);
    const auto it = std::ranges::find(steps_, name, &Step::name);
    if (it != steps_.end()) return static_cast<usize>(it - steps_.begin());
    steps_.push_back({name, way, &network, factor});
    return steps_.size() - 1;
  }
  // In s, by number.
  std::vector<double> simulate(const Study& study) const {
    return study.variants(steps_.size(), [&](usize i) {
      const Step& s = steps_[i];
      const u64 count = kParameters - kParameters % cluster_.cards;
      const config::ChipConfig& chip = s.network->chip;
      return study.time(s.name, task_stream(chip, s.name, s.way, cluster_, count, s.factor * compute_), chip).seconds();
    });
  }

 private:
  struct Step {
    std::string name;
    Way way;
    const Network* network;
    double factor;
  };
  Cluster cluster_;
  double compute_;
  std::vector<Step> steps_;
};

// Throughput that a hierarchy gains over the flat ring: a fact, from two steps.
struct Gain {
  std::string fact;
  usize flat, hierarchy;
};

}  // namespace

void hierarchical_allreduce(Study& study) {
  const Cluster c{.nodes = study.whole("nodes"), .cards = study.whole("cards")};
  const auto chip_of = [&](double gigabits, std::vector<std::string> more = {}) {
    more.push_back(fmt::format("links.devices_per_node={}", c.cards));
    more.push_back(fmt::format("links.hccs_group={}", c.cards));
    more.push_back(fmt::format("links.roce_bandwidth={:.0f}B/s", gigabits * 1e9 / 8));
    return study.chip_with(more);
  };
  const double network = study.number("network");
  const double flops = config::summarize(study.chip()).peak_fp16_tflops * 1e12 * study.number("efficiency") / 100;
  const double compute = 3 * 2 * kMacs * static_cast<double>(study.whole("images")) / flops;
  const config::LinksConfig& links = study.chip().links;
  const double inside = links.hccs_bandwidth * 8e-9;
  const Network slow{"given", chip_of(network)};
  // The flat ring leaves a node through one port; a hierarchy on one port for a node has a share of it for each card.
  const Network shared{"shared_port", chip_of(network / static_cast<double>(c.cards))};
  // Other networks, up to one that equals the links inside a node.
  constexpr std::array kShares{0.25, 0.5, 1.0};
  std::vector<Network> faster;
  for (const double share : kShares) {
    std::vector<std::string> more;
    if (share == 1) more.push_back(fmt::format("links.roce_latency={}ns", std::llround(links.hccs_latency * 1e9)));
    faster.push_back({fmt::format("{}_of_inside", share), chip_of(share * inside, more)});
  }

  Steps steps(c, compute);
  const auto gain = [&](std::string fact, Way way, const Network& n, double factor = 1) {
    return Gain{std::move(fact), steps.add(Way::flat, n, factor), steps.add(way, n, factor)};
  };
  const Gain given = gain("", Way::rings, slow);
  const std::vector<Gain> others{gain("rings: gain with half of the compute", Way::rings, slow, 0.5),
                                 gain("rings: gain with twice the compute", Way::rings, slow, 2),
                                 gain("mesh: gain", Way::mesh, slow),
                                 {"rings: gain where the cards of a node share one port", steps.add(Way::flat, slow),
                                  steps.add(Way::rings, shared)},
                                 gain("mesh: gain at equal bandwidth", Way::mesh, faster.back())};
  std::vector<Gain> on_faster;
  for (usize i = 0; i < faster.size(); ++i)
    on_faster.push_back(gain(fmt::format("rings: gain at {:.1f} Gbit/s", kShares[i] * inside), Way::rings, faster[i]));
  const std::vector<double> seconds = steps.simulate(study);
  const auto percent = [&](const Gain& g) { return 100 * (seconds[g.flat] / seconds[g.hierarchy] - 1); };

  study.fact("compute", compute * 1e3, "ms");
  for (const Way way : {Way::flat, Way::rings, Way::mesh})
    study.fact(fmt::format("{}: all-reduce", kWayNames[static_cast<usize>(way)]),
               (seconds[steps.add(way, slow)] - compute) * 1e3, "ms");
  for (const Gain& g : others)
    study.fact(g.fact, percent(g), "%");
  std::vector<std::pair<double, double>> gains;  // by bandwidth, up to that inside a node
  if (network < inside) gains.emplace_back(network, percent(given));
  for (usize i = 0; i < faster.size(); ++i) {
    gains.emplace_back(kShares[i] * inside, percent(on_faster[i]));
    study.fact(on_faster[i].fact, gains.back().second, "%");
  }
  std::ranges::sort(gains);
  double least_fall = 1e300;
  for (usize i = 1; i < gains.size(); ++i)
    least_fall = std::min(least_fall, gains[i - 1].second - gains[i].second);
  study.measured("gain", percent(given));
  study.measured("gain_at_equal_bandwidth", percent(on_faster.back()));
  study.measured("least_fall", least_fall);
  study.measured("wrong_sums", static_cast<double>(wrong_sums(study, slow.chip, c)));
}

}  // namespace vinci::studies
