// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/error.h"
#include "isa/program/loops.h"
#include "sim/config/load.h"
#include "sim/config/ranges.h"
#include "sim/config/schema.h"
#include "sim/config/unit_text.h"
#include "sim/task/load.h"
#include "sim/task/notes.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

namespace vinci::cli {
namespace {

// Builds a summary line by line.
class Summary {
 public:
  template <class... A>
  void line(fmt::format_string<A...> text, A&&... args) {
    fmt::format_to(std::back_inserter(text_), text, std::forward<A>(args)...);
    text_ += '\n';
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

template <class List>
usize longest_name(const List& items) {
  usize width = 0;
  for (const auto& item : items)
    width = std::max(width, item.name.size());
  return std::min<usize>(width, 40);
}

std::string describe(const task::Kernel& k) {
  if (k.opaque()) return config::write_text(config::Seconds{k.seconds});
  const u64 positions = isa::positions(k.program);
  const std::string stored = counted(k.program.code.size(), "instruction");
  return k.program.loops.empty() ? stored : fmt::format("{} in {}", counted(positions, "instruction"), stored);
}

// Where a stream runs, as far as there is more to say than "on the device".
std::string place_of(const task::TaskStream& s, const task::Stream& stream) {
  std::string out;
  if (s.devices > 1) out += fmt::format("  device {}", stream.device);
  if (stream.priority != 0) out += fmt::format("  priority {}", stream.priority);
  if (stream.model != task::kNone)
    out += fmt::format("  {} of {}", stream.head ? "head" : "part", s.models[stream.model]);
  return out;
}

std::string describe(const std::string& file, const task::TaskStream& s) {
  Summary out;
  out.line("{}: task stream '{}' for {}", file, s.name, isa::name(s.arch));
  std::array<usize, 2> count{};
  std::array<u64, 2> bytes{};
  for (const task::Buffer& b : s.buffers) {
    ++count[static_cast<usize>(b.place)];
    bytes[static_cast<usize>(b.place)] += b.bytes;
  }
  out.line("  {}: {} on the host ({}), {} on the device ({})", counted(s.buffers.size(), "buffer"), count[0],
           config::write_text(config::Bytes{bytes[0]}), count[1], config::write_text(config::Bytes{bytes[1]}));
  out.line("  {}", counted(s.kernels.size(), "kernel"));
  const usize kernel_width = longest_name(s.kernels);
  for (const task::Kernel& k : s.kernels) {
    out.line("    {:<{}}  {:<8}  {}", k.name, kernel_width, task::kKernelTypeNames[static_cast<usize>(k.type)],
             describe(k));
  }
  out.line("  {}", counted(s.events.size(), "event"));
  if (!s.notifies.empty()) out.line("  {} {}", s.notifies.size(), s.notifies.size() == 1 ? "notify" : "notifies");
  if (!s.labels.empty()) out.line("  {}", counted(s.labels.size(), "label"));
  if (s.devices > 1) out.line("  {}", counted(s.devices, "device"));
  if (!s.comms.empty()) out.line("  {}", counted(s.comms.size(), "communicator"));
  const usize comm_width = longest_name(s.comms);
  for (const task::Comm& c : s.comms)
    out.line("    {:<{}}  {}", c.name, comm_width, counted(c.devices.size(), "rank"));
  if (!s.models.empty()) out.line("  {}: {}", counted(s.models.size(), "model"), fmt::join(s.models, ", "));
  out.line("  {}", counted(s.streams.size(), "stream"));
  const usize stream_width = longest_name(s.streams);
  for (const task::Stream& stream : s.streams) {
    std::array<usize, task::kOpNames.size()> ops{};
    for (const task::Task& t : stream.tasks)
      ++ops[t.op.index()];
    std::vector<std::string> parts;
    for (usize i = 0; i < ops.size(); ++i) {
      if (ops[i] != 0) parts.push_back(fmt::format("{} {}", ops[i], task::kOpNames[i]));
    }
    out.line("    {:<{}}{}  {}{}{}", stream.name, stream_width, place_of(s, stream),
             counted(stream.tasks.size(), "task"), parts.empty() ? "" : ": ", fmt::join(parts, ", "));
  }
  if (!s.host.threads.empty()) out.line("  {} of the host", counted(s.host.threads.size(), "thread"));
  const usize thread_width = longest_name(s.host.threads);
  for (const task::HostThread& t : s.host.threads)
    out.line("    {:<{}}  {}", t.name, thread_width, counted(t.steps.size(), "step"));
  for (const std::string& note : task::notes(s))
    out.line("  note: {}", note);
  return out.text();
}

std::string describe(const std::string& file, const config::ChipConfig& chip) {
  Summary out;
  const std::string cores = chip.vector_cores == 0
                                ? counted(chip.ai_cores, "core")
                                : fmt::format("{} cube + {} vector cores", chip.ai_cores, chip.vector_cores);
  out.line("{}: chip '{}' ({}), {} at {}", file, chip.name, isa::name(chip.arch), cores,
           config::write_text(chip.clock));
  const config::Assumptions a = config::assumptions(chip);
  out.line("  {} of {} parameter groups are assumed{}{}", a.assumed.size(), a.total, a.assumed.empty() ? "" : ": ",
           fmt::join(a.assumed, ", "));
  return out.text();
}

// What of a chip still rests on assumption, a line for each group.
std::string list_assumed(const std::string& name) {
  const config::ChipConfig chip = config::load_chip(name);
  const config::Assumptions a = config::assumptions(chip);
  Summary out;
  out.line("{}: {} of {} parameter groups are assumed, {} in part", name, a.assumed.size(), a.total, a.partly.size());
  for (const std::string& group : a.assumed)
    out.line("  {}", group);
  for (const std::string& group : a.partly)
    out.line("  {}", group);
  out.line("how far off their times may be:");
  for (const config::AssumedCost& cost : config::assumed_costs(chip))
    out.line("  {} {:g} to {:g} times: {}", cost.key, cost.range.low, cost.range.high, cost.range.reason);
  return out.text();
}

struct CheckOptions {
  std::vector<std::string> files;
  bool chip = false;
  bool manual = false;
  bool schema = false;
  bool assumed = false;
};

// Keys at the top of a task stream that a chip file does not have.
constexpr auto kStreamKeys = std::to_array<std::string_view>(
    {"buffers", "kernels", "events", "notifies", "labels", "comms", "models", "streams"});

// Whether a line of YAML has this key.
bool has_key(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return false;
  line.remove_prefix(key.size());
  line.remove_prefix(line.starts_with('"') ? 1 : 0);
  return line.starts_with(':');
}

// A task stream says so: by the identifier of .vts, by the key `vinci`, or, where that is missing or broken, by other
// keys that only task streams have.
bool is_task_stream(const std::string& file) {
  if (file.ends_with(".vts")) return true;
  const std::vector<std::byte> bytes = task::read_whole_file(file);
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.substr(0, 8).ends_with("VNTS")) return true;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    const usize end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    const bool top = !line.starts_with(' ');
    line.remove_prefix(std::min(line.find_first_not_of(" {\""), line.size()));
    const auto in_line = [&](std::string_view key) { return has_key(line, key); };
    if (in_line("vinci") || (top && std::ranges::any_of(kStreamKeys, in_line))) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

std::string check_file(const std::string& file, bool chip) {
  const bool is_file = std::filesystem::exists(file);
  // The name of a built-in chip is no file; so is a mistyped one, and the chip loader knows the near names.
  const bool looks_like_chip = !is_file && file.find('/') == std::string::npos && file.find('.') == std::string::npos;
  if (chip || looks_like_chip) return describe(file, config::load_chip(file));
  if (is_task_stream(file)) return describe(file, task::load_task_stream(file));
  if (file.ends_with(".yaml") || file.ends_with(".yml")) return describe(file, config::load_chip(file));
  fail(Fault::Input, "'{}' is neither a task stream (its first key is 'vinci') nor a chip file (*.yaml)", file);
}

void check_files(const CheckOptions& o) {
  if (o.manual) return print_out(config::manual());
  if (o.schema) return print_out(config::chip_schema());
  if (o.assumed) {
    std::vector<std::string> chips = o.files;
    if (chips.empty())
      for (const config::ChipSummary& c : config::builtin_chips())
        chips.push_back(c.name);
    for (const std::string& chip : chips)
      print_out(list_assumed(chip));
    return;
  }
  if (o.files.empty()) fail(Fault::Input, "name a file to check, or use --manual\nTry 'vinci check --help'.");
  // All files are looked at; what is wrong with any comes out as one error.
  std::string errors;
  Fault fault = Fault::Input;
  for (const std::string& file : o.files) {
    try {
      print_out(check_file(file, o.chip));
    } catch (const Error& e) {
      if (errors.empty()) fault = e.fault();
      errors += (errors.empty() ? "" : "\n") + std::string(e.what());
    }
  }
  if (!errors.empty()) throw Error(fault, errors);
}

}  // namespace

void add_check(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("check", "Check task streams and chip files and summarise them");
  const auto o = std::make_shared<CheckOptions>();
  CLI::Option* files =
      sub->add_option("FILE", o->files, "Task streams (.yaml, .vts), chip files, or names of built-in chips");
  CLI::Option* chip = sub->add_flag("--chip", o->chip, "Take every FILE for a chip, whatever it looks like");
  sub->add_flag("--manual", o->manual, "Print every key of a chip file with unit, default, range and meaning")
      ->excludes(files)
      ->excludes(chip);
  sub->add_flag("--schema", o->schema, "Print the JSON Schema of chip files, for editors")
      ->excludes(files)
      ->excludes(chip);
  sub->add_flag("--assumed", o->assumed, "List what of each chip is still assumed; of all built-in chips without FILE");
  sub->footer("Example: vinci check gemm.yaml my-chip.yaml ascend-910b1");
  sub->callback([o] { check_files(*o); });
}

}  // namespace vinci::cli
