// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "sim/task/yaml_nodes.h"

namespace vinci::task {

// A text by its lines, which are found when the first is asked for.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : text_(text) {}
  std::string_view line(u32 number);             // from 1; empty behind the last
  usize size() const { return starts_.size(); }  // known after line()

 private:
  std::string_view text_;
  std::vector<usize> starts_;
};

// What the kernels of one file are read with.
struct KernelSource {
  TextLines lines;  // of the file: literal blocks are lines of it
  const Files& files;
  isa::Arch arch = isa::Arch::c220;
  bool arch_known = false;  // false: the file names none; then programs are not looked at
};

// Reads a kernel, whose name is known, and assembles its program.
void read_kernel(const Node& node, YamlNodes& yaml, KernelSource& source, Kernel& out);

}  // namespace vinci::task
