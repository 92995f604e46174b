// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "sim/config/chip_config.h"

namespace vinci::models {

enum class LinkKind : u8 { hccs, pcie, roce };

// One direction of a wire: from device to device, or of the port of a device.
struct Link {
  static constexpr u32 kPort = ~u32{0};  // in place of a device: what is behind the port

  LinkKind kind = LinkKind::hccs;
  u32 from = 0, to = 0;

  friend auto operator<=>(const Link&, const Link&) = default;
};

std::string name(const Link& link);  // "hccs.0-1", "roce.3.out", "roce.3.in"

// Which wires are between devices; pure data. A node has groups of devices that are a full mesh of HCCS links, each
// ordered pair with a link of its own. Groups of a node are connected by the PCIe ports of the devices, nodes by their
// RoCE ports; what is behind the ports never limits.
// Source: docs of the public descriptions of servers with 910 and 910B; configs/ has the numbers.
class Topology {
 public:
  explicit Topology(const config::LinksConfig& config) : config_(config) {}

  // Of two different devices.
  LinkKind kind(u32 from, u32 to) const;
  std::vector<Link> route(u32 from, u32 to) const;
  double bandwidth(LinkKind kind) const;  // bytes per second
  double latency(LinkKind kind) const;    // seconds
  // Devices with the same number are a full mesh.
  u32 group(u32 device) const;

 private:
  u32 node(u32 device) const { return device / config_.devices_per_node; }

  const config::LinksConfig& config_;
};

}  // namespace vinci::models
