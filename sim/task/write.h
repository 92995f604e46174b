// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "sim/task/task.h"

// The two spellings of a verified task stream; reading either back gives the same meaning. Files that buffers name stay
// names.
namespace vinci::task {

// Parts of a task stream that its YAML leaves to files of the same folder: by kernel and buffer the name of the file,
// or "".
struct FilesOfYaml {
  std::vector<std::string> kernels = {}, buffers = {};
  std::string comment = {};  // the first line
};

// For people. Programs without a file become inline assembly, so their source names and line numbers are not kept.
std::string to_yaml(const TaskStream& stream, const FilesOfYaml& files = {});

// For tools: FlatBuffers, sim/task/task_stream.fbs. Everything is kept but the folder.
std::vector<std::byte> to_vts(const TaskStream& stream);

// Whether two task streams do the same: equal but for their folders and where their programs came from.
bool same_meaning(const TaskStream& a, const TaskStream& b);

}  // namespace vinci::task
