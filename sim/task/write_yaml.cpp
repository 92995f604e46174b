// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Writes the YAML spelling.
#include <fmt/ranges.h>

#include "isa/text/text.h"
#include "sim/config/unit_text.h"
#include "sim/task/draft.h"
#include "sim/task/load.h"
#include "sim/task/write.h"

namespace vinci::task {
namespace {

std::string yaml_quoted(std::string_view s) {
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
  return plain ? std::string(s) : yaml_quoted(s);
}

class YamlWriter {
 public:
  YamlWriter(const TaskStream& stream, const FilesOfYaml& files) : s_(stream), files_(files) {}

  std::string write() {
    if (!files_.comment.empty()) line("# {}", files_.comment);
    line("vinci: {}", kFormatVersion);
    line("name: {}", name_text(s_.name));
    line("arch: {}", isa::name(s_.arch));
    if (s_.devices != 1) line("devices: {}", s_.devices);
    if (s_.without_data) line("without_data: true");
    if (!s_.buffers.empty()) line("buffers:");
    for (usize i = 0; i < s_.buffers.size(); ++i)
      buffer(s_.buffers[i], file_of(files_.buffers, i));
    if (!s_.kernels.empty()) line("kernels:");
    for (usize i = 0; i < s_.kernels.size(); ++i)
      kernel(s_.kernels[i], file_of(files_.kernels, i));
    name_list("events", s_.events);
    name_list("notifies", s_.notifies);
    name_list("labels", s_.labels);
    if (!s_.comms.empty()) line("comms:");
    for (const Comm& c : s_.comms)
      line("  {}: [{}]", key(c.name), fmt::join(c.devices, ", "));
    if (!s_.models.empty()) line("models:");
    for (u32 m = 0; m < s_.models.size(); ++m)
      line("  {}: {{head: [{}], streams: [{}]}}", key(s_.models[m]), bound(m, true), bound(m, false));
    line("streams:{}", s_.streams.empty() ? " {}" : "");
    for (const Stream& s : s_.streams)
      stream(s);
    if (!s_.host.threads.empty()) host();
    return std::move(out_);
  }

 private:
  template <class... A>
  void line(fmt::format_string<A...> text, A&&... args) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<A>(args)...);
    out_ += '\n';
  }

  // YAML limits an implicit key to 1024 characters; a longer one is announced.
  static std::string key(std::string_view s) { return s.size() <= 900 ? name_text(s) : "? " + yaml_quoted(s) + "\n  "; }

  void name_list(std::string_view what, const std::vector<std::string>& names) {
    if (!names.empty()) line("{}:", what);
    for (const std::string& name : names)
      line("  - {}", name_text(name));
  }

  // The streams of a model, those that start with it or the others.
  std::string bound(u32 model, bool head) const {
    std::string out;
    for (const Stream& s : s_.streams) {
      if (s.model == model && s.head == head) out += (out.empty() ? "" : ", ") + name_text(s.name);
    }
    return out;
  }

  static std::string file_of(const std::vector<std::string>& files, usize i) {
    return i < files.size() ? files[i] : std::string();
  }

  void buffer(const Buffer& b, const std::string& data_file) {
    std::string more;
    if (!b.dtype.empty()) more += ", dtype: " + b.dtype;
    if (!b.shape.empty()) more += fmt::format(", shape: [{}]", fmt::join(b.shape, ", "));
    if (!b.file.empty()) more += ", file: " + yaml_quoted(b.file);
    if (!b.output.empty()) more += ", output: " + yaml_quoted(b.output);
    if (!data_file.empty()) {
      more += ", file: " + yaml_quoted(data_file);
    } else if (!b.data.empty()) {
      more += ", data: \"";
      for (const std::byte x : b.data)
        fmt::format_to(std::back_inserter(more), "{:02x}", static_cast<unsigned>(x));
      more += '"';
    }
    if (b.random) more += ", random: true";
    if (b.device != 0) more += fmt::format(", device: {}", b.device);
    if (b.pageable) more += ", pageable: true";
    if (b.l2 != CacheHint::normal) more += fmt::format(", l2: {}", kCacheHintNames[static_cast<usize>(b.l2)]);
    line("  {}: {{place: {}, bytes: {}{}}}", key(b.name), kPlaceNames[static_cast<usize>(b.place)], b.bytes, more);
  }

  void kernel(const Kernel& k, const std::string& source) {
    line("  {}:", key(k.name));
    line("    type: {}", kKernelTypeNames[static_cast<usize>(k.type)]);
    if (k.opaque()) {
      line("    time: {}", time(k.seconds));
      return;
    }
    if (!k.entries.empty()) line("    entries: [{}]", fmt::join(k.entries, ", "));
    if (!source.empty()) return line("    source: {}", yaml_quoted(source));
    line("    code: |");
    std::string_view text;
    const std::string assembly = isa::disassemble(k.program);
    for (text = assembly; !text.empty();) {
      const usize end = std::min(text.find('\n'), text.size());
      line("      {}", text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  static std::string time(double seconds) { return config::write_text(config::Seconds{seconds}); }

  std::string slice(const Slice& s) const {
    const std::string name = name_text(s_.buffers[s.buffer].name);
    return s.offset == 0 ? name : fmt::format("{{buffer: {}, offset: {}}}", name, s.offset);
  }

  std::string arg(const Arg& a) const {
    // The top half of the numbers is more likely to have been meant as negative.
    if (const auto* number = std::get_if<u64>(&a)) return fmt::format("{}", static_cast<i64>(*number));
    return slice(std::get<Slice>(a));
  }

  std::string args(const std::vector<Arg>& list) const {
    std::string out;
    for (const Arg& a : list)
      out += (out.empty() ? "" : ", ") + arg(a);
    return out;
  }

  std::string text(const KernelLaunch& op) const {
    const std::string mix = !op.mix() ? std::string()
                                      : fmt::format(", type: {}, aiv_kernel: {}", kMixTypeNames[op.aivs - 1],
                                                    name_text(s_.kernels[op.aiv_kernel].name));
    return fmt::format("{{kernel: {}{}, block_dim: {}, args: [{}]}}", name_text(s_.kernels[op.kernel].name), mix,
                       op.block_dim, args(op.args));
  }
  std::string text(const MemcpyAsync& op) const {
    if (op.height == 1) return fmt::format("{{dst: {}, src: {}, count: {}}}", slice(op.dst), slice(op.src), op.width);
    return fmt::format("{{dst: {}, src: {}, width: {}, height: {}, dst_pitch: {}, src_pitch: {}}}", slice(op.dst),
                       slice(op.src), op.width, op.height, op.dst_pitch, op.src_pitch);
  }
  // The other operations, from their descriptions.
  template <class Op>
  std::string text(const Op& op) const {
    std::string out;
    for_each_field<Op>([&](const auto& field) {
      if (!field.applies(op)) return;
      const std::string value = text(field.of(op), field.spelling);
      if (value.empty()) return;
      if (!out.empty()) out += ", ";
      if (!field.key.empty()) out.append(field.key).append(": ");
      out += value;
    });
    return is_bare<Op>() ? out : "{" + out + "}";
  }

  std::string text(const Slice& value, const as::part&) const { return slice(value); }
  std::string text(u64 value, as::extent) const { return fmt::format("{}", value); }
  std::string text(u32 value, as::event) const { return name_text(s_.events[value]); }
  std::string text(u32 value, as::notify) const { return name_text(s_.notifies[value]); }
  std::string text(u32 value, as::label) const { return name_text(s_.labels[value]); }
  std::string text(const std::vector<u32>& value, as::labels) const {
    std::string out;
    for (const u32 label : value)
      out += (out.empty() ? "" : ", ") + name_text(s_.labels[label]);
    return "[" + out + "]";
  }
  std::string text(u32 value, as::stream) const { return name_text(s_.streams[value].name); }
  std::string text(u32 value, as::model) const { return name_text(s_.models[value]); }
  std::string text(u32 value, as::buffer) const { return name_text(s_.buffers[value].name); }
  std::string text(u32 value, as::communicator) const { return name_text(s_.comms[value].name); }
  std::string text(u64 value, const as::number&) const { return fmt::format("{}", value); }
  std::string text(u64 value, as::block_dim) const { return fmt::format("{}", value); }
  template <const auto& Names, class E>
  std::string text(E value, const as::choice<Names>&) const {
    return std::string(Names[enum_index(value)]);
  }
  std::string text(u8 value, as::integer_type) const { return std::string(kSwitchTypeNames[value / 4 - 1]); }
  std::string text(const std::vector<Arg>& value, as::args) const { return "[" + args(value) + "]"; }
  std::string text(const std::string& value, as::text) const { return name_text(value); }
  std::string text(double value, as::time) const { return value > 0 ? time(value) : std::string(); }

  void stream(const Stream& s) {
    const std::string_view empty = s.tasks.empty() ? " []" : "";
    if (s.device == 0 && s.priority == 0) {
      line("  {}:{}", key(s.name), empty);
    } else {
      line("  {}:", key(s.name));
      line("    device: {}", s.device);
      line("    priority: {}", s.priority);
      line("    tasks:{}", empty);
    }
    for (const Task& t : s.tasks)
      task(t);
  }

  void task(const Task& t) {
    const std::string op = std::visit([this](const auto& o) { return text(o); }, t.op);
    line("    - {}: {}", kOpNames[t.op.index()], op);
    if (t.name != default_task_name(s_, t)) line("      name: {}", name_text(t.name));
  }

  // The host program --------------------------------------------------------------------------------------------------

  void host() {
    line("host:");
    if (!s_.host.semaphores.empty()) line("  semaphores:");
    for (const Semaphore& x : s_.host.semaphores)
      line("    {}: {}", key(x.name), x.initial);
    line("  threads:");
    for (const HostThread& t : s_.host.threads) {
      line("    {}:{}", key(t.name), t.steps.empty() ? " []" : "");
      steps(t.steps, 0, t.steps.size(), 6);
    }
  }

  void steps(const std::vector<HostStep>& list, usize begin, usize end, usize indent) {
    for (usize i = begin; i < end; ++i) {
      const std::string_view name = kHostStepNames[list[i].index()];
      const auto* repeat = std::get_if<HostRepeat>(&list[i]);
      if (repeat == nullptr) {
        line("{:{}}- {}: {}", "", indent, name, std::visit([this](const auto& o) { return step_text(o); }, list[i]));
        continue;
      }
      line("{:{}}- {}:", "", indent, name);
      line("{:{}}times: {}", "", indent + 4, repeat->times);
      line("{:{}}steps:", "", indent + 4);
      steps(list, i + 1, i + 1 + repeat->length, indent + 6);
      i += repeat->length;
    }
  }

  std::string step_text(const HostEnqueue& op) const {
    const std::string name = name_text(s_.streams[op.stream].name);
    if (op == HostEnqueue{.stream = op.stream}) return name;
    if (op.count == HostEnqueue::kAll) return fmt::format("{{stream: {}, first: {}}}", name, op.first);
    return fmt::format("{{stream: {}, first: {}, count: {}}}", name, op.first, op.count);
  }
  std::string step_text(const HostCompute& op) const {
    return op.name.empty() ? time(op.seconds)
                           : fmt::format("{{time: {}, name: {}}}", time(op.seconds), name_text(op.name));
  }
  std::string step_text(const SynchronizeStream& op) const { return name_text(s_.streams[op.stream].name); }
  std::string step_text(const SynchronizeEvent& op) const { return name_text(s_.events[op.event]); }
  std::string step_text(const SynchronizeDevice& op) const { return fmt::format("{}", op.device); }
  std::string step_text(const HostPost& op) const { return name_text(s_.host.semaphores[op.semaphore].name); }
  std::string step_text(const HostWait& op) const { return name_text(s_.host.semaphores[op.semaphore].name); }
  std::string step_text(const HostRepeat&) const { return {}; }  // its steps are a list of their own

  const TaskStream& s_;
  const FilesOfYaml& files_;
  std::string out_;
};

}  // namespace

std::string to_yaml(const TaskStream& stream, const FilesOfYaml& files) { return YamlWriter(stream, files).write(); }

bool same_meaning(const TaskStream& a, const TaskStream& b) {
  const auto without_programs = [](TaskStream s) {
    s.folder.clear();
    for (Kernel& k : s.kernels) {
      k.program.source.clear();
      k.program.lines.clear();
      k.program.included.clear();
      k.program.files.clear();
      k.program.labels.clear();
    }
    return s;
  };
  return without_programs(a) == without_programs(b);
}

}  // namespace vinci::task
