// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors

// Whole runs, in memory, from the first host call to the last task; reading of inputs and writing of results are not
// measured. tests/bench/table.py runs each in a process of its own and prints them side by side.
//   timing/gemm, full/gemm, functional/gemm   EDGE^3 in FP16 on CORES cores of an ascend-910b1; full on THREADS threads
//   timing/add, full/add                      EDGE x EDGE sums in FP16 on all its vector cores
//   timing/lines                              sums in FP16 of 64 MiB on the 32 cores of an ascend-910a, in tiles of
//                                             TILE_KIB: nearly all host time goes to the lines of the copies
//   timing/loop                               about INSTRUCTIONS on one core of an ascend-910b1, in a loop of a copy, a
//                                             sum, flags and a branch: what an instruction costs in short and long runs
//   sgemm                                     the same product by OpenBLAS in FP32 on THREADS threads
//   startup                                   a process `vinci run` on a task stream of no task
// Counters: cpu_ms of all threads of the process, for machines that have other work too; instructions (of the simulated
// cores), data_MiB (all buffers of host and device) and peak_MiB: the most
// memory that the process held since the inputs were made.
#include <benchmark/benchmark.h>
#include <cblas.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <fstream>

#include "isa/text/text.h"
#include "models/soc/functional.h"
#include "models/soc/simulate.h"
#include "sim/config/load.h"
#include "sim/io/program.h"
#include "sim/task/load.h"
#include "sim/task/run_memory.h"
#include "tests/support/gemm_folder.h"
#include "tests/support/shell.h"
#include "tools/gen/stream_folder.h"
#include "tools/gen/tile_pipeline.h"

namespace {

using namespace vinci;

enum class Mode : u8 { timing, full, functional };

struct Problem {
  config::ChipConfig chip = {};
  task::TaskStream stream = {};

  double megabytes() const {
    u64 bytes = 0;
    for (const task::Buffer& b : stream.buffers)
      bytes += b.bytes;
    return static_cast<double>(bytes) / 0x1p20;
  }
};

Problem add(u64 edge, const test::TempFolder& folder) {
  Problem p{.chip = config::load_chip("ascend-910b1")};
  gen::StreamFolder s("add", p.chip, "z = x + y");
  s.random_input("x", "f2", edge * edge);
  s.random_input("y", "f2", edge * edge);
  s.output("z", "f2", edge * edge);
  const gen::Elementwise sum{.input_bytes = {2, 2}, .body = [](const gen::ElementwiseTile& t) {
                               t.binary("vadd.f16", t.out, t.in[0], t.in[1]);
                             }};
  s.task("add", sum, edge * edge, {"x", "y", "z"});
  p.stream = task::load_task_stream(s.write(folder.path().string()));
  return p;
}

Problem lines(u64 tile) {
  constexpr u64 kBytes = 64 << 20;  // of a tensor
  isa::ProgramBuilder program("add", isa::Arch::c100);
  const auto ub = [&](u32 slot, u32 operand) { return (slot * 3 + operand) * tile; };
  const isa::Reg x = program.reg("x", 3), y = program.reg("y", 4), z = program.reg("z", 5), at = program.reg("at", 6);
  const isa::Reg x_at = program.reg("x_at", 7), y_at = program.reg("y_at", 8), z_at = program.reg("z_at", 9);
  gen::TilePipeline tiles{.tiles = kBytes / tile};
  tiles.prologue = [&](isa::ProgramBuilder& p) {
    p.ld_arg(x, 0);
    p.ld_arg(y, 1);
    p.ld_arg(z, 2);
  };
  tiles.locate = [&](isa::ProgramBuilder& p, isa::Reg number) {
    p.mul(at, number, tile);
    p.add(x_at, x, at);
    p.add(y_at, y, at);
    p.add(z_at, z, at);
  };
  tiles.load = [&](isa::ProgramBuilder& p, u32 slot) {
    p.copy_gm_to_ubuf(ub(slot, 0), x_at, 0, 1, tile / 32, 0, 0);
    p.copy_gm_to_ubuf(ub(slot, 1), y_at, 0, 1, tile / 32, 0, 0);
  };
  tiles.compute = [&](isa::ProgramBuilder& p, u32 slot) {
    p.vadd(isa::Type::f16, ub(slot, 2), ub(slot, 0), ub(slot, 1), tile / 256, 1, 1, 1, 8, 8, 8);
  };
  tiles.store = [&](isa::ProgramBuilder& p, u32 slot) { p.copy_ubuf_to_gm(z_at, ub(slot, 2), 0, 1, tile / 32, 0, 0); };
  gen::write_tile_pipeline(program, tiles);
  Problem p{.chip = config::load_chip("ascend-910a")};
  p.stream.arch = p.chip.arch;
  task::KernelLaunch launch{.block_dim = p.chip.ai_cores};
  for (const char* name : {"x", "y", "z"}) {
    launch.args.push_back(task::Slice{.buffer = static_cast<u32>(p.stream.buffers.size())});
    task::Buffer& buffer = p.stream.buffers.emplace_back();
    buffer.name = name;
    buffer.bytes = kBytes;
  }
  p.stream.kernels.push_back({.name = "add", .program = program.finish().program()});
  p.stream.streams.push_back({.name = "main", .tasks = {{.name = "add", .op = launch}}});
  return p;
}

Problem loop(u64 instructions) {
  constexpr std::string_view kBody =
      "again:\n"
      "  copy_gm_to_ubuf 0, X1, 0, 1, 8, 0, 0\n"
      "  set_flag PIPE_MTE2, PIPE_V, 0\n"
      "  wait_flag PIPE_MTE2, PIPE_V, 0\n"
      "  vadd.f16 1024, 0, 0, 1, 1, 1, 1, 8, 8, 8\n"
      "  set_flag PIPE_V, PIPE_MTE2, 0\n"
      "  wait_flag PIPE_V, PIPE_MTE2, 0\n"
      "  add X0, X0, 1\n"
      "  blt X0, X2, again\n";
  constexpr u64 kPerRound = 8;
  const std::string text = fmt::format("  ld_arg X1, 0\n  mov X0, 0\n  mov X2, {}\n{}  pipe_barrier PIPE_ALL\n  end\n",
                                       instructions / kPerRound, kBody);
  Problem p{.chip = config::load_chip("ascend-910b1")};
  p.stream.arch = p.chip.arch;
  task::Buffer& x = p.stream.buffers.emplace_back();
  x.name = "x";
  x.bytes = 256;
  p.stream.kernels.push_back(
      {.name = "loop", .type = task::KernelType::AIV_ONLY, .program = isa::assemble(text, "loop.s", p.chip.arch)});
  task::KernelLaunch launch{.block_dim = 1};
  launch.args.push_back(task::Slice{.buffer = 0});
  p.stream.streams.push_back({.name = "main", .tasks = {{.name = "loop", .op = launch}}});
  return p;
}

// The peak of the process, from a new beginning; Linux only, else 0.
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }
double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

double cpu_milliseconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

// Called once for each iteration.
template <class F>
void timed(benchmark::State& state, F&& work) {
  const double cpu = cpu_milliseconds();
  const auto begin = std::chrono::steady_clock::now();
  work();
  benchmark::Counter& sum = state.counters["cpu_ms"];
  sum.flags = benchmark::Counter::kAvgIterations;
  sum.value += cpu_milliseconds() - cpu;
  state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

void run(benchmark::State& state, const Problem& p, Mode mode, u32 threads = 1) {
  u64 instructions = 0;
  forget_peak();
  for (auto _ : state) {
    task::RunMemory memory(p.stream, mode != Mode::timing);
    timed(state, [&] {
      instructions = mode == Mode::functional
                         ? models::run_functional(p.chip, p.stream, memory, {})
                         : models::simulate(p.chip, p.stream, memory, {.threads = threads}).instructions;
    });
  }
  state.counters["instructions"] = static_cast<double>(instructions);
  state.counters["data_MiB"] = mode == Mode::timing ? 0 : p.megabytes();
  state.counters["peak_MiB"] = peak_megabytes();
}

template <Mode mode>
void run_gemm(benchmark::State& state) {
  const test::GemmFolder g(static_cast<u64>(state.range(0)), static_cast<u32>(state.range(1)));
  run(state, {.chip = g.chip, .stream = g.stream}, mode, mode == Mode::full ? static_cast<u32>(state.range(2)) : 1);
}

template <Mode mode>
void run_add(benchmark::State& state) {
  const test::TempFolder folder("vinci-bench-add");
  run(state, add(static_cast<u64>(state.range(0)), folder), mode);
}

void run_lines(benchmark::State& state) { run(state, lines(static_cast<u64>(state.range(0)) * 1024), Mode::timing); }

void run_loop(benchmark::State& state) { run(state, loop(static_cast<u64>(state.range(0))), Mode::timing); }

void sgemm(benchmark::State& state) {
  const auto n = static_cast<blasint>(state.range(0));
  const auto elements = static_cast<usize>(n) * static_cast<usize>(n);
  openblas_set_num_threads(static_cast<int>(state.range(1)));
  std::vector<float> a(elements, 0.5f), b(elements, 0.25f), c(elements);
  forget_peak();
  for (auto _ : state) {
    timed(state, [&] {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
    });
    benchmark::DoNotOptimize(c.data());
  }
  state.SetLabel(openblas_get_corename());
  state.counters["data_MiB"] = static_cast<double>(3 * elements * sizeof(float)) / 0x1p20;
  state.counters["peak_MiB"] = peak_megabytes();
}

void startup(benchmark::State& state) {
  const test::TempFolder folder("vinci-bench-startup");
  const std::string file = folder / "empty.yaml", out = "--out=" + folder / "out";
  std::ofstream(file) << "vinci: 1\nname: empty\narch: c220\nstreams: {main: []}\n";
  const std::vector<std::string> words{VINCI_PROGRAM, "run", file, "--mode=timing", out, "--quiet"};
  for (auto _ : state) {
    int code = 0;
    timed(state, [&] { code = io::run_program(words); });
    if (code != 0) state.SkipWithError("vinci run failed");
  }
}

void add_benchmarks() {
  const auto add = [](const char* name, auto function) {
    return benchmark::RegisterBenchmark(name, function)->UseManualTime()->Unit(benchmark::kMillisecond);
  };
  for (const i64 edge : {512, 1024, 2048, 4096, 8192}) {
    for (const i64 cores : {1, 24}) {
      add("timing/gemm", run_gemm<Mode::timing>)->ArgNames({"edge", "cores"})->Args({edge, cores});
      for (const i64 threads : {1, 2}) {
        add("full/gemm", run_gemm<Mode::full>)->ArgNames({"edge", "cores", "threads"})->Args({edge, cores, threads});
      }
    }
    add("functional/gemm", run_gemm<Mode::functional>)->ArgNames({"edge", "cores"})->Args({edge, 24});
    for (const i64 threads : {1, 2})
      add("sgemm", sgemm)->ArgNames({"edge", "threads"})->Args({edge, threads});
  }
  add("timing/add", run_add<Mode::timing>)->ArgName("edge")->Arg(8192);
  add("full/add", run_add<Mode::full>)->ArgName("edge")->Arg(8192);
  for (const i64 tile : {2, 8, 32})
    add("timing/lines", run_lines)->ArgName("tile_KiB")->Arg(tile);
  for (i64 instructions = 10'000; instructions <= 100'000'000; instructions *= 10)
    add("timing/loop", run_loop)->ArgName("instructions")->Arg(instructions);
  add("startup", startup);
}

}  // namespace

int main(int argc, char** argv) {
  add_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
