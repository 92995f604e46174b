// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// mad back to back on operands that are in L0.
#include "tools/validate/family.h"
#include "tools/validate/timed_run.h"

namespace vinci::validate {
namespace {

Values measure_mad_loop(const Params& p, const config::ChipConfig& chip) {
  // Products that depend on each other: none starts before the one before is through.
  const bool fenced = p.flag("fenced");
  const u64 m = p.whole("m"), k = p.whole("k"), n = p.whole("n");
  const Loop loop{.cube = true, .body = [&](isa::ProgramBuilder& b, isa::Reg /*data*/) {
                    b.call("mad." + p.text("type"), {0, 0, 0, m, k, n, 1});
                    if (fenced) b.pipe_barrier(isa::PipeId::M);
                  }};
  return {{"cycles", steady_cycles(chip, loop)}};
}

}  // namespace

Family mad_loop() {
  return {.name = "mad_loop",
          .doc = "one mad many times",
          .parameters = {{"type", "", "", "of mad: f162f32"},
                         {"m", "element", "", "rows of A"},
                         {"k", "element", "", "columns of A"},
                         {"n", "element", "", "columns of B"},
                         {"fenced", "", "0", "1: each waits until the one before is through"}},
          .metrics = {{"cycles", "cycle", "that each mad adds"}},
          .measure = measure_mad_loop};
}

}  // namespace vinci::validate
