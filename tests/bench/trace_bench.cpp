// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Timelines: bytes and time of a million spans, as JSON and in the format of Perfetto.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "sim/trace/chrome_trace.h"
#include "sim/trace/perfetto_trace.h"

namespace {

using namespace vinci;

constexpr u64 kSpans = 1'000'000;

// A pipeline as kernels are: 72 cores with 4 pipes, loops whose operands come again.
template <class Writer>
void timeline(benchmark::State& state) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("vinci_bench_{}", ::getpid())).string();
  std::vector<std::string> details;
  for (u32 i = 0; i < 4096; ++i)
    details.push_back(fmt::format("vadd.f16 dst=0x{:x} src0=0x{:x} src1=0x{:x} repeat=64", 256 * i, 512 * i, 128 * i));
  for (auto _ : state) {
    Writer writer(path, 1.85e9);
    std::vector<trace::TrackId> tracks;
    for (u32 core = 0; core < 72; ++core) {
      for (const char* pipe : {"V", "MTE2", "MTE3", "S"})
        tracks.push_back(writer.track(fmt::format("core{}.AIV", core), pipe));
    }
    for (u64 i = 0; i < kSpans; ++i) {
      const u64 t = i / tracks.size() * 50;
      writer.span({.track = tracks[i % tracks.size()],
                   .name = "vadd",
                   .queued = t,
                   .begin = t + 10,
                   .end = t + 50,
                   .done = t + 70,
                   .detail = details[i % details.size()],
                   .source = "kernel.s",
                   .line = static_cast<u32>(i % 100)});
    }
    writer.commit();
  }
  state.counters["MB"] = static_cast<double>(std::filesystem::file_size(path)) * 1e-6;
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kSpans));
  std::filesystem::remove(path);
}
BENCHMARK(timeline<trace::ChromeTrace>)->Unit(benchmark::kMillisecond)->Name("json");
BENCHMARK(timeline<trace::PerfettoTrace>)->Unit(benchmark::kMillisecond)->Name("perfetto");

}  // namespace

BENCHMARK_MAIN();
