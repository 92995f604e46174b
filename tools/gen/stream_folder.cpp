// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/stream_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "isa/base/error.h"
#include "sim/io/npy.h"

namespace vinci::gen {
namespace {

// The reference of a name; there must be one.
template <class Ref>
Ref find(const std::map<std::string, Ref>& all, const std::string& name, std::string_view what) {
  const auto it = all.find(name);
  if (it == all.end()) fail(Fault::Input, "there is no {} '{}'", what, name);
  return it->second;
}

}  // namespace

StreamFolder::StreamFolder(std::string name, const config::ChipConfig& chip, std::string comment)
    : name_(std::move(name)), comment_(std::move(comment)), chip_(chip) {}

void StreamFolder::add_input(task::Buffer buffer) {
  intermediate(buffer.name, buffer.dtype, buffer.shape.front());
  in_.push_back({buffer.name, buffer.name + "_dev"});
  host_.push_back(std::move(buffer));
}

void StreamFolder::intermediate(std::string_view name, std::string_view dtype, u64 elements) {
  device_.push_back({.name = fmt::format("{}_dev", name), .bytes = elements * io::npy_element_bytes(dtype)});
}

void StreamFolder::output(std::string_view name, std::string_view dtype, u64 elements) {
  host_.push_back({.name = std::string(name),
                   .output = fmt::format("{}.npy", name),
                   .dtype = std::string(dtype),
                   .shape = {elements}});
  intermediate(name, dtype, elements);
  out_.push_back({std::string(name), fmt::format("{}_dev", name)});
}

void StreamFolder::random_input(std::string_view name, std::string_view dtype, u64 elements) {
  add_input({.name = std::string(name), .dtype = std::string(dtype), .shape = {elements}, .random = true});
}

void StreamFolder::output_after(std::string_view name, std::string_view dtype, u64 elements) {
  const std::string after = fmt::format("{}_after", name);
  host_.push_back({.name = after, .output = after + ".npy", .dtype = std::string(dtype), .shape = {elements}});
  out_.push_back({after, fmt::format("{}_dev", name)});
}

void StreamFolder::kernel(std::string_view name, const isa::BuiltProgram& program, bool cube) {
  using enum task::KernelType;
  const task::KernelType type = chip_.vector_cores == 0 ? AI_CORE : cube ? AIC_ONLY : AIV_ONLY;
  kernels_.push_back({std::string(name), type, program});
}

void StreamFolder::launch(std::string_view name, std::string_view kernel, u32 blocks, std::vector<Arg> args) {
  launches_.push_back({std::string(name), std::string(kernel), blocks, std::move(args)});
}

std::vector<Arg> StreamFolder::arguments(const std::vector<std::string>& buffers, const std::vector<u64>& numbers) {
  std::vector<Arg> args;
  for (const std::string& b : buffers)
    args.emplace_back(b + "_dev");
  args.insert(args.end(), numbers.begin(), numbers.end());
  return args;
}

void StreamFolder::task(std::string_view name, const Elementwise& kernel, u64 elements,
                        const std::vector<std::string>& buffers, const std::vector<u64>& scalars) {
  const u64 cores = chip_.vector_cores > 0 ? chip_.vector_cores : chip_.ai_cores;
  const u64 blocks = std::clamp<u64>(ceil_div(elements, kElementwiseTile), 1, cores);
  task(name, elementwise_program(name, chip_.arch, kernel, elements), static_cast<u32>(blocks), buffers, scalars);
}

task::BuiltStream StreamFolder::build(Dispatch dispatch, bool resident) const {
  task::StreamBuilder s(name_, chip_.arch, 1, comment_);
  std::map<std::string, task::BufferRef> buffers;
  std::map<std::string, task::KernelRef> kernels;
  if (!resident)
    for (const task::Buffer& b : host_)
      buffers.emplace(b.name, s.host(b));
  for (const task::Buffer& b : device_)
    buffers.emplace(b.name, s.buffer(b));
  for (const Kernel& k : kernels_)
    kernels.emplace(k.name, s.kernel(k.name, k.type, k.program));

  task::StreamRef main = s.stream("main"), tasks = main;
  if (!resident)
    for (const Copy& c : in_)
      main.memcpy(find(buffers, c.device, "buffer"), find(buffers, c.host, "buffer"));
  const bool sunk = dispatch == Dispatch::sunk;
  if (sunk) {
    const task::ModelRef graph = s.model("graph");
    main.execute(graph);
    tasks = s.stream("body", {.model = graph});
  }
  for (const Launch& l : launches_) {
    std::vector<task::LaunchArg> args;
    for (const Arg& a : l.args)
      args.push_back(a.buffer.empty() ? task::LaunchArg(a.number) : find(buffers, a.buffer, "buffer") + a.number);
    tasks.launch(find(kernels, l.kernel, "kernel"), l.blocks, std::move(args), l.name);
  }
  if (!resident)
    for (const Copy& c : out_)
      main.memcpy(find(buffers, c.host, "buffer"), find(buffers, c.device, "buffer"));
  return s.finish();
}

}  // namespace vinci::gen
