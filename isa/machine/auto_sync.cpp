// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/auto_sync.h"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <utility>

#include "isa/check/runs.h"
#include "isa/insns/sync.h"
#include "isa/table/table.h"

namespace vinci::isa {
namespace {

using check::each_piece;
using check::each_run;
using check::kGranule;

constexpr u32 kPipeBits = std::bit_width(kPipeCount - 1);
constexpr u32 kMaxPosition = ~u32{0} >> kPipeBits;
constexpr u32 cell(PipeId pipe, u32 position) { return position << kPipeBits | static_cast<u32>(pipe); }
constexpr PipeId pipe_of(u32 cell) { return static_cast<PipeId>(cell & ((1u << kPipeBits) - 1)); }
constexpr u32 position_of(u32 cell) { return cell >> kPipeBits; }

// Pipes between which and the scalar unit flags are inserted.
constexpr u32 kPipeMask = pipes_of(CoreKind::vector) & ~bit(PipeId::S);
constexpr auto kSyncPipes = [] {
  std::array<PipeId, std::popcount(kPipeMask)> out{};
  for (usize p = 0, i = 0; p < kPipeCount; ++p) {
    if ((kPipeMask & bit(static_cast<PipeId>(p))) != 0) out[i++] = static_cast<PipeId>(p);
  }
  return out;
}();

void join(std::array<u32, kPipeCount>& into, const std::array<u32, kPipeCount>& from) {
  for (usize p = 0; p < kPipeCount; ++p)
    into[p] = std::max(into[p], from[p]);
}

ArgsStorage decode_args(const Inst& inst) {
  ArgsStorage args;
  if (inst.row->set_type != nullptr) inst.row->set_type(args, inst.type);
  for (usize f = 0; f < inst.row->fields.size(); ++f)
    inst.row->fields[f].set(args, inst.operands[f].value);
  return args;
}

// Scalar instructions that read what vector instructions leave in special registers, as the documentation lists them:
// GetReduceRepeatMaxMinSpr, GetReduceRepeatSumSpr, GetMrgSortResult.
bool reads_vector_results(const Row& row) {
  static const std::array rows{row_of("get_max_min_cnt"), row_of("get_acc_val"), row_of("get_vms4_sr")};
  return std::ranges::find(rows, &row) != rows.end();
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Global memory

void AutoSync::Ranges::join(u64 begin, u64 end, u32 position) {
  const auto next = ranges_.lower_bound(begin);
  if (next != ranges_.begin() && std::prev(next)->second.end == begin &&
      (next == ranges_.end() || next->first >= end)) {
    std::prev(next)->second = {end, position};
    return;
  }
  put(begin, end, position);
}

void AutoSync::Ranges::put(u64 begin, u64 end, u32 position) {
  auto it = ranges_.upper_bound(begin);
  if (it != ranges_.begin()) {
    const auto before = std::prev(it);
    if (before->second.end > begin) {  // what is left of it on both sides
      const Range old = before->second;
      before->second.end = begin;
      if (before->first == begin) ranges_.erase(before);
      if (old.end > end) ranges_.emplace(end, old);
    }
  }
  while (it != ranges_.end() && it->first < end) {
    const Range old = it->second;
    it = ranges_.erase(it);
    if (old.end > end) ranges_.emplace(end, old);
  }
  constexpr usize kMost = 4096;
  if (ranges_.size() >= kMost) {  // one range of all, as if the latest had accessed it
    begin = std::min(begin, ranges_.begin()->first);
    end = std::max(end, ranges_.rbegin()->second.end);
    ranges_.clear();
  }
  ranges_[begin] = {end, position};
}

u32 AutoSync::Ranges::latest(u64 begin, u64 end) const {
  auto it = ranges_.upper_bound(begin);
  if (it != ranges_.begin() && std::prev(it)->second.end > begin) --it;
  u32 out = 0;
  for (; it != ranges_.end() && it->first < end; ++it)
    out = std::max(out, it->second.position);
  return out;
}

// ---------------------------------------------------------------------------------------------------------------------
// Order

AutoSync::AutoSync(const CoreSpec& core, const Machine& machine)
    : core_(core),
      machine_(machine),
      granules_(ceil_div(u64{core.sizes[index(BufId::UB)]}, kGranule)),
      flags_(kPipeCount * kPipeCount * core.flags_per_pair) {
  // Programs use event ids from 0 on, and TPipe from the last one down.
  for (u32 e = core.flags_per_pair - 1; e-- > 0;)
    events_.push_back(e);
  events_.push_back(core.flags_per_pair - 1);
}

void AutoSync::begin_block() {
  if (*std::ranges::max_element(positions_) > kMaxPosition / 2) {
    positions_ = {};
    written_.clear();
    for (Cells& c : read_)
      c.clear();
  }
  clocks_.fill(positions_);
  issue_clock_ = positions_;
  barrier_ = vector_work_ = positions_[index(PipeId::V)];
  scalar_access_ = positions_[index(PipeId::S)];
  std::ranges::fill(flags_, Flag{});
  stores_.clear();
  loads_.clear();
}

void AutoSync::pass(const Row& row, const ArgsStorage& args) {
  const PipeId named = row.pipe(args, core_.arch);
  const PipeId pipe = named == PipeId::ALL ? PipeId::S : named;
  Marks& own = clocks_[index(pipe)];
  const u32 position = ++positions_[index(pipe)];
  if (pipe == PipeId::S) {
    own[index(pipe)] = position;
  } else {
    join(own, issue_clock_);
  }
  switch (row.role) {
    case Role::set_flag: {
      const auto& a = args_of<insn::SetFlag>(args);
      Flag& f = flag(a.src, a.dst, a.event);
      ++f.up;
      f.clock = own;
      f.clock[index(pipe)] = position;
      f.inserted = a.inserted != 0;
      f.of_program |= !f.inserted;
      break;
    }
    case Role::wait_flag: {
      const auto& a = args_of<insn::WaitFlag>(args);
      Flag& f = flag(a.src, a.dst, a.event);
      if (f.up-- > 0) {  // else its set_flag comes later, and nothing is known of it
        join(own, f.clock);
        if (pipe == PipeId::S) join(issue_clock_, f.clock);
      }
      f.taken = position;
      break;
    }
    case Role::pipe_barrier:
      if (named == PipeId::ALL) {
        own = issue_clock_ = positions_;
        barrier_ = positions_[index(PipeId::V)];
      } else {
        own[index(pipe)] = position;
        if (pipe == PipeId::V) barrier_ = position;
      }
      break;
    default: break;
  }
}

void AutoSync::emit(const Row& row, std::initializer_list<u64> operands) {
  Inst inst{.row = &row};
  std::ranges::transform(operands, inst.operands.begin(), [](u64 value) { return Operand{.value = value}; });
  pass(row, decode_args(inst));
  out_.push_back(inst);
}

void AutoSync::emit_flag(PipeId src, PipeId dst, u32 event) {
  static const Row& set = *row_of("set_flag");
  static const Row& wait = *row_of("wait_flag");
  emit(set, {index(src), index(dst), event, 1});
  emit(wait, {index(src), index(dst), event, 1});
}

bool AutoSync::to_scalar(PipeId pipe) {
  const u32 blocked = machine_.blocked();
  if ((blocked & bit(pipe)) != 0) return false;
  const auto event = std::ranges::find_if(events_, [&](u32 e) { return flag(pipe, PipeId::S, e).up == 0; });
  if (event != events_.end()) {
    emit_flag(pipe, PipeId::S, *event);
    return true;
  }
  if (blocked != 0) return false;
  static const Row& barrier = *row_of("pipe_barrier");
  emit(barrier, {index(PipeId::ALL), 1});
  return true;
}

void AutoSync::from_scalar(PipeId pipe) {
  const auto choose = [&](bool of_program) {
    return std::ranges::find_if(events_, [&](u32 e) {
      const Flag& f = flag(PipeId::S, pipe, e);
      return f.up == 0 && !in_flight(f, pipe) && (of_program || !f.of_program);
    });
  };
  auto event = choose(false);
  if (event == events_.end()) event = choose(true);
  if (event == events_.end() && to_scalar(pipe)) event = choose(true);
  if (event != events_.end()) emit_flag(PipeId::S, pipe, *event);
}

// ---------------------------------------------------------------------------------------------------------------------
// Accesses

std::span<const Inst> AutoSync::before(const Row& row, const ArgsStorage& args) {
  out_.clear();
  known_footprint_ = false;
  if (row.role == Role::end) return out_;
  if (row.role == Role::scalar) {
    if (vector_work_ > clocks_[index(PipeId::S)][index(PipeId::V)] && reads_vector_results(row)) to_scalar(PipeId::V);
    return out_;
  }
  if (row.role == Role::set_flag) {
    const auto& a = args_of<insn::SetFlag>(args);
    if (index(a.src) >= kPipeCount || index(a.dst) >= kPipeCount || a.event >= core_.flags_per_pair) return out_;
    // A flag of ours that the pipe may not have taken yet would be set twice.
    if (a.src == PipeId::S && a.dst != PipeId::S) {
      const Flag& f = flag(a.src, a.dst, a.event);
      if (f.up == 0 && f.inserted && in_flight(f, a.dst)) to_scalar(a.dst);
    }
  } else if (row.role == Role::wait_flag) {
    const auto& a = args_of<insn::WaitFlag>(args);
    if (index(a.src) >= kPipeCount || index(a.dst) >= kPipeCount || a.event >= core_.flags_per_pair) return out_;
  }
  const PipeId pipe = row.pipe(args, core_.arch);
  if (index(pipe) > kPipeCount) return out_;
  if (row.role != Role::work || (kPipeMask & bit(pipe)) == 0) {
    pass(row, args);
    return out_;
  }
  try {
    new (&footprint_) Footprint(row.footprint(args, machine_.spr(), core_.arch));  // not copied
    known_footprint_ = true;
  } catch (const Error&) {  // the instruction is refused
    return out_;
  }
  Footprint touched = footprint_;
  if (row.computes != Computes::nothing) {  // its addresses are not known yet
    touched.add({.buffer = BufId::UB,
                 .write = row.computes == Computes::writes,
                 .len = static_cast<u32>(core_.sizes[static_cast<usize>(BufId::UB)])});
  }
  const Needs n = needs(pipe, touched);
  if (n.barrier) {
    static const Row& barrier = *row_of("pipe_barrier");
    emit(barrier, {index(pipe), 1});
  }
  if (n.after_scalar) from_scalar(pipe);
  pass(row, args);
  if (pipe == PipeId::V) vector_work_ = positions_[index(pipe)];
  enter(pipe, touched);
  return out_;
}

template <class F>
void AutoSync::each_granules(const Access& a, F&& f) const {
  each_piece(a, [&](u64 begin, u64 end) {
    f(std::min(begin / kGranule, granules_), std::min(ceil_div(end, kGranule), granules_));
  });
}

AutoSync::Needs AutoSync::needs(PipeId pipe, const Footprint& footprint) const {
  const u32 scalar_known = known(pipe, PipeId::S);
  const bool vector = pipe == PipeId::V && vector_work_ > barrier_, scalar = scalar_access_ > scalar_known;
  Needs out;
  if (!vector && !scalar) return out;
  const auto meet = [&](const Cells& cells, u64 from, u64 to) {
    if (cells.empty()) return;
    each_run(cells.data(), from, to, [&](u32 c, usize, usize) {
      if (pipe_of(c) == PipeId::V) out.barrier |= vector && position_of(c) > barrier_;
      if (pipe_of(c) == PipeId::S) out.after_scalar |= scalar && position_of(c) > scalar_known;
    });
  };
  for (const Access& a : footprint) {
    if (out.barrier == vector && out.after_scalar == scalar) break;
    if (a.buffer == BufId::UB) {
      each_granules(a, [&](u64 from, u64 to) {
        meet(written_, from, to);
        if (a.write && scalar) meet(read_[index(PipeId::S)], from, to);
      });
    } else if (a.buffer == BufId::GM && a.write && scalar) {
      each_piece(a, [&](u64 begin, u64 end) { out.after_scalar |= loads_.latest(begin, end) > scalar_known; });
    }
  }
  return out;
}

void AutoSync::enter(PipeId pipe, const Footprint& footprint) {
  const u32 position = positions_[index(pipe)];
  const auto put = [&](Cells& of, const Access& a) {
    Cells& all = cells(of);
    each_granules(a, [&](u64 from, u64 to) { std::fill(all.data() + from, all.data() + to, cell(pipe, position)); });
  };
  for (const Access& a : footprint) {
    if (a.empty()) continue;
    if (a.buffer == BufId::UB) {
      put(a.write ? written_ : read_[index(pipe)], a);
    } else if (a.buffer == BufId::GM && a.write && pipe == PipeId::MTE3) {
      u64 begin = ~u64{0}, end = 0;  // gaps between rows count as written
      each_piece(a, [&](u64 b, u64 e) {
        begin = std::min(begin, b);
        end = std::max(end, e);
      });
      stores_.put(begin, end, position);
    }
  }
}

std::span<const Inst> AutoSync::before(const Access& a) {
  out_.clear();
  const Marks& known = clocks_[index(PipeId::S)];
  u32 after = 0;  // pipes
  if (a.buffer == BufId::GM) {
    if (a.write) return out_;  // not among the accesses that the documentation lists
    if (stores_.latest(a.address, a.address + a.len) > known[index(PipeId::MTE3)]) after |= bit(PipeId::MTE3);
  } else {
    const u64 last = (a.address + a.len - 1) / kGranule;
    if (last >= granules_) return out_;  // the access is refused
    for (u64 g = a.address / kGranule; g <= last; ++g) {
      const auto meet = [&](const Cells& of) {
        if (of.empty()) return;
        const PipeId pipe = pipe_of(of[g]);
        if (pipe != PipeId::S && position_of(of[g]) > known[index(pipe)]) after |= bit(pipe);
      };
      meet(written_);
      if (a.write) {
        for (const PipeId p : kSyncPipes)
          meet(read_[index(p)]);
      }
    }
  }
  for (const PipeId p : kSyncPipes) {
    if ((after & bit(p)) != 0) to_scalar(p);
  }
  const u32 position = ++positions_[index(PipeId::S)];
  clocks_[index(PipeId::S)][index(PipeId::S)] = scalar_access_ = position;
  if (a.buffer == BufId::GM) {
    loads_.join(a.address, a.address + a.len, position);
  } else {
    Cells& of = cells(a.write ? written_ : read_[index(PipeId::S)]);
    for (u64 g = a.address / kGranule; g <= (a.address + a.len - 1) / kGranule; ++g)
      of[g] = cell(PipeId::S, position);
  }
  return out_;
}

}  // namespace vinci::isa
