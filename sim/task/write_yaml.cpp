// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Writes the YAML spelling.
#include <fmt/ranges.h>

#include "isa/text.h"
#include "sim/task/draft.h"
#include "sim/task/load.h"
#include "sim/task/write.h"

namespace vinci::task {
namespace {

std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// Names that YAML and our readers cannot take for anything else stay bare.
std::string name_text(std::string_view s) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool plain = !s.empty() && s.size() < 64 && letter(s[0]);
  for (const char c : s)
    plain = plain && (letter(c) || (c >= '0' && c <= '9') || c == '.');
  for (const std::string_view word : {"null", "Null", "NULL"})
    plain = plain && s != word;
  return plain ? std::string(s) : quoted(s);
}

class YamlWriter {
 public:
  explicit YamlWriter(const TaskStream& stream) : s_(stream) {}

  std::string write() {
    line("vinci: {}", kFormatVersion);
    line("name: {}", name_text(s_.name));
    line("arch: {}", isa::name(s_.arch));
    if (!s_.buffers.empty()) line("buffers:");
    for (const Buffer& b : s_.buffers)
      buffer(b);
    if (!s_.kernels.empty()) line("kernels:");
    for (const Kernel& k : s_.kernels)
      kernel(k);
    if (!s_.events.empty()) {
      line("events:");
      for (const std::string& e : s_.events)
        line("  - {}", name_text(e));
    }
    line("streams:{}", s_.streams.empty() ? " {}" : "");
    for (const Stream& stream : s_.streams) {
      line("  {}:{}", key(stream.name), stream.tasks.empty() ? " []" : "");
      for (const Task& t : stream.tasks)
        task(t);
    }
    return std::move(out_);
  }

 private:
  template <class... A>
  void line(fmt::format_string<A...> text, A&&... args) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<A>(args)...);
    out_ += '\n';
  }

  // YAML limits an implicit key to 1024 characters; a longer one is announced.
  static std::string key(std::string_view s) { return s.size() <= 900 ? name_text(s) : "? " + quoted(s) + "\n  "; }

  void buffer(const Buffer& b) {
    std::string more;
    if (!b.dtype.empty()) more += ", dtype: " + b.dtype;
    if (!b.shape.empty()) more += fmt::format(", shape: [{}]", fmt::join(b.shape, ", "));
    if (!b.file.empty()) more += ", file: " + quoted(b.file);
    if (!b.output.empty()) more += ", output: " + quoted(b.output);
    if (!b.data.empty()) {
      more += ", data: \"";
      for (const std::byte x : b.data)
        fmt::format_to(std::back_inserter(more), "{:02x}", static_cast<unsigned>(x));
      more += '"';
    }
    if (b.random) more += ", random: true";
    line("  {}: {{place: {}, bytes: {}{}}}", key(b.name), kPlaceNames[static_cast<usize>(b.place)], b.bytes, more);
  }

  void kernel(const Kernel& k) {
    line("  {}:", key(k.name));
    line("    type: {}", kKernelTypeNames[static_cast<usize>(k.type)]);
    line("    code: |");
    std::string_view text;
    const std::string assembly = isa::disassemble(k.program);
    for (text = assembly; !text.empty();) {
      const usize end = std::min(text.find('\n'), text.size());
      line("      {}", text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  std::string slice(const Slice& s) const {
    const std::string name = name_text(s_.buffers[s.buffer].name);
    return s.offset == 0 ? name : fmt::format("{{buffer: {}, offset: {}}}", name, s.offset);
  }

  std::string arg(const Arg& a) const {
    // The top half of the numbers is more likely to have been meant as negative.
    if (const auto* number = std::get_if<u64>(&a)) return fmt::format("{}", static_cast<i64>(*number));
    return slice(std::get<Slice>(a));
  }

  std::string text(const KernelLaunch& op) const {
    std::string args;
    for (const Arg& a : op.args)
      args += (args.empty() ? "" : ", ") + arg(a);
    const std::string mix = !op.mix() ? std::string()
                                      : fmt::format(", type: {}, aiv_kernel: {}", kMixTypeNames[op.aivs - 1],
                                                    name_text(s_.kernels[op.aiv_kernel].name));
    return fmt::format("{{kernel: {}{}, block_dim: {}, args: [{}]}}", name_text(s_.kernels[op.kernel].name), mix,
                       op.block_dim, args);
  }
  std::string text(const MemcpyAsync& op) const {
    if (op.height == 1) return fmt::format("{{dst: {}, src: {}, count: {}}}", slice(op.dst), slice(op.src), op.width);
    return fmt::format("{{dst: {}, src: {}, width: {}, height: {}, dst_pitch: {}, src_pitch: {}}}", slice(op.dst),
                       slice(op.src), op.width, op.height, op.dst_pitch, op.src_pitch);
  }
  std::string text(const MemsetAsync& op) const {
    return fmt::format("{{dst: {}, value: {}, count: {}}}", slice(op.dst), op.value, op.bytes);
  }
  std::string text(const EventRecord& op) const { return name_text(s_.events[op.event]); }
  std::string text(const StreamWaitEvent& op) const { return name_text(s_.events[op.event]); }
  template <class Op>
  std::string text(const Op&) const {
    fail(Fault::Unsupported, "tasks of this kind cannot be written");
  }
  std::string text(const Free& op) const { return name_text(s_.buffers[op.buffer].name); }
  std::string text(const NpuGetFloatStatus& op) const { return fmt::format("{{dst: {}}}", slice(op.dst)); }
  std::string text(const NpuClearFloatStatus&) const { return "{}"; }

  void task(const Task& t) {
    const std::string op = std::visit([this](const auto& o) { return text(o); }, t.op);
    line("    - {}: {}", kOpNames[t.op.index()], op);
    if (t.name != default_task_name(s_, t)) line("      name: {}", name_text(t.name));
  }

  const TaskStream& s_;
  std::string out_;
};

}  // namespace

std::string to_yaml(const TaskStream& stream) { return YamlWriter(stream).write(); }

bool same_meaning(const TaskStream& a, const TaskStream& b) {
  const auto same_kernel = [](const Kernel& x, const Kernel& y) {
    return x.name == y.name && x.type == y.type && x.program.arch == y.program.arch && x.program.code == y.program.code;
  };
  return a.name == b.name && a.arch == b.arch && a.buffers == b.buffers && a.events == b.events &&
         a.streams == b.streams &&
         std::equal(a.kernels.begin(), a.kernels.end(), b.kernels.begin(), b.kernels.end(), same_kernel);
}

}  // namespace vinci::task
