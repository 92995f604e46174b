// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/check/checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/check/core_checker.h"

namespace vinci::isa::check {
namespace {

constexpr u64 kTaskSite = u64{1} << 63;  // in the keys of findings: a task, not an instruction

std::string line_of(const Site& s) {
  return s.line != 0 ? fmt::format("line {}", s.line) : fmt::format("instruction {}", s.index);
}

// "PIPE_V Read by vadd.f16 (k.s:12)"; of another block or task, that too.
std::string access_text(const Site& s, bool with_block, bool with_task) {
  const std::string_view what = s.write ? "Write" : "Read";
  if (s.is_task()) return fmt::format("{} by task '{}'", what, s.task);
  std::string where;
  if (with_task) where += fmt::format("task '{}' ", s.task);
  if (with_block) where += fmt::format("block {} ", *s.block);
  const std::string mnemonic = s.text.substr(0, s.text.find(' '));
  return fmt::format("{}PIPE_{} {} by {} ({})", where, name(s.pipe), what, mnemonic, s.place);
}

// A text of FaultText with the two sides of a finding in it.
std::string filled(std::string_view text, const Site& at, const Site& other) {
  return fmt::format(fmt::runtime(text), fmt::arg("at_pipe", name(at.pipe)), fmt::arg("at_line", line_of(at)),
                     fmt::arg("at_task", at.task), fmt::arg("at_core", at.core),
                     fmt::arg("other_pipe", name(other.pipe)), fmt::arg("other_line", line_of(other)),
                     fmt::arg("other_task", other.task), fmt::arg("other_core", other.core));
}

}  // namespace

Checker::Checker(const GlobalMemory& gm) : gm_(gm) {}
Checker::~Checker() = default;

CoreChecker& Checker::add_core(const CoreSpec& spec, std::string name, bool with_data) {
  same_writes_.watch(with_data);
  return *cores_.emplace_back(std::make_unique<CoreChecker>(*this, spec, std::move(name), with_data));
}

void Checker::finish() {
  for (const auto& core : cores_)
    core->finish();
  memory_waits_.finish();
  same_writes_.finish();
  findings_.set_same_writes(same_writes_.count());
  report_cross_waits();
  report_unpaired_cross_sets();
}

// A core that waits for another one that is stuck itself is part of a circle where that one, too, waits for a core;
// else it only follows from what was reported there.
void Checker::report_cross_waits() {
  for (const auto& core : cores_) {
    const auto& wait = core->cross_wait();
    if (!wait) continue;
    const CoreChecker* later = nullptr;
    for (const auto& other : cores_) {
      if (other != core && other->task() == core->task() && other->would_set(wait->flag)) later = other.get();
    }
    if (later != nullptr && !later->cross_wait()) continue;
    Finding f;
    if (later != nullptr) {
      f.id = FaultId::circular_wait;
      f.message = fmt::format(
          "circular wait, the task cannot go on (on a device: aicore timeout, 507014): {} waits for flag {}, which {} "
          "would set behind its own wait_flag_dev",
          core->core_name(), wait->flag, later->core_name());
      f.suggestion = text(f.id).suggestion;
    } else {
      f.id = FaultId::wait_without_set;
      f.message = fmt::format(
          "wait_flag_dev without ffts_cross_core_sync: flag {} of {} is not set by all its partners, and none is left "
          "that would, the task cannot go on (on a device: aicore timeout, 507014)",
          wait->flag, core->core_name());
      f.suggestion =
          fmt::format("ffts_cross_core_sync of flag {} on every partner, or no wait_flag_dev here", wait->flag);
    }
    report(std::move(f), wait->record, &wait->inst);
  }
}

void Checker::report_unpaired_cross_sets() {
  cross_rounds_.each_unpaired([&](const Record& set, u32 flag, const CrossRounds::Core& core) {
    Finding f{.id = FaultId::unpaired_cross_core_set};
    f.message = fmt::format(
        "Unpaired ffts_cross_core_sync detected: flag {} of the {} core of block {} is still set when the task ends",
        flag, isa::name(core.kind), core.block);
    f.suggestion = fmt::format("wait_flag_dev {} on every core that the set releases", flag);
    report(std::move(f), set, nullptr);
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// Tasks

u32 Checker::add_task(u32 number, std::string name) {
  tasks_.push_back({.name = std::move(name), .number = number});
  return static_cast<u32>(tasks_.size() - 1);
}

void Checker::task_access(u32 task, u64 address, u64 bytes, bool write) {
  static const VectorClock kNothing;
  actors_.push_back({.task = task});
  const Record record{.actor = static_cast<u32>(actors_.size() - 1)};
  const Access access{.buffer = BufId::GM, .write = write, .address = address, .len = 1, .count = {1, 1, 1}};
  const Present now{.record = record, .clock = kNothing, .inst = nullptr, .number = records_.add(record)};
  const auto met = [&](u32 other, u64 b, u64 e, bool was_write) {
    const Record& r = records_[other];
    if (!ordered(r, was_write, now, access)) conflict(r, was_write, now, access, b, e);
  };
  if (write) {
    shadow_.write(record, now.number, address, address + bytes, met);
  } else {
    shadow_.undefined(address, address + bytes, [&](u64 b, u64 e) { undefined(now, access, b, e); });
    shadow_.read(record, now.number, address, address + bytes, met);
  }
}

void Checker::task_frees(u32 task, u64 address, u64 bytes) {
  tasks_[task].frees = true;
  freed_.push_back({address, address + bytes, task});
  task_access(task, address, bytes, true);
}

bool Checker::freed_before(u32 task, u64 address) const {
  return std::ranges::any_of(
      freed_, [&](const Freed& f) { return address >= f.begin && address < f.end && happens_before(f.task, task); });
}

void Checker::task_fault(u32 task, FaultId id, const std::string& message) {
  actors_.push_back({.task = task});
  Finding f{.id = id, .buffer = BufId::GM, .message = message};
  report(std::move(f), {.actor = static_cast<u32>(actors_.size() - 1)}, nullptr);
}

// ---------------------------------------------------------------------------------------------------------------------
// Accesses

u32 Checker::new_actor(u32 task, u32 block, const Code& code, const std::string& core) {
  const auto [it, fresh] = code_index_.try_emplace(&code, static_cast<u32>(codes_.size()));
  if (fresh) codes_.push_back(&code);
  actors_.push_back({.task = task, .block = block, .code = it->second, .core = &core});
  return static_cast<u32>(actors_.size() - 1);
}

bool Checker::ordered(const Record& e, bool earlier_writes, const Present& now, const Access& access) const {
  const Record& r = now.record;
  if (access.buffer == BufId::GM && e.actor != r.actor && ((e.polls && !earlier_writes) || (r.polls && !access.write)))
    return true;
  if (e.atomic && r.atomic && earlier_writes && access.write) return true;
  if (e.actor == r.actor) {
    if (e.position <= now.clock.own[index(e.pipe)]) return true;
    if (e.pipe != r.pipe) return false;
    // A pipe starts its instructions in order, so one that was to read has read.
    return !earlier_writes || (e.forwards && r.forwards && e.opcode == r.opcode);
  }
  const Actor& a = actors_[e.actor];
  const Actor& b = actors_[r.actor];
  if (a.task == b.task) {  // what a task that is no kernel does, it does in order
    return a.block == kNoBlock || (now.clock.of(e.actor, e.pipe) >= e.position && e.position > 0);
  }
  return happens_before(a.task, b.task);
}

void Checker::touch_gm(Present now, const Footprint& footprint) {
  now.number = records_.add(now.record);
  memory_waits_.note(now, footprint);
  for (const Access& a : footprint) {
    if (a.buffer != BufId::GM || a.write) continue;
    const GmShadow::Met met = [&](u32 other, u64 b, u64 e, bool was_write) {
      if (!ordered(records_[other], was_write, now, a)) conflict(records_[other], was_write, now, a, b, e);
    };
    const std::function<void(u64, u64)> missing = [&](u64 b, u64 e) { undefined(now, a, b, e); };
    each_piece(a, [&](u64 begin, u64 end) {
      shadow_.undefined(begin, end, missing);
      shadow_.read(now.record, now.number, begin, end, met);
    });
  }
  for (const Access& a : footprint) {
    if (a.buffer != BufId::GM || !a.write) continue;
    const GmShadow::Met met = [&](u32 other, u64 b, u64 e, bool was_write) {
      if (other != now.number && !ordered(records_[other], was_write, now, a)) {
        conflict(records_[other], was_write, now, a, b, e);
      }
    };
    const std::function<void(u64, u64)> missing = [&](u64 b, u64 e) { undefined(now, a, b, e); };
    each_piece(a, [&](u64 begin, u64 end) {
      if (a.atomic) shadow_.undefined(begin, end, missing);  // it reads what it adds to
      shadow_.write(now.record, now.number, begin, end, met);
    });
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Findings

Site Checker::site(const Record& r, const Issued* inst, bool write) const {
  const Actor& a = actors_[r.actor];
  const Task& t = tasks_[a.task];
  Site s{.task = t.name, .task_index = t.number, .write = write};
  if (a.block == kNoBlock) {
    s.place = place_of_ ? place_of_(t.number) : "";
    s.text = t.name;
    return s;
  }
  const Code& code = *codes_[a.code];
  const CodeInst& c = code[std::min(r.pc, code.size() - 1)];  // a program may run past its end
  s.block = a.block;
  s.core = *a.core;
  s.pipe = r.pipe;
  s.index = r.pc;
  s.line = c.line;
  s.place = code.place(r.pc);
  s.text = inst != nullptr        ? to_string(*inst)
           : c.row->types.empty() ? std::string(c.row->name)
                                  : fmt::format("{}.{}", c.row->name, c.row->types[c.type].name);
  return s;
}

u64 Checker::site_key(const Record& r) const {
  const Actor& a = actors_[r.actor];
  if (a.block == kNoBlock) return kTaskSite | tasks_[a.task].number;
  return u64{a.code} << 32 | r.pc;
}

Findings::Moment Checker::moment(const Record& r) const {
  const Actor& a = actors_[r.actor];
  return {tasks_[a.task].number, a.block, r.issued};
}

void Checker::name_allocation(Finding& f) const {
  if (f.buffer != BufId::GM || f.end <= f.begin) return;
  const auto* a = gm_.find(f.begin, 1);
  if (a == nullptr) a = gm_.find_freed(f.begin, 1);
  if (a != nullptr) f.allocation = a->name;
}

void Checker::conflict(const Record& other, bool other_writes, const Present& now, const Access& access, u64 begin,
                       u64 end) {
  if (access.buffer == BufId::GM) return memory_waits_.conflict(other, other_writes, now, access, begin, end);
  report_conflict(other, other_writes, now, access, begin, end);
}

void Checker::report_conflict(const Record& other, bool other_writes, const Present& now, const Access& access,
                              u64 begin, u64 end) {
  const Actor& a = actors_[other.actor];
  const Actor& b = actors_[now.record.actor];
  // The earlier one of the program, of the blocks or of the tasks comes first, whichever came first in this run.
  const bool swap = moment(now.record) < moment(other);
  const Record& first = swap ? now.record : other;
  const Record& second = swap ? other : now.record;
  const bool first_writes = swap ? access.write : other_writes;
  const bool second_writes = swap ? other_writes : access.write;
  FaultId id = FaultId::block_overlap;
  std::string_view kind = first_writes ? (second_writes ? "WAW" : "RAW") : "WAR";
  if (a.task != b.task) {
    id = tasks_[a.task].frees || tasks_[b.task].frees ? FaultId::unordered_free : FaultId::task_overlap;
  } else if (other.actor != now.record.actor) {
    if (a.block == b.block) id = FaultId::core_overlap;
  } else {
    id = other.pipe == now.record.pipe ? FaultId::missing_pipe_barrier
         : !first_writes               ? FaultId::war_hazard
         : second_writes               ? FaultId::waw_hazard
                                       : FaultId::raw_hazard;
  }
  const Findings::Key key{.id = id, .at = site_key(second), .other = site_key(first), .buffer = access.buffer};
  findings_.add(key, moment(second), [&] {
    Finding f{.id = id, .buffer = access.buffer, .begin = begin, .end = end};
    f.other = site(first, swap ? now.inst : nullptr, first_writes);
    f.at = site(second, swap ? nullptr : now.inst, second_writes);
    const bool blocks = id == FaultId::block_overlap || id == FaultId::core_overlap;
    const bool tasks = a.task != b.task;
    f.message = fmt::format("Potential {} hazard detected at {}: {}, {}", kind, name(access.buffer),
                            access_text(*f.other, blocks, tasks), access_text(f.at, blocks, tasks));
    f.message += filled(text(id).conflict, f.at, *f.other);
    f.suggestion = filled(text(id).suggestion, f.at, *f.other);
    name_allocation(f);
    return f;
  });
}

void Checker::undefined(const Present& now, const Access& access, u64 begin, u64 end) {
  const FaultId id = access.buffer == BufId::GM ? FaultId::uninitialised_gm_read : FaultId::uninitialised_read;
  const Findings::Key key{.id = id, .at = site_key(now.record), .buffer = access.buffer};
  findings_.add(key, moment(now.record), [&] {
    Finding f{.id = id, .buffer = access.buffer, .begin = begin, .end = end};
    f.at = site(now.record, now.inst, false);
    name_allocation(f);
    f.message =
        fmt::format("Uninitialized read detected at {}: {}; {}", name(access.buffer), access_text(f.at, false, false),
                    access.buffer == BufId::GM ? fmt::format("'{}' was never written there", f.allocation)
                                               : std::string("this block has written nothing there"));
    f.suggestion = text(id).suggestion;
    return f;
  });
}

void Checker::report_unordered(FaultId id, u32 one, u32 other, std::string message) {
  if (tasks_[one].number < tasks_[other].number) std::swap(one, other);
  const auto record_of = [&](u32 task) {
    actors_.push_back({.task = task});
    return Record{.actor = static_cast<u32>(actors_.size() - 1)};
  };
  const Record at = record_of(one), with = record_of(other);
  Finding f{.id = id, .message = std::move(message)};
  f.suggestion = filled(text(id).suggestion, site(at, nullptr, false), site(with, nullptr, false));
  report(std::move(f), at, nullptr, &with);
}

void Checker::report(Finding f, const Record& at, const Issued* inst, const Record* other, bool other_writes) {
  const Findings::Key key{.id = f.id,
                          .at = site_key(at),
                          .other = other != nullptr ? site_key(*other) : 0,
                          .buffer = f.buffer.value_or(BufId::GM)};
  findings_.add(key, moment(at), [&] {
    f.at = site(at, inst, f.at.write);
    if (other != nullptr) f.other = site(*other, nullptr, other_writes);
    name_allocation(f);
    return f;
  });
}

}  // namespace vinci::isa::check
