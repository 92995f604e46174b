// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/spin_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "isa/insns/scalar.h"
#include "isa/mem/global_memory.h"

namespace vinci::isa {
namespace {

// Whether it only computes the register that it writes, from the registers that it reads, and never fails.
bool only_computes(const CodeInst& inst) {
  const u16 opcode = inst.row->opcode;
  return inst.plain.what.value != nullptr && opcode != insn::Div::opcode && opcode != insn::Rem::opcode &&
         opcode != insn::Sqrt::opcode;
}

u32 bit(u8 reg) { return reg == CodeInst::kNoRegister ? 0 : 1u << reg; }

// "4..6, 9"
std::string ranges(const std::set<u32>& numbers) {
  std::string out;
  for (auto it = numbers.begin(); it != numbers.end();) {
    const u32 first = *it;
    u32 last = first;
    while (++it != numbers.end() && *it == last + 1)
      ++last;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", first);
    if (last > first) out += fmt::format("..{}", last);
  }
  return out;
}

// "poll.s:4..6"; of several files, one after the other.
std::string lines_of(const Code& code, const std::vector<u32>& pcs) {
  std::map<std::string, std::set<u32>> lines;
  for (const u32 pc : pcs)
    lines[code.source(pc)].insert(code[pc].line);
  std::string out;
  for (const auto& [file, numbers] : lines)
    out += fmt::format("{}{}:{}", out.empty() ? "" : " and ", file, ranges(numbers));
  return out;
}

// "'flag' at 0", "'flags' at 0 to 4032", "UB at 0x40"
std::string bytes_of(const Access& access, u64 highest, const GlobalMemory& gm) {
  const GlobalMemory::Allocation* in =
      access.buffer == BufId::GM ? gm.find(access.address, highest - access.address + access.len) : nullptr;
  std::string out = in != nullptr ? fmt::format("'{}' at {}", in->name, access.address - in->begin)
                                  : fmt::format("{} at {:#x}", name(access.buffer), access.address);
  if (highest == access.address) return out;
  return out + (in != nullptr ? fmt::format(" to {}", highest - in->begin) : fmt::format(" to {:#x}", highest));
}

}  // namespace

void SpinWatch::forget() {
  next_ = kFirst;
  looked_ = 0;
  has_looked_ = watching_ = proven_ = false;
}

u32 SpinWatch::look(const Sequencer& front) {
  has_looked_ = true;
  const u64 ran = quiet_ - std::exchange(looked_, quiet_);
  if (watching_ && ran == 0) return 1;  // the instruction that it knows has not begun
  if (!watching_) {
    watching_ = true;
    until_ = quiet_ + next_ / kPart;
    power_ = 1;
    place_anchor(front);
  } else if (quiet_ >= until_) {
    watching_ = false;
    next_ = 2 * quiet_;
    return 1;
  } else {
    if (ran > 1) place_anchor(front);  // instructions that it does not know
    note_read(front);
    if (steps_ > 0 && front.pc() == anchor_.pc && recurs(front)) {
      prove(front.code());
      return kFree;
    }
    if (steps_ == power_) {
      power_ *= 2;
      place_anchor(front);
    }
  }
  note(front);
  return 1;
}

void SpinWatch::place_anchor(const Sequencer& front) {
  anchor_ = front.state();
  steps_ = 0;
  seen_.clear();
  pcs_.clear();
  reads_.clear();
  found_relevant_ = false;
}

// The instruction that runs next.
void SpinWatch::note(const Sequencer& front) {
  ++steps_;
  latest_ = front.pc();
  if (latest_ >= front.code().size() || !seen_.insert(&front.code()[latest_]).second) return;
  pcs_.push_back(latest_);
  found_relevant_ = false;
}

// Of the instruction that has run.
void SpinWatch::note_read(const Sequencer& front) {
  const auto& access = front.last_access();
  if (!access || access->write) return;
  const auto it = std::ranges::find(reads_, latest_, &Read::pc);
  if (it == reads_.end()) {
    if (reads_.size() < kReads) reads_.push_back({latest_, *access, access->address});
    return;
  }
  if (access->address < it->access.address) it->access = *access;
  it->highest = std::max(it->highest, access->address);
}

bool SpinWatch::recurs(const Sequencer& front) {
  const Sequencer::State now = front.state();
  if (now.unknown != anchor_.unknown || !(now.spr == anchor_.spr)) return false;
  if (!found_relevant_) find_relevant(front.code());
  if (depends_on_time_) return false;
  for (u32 r = 0; r < now.x.size(); ++r) {
    if ((relevant_ >> r & 1) != 0 && now.x[r] != anchor_.x[r]) return false;
  }
  return true;
}

// A register is relevant where an instruction that has run since the anchor needs it for more than to compute another
// register, or to compute a relevant one.
void SpinWatch::find_relevant(const Code& code) {
  u32 timed = 0;
  relevant_ = 0;
  for (const u32 pc : pcs_) {
    const CodeInst& inst = code[pc];
    if (!only_computes(inst)) relevant_ |= inst.sources;
    if (inst.row->reads_results) timed |= bit(inst.written);
  }
  for (u32 before = ~relevant_; before != relevant_;) {
    before = relevant_;
    for (const u32 pc : pcs_) {
      if ((relevant_ & bit(code[pc].written)) != 0) relevant_ |= code[pc].sources;
    }
  }
  depends_on_time_ = (relevant_ & timed) != 0;
  found_relevant_ = true;
}

void SpinWatch::prove(const Code& code) {
  proven_ = true;
  watching_ = false;
  where_ = lines_of(code, pcs_);
  places_.clear();
  for (const Read& r : reads_)
    places_.push_back(code.place(r.pc));
}

std::string SpinWatch::why(const GlobalMemory& gm) const {
  if (reads_.empty()) return "; nothing can end it";
  std::string out = "; it reads ";
  for (usize i = 0; i < reads_.size(); ++i)
    out += fmt::format("{}{} ({})", i == 0 ? "" : ", ", bytes_of(reads_[i].access, reads_[i].highest, gm), places_[i]);
  return out + ": no task, copy or core that runs can change it";
}

}  // namespace vinci::isa
