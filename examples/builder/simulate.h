// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A task stream that is bytes in this process, simulated here: what a compiler calls in a loop.
#ifndef EXAMPLES_BUILDER_SIMULATE_H
#define EXAMPLES_BUILDER_SIMULATE_H

#include <cstddef>
#include <span>
#include <vector>

struct Simulated {
  unsigned long long cycles;
  std::vector<float> output;
};

// Runs the .vts on a chip and reads the named output, which is float32. Throws std::runtime_error.
Simulated simulate(std::span<const std::byte> vts, const char* chip, const char* output);

#endif
