// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/single.h"

#include <algorithm>
#include <map>

#include "isa/base/error.h"
#include "isa/base/suggest.h"

namespace vinci::graph {
namespace {

constexpr i64 kFractal = 16;

// A tensor in another format than the kernel's is another value: the group is built again with each format.
void set_formats(Node& node, const Formats& formats) {
  const Group group(node);
  for (usize i = 0; i < group.inputs().size(); ++i) {
    for (Value* const v : node.inputs()) {
      if (v == group.inputs()[i]) v->format = formats.inputs.at(i);
    }
  }
  for (usize i = 0; i < node.outputs().size(); ++i)
    node.output(i)->format = formats.outputs.at(std::min(i, formats.outputs.size() - 1));
}

void check_fits(const Footprint& f, const config::BufferSizes& b, const Tiling& tiling, std::string_view chip) {
  struct Row {
    std::string_view name;
    u64 needed, there;
  };
  for (const Row& r : {Row{"L1", f.l1, b.l1}, Row{"L0A", f.l0a, b.l0a}, Row{"L0B", f.l0b, b.l0b},
                       Row{"L0C", f.l0c, b.l0c}, Row{"UB", f.ub, b.ub}}) {
    if (r.needed > r.there)
      fail(Fault::Input, "the tiling {} needs {} bytes of {}; {} has {}", text(tiling), r.needed, r.name, chip,
           r.there);
  }
}

}  // namespace

Network compile_alone(std::unique_ptr<Graph> graph, const config::ChipConfig& chip, const Tiling& sizes) {
  VINCI_CHECK(graph->size() == 1);
  Network out{.graph = std::move(graph), .chip = chip, .passes = {}, .nodes = {}, .memory = {}};
  Node& node = *out.graph->nodes().front();
  const Kernel& kernel = kernel_for(Group(node), out.chip);
  set_formats(node, kernel.formats(Group(node), out.chip));
  out.nodes.push_back({.node = &node, .kernel = &kernel});
  Tiling tiling = offered_tilings(out).at(0);
  for (const auto& [name, size] : sizes)
    tiling[name] = size;
  use_tiling(out, tiling);
  out.memory = plan_memory(*out.graph, true);
  return out;
}

std::vector<Tiling> offered_tilings(const Network& network) {
  const CompiledNode& n = network.nodes.at(0);
  return n.kernel->tilings(Group(*n.node), network.chip);
}

void use_tiling(Network& network, const Tiling& tiling) {
  CompiledNode& n = network.nodes.at(0);
  const Group group(*n.node);
  // Of each size: 16 where only multiples of it are offered, 0 where it may be 0.
  std::map<std::string_view, i64> units;
  std::vector<std::string_view> names;
  const std::vector<Tiling> offered = offered_tilings(network);
  for (const Tiling& t : offered) {
    for (const auto& [name, size] : t) {
      names.push_back(name);
      const auto at = units.emplace(name, kFractal).first;
      at->second = std::min<i64>(at->second, size == 0 ? 0 : size % kFractal == 0 ? kFractal : 1);
    }
  }
  for (const auto& [name, size] : tiling) {
    const auto unit = units.find(name);
    if (unit == units.end())
      fail(Fault::Input, "a tiling of the kernel {} has no '{}'{}", n.kernel->name, name, did_you_mean(name, names));
    if (size < std::min<i64>(unit->second, 1))
      fail(Fault::Input, "{}={}: a size of a tiling is at least 1", name, size);
    if (unit->second > 1 && size % unit->second != 0)
      fail(Fault::Input, "{}={}: the kernel {} takes multiples of {}", name, size, n.kernel->name, unit->second);
  }
  const auto outer = tiling.find("l1_k"), inner = tiling.find("l0_k");
  if (outer != tiling.end() && inner != tiling.end() && outer->second % inner->second != 0)
    fail(Fault::Input, "l1_k={} is no multiple of l0_k={}", outer->second, inner->second);
  check_fits(n.kernel->footprint(group, network.chip, tiling), network.chip.core.buffers, tiling, network.chip.name);
  n.tiling = tiling;
  n.program = n.kernel->build(group, network.chip, tiling);
}

}  // namespace vinci::graph
