// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/yaml_kernel.h"

#include <charconv>
#include <filesystem>

#include "isa/program/program_file.h"
#include "isa/text/text.h"

namespace vinci::task {
namespace {

class KernelReader {
 public:
  KernelReader(YamlNodes& yaml, KernelSource& source)
      : yaml_(yaml), lines_(source.lines), files_(source.files), arch_(source.arch), arch_known_(source.arch_known) {}

  void read(const Node& node, Kernel& k) {
    const std::string what = fmt::format("kernel '{}'", shown(k.name));
    const auto f = yaml_.fields<6>(node, what, {"type", "source", "code", "binary", "time", "entries"});
    const bool split = isa::contains(isa::kSplitArchs, arch_);
    if (split) k.type = KernelType::AIV_ONLY;  // no second message where the right one is missing
    if (f[0]) {
      read_kernel_type(*f[0], k.type);
    } else if (split && arch_known_) {
      yaml_.need(node, nullptr, what, "type");
    }
    if (!arch_known_) k.type = KernelType::AIV_ONLY;  // nothing to compare it with
    if (f[5]) {
      yaml_.each_item(*f[5], "entries", [&](const Node& item) {
        k.entries.push_back(static_cast<u32>(yaml_.read_count(item, "an entry", isa::kMaxPositions - 1)));
      });
    }
    const auto ways = std::count_if(f.begin() + 1, f.begin() + 5, [](const Node* n) { return n != nullptr; });
    if (ways != 1) {
      yaml_.report(node, "{}: give one of 'source', 'code', 'binary', 'time'", what);
    } else if (f[4]) {
      read_opaque(*f[4], k, what);
    } else if (arch_known_) {
      try {
        if (f[1]) read_source(*f[1], k);
        if (f[2]) read_code(*f[2], k);
        if (f[3]) read_binary(*f[3], k);
      } catch (const Error& e) {
        yaml_.report(e);
      }
      yaml_.spend_program(node, k.program.code.capacity());
    }
  }

 private:
  void read_opaque(const Node& node, Kernel& k, std::string_view what) {
    const u64 before = yaml_.reports();
    k.seconds = yaml_.read_time(node, "time");
    if (yaml_.reports() == before && k.seconds <= 0) yaml_.report(node, "{}: its time must be more than 0", what);
  }

  void read_kernel_type(const Node& node, KernelType& type) {
    if (yaml_.scalar(node) && std::ranges::find(kMixTypeNames, node.text()) != kMixTypeNames.end()) {
      yaml_.report(node, "{} is the type of a launch of two kernels: 'type' and 'aiv_kernel' of kernel_launch",
                   node.text());
      return;
    }
    usize word = 0;
    if (yaml_.read_name(node, "kernel type", kKernelTypeWords, word)) type = kernel_type_of_word(word);
  }

  // A file in the folder of the task stream, as messages name it.
  std::string beside(std::string_view file) const {
    const std::filesystem::path folder = std::filesystem::path(yaml_.where().name()).parent_path();
    return (folder / file).string();
  }

  std::vector<std::byte> read_file(const Node& node) {
    const std::string name(node.text());
    try {
      const u64 size = files_.size(name);
      if (size > kMaxFileBytes) fail(Fault::Input, "'{}' has {} bytes; at most {} are read", name, size, kMaxFileBytes);
      yaml_.spend_file(node, size);
      return files_.read(name, 0, size);
    } catch (const Error& e) {
      throw Error(e.fault(), e.message(), yaml_.where().at(node));
    }
  }

  void read_source(const Node& node, Kernel& k) {
    if (!yaml_.expect(node, NodeKind::scalar, "source")) return;
    const std::vector<std::byte> bytes = read_file(node);
    k.program = isa::assemble({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, beside(node.text()), arch_);
    // Reports must not depend on the folder that a run was started from.
    k.program.source = node.text();
  }

  void read_binary(const Node& node, Kernel& k) {
    if (!yaml_.expect(node, NodeKind::scalar, "binary")) return;
    k.program = isa::read_program(read_file(node), beside(node.text()));
  }

  void read_code(const Node& node, Kernel& k) {
    if (!yaml_.expect(node, NodeKind::scalar, "code")) return;
    const std::string file = std::filesystem::path(yaml_.where().name()).filename().string();
    // In a literal block, line n of the assembly is a known line of the file. Other scalars are folded: there, lines
    // and columns count from the start of the text.
    if (!is_literal_block(node)) {
      try {
        k.program = isa::assemble(node.text(), "code", arch_);
      } catch (const Error& e) {
        throw Error(e.fault(), e.what(), yaml_.where().at(node));
      }
      k.program.source = fmt::format("{}({})", file, k.name);
      return;
    }
    try {
      k.program = isa::assemble(node.text(), yaml_.where().name(), arch_);
    } catch (const Error& e) {
      const u32 line = line_of(node), indent = block_indent(line);
      std::string message;
      std::string_view rest = e.message();
      while (!rest.empty()) {
        const usize end = std::min(rest.find('\n'), rest.size());
        message += moved(rest.substr(0, end), line, indent);
        rest.remove_prefix(end);
        if (rest.empty()) break;
        message += '\n';
        rest.remove_prefix(1);
      }
      throw Error(e.fault(), message, moved(e.location(), line, indent));
    }
    k.program.source = file;
    const u32 first = line_of(node);
    for (u32& line : k.program.lines)
      line += line != 0 ? first : 0;
  }

  u32 line_of(const Node& node) const { return yaml_.tree().mark(node).line; }

  bool is_literal_block(const Node& node) {
    const io::YamlTree::Mark mark = yaml_.tree().mark(node);
    const std::string_view line = lines_.line(mark.line);
    return node.quoted && mark.column <= line.size() && line[mark.column - 1] == '|';
  }

  u32 block_indent(u32 line_of_block) {
    for (u32 l = line_of_block + 1; l <= lines_.size(); ++l) {
      const std::string_view line = lines_.line(l);
      const usize indent = line.find_first_not_of(' ');
      if (indent != std::string_view::npos) return static_cast<u32>(indent);
    }
    return 0;
  }

  // "file:3:5: text" of a block becomes "file:13:9: text" of the file around it; other texts stay.
  std::string moved(std::string_view text, u32 lines, u32 columns) const {
    const std::string& file = yaml_.where().name();
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

  YamlNodes& yaml_;
  TextLines& lines_;
  const Files& files_;
  isa::Arch arch_;
  bool arch_known_;
};

}  // namespace

std::string_view TextLines::line(u32 number) {
  if (starts_.empty()) {
    starts_.push_back(0);
    for (usize i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\n') starts_.push_back(i + 1);
    }
  }
  if (number == 0 || number > starts_.size()) return {};
  const usize begin = starts_[number - 1];
  return text_.substr(begin, std::min(text_.find('\n', begin), text_.size()) - begin);
}

void read_kernel(const Node& node, YamlNodes& yaml, KernelSource& source, Kernel& out) {
  KernelReader(yaml, source).read(node, out);
}

}  // namespace vinci::task
