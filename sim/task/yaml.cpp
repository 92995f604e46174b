// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Reads the YAML spelling: the top of a file. Its larger parts have files of their own.
#include "sim/task/load.h"
#include "sim/task/yaml_host.h"
#include "sim/task/yaml_kernel.h"
#include "sim/task/yaml_nodes.h"
#include "sim/task/yaml_task.h"

namespace vinci::task {
namespace {

class YamlReader {
 public:
  YamlReader(std::string_view text, const Files& files, const YamlLocator& where, Draft& out)
      : text_(text),
        files_(files),
        where_(where),
        yaml_(text, where, out.problems),
        names_(yaml_),
        s_(out.stream),
        problems_(out.problems) {}

  void read() {
    const Node& root = yaml_.tree().root();
    if (root.kind != NodeKind::map)
      fail_at(Fault::Input, where_.at(root), "a task stream is a map with the key 'vinci'");
    const auto f = yaml_.fields<14>(root, "task stream",
                                    {"vinci", "name", "arch", "devices", "buffers", "kernels", "events", "notifies",
                                     "labels", "comms", "models", "streams", "host", "without_data"});
    if (!f[0]) fail_at(Fault::Input, where_.at(root), "a task stream starts with 'vinci: {}'", kFormatVersion);
    u64 version = 0;
    if (!yaml_.scalar(*f[0]) || !read_number(f[0]->text(), version) || version != kFormatVersion) {
      fail_at(Fault::Input, where_.at(*f[0]), "format version '{}' is not supported; this program reads {}",
              shown(f[0]->text()), kFormatVersion);
    }
    if (yaml_.need(root, f[1], "task stream", "name")) s_.name = yaml_.read_text(*f[1], "name");
    KernelSource source{.lines = TextLines(text_), .files = files_};
    if (yaml_.need(root, f[2], "task stream", "arch"))
      source.arch_known = yaml_.read_name(*f[2], "arch", isa::kArchNames, s_.arch);
    source.arch = s_.arch;
    if (f[3]) s_.devices = static_cast<u32>(yaml_.read_count(*f[3], "devices", kMaxDevices, 1));
    if (f[13]) s_.without_data = yaml_.read_truth(*f[13], "without_data");
    if (f[4]) read_buffers(*f[4]);
    check_buffers(s_, where_, files_, problems_);
    if (f[5]) read_kernels(*f[5], source);
    if (f[6]) read_list(*f[6], "events", "an event", names_.events, s_.events);
    if (f[7]) read_list(*f[7], "notifies", "a notify", names_.notifies, s_.notifies);
    if (f[8]) read_list(*f[8], "labels", "a label", names_.labels, s_.labels);
    if (f[9]) read_comms(*f[9]);
    if (!yaml_.need(root, f[11], "task stream", "streams")) return;
    declare_streams(*f[11]);
    if (f[10]) read_models(*f[10]);
    read_streams(*f[11]);
    if (f[12]) read_host(*f[12], yaml_, names_, s_);
  }

 private:
  static u32 size(const auto& list) { return static_cast<u32>(list.size()); }

  void read_buffers(const Node& node) {
    yaml_.each_entry(node, "buffers", [&](const std::string& key, const Node& value) {
      names_.buffers.emplace(key, size(s_.buffers));
      Buffer& b = s_.buffers.emplace_back();
      b.name = key;
      const u64 before = yaml_.reports();
      if (yaml_.expect(value, NodeKind::map, "a buffer")) read_buffer(value, b);
      if (yaml_.reports() != before) b.bytes = kUnresolvedBytes;
    });
  }

  void read_buffer(const Node& node, Buffer& b) {
    const std::string what = fmt::format("buffer '{}'", shown(b.name));
    const auto f = yaml_.fields<11>(
        node, what,
        {"place", "bytes", "file", "output", "dtype", "shape", "data", "random", "device", "pageable", "l2"});
    if (yaml_.need(node, f[0], what, "place")) yaml_.read_name(*f[0], "place", kPlaceNames, b.place);
    if (f[1]) b.bytes = yaml_.read_size(*f[1], "bytes");
    if (f[2]) b.file = yaml_.read_text(*f[2], "file");
    if (f[3]) b.output = yaml_.read_text(*f[3], "output");
    if (f[4]) b.dtype = yaml_.read_text(*f[4], "dtype");
    if (f[5]) {
      yaml_.each_item(*f[5], "shape", [&](const Node& n) { b.shape.push_back(yaml_.read_count(n, "shape", ~u64{0})); });
    }
    if (f[6]) b.data = read_hex(*f[6]);
    if (f[7]) b.random = yaml_.read_truth(*f[7], "random");
    if (f[8]) b.device = read_device(*f[8]);
    if (f[9]) b.pageable = yaml_.read_truth(*f[9], "pageable");
    if (f[10]) yaml_.read_name(*f[10], "l2", kCacheHintNames, b.l2);
  }

  u32 read_device(const Node& node) { return static_cast<u32>(yaml_.read_count(node, "device", s_.devices - 1)); }

  std::vector<std::byte> read_hex(const Node& node) {
    std::vector<std::byte> out;
    if (!yaml_.expect(node, NodeKind::scalar, "data")) return out;
    int digits = 0;
    u8 value = 0;
    for (const char c : node.text()) {
      if (c == ' ' || c == '\n') continue;
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) {
        yaml_.report(node, "data: '{}' is no hexadecimal digit", shown({&c, 1}));
        return {};
      }
      value = static_cast<u8>(value << 4 | digit);
      if (++digits % 2 == 0) out.push_back(std::byte{value});
    }
    if (digits % 2 != 0) yaml_.report(node, "data: {} hexadecimal digits make no whole number of bytes", digits);
    return out;
  }

  void read_kernels(const Node& node, KernelSource& source) {
    yaml_.each_entry(node, "kernels", [&](const std::string& key, const Node& value) {
      names_.kernels.emplace(key, size(s_.kernels));
      Kernel& k = s_.kernels.emplace_back();
      k.name = key;
      k.program.arch = s_.arch;
      if (yaml_.expect(value, NodeKind::map, "a kernel")) read_kernel(value, yaml_, source, k);
    });
  }

  void read_list(const Node& node, std::string_view what, std::string_view item_text, YamlNames::Index& index,
                 std::vector<std::string>& list) {
    yaml_.each_item(node, what, [&](const Node& item) {
      list.push_back(yaml_.read_text(item, item_text));
      index.emplace(list.back(), size(list) - 1);
    });
  }

  void read_comms(const Node& node) {
    yaml_.each_entry(node, "comms", [&](const std::string& key, const Node& ranks) {
      names_.comms.emplace(key, size(s_.comms));
      Comm& comm = s_.comms.emplace_back(Comm{.name = key});
      yaml_.each_item(ranks, "a communicator", [&](const Node& item) { comm.devices.push_back(read_device(item)); });
    });
  }

  // Enters the streams, and what tasks declare, before the tasks that refer to them are read.
  void declare_streams(const Node& node) {
    yaml_.each_entry(node, "streams", [&](const std::string& key, const Node& value) {
      names_.streams.emplace(key, size(s_.streams));
      s_.streams.emplace_back(Stream{.name = key});
      const Node* tasks = value.kind == NodeKind::map ? where_.value(value, "tasks") : &value;
      if (tasks == nullptr || tasks->kind != NodeKind::sequence) return;
      for (const Node& task : tasks->children())
        declare(task);
    });
  }

  void declare(const Node& task) {
    yaml_.visit(task);
    if (task.kind != NodeKind::map) return;
    for (const auto& entry : task.entries()) {
      const auto &key = entry.first, &name = entry.second;
      if (!yaml_.scalar(name)) continue;
      for_each_op([&]<class Op>(std::type_identity<Op>) {
        for_each_field<Op>([&](const auto& field) {
          if constexpr (requires { field.spelling.declares; }) {
            if (!field.spelling.declares || key.text() != Op::info.key) return;
            yaml_.visit(name);
            declare(name.text(), field.spelling);
          }
        });
      });
    }
  }

  void declare(std::string_view name, as::event) { YamlNames::declare(name, names_.events, s_.events); }
  void declare(std::string_view name, as::notify) { YamlNames::declare(name, names_.notifies, s_.notifies); }
  void declare(std::string_view name, as::label) { YamlNames::declare(name, names_.labels, s_.labels); }

  void read_models(const Node& node) {
    yaml_.each_entry(node, "models", [&](const std::string& key, const Node& value) {
      const u32 model = size(s_.models);
      names_.models.emplace(key, model);
      s_.models.push_back(key);
      if (!yaml_.expect(value, NodeKind::map, "a model")) return;
      const std::string what = fmt::format("model '{}'", shown(key));
      const auto f = yaml_.fields<2>(value, what, {"head", "streams"});
      if (yaml_.need(value, f[0], what, "head")) bind(*f[0], "head", model, true);
      if (f[1]) bind(*f[1], "streams", model, false);
    });
  }

  void bind(const Node& node, std::string_view what, u32 model, bool head) {
    yaml_.each_item(node, what, [&](const Node& item) {
      const u32 index = names_.resolve(item, "stream", names_.streams, s_.streams);
      if (index == kUnresolved) return;
      Stream& stream = s_.streams[index];
      if (stream.model != kNone) {
        yaml_.report(item, "stream '{}' is bound to model '{}' already", shown(stream.name),
                     shown(s_.models[stream.model]));
        return;
      }
      stream.model = model;
      stream.head = head;
    });
  }

  void read_streams(const Node& node) {
    if (node.kind != NodeKind::map) return;
    usize i = 0;
    yaml_.each_entry(node, "streams", [&](const std::string&, const Node& value) {
      Stream& stream = s_.streams[i++];
      if (value.kind != NodeKind::map) return read_tasks(value, stream);
      const std::string what = fmt::format("stream '{}'", shown(stream.name));
      const auto f = yaml_.fields<3>(value, what, {"device", "priority", "tasks"});
      if (f[0]) stream.device = read_device(*f[0]);
      if (f[1]) stream.priority = static_cast<u8>(yaml_.read_count(*f[1], "priority", kLowestPriority));
      if (yaml_.need(value, f[2], what, "tasks")) read_tasks(*f[2], stream);
    });
  }

  void read_tasks(const Node& node, Stream& stream) {
    yaml_.each_item(node, "a stream", [&](const Node& item) {
      // The same limit as the check, before there is anything to hold.
      if (++tasks_ > kMaxTasks) fail_at(Fault::Input, where_.at(item), "more than {} tasks", kMaxTasks);
      s_.places.lines.push_back(yaml_.tree().mark(item).line);
      read_task(item, yaml_, names_, s_, stream.tasks.emplace_back());
    });
  }

  std::string_view text_;
  const Files& files_;
  const YamlLocator& where_;
  YamlNodes yaml_;
  YamlNames names_;
  TaskStream& s_;
  config::Problems& problems_;
  u64 tasks_ = 0;
};

}  // namespace

void read_yaml(std::string_view text, const std::string& name, const Files& files, Draft& out) {
  auto locator = std::make_unique<YamlLocator>(name, io::YamlTree::parse(text, name));
  const YamlLocator& where = *locator;
  out.locator = std::move(locator);
  YamlReader(text, files, where, out).read();
}

}  // namespace vinci::task
