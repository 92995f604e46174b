// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "isa/arch.h"
#include "sim/io/text_file.h"
#include "sim/trace/trace.h"

namespace vinci::profile {

// What of a run the tree shows; an empty list: all.
struct TreeFilter {
  std::vector<std::string> kernels;  // tasks whose names begin with one of these
  std::vector<u32> cores;            // numbers: 2 is core2.cubecore0 and the vector cores of its AI core

  bool shows_kernel(std::string_view task) const;
  bool shows_core(std::string_view name) const;  // "core2.veccore1"
};

// The folder `simulator` that `msprof op simulator` leaves: trace.json of all cores, and for each core that ran
// something a folder core0.cubecore0, core0.veccore0 (of joint cores: core0) with its trace.json and the CSV files of
// what its instructions (instr_exe) and its source lines (code_exe) cost. Memory grows with the size of the programs,
// not with the number of instructions that run.
class SimulatorTree final : public trace::FileSink {
 public:
  // `vectors_per_core`: vector cores for each cube core, 0 of joint cores.
  SimulatorTree(const std::string& folder, double hertz, u32 vectors_per_core, TreeFilter filter = {});

  trace::TrackId track(std::string_view group, std::string_view name) override;
  void span(const trace::Span& span) override;
  void flow(trace::TrackId, u64, trace::TrackId, u64, std::string_view) override {}  // not in these files
  void commit() override;

 private:
  // A timeline in the shape that MindStudio Insight reads.
  class Timeline {
   public:
    explicit Timeline(const std::string& path);
    void event(std::string_view text);
    void commit();

   private:
    io::TextFile file_;
    bool first_ = true;
  };
  struct Cost {
    u64 calls = 0, cycles = 0;
  };
  struct Instruction : Cost {
    std::string detail;  // operands of its first execution
  };
  struct Core {
    std::string name;  // "core0.veccore1"
    std::optional<Timeline> timeline;
    std::map<std::tuple<std::string, u32, std::string, std::string, std::string>, Instruction>
        instructions;                                   // source, pc, lane, name, task
    std::map<std::pair<std::string, u32>, Cost> lines;  // file, line
  };
  struct Track {
    std::optional<usize> core;  // none: no core, such as a stream
    isa::PipeId pipe = isa::PipeId::ALL;
  };

  std::string core_name(std::string_view group) const;
  void write_tables(const Core& core) const;
  double microseconds(u64 cycles) const { return static_cast<double>(cycles) / hertz_ * 1e6; }

  std::string folder_;
  double hertz_;
  u32 vectors_per_core_;
  TreeFilter filter_;
  Timeline all_;
  std::deque<Core> cores_;  // files cannot move
  std::vector<Track> tracks_;
};

}  // namespace vinci::profile
