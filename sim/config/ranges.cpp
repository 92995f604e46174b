// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/config/ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "isa/base/enums.h"
#include "isa/base/suggest.h"
#include "sim/config/describe_chip.h"

namespace vinci::config {
namespace {

constexpr std::string_view kNoRange = "no range is given: half of it to twice as much";

bool is_inside(std::string_view key, std::string_view group) {
  return key.size() > group.size() && key.starts_with(group) && key[group.size()] == '.';
}

std::string join(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

template <class T, class... U>
inline constexpr bool kIsOneOf = (std::same_as<std::remove_const_t<T>, U> || ...);

// Whether a number of a group is a time or a rate, and not a size, a count or a choice.
template <class S, class T>
constexpr bool has_time() {
  if (kIsOneOf<T, double>) return true;
  if (kIsOneOf<T, u32>) return kIsOneOf<S, ApiCosts, QueueDepths>;
  return kIsOneOf<T, Seconds, Cycles, BytesPerCycle, BytesPerSecond>;
}

// A number times a factor of its time; false where it is none.
template <class S, class T>
bool scale_number(T& value, double factor) {
  if (!has_time<S, T>()) return false;
  if constexpr (std::same_as<T, double>) {
    value *= factor;
  } else if constexpr (std::same_as<T, Seconds>) {
    value.value *= factor;
  } else if constexpr (std::same_as<T, Cycles>) {
    value.value = static_cast<u64>(std::llround(static_cast<double>(value.value) * factor));
  } else if constexpr (std::same_as<T, BytesPerCycle> || std::same_as<T, BytesPerSecond>) {
    value.value /= factor;
  } else if constexpr (std::same_as<T, u32> && std::same_as<S, ApiCosts>) {
    value = static_cast<u32>(std::lround(value * factor));
  } else if constexpr (std::same_as<T, u32> && std::same_as<S, QueueDepths>) {
    value = std::max(1u, static_cast<u32>(std::lround(value / factor)));
  } else {
    return false;
  }
  return true;
}

// Scales the numbers of a group, but those that have a range of their own.
template <class S>
struct ScaleGroup {
  const ChipConfig& chip;  // as it was
  std::string_view path;
  bool in_part;  // of a cost line: what is not about its rate
  double factor;
  bool& found;

  template <class T>
  void operator()(std::string_view key, T& member, std::string_view, Range = {}) {
    constexpr std::array<std::string_view, 4> kStarts{"head", "startup", "minimum", "tail"};
    if (chip.ranges.contains(join(path, key))) return;
    if (std::same_as<S, CostLine> && in_part && std::ranges::find(kStarts, key) == kStarts.end()) return;
    found |= scale_number<S>(member, factor);
  }
};

bool is_assumed_in_part(std::string_view from) {
  return from != "assumed" && from.find("assumed") != std::string_view::npos;
}

// Finds a group or a number by its key and scales it.
template <class S>
struct ScaleAt {
  const ChipConfig& chip;
  std::string_view wanted;
  double factor;
  std::string path;
  bool& found;  // something was scaled
  Part part = Part::assumed;

  template <class T>
  void operator()(std::string_view key, T& member, std::string_view, Range = {}) {
    const std::string here = join(path, key);
    if (here != wanted && !is_inside(wanted, here)) return;
    if constexpr (kIsLines<T>) {
      for (auto& [name, line] : member)
        group(line, join(here, name));
    } else if constexpr (Described<T>) {
      group(member, here);
    } else {
      found |= scale_number<S>(member, factor);
    }
  }

  template <class G>
  void group(G& g, const std::string& here) {
    if (here == wanted) {
      bool in_part = part == Part::starts;
      if constexpr (HasFrom<G>) in_part = in_part || is_assumed_in_part(g.from);
      ScaleGroup<G> all{chip, here, in_part, factor, found};
      describe(all, g);
    } else if (is_inside(wanted, here)) {
      ScaleAt<G> inner{chip, wanted, factor, here, found, part};
      describe(inner, g);
    }
  }
};

// The groups of a chip that say where their numbers come from, and all keys.
struct Groups {
  isa::Arch arch;
  std::string path;
  struct Group {
    std::string path, from;
    bool line;
  };
  std::vector<Group>& groups;

  template <class T>
  void operator()(std::string_view key, const T& member, std::string_view, Range = {}) {
    if constexpr (!kIsLines<T> && !Described<const T>) return;
    const std::string here = join(path, key);
    if constexpr (kIsLines<T>) {
      for (const auto& [name, line] : member)
        group(line, join(here, name));
    } else if constexpr (Described<const T>) {
      if (std::same_as<T, CostLine> && !has_line(arch, here)) return;
      group(member, here);
    }
  }
  template <class G>
  void group(const G& g, const std::string& here) {
    if constexpr (HasFrom<const G>) groups.push_back({here, g.from, std::same_as<G, CostLine>});
    Groups inner{arch, here, groups};
    describe(inner, g);
  }
};

struct FindLine {
  const CostLine* wanted;
  std::string path;
  std::string& found;

  template <class T>
  void operator()(std::string_view key, const T& member, std::string_view, Range = {}) {
    const std::string here = join(path, key);
    if constexpr (kIsLines<T>) {
      for (const auto& [name, line] : member)
        if (&line == wanted) found = join(here, name);
    } else if constexpr (std::same_as<T, CostLine>) {
      if (&member == wanted) found = here;
    } else if constexpr (Described<const T>) {
      FindLine inner{wanted, here, found};
      describe(inner, member);
    }
  }
};

enum class Found : u8 { nothing, no_time, time };

// Finds a key or a group, and whether it has a time. Names of instructions may have a dot.
template <class S>
struct FindKey {
  std::string_view rest;
  Found& found;

  template <class T>
  void operator()(std::string_view key, const T& member, std::string_view, Range = {}) {
    if (!rest.empty() && rest != key && !is_inside(rest, key)) return;
    const std::string_view inner = rest.size() > key.size() ? rest.substr(key.size() + 1) : std::string_view();
    if constexpr (kIsLines<T>) {
      for (const auto& [name, line] : member)
        if (inner == name || is_inside(inner, name))
          group(line, inner.size() > name.size() ? inner.substr(name.size() + 1) : "");
    } else if constexpr (Described<const T>) {
      group(member, inner);
    } else if (inner.empty()) {
      found = std::max(found, has_time<S, T>() ? Found::time : Found::no_time);
    }
  }
  template <class G>
  void group(const G& g, std::string_view inner) {
    FindKey<std::remove_const_t<G>> members{inner, found};
    describe(members, g);
  }
};

struct AllKeys {
  std::string path;
  std::vector<std::string>& keys;
  template <class T>
  void operator()(std::string_view key, const T& member, std::string_view, Range = {}) {
    keys.push_back(join(path, key));
    if constexpr (Described<const T>) {
      AllKeys inner{keys.back(), keys};
      describe(inner, member);
    }
  }
};

}  // namespace

std::vector<AssumedCost> assumed_costs(const ChipConfig& chip) {
  std::vector<Groups::Group> groups;
  Groups visit{chip.arch, "", groups};
  describe(visit, chip);
  std::vector<AssumedCost> out;
  for (const Groups::Group& g : groups) {
    const bool whole = g.from == "assumed";
    if (!whole && !is_assumed_in_part(g.from)) continue;
    const auto range = chip.ranges.find(g.path);
    if ((whole || g.line || range != chip.ranges.end()) && !(scaled(chip, g.path, 2) == chip)) {
      out.push_back(
          {g.path, range != chip.ranges.end() ? range->second : AssumedRange{.reason = std::string(kNoRange)}});
    }
    for (const auto& [path, own] : chip.ranges) {
      const std::string_view key = path;
      if (is_inside(key, g.path) && std::ranges::none_of(groups, [&](const auto& other) {
            return is_inside(other.path, g.path) && (key == other.path || is_inside(key, other.path));
          }))
        out.push_back({path, own});
    }
  }
  return out;
}

ChipConfig scaled(const ChipConfig& chip, std::string_view key, double factor, Part part) {
  ChipConfig out = chip;
  bool found = false;
  ScaleAt<ChipConfig> at{chip, key, factor, "", found, part};
  describe(at, out);
  return out;
}

std::vector<BadRange> bad_ranges(const ChipConfig& chip) {
  std::vector<BadRange> out;
  for (const auto& [key, range] : chip.ranges) {
    Found found = Found::nothing;
    FindKey<ChipConfig> find{key, found};
    describe(find, chip);
    if (found == Found::nothing) {
      if (key.starts_with("core.instructions.")) continue;  // of an instruction that another chip has
      std::vector<std::string> keys;
      AllKeys all{"", keys};
      describe(all, chip);
      out.push_back({key, fmt::format(": there is no such key{}", did_you_mean(key, keys))});
    } else if (found == Found::no_time) {
      out.push_back({key, ": it is no time and no rate, so it has no range"});
    } else if (range.reason.empty()) {
      out.push_back({key, ": write the reason of these factors"});
    }
  }
  return out;
}

std::string path_of(const ChipConfig& chip, const CostLine& line) {
  std::string out;
  FindLine find{&line, "", out};
  describe(find, chip);
  return out;
}

}  // namespace vinci::config
