// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors

// How fast the meaning of `mad` is: Mad::execute on L0 tiles, with everything it does for one instruction (bounds,
// reading fractals, widening f16), against sgemm of OpenBLAS on one thread with f32 inputs that are ready to use.
//
//   vinci_bench_mad
//     the ratios: each tile against sgemm of the same m, k, n and against sgemm of 1024^3, in turns, so that a busy
//     machine disturbs both alike; CPU time, median of the rounds
//   vinci_bench_mad --benchmark_filter=.
//     the same pieces and the other types as Google Benchmark counters
//
// OpenBLAS chooses its kernels by processor or by OPENBLAS_CORETYPE; the first line of the output names them. Compare
// with the best that the machine can do: SkylakeX or Cooperlake where it has AVX-512.
#include <benchmark/benchmark.h>
#include <cblas.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "isa/insns/cube.h"

namespace vinci::isa {
namespace {

struct Size {
  u16 m, k, n;
  double flops() const { return 2.0 * m * k * n; }
};

constexpr std::array<Size, 7> kTiles{Size{128, 64, 256}, {128, 128, 128}, {256, 64, 128}, {128, 256, 128},
                                     {64, 64, 64},       {16, 256, 256},  {120, 60, 250}};

// A core whose L0 buffers hold random f16 numbers of ordinary size; as bf16 and f32 they are ordinary too.
class MadBench {
 public:
  explicit MadBench(Size s, u8 type = insn::Mad::f162f32, Accumulation order = Accumulation::sequential)
      : args_{0, 0, 0, s.m, s.k, s.n, 0, type} {
    std::minstd_rand random(1);
    for (const BufId b : {BufId::L0A, BufId::L0B}) {
      for (u64 at = 0; at < mem_[b].size(); at += 2) {
        mem_[b].store<u16>(at, static_cast<u16>(0x3000 + random() % 0xc00));
      }
    }
    context_.numerics.accumulation = order;
  }
  void operator()() { insn::Mad::execute(args_, context_); }

 private:
  GlobalMemory gm_;
  CoreMem mem_{BufSizes{0, 0, 256 << 10, 256 << 10, 256 << 10, 0}, gm_};
  Spr spr_;
  u64 status_ = 0;
  ResultRegisters results_;
  ExecContext context_{mem_, spr_, Arch::c100, OverflowMode::inf_nan, status_, results_};
  insn::Mad::Args args_;
};

class SgemmBench {
 public:
  explicit SgemmBench(Size s) : s_(s), a_(usize{s.m} * s.k, 0.5f), b_(usize{s.k} * s.n, 0.25f), c_(usize{s.m} * s.n) {}
  void operator()() {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, s_.m, s_.n, s_.k, 1.0f, a_.data(), s_.k, b_.data(), s_.n,
                1.0f, c_.data(), s_.n);
  }

 private:
  Size s_;
  std::vector<float> a_, b_, c_;
};

// CPU time of this thread in nanoseconds: other work of the machine does not count.
double cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// GFLOP/s of `work` over about 20 ms.
template <class F>
double rate(F& work, double flops) {
  const auto count = std::max<i64>(1, static_cast<i64>(1e9 / flops));
  const double begin = cpu_now();
  for (i64 i = 0; i < count; ++i)
    work();
  return flops * static_cast<double>(count) / (cpu_now() - begin);
}

double median(std::vector<double> v) {
  std::ranges::nth_element(v, v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2));
  return v[v.size() / 2];
}

void print_ratios() {
  constexpr int rounds = 15;
  constexpr Size large{1024, 1024, 1024};
  SgemmBench reference(large);
  fmt::print("OpenBLAS kernels: {}\n", openblas_get_corename());
  fmt::print("{:>16} {:>14} {:>14} {:>14} {:>8} {:>8}\n", "m x k x n", "mad GFLOP/s", "sgemm GFLOP/s", "sgemm 1024^3",
             "ratio", "ratio");
  for (const Size& s : kTiles) {
    MadBench mad(s);
    SgemmBench sgemm(s);
    mad();
    sgemm();
    reference();
    std::vector<double> ours, same, best, to_same, to_best;
    for (int i = 0; i < rounds; ++i) {
      ours.push_back(rate(mad, s.flops()));
      same.push_back(rate(sgemm, s.flops()));
      best.push_back(rate(reference, large.flops()));
      to_same.push_back(ours.back() / same.back());
      to_best.push_back(ours.back() / best.back());
    }
    fmt::print("{:>16} {:14.1f} {:14.1f} {:14.1f} {:8.2f} {:8.2f}\n", fmt::format("{}x{}x{}", s.m, s.k, s.n),
               median(ours), median(same), median(best), median(to_same), median(to_best));
  }
}

template <class F>
void run(benchmark::State& state, F work, double flops) {
  for (auto _ : state)
    work();
  state.counters["FLOP/s"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

void register_all() {
  const auto add = [](const std::string& name, auto make, Size s) {
    benchmark::RegisterBenchmark(fmt::format("{}/{}x{}x{}", name, s.m, s.k, s.n).c_str(),
                                 [make, s](benchmark::State& state) {
                                   auto work = make(s);
                                   run(state, std::ref(*work), s.flops());
                                 });
  };
  const auto mad = [](u8 type, Accumulation order = Accumulation::sequential) {
    return [type, order](Size s) { return std::make_unique<MadBench>(s, type, order); };
  };
  const auto sgemm = [](Size s) { return std::make_unique<SgemmBench>(s); };
  for (const Size& s : kTiles) {
    add("mad.f162f32", mad(insn::Mad::f162f32), s);
    add("mad.f162f16", mad(insn::Mad::f162f16), s);
    add("mad.s8", mad(insn::Mad::s8), s);
    add("mad.bf162f32", mad(insn::Mad::bf162f32), s);
    add("mad.f322f32", mad(insn::Mad::f322f32), s);
    for (const Accumulation order : {Accumulation::fractal, Accumulation::pairwise}) {
      add(fmt::format("mad.f162f32.{}", name(order)), mad(insn::Mad::f162f32, order), s);
    }
    add("sgemm", sgemm, s);
  }
  add("sgemm", sgemm, {1024, 1024, 1024});
}

}  // namespace
}  // namespace vinci::isa

int main(int argc, char** argv) {
  openblas_set_num_threads(1);
  if (argc == 1) {
    vinci::isa::print_ratios();
    return 0;
  }
  vinci::isa::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
