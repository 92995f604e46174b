// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Recorded kernels, wrong in one call: the checker must name its line.
//
// Each recording is a program of `vinci cc` that works (`vinci record`). Of each of its kernels, mutants are made with
// a seed. A mutant is harmful where a rule is broken by construction, or where one of 50 legal orders breaks a rule of
// flags or gives other results; that is found out first, without the checker. Every harmful mutant must be found at a
// line that has to do with the harm, and the kernels themselves must have no finding. What a gather reads is said by
// data, which the checker does not follow: of what is missed, the last column says what it does not see at all of
// kernels that gather.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "sim/config/load.h"
#include "sim/task/load.h"
#include "tests/check/checked_run.h"
#include "tests/check/kernels/mutate.h"

namespace vinci::test {
namespace {

struct Options {
  std::vector<std::string> files;
  u64 seed = 1;
  u32 each = 4;  // mutants of a class that are tried with each kernel
  u32 schedules = 50;
  u32 limit = 4000;  // instructions of a launch
  u32 least = 1;
  bool verbose = false;
};

struct Count {
  u32 made = 0, harmful = 0, found = 0;
};

bool points_at(const isa::check::Finding& f, const Harm& harm) {
  const auto known = [&](const isa::check::Site& s) { return harm.lines.contains(s.place); };
  if (harm.kind == Harm::Kind::output) return known(f.at) && (!f.other || known(*f.other));
  if (harm.kind == Harm::Kind::contents && f.id != isa::check::FaultId::uninitialised_read) return false;
  return known(f.at) || (f.other && known(*f.other));
}

class Trial {
 public:
  explicit Trial(const Options& options) : options_(options) {}

  void file(const std::string& path) {
    task::TaskStream stream;
    try {
      stream = in_one_stream(task::load_task_stream(path));
    } catch (const Error& e) {
      return skip(path, e.what());
    }
    const config::ChipConfig chip = config::load_chip(stream.arch == isa::Arch::c220   ? "ascend-910b1"
                                                      : stream.arch == isa::Arch::c100 ? "ascend-910a"
                                                                                       : "ascend-310p3");
    const auto& tasks = stream.streams.front().tasks;
    std::set<u32> seen;
    for (usize t = 0; t < tasks.size(); ++t) {
      const auto* launch = std::get_if<task::KernelLaunch>(&tasks[t].op);
      if (launch == nullptr || !seen.insert(launch->kernel).second) continue;
      const std::string name =
          fmt::format("{} {}", path.substr(path.rfind('/') + 1), stream.kernels[launch->kernel].name);
      try {
        kernel(name, chip, up_to(stream, t));
      } catch (const Error& e) {
        skip(name, e.what());
      }
    }
  }

  int report() const {
    fmt::print("\n{:<22} {:>8} {:>8} {:>8}\n", "class", "tried", "harmful", "found");
    Count all;
    for (const auto& [name, c] : counts_) {
      fmt::print("{:<22} {:>8} {:>8} {:>8}\n", name, c.made, c.harmful, c.found);
      all.made += c.made;
      all.harmful += c.harmful;
      all.found += c.found;
    }
    fmt::print("{:<22} {:>8} {:>8} {:>8}\n", "all", all.made, all.harmful, all.found);
    fmt::print("{} kernels, {} with findings of their own; seed {}\n", kernels_, dirty_, options_.seed);
    return all.harmful >= options_.least && all.found == all.harmful && dirty_ == 0 ? 0 : 1;
  }

 private:
  static void skip(const std::string& what, std::string_view why) {
    fmt::print("{}: left out: {}\n", what, why.substr(0, 120));
  }

  void kernel(const std::string& name, const config::ChipConfig& chip, const task::TaskStream& stream) {
    LegalSchedules original(chip, stream);
    if (original.size() > options_.limit) return skip(name, fmt::format("{} instructions", original.size()));
    if (const Harm harm = original.find(options_.schedules, options_.seed); harm.kind != Harm::Kind::none)
      return skip(name, fmt::format("its results depend on the order: {}: {}", test::name(harm.kind), harm.text));
    ++kernels_;
    const Checked clean = check(chip, stream);
    if (!clean.findings.empty()) {
      ++dirty_;
      fmt::print("{}: findings of the kernel itself:\n{}", name, clean.text());
      return;
    }
    Random random(options_.seed * 7919 + kernels_);
    std::set<std::string> seen;
    u32 harmful = 0, found = 0;
    for (const MutationClass& c : mutation_classes()) {
      for (u32 i = 0; i < options_.each; ++i) {
        const auto mutant = c.make({chip, stream, original.logs()}, random);
        if (!mutant) break;
        if (!seen.insert(mutant->what).second) continue;
        Count& count = counts_[std::string(c.name)];
        ++count.made;
        const Harm harm = harm_of(chip, *mutant);
        if (options_.verbose) fmt::print("  {}: {} {}\n", mutant->what, test::name(harm.kind), harm.text);
        if (harm.kind == Harm::Kind::none) continue;
        ++count.harmful;
        ++harmful;
        const Checked seen_by = check(chip, mutant->stream);
        const bool right = std::ranges::any_of(seen_by.findings, [&](const auto& f) { return points_at(f, harm); });
        count.found += right ? 1 : 0;
        found += right ? 1 : 0;
        if (right) continue;
        fmt::print("{}: {}: missed: {}: {}; lines {}\n{}", name, mutant->what, test::name(harm.kind), harm.text,
                   fmt::join(harm.lines, ", "), seen_by.text().substr(0, 2000));
      }
    }
    fmt::print("{}: {} instructions, {} harmful mutants, {} found\n", name, original.size(), harmful, found);
    std::fflush(stdout);
  }

  Harm harm_of(const config::ChipConfig& chip, const KernelMutant& m) const {
    if (!m.rule.empty()) return {Harm::Kind::fault, m.lines, m.rule};
    try {
      LegalSchedules schedules(chip, m.stream);
      return schedules.find(options_.schedules, options_.seed);
    } catch (const Error& e) {
      fmt::print("  {}: cannot run: {}\n", m.what, e.what());
      return {};
    }
  }

  const Options& options_;
  std::map<std::string, Count> counts_;
  u64 kernels_ = 0;
  u32 dirty_ = 0;
};

}  // namespace
}  // namespace vinci::test

int main(int argc, char** argv) {
  CLI::App app("Recorded kernels, wrong in one call: the checker must name its line");
  vinci::test::Options o;
  app.add_option("recordings", o.files, "What `vinci record` has written")->required();
  app.add_option("--seed", o.seed, "Of mutants and orders");
  app.add_option("--each", o.each, "Mutants of a class that are tried with each kernel");
  app.add_option("--schedules", o.schedules, "Orders in which each is run");
  app.add_option("--limit", o.limit, "Instructions of a launch, at most");
  app.add_option("--least", o.least, "Harmful mutants that there must be");
  app.add_flag("--verbose", o.verbose);
  CLI11_PARSE(app, argc, argv);
  vinci::test::Trial trial(o);
  for (const std::string& f : o.files)
    trial.file(f);
  return trial.report();
}
