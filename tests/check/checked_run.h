// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "isa/check/checker.h"
#include "sim/config/chip_config.h"
#include "sim/task/task.h"

namespace vinci::test {

// A program as lines of assembly, each with a name by which a test can find it again.
struct Line {
  std::string text;
  std::string tag;  // "load 3"; "" where no test asks
};

struct Lines {
  std::vector<Line> lines;

  void add(std::string text, std::string tag = "") { lines.push_back({std::move(text), std::move(tag)}); }
  usize at(const std::string& tag) const;  // index of the line; throws where there is none
  void drop(const std::string& tag);
  void replace(const std::string& tag, std::string text);
  void insert_after(const std::string& tag, std::string text, std::string new_tag);
  std::string text() const;
  // The tag of a line of text(), counted from 1.
  std::string tag_of(u32 line) const { return line >= 1 && line <= lines.size() ? lines[line - 1].tag : ""; }
};

enum class Mode : u8 { functional, full, timing };

// What the checker finds in a run; a fault that ends the run is kept as text.
struct Checked {
  std::vector<isa::check::Finding> findings;
  std::string fault;
  u64 same_writes = 0;  // see isa::check::Findings

  bool has(isa::check::FaultId id) const;
  std::string text() const;  // one line for each finding
};
Checked check(const config::ChipConfig& chip, const task::TaskStream& stream, Mode mode = Mode::functional);

// Device buffers with names and sizes; a stream of a memset or a copy to each and a launch with their addresses as
// arguments.
struct DeviceBuffer {
  std::string name;
  u64 bytes = 0;
  bool set = true;      // whether a task writes it before the kernel runs
  bool random = false;  // with other values than zeros
};
task::TaskStream launch_stream(const config::ChipConfig& chip, isa::CoreKind kind, const std::string& text,
                               const std::vector<DeviceBuffer>& buffers, u32 blocks);

// The same for a MIX task: one program for the cube core of a block, one for each of its `aivs` vector cores.
task::TaskStream mix_stream(const config::ChipConfig& chip, const std::string& cube, const std::string& vector,
                            const std::vector<DeviceBuffer>& buffers, u32 blocks, u32 aivs);
// round_chip() with so many cube cores, and vector cores for MIX tasks on all of them.
config::ChipConfig mix_chip(u32 cube_cores, u32 aivs);

}  // namespace vinci::test
