// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// One instruction of any kind back to back, its operands by name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "isa/base/error.h"
#include "isa/table/codec.h"
#include "isa/table/table.h"
#include "isa/text/text.h"
#include "tools/validate/family.h"
#include "tools/validate/timed_run.h"

namespace vinci::validate {
namespace {

// Sources begin at the same bank group of UB, as in the published benchmark; no region meets another one.
constexpr u64 kThird = 0x20000, kSecond = 0x10000;

// "dstRepStride=4 srcRepStride=8"
std::map<std::string, std::string, std::less<>> parse_operands(const Params& p) {
  std::map<std::string, std::string, std::less<>> out;
  if (p.text("operands") == "-") return out;
  std::istringstream words(p.text("operands"));
  for (std::string word; words >> word;) {
    const usize equals = word.find('=');
    if (equals == std::string::npos) fail_at(Fault::Input, p.place(), "operands: '{}' is not name=value", word);
    out[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return out;
}

std::string usual_value(std::string_view name, const Params& p) {
  if (name == "dst" || name == "c") return fmt::format("{}", kThird);
  if (name == "src1") return fmt::format("{}", kSecond);
  if (name == "repeat") return p.text("repeat");
  if (name.ends_with("BlkStride")) return "1";
  if (name.ends_with("RepStride")) return "8";
  if (name == "scalar") return "1";
  return "0";
}

// The measured instruction with its operands by name.
std::string instruction_text(const Params& p) {
  const std::string& mnemonic = p.text("instruction");
  const std::string name = mnemonic.substr(0, mnemonic.find('.'));
  const auto rows = isa::table();
  const auto row = std::ranges::find(rows, name, &isa::Row::name);
  if (row == rows.end()) fail_at(Fault::Input, p.place(), "there is no instruction '{}'", name);
  auto given = parse_operands(p);
  std::vector<std::string> operands;
  for (const isa::FieldInfo& f : row->fields) {
    const auto it = given.find(f.name);
    if (it == given.end() && f.optional) break;
    operands.push_back(it == given.end() ? usual_value(f.name, p) : it->second);
    if (it != given.end()) given.erase(it);
  }
  if (!given.empty()) fail_at(Fault::Input, p.place(), "{} has no operand '{}'", name, given.begin()->first);
  return fmt::format("{} {}", mnemonic, fmt::join(operands, ", "));
}

// A line of assembly of the user, or nothing.
using Line = std::optional<isa::Inst>;
Line assemble(const std::string& text, const std::string& place, isa::Arch arch) {
  if (text == "-") return std::nullopt;
  try {
    return isa::decode(isa::assemble(text, place, arch).code.at(0));
  } catch (const Error& e) {
    throw Error(e.fault(), fmt::format("'{}': {}", text, e.message()), place);
  }
}
void write(isa::ProgramBuilder& b, const Line& line) {
  if (!line) return;
  std::vector<isa::Value> operands;
  for (usize i = 0; i < line->row->fields.size(); ++i) {
    const isa::Operand& o = line->operands[i];
    if (o.is_reg) {
      operands.emplace_back(b.x(static_cast<u32>(o.value)));
    } else if (line->row->fields[i].kind == isa::OperandKind::pipe) {
      operands.emplace_back(static_cast<isa::PipeId>(o.value));
    } else {
      operands.emplace_back(o.value);
    }
  }
  const std::string_view form = line->row->types.empty() ? "" : line->row->types[line->type].name;
  b.call(fmt::format("{}{}{}", line->row->name, form.empty() ? "" : ".", form), operands);
}

Values measure_instruction_loop(const Params& p, const config::ChipConfig& chip) {
  const Line setup = assemble(p.text("setup"), p.place(), chip.arch),
             each = assemble(p.text("each"), p.place(), chip.arch);
  const Line measured = assemble(instruction_text(p), p.place(), chip.arch);
  const Loop loop{.setup = [&](isa::ProgramBuilder& b, isa::Reg /*data*/) { write(b, setup); },
                  .body =
                      [&](isa::ProgramBuilder& b, isa::Reg /*data*/) {
                        write(b, each);
                        write(b, measured);
                      }};
  return {{"cycles", steady_cycles(chip, loop)}};
}

}  // namespace

Family instruction_loop() {
  return {.name = "instruction_loop",
          .doc = "one instruction of a vector core many times, independent of each other",
          .parameters = {{"instruction", "", "", "mnemonic with its type: vadd.f16"},
                         {"repeat", "", "1", "value of the operand of this name"},
                         {"operands", "", "-", "name=value name=value; the others have usual values"},
                         {"setup", "", "-", "an instruction before the loop"},
                         {"each", "", "-", "an instruction before each of them"}},
          .metrics = {{"cycles", "cycle", "that each instruction adds"}},
          .measure = measure_instruction_loop};
}

}  // namespace vinci::validate
