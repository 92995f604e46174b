// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "isa/program/code.h"
#include "isa/text/text.h"
#include "models/core/core_spec.h"
#include "models/core/flag_board.h"
#include "models/core/journal.h"
#include "models/core/pipe.h"
#include "models/core/ports.h"
#include "models/core/unit.h"
#include "sim/kernel/context.h"
#include "sim/kernel/module.h"
#include "sim/kernel/run.h"
#include "tests/support/timed_run.h"

// One unit between mocks: what hands it instructions, and what it hands them on to. Mocks note what they are asked,
// with the cycle; times are what a test says.
namespace vinci::test {

// "24 mad": what happened, and when.
using Events = std::vector<std::string>;

// The instructions of a text, as the scalar unit issues them, in order, without a check.
class Instructions {
 public:
  Instructions(const config::ChipConfig& chip, isa::CoreKind kind, const std::string& text)
      : program_(isa::assemble(text + "\nend", "test.s", chip.arch)),
        code_(program_),
        spec_(models::core_spec(chip, kind)),
        sequencer_(spec_, gm_, nullptr, 0) {
    sequencer_.start(code_, launch_);
    while (sequencer_.current().row->role != isa::Role::end) {
      if (sequencer_.current().row->role == isa::Role::scalar) {
        sequencer_.step(0, {});
        continue;
      }
      isa::Issued inst;
      sequencer_.issue(inst, [](const isa::Issued&) { return true; });
      issued_.push_back(inst);
    }
  }
  Instructions(const Instructions&) = delete;
  Instructions& operator=(const Instructions&) = delete;
  const isa::Code& code() const { return code_; }
  usize size() const { return issued_.size(); }
  const isa::Issued& operator[](usize i) const { return issued_.at(i); }

 private:
  isa::Program program_;
  isa::Code code_;
  isa::GlobalMemory gm_;
  isa::CoreSpec spec_;
  isa::Launch launch_;
  isa::Sequencer sequencer_;
  std::vector<isa::Issued> issued_;
};

// Does what a test wants at a cycle, before the units that are woken there later.
class Script final : public sim::Module {
 public:
  explicit Script(sim::Env& env) : Module(env) {}
  void at(u64 cycle, std::function<void()> what) {
    todo_.emplace(cycle, std::move(what));
    wake_at(todo_.begin()->first);
  }

 private:
  void act() override {
    while (!todo_.empty() && todo_.begin()->first <= now()) {
      const auto what = std::move(todo_.begin()->second);
      todo_.erase(todo_.begin());
      what();
    }
    if (!todo_.empty()) wake_at(todo_.begin()->first);
  }
  std::multimap<u64, std::function<void()>> todo_;
};

// What mocks share: where they note what they are asked.
class Mock {
 public:
  Mock(const sim::Env& env, Events& events) : env_(env), events_(events) {}

 protected:
  void note(std::string_view what) const { events_.push_back(fmt::format("{} {}", env_.agenda.now(), what)); }
  const sim::Env& env_;

 private:
  Events& events_;
};

class MockExecutor final : public models::Executor, private Mock {
 public:
  using Mock::Mock;
  void retire(const isa::Issued& inst, bool touches_gm) override {
    note(fmt::format("{}{}", inst.row->name, touches_gm ? " of global memory" : ""));
  }
  void finish() override { note("finish"); }
  void step(isa::Sequencer& sequencer, bool reads_results, u64 /*sys_cnt*/) override {
    note(fmt::format("{}{}", sequencer.current().row->name, reads_results ? " of results" : ""));
    sequencer.step(0, {}, 0);
  }
};

class MockIssuer final : public models::Issuer, private Mock {
 public:
  using Mock::Mock;
  void queue_has_room() override { note("room"); }
  void pipe_drained() override { note("drained"); }
};

class MockCrossCore final : public models::CrossCorePort, private Mock {
 public:
  using Mock::Mock;
  void set(const isa::Issued& /*inst*/, trace::TrackId /*track*/, u32 /*node*/) override { note("cross-core flag"); }
};

class MockFlagUser final : public models::FlagUser, private Mock {
 public:
  MockFlagUser(const sim::Env& env, Events& events, std::string name) : Mock(env, events), name_(std::move(name)) {}
  bool awaits(u64 /*t*/, const models::Flag& /*flag*/) const override { return waits; }
  void flag_visible_at(u64 cycle) override { note(fmt::format("{} sees the flag at {}", name_, cycle)); }
  const isa::Issued* queued_set_flag(const models::Flag& /*flag*/) const override { return stuck; }
  trace::TrackId track() const override { return 0; }

  bool waits = false;
  const isa::Issued* stuck = nullptr;

 private:
  std::string name_;
};

class MockWake final : public models::Wake, private Mock {
 public:
  MockWake(const sim::Env& env, Events& events, std::string name) : Mock(env, events), name_(std::move(name)) {}
  void wake_for_work(u64 cycle) override { note(fmt::format("{} wakes at {}", name_, cycle)); }

 private:
  std::string name_;
};

// A port that makes the requests of a copy in `port` cycles; its data are there `memory` cycles later.
class MockMemoryPort final : public models::MemoryPort, private Mock {
 public:
  using Mock::Mock;
  void begin(u64 at, const isa::Footprint& /*footprint*/, double body, bool by_rows, double delivery) override {
    note(fmt::format("copy from {}, body {}{}, delivery {}", at, body, by_rows ? " by rows" : "", delivery));
    end_ = at + port;
    finished_ = false;
  }
  u64 pump(u64 now) override {
    finished_ = now >= end_;
    return std::max(now, end_);
  }
  bool finished() const override { return finished_; }
  u64 done() const override { return end_ + memory; }
  void keep_log() override {}
  const models::CopyLog& log() const override { return log_; }

  u64 port = 10, memory = 100;

 private:
  u64 end_ = 0;
  bool finished_ = true;
  models::CopyLog log_{1};
};

// A unit whose instructions take what the test says: each the next of `times`, the last one again and again.
class MockUnit final : public models::Unit, private Mock {
 public:
  using Mock::Mock;
  models::Cycles begin(const isa::Issued& inst, const models::Resolved& work, const Moment& now) override {
    note(fmt::format("begin {}{}{}{}", inst.row->name, name, now.empty ? " in an empty pipe" : "",
                     now.early > 0 ? fmt::format(", {:.2f} early", now.early) : ""));
    const models::Cycles c = times.front();
    if (times.size() > 1) times.erase(times.begin());
    if (work.global) copy.begin(now.t, {}, 0, false, 0);
    return c;
  }
  models::MemoryPort* port() override { return &copy; }
  u64 ready_at(const models::Resolved& /*work*/, const Moment& now) override { return std::max(ready, now.t); }
  void began(const models::Resolved& /*work*/, u64 t, u64 done) override {
    note(fmt::format("hands over {}..{}", t, done));
  }
  void retired(const models::Resolved& /*work*/, u64 /*t*/) override { note("has handed over"); }

  std::string name;
  std::vector<models::Cycles> times{{.occupancy = 4, .latency = 25}};
  MockMemoryPort copy{env_, copies};
  Events copies;
  u64 ready = 0;
};

// The entrance of a pipe that takes what it is given.
class MockPipe final : public models::IssuePort, private Mock {
 public:
  using Mock::Mock;
  bool full() const override { return left == 0; }
  bool drained() const override { return is_drained; }
  void work(const isa::Issued& inst, const models::Resolved* /*resolved*/, u64 at, bool alone) override {
    take(inst, at, alone ? " alone" : "");
  }
  void wait_flag(const isa::Issued& inst, u64 at) override { take(inst, at, ""); }
  void set_flag(const isa::Issued& inst, u64 at) override { take(inst, at, ""); }
  void barrier(const isa::Issued& inst, u64 at) override { take(inst, at, ""); }
  void cross_set(const isa::Issued& inst, u64 at) override { take(inst, at, ""); }

  usize left = 1000;  // places
  bool is_drained = true;

 private:
  void take(const isa::Issued& inst, u64 at, std::string_view how) {
    --left;
    note(fmt::format("{}{} at {}", inst.row->name, how, at));
  }
};

// Answers each request of the scalar unit after 50 cycles.
class MockRequestPort final : public models::RequestPort, private Mock {
 public:
  using Mock::Mock;
  u64 request(u64 now, const isa::Access& access) override {
    note(fmt::format("{} of {} B", access.write ? "write" : "read", access.len));
    return now + 50;
  }
};

// What all units have around them: a clock of 1 GHz, a block without a log, flags that are seen 3 cycles after
// they go up.
struct Bench : testing::Test {
  // Runs until nothing happens any more.
  void run() {
    sim::run(env, {}, [] { return true; }, {});
  }
  // What has happened: the notes that hold `with`.
  Events seen(std::string_view with = "") const {
    Events out;
    for (const std::string& e : events)
      if (e.find(with) != std::string::npos) out.push_back(e);
    return out;
  }

  sim::Context context;
  sim::Env env{.clock = sim::Clock(1e9)};
  config::ChipConfig chip = round_chip(isa::Arch::c100);
  models::CostTable costs{chip.core};
  stats::Group stats;
  Events events;
  Script script{env};
  models::Journal journal{"core0"};
  models::FlagBoard flags{3};
  MockExecutor executor{env, events};
};

}  // namespace vinci::test
