// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>

#include "isa/base/enums.h"
#include "sim/config/describe_chip.h"
#include "sim/config/load.h"
#include "sim/config/unit_text.h"

namespace vinci::config {
namespace {

std::string join_path(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

// Texts are quoted; the reader lets no control character in.
std::string write_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}
template <class E>
requires std::is_enum_v<E> std::string write_text(E value) { return std::string(name(value)); }
using config::write_text;
std::string write_text(const Law& law) { return std::string(name_of(law)); }

// A cost line or a range as one line: {head: 0, startup: 2, ...}
struct WriteFlow {
  std::string out;
  template <class T>
  void operator()(std::string_view key, const T& member, std::string_view, Range = {}) {
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", key, write_text(member));
  }
};

template <class S>
std::string write_flow(const S& s) {
  WriteFlow flow;
  describe(flow, s);
  return "{" + flow.out + "}";
}

// Groups below each other, indented.
struct WriteBlock {
  std::string& out;
  int indent = 0;

  template <class T>
  void operator()(std::string_view key, const T& member, std::string_view, Range = {}) {
    const std::string begin = fmt::format("{:{}}{}:", "", indent, key);
    if constexpr (std::same_as<T, CostLine>) {
      out += fmt::format("{} {}\n", begin, write_flow(member));
    } else if constexpr (Described<const T>) {
      out += begin + '\n';
      WriteBlock inner{out, indent + 2};
      describe(inner, member);
    } else if constexpr (kIsLines<T> || kIsRanges<T>) {
      out += begin + (member.empty() ? " {}\n" : "\n");
      for (const auto& [name, line] : member) {
        out += fmt::format("{:{}}{}: {}\n", "", indent + 2, name, write_flow(line));
      }
    } else {
      out += fmt::format("{} {}\n", begin, write_text(member));
    }
  }
};

// The kind of value, for the manual.
template <class T>
std::string kind_of() {
  if constexpr (std::same_as<T, std::string>) {
    return "text";
  } else if constexpr (std::is_enum_v<T>) {
    return fmt::format("one of {}", fmt::join(enum_names<T>, ", "));
  } else if constexpr (std::same_as<T, Law>) {
    return fmt::format("one of {}", fmt::join(law_names(), ", "));
  } else {
    return std::string(how_to_write(T{}));
  }
}

struct WriteManual {
  std::string& out;
  std::string path;

  template <class T>
  void operator()(std::string_view key, const T& member, std::string_view doc, Range range = {}) {
    const std::string here = join_path(path, key);
    if constexpr (std::same_as<T, CostLine>) {
      out += fmt::format("{}\n    a cost line, law {}: {}\n", here, name_of(member.law), doc);
    } else if constexpr (kIsLines<T>) {
      out += fmt::format("{}.<instruction>\n    a cost line, of the law of the class: {}\n", here, doc);
    } else if constexpr (kIsRanges<T>) {
      out += fmt::format("{}\n    {}\n", here, doc);
      WriteManual inner{out, here + ".<key>"};
      const AssumedRange example;
      describe(inner, example);
    } else if constexpr (Described<const T>) {
      out += fmt::format("{}\n    {}\n", here, doc);
      WriteManual inner{out, here};
      describe(inner, member);
    } else {
      out += fmt::format("{}\n    {}\n    {}, default {}", here, doc, kind_of<T>(), write_text(member));
      if (range.high > range.low) {
        if constexpr (!std::same_as<T, bool> && !std::same_as<T, std::string> && !std::is_enum_v<T> &&
                      !std::same_as<T, Law>) {
          out += fmt::format(", in [{}, {}]", write_text(bound_as<T>(range.low)), write_text(bound_as<T>(range.high)));
        }
      }
      out += '\n';
    }
  }
};

struct CollectAssumed {
  Assumptions& out;
  isa::Arch arch;
  std::string path;

  template <class T>
  void operator()(std::string_view key, const T& member, std::string_view, Range = {}) {
    const std::string here = join_path(path, key);
    if constexpr (Described<const T>) {
      if (std::same_as<T, CostLine> && !has_line(arch, here)) return;
      group(member, here);
    } else if constexpr (kIsLines<T>) {
      for (const auto& [name, line] : member)
        group(line, join_path(here, name));
    }
  }

  template <class S>
  void group(const S& s, const std::string& here) {
    if constexpr (HasFrom<const S>) {
      ++out.total;
      const std::string group_name = here.empty() ? "chip" : here;
      if (s.from == "assumed") {
        out.assumed.push_back(group_name);
      } else if (s.from.find("assumed") != std::string::npos) {
        out.partly.push_back(group_name + ": " + s.from);
      }
    }
    CollectAssumed inner{out, arch, here};
    describe(inner, s);
  }
};

}  // namespace

std::string write_chip(const ChipConfig& chip) {
  std::string out;
  WriteBlock block{out};
  describe(block, chip);
  return out;
}

std::string manual() {
  std::string out =
      "Keys of a chip file, and of --set. `extends: NAME` at the top takes everything from another one.\n\n";
  WriteManual text{out, ""};
  const ChipConfig chip;
  describe(text, chip);
  out += "\nA cost line, whatever its law\n";
  WriteManual line{out, "<line>"};
  const CostLine cost_line;
  describe(line, cost_line);
  for_each_law([&](const auto& law) {
    out += fmt::format("\nThe law {}: {}\n", law.name, law.doc);
    law.describe(line, law);
  });
  return out;
}

Assumptions assumptions(const ChipConfig& chip) {
  Assumptions out;
  CollectAssumed all{out, chip.arch, ""};
  all.group(chip, "");
  return out;
}

}  // namespace vinci::config
