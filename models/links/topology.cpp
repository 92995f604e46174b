// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/links/topology.h"

#include <fmt/format.h>

#include "isa/base/enums.h"

namespace vinci::models {

std::string name(const Link& link) {
  const std::string_view kind = enum_names<LinkKind>[enum_index(link.kind)];
  if (link.to == Link::kPort) return fmt::format("{}.{}.out", kind, link.from);
  if (link.from == Link::kPort) return fmt::format("{}.{}.in", kind, link.to);
  return fmt::format("{}.{}-{}", kind, link.from, link.to);
}

u32 Topology::group(u32 device) const {
  const u32 groups = (config_.devices_per_node + config_.hccs_group - 1) / config_.hccs_group;  // of a node
  return node(device) * groups + device % config_.devices_per_node / config_.hccs_group;
}

LinkKind Topology::kind(u32 from, u32 to) const {
  if (node(from) != node(to)) return LinkKind::roce;
  return group(from) == group(to) ? LinkKind::hccs : LinkKind::pcie;
}

std::vector<Link> Topology::route(u32 from, u32 to) const {
  const LinkKind k = kind(from, to);
  if (k == LinkKind::hccs) return {{k, from, to}};
  return {{k, from, Link::kPort}, {k, Link::kPort, to}};
}

double Topology::bandwidth(LinkKind kind) const {
  switch (kind) {
    case LinkKind::hccs: return config_.hccs_bandwidth;
    case LinkKind::pcie: return config_.pcie_bandwidth;
    case LinkKind::roce: return config_.roce_bandwidth;
  }
  return 0;
}

double Topology::latency(LinkKind kind) const {
  switch (kind) {
    case LinkKind::hccs: return config_.hccs_latency;
    case LinkKind::pcie: return config_.pcie_latency;
    case LinkKind::roce: return config_.roce_latency;
  }
  return 0;
}

}  // namespace vinci::models
