// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Random programs with loops do in every way of running them what they do with the turns of all loops written out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "isa/census/census.h"
#include "isa/check/checker.h"
#include "isa/program/loops.h"
#include "isa/program/program_file.h"
#include "isa/table/codec.h"
#include "isa/text/text.h"
#include "models/soc/functional.h"
#include "sim/config/load.h"
#include "sim/task/load.h"
#include "sim/task/run_memory.h"
#include "sim/task/write.h"
#include "tests/check/checked_run.h"
#include "tests/support/timed_run.h"

namespace vinci::test {
namespace {

constexpr u64 kBytes = 1 << 20;  // of the one buffer
constexpr int kPrograms = 300;

// A program for a vector core. It is not free of races, and some programs fault or wait for ever: that must be the same
// as well.
class Generator {
 public:
  explicit Generator(u64 seed) : random_(seed) {}

  std::string program() {
    text_ = ".arch c220\n";
    for (u64 n = 1 + below(3); n > 0; --n)
      part(3);
    if (below(8) == 0) line("wait_flag PIPE_V, PIPE_MTE3, 5");
    line("pipe_barrier PIPE_ALL");
    if (below(12) != 0)
      line("end");
    else
      line("b over\nover:\n  end");
    return text_;
  }

 private:
  u64 below(u64 n) { return random_() % n; }
  void line(const std::string& what) { text_ += fmt::format("{:{}}{}\n", "", 2 + 2 * depth_, what); }
  // A number and what it grows by in some of the loops.
  std::string number(u64 value, u64 step) {
    std::string out = fmt::format("{}", value);
    for (u64 d = 0; d < depth_ && below(3) != 0; ++d)
      out += fmt::format(" by {}", below(3) * step);
    return out;
  }
  std::string ub() { return number(below(64) * 32, 32); }
  std::string gm() { return number(kGm + below(256) * 64, 64 * (1 + below(20))); }

  void part(u32 nesting) {
    if (nesting > 0 && depth_ < 4 && below(2) == 0) {
      line(fmt::format(".rept {}", 1 + below(5)));
      ++depth_;
      for (u64 n = 1 + below(3); n > 0; --n)
        part(nesting - 1);
      --depth_;
      line(".endr");
      return;
    }
    switch (below(9)) {
      case 0:
        line(fmt::format("copy_gm_to_ubuf {}, {}, 0, 1, {}, 0, 0", ub(), gm(), number(1 + below(3), 1)));
        line("set_flag PIPE_MTE2, PIPE_V, 0");
        return line("wait_flag PIPE_MTE2, PIPE_V, 0");
      case 1:
        line(fmt::format("vadds.f32 {}, {}, 1.5f, {}, 1, 1, 8, 8", ub(), ub(), number(1, 1)));
        return line("pipe_barrier PIPE_V");
      case 2:
        line("set_flag PIPE_V, PIPE_MTE3, 1");
        line("wait_flag PIPE_V, PIPE_MTE3, 1");
        return line(fmt::format("copy_ubuf_to_gm {}, {}, 0, 1, {}, 0, 0", gm(), ub(), 1 + below(3)));
      case 3: return line(fmt::format("st_dev.b32 {}, {}, 0", number(below(100), 3), gm()));
      case 4: line("get_pc X3"); return line(fmt::format("st_dev.b64 X3, {}, 0", gm()));
      case 5:
        line(fmt::format("mov X1, {}", number(below(50), 7)));
        line(fmt::format("mul X2, X1, {}", number(1 + below(3), 1)));
        return line(fmt::format("st_dev.b64 X2, {}, 0", gm()));
      case 6: return line(fmt::format("nop {}", number(1 + below(30), 5)));
      case 7:
        if (below(6) != 0) return line("pipe_barrier PIPE_ALL");
        // Set twice where the loop does not change it.
        return line(fmt::format("set_flag PIPE_V, PIPE_MTE3, 2{}", depth_ > 0 ? " by 1" : ""));
      default:
        line(fmt::format("ld_dev.b32 X4, {}, 0", gm()));
        return line(fmt::format("set_vector_mask 0, {}", number(1 + below(60), 1)));
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  u64 depth_ = 0;
};

// All that can be seen of a program.
struct Outcome {
  std::map<std::string, std::string> seen;
  bool fault = false;
};

std::string text_of(const Recorder& recorder) {
  std::string out;
  for (const Seen& s : recorder.spans()) {
    out += fmt::format("{} {} {} {} {}:{} {} {} {} {}\n", s.core, s.pipe, s.name, s.detail, s.source, s.line, s.queued,
                       s.begin, s.end, s.done);
  }
  for (const Arrow& a : recorder.arrows())
    out += fmt::format("{} {} {} {} {}\n", a.from, a.to, a.begin, a.end, a.name);
  return out;
}

std::string text_of(const isa::Census& census) {
  std::string out;
  for (const auto& [task, sums] : census.tasks) {
    for (const auto& [site, counts] : sums.sites)
      out += fmt::format("{} {} {} {}\n", task, site.pc, counts.executions, counts.results);
  }
  return out;
}

std::string bytes_of(task::RunMemory& memory) {
  std::string out(kBytes, '\0');
  memory.gm().read(kGm, std::as_writable_bytes(std::span(out)));
  return out;
}

class Case {
 public:
  Case(const config::ChipConfig& chip, isa::Program program, u32 blocks) : chip_(chip) {
    stream_ = launch_stream(chip, isa::CoreKind::vector, ".arch c220\nend\n", {{"b", kBytes}}, blocks);
    stream_.kernels[0].program = std::move(program);
  }

  Outcome outcome() const {
    Outcome out;
    const auto run = [&](const std::string& what, auto&& body) {
      const std::string fault = fault_of([&] { body(out.seen[what]); });
      out.seen[what + " fault"] = fault;
      out.fault = out.fault || !fault.empty();
    };
    run("functional", [&](std::string& s) {
      task::RunMemory memory(stream_, true);
      models::run_functional(chip_, stream_, memory, {.max_cycles = 1'000'000});
      s = bytes_of(memory);
    });
    run("full", [&](std::string& s) {
      task::RunMemory memory(stream_, true);
      Recorder recorder;
      const models::Result r = models::simulate(chip_, stream_, memory, {.max_cycles = 1'000'000, .trace = &recorder});
      s = fmt::format("{} {}\n", r.cycles, r.instructions) + r.stats.json().dump() + text_of(recorder) +
          bytes_of(memory);
    });
    run("timing", [&](std::string& s) {
      task::RunMemory memory(stream_, false);
      const models::Result r = models::simulate(chip_, stream_, memory, {.max_cycles = 1'000'000});
      s = fmt::format("{} {}\n", r.cycles, r.instructions) + r.stats.json().dump();
    });
    run("census", [&](std::string& s) {
      task::RunMemory memory(stream_, true);
      isa::Census census;
      models::simulate(chip_, stream_, memory, {.max_cycles = 1'000'000, .census = &census});
      s = text_of(census);
    });
    for (const auto& [mode, name] :
         {std::pair{Mode::functional, "functional"}, {Mode::full, "full"}, {Mode::timing, "timing"}}) {
      const Checked found = check(chip_, stream_, mode);
      std::string& s = out.seen[fmt::format("checked {}", name)] = found.fault + "\n";
      for (const auto& f : found.findings) {
        s += fmt::format("{} {} {} {} {} {} {}\n", isa::check::name(f.id), f.message, f.suggestion, f.at.place,
                         f.at.index, f.other ? f.other->place : "", f.count);
      }
    }
    return out;
  }
  const task::TaskStream& stream() const { return stream_; }

 private:
  config::ChipConfig chip_;
  task::TaskStream stream_;
};

TEST(RandomLoops, RunAsIfTheyWereWrittenOut) {
  config::ChipConfig chip = config::load_chip("tiny");
  chip.core.buffers.ub = config::Bytes(8 << 10);
  usize loops = 0, strides = 0, faults = 0, longest = 0;
  for (int i = 0; i < kPrograms; ++i) {
    const std::string text = Generator(20261122 + static_cast<u64>(i)).program();
    SCOPED_TRACE(fmt::format("program {}\n{}", i, text));
    const isa::Program folded = isa::assemble(text, "random.s");
    const isa::Program flat = isa::unfold(folded);
    loops += folded.loops.size();
    strides += folded.strides.size();
    longest = std::max(longest, flat.code.size());
    const u32 blocks = 1 + static_cast<u32>(i % 3);
    const Case a(chip, folded, blocks), b(chip, flat, blocks);
    const Outcome x = a.outcome(), y = b.outcome();
    faults += x.fault ? 1 : 0;
    for (const auto& [what, seen] : y.seen)
      ASSERT_TRUE(x.seen.at(what) == seen) << what << "\n" << x.seen.at(what) << "\n---\n" << seen;

    // All spellings keep it.
    EXPECT_EQ(isa::read_program(isa::write_program(folded), "k.bin"), folded);
    const isa::Program again = isa::assemble(isa::disassemble(folded), "again.s");
    EXPECT_TRUE(again.code == folded.code && again.loops == folded.loops && again.strides == folded.strides);
    EXPECT_EQ(task::parse_task_stream(task::to_vts(a.stream()), "s.vts", task::MemoryFiles()).kernels[0].program,
              folded);
    const std::string yaml = task::to_yaml(a.stream());
    EXPECT_TRUE(task::same_meaning(
        task::parse_task_stream(std::as_bytes(std::span(yaml)), "s.yaml", task::MemoryFiles()), a.stream()));
  }
  EXPECT_GT(loops, 1u * kPrograms);
  EXPECT_GT(strides, 1u * kPrograms);
  EXPECT_GT(faults, kPrograms / 50u);
  EXPECT_LT(faults, kPrograms / 2u);
  EXPECT_GT(longest, 200u);
}

}  // namespace
}  // namespace vinci::test
