// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "isa/base/error.h"
#include "sim/io/atomic_file.h"
#include "sim/task/load.h"
#include "sim/task/write.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

struct PackOptions {
  std::string input, output;
  bool embed = false;
};

bool same_folder(const std::string& a, const std::string& b) {
  const auto folder = [](const std::string& file) {
    return fs::weakly_canonical(fs::absolute(fs::path(file)).parent_path());
  };
  return folder(a) == folder(b);
}

// File names count from the folder of the task stream; elsewhere they would mean other files, or none.
void settle_files(task::TaskStream& s, const PackOptions& o) {
  for (u32 i = 0; i < s.buffers.size(); ++i) {
    task::Buffer& b = s.buffers[i];
    if (b.file.empty()) continue;
    if (o.embed) {
      if (b.bytes > task::kMaxFileBytes) {
        fail(Fault::Limit, "buffer '{}' of {} bytes is too large to embed; a task stream has at most {}", b.name,
             b.bytes, task::kMaxFileBytes);
      }
      b.data = task::initial_data(s, i);
      b.file.clear();
    } else if (!same_folder(o.input, o.output)) {
      fail(Fault::Input,
           "buffer '{}' names '{}' next to '{}'; write the output into the same folder, or take the contents in with "
           "--embed",
           b.name, b.file, o.input);
    }
  }
}

void pack(const PackOptions& o) {
  const bool vts = o.output.ends_with(".vts");
  if (!vts && !o.output.ends_with(".yaml") && !o.output.ends_with(".yml")) {
    fail(Fault::Input, "the name of the output decides its form: '{}' ends neither in .vts nor in .yaml", o.output);
  }
  prepare_output(o.input, o.output);
  task::TaskStream s = task::load_task_stream(o.input);
  settle_files(s, o);
  const std::string yaml = vts ? std::string{} : task::to_yaml(s);
  const std::vector<std::byte> bytes = vts ? task::to_vts(s) : std::vector<std::byte>{};
  const u64 size = std::max(yaml.size(), bytes.size());
  if (size > task::kMaxFileBytes) {
    fail(Fault::Limit, "'{}' would have {} bytes; at most {} could be read back", o.output, size, task::kMaxFileBytes);
  }
  const std::string_view packed(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  io::write_file_atomically(o.output, vts ? packed : std::string_view(yaml), io::Durability::durable);
}

}  // namespace

void add_pack(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("pack", "Convert a task stream between YAML and .vts");
  const auto o = std::make_shared<PackOptions>();
  sub->add_option("IN", o->input, "Task stream, in either form")->required();
  sub->add_option("-o,--output", o->output, "Task stream; the form follows from .vts or .yaml")->required();
  sub->add_flag("--embed", o->embed, "Take in the contents of the files that buffers name");
  sub->footer("Example: vinci pack gemm.yaml -o gemm.vts");
  sub->callback([o] { pack(*o); });
}

}  // namespace vinci::cli
