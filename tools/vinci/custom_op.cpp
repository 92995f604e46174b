// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/custom_op.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "isa/base/error.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "sim/io/input_file.h"
#include "sim/io/program.h"
#include "sim/task/load.h"
#include "tools/graph/compile/recorded.h"
#include "tools/graph/compile/storage.h"
#include "tools/run/arguments.h"
#include "tools/vinci/cc_operator.h"
#include "tools/vinci/kernel_signature.h"

namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOption = "--custom_op";
constexpr u64 kMostSource = u64{16} << 20;

std::string_view type_name(graph::DataType type) {
  using enum graph::DataType;
  switch (type) {
    case f16: return "half";
    case bf16: return "bfloat16_t";
    case f32: return "float";
    case f64: return "double";
    case i8: return "int8_t";
    case i16: return "int16_t";
    case i32: return "int32_t";
    case i64: return "int64_t";
    case u8: return "uint8_t";
    case u16: return "uint16_t";
    case u32: return "uint32_t";
    case u64: return "uint64_t";
    case boolean: return "bool";
  }
  return "uint8_t";
}

std::string array_of(const std::vector<i64>& values) {
  return fmt::format("[] = {{{}}}", values.empty() ? "1" : fmt::format("{}", fmt::join(values, ", ")));
}

// An attribute as a constant; nothing for those that are tensors or texts in lists.
std::string constant(const std::string& name, const graph::Attribute& value) {
  if (const auto* const v = std::get_if<i64>(&value)) return fmt::format("constexpr int64_t {} = {};\n", name, *v);
  if (const auto* const v = std::get_if<double>(&value))
    return fmt::format("constexpr float {} = static_cast<float>({:.17g});\n", name, *v);
  if (const auto* const v = std::get_if<std::vector<i64>>(&value); v != nullptr && !v->empty())
    return fmt::format("constexpr int64_t {}{};\n", name, array_of(*v));
  if (const auto* const v = std::get_if<std::vector<double>>(&value); v != nullptr && !v->empty())
    return fmt::format("constexpr float {}[] = {{{:.9g}f}};\n", name, fmt::join(*v, "f, "));
  return {};
}

bool is_identifier(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::ranges::all_of(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

}  // namespace

CustomKernels::CustomKernels(const std::string& list) {
  for (const std::string& part : run::split_list(list, ';')) {
    const usize equals = part.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size())
      fail_at(Fault::Input, std::string(kOption), "'{}' is no Operator=file", part);
    const std::string op = part.substr(0, equals), file = part.substr(equals + 1);
    const std::string code = without_comments(io::read_file(file, kMostSource));
    const std::vector<KernelSignature> all = kernels_in(code);
    const KernelSignature& kernel = kernel_named(all, snake_case(op), file);
    const Source source{.file = fs::absolute(file).string(),
                        .kernel = kernel.name,
                        .parameters = kernel.parameters,
                        .has_blocks = code.find("BLOCK_DIM") != std::string::npos,
                        .has_workspace = code.find("WORKSPACE_BYTES") != std::string::npos};
    if (!sources_.emplace(op, source).second) fail_at(Fault::Input, std::string(kOption), "{} is there twice", op);
  }
}

graph::CustomOps CustomKernels::ops() const {
  graph::CustomOps out;
  for (const auto& [op, source] : sources_)
    out.insert(op);
  return out;
}

std::shared_ptr<const graph::RecordedKernel> CustomKernels::record(const graph::Node& node,
                                                                   const config::ChipConfig& chip) {
  const std::string op = node.string("op");
  const Source& source = sources_.at(op);
  std::vector<const graph::Value*> tensors(node.inputs().begin(), node.inputs().end());
  tensors.insert(tensors.end(), node.outputs().begin(), node.outputs().end());
  const auto& names = source.parameters;
  if (names.size() != tensors.size() && names.size() != tensors.size() + 1) {
    fail_at(Fault::Input, source.file,
            "the kernel {} has {} parameters; {} ({}) has {} inputs and {} outputs, behind which a workspace may come",
            source.kernel, names.size(), node.name, op, node.inputs().size(), node.outputs().size());
  }
  std::string text =
      "// Written by `vinci compile --custom_op`.\n#include \"acl/acl.h\"\n#include \"kernel_operator.h\"\n\n";
  std::vector<std::string> bytes, arguments;
  std::string constants;
  for (usize i = 0; i < names.size(); ++i) {
    arguments.push_back(fmt::format("static_cast<GM_ADDR>(memory[{}])", i));
    if (i == tensors.size()) {
      bytes.emplace_back("WORKSPACE_BYTES");
      break;
    }
    const graph::Value& v = *tensors[i];
    const u64 size = v.shape.elements();
    std::string upper = names[i];
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
    text += fmt::format("#define DTYPE_{} {}\n", upper, type_name(v.type));
    constants += fmt::format(
        "struct {} {{\n  using type = {};\n  static constexpr uint32_t rank = {};\n"
        "  static constexpr int64_t dims{};\n  static constexpr uint64_t size = {};\n}};\n",
        names[i], type_name(v.type), v.shape.rank(), array_of(v.shape.dims()), size);
    bytes.push_back(fmt::format("{}", graph::allocated_bytes(v)));
  }
  std::string attributes;
  for (const auto& [name, value] : node.attributes) {
    if (name != "op" && is_identifier(name)) attributes += constant(name, value);
  }
  text += fmt::format(
      "\nnamespace custom_op {{\n{}constexpr uint32_t ai_cores = {}, vector_cores = {};\nnamespace attr {{\n{}}}  // "
      "namespace attr\n}}  // namespace custom_op\n\n",
      constants, chip.ai_cores, graph::vector_cores(chip), attributes);
  // A program of its own around the kernel may be in the file.
  text += fmt::format(
      "#define main custom_op_unused_main\n#include \"{}\"\n#undef main\n"
      "{}{}static_assert((BLOCK_DIM) >= 1 && (BLOCK_DIM) <= 65535, \"BLOCK_DIM: 1 to 65535 blocks\");\n\n",
      source.file, source.has_blocks ? "" : "#define BLOCK_DIM custom_op::vector_cores\n",
      source.has_workspace ? "" : "#define WORKSPACE_BYTES (16 << 20)\n");
  text += fmt::format(
      "int main() {{\n  aclInit(nullptr);\n  aclrtSetDevice(0);\n  aclrtStream stream;\n  aclrtCreateStream(&stream);\n"
      "  void* memory[{0}];\n  constexpr size_t bytes[{0}] = {{{1}}};\n  for (int i = 0; i < {0}; ++i)\n"
      "    if (aclrtMalloc(&memory[i], bytes[i], ACL_MEM_MALLOC_HUGE_FIRST) != 0) return 1;\n"
      "  {2}<<<BLOCK_DIM, nullptr, stream>>>({3});\n  return aclrtSynchronizeStream(stream) == 0 ? 0 : 1;\n}}\n",
      names.size(), fmt::join(bytes, ", "), source.kernel, fmt::join(arguments, ", "));

  auto& known = recorded_[text];
  if (known) return known;
  if (!folder_) folder_ = std::make_unique<io::TempFolder>("vinci-custom-op");
  const std::string stem = *folder_ / fmt::format("{}-{}", source.kernel, recorded_.size());
  const std::string tool = fs::read_symlink("/proc/self/exe").string();
  io::write_file_atomically(stem + ".asc", text);
  io::write_file_atomically(stem + ".yaml", config::write_chip(chip));
  const auto step = [&](std::vector<std::string> words, std::string_view what) {
    words.insert(words.begin(), {"env", "VINCI_VERBOSE=0", tool});
    constexpr int kUnsupported = 4;  // the exit code
    if (const int code = io::run_program(std::move(words), io::Stdout::to_stderr); code != 0)
      fail_at(code == kUnsupported ? Fault::Unsupported : Fault::Input, source.file, "the kernel of {} ({}) {}",
              node.name, op, what);
  };
  step({"cc", stem + ".asc", "-o", stem, fmt::format("--npu-arch=dav-{}", isa::name(chip.arch)),
        "-I" + fs::path(source.file).parent_path().string()},
       "does not compile for its shapes");
  step({"record", "--no-data", "-o", stem + ".vts", "--chip", stem + ".yaml", stem}, "does not run");
  known = std::make_shared<const graph::RecordedKernel>(
      graph::recorded_kernel(task::load_task_stream(stem + ".vts"), source.file));
  if (known->memory.size() < names.size())
    fail_at(Fault::Internal, source.file, "the recording has {} buffers", known->memory.size());
  return known;
}

}  // namespace vinci::cli
