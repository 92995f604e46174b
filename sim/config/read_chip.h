// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "sim/config/chip_config.h"
#include "sim/config/problems.h"

namespace vinci::config {

// Where each key was set last: "core.cube.startup" to "file:line:column" or "--set ...".
struct Place {
  std::string location;
  usize order = 0;  // places with a larger one were set later
};
class Places {
 public:
  void set(const std::string& path, std::string location) { all_[path] = {std::move(location), ++last_}; }
  void erase(const std::string& path) { all_.erase(path); }
  bool contains(std::string_view path) const { return all_.contains(path); }
  // Of these keys the one that was set last; null where none was.
  const Place* last(std::initializer_list<std::string_view> paths) const {
    const Place* out = nullptr;
    for (const std::string_view path : paths) {
      const auto it = all_.find(path);
      if (it != all_.end() && (out == nullptr || it->second.order > out->order)) out = &it->second;
    }
    return out;
  }

 private:
  std::map<std::string, Place, std::less<>> all_;
  usize last_ = 0;
};

// Applies chip files and overrides to a chip, one after the other.
class ChipReader {
 public:
  // Called with what `extends` names, and its location; reads that file with the same reader.
  using ReadParent = std::function<void(const std::string& name, const std::string& location)>;

  ChipReader(ChipConfig& chip, Problems& problems) : chip_(chip), problems_(problems) {}

  // Applies a chip file, its parent first.
  void read_file(std::string_view text, const std::string& source, const ReadParent& read_parent);
  // Applies "core.cube.startup=30".
  void read_override(const std::string& text);
  // The rules between keys, once everything is applied; `source` is where the chip as a whole comes from.
  void check(const std::string& source);

 private:
  ChipConfig& chip_;
  Problems& problems_;
  Places places_;
};

}  // namespace vinci::config
