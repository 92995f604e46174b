// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "simulate.h"

#include <vinci/vinci.h>

#include <memory>
#include <stdexcept>

namespace {

void check(vinci_status status) {
  if (status != VINCI_OK) throw std::runtime_error(vinci_last_error());
}

template <auto Destroy>
struct Destroyer {
  void operator()(auto* handle) const { Destroy(handle); }
};
using Chip = std::unique_ptr<vinci_chip, Destroyer<vinci_chip_destroy>>;
using Stream = std::unique_ptr<vinci_stream, Destroyer<vinci_stream_destroy>>;
using Run = std::unique_ptr<vinci_run, Destroyer<vinci_run_destroy>>;

}  // namespace

Simulated simulate(std::span<const std::byte> vts, const char* chip_name, const char* output) {
  vinci_chip* made_chip = nullptr;
  check(vinci_chip_create(chip_name, nullptr, 0, &made_chip));
  const Chip chip(made_chip);
  vinci_stream* made_stream = nullptr;
  check(vinci_stream_parse(vts.data(), vts.size(), nullptr, &made_stream));
  const Stream stream(made_stream);
  vinci_run* made_run = nullptr;
  check(vinci_submit(chip.get(), stream.get(), nullptr, &made_run));
  const Run run(made_run);
  check(vinci_wait(run.get()));
  vinci_output found{};
  found.size = sizeof found;
  check(vinci_run_find_output(run.get(), output, &found));
  const float* first = static_cast<const float*>(found.data);
  return {vinci_run_cycles(run.get()), {first, first + found.bytes / sizeof *first}};
}
