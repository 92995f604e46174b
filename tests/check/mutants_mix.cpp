// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/check/mix_pipeline.h"
#include "tests/check/mutants.h"

namespace vinci::test {
namespace {

using isa::check::FaultId;

using MixEdit = std::function<void(const MixPipeline&, Random&, Mutant&)>;

}  // namespace

std::vector<MutantClass> mix_classes() {
  using X = MixPipeline;
  std::vector<MutantClass> out;
  const auto add = [&](std::string name, FaultId id, MixEdit edit) {
    out.push_back({std::move(name), id, [edit = std::move(edit)](Random& random) {
                     const X x = X::random(random);
                     Mutant m{.chip = x.chip(), .stream = {}, .program = x.program(), .at = {}};
                     edit(x, random, m);
                     m.stream = x.stream(m.program);
                     return m;
                   }});
  };
  add("ffts_cross_core_sync left out", FaultId::wait_without_set, [](const X& x, Random&, Mutant& m) {
    drop(m, {tag("full set", x.tiles - 1)});
    m.at = tag("full wait", x.tiles - 1);
  });
  add("wait_flag_dev of another flag", FaultId::wait_without_set, [](const X& x, Random& r, Mutant& m) {
    const u32 t = 1 + below(r, x.tiles - 1);
    m.program.replace(tag("free wait", t), fmt::format("wait_flag_dev {}", 2 + below(r, 14)));
    m.at = tag("free wait", t);
  });
  add("wait_flag_dev left out at the end", FaultId::unpaired_cross_core_set, [](const X& x, Random&, Mutant& m) {
    drop(m, {tag("full wait", x.tiles - 1)});
    m.at = tag("full set", x.tiles - 1);
  });
  add("one ffts_cross_core_sync too many", FaultId::unpaired_cross_core_set, [](const X& x, Random&, Mutant& m) {
    m.program.insert_after(tag("load", x.tiles - 1), "ffts_cross_core_sync PIPE_MTE2, 0x121", "more");
    m.at = "more";
  });
  add("AIC and AIV wait for each other", FaultId::circular_wait, [](const X&, Random& r, Mutant& m) {
    m.program.insert_after(r() % 2 == 0 ? "fill 0" : "filled wait 0", "wait_flag_dev 1", "too early");
    m.at = "too early|full wait 0";
  });
  add("no flag from AIV to AIC", FaultId::core_overlap, [](const X& x, Random&, Mutant& m) {
    const u32 t = x.tiles - 1;
    drop(m, {tag("full set", t), tag("full wait", t)});
    m.at = tag("load", t) + "|" + tag("store", t);
  });
  add("no flag from AIC to AIV", FaultId::core_overlap, [](const X& x, Random&, Mutant& m) {
    const u32 t = x.tiles - 1;
    drop(m, {tag("free set", t - 1), tag("free wait", t)});
    m.at = tag("load", t - 1) + "|" + tag("store", t);
  });
  add("cross-core flag set by a pipe that did not store", FaultId::core_overlap, [](const X& x, Random& r, Mutant& m) {
    const u32 t = below(r, x.tiles);
    m.program.replace(tag("full set", t), "ffts_cross_core_sync PIPE_V, 0x21");
    m.at = tag("load", t) + "|" + tag("store", t);
  });
  add("cross-core flag set more often than it can count", FaultId::cross_core_overflow,
      [](const X& x, Random& r, Mutant& m) {
        const u32 flag = 2 + below(r, 14);
        std::string before = tag("load", below(r, x.tiles));
        for (u32 i = 0; i < 16; ++i) {
          const std::string set = tag("set", i);
          m.program.insert_after(before, fmt::format("ffts_cross_core_sync PIPE_MTE2, {:#x}", 0x21 | flag << 8), set);
          before = set;
        }
        m.at = "set 15";
      });
  add("no set_ffts_base_addr", FaultId::cross_core_setup, [](const X&, Random& r, Mutant& m) {
    const bool cube = r() % 2 == 0;
    drop(m, {cube ? "base c" : "base v"});
    m.at = cube ? "full wait 0" : "full set 0";
  });
  add("mode of other cores", FaultId::cross_core_setup, [](const X& x, Random& r, Mutant& m) {
    const u32 t = below(r, x.tiles - 1);
    m.program.replace(tag("free set", t), "ffts_cross_core_sync PIPE_MTE2, 0x111");  // mode 1 is between AIVs
    m.at = tag("free set", t);
  });
  return out;
}

}  // namespace vinci::test
