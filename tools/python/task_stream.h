// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <pybind11/pybind11.h>
#include <vinci/vinci.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tools/python/arguments.h"
#include "tools/python/run.h"

// Chips and task streams of the module.
namespace vinci::python {

// False: nothing; true or "events": counted; "shadow": also compared with references.
using Numerics = std::variant<bool, std::string>;

inline std::uint32_t numerics_option(const Numerics& numerics) {
  if (const bool* counted = std::get_if<bool>(&numerics)) return *counted ? VINCI_NUMERICS_EVENTS : VINCI_NUMERICS_OFF;
  const std::string& word = std::get<std::string>(numerics);
  if (word == "events") return VINCI_NUMERICS_EVENTS;
  if (word == "shadow") return VINCI_NUMERICS_SHADOW;
  throw Failure{VINCI_ERROR_INPUT, "numerics '" + word + "': there are events and shadow, or a bool"};
}

inline vinci_options options(const std::string& mode, std::uint64_t max_cycles, std::uint64_t seed,
                             std::uint32_t threads, bool check, const Numerics& numerics) {
  vinci_options o = VINCI_OPTIONS_INIT;
  if (mode == "full") {
    o.mode = VINCI_MODE_FULL;
  } else if (mode == "functional") {
    o.mode = VINCI_MODE_FUNCTIONAL;
  } else if (mode == "timing") {
    o.mode = VINCI_MODE_TIMING;
  } else {
    throw Failure{VINCI_ERROR_INPUT, "mode '" + mode + "': the modes are full, functional and timing"};
  }
  o.max_cycles = max_cycles;
  o.seed = seed;
  o.threads = threads;
  o.check = check ? 1 : 0;
  o.numerics = numerics_option(numerics);
  return o;
}

class Chip {
 public:
  Chip(const std::string& name, const std::vector<std::string>& overrides) {
    vinci_chip* made = nullptr;
    must(vinci_chip_create(c_text(name), pointers(overrides).data(), overrides.size(), &made));
    handle_.reset(made);
  }
  static Chip parse(const std::string& text, const std::vector<std::string>& overrides) {
    vinci_chip* made = nullptr;
    must(vinci_chip_parse(text.data(), text.size(), pointers(overrides).data(), overrides.size(), &made));
    return Chip(made);
  }
  const vinci_chip* get() const { return handle_.get(); }

 private:
  explicit Chip(vinci_chip* made) : handle_(made) {}
  static std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> out;
    for (const std::string& t : texts)
      out.push_back(c_text(t));
    return out;
  }
  Handle<vinci_chip, vinci_chip_destroy> handle_;
};

class TaskStream {
 public:
  static TaskStream load(const std::string& path) {
    vinci_stream* made = nullptr;
    must(vinci_stream_load(c_text(path), &made));
    return TaskStream(made);
  }
  static TaskStream parse(const std::string& text, const std::optional<std::string>& folder) {
    vinci_stream* made = nullptr;
    must(vinci_stream_parse(text.data(), text.size(), folder ? c_text(*folder) : nullptr, &made));
    return TaskStream(made);
  }
  void set_input(const std::string& buffer, const pybind11::buffer& data) {
    const Bytes bytes(data, false);
    must(vinci_stream_set_input(handle_.get(), c_text(buffer), bytes.info.ptr, bytes.size));
  }
  std::unique_ptr<Run> submit(const Chip& chip, const vinci_options& o) const {
    vinci_run* run = nullptr;
    must(vinci_submit(chip.get(), handle_.get(), &o, &run));
    return std::make_unique<Run>(run, nullptr, std::vector<CopyOut>{});
  }
  const vinci_stream* get() const { return handle_.get(); }

 protected:
  explicit TaskStream(vinci_stream* made) : handle_(made) {}

 private:
  Handle<vinci_stream, vinci_stream_destroy> handle_;
};

}  // namespace vinci::python
