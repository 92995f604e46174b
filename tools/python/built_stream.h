// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vinci/sim/task/stream_builder.h>

#include <utility>

#include "tools/python/task_stream.h"

// vinci.StreamBuilder and its parts: task::StreamBuilder for Python. What it makes is a TaskStream that can be saved.
namespace vinci::python {

class BuiltStream : public TaskStream {
 public:
  explicit BuiltStream(task::BuiltStream built) : TaskStream(parse_bytes(built)), built_(std::move(built)) {}
  const task::BuiltStream& built() const { return built_; }

 private:
  static TaskStream parse_bytes(const task::BuiltStream& built) {
    const std::vector<std::byte> vts = built.vts();
    return parse(std::string(reinterpret_cast<const char*>(vts.data()), vts.size()), std::nullopt);
  }
  task::BuiltStream built_;
};

// Behind vinci.TaskStream and vinci.Program.
void bind_stream_builder(pybind11::module_& m);

}  // namespace vinci::python
