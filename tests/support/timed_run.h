// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isa/mem/global_memory.h"
#include "models/soc/simulate.h"

// Short assembly programs on small chips in time, and what a test wants to know of such a run.
namespace vinci::test {

// A span of a trace, with the names of its lane.
struct Seen {
  std::string core, pipe;  // "core0.AI_CORE", "MTE2"
  std::string name, detail, source;
  u64 queued = 0, begin = 0, end = 0, done = 0;
  u32 line = 0;
};

struct Arrow {
  std::string from, to;  // "core0.AI_CORE.MTE2"
  u64 begin = 0, end = 0;
  std::string name;
};

// Keeps everything that a simulation shows.
class Recorder final : public trace::Sink {
 public:
  trace::TrackId track(std::string_view group, std::string_view name) override;
  void span(const trace::Span& span) override;
  void flow(trace::TrackId from, u64 from_cycle, trace::TrackId to, u64 to_cycle, std::string_view name) override;

  // The `n`th span of that name, in the order of completion; throws when there are fewer.
  const Seen& nth(std::string_view name, usize n = 0) const;
  usize count(std::string_view name) const;

  const std::vector<Seen>& spans() const { return spans_; }
  const std::vector<Arrow>& arrows() const { return arrows_; }

 private:
  struct Track {
    std::string group, name;
  };
  std::vector<Track> tracks_;
  std::vector<Seen> spans_;
  std::vector<Arrow> arrows_;
};

// One core (c220: one AIC and one AIV) at 1 GHz with round numbers, so that a test can do the sums: issue 1 cycle,
// nothing before the first instruction, one L2 slice and one HBM channel of 512 B a cycle, L2 hit 100, HBM 200 more.
// The cost lines are in the source.
config::ChipConfig round_chip(isa::Arch arch);

// What a program runs with.
struct Launch {
  isa::CoreKind kind = isa::CoreKind::joint;
  u32 blocks = 1;
  u64 gm_bytes = 64 * 1024;  // of the one device buffer, its address is kernel argument 0
  bool with_data = true;
  u64 max_cycles = 1'000'000;
};

// A task stream of one kernel that is launched once. Without `.arch` in the text it is the one of `chip`.
task::TaskStream kernel_stream(const config::ChipConfig& chip, std::string_view text, const Launch& launch = {});

// The address of the first device buffer, as programs see it.
inline constexpr u64 kGm = isa::GlobalMemory::kBase;

// One run of a program with everything that it leaves behind.
struct Ran {
  models::Result result;
  Recorder seen;
  std::vector<std::byte> gm;  // the device buffer afterwards, empty without data

  u64 begin_of(std::string_view name, usize n = 0) const { return seen.nth(name, n).begin; }
  u64 end_of(std::string_view name, usize n = 0) const { return seen.nth(name, n).end; }
  u64 done_of(std::string_view name, usize n = 0) const { return seen.nth(name, n).done; }
  u64 queued_of(std::string_view name, usize n = 0) const { return seen.nth(name, n).queued; }
  // A counter by its path: "core0.AI_CORE/MTE2/busy".
  u64 stat(std::string_view path) const;
};
Ran run_program(const config::ChipConfig& chip, std::string_view text, const Launch& launch = {});

// The message of the fault that `f` throws, with "fault: " before it and its location; "" when it throws nothing.
template <class F>
std::string fault_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return std::string(fault_name(e.fault())) + ": " + e.what();
  }
  return "";
}

}  // namespace vinci::test
