// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/graph/compile/network.h"

namespace vinci::graph {

// A graph of one node as a network: the first kernel that computes the node, alone. No pass runs; the tensors are on
// the device in the formats that the kernel asks for, without a Cast or a TransData around it. `sizes` replaces sizes
// of the tiling that the kernel's estimate puts first. Throws Fault::Unsupported where no kernel computes the node, and
// Fault::Input for a size that the tiling does not have and for a tiling that does not fit the buffers of the chip.
Network compile_alone(std::unique_ptr<Graph> graph, const config::ChipConfig& chip, const Tiling& sizes = {});

// The tilings of the network's node, the best by estimate first.
std::vector<Tiling> offered_tilings(const Network& network);
// Gives the node another tiling, under the conditions of compile_alone.
void use_tiling(Network& network, const Tiling& tiling);

}  // namespace vinci::graph
