// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// z = x + y on 8 vector cores: writes the program and its task stream, saves both, and simulates them in this process.
#include <vinci/builder.h>

#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

#include "simulate.h"

using namespace vinci;
constexpr u32 kBlocks = 8, kTiles = 4, kTileBytes = 16384, kCount = kBlocks * kTiles * kTileBytes / 4;

// A block adds kTiles tiles; copies and additions of neighbouring tiles overlap.
isa::BuiltProgram add_program() {
  isa::ProgramBuilder p("add", isa::Arch::c220);
  const isa::Reg x = p.arg("x"), y = p.arg("y"), z = p.arg("z"), first = p.reg("first");
  p.get_block_idx(first);
  p.set(first, first * kTiles * kTileBytes);
  for (const isa::Reg r : {x, y, z})
    p.add(r, r, first);
  const isa::Slots a = p.slots("a", 2, kTileBytes), b = p.slots("b", 2, kTileBytes), c = p.slots("c", 2, kTileBytes);
  p.loop(kTiles, [&](isa::Reg) {
    p.fill(a, [&](isa::Reg to) { p.copy_gm_to_ubuf(to, x, 0, 1, kTileBytes / 32, 0, 0); });
    p.fill(b, [&](isa::Reg to) { p.copy_gm_to_ubuf(to, y, 0, 1, kTileBytes / 32, 0, 0); });
    p.drain(a, [&](isa::Reg u) {
      p.drain(b, [&](isa::Reg v) {
        p.fill(c, [&](isa::Reg w) { p.vadd(isa::Type::f32, w, u, v, kTileBytes / 256, 1, 1, 1, 8, 8, 8); });
      });
    });
    p.drain(c, [&](isa::Reg from) { p.copy_ubuf_to_gm(z, from, 0, 1, kTileBytes / 32, 0, 0); });
    for (const isa::Reg r : {x, y, z})
      p.add(r, r, kTileBytes);
  });
  p.end_block();
  return p.finish();
}

int main() try {
  std::vector<float> x(kCount, 1.5f), y(kCount);
  std::iota(y.begin(), y.end(), 0.0f);
  task::StreamBuilder s("vector_add", isa::Arch::c220);
  const task::BufferRef hx = s.host_data<float>("hx", "f4", x), hy = s.host_data<float>("hy", "f4", y);
  const task::BufferRef hz = s.host({.name = "hz", .output = "z.npy", .dtype = "f4", .shape = {kCount}});
  const task::BufferRef dx = s.device("x", 4 * kCount), dy = s.device("y", 4 * kCount), dz = s.device("z", 4 * kCount);
  const task::KernelRef add = s.kernel("add", task::KernelType::AIV_ONLY, add_program());
  s.stream("main").memcpy(dx, hx).memcpy(dy, hy).launch(add, kBlocks, {dx, dy, dz}).memcpy(hz, dz);
  const task::BuiltStream built = s.finish();
  std::printf("saved %s\n", built.write("vector_add").c_str());  // with add.s and the data: for vinci run

  const Simulated run = simulate(built.vts(), "ascend-910b1", "hz");
  u32 wrong = 0;
  for (u32 i = 0; i < kCount; ++i)
    wrong += run.output[i] != x[i] + y[i];
  std::printf("%llu cycles, %u wrong\n", run.cycles, wrong);
  return wrong != 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
