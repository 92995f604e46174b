// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/stream.h"

#include <fmt/format.h>

#include "tools/graph/compile/stream_parts.h"

namespace vinci::graph {
namespace {

// A scalar is an array of one element: buffers have a shape.
std::vector<u64> extents(const Value& value) {
  if (value.shape.rank() == 0) return {1};
  return {value.shape.dims().begin(), value.shape.dims().end()};
}

}  // namespace

task::BuiltStream to_task_stream(const Network& network, const std::string& name) {
  const Graph& graph = *network.graph;
  task::StreamBuilder s(name, network.chip.arch, 1, fmt::format("{}, compiled for {}", graph.name, network.chip.name));
  PlainNames names, files;
  const DeviceBuffers buffers(network, s, names);
  task::StreamRef main = s.stream("main");
  buffers.load_weights(s, main);
  for (const Value* const v : graph.inputs) {
    const task::BufferRef host = s.host(
        {.name = names.add(v->name), .dtype = std::string(info(v->type).npy), .shape = extents(*v), .random = true});
    const u64 bytes = v->shape.elements() * info(v->type).bytes;
    main.memcpy(buffers.at(v), host, bytes);
    // Kernels on joint cores read whole blocks, so what is behind the last element must be there.
    if (bytes % 32 != 0) main.memset(buffers.at(v) + bytes, 0, 32);
  }
  const task::ModelRef model = s.model("network");
  main.execute(model);
  task::StreamRef body = s.stream(std::string(kModelStream), {.model = model});
  NodeKernels kernels(s);
  for (const CompiledNode& n : network.nodes)
    body.launch(kernels.add(n), n.program.blocks, buffers.arguments(*n.node), task_name(n.node->name));
  for (const Value* const v : graph.outputs) {
    const task::BufferRef host = s.host({.name = names.add("out_" + v->name),
                                         .output = files.add(v->name) + ".npy",
                                         .dtype = std::string(info(v->type).npy),
                                         .shape = extents(*v)});
    main.memcpy(host, buffers.at(v), v->shape.elements() * info(v->type).bytes);
  }
  return s.finish();
}

}  // namespace vinci::graph
