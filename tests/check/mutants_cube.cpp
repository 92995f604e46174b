// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/check/cube_pipeline.h"
#include "tests/check/mutants.h"
#include "tests/support/timed_run.h"

namespace vinci::test {
namespace {

using isa::check::FaultId;

using CubeEdit = std::function<void(const CubePipeline&, Random&, Mutant&)>;

}  // namespace

std::vector<MutantClass> cube_classes() {
  using C = CubePipeline;
  std::vector<MutantClass> out;
  const auto add = [&](std::string name, FaultId id, CubeEdit edit) {
    out.push_back({std::move(name), id, [edit = std::move(edit)](Random& random) {
                     const C c = C::random(random);
                     Mutant m{.chip = round_chip(isa::Arch::c220), .stream = {}, .program = c.program(), .at = {}};
                     edit(c, random, m);
                     m.stream = launch_stream(m.chip, isa::CoreKind::cube, m.program.text(), c.buffers(), 1);
                     return m;
                   }});
  };
  add("no flag from GM load to L1 load", FaultId::raw_hazard, [](const C&, Random& r, Mutant& m) {
    drop(m, {"l1 set", "l1 wait"});
    const bool a = r() % 2 == 0;
    m.at = a ? "ca 0 0" : "cb 0 0";
    m.other = a ? "load a" : "load b";
  });
  add("no flag from L0 load to mad", FaultId::raw_hazard, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles), k = below(r, 2);
    drop(m, {tag("l0 set", t, k), tag("l0 wait", t, k)});
    m.at = tag("mad", t, k);
    m.other = tag(r() % 2 == 0 ? "ca" : "cb", t, k);
  });
  add("no flag from mad to the load that reuses L0", FaultId::war_hazard, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles - 1), k = below(r, 2);
    drop(m, {tag("l0 used", t, k), tag("l0 free", t + 1, k)});
    m.at = tag(r() % 2 == 0 ? "ca" : "cb", t + 1, k);
    m.other = tag("mad", t, k);
  });
  add("no flag from mad to FIXPIPE", FaultId::raw_hazard, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles);
    drop(m, {tag("c set", t), tag("c wait", t)});
    m.at = tag("store", t);
    m.other = tag("mad", t, 1);
  });
  add("no flag from FIXPIPE to the mad that reuses L0C", FaultId::war_hazard, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles - 1);
    drop(m, {tag("c stored", t), tag("c free", t + 1)});
    m.at = tag("mad", t + 1, 0);
    m.other = tag("store", t);
  });
  add("no pipe_barrier between short mads", FaultId::missing_pipe_barrier, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles);
    drop(m, {tag("barrier", t)});
    m.at = tag("mad", t, 1);
    m.other = tag("mad", t, 0);
  });
  add("FIXPIPE waits for unit flags that no mad raises", FaultId::unit_flag_wait, [](const C& c, Random&, Mutant& m) {
    const std::string store = tag("store", c.tiles - 1);
    std::string text = m.program.lines[m.program.at(store)].text;
    const std::string off = ", 0, 0, 0, 0, 1";
    text.replace(text.find(off), off.size(), ", 3, 0, 0, 0, 1");
    m.program.replace(store, text);
    m.at = store;
  });
  add("mad waits for unit flags that FIXPIPE left up", FaultId::circular_wait, [](const C& c, Random&, Mutant& m) {
    const u32 t = c.tiles - 1;  // whose first mad raised them
    m.program.replace(tag("mad", t, 0), c.mad_text(0, c.l0(0), c.l0(0), 0) + ", 3");
    m.program.replace(tag("mad", t, 1), c.mad_text(0, c.l0(1), c.l0(1), 1) + ", 3");
    m.at = tag("mad", t, 1) + "|" + tag("c wait", t);
  });
  add("L1 left", FaultId::out_of_bounds, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles), k = below(r, 2);
    m.program.replace(tag("ca", t, k),
                      fmt::format("load_cbuf_to_ca 0x0, 0x0, {}, {}, 1, 0, 0", 129 - c.m1 + below(r, 50), c.m1));
    m.at = tag("ca", t, k);
  });
  add("L0A or L0B left", FaultId::out_of_bounds, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles), k = below(r, 2);
    const bool a = r() % 2 == 0;
    m.program.replace(tag(a ? "ca" : "cb", t, k),
                      fmt::format("load_cbuf_to_c{} {:#x}, 0x0, 0, {}, 1, 0, 0", a ? "a" : "b",
                                  0x4000 - 512 * below(r, 2), 2 + below(r, 4)));
    m.at = tag(a ? "ca" : "cb", t, k);
  });
  add("L0C left", FaultId::out_of_bounds, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles), k = below(r, 2);
    m.program.replace(tag("mad", t, k), c.mad_text(0x8000 - 1024 * below(r, c.m1 * c.n1), c.l0(k), c.l0(k), k));
    m.at = tag("mad", t, k);
  });
  add("misaligned fractal", FaultId::misaligned_access, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles), k = below(r, 2);
    const u32 off = 32 * (1 + below(r, 15));
    const u32 which = below(r, 3);
    m.program.replace(tag("mad", t, k), c.mad_text(which == 0 ? off : 0, c.l0(k) + (which == 1 ? off : 0),
                                                   c.l0(k) + (which == 2 ? off : 0), k));
    m.at = tag("mad", t, k);
  });
  add("L1 read that was not loaded", FaultId::uninitialised_read, [](const C&, Random& r, Mutant& m) {
    const bool a = r() % 2 == 0;
    drop(m, {a ? "load a" : "load b"});
    m.at = a ? "ca 0 0" : "cb 0 0";
  });
  add("L0 read that was not loaded", FaultId::uninitialised_read, [](const C&, Random& r, Mutant& m) {
    const u32 k = below(r, 2);
    drop(m, {tag(r() % 2 == 0 ? "ca" : "cb", 0, k)});
    m.at = tag("mad", 0, k);
  });
  add("L0C read that was not written", FaultId::uninitialised_read, [](const C& c, Random&, Mutant& m) {
    m.program.replace("mad 0 0", c.mad_text(0, c.l0(0), c.l0(0), 1));  // accumulates on nothing
    m.at = "mad 0 0";
  });
  return out;
}

}  // namespace vinci::test
