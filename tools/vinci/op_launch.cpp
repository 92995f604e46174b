// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/op_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "isa/base/error.h"
#include "tools/vinci/cc_operator.h"

namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

std::string cpp_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

class Writer {
 public:
  Writer(const OperatorTiling& tiling, const OperatorUse& use, const LaunchOptions& options)
      : tiling_(tiling), use_(use), options_(options) {
    for (const std::string& name : options.in_place) {
      const auto same = [&](const OperatorParameter& p) { return p.input && p.name == name; };
      if (std::ranges::none_of(tiling.parameters, same))
        fail(Fault::Input, "--in-place={}: there is no such input", name);
    }
  }

  std::string text(const std::string& source, const KernelSignature& kernel) {
    usize next_input = 0;
    all_in_place_ = std::ranges::all_of(tiling_.parameters, &OperatorParameter::input);
    for (const OperatorParameter& p : tiling_.parameters)
      add(p, next_input);
    u64 workspace = 0;
    for (const u64 bytes : tiling_.workspaces)
      workspace += bytes;
    const u64 data = fs::file_size(tiling_.data);
    body_ += fmt::format(
        "  uint8_t* workspace = launch.memory({});\n"
        "  ::vinci::ascendc::set_operator_workspace(workspace);\n  uint8_t* tiling = launch.input({}, {});\n",
        workspace, cpp_string(tiling_.data), data);
    arguments_.insert(arguments_.end(), {"workspace", "tiling"});
    if (arguments_.size() != kernel.parameters.size()) {
      fail_at(Fault::Input, source, "the kernel {} has {} parameters; inputs, outputs, workspace and tiling are {}",
              kernel.name, kernel.parameters.size(), arguments_.size());
    }
    return fmt::format(
        "// Written by `vinci op`.\n#include \"kernel_operator.h\"\n#include \"ascendc/host/launch_operator.h\"\n"
        "#include {}\n\nint main() {{\n  ::vinci::ascendc::host::Launch launch({});\n{}"
        "  {}{}<<<{}, nullptr, launch.stream()>>>({});\n  return launch.finish();\n}}\n",
        cpp_string(source), options_.pool ? pool_bytes(workspace + data) : 0, body_, kernel.name,
        template_arguments(kernel, source), tiling_.blocks, fmt::join(arguments_, ", "));
  }
  std::vector<OperatorTensor> take_outputs() { return std::move(outputs_); }

 private:
  // Of all tensors, lists of them, and `more` bytes.
  u64 pool_bytes(u64 more) const {
    constexpr u64 kRoom = 4096;  // around each
    u64 bytes = more + 4 * kRoom;
    for (const OperatorParameter& p : tiling_.parameters) {
      bytes += kRoom;
      for (const OperatorTensor& t : p.tensors)
        bytes += bytes_of(t) + kRoom;
    }
    return bytes;
  }

  void add(const OperatorParameter& p, usize& next_input) {
    std::vector<std::string> names;
    for (const OperatorTensor& t : p.tensors) {
      const std::string name = fmt::format("tensor{}", tensors_++);
      names.push_back(name);
      if (p.input) {
        body_ += fmt::format("  uint8_t* {} = launch.input({}, {});\n", name, cpp_string(use_input(p.name, next_input)),
                             bytes_of(t));
        if (!p.list) in_place_[p.name] = name;
        if (is_changed(p.name)) add_in_place(t, name, name);
        continue;
      }
      // An output with the name of an input is the same memory.
      if (const auto same = in_place_.find(p.name); same != in_place_.end()) {
        add_in_place(t, name, same->second);
        continue;
      }
      OperatorTensor out = t;
      out.file = output_file();
      body_ += fmt::format("  uint8_t* {} = launch.output({}, {}, {});\n", name, cpp_string(out.file), bytes_of(t),
                           p.zeroed);
      outputs_.push_back(out);
    }
    if (!p.list) {
      arguments_.push_back(names.empty() ? "nullptr" : names[0]);
      return;
    }
    std::vector<std::string> pieces;
    for (usize i = 0; i < names.size(); ++i)
      pieces.push_back(fmt::format("{{{}, {{{}}}}}", names[i], fmt::join(p.tensors[i].dims, ", ")));
    const std::string list = fmt::format("list{}", arguments_.size());
    body_ += fmt::format("  uint8_t* {} = launch.list({{{}}});\n", list, fmt::join(pieces, ", "));
    arguments_.push_back(list);
  }

  // An operator without outputs changes its inputs.
  bool is_changed(const std::string& input) const {
    return all_in_place_ || std::ranges::find(options_.in_place, input) != options_.in_place.end();
  }
  std::string output_file() const {
    return (fs::path(options_.folder) / fmt::format("{}.raw", outputs_.size())).string();
  }
  // The tensor in that variable is written at the end.
  void add_in_place(const OperatorTensor& t, const std::string& name, const std::string& variable) {
    const std::string file = output_file();
    OperatorTensor& out = outputs_.emplace_back(t);
    out.file = file;
    body_ += fmt::format("  {}{} = launch.written({}, {}, {}, false);\n", name == variable ? "" : "uint8_t* ", name,
                         variable, cpp_string(out.file), bytes_of(t));
  }

  // Inputs come in the order of the definition; those of one name in that of the command line.
  std::string use_input(const std::string& name, usize& next) {
    if (name != last_) next = 0;
    last_ = name;
    usize seen = 0;
    for (const OperatorTensor& t : use_.inputs)
      if (t.name == name && seen++ == next) {
        ++next;
        return t.file;
      }
    fail(Fault::Internal, "the host code names an input {} that is not given", name);
  }

  std::string template_arguments(const KernelSignature& kernel, const std::string& source) const {
    const auto& parameters = kernel.template_parameters;
    if (parameters.empty()) return "";
    if (parameters.size() != tiling_.template_arguments.size()) {
      fail_at(Fault::Input, source, "the kernel {} is a template with {} parameters; its tiling key names {}",
              kernel.name, parameters.size(), tiling_.template_arguments.size());
    }
    std::vector<std::string> out;
    for (usize i = 0; i < parameters.size(); ++i) {
      out.push_back(parameters[i].type == "typename"
                        ? std::string(operator_type(static_cast<int>(tiling_.template_arguments[i])))
                        : fmt::format("({}){}", parameters[i].type, tiling_.template_arguments[i]));
    }
    return fmt::format("<{}>", fmt::join(out, ", "));
  }

  const OperatorTiling& tiling_;
  const OperatorUse& use_;
  const LaunchOptions& options_;
  std::string body_, last_;
  std::vector<std::string> arguments_;
  std::map<std::string, std::string> in_place_;
  std::vector<OperatorTensor> outputs_;
  usize tensors_ = 0;
  bool all_in_place_ = false;
};

}  // namespace

LaunchProgram launch_program(const OperatorTiling& tiling, const OperatorUse& use, const std::string& source,
                             const KernelSignature& kernel, const LaunchOptions& options) {
  Writer writer(tiling, use, options);
  LaunchProgram out;
  out.text = writer.text(source, kernel);
  out.outputs = writer.take_outputs();
  return out;
}

}  // namespace vinci::cli
