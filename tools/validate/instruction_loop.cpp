// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// One instruction of any kind back to back, its operands by name.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "isa/base/error.h"
#include "isa/table.h"
#include "tools/validate/family.h"
#include "tools/validate/timed_run.h"

namespace vinci::validate {
namespace {

// Sources begin at the same bank group of UB, as in the published benchmark; no region meets another one.
constexpr std::string_view kThird = "0x20000", kSecond = "0x10000";

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
  if (name == "dst" || name == "c") return std::string(kThird);
  if (name == "src1") return std::string(kSecond);
  if (name == "repeat") return p.text("repeat");
  if (name.ends_with("BlkStride")) return "1";
  if (name.ends_with("RepStride")) return "8";
  if (name == "scalar") return "1";
  return "0";
}

std::string instruction_text(const Params& p) {
  const std::string& mnemonic = p.text("instruction");
  const std::string name = mnemonic.substr(0, mnemonic.find('.'));
  const auto rows = isa::table();
  const auto row = std::ranges::find(rows, name, &isa::Row::name);
  if (row == rows.end()) fail_at(Fault::Input, p.place(), "there is no instruction '{}'", name);
  auto given = parse_operands(p);
  std::string text = "  " + mnemonic;
  bool first = true;
  for (const isa::FieldInfo& f : row->fields) {
    const auto it = given.find(f.name);
    if (it == given.end() && f.optional) break;
    text += fmt::format("{} {}", first ? "" : ",", it == given.end() ? usual_value(f.name, p) : it->second);
    first = false;
    if (it != given.end()) given.erase(it);
  }
  if (!given.empty()) fail_at(Fault::Input, p.place(), "{} has no operand '{}'", name, given.begin()->first);
  return text + "\n";
}

Values measure(const Params& p, const config::ChipConfig& chip) {
  Loop loop;
  if (p.text("setup") != "-") loop.setup = "  " + p.text("setup") + "\n";
  if (p.text("each") != "-") loop.body = "  " + p.text("each") + "\n";
  loop.body += instruction_text(p);
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
          .measure = measure};
}

}  // namespace vinci::validate
