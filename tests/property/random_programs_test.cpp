// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "isa/check/checker.h"
#include "isa/machine/machine.h"
#include "isa/table/codec.h"
#include "isa/text/text.h"
#include "models/soc/soc.h"
#include "sim/config/load.h"
#include "sim/kernel/context.h"
#include "sim/kernel/run.h"
#include "sim/task/run_memory.h"
#include "tests/support/path_check.h"
#include "tests/support/program_gen.h"
#include "tests/support/timed_run.h"

namespace vinci::test {
namespace {

constexpr int kPrograms = 3400;  // of each kind of core

// What a run leaves behind where a later program could see it.
struct State {
  std::vector<std::byte> gm;
  std::vector<std::vector<std::byte>> buffers;  // of the first core; only where it ran all blocks
  u64 status = 0;                               // of all cores together
};

std::vector<std::vector<std::byte>> buffers_of(const isa::CoreMem& mem) {
  std::vector<std::vector<std::byte>> out;
  for (usize b = 1; b < isa::kBufCount; ++b) {
    const isa::View& view = mem[static_cast<isa::BufId>(b)];
    const auto bytes = view.bytes(0, view.size());
    out.emplace_back(bytes.begin(), bytes.end());
  }
  return out;
}

// One random program on its chip, and the ways to run it.
class Case {
 public:
  Case(const config::ChipConfig& chip, isa::CoreKind kind, u64 seed)
      : chip_(chip), kind_(kind), seed_(seed), random_(seed) {
    program_ = random_program(models::core_spec(chip_, kind_), 5 + random_() % 36, random_);
    blocks_ = random_() % 3 == 0 ? static_cast<u32>(2 + random_() % 5) : 1;
    // Depths and chunks that a chip file would not choose, so that back-pressure and pauses happen.
    for (usize p = 0; p < isa::kPipeCount; ++p) {
      if (!isa::kPipes[p].queue.empty()) chip_.core.queues.depth[p] = depth();
    }
    chip_.core.dma_chunk = config::Bytes(u64{64} << random_() % 7);
    chip_.core.dma_requests = u32{1} << random_() % 9;
    chip_.core.line("scalar.sync"_cost).tail = static_cast<double>(random_() % 3 * 4);

    stream_.arch = chip_.arch;
    stream_.buffers.push_back(device_buffer("in", kInBytes));
    stream_.buffers.push_back(device_buffer("out", kOutBytes * blocks_));
    const auto type = kind_ == isa::CoreKind::joint  ? task::KernelType::AI_CORE
                      : kind_ == isa::CoreKind::cube ? task::KernelType::AIC_ONLY
                                                     : task::KernelType::AIV_ONLY;
    stream_.kernels.push_back({.name = "k", .type = type, .program = program_.program});
    launch_ = {
        .kernel = 0, .block_dim = blocks_, .args = {task::Slice{.buffer = 0, .offset = 0}, task::Slice{.buffer = 1}}};
    stream_.streams.push_back({.name = "s", .tasks = {{.name = "t", .op = launch_}}});
    for (usize i = 0; i < kInBytes; i += 2) {
      const u64 bits = random_();
      // Mostly finite f16; now and then anything at all.
      const auto v = static_cast<u16>(bits % 64 == 0 ? bits >> 8 : (bits >> 8 & 0x8000) | (bits >> 16) % 0x7c00);
      std::memcpy(&input_[i], &v, 2);
    }
  }

  std::string describe() const {
    return fmt::format("seed {}, {} x{}, {} blocks\n{}", seed_, name(kind_), chip_.ai_cores, blocks_, program_.text);
  }
  const RandomProgram& program() const { return program_; }
  u32 blocks() const { return blocks_; }

  // On the untimed machine.
  State untimed() const {
    task::RunMemory memory(stream_, true);
    write_input(memory);
    isa::Machine machine(models::core_spec(chip_, kind_), memory.gm(), 0);
    const isa::Code code(program_.program);
    u64 budget = 1'000'000;
    isa::Launch launch{.block_num = blocks_, .args = memory.arguments(launch_)};
    for (; launch.block_idx < blocks_; ++launch.block_idx)
      machine.run(code, launch, budget);
    return state_of(memory, machine.mem(), machine.status_seen());
  }

  // In time, part by part, because the front door does not show registers and buffers.
  State timed() const {
    task::RunMemory memory(stream_, true);
    write_input(memory);
    sim::Context context;
    models::Soc soc(chip_, stream_, memory, {}, sim::Clock(chip_.clock), nullptr);
    sim::run(soc.env(), {.max_cycles = 10'000'000}, [&] { return soc.finished(); }, {});
    u64 status = 0;
    models::Core* first = nullptr;
    for (const auto& core : soc.chips().front()->cores()) {
      if (core->spec().kind != kind_) continue;
      status |= core->status_seen();
      if (first == nullptr) first = core.get();
    }
    return state_of(memory, *first->mem(), status);
  }

  models::Result simulate(bool with_data, trace::Sink* trace = nullptr) const {
    task::RunMemory memory(stream_, with_data);
    write_input(memory);
    return models::simulate(chip_, stream_, memory, {.max_cycles = 10'000'000, .trace = trace, .progress = {}});
  }

  // What looks for faults does not change times.
  models::Result checked() const {
    task::RunMemory memory(stream_, true);
    write_input(memory);
    isa::check::Checker checker(memory.gm());
    return models::simulate(chip_, stream_, memory, {.max_cycles = 10'000'000, .checker = &checker});
  }

  // What explains its time does not change it, and leaves nothing unexplained.
  models::Result explained(PathCheck& check) const {
    task::RunMemory memory(stream_, false);
    return models::simulate(chip_, stream_, memory, {.max_cycles = 10'000'000, .causes = &check});
  }

  // The same without one of its set_flag, so that a wait_flag waits for ever.
  Case without_a_set_flag() const {
    Case broken = *this;
    std::string& text = broken.program_.text;
    usize at = 0;
    for (u64 n = 0; n <= seed_ % program_.flags; ++n)
      at = text.find("  set_flag", at + 1);
    text.erase(at, text.find('\n', at) + 1 - at);
    broken.stream_.kernels[0].program = broken.program_.program = isa::assemble(text, "random.s", chip_.arch);
    return broken;
  }

 private:
  u32 depth() { return static_cast<u32>(1 + random_() % 4 * random_() % 8); }

  static task::Buffer device_buffer(std::string name, u64 bytes) {
    task::Buffer b;
    b.name = std::move(name);
    b.bytes = bytes;
    return b;
  }

  void write_input(task::RunMemory& memory) const {
    if (memory.with_data()) memory.gm().write(memory.address({.buffer = 0, .offset = 0}), input_);
  }

  State state_of(task::RunMemory& memory, const isa::CoreMem& mem, u64 status) const {
    State s;
    s.gm.resize(kOutBytes * blocks_);
    memory.gm().read(memory.address({.buffer = 1, .offset = 0}), s.gm);
    if (blocks_ == 1) s.buffers = buffers_of(mem);
    s.status = status;
    return s;
  }

  config::ChipConfig chip_;
  isa::CoreKind kind_;
  u64 seed_;
  std::mt19937_64 random_;
  RandomProgram program_;
  u32 blocks_ = 1;
  task::TaskStream stream_;
  task::KernelLaunch launch_;
  std::vector<std::byte> input_ = std::vector<std::byte>(kInBytes);
};

void expect_laws(const Case& c, const models::Result& result) {
  for (const models::PipeTime& p : result.pipes) {
    EXPECT_EQ(p.busy + p.stalled + p.idle, result.cycles) << p.core << "." << name(p.pipe);
  }
  EXPECT_EQ(result.stats["l2"]["read_bytes"], c.program().gm_read_bytes * c.blocks());
  EXPECT_EQ(result.stats["l2"]["write_bytes"], c.program().gm_write_bytes * c.blocks());
}

// A copy from or to global memory keeps its pipe busy until its data are through, while others begin.
u64 busy_until(const Seen& s) {
  const bool global = s.name.find("gm_to") != std::string::npos || s.name.find("to_gm") != std::string::npos;
  return global ? s.done : s.end;
}

// Lanes run one thing after the other, and what they show as busy is what the statistics count.
void expect_tidy(const Recorder& recorder, const models::Result& result) {
  std::map<std::string, std::vector<const Seen*>> lanes;
  std::map<std::string, u64> busy;
  for (const Seen& s : recorder.spans()) {
    EXPECT_TRUE(s.queued <= s.begin && s.begin <= s.end && s.end <= s.done) << s.name << " at " << s.begin;
    if (s.begin == s.end || s.source.empty()) continue;
    const std::string lane = s.core + "." + s.pipe;
    lanes[lane].push_back(&s);
  }
  for (auto& [lane, spans] : lanes) {
    std::ranges::sort(spans, {}, &Seen::begin);
    u64 counted = 0;  // up to here
    for (const Seen* s : spans) {
      if (s->name == "wait_flag") continue;
      const u64 until = busy_until(*s);
      busy[lane] += until > counted ? until - std::max(counted, s->begin) : 0;
      counted = std::max(counted, until);
    }
    for (usize i = 1; i < spans.size(); ++i)
      EXPECT_LE(spans[i - 1]->end, spans[i]->begin) << lane << ": " << spans[i - 1]->name << ", " << spans[i]->name;
  }
  for (const models::PipeTime& p : result.pipes) {
    if (p.pipe == isa::PipeId::S) continue;  // shows its waits as well
    EXPECT_EQ(busy[fmt::format("{}.{}", p.core, name(p.pipe))], p.busy) << p.core << " " << name(p.pipe);
  }
  for (const Arrow& a : recorder.arrows())
    EXPECT_LE(a.begin, a.end) << a.from << " to " << a.to;
}

template <class F>
Fault fault_kind(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.fault();
  }
  return Fault::Internal;
}

void check(const Case& c) {
  const State expected = c.untimed();
  const State timed = c.timed();
  EXPECT_TRUE(timed.gm == expected.gm) << "global memory differs from the untimed machine";
  EXPECT_TRUE(timed.buffers == expected.buffers) << "local buffers differ from the untimed machine";
  EXPECT_EQ(timed.status, expected.status);

  Recorder recorder;
  const models::Result full = c.simulate(true, &recorder);
  const models::Result again = c.simulate(true);
  const models::Result timing = c.simulate(false);
  expect_laws(c, full);
  expect_tidy(recorder, full);
  EXPECT_EQ(full.stats.json().dump(), again.stats.json().dump());
  EXPECT_EQ(full.stats.json().dump(), timing.stats.json().dump());
  EXPECT_EQ(timing.cycles, full.cycles);
  EXPECT_EQ(timing.instructions, full.instructions);
  PathCheck path;
  EXPECT_EQ(c.explained(path).stats.json().dump(), full.stats.json().dump());
  EXPECT_EQ(path.kernels(), 1u);

  if (c.program().flags > 0) {
    const Case broken = c.without_a_set_flag();
    SCOPED_TRACE(broken.describe());
    EXPECT_EQ(fault_kind([&] { broken.untimed(); }), Fault::Deadlock);
    EXPECT_EQ(fault_kind([&] { broken.simulate(false); }), Fault::Deadlock);
  }

  const isa::Program& p = c.program().program;
  for (const isa::Word& word : p.code)
    EXPECT_EQ(isa::encode(isa::decode(word)), word);
  EXPECT_EQ(isa::assemble(isa::disassemble(p), "random.s").code, p.code);
}

class RandomPrograms : public testing::TestWithParam<isa::CoreKind> {};

TEST_P(RandomPrograms, KeepTheLaws) {
  const isa::CoreKind kind = GetParam();
  config::ChipConfig chip = config::load_chip(kind == isa::CoreKind::joint ? "tiny-joint" : "tiny");
  chip.core.buffers.l1 = config::Bytes(32 << 10);  // less to compare
  chip.core.buffers.ub = config::Bytes(32 << 10);
  usize flags = 0, barriers = 0, loops = 0, unusual_status = 0;
  for (int i = 0; i < kPrograms; ++i) {
    const u64 seed = 20240611 + static_cast<u64>(i);
    const Case c(chip, kind, seed);
    SCOPED_TRACE(c.describe());
    ASSERT_NO_THROW(check(c));
    if (i % 16 == 0) {
      EXPECT_EQ(c.simulate(false).stats.json().dump(), c.checked().stats.json().dump());
    }
    ASSERT_FALSE(HasFailure());
    flags += c.program().flags;
    barriers += c.program().barriers;
    loops += c.program().loops;
    unusual_status += c.untimed().status != 0 ? 1 : 0;
  }
  // The programs are of some use only if they synchronise, loop and compute something.
  EXPECT_GT(flags, 5u * kPrograms);
  EXPECT_GT(barriers, 2u * kPrograms);
  EXPECT_GT(loops, 1u * kPrograms);
  EXPECT_GT(unusual_status, 0u);
}

// Bits, STATUS and the findings of the checker do not depend on how many units a core has; times stay reproducible and
// explained, and a lane of the timeline runs one thing after the other.
TEST_P(RandomPrograms, KeepTheLawsWithSeveralUnits) {
  const isa::CoreKind kind = GetParam();
  config::ChipConfig chip = config::load_chip(kind == isa::CoreKind::joint ? "tiny-joint" : "tiny");
  chip.core.buffers.l1 = config::Bytes(32 << 10);
  chip.core.buffers.ub = config::Bytes(32 << 10);
  usize faster = 0;
  for (int i = 0; i < kPrograms / 5; ++i) {
    const u64 seed = 20261127 + static_cast<u64>(i);
    const Case one(chip, kind, seed);
    config::ChipConfig several = chip;
    several.core.units = {.cube = 2u + i % 2, .vector = 2u + i % 3, .mte1 = 1u + i % 2};
    const Case c(several, kind, seed);
    SCOPED_TRACE(c.describe());
    const State expected = c.untimed(), timed = c.timed();
    EXPECT_TRUE(timed.gm == expected.gm);
    EXPECT_TRUE(timed.buffers == expected.buffers);
    EXPECT_EQ(timed.status, expected.status);
    Recorder recorder;
    const models::Result full = c.simulate(true, &recorder);
    expect_laws(c, full);
    EXPECT_EQ(full.stats.json().dump(), c.simulate(false).stats.json().dump());
    EXPECT_EQ(full.stats.json().dump(), c.checked().stats.json().dump());
    PathCheck path;
    EXPECT_EQ(c.explained(path).stats.json().dump(), full.stats.json().dump());
    std::map<std::string, u64> lane_end;
    for (const Seen& s : recorder.spans()) {
      if (s.begin == s.end || s.source.empty() || s.name == "wait_flag" || s.pipe == "S") continue;
      u64& end = lane_end[s.core + "." + s.pipe];
      EXPECT_LE(end, s.begin) << s.pipe << " " << s.name;
      end = s.end;
    }
    faster += full.cycles < one.simulate(false).cycles ? 1 : 0;
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(faster, 0u);
}

INSTANTIATE_TEST_SUITE_P(EachKind, RandomPrograms,
                         testing::Values(isa::CoreKind::joint, isa::CoreKind::cube, isa::CoreKind::vector),
                         [](const auto& p) { return std::string(name(p.param)); });

}  // namespace
}  // namespace vinci::test
