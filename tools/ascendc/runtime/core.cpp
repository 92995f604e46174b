// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "isa/base/enums.h"
#include "isa/table/table.h"
#include "tools/ascendc/include/vinci/kernel_code.h"
#include "tools/ascendc/runtime/device.h"

namespace vinci::ascendc {
namespace {

thread_local Core* t_core = nullptr;

const config::ApiCosts& api_costs() { return device().chip().core.api; }

isa::Inst immediate(const isa::Row& row, std::initializer_list<u64> operands, u8 type = 0) {
  isa::Inst out{.row = &row, .type = type};
  usize i = 0;
  for (const u64 value : operands) {
    out.operands[i] = {row.fields[i].kind == isa::OperandKind::reg_dst, value};
    ++i;
  }
  return out;
}

const isa::Row& row(std::string_view name) {
  const isa::Row* found = isa::row_of(name);
  if (found == nullptr) fail(Fault::Internal, "no instruction {}", name);
  return *found;
}

}  // namespace

Core* present() { return t_core; }
void set_present(Core* core) { t_core = core; }

u64 cycles_of(Work what) {
  const config::ApiCosts& api = api_costs();
  switch (what) {
    case Work::call: return api.call;
    case Work::flag: return api.flag;
    case Work::queue: return api.queue;
    case Work::loop: return api.loop;
  }
  return 0;
}

void Core::start(const isa::Launch& launch, isa::CrossCoreFlags* flags, isa::TaskCore self, const std::string& source,
                 const CoreInfo& what, void (*give_way)()) {
  info = what;
  file_ = nullptr;
  give_way_ = give_way;
  owed_ = 0;
  touched_.clear();
  accesses_ = 0;
  polls_ = 0;
  stopped_ = nullptr;
  polling_ = false;
  known_.clear();
  awaits_ = false;
  awaited_.clear();
  waits_ = 0;
  found_again_ = false;
  native_.start(launch, flags, self, source);
}

u16 Core::file_number(Place place) {
  if (place.file == nullptr) return 0;
  if (place.file != file_) {
    file_ = place.file;
    file_number_ = native_.file(file_);
  }
  return file_number_;
}

isa::Machine::State Core::note(const isa::Inst& inst, Place place) {
  const u16 file = file_number(place);
  const auto state = native_.issue(inst, place.file == nullptr ? 0 : static_cast<u32>(place.line), file);
  log_inserted(place);
  return state;
}

namespace {
// Of the kernel's own code, in cycles, since the latest call on this thread.
u64 take_counted() {
  u64 ops = 0, reals = 0, accesses = 0;
  std::swap(ops, vinci_kernel_operations[0]);
  std::swap(reals, vinci_kernel_operations[1]);
  std::swap(accesses, vinci_kernel_operations[2]);
  if ((ops | reals | accesses) == 0 || !device().settings().scalar_code) return 0;
  const config::CodeCosts& costs = device().chip().core.code;
  const double cycles = static_cast<double>(ops) * costs.op + static_cast<double>(reals) * costs.real +
                        static_cast<double>(accesses) * costs.access;
  return static_cast<u64>(std::llround(cycles));
}
}  // namespace

void Core::touch(u64 address, unsigned bytes, bool write, Place place) {
  const u64 end = address + bytes;
  // What the run has stored itself is no load of what was there before.
  if (!write &&
      std::ranges::any_of(touched_, [&](const Touched& t) { return t.write && t.begin <= address && end <= t.end; })) {
    return;
  }
  // Loops over a tensor go up, and often read and write in turn.
  for (usize i = touched_.size(); i-- > 0 && i + 4 >= touched_.size();) {
    Touched& t = touched_[i];
    if (t.write != write || address > t.end || end < t.begin) continue;
    t.begin = std::min(t.begin, address);
    t.end = std::max(t.end, end);
    return;
  }
  if (touched_.size() < kTouched) return touched_.push_back({address, end, write, place});
  // Too scattered to tell apart: what was stored counts as one range, what was loaded is left out.
  if (!write) return;
  for (Touched& t : touched_) {
    if (!t.write) continue;
    t.begin = std::min(t.begin, address);
    t.end = std::max(t.end, end);
    return;
  }
}

void Core::pay(Place place) {
  static const isa::Row& touched = row("touch_ubuf");
  // Loads come first: of what they have found, the run had stored nothing.
  std::stable_partition(touched_.begin(), touched_.end(), [](const Touched& t) { return !t.write; });
  for (const Touched& t : touched_) {
    note(immediate(touched, {t.begin, t.end - t.begin, t.write}), t.place);
    if (owed_ > 0) --owed_;  // its own cycle
  }
  touched_.clear();
  static const isa::Row& nop = row("nop");
  // A loop of accesses that were left out takes its time at its own line.
  if (const auto loop = std::exchange(loop_, std::nullopt)) place = *loop;
  constexpr u64 kMost = ~u32{0};  // of one nop
  u64 counted = take_counted();
  u64 cycles = std::exchange(owed_, 0) + counted;
  while (cycles != 0) {
    const u64 now = std::min(cycles, kMost), of_them = std::min(counted, now);
    note(immediate(nop, {now, of_them}), place);
    cycles -= now;
    counted -= of_them;
  }
}

void Core::issue(const isa::Inst& inst, Place place) {
  if (!inst.row->remark) pay(place);  // a remark takes no time
  if (inst.row->role != isa::Role::scalar) accesses_ = 0;
  if (inst.row->role != isa::Role::scalar && inst.row->role != isa::Role::pipe_barrier) move_on();
  static const isa::Row& dcci = row("dcci");
  if (inst.row == &dcci) look(inst.operands[0].value, place);
  auto state = note(inst, place);
  if (state != isa::Machine::State::waits) return;
  while (state == isa::Machine::State::waits) {
    give_way_();
    state = native_.resume();
  }
  move_on();
}

bool Core::access(Memory memory, u64 address, unsigned bytes, bool write, u64 value, Place place, Through through,
                  bool kept) {
  static constexpr auto kMemoryNames = enum_table<Memory, std::string_view>({{Memory::gm, "GM"},
                                                                             {Memory::l1, "L1"},
                                                                             {Memory::l0a, "L0A"},
                                                                             {Memory::l0b, "L0B"},
                                                                             {Memory::l0c, "L0C"},
                                                                             {Memory::ub, "UB"},
                                                                             {Memory::bt, "BT"},
                                                                             {Memory::fb, "FB"},
                                                                             {Memory::none, "no memory"}});
  if (memory != Memory::gm && memory != Memory::ub) {
    fail(Fault::Program, "the scalar unit reaches UB and global memory, not {}",
         kMemoryNames[static_cast<usize>(memory)]);
  }
  if (write) move_on();
  const bool ub = memory == Memory::ub;
  if (through == Through::tensor) {
    const isa::Access what{
        .buffer = ub ? isa::BufId::UB : isa::BufId::GM, .write = write, .address = address, .len = bytes};
    native_.order(what, static_cast<u32>(place.line), file_number(place));
    log_inserted(place);
  }
  // What other cores can see is always recorded.
  const bool seen = kept || (write && memory == Memory::gm);
  if (accesses_ >= kRecordedAccesses && address % bytes == 0 && !seen) {
    left_out_ = left_out_ || write;
    if (ub) touch(address, bytes, write, place);
    charge(api_costs().access);
    loop_ = place;
    return false;
  }
  ++accesses_;
  static const isa::Row& load_ub = row("ld_ubuf");
  static const isa::Row& store_ub = row("st_ubuf");
  static const isa::Row& load_gm = row("ld_dev");
  static const isa::Row& store_gm = row("st_dev");
  const auto type = static_cast<u8>(bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0);
  issue(immediate(write ? (ub ? store_ub : store_gm) : (ub ? load_ub : load_gm), {write ? value : 0, address, 0}, type),
        place);
  return true;
}

void Core::move_on() {
  ++progress_;
  watchdog::note_progress();
  polls_ = 0;
  looks_ = false;
  if (!known_.empty()) known_.clear();
}

void Core::polls() {
  polling_ = true;
  give_way_();
  polling_ = false;
}

void Core::poll(u64 address, Place place) {
  polled_ = address;
  poll_ = place;
  if (polls_ < kPolls) return;
  rereads_several_ = known_.size() > 1 || looks_;
  if (rereads_several_) polls_ = 0;  // it may as well compute: others get a turn, not each time
  polls();
}

void Core::learn(u64 address, u64 value) {
  if (known_.size() == kKnown) known_.clear();
  const auto [it, fresh] = known_.try_emplace(address, value);
  if (!fresh && std::exchange(it->second, value) == value) {
    ++polls_;
    return;
  }
  polls_ = 1;
  ++progress_;
  watchdog::note_progress();
}

void Core::look(u64 address, Place place) {
  poll(address, place);
  looks_ = true;
  learn(address, 0);
}

std::string Core::name() const { return fmt::format("{} of block {}", isa::name(kind_), info.block_idx); }

std::string Core::waits_for() const {
  if (!polling_) return native_.machine().waits_for();
  if (polled_ == 0) {
    return fmt::format("{} waits for a message ({}:{})", name(), poll_.file, poll_.line);
  }
  return fmt::format("{} polls global memory at {:#x} ({}:{})", name(), polled_, poll_.file, poll_.line);
}

void Core::note_wait(Place place) {
  static const isa::Row& nop = row("nop");
  note(immediate(nop, {1, std::exchange(found_again_, false) ? 1u : 0u, 1}), place);
  if (owed_ > 0) --owed_;  // its own cycle
}

bool Core::waited(Memory memory, u64 address, u64 value) {
  const auto [it, fresh] = awaited_.try_emplace({memory, address}, value);
  return std::exchange(it->second, value) == value && !fresh;
}

u64 Core::load(Memory memory, u64 address, unsigned bytes, Place place, Through through) {
  const bool awaits = std::exchange(awaits_, false);
  if (memory == Memory::gm) poll(address, place);
  const bool there = memory == Memory::gm   ? native_.machine().mem().gm().find(address, bytes) != nullptr
                     : memory == Memory::ub ? address + bytes <= native_.machine().mem()[isa::BufId::UB].size()
                                            : false;
  if (awaits && there) {
    const u64 found = peek(memory == Memory::gm ? isa::BufId::GM : isa::BufId::UB, address, bytes);
    found_again_ = waited(memory, address, found);
    if (!found_again_) {
      waits_ = 0;
      access(memory, address, bytes, false, 0, place, through, true);
      if (memory == Memory::gm) learn(address, found);
      return found;
    }
    // What it reads came from global memory by a copy, so polls of it are not seen there.
    if (memory == Memory::ub && ++waits_ >= kPolls) {
      waits_ = 0;
      polled_ = 0;
      poll_ = place;
      polls();
    }
  }
  access(memory, address, bytes, false, 0, place, through);
  u64 value = 0;
  if (memory == Memory::gm) {
    native_.machine().mem().gm().read(address, std::as_writable_bytes(std::span(&value, 1)).first(bytes));
    learn(address, value);
  } else {
    std::memcpy(&value, native_.machine().mem()[isa::BufId::UB].bytes(address, bytes).data(), bytes);
  }
  return value;
}

u64 Core::peek(isa::BufId memory, u64 address, unsigned bytes) {
  u64 value = 0;
  if (memory == isa::BufId::GM) {
    native_.machine().mem().gm().read(address, std::as_writable_bytes(std::span(&value, 1)).first(bytes));
  } else {
    std::memcpy(&value, native_.machine().mem()[memory].bytes(address, bytes).data(), bytes);
  }
  return value;
}

void Core::store(Memory memory, u64 address, unsigned bytes, u64 value, Place place, Through through) {
  if (access(memory, address, bytes, true, value, place, through)) return;
  if (memory == Memory::gm) {
    native_.machine().mem().gm().write(address, std::as_bytes(std::span(&value, 1)).first(bytes));
  } else {
    std::memcpy(native_.machine().mem()[isa::BufId::UB].bytes(address, bytes).data(), &value, bytes);
  }
}

u32 Core::await(u64 address, i32 value, Place place) {
  pay(place);
  polled_ = address;
  poll_ = place;
  for (;; polls()) {
    i32 now = 0;
    native_.machine().mem().gm().read(address, std::as_writable_bytes(std::span(&now, 1)));
    if (now >= value) break;
  }
  move_on();
  return static_cast<u32>(native_.trace().positions());
}

void Core::let_others_run(bool stirs, Place place) {
  polled_ = 0;
  poll_ = place;
  stirred_ = stirs;
  polls();
  polls_ = 0;
}

void Core::repeat(u32 from, i32 value, Place place) {
  static const isa::Row& below = row("blt");
  isa::Inst inst = immediate(below, {0, static_cast<u64>(i64{value}), from});
  inst.operands[0].is_reg = true;
  note(inst, place);
}

void Core::end() {
  if (stopped_) std::rethrow_exception(stopped_);
  static const isa::Row& last = row("end");
  const Place nowhere{nullptr, 0};
  pay(nowhere);
  native_.issue(immediate(last, {}), 0);
}

}  // namespace vinci::ascendc
