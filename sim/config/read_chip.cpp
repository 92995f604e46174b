// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/config/read_chip.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <sstream>
#include <vector>

#include "isa/base/enums.h"
#include "isa/base/suggest.h"
#include "isa/table/table.h"
#include "sim/config/describe_chip.h"
#include "sim/config/ranges.h"
#include "sim/config/unit_text.h"
#include "sim/io/yaml_tree.h"

namespace vinci::config {
namespace {

using io::YamlTree;
using Node = YamlTree::Node;
using Kind = YamlTree::Kind;

constexpr std::string_view kExtends = "extends";

// A text of a file as part of a message: short, and without control characters.
std::string quote(std::string_view text) {
  constexpr usize kLongest = 60;
  std::string out = "'";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (text.size() > kLongest ? "...'" : "'");
}

// "chip.core" for "core"; "chip" for the root.
std::string shown(std::string_view path) { return path.empty() ? "chip" : fmt::format("chip.{}", path); }

bool is_from(std::string_view text) {
  constexpr std::string_view kMeasured = "measured ", kDocument = "document ";
  return text == "assumed" || (text.starts_with(kMeasured) && text.size() > kMeasured.size()) ||
         (text.starts_with(kDocument) && text.size() > kDocument.size());
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

// The keys of a group, as a visitor.
struct KeysOf {
  std::vector<std::string_view> names;
  template <class... A>
  void operator()(std::string_view key, A&&...) {
    names.push_back(key);
  }
};

template <class S>
std::vector<std::string_view> keys_of(const S& s) {
  KeysOf keys;
  describe(keys, s);
  return keys.names;
}

// Applies one YAML document to a chip. Positions come from a function, because overrides have none of their own.
class Apply {
 public:
  using Locate = std::function<std::string(const Node&)>;
  // `is_file`: `extends` has been dealt with and may be at the top.
  Apply(Problems& problems, Places& places, bool is_file, Locate locate)
      : problems_(problems), places_(places), is_file_(is_file), locate_(std::move(locate)) {}

  template <class S>
  void group(const Node& node, S& s, const std::string& path) {
    if (node.kind != Kind::map) {
      problem(node, "{}: {}; write its keys below it: {}", shown(path), what_it_is(node), fmt::join(keys_of(s), ", "));
      return;
    }
    bool has_number = false, has_from = false;
    if constexpr (std::same_as<S, CostLine>) choose_law(node, s);
    for_each_key(node, path, [&](const Node& key, const Node& value) {
      const std::string name(key.text());
      OneKey<S> one{*this, name, value, path.empty() ? name : path + "." + name};
      describe(one, s);
      if (!one.found && !(is_file_ && path.empty() && name == kExtends)) {
        problem(key, "{} has no key {}{}", shown(path), quote(name),
                problems_.full() ? std::string{} : why_no_key(name, s));
      }
      has_number = has_number || one.is_number;
      has_from = has_from || name == "from";
    });
    // A number that changes is no longer the measured one, unless the same place says so.
    if constexpr (HasFrom<S>) {
      if (has_number && !has_from) s.from = "assumed";
    }
  }

  void instructions(const Node& node, std::map<std::string, CostLine>& lines, const std::string& path) {
    if (node.kind != Kind::map) {
      problem(node, "{}: {}; write instructions below it: vexp, or vexp.f16", shown(path), what_it_is(node));
      return;
    }
    for_each_key(node, path, [&](const Node& key, const Node& value) {
      const std::string name(key.text());
      const std::string_view mnemonic = std::string_view(name).substr(0, name.find('.'));
      const isa::Row* row = isa::row_of(mnemonic);
      if (row == nullptr) {
        problem(key, "{}: there is no instruction {}{}", shown(path), quote(mnemonic),
                problems_.full() ? std::string{} : did_you_mean(mnemonic, isa::mnemonics()));
        return;
      }
      if (mnemonic.size() != name.size()) {
        const std::string_view type = std::string_view(name).substr(mnemonic.size() + 1);
        std::vector<std::string_view> types;
        for (const isa::TypeForm& form : row->types)
          types.push_back(form.name);
        if (std::ranges::find(types, type) == types.end()) {
          problem(key, "{}: {} has no type form {}; {}", shown(path), mnemonic, quote(type),
                  types.empty() ? "it has none" : fmt::format("it has {}", fmt::join(types, ", ")));
          return;
        }
      }
      const std::string full = path + "." + name;
      places_.set(full, locate_(key));
      group(value, lines.try_emplace(name, default_line(row->cost)).first->second, full);
    });
  }

  void ranges(const Node& node, std::map<std::string, AssumedRange>& ranges, const std::string& path) {
    if (node.kind != Kind::map) {
      problem(node, "{}: {}; write groups or keys below it: core.queues, or memory.noc.latency", shown(path),
              what_it_is(node));
      return;
    }
    for_each_key(node, path, [&](const Node& key, const Node& value) {
      const std::string name(key.text());
      const std::string full = path + "." + name;
      places_.set(full, locate_(key));
      group(value, ranges[name], full);
    });
  }

 private:
  // The law of a cost line comes first, because the other keys are those of the law.
  static void choose_law(const Node& node, CostLine& line) {
    for (const auto& [key, value] : node.entries()) {
      if (key.kind != Kind::scalar || key.text() != "law" || value.kind != Kind::scalar) continue;
      const auto law = law_named(value.text());
      if (law && name_of(*law) != name_of(line.law)) line.law = *law;
    }
  }

  template <class S>
  static std::string why_no_key(std::string_view name, const S& s) {
    if constexpr (std::same_as<S, CostLine>) {
      std::vector<std::string_view> laws;
      for_each_law([&](auto law) {
        KeysOf keys;
        law.describe(keys, law);
        if (std::ranges::find(keys.names, name) != keys.names.end()) laws.push_back(law.name);
      });
      if (!laws.empty()) return fmt::format(" by the law {}; it is one of {}", name_of(s.law), fmt::join(laws, ", "));
    }
    return did_you_mean(name, keys_of(s));
  }

  // Finds one key in the description of a group, and reads its value into the member.
  template <class S>
  struct OneKey {
    Apply& apply;
    const std::string& name;
    const Node& value;
    std::string path;
    bool found = false;
    bool is_number = false;

    template <class T>
    void operator()(std::string_view key, T& member, std::string_view, Range range = {}) {
      if (key != name) return;
      found = true;
      if constexpr (Described<T>) {
        apply.group(value, member, path);
      } else if constexpr (kIsLines<T>) {
        apply.instructions(value, member, path);
      } else if constexpr (kIsRanges<T>) {
        apply.ranges(value, member, path);
      } else {
        is_number = !std::same_as<T, std::string>;
        apply.places_.set(path, apply.locate_(value));
        if (apply.is_single(value, path)) apply.read(value, member, path, range);
      }
    }
  };

  template <class... A>
  void problem(const Node& node, fmt::format_string<A...> text, A&&... args) {
    if (problems_.full()) return problems_.add({}, {});
    problems_.add(locate_(node), fmt::format(text, std::forward<A>(args)...));
  }

  static std::string_view what_it_is(const Node& node) {
    switch (node.kind) {
      case Kind::null: return "nothing is here";
      case Kind::scalar: return "this is a single value";
      case Kind::sequence: return "this is a list";
      case Kind::map: return "this is a mapping";
      case Kind::alias: break;  // readers meet its target
    }
    return "";
  }

  template <class F>
  void for_each_key(const Node& node, const std::string& path, F use) {
    std::set<std::string_view> seen;
    for (const auto& [key, value] : node.entries()) {
      if (key.kind != Kind::scalar) {
        problem(key, "{}: a key must be a single word", shown(path));
      } else if (!seen.insert(key.text()).second) {
        problem(key, "{} has the key {} twice", shown(path), quote(key.text()));
      } else {
        use(key, value);
      }
    }
  }

  bool is_single(const Node& node, const std::string& path) {
    if (node.kind != Kind::scalar) problem(node, "{}: {}; write a single value", shown(path), what_it_is(node));
    return node.kind == Kind::scalar;
  }

  template <class T>
  void read(const Node& node, T& out, const std::string& path, Range range) {
    T value{};
    if (!read_text(node.text(), value)) {
      double number = 1;
      if (range.low > 0 && read_text(node.text(), number) && number == 0) {  // no unit makes it better
        problem(node, "{} = {} must be greater than zero, in [{}, {}]", shown(path), node.text(),
                write_text(bound_as<T>(range.low)), write_text(bound_as<T>(range.high)));
      } else {
        problem(node, "{}: cannot read {}; write {}", shown(path), quote(node.text()), how_to_write(T{}));
      }
      return;
    }
    if constexpr (!std::same_as<T, bool>) {
      const auto number = static_cast<double>(value);
      if (number < range.low || number > range.high) {
        problem(node, "{} = {} is not in [{}, {}]", shown(path), write_text(value), write_text(bound_as<T>(range.low)),
                write_text(bound_as<T>(range.high)));
        return;
      }
    }
    out = value;
  }

  template <class E>
  requires std::is_enum_v<E>
  void read(const Node& node, E& out, const std::string& path, Range) {
    const auto& names = enum_names<E>;
    if (const auto value = parse_enum<E>(names, node.text())) {
      out = *value;
    } else {
      problem(node, "{}: cannot read {}; write one of {}{}", shown(path), quote(node.text()), fmt::join(names, ", "),
              did_you_mean(node.text(), names));
    }
  }

  // choose_law() has set it.
  void read(const Node& node, Law& /*out*/, const std::string& path, Range) {
    if (law_named(node.text())) return;
    const auto names = law_names();
    problem(node, "{}: cannot read {}; write one of {}{}", shown(path), quote(node.text()), fmt::join(names, ", "),
            did_you_mean(node.text(), names));
  }

  void read(const Node& node, std::string& out, const std::string& path, Range) {
    const std::string_view text = node.text();
    constexpr usize kLongest = 500;
    if (text.size() > kLongest) {
      problem(node, "{} has {} characters, more than {}", shown(path), text.size(), kLongest);
    } else if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
      problem(node, "{}: {} has control characters", shown(path), quote(text));
    } else if (path == "name" && !is_name(text)) {
      problem(node, "{}: cannot use {}; write at most 64 letters, digits, '-', '_', '.'", shown(path), quote(text));
    } else if ((path == "from" || path.ends_with(".from")) && !is_from(text)) {
      problem(node, "{}: cannot use {}; write measured <source>, document <source>, or assumed", shown(path),
              quote(text));
    } else {
      out = text;
    }
  }

  Problems& problems_;
  Places& places_;
  bool is_file_;
  Locate locate_;
};

// The multiples of a number around another one: "24 and 48".
std::string nearest_multiples(u64 value, u64 of) {
  const u64 below = value / of * of;
  return below == 0 ? fmt::format("{}", of) : fmt::format("{} and {}", below, below + of);
}

// The same as a remark: "the nearest are 24 and 48", or of a number below all multiples "the least is 24".
std::string remark_on_multiples(u64 value, u64 of) {
  return fmt::format("the {} {}", value < of ? "least is" : "nearest are", nearest_multiples(value, of));
}

// How a cache can have about its size: other multiples, or another number of slices.
std::string nearest_l2(const L2Config& l2) {
  const u64 set = l2.line * l2.ways * l2.slices;
  const u64 below = l2.size / set * set;
  std::string out =
      below == 0 ? fmt::format("the least is {}", write_text(Bytes(set)))
                 : fmt::format("the nearest are {} and {}", write_text(Bytes(below)), write_text(Bytes(below + set)));
  u32 slices = l2.slices;
  while (slices > 1 && (l2.size % (l2.line * l2.ways * slices) != 0 || slices % l2.groups != 0))
    --slices;
  if (slices % l2.groups == 0 && l2.size % (l2.line * l2.ways * slices) == 0)
    out += fmt::format(", and memory.l2.slices: {} takes {}", slices, write_text(l2.size));
  return out;
}

// Text as a double-quoted YAML scalar.
std::string yaml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

void ChipReader::read_file(std::string_view text, const std::string& source, const ReadParent& read_parent) {
  constexpr usize kLargest = 1u << 20;
  if (text.size() > kLargest) {
    problems_.add(source, fmt::format("{} bytes are more than a chip file may have ({})", text.size(), kLargest));
    return;
  }
  try {
    const YamlTree tree = YamlTree::parse(text, source);
    const auto locate = [&](const Node& node) { return tree.at(source, node); };
    for (const auto& [key, parent] : tree.root().entries()) {
      if (key.text() != kExtends) continue;
      if (parent.kind == Kind::scalar && is_name(parent.text())) {
        read_parent(std::string(parent.text()), locate(parent));
      } else {
        problems_.add(locate(parent), "chip.extends: write the name of one chip, without folder and without .yaml");
      }
      break;
    }
    chip_.name.clear();  // a child has a name of its own
    places_.erase("name");
    Apply(problems_, places_, true, locate).group(tree.root(), chip_, "");
  } catch (const Error& e) {
    problems_.add(e.location(), e.message());
  }
}

void ChipReader::read_override(const std::string& text) {
  const std::string location = "--set " + text;
  const usize equals = text.find('=');
  const std::string path = text.substr(0, equals);
  std::vector<std::string> keys;
  // The name of an instruction form has a dot of its own: core.instructions.vexp.f16.per_step
  constexpr std::string_view kInstructions = "core.instructions.", kRanges = "ranges.";
  if (path.starts_with(kInstructions) && path.rfind('.') >= kInstructions.size()) {
    const usize last = path.rfind('.');
    keys = {"core", "instructions", path.substr(kInstructions.size(), last - kInstructions.size()),
            path.substr(last + 1)};
  } else if (path.starts_with(kRanges) && path.rfind('.') >= kRanges.size()) {
    const usize last = path.rfind('.');
    keys = {"ranges", path.substr(kRanges.size(), last - kRanges.size()), path.substr(last + 1)};
  } else {
    std::istringstream parts(path);
    for (std::string key; std::getline(parts, key, '.');)
      keys.push_back(key);
  }
  constexpr usize kDeepest = 8, kLongest = 1000;
  if (equals == std::string::npos || keys.empty() || keys.size() > kDeepest || text.size() > kLongest) {
    problems_.add(location.substr(0, kLongest), "write a dotted key and a value, such as core.cube.startup=30");
    return;
  }
  std::string yaml = yaml_quoted(std::string_view(text).substr(equals + 1));
  for (auto key = keys.rbegin(); key != keys.rend(); ++key)
    yaml = fmt::format("{{{}: {}}}", yaml_quoted(*key), yaml);
  try {
    const YamlTree tree = YamlTree::parse(yaml, location);
    Apply(problems_, places_, false, [&](const Node&) { return location; }).group(tree.root(), chip_, "");
  } catch (const Error& e) {
    problems_.add(location, e.message());
  }
}

void ChipReader::check(const std::string& source) {
  // Where several keys do not fit together, the place is that of the one that was set last: a chip of one's own changes
  // the others' values, not those of its parent.
  const auto complain_of = [&](std::initializer_list<std::string_view> paths, const std::string& message) {
    const Place* place = places_.last(paths);
    problems_.add(place == nullptr ? source : place->location, shown(*paths.begin()) + message);
  };
  const auto complain = [&](std::string_view path, const std::string& message) { complain_of({path}, message); };
  for (const std::string_view key : {"arch", "clock", "ai_cores"}) {
    if (!places_.contains(key)) complain(key, " is missing");
  }
  const ChipConfig& c = chip_;
  if (!is_name(c.name)) complain("name", " is missing, and the name of the file cannot replace it");
  const bool split = isa::contains(isa::kSplitArchs, c.arch);
  if (split && c.vector_cores == 0)
    complain("vector_cores", fmt::format(" = 0, but {} has vector cores", name(c.arch)));
  if (split && c.ai_cores != 0 && c.vector_cores % c.ai_cores != 0) {
    complain_of({"vector_cores", "ai_cores"},
                fmt::format(" = {}, but an AI core has a whole number of vector cores: write a multiple of "
                            "ai_cores = {}, such as {}",
                            c.vector_cores, c.ai_cores, nearest_multiples(c.vector_cores, c.ai_cores)));
  }
  if (!split && c.vector_cores != 0) {
    complain_of(
        {"vector_cores", "arch"},
        fmt::format(" = {}, but the joint cores of {} are counted in ai_cores; write 0", c.vector_cores, name(c.arch)));
  }
  const L2Config& l2 = c.memory.l2;
  if (!std::has_single_bit(u64{l2.line})) {
    complain("memory.l2.line", fmt::format(" = {} is not a power of two; the nearest are {} and {}",
                                           write_text(l2.line), write_text(Bytes(std::bit_floor(u64{l2.line}))),
                                           write_text(Bytes(std::bit_ceil(u64{l2.line})))));
  } else if (const u64 set = l2.line * l2.ways * l2.slices; l2.size % set != 0) {
    complain_of({"memory.l2.size", "memory.l2.line", "memory.l2.ways", "memory.l2.slices"},
                fmt::format(" = {} is not a multiple of line * ways * slices = {}; {}", write_text(l2.size),
                            write_text(Bytes{set}), nearest_l2(l2)));
  }
  if (l2.slices % l2.groups != 0) {
    complain_of({"memory.l2.slices", "memory.l2.groups"},
                fmt::format(" = {} is not a multiple of groups = {}; {}", l2.slices, l2.groups,
                            remark_on_multiples(l2.slices, l2.groups)));
  }
  if (l2.group_region != 0 && (!std::has_single_bit(u64{l2.group_region}) || l2.group_region < l2.line)) {
    complain_of({"memory.l2.group_region", "memory.l2.line"},
                fmt::format(" = {} is neither 0B nor a power of two of at least line = {}", write_text(l2.group_region),
                            write_text(l2.line)));
  }
  const HbmConfig& hbm = c.memory.hbm;
  if (hbm.channels % hbm.stacks != 0) {
    complain_of({"memory.hbm.channels", "memory.hbm.stacks"},
                fmt::format(" = {} is not a multiple of stacks = {}; {}", hbm.channels, hbm.stacks,
                            remark_on_multiples(hbm.channels, hbm.stacks)));
  }
  if (hbm.stacks > 1 && hbm.stack_region % hbm.interleave != 0) {
    complain_of({"memory.hbm.stack_region", "memory.hbm.interleave"},
                fmt::format(" = {} is not a multiple of interleave = {}", write_text(hbm.stack_region),
                            write_text(hbm.interleave)));
  }
  if (hbm.refresh_time != 0 && hbm.refresh_time >= hbm.refresh_interval) {
    complain_of({"memory.hbm.refresh_time", "memory.hbm.refresh_interval"},
                fmt::format(" = {} is not less than refresh_interval = {}: a channel would do nothing but refresh",
                            write_text(hbm.refresh_time), write_text(hbm.refresh_interval)));
  }
  const NumericsConfig& n = c.numerics;
  const bool has_mode = n.overflow_mode == isa::OverflowMode::saturation ? n.saturation : n.inf_nan;
  if (!has_mode) {
    complain("numerics.overflow_mode",
             fmt::format(" = {}, but numerics.{} is false", name(n.overflow_mode), name(n.overflow_mode)));
  }
  for (const BadRange& bad : bad_ranges(c))
    complain("ranges." + bad.key, bad.why);
  for (const auto& [form, line] : c.core.instructions) {
    const usize dot = std::min(form.find('.'), form.size());
    const isa::Row& row = *isa::row_of(std::string_view(form).substr(0, dot));
    const auto type = std::ranges::find(row.types, std::string_view(form).substr(std::min(dot + 1, form.size())),
                                        &isa::TypeForm::name);
    if (!isa::contains(row.archs, c.arch) || (type != row.types.end() && !isa::contains(type->archs, c.arch))) {
      complain("core.instructions." + form, fmt::format(": {} does not have this instruction", name(c.arch)));
    }
  }
}

}  // namespace vinci::config
