// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bitset>
#include <functional>
#include <map>
#include <set>

#include "isa/check/checker.h"
#include "isa/insns/sync.h"
#include "isa/machine/machine.h"
#include "models/core/core_spec.h"
#include "models/soc/simulate.h"
#include "sim/config/load.h"
#include "sim/task/run_memory.h"
#include "tests/check/checked_run.h"
#include "tests/support/program_gen.h"

// Random programs from which some synchronisation is taken away, against a plain definition of a race: a graph of the
// beginning and the end of every instruction, its closure, and sets of bytes.
namespace vinci::test {
namespace {

using isa::PipeId;
using isa::Role;

constexpr usize kMaxNodes = 4096;

struct Recorded {
  isa::Issued inst;
  bool scalar = false;
};

class Recording final : public isa::Observer {
 public:
  void issued(const isa::Issued& inst) override { list.push_back({inst}); }
  void accessed(const isa::Issued& inst) override { list.push_back({inst, true}); }
  bool refused(const isa::Issued&, const Error&) override { return false; }
  void failed(u32, const isa::Issued*, const Error&) override {}
  void ended() override {}
  std::vector<Recorded> list;
};

// Bytes by buffer, in blocks of 32 except in global memory.
std::set<std::pair<int, u64>> touched(const isa::Footprint& f, bool write) {
  std::set<std::pair<int, u64>> out;
  for (const isa::Access& a : f) {
    if (a.write != write || a.empty()) continue;
    const u64 grain = a.buffer == isa::BufId::GM ? 1 : 32;
    for (u32 k = 0; k < a.count[2]; ++k) {
      for (u32 j = 0; j < a.count[1]; ++j) {
        for (u32 i = 0; i < a.count[0]; ++i) {
          const u64 at = a.address + static_cast<u64>(a.stride[0] * i + a.stride[1] * j + a.stride[2] * k);
          for (u64 b = at / grain; b * grain < at + a.len; ++b)
            out.insert({static_cast<int>(a.buffer), b});
        }
      }
    }
  }
  return out;
}

bool meet(const std::set<std::pair<int, u64>>& a, const std::set<std::pair<int, u64>>& b) {
  for (const auto& x : a)
    if (b.count(x) != 0) return true;
  return false;
}

// Pairs of instruction indices of the program that race.
std::set<std::pair<u32, u32>> races(const std::vector<Recorded>& list, isa::Arch arch) {
  const usize n = list.size();
  // Node 2i: instruction i begins; 2i + 1: it is finished. Edges go forward in time.
  std::vector<std::vector<usize>> next(2 * n);
  const auto edge = [&](usize a, usize b) { next[a].push_back(b); };
  std::map<PipeId, std::vector<usize>> pipes;
  std::map<std::tuple<PipeId, PipeId, u32>, std::vector<usize>> sets, waits;
  // Nodes that all that is issued later comes after: sets that the scalar unit has waited for, and PIPE_ALL. The scalar
  // unit's own loads and stores are not among them.
  std::vector<usize> held;
  for (usize i = 0; i < n; ++i) {
    const isa::Issued& inst = list[i].inst;
    const bool all = inst.pipe == PipeId::ALL;
    const PipeId pipe = list[i].scalar || all ? PipeId::S : inst.pipe;
    const Role role = list[i].scalar ? Role::scalar : inst.row->role;
    edge(2 * i, 2 * i + 1);
    auto& before = pipes[pipe];
    // A pipe begins its instructions in order, but does not stop for set_flag.
    for (auto b = before.rbegin(); b != before.rend(); ++b) {
      if (list[*b].inst.row->role == Role::set_flag && pipe != PipeId::S) continue;
      edge(2 * *b, 2 * i);
      break;
    }
    for (const usize h : held)
      edge(h, 2 * i);
    // Flags, barriers and everything on the scalar unit are finished before their pipe goes on.
    for (const usize b : before) {
      const Role r = list[b].scalar ? Role::scalar : list[b].inst.row->role;
      if (r == Role::wait_flag || r == Role::pipe_barrier || pipe == PipeId::S) edge(2 * b + 1, 2 * i);
      if (role == Role::set_flag || role == Role::pipe_barrier) edge(2 * b + 1, 2 * i);
    }
    if (all) {
      for (const auto& [p, earlier] : pipes)
        for (const usize b : earlier)
          edge(2 * b + 1, 2 * i);
    }
    if (all) held.push_back(2 * i + 1);
    if (role == Role::set_flag || role == Role::wait_flag) {
      const auto& a = isa::args_of<isa::insn::SetFlag>(inst.args);
      const std::tuple flag{a.src, a.dst, static_cast<u32>(a.event)};
      auto& same = (role == Role::set_flag ? sets : waits)[flag];
      if (role == Role::wait_flag && pipe == PipeId::S) held.push_back(2 * sets[flag].at(same.size()) + 1);
      same.push_back(i);
    }
    before.push_back(i);
  }
  for (const auto& [flag, list_of_waits] : waits) {
    for (usize k = 0; k < list_of_waits.size() && k < sets[flag].size(); ++k)
      edge(2 * sets[flag][k] + 1, 2 * list_of_waits[k]);
  }
  std::vector<std::bitset<kMaxNodes>> reach(2 * n);
  std::vector<u8> done(2 * n, 0);
  const std::function<void(usize)> visit = [&](usize v) {
    if (done[v] != 0) return;
    done[v] = 1;
    for (const usize w : next[v]) {
      visit(w);
      reach[v] |= reach[w];
      reach[v].set(w);
    }
  };
  for (usize v = 0; v < 2 * n; ++v)
    visit(v);

  std::set<std::pair<u32, u32>> out;
  std::vector<std::set<std::pair<int, u64>>> reads(n), writes(n);
  for (usize i = 0; i < n; ++i) {
    const isa::Issued& inst = list[i].inst;
    if (inst.row->footprint == nullptr) continue;
    const isa::Footprint f = inst.row->footprint(inst.args, inst.spr, arch);
    reads[i] = touched(f, false);
    writes[i] = touched(f, true);
  }
  for (usize j = 0; j < n; ++j) {
    for (usize i = 0; i < j; ++i) {
      const isa::Issued &a = list[i].inst, &b = list[j].inst;
      if (reach[2 * i + 1][2 * j] || reach[2 * j + 1][2 * i]) continue;
      const bool same_pipe = a.pipe == b.pipe && !list[i].scalar && !list[j].scalar;
      const bool write_first = meet(writes[i], reads[j]) || meet(writes[i], writes[j]);
      const bool read_first = !same_pipe && meet(reads[i], writes[j]);
      if (same_pipe && a.row == b.row && a.row->forwards != nullptr && a.row->forwards(a.args, arch) &&
          b.row->forwards(b.args, arch)) {
        continue;
      }
      if (write_first || read_first) out.insert({a.pc, b.pc});
    }
  }
  return out;
}

struct Thinned {
  std::string text;
  bool changed = false;
};

// Without one or two of its barriers or pairs of flags.
Thinned thin(const std::string& text, std::mt19937_64& random) {
  std::vector<std::string> lines;
  for (usize at = 0; at < text.size();) {
    const usize end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  Thinned out;
  for (u64 n = 1 + random() % 2; n > 0; --n) {
    std::vector<usize> sync;
    for (usize i = 0; i < lines.size(); ++i) {
      if (lines[i].find("pipe_barrier") != std::string::npos || lines[i].find("set_flag") != std::string::npos)
        sync.push_back(i);
    }
    if (sync.empty()) break;
    const usize i = sync[random() % sync.size()];
    const usize count = lines[i].find("set_flag") != std::string::npos ? 2 : 1;  // a wait follows its set
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i), lines.begin() + static_cast<std::ptrdiff_t>(i + count));
    out.changed = true;
  }
  for (const std::string& l : lines)
    out.text += l + "\n";
  return out;
}

bool is_race(isa::check::FaultId id) {
  using isa::check::FaultId;
  return id == FaultId::raw_hazard || id == FaultId::war_hazard || id == FaultId::waw_hazard ||
         id == FaultId::missing_pipe_barrier;
}

TEST(Oracle, AgreesOnRaces) {
  usize racy = 0, clean = 0;
  for (const auto kind : {isa::CoreKind::joint, isa::CoreKind::cube, isa::CoreKind::vector}) {
    const config::ChipConfig chip = config::load_chip(kind == isa::CoreKind::joint ? "tiny-joint" : "tiny");
    for (int i = 0; i < 150; ++i) {
      std::mt19937_64 random(777 + static_cast<u64>(i));
      const RandomProgram program = random_program(models::core_spec(chip, kind), 5 + random() % 20, random);
      const Thinned thinned = thin(program.text, random);
      if (!thinned.changed) continue;
      const auto stream = launch_stream(chip, kind, thinned.text, {{"in", kInBytes}, {"out", kOutBytes}}, 1);

      Recording seen;
      task::RunMemory memory(stream, true);
      isa::Machine machine(models::core_spec(chip, kind), memory.gm(), 0);
      machine.set_observer(&seen);
      const isa::Code code(stream.kernels[0].program);
      u64 budget = 100'000;
      const isa::Launch launch{.args =
                                   memory.arguments(std::get<task::KernelLaunch>(stream.streams[0].tasks.back().op))};
      machine.run(code, launch, budget);
      if (2 * seen.list.size() > kMaxNodes) continue;
      const auto expected = races(seen.list, chip.arch);

      const Checked found = check(chip, stream);
      std::set<std::pair<u32, u32>> pairs;
      for (const auto& f : found.findings) {
        if (!is_race(f.id)) continue;
        pairs.insert({f.other->index, f.at.index});
        EXPECT_EQ(expected.count({f.other->index, f.at.index}), 1u) << f.message << "\n" << thinned.text;
      }
      EXPECT_EQ(pairs.empty(), expected.empty()) << name(kind) << " " << i << "\n" << thinned.text;
      ASSERT_FALSE(HasFailure()) << name(kind) << " " << i;
      (expected.empty() ? clean : racy) += 1;
    }
  }
  EXPECT_GT(racy, 100u);
  EXPECT_GT(clean, 10u);
}

}  // namespace
}  // namespace vinci::test
