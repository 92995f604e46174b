// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// How many simulated instructions a second of host time runs: a whole GEMM, start to end, in memory.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

#include "models/soc/functional.h"
#include "models/soc/simulate.h"
#include "sim/config/load.h"
#include "sim/task/load.h"
#include "tools/gen/gemm.h"

namespace {

using namespace vinci;

struct Gemm {
  config::ChipConfig chip = {};
  task::TaskStream stream = {};
};

// An edge x edge x edge GEMM; on one core where `one_core`.
Gemm make_gemm(u64 edge, bool one_core) {
  Gemm g{.chip = config::load_chip("ascend-910b1")};
  if (one_core) {
    g.chip.ai_cores = 1;
    g.chip.vector_cores = 2;
  }
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("vinci-bench-{}-{}", ::getpid(), edge);
  gen::write_gemm({.m = edge, .n = edge, .k = edge}, g.chip, 1, folder.string());
  g.stream = task::load_task_stream((folder / "gemm.yaml").string());
  return g;
}

void drop(const Gemm& g) { std::filesystem::remove_all(g.stream.folder); }

void timed(benchmark::State& state, bool with_data) {
  const Gemm g = make_gemm(static_cast<u64>(state.range(0)), state.range(1) == 1);
  u64 instructions = 0;
  for (auto _ : state) {
    task::RunMemory memory(g.stream, with_data);
    instructions += models::simulate(g.chip, g.stream, memory, {}).instructions;
  }
  drop(g);
  state.counters["instructions/s"] = benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

void BM_timing(benchmark::State& state) { timed(state, false); }
void BM_full(benchmark::State& state) { timed(state, true); }

}  // namespace

BENCHMARK(BM_timing)
    ->ArgNames({"edge", "one_core"})
    ->Args({512, 1})
    ->Args({1024, 0})
    ->Args({2048, 1})
    ->Args({2048, 0})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_full)->ArgNames({"edge", "one_core"})->Args({1024, 0})->Args({2048, 0})->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
