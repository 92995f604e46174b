// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/soc/simulate.h"
#include "tools/gen/stream_folder.h"
#include "tools/studies/findings.h"
#include "tools/studies/variants.h"

namespace vinci::io {
class LockedFolder;
}

// Studies: questions about performance that the simulator answers by running a few task streams and holding what it
// measures against criteria. docs/studies.md says how to add one.
namespace vinci::studies {

// A task stream that was simulated in mode full.
struct Run {
  task::TaskStream stream;
  models::Result result;
  double hertz = 0;
  std::map<std::string, std::vector<std::byte>, std::less<>> host;  // final contents of host buffers, by name

  // The contents of a host buffer.
  template <class T>
  std::vector<T> values(std::string_view buffer) const {
    const auto it = host.find(buffer);
    VINCI_CHECK(it != host.end());
    std::vector<T> out(it->second.size() / sizeof(T));
    std::memcpy(out.data(), it->second.data(), out.size() * sizeof(T));
    return out;
  }
  double us(u64 cycles) const { return static_cast<double>(cycles) / hertz * 1e6; }
  double seconds() const { return result.seconds; }

  // Of the kernels on cores: how many, the sum of their durations, and from the start of the first to the end of the
  // last.
  usize kernels() const;
  double kernel_us() const;
  double kernel_span_us() const;
  // Bytes that cores moved from and to global memory, wherever it was.
  u64 gm_read_bytes() const;
  u64 gm_write_bytes() const;
  u64 gm_bytes() const { return gm_read_bytes() + gm_write_bytes(); }
  // Cycles that all pipes of this kind were busy together.
  u64 busy_cycles(isa::PipeId pipe) const;
};

// What was asked for.
struct Request {
  std::string chip = {};                                      // built-in name or file; "" = the one of the definition
  std::vector<std::string> overrides = {};                    // of the chip: core.cube.startup=30
  std::vector<std::pair<std::string, std::string>> set = {};  // knobs
  std::string folder = {};  // where task streams and their outputs are kept, one folder each; "" = nowhere
  std::function<bool()> interrupted = {};  // asked from time to time; true ends the study with Fault::Limit
  unsigned jobs = 1;                       // processes that simulate variants
  std::function<void(usize begun, usize all)> progress = {};  // of the variants of a call of variants()
};

// One execution of a study.
class Study {
 public:
  // Throws Fault::Input for knobs that do not exist, values that they cannot have, and a folder that cannot be made or
  // that another process of Vinci uses. The folder is reserved for as long as the study lives. The
  // report of an earlier study is removed, so that a study that fails is not mistaken for it.
  Study(Definition definition, Request request);

  const Definition& definition() const { return findings_.definition; }
  const config::ChipConfig& chip() const { return chip_; }
  // The chip with further values changed, which win over the user's.
  config::ChipConfig chip_with(const std::vector<std::string>& overrides) const;

  // The value of a knob.
  u64 whole(std::string_view knob) const;
  double number(std::string_view knob) const;
  const std::string& choice(std::string_view knob) const;

  // Simulates a task stream in mode full; `variant` names it for the report and for the folder that keeps it.
  Run run(std::string_view variant, const task::BuiltStream& stream) const { return run(variant, stream, chip_); }
  Run run(std::string_view variant, const task::BuiltStream& stream, const config::ChipConfig& chip,
          trace::Sink* trace = nullptr) const;
  // The same with the numeric events of the run.
  Run count(std::string_view variant, const task::BuiltStream& stream, isa::Census& census) const;
  // The same in mode timing: a Run without contents of host buffers.
  Run time(std::string_view variant, const task::BuiltStream& stream, const config::ChipConfig& chip) const;

  // f(0), f(1), ... f(count - 1), each where it need not share memory with the others: `jobs` processes work at the
  // same time. f returns a struct of numbers, or a vector of such; it states no facts and measures nothing, because
  // what it does to variables stays in its process.
  template <class F>
  auto variants(usize count, const F& f) const {
    using T = std::invoke_result_t<F, usize>;
    std::vector<T> out;
    const auto bytes = [&f](usize i) { return to_bytes(f(i)); };
    for (const std::string& found : run_variants(count, request_.jobs, bytes, begun(count)))
      out.push_back(FromBytes<T>::read(found));
    return out;
  }

  // What was found: the value of a criterion, once, and facts that explain it.
  void measured(std::string_view criterion, double value);
  void fact(std::string_view what, double value, std::string_view unit);

  const Findings& findings() const { return findings_; }
  bool passed() const { return findings_.passed(); }
  // Answer, knobs, facts and criteria as text.
  std::string report() const;
  // Where the folder of the request keeps it.
  std::string report_file() const { return request_.folder + "/report.txt"; }

 private:
  struct Watchers {
    trace::Sink* trace = nullptr;
    isa::Census* census = nullptr;
  };
  Run simulate(std::string_view variant, const task::BuiltStream& built, const config::ChipConfig& chip, bool with_data,
               Watchers watchers) const;
  const std::string& value_of(std::string_view knob) const;
  std::function<void(usize)> begun(usize all) const;

  Findings findings_;
  Request request_;
  config::ChipConfig chip_;
  std::vector<std::string> knobs_;  // values, in the order of the definition
  std::shared_ptr<io::LockedFolder> locked_;
};

// All studies: their names, and what they do (entries.cpp).
struct Entry {
  std::string_view id;
  void (*run)(Study& study);
};
std::span<const Entry> entries();
// Throws Fault::Input with the nearest name.
const Entry& entry(std::string_view id);

// Executes a study.
Study run_study(std::string_view id, const Request& request);

}  // namespace vinci::studies
