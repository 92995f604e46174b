// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <benchmark/benchmark.h>

#include "isa/insns/vector.h"

// Host time of whole vector instructions: 128 repeats in UB. `items_per_second` counts lanes.
namespace vinci::isa {
namespace {

struct Core {
  GlobalMemory gm;
  CoreMem mem{BufSizes{0, 0, 0, 0, 0, 192 << 10}, gm};
  Spr spr;
  u64 status = 0;
  ResultRegisters results;
  ExecContext context{mem, spr, Arch::c220, OverflowMode::inf_nan, status, results};

  explicit Core(LaneType type) {
    for (u32 i = 0; i < (192 << 10) / 4; ++i) {
      const float x = 0.001f * static_cast<float>(i % 4096) - 2;
      if (type == LaneType::f16) {
        const u32 h = f16_bits(x);
        mem[BufId::UB].store<u32>(u64{i} * 4, h << 16 | h);
      } else {
        mem[BufId::UB].store<float>(u64{i} * 4, x);
      }
    }
  }
};

constexpr u32 kBytes = 128 * kRepeatBytes;

// The argument is the low vector mask: all lanes, or one missing (the general path).
template <class I>
void binary(benchmark::State& state) {
  Core core(LaneType::f16);
  core.spr.vector_mask[0] = static_cast<u64>(state.range(0));
  const insn::VectorBinaryArgs x{.dst = 2 * kBytes,
                                 .src0 = 0,
                                 .src1 = kBytes,
                                 .repeat = 128,
                                 .dstBlkStride = 1,
                                 .src0BlkStride = 1,
                                 .src1BlkStride = 1,
                                 .dstRepStride = 8,
                                 .src0RepStride = 8,
                                 .src1RepStride = 8,
                                 .type = 0};
  for (auto _ : state)
    I::execute(x, core.context);
  state.SetItemsProcessed(state.iterations() * 128 * 128);
}

template <class I, LaneType Src, u8 Type, int Lanes>
void unary(benchmark::State& state) {
  Core core(Src);
  core.spr.vector_mask[0] = static_cast<u64>(state.range(0));
  const insn::VectorUnaryArgs x{.scalar = kF16One,
                                .dst = 2 * kBytes,
                                .src = 0,
                                .dstBlkStride = 1,
                                .srcBlkStride = 1,
                                .repeat = 128,
                                .dstRepStride = 8,
                                .srcRepStride = 8,
                                .type = Type};
  for (auto _ : state)
    I::execute(x, core.context);
  state.SetItemsProcessed(state.iterations() * 128 * Lanes);
}

void portable_add(benchmark::State& state) {
  const BinaryKernel kernel = binary_kernel(BinaryOp::add, LaneType::f16, Path::portable);
  LaneBuffer a{}, b{}, out{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(kernel(a, b, out, {}));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * 128);
}

BENCHMARK(binary<insn::Vadd>)->Arg(-1)->Arg(-2);
BENCHMARK(binary<insn::Vmul>)->Arg(-1);
BENCHMARK(binary<insn::Vdiv>)->Arg(-1);
BENCHMARK(binary<insn::Vmax>)->Arg(-1);
BENCHMARK(unary<insn::Vrelu, LaneType::f16, 0, 128>)->Arg(-1);
BENCHMARK(unary<insn::Vmuls, LaneType::f16, 0, 128>)->Arg(-1);
BENCHMARK(unary<insn::Vexp, LaneType::f16, 0, 128>)->Arg(-1);
BENCHMARK(unary<insn::Vexp, LaneType::f32, 1, 64>)->Arg(-1);
BENCHMARK(unary<insn::VconvF162F32, LaneType::f16, 0, 64>)->Arg(-1);
BENCHMARK(unary<insn::VconvF322F16, LaneType::f32, 0, 64>)->Arg(-1);
BENCHMARK(unary<insn::VconvF322F16O, LaneType::f32, 0, 64>)->Arg(-1);
BENCHMARK(portable_add);

}  // namespace
}  // namespace vinci::isa

BENCHMARK_MAIN();
