// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/task/stream_builder.h"
#include "tools/graph/compile/network.h"

// What each task stream of a network is put together from: buffers on the device, and a kernel for each node.
namespace vinci::graph {

// Names of the model as names of buffers, kernels and files: other characters than letters, digits, '_', '.' and '-'
// become '_', long names are cut, and a name that was given before gets a number.
class PlainNames {
 public:
  std::string add(std::string_view name);

 private:
  std::set<std::string> given_;
};
// A name of the model as the name of a task, which may contain all but control characters.
std::string task_name(std::string name);

class DeviceBuffers {
 public:
  DeviceBuffers(const Network& network, task::StreamBuilder& stream, PlainNames& names);

  task::BufferRef at(const Value* value) const;
  // Inputs and outputs of a node, in this order.
  std::vector<task::LaunchArg> arguments(const Node& node) const;
  // Addresses of what a kernel of the user uses, in the order of RecordedKernel::memory.
  std::vector<u64> addresses(const CompiledNode& node) const;
  // Where a node that selects says how many elements it found, an i64.
  task::BufferRef found(const Node& node) const { return found_.at(&node); }
  // Copies all constants from a buffer of the host.
  void load_weights(task::StreamBuilder& builder, task::StreamRef& stream) const;

 private:
  // The constants of an area of so many bytes.
  std::vector<std::byte> stored(MemoryPlan::Area area, u64 bytes) const;

  u64 address(task::BufferRef place) const { return addresses_[place.index] + place.offset; }

  const Network& network_;
  std::vector<task::BufferRef> inputs_;
  task::BufferRef weights_, features_, control_;
  std::map<const Node*, task::BufferRef> found_;
  std::map<const Node*, std::vector<task::BufferRef>> own_;  // memory of kernels of the user
  std::vector<u64> addresses_;                               // by buffer
};

// Adds the tasks of nodes, with the kernel of each once; several nodes may have one name.
class NodeTasks {
 public:
  NodeTasks(task::StreamBuilder& builder, const DeviceBuffers& buffers) : builder_(builder), buffers_(buffers) {}
  void add(task::StreamRef& stream, const CompiledNode& node);

 private:
  void add_roi_align(task::StreamRef& stream, const Node& node, const std::string& name);
  void add_selection(task::StreamRef& stream, const Node& node, const std::string& name);
  void add_recorded(task::StreamRef& stream, const CompiledNode& node, const std::string& name);

  task::StreamBuilder& builder_;
  const DeviceBuffers& buffers_;
  PlainNames names_;
  std::map<const CompiledNode*, task::KernelRef> kernels_;
};

}  // namespace vinci::graph
