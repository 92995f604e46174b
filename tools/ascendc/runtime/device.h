// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/chip_config.h"
#include "tools/ascendc/runtime/core.h"
#include "tools/ascendc/runtime/recorder.h"
#include "tools/ascendc/runtime/watchdog.h"

namespace vinci::ascendc {

// What the environment asks for; `vinci sim` sets it. docs/ascendc.md
struct Settings {
  enum class Mode : u8 { functional, timing, full };
  std::string chip;                    // VINCI_CHIP; of the architecture that the program was compiled for if not given
  Mode mode = Mode::timing;            // VINCI_MODE
  std::string output;                  // VINCI_OUTPUT, the folder of the profile
  std::string record;                  // VINCI_RECORD, a file that gets the task stream at the end
  bool record_data = true;             // VINCI_RECORD_DATA=0: without contents of buffers
  std::string options;                 // VINCI_RUN_OPTIONS, more options for `vinci run`
  std::vector<std::string> overrides;  // the values of --set among them
  bool auto_sync = false;              // VINCI_AUTO_SYNC=on or off; as compiled (--cce-auto-sync) if not given
  bool scalar_code = true;             // VINCI_SCALAR_CODE=on or off: kernels' own scalar code takes time
  bool whole_pages = false;            // VINCI_ALLOCATION=exact or pages: what aclrtMalloc gives
  std::string auto_sync_log;           // a file, as compiled (--cce-auto-sync-log); "": none
  bool quiet = true;                   // VINCI_VERBOSE=1: prints the summary at the end
  bool says_size = true;               // VINCI_VERBOSE=0: does not print how large the recording is
  WatchdogLimits watchdog;             // VINCI_NATIVE_WARNING, VINCI_NATIVE_TIMEOUT

  static Settings from_environment();
  // Whether anything can show the synchronisation that is inserted.
  bool inserts_sync() const {
    return auto_sync && (mode != Mode::functional || !record.empty() || !auto_sync_log.empty());
  }
  // The file that gets the task stream.
  std::string recording() const { return record.empty() ? output + "/stream.vts" : record; }
};

// The device that the process works with: bytes at once, and the recording.
class Device {
 public:
  Device();

  const Settings& settings() const { return settings_; }
  const config::ChipConfig& chip() const { return chip_; }
  isa::GlobalMemory& gm() { return gm_; }
  Recorder& recorder() { return recorder_; }
  const Recorder& recorder() const { return recorder_; }
  const AutoSyncLog& auto_sync_log() const { return auto_sync_log_; }

  u64 allocate(u64 bytes);
  bool free(u64 address);  // false if that is no allocation
  // What of it the host works on directly.
  void share(u64 address) { shared_[address] = sizes_.at(address); }
  const std::map<u64, u64>& shared() const { return shared_; }
  // Arrays of the program that a kernel of this stream reads are copied in front of it.
  void begin_launch(u32 stream) { launch_stream_ = stream; }
  // See the functions of these names in vinci/ascendc.h.
  u64 constants(u64 address, u64 bytes);
  void set_operator_workspace(void* workspace) { operator_workspace_ = workspace; }
  void* operator_workspace() const { return operator_workspace_; }
  void set_l2(u64 address, task::CacheHint hint) { recorder_.set_l2(address, hint); }
  u64 allocated() const { return allocated_; }
  // The stream that a null handle means.
  u32 default_stream();
  // Whether a run of the recording with data gives what the program got.
  bool recorded_all_stores() const;
  // A core, made when it is first needed; its memories keep what kernels left there.
  Core& core(isa::CoreKind kind, u32 id);

 private:
  Settings settings_;
  config::ChipConfig chip_;
  isa::GlobalMemory gm_{isa::GlobalMemory::Backing::mapped};
  Recorder recorder_;
  AutoSyncLog auto_sync_log_;
  u64 allocated_ = 0;
  void* operator_workspace_ = nullptr;
  struct Constants {
    u64 bytes = 0, device = 0;
  };
  std::map<std::pair<u32, u64>, Constants> constants_;  // by stream and address in the program
  u32 launch_stream_ = 0;
  std::map<u64, u64> sizes_, shared_;  // bytes of allocations, by address
  std::map<std::pair<isa::CoreKind, u32>, std::unique_ptr<Core>> cores_;
};

// The one device, made when it is first needed. It lives until the process ends, after all destructors of the user.
Device& device();

// Prints a fault as the tool does, and ends the process with its exit code.
[[noreturn]] void die(const Error& e);

// Of a program that does not come to its end: writes what was recorded, and says on stderr how far that is. `signal` is
// null where a fault ends it.
void save_recording(const char* signal);

// Simulates in time what was recorded and not yet simulated, when the process exits.
void finish();

// When a recorded event happened, in seconds: simulates what the program has done since the latest call. A host that
// has not waited for the event waits for it now.
double event_time(u32 event);

}  // namespace vinci::ascendc
