// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "isa/base/error.h"
#include "sim/config/load.h"
#include "sim/config/unit_text.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

namespace vinci::cli {
namespace {

std::string print_table(const std::vector<config::ChipSummary>& chips) {
  using Line = std::array<std::string, 8>;
  std::vector<Line> lines{{"name", "arch", "cores", "clock", "FP16 TFLOPS", "memory", "L2", "product"}};
  for (const config::ChipSummary& c : chips) {
    lines.push_back(
        {c.name, std::string(isa::name(c.arch)),
         c.vector_cores == 0 ? fmt::format("{}", c.ai_cores) : fmt::format("{} + {}", c.ai_cores, c.vector_cores),
         config::write_text(c.clock), fmt::format("{:.1f}", c.peak_fp16_tflops),
         fmt::format("{} at {}", config::write_text(c.hbm_size), config::write_text(c.hbm_bandwidth)),
         config::write_text(c.l2_size), c.product});
  }
  std::array<usize, std::tuple_size_v<Line>> widths{};
  for (const Line& line : lines) {
    for (usize i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const Line& line : lines) {
    for (usize i = 0; i + 1 < line.size(); ++i)
      fmt::format_to(std::back_inserter(out), "{:<{}}  ", line[i], widths[i]);
    out += line.back() + '\n';
  }
  return out +
         "\nCores are joint cores, or cube cores + vector cores. The peak is cores * 2 * m * n * k of core.rates * "
         "clock, "
         "8192 operations a cycle and core with 16 x 16 x 16.\n";
}

struct ChipsOptions {
  std::string name;
  std::vector<std::string> overrides;
};

void print_chips(const ChipsOptions& o) {
  if (!o.name.empty()) return print_out(config::write_chip(config::load_chip(o.name, o.overrides)));
  if (!o.overrides.empty()) fail(Fault::Input, "--set changes one chip; name it: vinci chips NAME --set ...");
  print_out(print_table(config::builtin_chips()));
}

}  // namespace

void add_chips(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("chips", "List the built-in chips, or print one in full");
  const auto o = std::make_shared<ChipsOptions>();
  sub->add_option("NAME", o->name, "A built-in chip, or a chip file (a path, or a name with .yaml)");
  sub->add_option("--set", o->overrides, "Change a key: --set core.cube.startup=30")
      ->take_all()
      ->allow_extra_args(false);
  sub->footer("Example: vinci chips ascend-910b1 --set memory.hbm.bandwidth=2.4TB/s");
  sub->callback([o] { print_chips(*o); });
}

}  // namespace vinci::cli
