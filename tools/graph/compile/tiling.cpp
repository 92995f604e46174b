// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/tiling.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "isa/base/fnv1a.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "sim/io/input_file.h"
#include "tools/graph/compile/timing.h"
#include "tools/graph/ir/text.h"

namespace vinci::graph {
namespace {

constexpr usize kFinalists = 8;
constexpr u64 kMostCached = u64{64} << 20;  // bytes of a file of the cache

// Of the program or library that contains this code: changed kernels and cost laws choose tilings anew.
u64 hash_of_build() {
  static const u64 hash = [] {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(&hash_of_build), &info) == 0 || info.dli_fname == nullptr) return u64{0};
    std::error_code error;
    const std::filesystem::path self = std::filesystem::canonical(info.dli_fname, error);
    const std::string program = io::read_file((error ? std::filesystem::path("/proc/self/exe") : self).string());
    return u64{std::hash<std::string>{}(program)};  // reads a word at a time, where FNV-1a reads bytes
  }();
  return hash;
}

// A node that can choose, once for all nodes that are equal to it.
struct Choice {
  std::vector<usize> nodes;  // of Network::nodes
  std::vector<Tiling> finalists;
  std::vector<double> microseconds;  // of each finalist, all nodes together
};

void use(Network& network, const Choice& choice, const Tiling& tiling) {
  for (const usize i : choice.nodes) {
    CompiledNode& n = network.nodes[i];
    if (n.tiling == tiling) continue;
    n.tiling = tiling;
    n.program = n.kernel->build(Group(*n.node), network.chip, tiling);
  }
}

// Nodes with several tilings that the cache does not know.
std::map<std::string, Choice> open_choices(Network& network, TilingCache& cache, TilingReport& report) {
  std::map<std::string, Choice> open;
  std::map<std::string, const Tiling*> known;
  for (usize i = 0; i < network.nodes.size(); ++i) {
    const CompiledNode& n = network.nodes[i];
    if (n.kernel == nullptr) continue;
    const std::string signature = tiling_signature(n);
    if (const auto at = open.find(signature); at != open.end()) {
      at->second.nodes.push_back(i);
      continue;
    }
    std::vector<Tiling> tilings = n.kernel->tilings(Group(*n.node), network.chip);
    if (tilings.size() < 2) continue;
    if (tilings.size() > kFinalists) tilings.resize(kFinalists);
    const bool counted = known.contains(signature);
    const Tiling* const tiling = cache.find(signature);
    report.chosen += counted ? 0 : 1;
    if (tiling != nullptr && std::ranges::find(tilings, *tiling) != tilings.end()) {
      report.from_cache += counted ? 0 : 1;
      known[signature] = tiling;
      use(network, {.nodes = {i}, .finalists = {}, .microseconds = {}}, *tiling);
    } else {
      open[signature] = {.nodes = {i}, .finalists = std::move(tilings), .microseconds = {}};
    }
  }
  return open;
}

}  // namespace

std::string tiling_signature(const CompiledNode& node) {
  return fmt::format("{} {}", node.kernel->name, signature(*node.node));
}

TilingReport choose_tilings(Network& network, TilingCache& cache,
                            const std::function<void(u32 begun, u32 all)>& progress) {
  TilingReport report;
  std::map<std::string, Choice> open = open_choices(network, cache, report);
  usize rounds = 0;
  for (const auto& [signature, choice] : open)
    rounds = std::max(rounds, choice.finalists.size());
  for (usize round = 0; round < rounds; ++round) {
    for (auto& [signature, choice] : open) {
      if (round < choice.finalists.size()) use(network, choice, choice.finalists[round]);
    }
    ++report.simulations;
    if (progress) progress(report.simulations, static_cast<u32>(rounds));
    const NetworkTime time = time_network(network);
    for (auto& [signature, choice] : open) {
      if (round >= choice.finalists.size()) continue;
      double& sum = choice.microseconds.emplace_back(0);
      for (const usize i : choice.nodes)
        sum += time.nodes[i].microseconds;
    }
  }
  for (auto& [signature, choice] : open) {
    const auto best = std::ranges::min_element(choice.microseconds);
    const Tiling& tiling = choice.finalists[static_cast<usize>(best - choice.microseconds.begin())];
    report.estimated_us += choice.microseconds.front();
    report.chosen_us += *best;
    use(network, choice, tiling);
    cache.add(signature, tiling);
  }
  return report;
}

TilingCache::TilingCache(const std::string& folder, const config::ChipConfig& chip)
    : path_(fmt::format("{}/tilings-{:016x}.json", folder, fnv1a(config::write_chip(chip), hash_of_build()))) {
  if (!std::filesystem::exists(path_)) return;
  const nlohmann::json file = nlohmann::json::parse(io::read_file(path_, kMostCached), nullptr, false);
  if (!file.is_object()) return;
  for (const auto& [signature, sizes] : file.items()) {
    Tiling tiling;
    bool whole = sizes.is_object();
    for (const auto& [name, size] : sizes.items()) {
      whole = whole && size.is_number_integer();
      if (whole) tiling[name] = size.get<i64>();
    }
    if (whole) found_.insert_or_assign(signature, std::move(tiling));
  }
}

const Tiling* TilingCache::find(const std::string& signature) const {
  const auto at = found_.find(signature);
  return at == found_.end() ? nullptr : &at->second;
}

void TilingCache::add(const std::string& signature, Tiling tiling) {
  found_.insert_or_assign(signature, std::move(tiling));
  changed_ = true;
}

void TilingCache::save() const {
  if (path_.empty() || !changed_) return;
  nlohmann::json file = nlohmann::json::object();
  for (const auto& [signature, tiling] : found_) {
    nlohmann::json sizes = nlohmann::json::object();
    for (const auto& [name, size] : tiling)
      sizes[name] = size;
    file[signature] = std::move(sizes);
  }
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
  io::write_file_atomically(path_, file.dump(1));
}

}  // namespace vinci::graph
