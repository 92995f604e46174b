// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/resnet50.h"

#include <array>

namespace vinci::studies {

std::vector<Resnet50Layer> resnet50() {
  std::vector<Resnet50Layer> layers{{.in = 3, .out = 64, .window = 7, .edge = 112}};
  u64 in = 64;
  constexpr std::array<u64, 4> kBlocks{3, 4, 6, 3};
  for (usize stage = 0; stage < kBlocks.size(); ++stage) {
    const u64 width = u64{64} << stage, edge = u64{56} >> stage;
    for (u64 block = 0; block < kBlocks[stage]; ++block) {
      layers.push_back({.in = in, .out = width, .window = 1, .edge = edge});
      layers.push_back({.in = width, .out = width, .window = 3, .edge = edge});
      layers.push_back({.in = width, .out = 4 * width, .window = 1, .edge = edge});
      // the projection of the shortcut
      if (block == 0) layers.push_back({.in = in, .out = 4 * width, .window = 1, .edge = edge});
      in = 4 * width;
    }
  }
  layers.push_back({.in = in, .out = 1000, .classifier = true});
  return layers;
}

}  // namespace vinci::studies
