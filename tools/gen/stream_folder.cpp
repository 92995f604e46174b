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

namespace vinci::gen {

StreamFolder::StreamFolder(std::string name, const config::ChipConfig& chip, std::string comment)
    : name_(std::move(name)), comment_(std::move(comment)), chip_(chip) {}

void StreamFolder::add_input(std::string_view name, std::string_view dtype, u64 elements,
                             std::span<const std::byte> bytes) {
  const std::array<u64, 1> shape{elements};
  files_.push_back({fmt::format("{}.npy", name), io::to_npy(dtype, shape, bytes)});
  buffers_ += fmt::format("  {0}: {{place: host, file: {0}.npy}}\n", name);
  intermediate(name, dtype, elements);
  copies_in_ += fmt::format("    - memcpy_async: {{dst: {0}_dev, src: {0}}}\n", name);
}

void StreamFolder::intermediate(std::string_view name, std::string_view dtype, u64 elements) {
  buffers_ += fmt::format("  {}_dev: {{place: device, bytes: {}}}\n", name, elements * io::npy_element_bytes(dtype));
}

void StreamFolder::output(std::string_view name, std::string_view dtype, u64 elements) {
  buffers_ += fmt::format("  {0}: {{place: host, dtype: {1}, shape: [{2}], output: {0}.npy}}\n", name, dtype, elements);
  intermediate(name, dtype, elements);
  copies_out_ += fmt::format("    - memcpy_async: {{dst: {0}, src: {0}_dev}}\n", name);
}

void StreamFolder::task(std::string_view name, std::string_view assembly, u32 blocks,
                        const std::vector<std::string>& buffers, const std::vector<u64>& numbers) {
  const std::string file = fmt::format("{}.s", name);
  const auto bytes = std::as_bytes(std::span(assembly));
  files_.push_back({file, {bytes.begin(), bytes.end()}});
  const bool split = chip_.vector_cores > 0;
  kernels_ += fmt::format("  {}: {{type: {}, source: {}}}\n", name, split ? "AIV_ONLY" : "AI_CORE", file);
  std::vector<std::string> args;
  for (const std::string& b : buffers)
    args.push_back(b + "_dev");
  for (const u64 n : numbers)
    args.push_back(fmt::format("{}", n));
  tasks_ += fmt::format("    - name: {0}\n      kernel_launch: {{kernel: {0}, block_dim: {1}, args: [{2}]}}\n", name,
                        blocks, fmt::join(args, ", "));
}

void StreamFolder::task(std::string_view name, const Elementwise& kernel, u64 elements,
                        const std::vector<std::string>& buffers, const std::vector<u64>& scalars) {
  const u64 cores = chip_.vector_cores > 0 ? chip_.vector_cores : chip_.ai_cores;
  const u64 blocks = std::clamp<u64>(ceil_div(elements, kElementwiseTile), 1, cores);
  task(name, elementwise_assembly(kernel, elements), static_cast<u32>(blocks), buffers, scalars);
}

std::string StreamFolder::write(const std::string& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_at(Fault::Input, folder, "cannot make this folder: {}", error.message());
  for (const File& f : files_)
    io::write_file_atomically(folder + "/" + f.name, f.bytes);
  const std::string path = fmt::format("{}/{}.yaml", folder, name_);
  io::write_file_atomically(
      path, fmt::format("# {}\nvinci: 1\nname: {}\narch: {}\nbuffers:\n{}kernels:\n{}streams:\n"
                        "  main:\n{}{}{}",
                        comment_, name_, isa::name(chip_.arch), buffers_, kernels_, copies_in_, tasks_, copies_out_));
  return path;
}

}  // namespace vinci::gen
