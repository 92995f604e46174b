// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/task/draft.h"

// What the rules that both spellings share are checked with. Only for sim/task/check*.
namespace vinci::task {

// Well-formed UTF-8 without control characters: what both spellings and every report can carry.
bool is_text(std::string_view s);
// Why a name is none, or null.
const char* why_bad_name(std::string_view s);

// A task stream that is looked at, and the problems that are found.
class Checks {
 public:
  Checks(TaskStream& stream, const Locator& where, config::Problems& problems)
      : s(stream), where_(where), problems_(problems) {}

  TaskStream& s;

  bool any_problem() const { return problems_.any(); }
  std::string at(const Path& path) const { return where_.at(path); }

  template <class... A>
  void report(const Path& path, fmt::format_string<A...> text, A&&... args) {
    // Beyond what is shown, problems are only counted.
    problems_.full() ? problems_.add({}, {})
                     : problems_.add(where_.at(path), fmt::format(text, std::forward<A>(args)...));
  }

  // The reader has said what is wrong with the buffer.
  bool unresolved(const Buffer& b) const { return b.bytes == kUnresolvedBytes && any_problem(); }

  // Whether the index means something; an index that no name led to has been reported.
  template <class List>
  bool known(u32 index, const List& list, std::string_view what, const Path& path) {
    if (index < list.size()) return true;
    if (index != kUnresolved || !any_problem()) {
      report(path, "{} {} does not exist; there are {}", what, index, list.size());
    }
    return false;
  }

  bool known_device(u32 device, const Path& path) {
    if (device < s.devices) return true;
    report(path, "device {} does not exist; there are {}", device, s.devices);
    return false;
  }

  template <class List>
  void names(std::string_view list, const List& items, const Path& path) {
    std::map<std::string_view, usize> seen;
    for (usize i = 0; i < items.size(); ++i) {
      const std::string& name = name_of(items[i]);
      if (const char* why = why_bad_name(name)) report(path / i, "the name {}", why);
      if (!seen.emplace(name, i).second) report(path / i, "{} has '{}' twice", list, shown(name));
    }
  }
  template <class List>
  void names(std::string_view list, const List& items) {
    names(list, items, Path{} / list);
  }

 private:
  template <class Named>
  static const std::string& name_of(const Named& item) {
    if constexpr (requires { item.name; }) {
      return item.name;
    } else {
      return item;
    }
  }

  const Locator& where_;
  config::Problems& problems_;
};

// The tasks of all streams, each by itself.
void check_tasks(Checks& checks);
// The threads of the host.
void check_host(Checks& checks);
// Collectives that ranks which meet do not mean alike, where it is known without a run which meet.
void check_collectives(Checks& checks);
// Waits that can never be satisfied, in a task stream that is otherwise sound.
void check_waits(Checks& checks);

}  // namespace vinci::task
