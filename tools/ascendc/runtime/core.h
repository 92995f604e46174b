// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <exception>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "isa/machine/native_core.h"
#include "tools/ascendc/include/vinci/ascendc.h"
#include "tools/ascendc/runtime/auto_sync_log.h"

namespace vinci::ascendc {

// How a kernel reaches memory with its scalar unit. Synchronisation is inserted for tensors, not for pointers.
enum class Through : u8 { tensor, pointer };

// A core while a kernel runs on it: the machine behind it, and the scalar cycles that are still to be issued.
class Core {
 public:
  Core(const isa::CoreSpec& spec, isa::GlobalMemory& gm, u32 id) : kind_(spec.kind), native_(spec, gm, id) {}

  // From the next block on, synchronisation is inserted (docs/auto-sync.md). `log` gets it; null: none.
  void synchronise_automatically(const isa::CoreSpec& spec, AutoSyncLog* log) {
    native_.synchronise_automatically(spec);
    auto_sync_log_ = log;
  }
  // `give_way` is called while the core waits for another one; it returns when it may look again.
  void start(const isa::Launch& launch, isa::CrossCoreFlags* flags, isa::TaskCore self, const std::string& source,
             const CoreInfo& info, void (*give_way)());
  void issue(const isa::Inst& inst, Place place);
  void charge(u64 cycles) { owed_ += cycles; }
  // Issues what scalar code is taken to cost since the latest time, as nop.
  void pay(Place place);
  u64 load(Memory memory, u64 address, unsigned bytes, Place place, Through through);
  u64 peek(isa::BufId memory, u64 address, unsigned bytes);
  void store(Memory memory, u64 address, unsigned bytes, u64 value, Place place, Through through);
  // Gives way until the i32 at the address of global memory is at least `value`. Returns the position of the next
  // instruction in the section.
  u32 await(u64 address, i32 value, Place place);
  void let_others_run(bool stirs, Place place);
  // Whether it gave way as one that can go on by itself, since it was asked last.
  bool stirred() { return std::exchange(stirred_, false); }
  // The same of one that only reads values of several addresses again: it may wait for one of them.
  bool rereads() { return std::exchange(rereads_several_, false); }
  // Counts what only a core that moves on does; see watchdog::note_progress().
  u64 progress() const { return progress_; }
  // Goes back to that position while X0, which the scalar unit has loaded last, is below `value`.
  void repeat(u32 from, i32 value, Place place);
  void end();
  // A fault ends the kernel: the core does nothing more, and its end throws it again if the kernel has caught it.
  void stop(std::exception_ptr fault) {
    if (stopped_ == nullptr) stopped_ = std::move(fault);
  }
  bool stopped() const { return stopped_ != nullptr; }

  // "AIV of block 3", for messages.
  std::string name() const;
  // What it waits for when it has given way, for messages.
  std::string waits_for() const;

  isa::NativeCore& native() { return native_; }
  isa::CoreKind kind() const { return kind_; }
  // The next load is one that a loop of the program waits for.
  void awaits() { awaits_ = true; }
  // The loop has ended: says so behind that load, for the checker of a recording.
  void note_wait(Place place);
  // Whether what it stored in some block is not in the recording.
  bool left_out_stores() const { return left_out_; }
  CoreInfo info;
  u64 elements = kNoCount;  // of count_elements()

 private:
  // Runs of scalar accesses beyond this length are executed, but only their cycles are recorded.
  static constexpr u32 kRecordedAccesses = 32;
  // So many loads from global memory in a row that find what was there before are a loop that may wait for another
  // core.
  static constexpr u32 kPolls = 64;
  // Of so many addresses it is known what was there.
  static constexpr usize kKnown = 4096;

  // Ranges of UB that are told apart of accesses that are not recorded one by one.
  static constexpr usize kTouched = 64;
  struct Touched {
    u64 begin = 0, end = 0;
    bool write = false;
    Place place{nullptr, 0};
  };

  isa::Machine::State note(const isa::Inst& inst, Place place);
  void touch(u64 address, unsigned bytes, bool write, Place place);
  void move_on();
  // Gives way while it waits for what another core writes.
  void polls();
  // Before a load from global memory: gives way where those before it may wait for another core.
  void poll(u64 address, Place place);
  // After it.
  void learn(u64 address, u64 value);
  // At an instruction after which native code may read that address through a pointer, unseen.
  void look(u64 address, Place place);
  // `kept`: an instruction in any case, however many accesses were before it.
  bool access(Memory memory, u64 address, unsigned bytes, bool write, u64 value, Place place, Through through,
              bool kept = false);
  // A load that the program waits for has found `value`. Whether it had found the same before.
  bool waited(Memory memory, u64 address, u64 value);
  u16 file_number(Place place);
  void log_inserted(Place place) {
    if (auto_sync_log_ != nullptr && !native_.inserted().empty()) auto_sync_log_->add(place, native_.inserted());
  }

  isa::CoreKind kind_;
  isa::NativeCore native_;
  const char* file_ = nullptr;  // of the latest instruction, and its number
  u16 file_number_ = 0;
  AutoSyncLog* auto_sync_log_ = nullptr;
  void (*give_way_)() = nullptr;
  u64 owed_ = 0;
  std::vector<Touched> touched_;
  u32 accesses_ = 0;  // since the last instruction for a pipe
  u64 polled_ = 0;    // the address of the latest load from global memory
  u32 polls_ = 0;     // loads in a row of which all but the first found what was there before
  u64 progress_ = 0;
  bool awaits_ = false;                            // the next load is one that the program waits for
  std::map<std::pair<Memory, u64>, u64> awaited_;  // what such loads have found last, by address
  bool found_again_ = false;                       // the latest has found what it had found before
  u32 waits_ = 0;                       // loads of UB in a row that the program waits for and that found the same
  std::unordered_map<u64, u64> known_;  // what loads from global memory have found since the core moved on, by address
  std::optional<Place> loop_;           // the latest access since the last charge that is not in the recording
  std::exception_ptr stopped_;
  bool polling_ = false, left_out_ = false, stirred_ = false, looks_ = false, rereads_several_ = false;
  Place poll_{nullptr, 0};
};

// The core that the present thread is, or null.
Core* present();
void set_present(Core* core);

// A load or store through a pointer; faults have the place.
u64 pointer_load(Memory memory, u64 address, unsigned bytes, Place place);
void pointer_store(Memory memory, u64 address, unsigned bytes, u64 value, Place place);

// What one piece of the API's own scalar work is taken to cost, in cycles.
u64 cycles_of(Work what);

}  // namespace vinci::ascendc
