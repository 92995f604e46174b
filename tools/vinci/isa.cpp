// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "isa/table/codec.h"
#include "isa/table/public_forms.h"
#include "isa/table/public_names.h"
#include "isa/table/table.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

// The reference of the instruction set, printed from the table that everything else uses.
namespace vinci::cli {
namespace {

using isa::Arch;
using isa::ArchSet;
using isa::FieldInfo;
using isa::OperandKind;
using isa::Row;

std::vector<std::string_view> arch_list(ArchSet set) {
  std::vector<std::string_view> names;
  for (usize i = 0; i < isa::kArchNames.size(); ++i) {
    if (isa::contains(set, static_cast<Arch>(i))) names.push_back(isa::kArchNames[i]);
  }
  return names;
}

std::vector<std::string_view> type_list(const Row& row, ArchSet archs) {
  std::vector<std::string_view> names;
  for (const isa::TypeForm& t : row.types) {
    if ((t.archs & archs) != 0) names.push_back(t.name);
  }
  return names;
}

// The pipe that executes it: for flags and barriers the one that an operand names.
std::string pipe_text(const Row& row, ArchSet archs) {
  switch (row.role) {
    case isa::Role::scalar:
    case isa::Role::cross_wait:
    case isa::Role::end: return "S";
    case isa::Role::set_flag:
    case isa::Role::wait_flag:
    case isa::Role::pipe_barrier:
    case isa::Role::cross_set: return "operand";
    case isa::Role::work: break;
  }
  // Routing may depend on the architecture, not on the values of operands.
  std::vector<std::string_view> pipes;
  for (usize i = 0; i < isa::kArchNames.size(); ++i) {
    const auto arch = static_cast<Arch>(i);
    if (!isa::contains(archs & row.archs, arch)) continue;
    const std::string_view pipe = isa::name(row.pipe({}, arch));
    if (std::ranges::find(pipes, pipe) == pipes.end()) pipes.push_back(pipe);
  }
  return fmt::format("{}", fmt::join(pipes, "/"));
}

std::string operand_text(const Row& row) {
  std::string out;
  for (const FieldInfo& f : row.fields) {
    fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ", ",
                   f.optional ? fmt::format("[{}]", f.name) : std::string(f.name));
  }
  return out;
}

std::string_view kind_text(OperandKind kind) {
  switch (kind) {
    case OperandKind::value: return "value";
    case OperandKind::reg_dst: return "register";
    case OperandKind::pipe: return "pipe";
    case OperandKind::event: return "event";
    case OperandKind::label: return "label";
  }
  return "value";
}

std::string cost_text(const Row& row) { return std::string(isa::name(row.cost)); }

std::string print_table(const std::vector<const Row*>& rows, ArchSet archs) {
  std::vector<std::array<std::string, 7>> lines{
      {"instruction", "pipe", "operands", "types", "architectures", "cost", "meaning"}};
  for (const Row* row : rows) {
    lines.push_back({std::string(row->name), pipe_text(*row, archs), operand_text(*row),
                     fmt::format("{}", fmt::join(type_list(*row, archs), " ")),
                     row->archs == isa::kAllArchs ? "all" : fmt::format("{}", fmt::join(arch_list(row->archs), " ")),
                     cost_text(*row), std::string(row->doc)});
  }
  constexpr usize kWidest = 48;  // a longer cell pushes the rest of its line to the right
  std::array<usize, 7> widths{};
  for (const auto& line : lines) {
    for (usize c = 0; c < line.size(); ++c)
      widths[c] = std::min(std::max(widths[c], line[c].size()), kWidest);
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (usize c = 0; c < line.size(); ++c)
      fmt::format_to(std::back_inserter(text), "{:<{}}  ", line[c], widths[c]);
    out.append(text, 0, text.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

std::string range_text(const FieldInfo& f) {
  switch (f.kind) {
    case OperandKind::reg_dst: return "X0..X31";
    case OperandKind::pipe: return "PIPE_*";
    case OperandKind::label: return "label";
    case OperandKind::event: return fmt::format("EVENT_ID0..{}", (u64{1} << f.width) - 1);
    case OperandKind::value: break;
  }
  return fmt::format("{}{}", counted(f.width, "bit"), f.is_signed ? ", signed" : "");
}

std::string print_one(const Row& row) {
  std::string out;
  const auto line = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) fmt::format_to(std::back_inserter(out), "  {:<14} {}\n", key, value);
  };
  fmt::format_to(std::back_inserter(out), "{}{} {}\n", row.name,
                 row.types.empty()           ? ""
                 : row.first_type_is_default ? "[.<type>]"
                                             : ".<type>",
                 operand_text(row));
  fmt::format_to(std::back_inserter(out), "  {}\n\n", row.doc);
  line("opcode", fmt::format("{:#05x}", row.opcode));
  line("pipe", pipe_text(row, isa::kAllArchs));
  line("cost class", cost_text(row));
  line("architectures", fmt::format("{}", fmt::join(arch_list(row.archs), " ")));
  for (const isa::TypeForm& t : row.types) {
    line("type", fmt::format("{:<10} {}", t.name, fmt::join(arch_list(t.archs & row.archs), " ")));
  }
  if (row.fields.empty()) return out;
  out += "\n  operands\n";
  for (const FieldInfo& f : row.fields) {
    std::string text = fmt::format("    {:<18} {:<16} {}", f.name, range_text(f), f.doc);
    if (f.optional) text += fmt::format(" (optional, {})", f.fallback);
    out.append(text, 0, text.find_last_not_of(' ') + 1);
    out += '\n';
  }
  out += "  A value is an immediate or a scalar register, X0 to X31.\n";
  return out;
}

nlohmann::ordered_json to_json(const Row& row, ArchSet archs) {
  nlohmann::ordered_json types = nlohmann::ordered_json::array();
  for (const isa::TypeForm& t : row.types) {
    if ((t.archs & archs) != 0) types.push_back({{"name", t.name}, {"architectures", arch_list(t.archs & row.archs)}});
  }
  nlohmann::ordered_json operands = nlohmann::ordered_json::array();
  for (const FieldInfo& f : row.fields) {
    nlohmann::ordered_json o{{"name", f.name},  {"kind", kind_text(f.kind)},
                             {"bits", f.width}, {"signed", f.is_signed},
                             {"lsb", f.lsb},    {"doc", f.doc}};
    if (f.optional) o["default"] = f.fallback;
    operands.push_back(std::move(o));
  }
  return {{"name", row.name},
          {"opcode", row.opcode},
          {"doc", row.doc},
          {"pipe", pipe_text(row, archs)},
          {"cost", cost_text(row)},
          {"architectures", arch_list(row.archs)},
          {"types", std::move(types)},
          {"operands", std::move(operands)}};
}

// Why there is no row of this name.
[[noreturn]] void fail_unknown(std::string_view name) {
  const isa::PublicName* known = isa::public_name(name);
  if (known == nullptr)
    fail(Fault::Input, "no instruction is called '{}'{}", name, did_you_mean(name, isa::mnemonics()));
  if (known->row != nullptr) fail(Fault::Input, "{} is written {}", name, known->spelling);
  fail(Fault::Unsupported, "{} is a public name, but not supported: {}", name, known->reason);
}

// The row of a name, with or without a type.
const Row& row_named(const std::string& name, ArchSet archs, std::string_view arch) {
  const usize dot = name.find('.');
  const Row* row = isa::row_of(std::string_view(name).substr(0, dot));
  if (row == nullptr) fail_unknown(name);
  if ((row->archs & archs) == 0) {
    fail(Fault::Input, "{} does not exist on {}, only on {}", row->name, arch, fmt::join(arch_list(row->archs), ", "));
  }
  if (dot == std::string::npos) return *row;
  const std::vector<std::string_view> types = type_list(*row, archs);
  if (types.empty()) fail(Fault::Input, "{} has no types", row->name);
  const std::string type = name.substr(dot + 1);
  if (std::ranges::find(types, type) == types.end()) {
    fail(Fault::Input, "{0} has no type '{1}'{2}; there is {0}.{3}", row->name, type,
         arch.empty() ? "" : fmt::format(" on {}", arch), fmt::join(types, fmt::format(", {}.", row->name)));
  }
  return *row;
}

// Every public name of an architecture with what became of it.
std::string print_public(ArchSet archs) {
  std::string out;
  for (const isa::PublicName& p : isa::public_names()) {
    if ((p.archs & archs) == 0) continue;
    fmt::format_to(std::back_inserter(out), "{:<30} {}\n", p.name,
                   p.row == nullptr       ? fmt::format("refused: {}", p.reason)
                   : p.spelling == p.name ? "implemented"
                                          : fmt::format("implemented: write {}", p.spelling));
  }
  for (const isa::PublicForm& f : isa::public_forms()) {
    if (!f.spelling.empty() || !isa::contains(archs, f.arch)) continue;
    fmt::format_to(std::back_inserter(out), "{:<30} on {} refused: {}\n", fmt::format("{} {}", f.intrinsic, f.type),
                   isa::name(f.arch), f.reason);
  }
  return out;
}

std::string print_counts(ArchSet archs) {
  std::string out = fmt::format("{:<14} {:>11} {:>7}   {:>11} {:>7}\n", "architecture", "implemented", "public",
                                "with types", "public");
  for (usize i = 0; i < isa::kArchNames.size(); ++i) {
    const auto arch = static_cast<Arch>(i);
    if (!isa::contains(archs, arch)) continue;
    const isa::PublicCount n = isa::count_public(arch);
    const isa::PublicCount forms = isa::count_public_forms(arch);
    fmt::format_to(std::back_inserter(out), "{:<14} {:>11} {:>7}", isa::name(arch), n.implemented, n.total);
    if (forms.total != 0) fmt::format_to(std::back_inserter(out), "   {:>11} {:>7}", forms.implemented, forms.total);
    out += '\n';
  }
  return out;
}

struct IsaOptions {
  std::string name, arch;
  bool json = false, names = false, count = false;
};

void print_isa(const IsaOptions& o) {
  const std::optional<Arch> arch = parse_arch(o.arch);
  const ArchSet archs = arch ? isa::only(*arch) : isa::kAllArchs;
  if (o.count) return print_out(print_counts(archs));
  if (o.names) return print_out(print_public(archs));
  std::vector<const Row*> rows;
  if (!o.name.empty()) {
    rows.push_back(&row_named(o.name, archs, o.arch));
  } else {
    for (const Row& row : isa::table()) {
      if ((row.archs & archs) != 0) rows.push_back(&row);
    }
  }
  if (o.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Row* row : rows)
      list.push_back(to_json(*row, archs));
    print_out(list.dump(1) + "\n");
  } else if (!o.name.empty()) {
    print_out(print_one(*rows.front()));
  } else {
    print_out(print_table(rows, archs));
  }
}

}  // namespace

void add_isa(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("isa", "Print the instruction set");
  const auto o = std::make_shared<IsaOptions>();
  sub->add_option("NAME", o->name, "One instruction in full, for example mad");
  sub->add_option("--arch", o->arch, "Only what exists on m100, c100, m200 or c220");
  CLI::Option* json = sub->add_flag("--json", o->json, "For programs to read");
  CLI::Option* names =
      sub->add_flag("--public", o->names, "All names of public sources: implemented, or refused and why");
  CLI::Option* count = sub->add_flag("--count", o->count, "How many public instructions are implemented");
  names->excludes("NAME")->excludes(json);
  count->excludes("NAME")->excludes(json)->excludes(names);
  sub->footer(
      "An instruction is public on an architecture if it is implemented there, or refused and a public source has its\n"
      "name there or does not say where; names that only differ in a type count once. With types: intrinsics by\n"
      "data type, as the platform files of the runtime list them (none for m100).\n"
      "Example: vinci isa load_cbuf_to_ca; vinci isa --arch c220 --public");
  sub->callback([o] { print_isa(*o); });
}

}  // namespace vinci::cli
