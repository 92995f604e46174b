// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace vinci {
namespace {

// "npu1.core12.AIV": the text before and behind the number.
struct CoreName {
  std::string_view before, behind;
  u64 number = 0;

  explicit CoreName(std::string_view name) {
    const usize digits = std::min(name.size(), name.rfind("core") + 4);
    before = name.substr(0, digits);
    const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), number);
    behind = name.substr(static_cast<usize>(end - name.data()));
  }
};

// Units of which only the core, the block and the cycle differ.
bool alike(const Waits::Unit& a, const Waits::Unit& b) {
  const CoreName x(a.core), y(b.core);
  return a.unit == b.unit && a.what == b.what && a.why == b.why && x.before == y.before && x.behind == y.behind;
}

// "0..3,7"
std::string ranges(std::vector<u64> numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string out;
  for (usize i = 0; i < numbers.size();) {
    usize j = i + 1;
    while (j < numbers.size() && numbers[j] == numbers[j - 1] + 1)
      ++j;
    out += (out.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (j > i + 1) out += (j > i + 2 ? ".." : ",") + std::to_string(numbers[j - 1]);
    i = j;
  }
  return out;
}

std::string line(const std::vector<const Waits::Unit*>& units) {
  const Waits::Unit& first = *units.front();
  std::vector<u64> cores, blocks, cycles;
  for (const Waits::Unit* u : units) {
    cores.push_back(CoreName(u->core).number);
    if (u->block) blocks.push_back(*u->block);
    if (u->since) cycles.push_back(*u->since);
  }
  const CoreName name(first.core);
  std::string out = fmt::format("{}{}{}.{} {}", name.before, ranges(cores), name.behind, first.unit, first.what);
  if (!blocks.empty()) out += fmt::format(" block{} {}", units.size() > 1 ? "s" : "", ranges(blocks));
  if (!cycles.empty()) {
    const auto [low, high] = std::ranges::minmax(cycles);
    out += fmt::format(" since cycle {}{}", low, high > low ? fmt::format(" to {}", high) : "");
  }
  return out + first.why;
}

}  // namespace

std::vector<std::string> Waits::text() const {
  std::vector<std::vector<const Unit*>> groups;
  for (const Unit& u : units) {
    const auto same = std::ranges::find_if(groups, [&](const auto& g) { return alike(*g.front(), u); });
    (same == groups.end() ? groups.emplace_back() : *same).push_back(&u);
  }
  std::vector<std::string> out;
  for (const auto& group : groups)
    out.push_back(line(group));
  out.insert(out.end(), cores.begin(), cores.end());
  out.insert(out.end(), lines.begin(), lines.end());
  return out;
}

std::string below(std::string text, const std::vector<std::string>& lines) {
  constexpr usize kShown = 12;
  for (usize i = 0; i < std::min(lines.size(), kShown); ++i)
    text += "\n  " + lines[i];
  if (lines.size() > kShown) text += fmt::format("\n  and {} more", lines.size() - kShown);
  return text;
}

Error deadlock(const Waits& waits, std::optional<u64> cycle) {
  std::string title = "nothing can move";
  if (!waits.where.empty()) title += " on " + waits.where;
  if (cycle) title += fmt::format(" at cycle {}", *cycle);
  if (!waits.units.empty() || !waits.cores.empty()) {
    title += " (on hardware: aicore timeout, error 507014):";
  } else {
    title += waits.circle ? ": streams wait for each other:" : ": streams or host threads wait for what never comes:";
  }
  std::string text = below(std::move(title), waits.text());
  if (waits.not_begun > 0) {
    text +=
        fmt::format("\n  {} block{} no core to begin on", waits.not_begun, waits.not_begun == 1 ? " has" : "s have");
  }
  if (!waits.task.empty()) text += "\n  " + waits.task;
  return {Fault::Deadlock, text};
}

}  // namespace vinci
