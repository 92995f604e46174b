// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Reads the YAML spelling.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

#include "isa/program_file.h"
#include "isa/text.h"
#include "sim/config/unit_text.h"
#include "sim/io/yaml_tree.h"
#include "sim/task/draft.h"
#include "sim/task/load.h"

namespace vinci::task {
namespace {

using io::YamlTree;
using Kind = YamlTree::Kind;

// Follows a path as far as the text spells it out: defaults and short forms have no node of their own.
class YamlLocator final : public Locator {
 public:
  YamlLocator(std::string name, YamlTree tree) : name_(std::move(name)), tree_(std::move(tree)) {}

  const YamlTree& tree() const { return tree_; }
  const std::string& name() const { return name_; }

  std::string at(const YamlTree::Node& node) const { return fmt::format("{}:{}:{}", name_, node.line, node.column); }

  std::string at(const Path& path) const override {
    const YamlTree::Node* node = &tree_.root();
    const YamlTree::Node* shown_node = node;
    for (const Path::Step& step : path) {
      const std::vector<u32>& children = node->children;
      if (node->kind == Kind::map && !step.key.empty()) {
        for (usize i = 0; i + 1 < children.size(); i += 2) {
          if (tree_[children[i]].text != step.key) continue;
          node = shown_node = &tree_[children[i + 1]];
          break;
        }
      } else if (node->kind == Kind::map && 2 * step.index + 1 < children.size()) {
        shown_node = &tree_[children[2 * step.index]];  // an entry is found by its name
        node = &tree_[children[2 * step.index + 1]];
      } else if (node->kind == Kind::sequence && step.key.empty() && step.index < children.size()) {
        node = shown_node = &tree_[children[step.index]];
      }
    }
    return at(*shown_node);
  }

 private:
  std::string name_;
  YamlTree tree_;
};

// A number as people write it: decimal or 0x, with a sign where `out` is what a 64-bit register holds.
bool read_number(std::string_view text, u64& out) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  u64 v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v, hex ? 16 : 10);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return false;
  if (negative && v > u64{1} << 63) return false;
  out = negative ? ~v + 1 : v;
  return true;
}

bool looks_like_number(std::string_view text) {
  return !text.empty() && (text[0] == '-' || text[0] == '+' || (text[0] >= '0' && text[0] <= '9'));
}

class YamlReader {
 public:
  using Node = YamlTree::Node;

  YamlReader(std::string_view text, const Files& files, const YamlLocator& where, Draft& out)
      : text_(text),
        files_(files),
        where_(where),
        tree_(where.tree()),
        s_(out.stream),
        problems_(out.problems),
        budget_(kMaxExpandedBytes + 4 * (kNodeCost * where.tree().size() + text.size())) {}

  void read() {
    const Node& root = tree_.root();
    if (root.kind != Kind::map) fail_at(Fault::Input, where_.at(root), "a task stream is a map with the key 'vinci'");
    const auto f = fields<7>(root, "task stream", {"vinci", "name", "arch", "buffers", "kernels", "events", "streams"});
    if (!f[0]) fail_at(Fault::Input, where_.at(root), "a task stream starts with 'vinci: {}'", kFormatVersion);
    u64 version = 0;
    if (!scalar(*f[0]) || !read_number(f[0]->text, version) || version != kFormatVersion) {
      fail_at(Fault::Input, where_.at(*f[0]), "format version '{}' is not supported; this program reads {}",
              shown(f[0]->text), kFormatVersion);
    }
    if (need(root, f[1], "task stream", "name")) s_.name = read_text(*f[1], "name");
    bool arch_known = false;
    if (need(root, f[2], "task stream", "arch")) arch_known = read_name(*f[2], "arch", isa::kArchNames, s_.arch);
    if (f[3]) read_buffers(*f[3]);
    check_buffers(s_, where_, files_, problems_);
    if (f[4]) read_kernels(*f[4], arch_known);
    if (f[5]) read_events(*f[5]);
    if (need(root, f[6], "task stream", "streams")) read_streams(*f[6]);
  }

 private:
  template <class... A>
  void report(const Node& node, fmt::format_string<A...> text, A&&... args) {
    ++reports_;
    // Beyond what is shown, problems are only counted.
    problems_.full() ? problems_.add({}, {})
                     : problems_.add(where_.at(node), fmt::format(text, std::forward<A>(args)...));
  }

  static constexpr u64 kNodeCost = 64;

  // Aliases can make a small file mean a huge one; this is what we are willing to walk.
  void visit(const Node& node) {
    const u64 cost = kNodeCost + node.text.size();
    if (cost > budget_) {
      fail_at(Fault::Input, where_.at(node), "aliases expand the file by more than {} bytes", kMaxExpandedBytes);
    }
    budget_ -= cost;
  }

  static bool scalar(const Node& node) { return node.kind == Kind::scalar; }

  bool need(const Node& parent, const Node* node, std::string_view what, std::string_view key) {
    if (node != nullptr) return true;
    report(parent, "{}: '{}' is missing", what, key);
    return false;
  }

  bool expect(const Node& node, Kind kind, std::string_view what) {
    if (node.kind == kind) return true;
    report(node, "{} must be {}, not {}", what, name(kind), name(node.kind));
    return false;
  }

  // The values of a map by their keys, null where absent; anything else in it is a problem.
  template <usize N>
  std::array<const Node*, N> fields(const Node& node, std::string_view what,
                                    const std::array<std::string_view, N>& keys) {
    std::array<const Node*, N> out{};
    for (usize i = 0; i + 1 < node.children.size(); i += 2) {
      const Node& key = tree_[node.children[i]];
      const Node& value = tree_[node.children[i + 1]];
      visit(key);
      visit(value);
      if (!expect(key, Kind::scalar, "a key")) continue;
      const usize k = static_cast<usize>(std::find(keys.begin(), keys.end(), key.text) - keys.begin());
      if (k == N) {
        const std::string hint = did_you_mean(key.text, keys);
        report(key, "{} has no key '{}'{}", what, shown(key.text),
               hint.empty() ? fmt::format("; it has {}", fmt::join(keys, ", ")) : hint);
      } else if (out[k] != nullptr) {
        report(key, "{}: '{}' is there twice", what, key.text);
      } else {
        out[k] = &value;
      }
    }
    return out;
  }

  // Calls body(key text, value) for each entry.
  template <class F>
  void each_entry(const Node& node, std::string_view what, F body) {
    if (!expect(node, Kind::map, what)) return;
    for (usize i = 0; i + 1 < node.children.size(); i += 2) {
      const Node& key = tree_[node.children[i]];
      const Node& value = tree_[node.children[i + 1]];
      visit(key);
      visit(value);
      expect(key, Kind::scalar, "a name");
      body(key.text, value);
    }
  }

  template <class F>
  void each_item(const Node& node, std::string_view what, F body) {
    if (!expect(node, Kind::sequence, what)) return;
    for (const u32 child : node.children) {
      visit(tree_[child]);
      body(tree_[child]);
    }
  }

  std::string read_text(const Node& node, std::string_view what) {
    return expect(node, Kind::scalar, what) ? node.text : std::string{};
  }

  template <class E, usize N>
  bool read_name(const Node& node, std::string_view what, const std::array<std::string_view, N>& names, E& out) {
    if (!expect(node, Kind::scalar, what)) return false;
    const std::optional<E> value = isa::parse_enum<E>(names, node.text);
    if (value) {
      out = *value;
    } else {
      report(node, "unknown {} '{}'; known are {}{}", what, shown(node.text), fmt::join(names, ", "),
             did_you_mean(node.text, names));
    }
    return value.has_value();
  }

  // A size in bytes, plain or with a unit.
  u64 read_size(const Node& node, std::string_view what) {
    config::Bytes bytes;
    u64 plain = 0;
    if (!expect(node, Kind::scalar, what)) return 0;
    if (!node.text.starts_with('-') && read_number(node.text, plain)) return plain;
    if (config::read_text(node.text, bytes)) return bytes;
    report(node, "{}: cannot read '{}'; write {}", what, shown(node.text), config::how_to_write(bytes));
    return 0;
  }

  u64 read_count(const Node& node, std::string_view what, u64 max) {
    u64 v = 0;
    if (!expect(node, Kind::scalar, what)) return 0;
    if (node.text.starts_with('-') || !read_number(node.text, v) || v > max) {
      report(node, "{} = {} is not a number in [0, {}]", what, shown(node.text), max);
      return 0;
    }
    return v;
  }

  // -------------------------------------------------------------------------------------------------------------------

  template <class Named>
  std::map<std::string, u32, std::less<>> index(const std::vector<Named>& items) {
    std::map<std::string, u32, std::less<>> out;
    for (usize i = 0; i < items.size(); ++i)
      out.emplace(items[i].name, static_cast<u32>(i));
    return out;
  }

  void read_buffers(const Node& node) {
    each_entry(node, "buffers", [&](const std::string& key, const Node& value) {
      Buffer& b = s_.buffers.emplace_back();
      b.name = key;
      const u64 before = reports_;
      if (expect(value, Kind::map, "a buffer")) read_buffer(value, b);
      if (reports_ != before) b.bytes = kUnresolvedBytes;
    });
    buffers_ = index(s_.buffers);
  }

  void read_buffer(const Node& node, Buffer& b) {
    const std::string what = fmt::format("buffer '{}'", shown(b.name));
    const auto f = fields<8>(node, what, {"place", "bytes", "file", "output", "dtype", "shape", "data", "random"});
    if (need(node, f[0], what, "place")) read_name(*f[0], "place", kPlaceNames, b.place);
    if (f[1]) b.bytes = read_size(*f[1], "bytes");
    if (f[2]) b.file = read_text(*f[2], "file");
    if (f[3]) b.output = read_text(*f[3], "output");
    if (f[4]) b.dtype = read_text(*f[4], "dtype");
    if (f[5]) each_item(*f[5], "shape", [&](const Node& n) { b.shape.push_back(read_count(n, "shape", ~u64{0})); });
    if (f[6]) b.data = read_hex(*f[6]);
    if (f[7]) {
      static constexpr std::array<std::string_view, 2> kTruth{"false", "true"};
      u8 truth = 0;
      read_name(*f[7], "random", kTruth, truth);
      b.random = truth == 1;
    }
  }

  std::vector<std::byte> read_hex(const Node& node) {
    std::vector<std::byte> out;
    if (!expect(node, Kind::scalar, "data")) return out;
    int digits = 0;
    u8 value = 0;
    for (const char c : node.text) {
      if (c == ' ' || c == '\n') continue;
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) {
        report(node, "data: '{}' is no hexadecimal digit", shown({&c, 1}));
        return {};
      }
      value = static_cast<u8>(value << 4 | digit);
      if (++digits % 2 == 0) out.push_back(std::byte{value});
    }
    if (digits % 2 != 0) report(node, "data: {} hexadecimal digits make no whole number of bytes", digits);
    return out;
  }

  // -------------------------------------------------------------------------------------------------------------------

  void read_kernels(const Node& node, bool arch_known) {
    each_entry(node, "kernels", [&](const std::string& key, const Node& value) {
      Kernel& k = s_.kernels.emplace_back();
      k.name = key;
      k.program.arch = s_.arch;
      if (expect(value, Kind::map, "a kernel")) read_kernel(value, k, arch_known);
    });
    kernels_ = index(s_.kernels);
  }

  void read_kernel_type(const Node& node, KernelType& type) {
    if (scalar(node) && std::ranges::find(kMixTypeNames, node.text) != kMixTypeNames.end()) {
      report(node, "{} is the type of a launch of two kernels: 'type' and 'aiv_kernel' of kernel_launch", node.text);
      return;
    }
    usize word = 0;
    if (read_name(node, "kernel type", kKernelTypeWords, word)) type = kernel_type_of_word(word);
  }

  void read_kernel(const Node& node, Kernel& k, bool arch_known) {
    const std::string what = fmt::format("kernel '{}'", shown(k.name));
    const auto f = fields<4>(node, what, {"type", "source", "code", "binary"});
    const bool split = isa::contains(isa::kSplitArchs, s_.arch);
    if (split) k.type = KernelType::AIV_ONLY;  // no second message where the right one is missing
    if (f[0]) {
      read_kernel_type(*f[0], k.type);
    } else if (split && arch_known) {
      need(node, nullptr, what, "type");
    }
    if (!arch_known) k.type = KernelType::AIV_ONLY;  // nothing to compare it with
    const int ways = (f[1] != nullptr) + (f[2] != nullptr) + (f[3] != nullptr);
    if (ways != 1) {
      report(node, "{}: give one of 'source', 'code', 'binary'", what);
    } else if (arch_known) {
      try {
        if (f[1]) read_source(*f[1], k);
        if (f[2]) read_code(*f[2], k);
        if (f[3]) read_binary(*f[3], k);
      } catch (const Error& e) {
        problems_.add(e.location(), e.message());
      }
    }
  }

  // A file beside the task stream, as messages name it.
  std::string beside(const std::string& file) const {
    const std::filesystem::path folder = std::filesystem::path(where_.name()).parent_path();
    return (folder / file).string();
  }

  std::vector<std::byte> read_file(const Node& node) {
    try {
      const u64 size = files_.size(node.text);
      if (size > kMaxFileBytes) {
        fail(Fault::Input, "'{}' has {} bytes; at most {} are read", node.text, size, kMaxFileBytes);
      }
      spend_file(node, size);
      return files_.read(node.text, 0, size);
    } catch (const Error& e) {
      throw Error(e.fault(), e.message(), where_.at(node));
    }
  }

  void spend_file(const Node& node, u64 size) {
    if (size > budget_) fail(Fault::Input, "the kernels together have more than {} bytes of text", kMaxExpandedBytes);
    budget_ -= size;
    visit(node);
  }

  void read_source(const Node& node, Kernel& k) {
    if (!expect(node, Kind::scalar, "source")) return;
    const std::vector<std::byte> bytes = read_file(node);
    k.program = isa::assemble({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, beside(node.text), s_.arch);
    // Reports must not depend on the folder that a run was started from.
    k.program.source = node.text;
  }

  void read_binary(const Node& node, Kernel& k) {
    if (!expect(node, Kind::scalar, "binary")) return;
    k.program = isa::read_program(read_file(node), beside(node.text));
  }

  void read_code(const Node& node, Kernel& k) {
    if (!expect(node, Kind::scalar, "code")) return;
    const std::string file = std::filesystem::path(where_.name()).filename().string();
    // In a literal block, line n of the assembly is a known line of the file. Other scalars are folded: there, lines
    // and columns count from the start of the text.
    if (!is_literal_block(node)) {
      try {
        k.program = isa::assemble(node.text, "code", s_.arch);
      } catch (const Error& e) {
        throw Error(e.fault(), e.what(), where_.at(node));
      }
      k.program.source = fmt::format("{}({})", file, k.name);
      return;
    }
    try {
      k.program = isa::assemble(node.text, where_.name(), s_.arch);
    } catch (const Error& e) {
      const u32 indent = block_indent(node);
      std::string message;
      std::string_view rest = e.message();
      while (!rest.empty()) {
        const usize end = std::min(rest.find('\n'), rest.size());
        message += moved(rest.substr(0, end), node.line, indent);
        rest.remove_prefix(end);
        if (rest.empty()) break;
        message += '\n';
        rest.remove_prefix(1);
      }
      throw Error(e.fault(), message, moved(e.location(), node.line, indent));
    }
    k.program.source = file;
    for (u32& line : k.program.lines)
      line += line != 0 ? node.line : 0;
  }

  std::string_view file_line(u32 line) {
    if (line_starts_.empty()) {
      line_starts_.push_back(0);
      for (usize i = 0; i < text_.size(); ++i) {
        if (text_[i] == '\n') line_starts_.push_back(i + 1);
      }
    }
    if (line == 0 || line > line_starts_.size()) return {};
    const usize begin = line_starts_[line - 1];
    return text_.substr(begin, std::min(text_.find('\n', begin), text_.size()) - begin);
  }

  bool is_literal_block(const Node& node) {
    const std::string_view line = file_line(node.line);
    return node.quoted && node.column <= line.size() && line[node.column - 1] == '|';
  }

  u32 block_indent(const Node& node) {
    for (u32 l = node.line + 1; l <= line_starts_.size(); ++l) {
      const std::string_view line = file_line(l);
      const usize indent = line.find_first_not_of(' ');
      if (indent != std::string_view::npos) return static_cast<u32>(indent);
    }
    return 0;
  }

  // "file:3:5: text" of a block becomes "file:13:9: text" of the file around it; other texts stay.
  std::string moved(std::string_view text, u32 lines, u32 columns) const {
    const std::string& file = where_.name();
    if (!text.starts_with(file) || text.size() <= file.size() || text[file.size()] != ':') return std::string(text);
    const char* end = text.data() + text.size();
    u32 line = 0, column = 0;
    const auto [after_line, bad_line] = std::from_chars(text.data() + file.size() + 1, end, line);
    if (bad_line != std::errc{} || after_line == end || *after_line != ':') return std::string(text);
    const auto [after_column, bad_column] = std::from_chars(after_line + 1, end, column);
    if (bad_column != std::errc{}) return std::string(text);
    return fmt::format("{}:{}:{}{}", file, line + lines, column + columns,
                       std::string_view(after_column, static_cast<usize>(end - after_column)));
  }

  // -------------------------------------------------------------------------------------------------------------------

  void read_events(const Node& node) {
    each_item(node, "events", [&](const Node& item) {
      s_.events.push_back(read_text(item, "an event"));
      events_.emplace(s_.events.back(), static_cast<u32>(s_.events.size() - 1));
    });
  }

  void read_streams(const Node& node) {
    // First what is recorded: recording declares an event, also for streams that stand before it.
    each_entry(node, "streams", [&](const std::string& key, const Node& tasks) {
      s_.streams.emplace_back().name = key;
      if (tasks.kind != Kind::sequence) return;
      for (const u32 child : tasks.children)
        declare(tree_[child]);
    });
    if (node.kind != Kind::map) return;
    usize i = 0;
    each_entry(node, "streams", [&](const std::string&, const Node& tasks) {
      Stream& stream = s_.streams[i++];
      each_item(tasks, "a stream", [&](const Node& item) {
        // The same limit as the check, before there is anything to hold.
        if (++tasks_ > kMaxTasks) fail_at(Fault::Input, where_.at(item), "more than {} tasks", kMaxTasks);
        s_.places.lines.push_back(item.line);
        read_task(item, stream.tasks.emplace_back());
      });
    });
  }

  void declare(const Node& task) {
    visit(task);
    if (task.kind != Kind::map) return;
    for (usize i = 0; i + 1 < task.children.size(); i += 2) {
      const Node& event = tree_[task.children[i + 1]];
      if (tree_[task.children[i]].text != "event_record" || !scalar(event)) continue;
      visit(event);
      if (events_.emplace(event.text, static_cast<u32>(s_.events.size())).second) s_.events.push_back(event.text);
    }
  }

  void read_task(const Node& node, Task& t) {
    if (!expect(node, Kind::map, "a task")) return;
    std::array<std::string_view, kOpNames.size() + 1> keys{};
    std::copy(kOpNames.begin(), kOpNames.end(), keys.begin());
    keys.back() = "name";
    const u64 before = reports_;
    const auto f = fields<keys.size()>(node, "a task", keys);
    if (f.back()) t.name = read_text(*f.back(), "name");
    const auto ops = std::count_if(f.begin(), f.end() - 1, [](const Node* n) { return n != nullptr; });
    if (ops != 1) {
      if (reports_ != before) return;
      report(node, "a task is one of {}", fmt::join(kOpNames, ", "));
      return;
    }
    if (f[0]) t.op = kernel_launch(*f[0]);
    if (f[1]) t.op = memcpy_async(*f[1]);
    if (f[2]) t.op = memset_async(*f[2]);
    if (f[3]) t.op = EventRecord{event(*f[3])};
    if (f[4]) t.op = StreamWaitEvent{event(*f[4])};
    if (f[5]) t.op = Free{buffer(*f[5])};
    if (f[6]) t.op = npu_get_float_status(*f[6]);
    if (f[7]) t.op = npu_clear_float_status(*f[7]);
    for (usize i = 8; i < kOpNames.size(); ++i) {
      if (f[i]) report(*f[i], "tasks of this kind cannot be loaded");
    }
  }

  template <class Named>
  u32 resolve(const Node& node, std::string_view what, const std::map<std::string, u32, std::less<>>& known,
              const std::vector<Named>& items) {
    if (!expect(node, Kind::scalar, what)) return kUnresolved;
    const auto it = known.find(node.text);
    if (it != known.end()) return it->second;
    report(node, "no {} is called '{}'{}", what, shown(node.text),
           problems_.full() ? std::string{} : nearest(node.text, items));
    return kUnresolved;
  }

  u32 event(const Node& node) { return resolve(node, "event", events_, s_.events); }
  u32 buffer(const Node& node) { return resolve(node, "buffer", buffers_, s_.buffers); }

  // A name, or {buffer: name, offset: bytes}.
  Slice slice(const Node& node) {
    if (node.kind != Kind::map) return {buffer(node), 0};
    const auto f = fields<2>(node, "a part of a buffer", {"buffer", "offset"});
    return {need(node, f[0], "a part of a buffer", "buffer") ? buffer(*f[0]) : kUnresolved,
            f[1] ? read_size(*f[1], "offset") : 0};
  }

  KernelLaunch kernel_launch(const Node& node) {
    KernelLaunch op;
    op.kernel = kUnresolved;
    if (!expect(node, Kind::map, "kernel_launch")) return op;
    const auto f = fields<5>(node, "kernel_launch", {"kernel", "block_dim", "args", "type", "aiv_kernel"});
    if (need(node, f[0], "kernel_launch", "kernel")) op.kernel = resolve(*f[0], "kernel", kernels_, s_.kernels);
    read_launch_type(node, f[3], f[4], op);
    if (f[1]) {
      u64 v = 0;
      if (!scalar(*f[1]) || f[1]->text.starts_with('-') || !read_number(f[1]->text, v) || v == 0 || v > kMaxBlockDim) {
        report(*f[1], "block_dim = {} is not in [1, {}]", shown(f[1]->text), kMaxBlockDim);
        v = 1;
      }
      op.block_dim = static_cast<u32>(v);
    }
    if (f[2]) each_item(*f[2], "args", [&](const Node& item) { op.args.push_back(arg(item)); });
    return op;
  }

  // A MIX type goes with `aiv_kernel`; any other only repeats the type of the kernel.
  void read_launch_type(const Node& node, const Node* type, const Node* aiv_kernel, KernelLaunch& op) {
    static constexpr auto kWords = [] {
      std::array<std::string_view, kKernelTypeWords.size() + kMixTypeNames.size()> words{};
      std::ranges::copy(kKernelTypeWords, words.begin());
      std::ranges::copy(kMixTypeNames, words.begin() + kKernelTypeWords.size());
      return words;
    }();
    usize word = 0;
    const bool known = type != nullptr && read_name(*type, "type", kWords, word);
    if (known && word >= kKernelTypeWords.size()) {
      op.aivs = static_cast<u32>(word - kKernelTypeWords.size() + 1);
      if (need(node, aiv_kernel, kWords[word], "aiv_kernel"))
        op.aiv_kernel = resolve(*aiv_kernel, "kernel", kernels_, s_.kernels);
      else
        op.aiv_kernel = kUnresolved;
      return;
    }
    if (aiv_kernel != nullptr && (known || type == nullptr)) {
      report(*aiv_kernel, "'aiv_kernel' needs 'type: {}'", fmt::join(kMixTypeNames, "' or 'type: "));
    }
    if (known && op.kernel < s_.kernels.size() && s_.kernels[op.kernel].type != kernel_type_of_word(word)) {
      const Kernel& k = s_.kernels[op.kernel];
      report(*type, "type {} of the launch, but kernel '{}' is of type {}", kWords[word], shown(k.name),
             kKernelTypeNames[static_cast<usize>(k.type)]);
    }
  }

  Arg arg(const Node& node) {
    if (!scalar(node) || node.quoted || !looks_like_number(node.text)) return slice(node);
    u64 v = 0;
    if (!read_number(node.text, v)) {
      report(node, "kernel argument {} is no integer of 64 bits", shown(node.text));
    }
    return v;
  }

  // Bytes from the offset to the end of the buffer.
  std::optional<u64> rest(const Slice& slice) const {
    if (slice.buffer >= s_.buffers.size()) return std::nullopt;
    const Buffer& b = s_.buffers[slice.buffer];
    if (b.bytes == kUnresolvedBytes || slice.offset >= b.bytes) return std::nullopt;
    return b.bytes - slice.offset;
  }

  MemcpyAsync memcpy_async(const Node& node) {
    MemcpyAsync op;
    op.dst.buffer = op.src.buffer = kUnresolved;
    if (!expect(node, Kind::map, "memcpy_async")) return op;
    const u64 before = reports_;
    const auto f =
        fields<7>(node, "memcpy_async", {"dst", "src", "count", "width", "height", "dst_pitch", "src_pitch"});
    if (need(node, f[0], "memcpy_async", "dst")) op.dst = slice(*f[0]);
    if (need(node, f[1], "memcpy_async", "src")) op.src = slice(*f[1]);
    const bool rows = f[3] || f[4] || f[5] || f[6];
    if (rows && f[2]) {
      report(*f[2], "memcpy_async: give 'count', or 'width' and 'height', not both");
    } else if (rows) {
      if (need(node, f[3], "memcpy_async", "width")) op.width = read_size(*f[3], "width");
      if (need(node, f[4], "memcpy_async", "height")) op.height = read_count(*f[4], "height", ~u64{0});
      op.dst_pitch = f[5] ? read_size(*f[5], "dst_pitch") : op.width;
      op.src_pitch = f[6] ? read_size(*f[6], "src_pitch") : op.width;
    } else if (f[2]) {
      op.width = read_size(*f[2], "count");
    } else {
      const std::optional<u64> dst = rest(op.dst), src = rest(op.src);
      if (dst && src && *dst != *src) {
        report(node, "memcpy_async: the source has {} bytes, the destination {}; give 'count'", *src, *dst);
      }
      op.width = src.value_or(dst.value_or(1));
    }
    if (reports_ != before) op.dst.buffer = op.src.buffer = kUnresolved;
    return op;
  }

  MemsetAsync memset_async(const Node& node) {
    MemsetAsync op;
    op.dst.buffer = kUnresolved;
    if (!expect(node, Kind::map, "memset_async")) return op;
    const auto f = fields<3>(node, "memset_async", {"dst", "value", "count"});
    if (need(node, f[0], "memset_async", "dst")) op.dst = slice(*f[0]);
    if (need(node, f[1], "memset_async", "value")) op.value = static_cast<u8>(read_count(*f[1], "value", 255));
    op.bytes = f[2] ? read_size(*f[2], "count") : rest(op.dst).value_or(1);
    return op;
  }

  NpuGetFloatStatus npu_get_float_status(const Node& node) {
    NpuGetFloatStatus op{.dst = {.buffer = kUnresolved}};
    if (!expect(node, Kind::map, "npu_get_float_status")) return op;
    const auto f = fields<1>(node, "npu_get_float_status", {"dst"});
    if (need(node, f[0], "npu_get_float_status", "dst")) op.dst = slice(*f[0]);
    return op;
  }

  NpuClearFloatStatus npu_clear_float_status(const Node& node) {
    if (expect(node, Kind::map, "npu_clear_float_status") && !node.children.empty())
      report(node, "npu_clear_float_status has no keys; write {{}}");
    return {};
  }

  std::string_view text_;
  const Files& files_;
  const YamlLocator& where_;
  const YamlTree& tree_;
  TaskStream& s_;
  config::Problems& problems_;
  u64 budget_;       // of visit(): what the text itself is worth, generously, and what aliases may add
  u64 reports_ = 0;  // so far; a part that had one is not checked any further
  u64 tasks_ = 0;
  std::vector<usize> line_starts_;
  std::map<std::string, u32, std::less<>> buffers_, kernels_, events_;
};

}  // namespace

void read_yaml(std::string_view text, const std::string& name, const Files& files, Draft& out) {
  auto locator = std::make_unique<YamlLocator>(name, YamlTree::parse(text, name));
  const YamlLocator& where = *locator;
  out.locator = std::move(locator);
  YamlReader(text, files, where, out).read();
}

}  // namespace vinci::task
