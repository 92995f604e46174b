// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/check/memory_waits.h"

#include <algorithm>

#include "isa/check/core_checker.h"

namespace vinci::isa::check {

// The counts of the writer's own block become those of another block.
VectorClock MemoryWaits::full(const Release& release) const {
  VectorClock out;
  out.others = release.clock.others;
  out.join_others({{release.actor, release.clock.own}});
  return out;
}

void MemoryWaits::waited(CoreChecker& core, u32 issued, const Pieces& read, WaitLoops::Kind kind) {
  const u32 actor = core.actor();
  VectorClock clock, before;
  bool any = false;
  for (const auto& [begin, end] : read) {
    Passed& passed = passed_[{actor, begin}];
    before.join(passed.clock);
    u32 newest = 0;
    shadow_.latest_writes(begin, end, [&](u32 record, u64, u64, bool) {
      const auto it = releases_.find(record);
      if (it == releases_.end() || it->second.actor == actor) return;
      if (task_of_(it->second.actor) != task_of_(actor)) return;
      if (kind == WaitLoops::Kind::mark && record <= passed.record) return;
      clock.join(full(it->second));
      newest = std::max(newest, record);
    });
    if (newest == 0) continue;
    any = true;
    passed = {newest, clock};
  }
  if (any) return core.acquire(clock);
  if (kind == WaitLoops::Kind::mark)
    open_waits_.push_back({&core, actor, issued, read, std::move(before), {}});
  else if (before.others != nullptr)
    core.acquire(before);
}

MemoryWaits::Pieces MemoryWaits::take_copy(const Record& copy) {
  const auto it = copies_.find(key_of(copy));
  if (it == copies_.end()) return {};
  Pieces read = std::move(it->second.read);
  copies_.erase(it);
  polls_.insert(key_of(copy));
  return read;
}

MemoryWaits::Pending MemoryWaits::pending(const Record& other, bool other_writes, const Present& now,
                                          const Access& access, u64 begin, u64 end) {
  return {.other = other,
          .now = now.record,
          .other_writes = other_writes,
          .inst = now.inst != nullptr ? std::optional(*now.inst) : std::nullopt,
          .access = access,
          .begin = begin,
          .end = end};
}

void MemoryWaits::take_up(const Pending& p) {
  static const VectorClock kNothing;
  hold_or_report(p.other, p.other_writes, {.record = p.now, .clock = kNothing, .inst = p.inst ? &*p.inst : nullptr},
                 p.access, p.begin, p.end);
}

void MemoryWaits::settle_copies(u32 actor) {
  const auto of = copies_of_.find(actor);
  if (of == copies_of_.end()) return;
  const std::vector<u64> keys = std::move(of->second);
  copies_of_.erase(of);
  for (const u64 key : keys) {
    const auto it = copies_.find(key);
    if (it == copies_.end()) continue;
    const std::vector<Pending> conflicts = std::move(it->second.conflicts);
    copies_.erase(it);
    for (const Pending& p : conflicts)
      take_up(p);
  }
}

void MemoryWaits::close_wait(const OpenWait& wait, const VectorClock& clock) {
  closed_waits_.push_back({wait.actor, wait.issued, clock});
  for (const Pending& p : wait.conflicts)
    take_up(p);
}

void MemoryWaits::close_waits(const Release& release, const Pieces& written) {
  for (usize i = 0; i < open_waits_.size();) {
    const OpenWait& w = open_waits_[i];
    const bool meets = std::ranges::any_of(w.read, [&](const auto& r) {
      return std::ranges::any_of(written, [&](const auto& x) { return x.first < r.second && r.first < x.second; });
    });
    if (!meets || w.actor == release.actor || task_of_(w.actor) != task_of_(release.actor)) {
      ++i;
      continue;
    }
    OpenWait closed = std::move(open_waits_[i]);
    open_waits_.erase(open_waits_.begin() + static_cast<std::ptrdiff_t>(i));
    VectorClock clock = full(release);
    for (const auto& piece : closed.read)
      passed_[{closed.actor, piece.first}] = {records_.latest(), clock};
    if (closed.core->actor() == closed.actor) closed.core->acquire(clock);
    close_wait(closed, clock);
  }
}

void MemoryWaits::note_copy(const Present& now, const Footprint& footprint) {
  if (now.record.pipe != PipeId::MTE2) return;
  u64 bytes = 0;
  for (const Access& a : footprint) {
    if (a.buffer == BufId::GM && !a.write) each_piece(a, [&](u64 begin, u64 end) { bytes += end - begin; });
  }
  if (bytes == 0 || bytes > kWordBytes) return;
  Copy& copy = copies_[key_of(now.record)];
  for (const Access& a : footprint) {
    if (a.buffer == BufId::GM && !a.write)
      each_piece(a, [&](u64 begin, u64 end) { copy.read.emplace_back(begin, end); });
  }
  copies_of_[now.record.actor].push_back(key_of(now.record));
}

void MemoryWaits::note_release(const Present& now, const Footprint& footprint) {
  u64 bytes = 0;
  for (const Access& a : footprint) {
    if (a.buffer == BufId::GM && a.write) each_piece(a, [&](u64 begin, u64 end) { bytes += end - begin; });
  }
  if (bytes == 0 || bytes > kWordBytes) return;
  Release& out = releases_[now.number];
  out.actor = now.record.actor;
  out.clock = now.clock;
  // The write itself, where nothing before it in its pipe may still be at work.
  u32& own = out.clock.own[index(now.record.pipe)];
  if (own >= now.before) own = now.record.position;
  Pieces written;
  // A word that cores add to: who sees the sum comes after all of them.
  for (const Access& a : footprint) {
    if (a.buffer != BufId::GM || !a.write) continue;
    each_piece(a, [&](u64 begin, u64 end) {
      written.emplace_back(begin, end);
      if (!now.record.atomic) return;
      shadow_.latest_writes(begin, end, [&](u32 record, u64, u64, bool) {
        const auto it = releases_.find(record);
        if (it == releases_.end() || it->second.actor == out.actor || !records_[record].atomic) return;
        if (task_of_(it->second.actor) == task_of_(out.actor)) out.clock.join_others(*full(it->second).others);
      });
    });
  }
  const Release released = out;
  close_waits(released, written);
}

void MemoryWaits::note(const Present& now, const Footprint& footprint) {
  note_copy(now, footprint);
  note_release(now, footprint);
}

void MemoryWaits::conflict(const Record& other, bool other_writes, const Present& now, const Access& access, u64 begin,
                           u64 end) {
  if (other.actor != now.record.actor) {
    for (const Record* r : {&other, &now.record}) {
      if (r->pipe != PipeId::MTE2) continue;
      if (polls_.contains(key_of(*r))) return;
      const auto it = copies_.find(key_of(*r));
      if (it == copies_.end()) continue;
      it->second.conflicts.push_back(pending(other, other_writes, now, access, begin, end));
      return;
    }
  }
  hold_or_report(other, other_writes, now, access, begin, end);
}

void MemoryWaits::hold_or_report(const Record& other, bool other_writes, const Present& now, const Access& access,
                                 u64 begin, u64 end) {
  if (other.actor != now.record.actor) {
    for (const ClosedWait& w : closed_waits_) {
      for (const auto& [mine, its] : {std::pair{&other, &now.record}, {&now.record, &other}}) {
        if (mine->actor == w.actor && mine->issued > w.issued && its->position != 0 &&
            w.clock.of(its->actor, its->pipe) >= its->position)
          return;
      }
    }
    for (OpenWait& w : open_waits_) {
      const auto behind = [&](const Record& r) { return r.actor == w.actor && r.issued > w.issued; };
      if (!behind(other) && !behind(now.record)) continue;
      w.conflicts.push_back(pending(other, other_writes, now, access, begin, end));
      return;
    }
  }
  report_(other, other_writes, now, access, begin, end);
}

void MemoryWaits::finish() {
  while (!copies_of_.empty())
    settle_copies(copies_of_.begin()->first);
  // Waits whose writes have not come: they may have come before, where a core is ahead of the one that waits.
  while (!open_waits_.empty()) {
    OpenWait wait = std::move(open_waits_.back());
    open_waits_.pop_back();
    const VectorClock before = wait.before;
    close_wait(wait, before);
  }
}

}  // namespace vinci::isa::check
