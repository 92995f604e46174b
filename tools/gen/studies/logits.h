// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "isa/base/random.h"

namespace vinci::gen {

// Logits and labels of a text detector: 5 % of the pixels are text.
struct Logits {
  std::vector<float> z, y;
};

// A normal variable as the sum of twelve uniform ones: no function of the host's mathematical library, whose last bit
// differs between hosts. Its tails end at 6 standard deviations.
inline float normal(Random& random, float mean, float deviation) {
  float sum = 0;
  for (int i = 0; i < 12; ++i)
    sum += random.uniform();
  return mean + deviation * 0.5f * sum;
}

inline Logits make_logits(u64 elements, u64 seed) {
  Random random(seed);
  Logits out;
  for (u64 i = 0; i < elements; ++i) {
    const bool text = random.next() % 20 == 0;
    out.y.push_back(text ? 1.0f : 0.0f);
    out.z.push_back(text ? normal(random, 3, 2) : normal(random, -5, 2));
  }
  return out;
}

}  // namespace vinci::gen
