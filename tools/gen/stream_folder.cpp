// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/stream_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "isa/base/error.h"
#include "sim/io/atomic_file.h"
#include "sim/io/npy.h"
#include "sim/task/load.h"

namespace vinci::gen {

StreamFolder::StreamFolder(std::string name, const config::ChipConfig& chip, std::string comment)
    : name_(std::move(name)), comment_(std::move(comment)), chip_(chip) {}

void StreamFolder::add_input(std::string_view name, std::string_view dtype, u64 elements,
                             std::span<const std::byte> bytes) {
  const std::array<u64, 1> shape{elements};
  files_[fmt::format("{}.npy", name)] = io::to_npy(dtype, shape, bytes);
  host_buffers_ += fmt::format("  {0}: {{place: host, file: {0}.npy}}\n", name);
  intermediate(name, dtype, elements);
  copies_in_ += fmt::format("    - memcpy_async: {{dst: {0}_dev, src: {0}}}\n", name);
}

void StreamFolder::intermediate(std::string_view name, std::string_view dtype, u64 elements) {
  device_buffers_ +=
      fmt::format("  {}_dev: {{place: device, bytes: {}}}\n", name, elements * io::npy_element_bytes(dtype));
}

void StreamFolder::output(std::string_view name, std::string_view dtype, u64 elements) {
  host_buffers_ +=
      fmt::format("  {0}: {{place: host, dtype: {1}, shape: [{2}], output: {0}.npy}}\n", name, dtype, elements);
  intermediate(name, dtype, elements);
  copies_out_ += fmt::format("    - memcpy_async: {{dst: {0}, src: {0}_dev}}\n", name);
}

void StreamFolder::random_input(std::string_view name, std::string_view dtype, u64 elements) {
  host_buffers_ += fmt::format("  {}: {{place: host, dtype: {}, shape: [{}], random: true}}\n", name, dtype, elements);
  intermediate(name, dtype, elements);
  copies_in_ += fmt::format("    - memcpy_async: {{dst: {0}_dev, src: {0}}}\n", name);
}

void StreamFolder::output_after(std::string_view name, std::string_view dtype, u64 elements) {
  host_buffers_ += fmt::format("  {0}_after: {{place: host, dtype: {1}, shape: [{2}], output: {0}_after.npy}}\n", name,
                               dtype, elements);
  copies_out_ += fmt::format("    - memcpy_async: {{dst: {0}_after, src: {0}_dev}}\n", name);
}

void StreamFolder::kernel(std::string_view name, std::string_view assembly, bool cube) {
  const std::string file = fmt::format("{}.s", name);
  const auto bytes = std::as_bytes(std::span(assembly));
  files_[file] = {bytes.begin(), bytes.end()};
  const bool split = chip_.vector_cores > 0;
  kernels_ += fmt::format("  {}: {{type: {}, source: {}}}\n", name,
                          !split ? "AI_CORE"
                          : cube ? "AIC_ONLY"
                                 : "AIV_ONLY",
                          file);
}

void StreamFolder::launch(std::string_view name, std::string_view kernel, u32 blocks,
                          const std::vector<std::string>& args) {
  tasks_ += fmt::format("    - name: {}\n      kernel_launch: {{kernel: {}, block_dim: {}, args: [{}]}}\n", name,
                        kernel, blocks, fmt::join(args, ", "));
}

std::string StreamFolder::slice(std::string_view buffer, u64 offset_bytes) {
  return fmt::format("{{buffer: {}_dev, offset: {}}}", buffer, offset_bytes);
}

void StreamFolder::task(std::string_view name, std::string_view assembly, u32 blocks,
                        const std::vector<std::string>& buffers, const std::vector<u64>& numbers) {
  kernel(name, assembly);
  std::vector<std::string> args;
  for (const std::string& b : buffers)
    args.push_back(b + "_dev");
  for (const u64 n : numbers)
    args.push_back(fmt::format("{}", n));
  launch(name, name, blocks, args);
}

void StreamFolder::task(std::string_view name, const Elementwise& kernel, u64 elements,
                        const std::vector<std::string>& buffers, const std::vector<u64>& scalars) {
  const u64 cores = chip_.vector_cores > 0 ? chip_.vector_cores : chip_.ai_cores;
  const u64 blocks = std::clamp<u64>(ceil_div(elements, kElementwiseTile), 1, cores);
  task(name, elementwise_assembly(kernel, elements), static_cast<u32>(blocks), buffers, scalars);
}

StreamFiles StreamFolder::make_files(Dispatch dispatch, std::string_view host_buffers, std::string_view copies_in,
                                     std::string_view copies_out) const {
  const bool sunk = dispatch == Dispatch::sunk;
  StreamFiles out{.main = name_ + ".yaml", .files = files_};
  const std::string text = fmt::format(
      "# {}\nvinci: 1\nname: {}\narch: {}\nbuffers:\n{}{}kernels:\n{}{}streams:\n  main:\n{}{}{}{}{}", comment_, name_,
      isa::name(chip_.arch), host_buffers, device_buffers_, kernels_, sunk ? "models:\n  graph: {head: [body]}\n" : "",
      copies_in, sunk ? "    - model_execute: graph\n" : tasks_, copies_out, sunk ? "  body:\n" : "",
      sunk ? tasks_ : "");
  const auto bytes = std::as_bytes(std::span(text));
  out.files[out.main] = {bytes.begin(), bytes.end()};
  return out;
}

StreamFiles StreamFolder::files(Dispatch dispatch) const {
  return make_files(dispatch, host_buffers_, copies_in_, copies_out_);
}

StreamFiles StreamFolder::resident_files(Dispatch dispatch) const { return make_files(dispatch, {}, {}, {}); }

task::TaskStream StreamFiles::load() const {
  const task::MemoryFiles memory(files);
  task::TaskStream stream = task::parse_task_stream(files.at(main), main, memory);
  for (task::Buffer& b : stream.buffers) {
    if (b.file.empty()) continue;
    const std::span<const std::byte> bytes = files.at(b.file);
    const u64 skipped = b.file.ends_with(".npy") ? io::parse_npy_header(bytes, bytes.size(), b.file).data_offset : 0;
    b.data.assign(bytes.begin() + static_cast<std::ptrdiff_t>(skipped), bytes.end());
    b.file.clear();
  }
  return stream;
}

std::string StreamFiles::write(const std::string& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_at(Fault::Input, folder, "cannot make this folder: {}", error.message());
  for (const auto& [name, bytes] : files)
    io::write_file_atomically(folder + "/" + name, bytes);
  return folder + "/" + main;
}

}  // namespace vinci::gen
