// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/device.h"

#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "models/core/core_spec.h"
#include "sim/config/load.h"
#include "tools/ascendc/runtime/crash.h"
#include "tools/ascendc/runtime/source_line.h"

// What `vinci cc` defines in addition to the user's code.
extern "C" {
__attribute__((weak)) extern const char* vinci_ascendc_chip;
__attribute__((weak)) extern const char* vinci_ascendc_mode;
__attribute__((weak)) extern const char* vinci_ascendc_auto_sync;
__attribute__((weak)) extern const char* vinci_ascendc_auto_sync_log;
}

namespace vinci::ascendc {
namespace {

std::string environment(const char* name, std::string fallback = {}) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : std::move(fallback);
}

std::string program_name() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string("app") : self.filename().string();
}

// Values of --set: the program runs on the chip that its recording is simulated on.
std::vector<std::string> overrides_in(const std::string& options) {
  constexpr std::string_view kSet = "--set";
  std::vector<std::string> out;
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    if (word == kSet && words >> word) {
      out.push_back(word);
    } else if (word.starts_with("--set=")) {
      out.push_back(word.substr(kSet.size() + 1));
    }
  }
  return out;
}

}  // namespace

Settings Settings::from_environment() {
  Settings s;
  s.chip = environment("VINCI_CHIP", &vinci_ascendc_chip != nullptr ? vinci_ascendc_chip : "ascend-910b1");
  s.output = environment("VINCI_OUTPUT", "out/" + program_name());
  s.options = environment("VINCI_RUN_OPTIONS");
  s.overrides = overrides_in(s.options);
  s.record = environment("VINCI_RECORD");
  s.record_data = environment("VINCI_RECORD_DATA") != "0";
  const std::string sync =
      environment("VINCI_AUTO_SYNC", &vinci_ascendc_auto_sync != nullptr ? vinci_ascendc_auto_sync : "on");
  if (sync != "on" && sync != "off") fail(Fault::Input, "VINCI_AUTO_SYNC={}: on or off", sync);
  s.auto_sync = sync == "on";
  const std::string code = environment("VINCI_SCALAR_CODE", "on");
  if (code != "on" && code != "off") fail(Fault::Input, "VINCI_SCALAR_CODE={}: on or off", code);
  s.scalar_code = code == "on";
  const std::string allocation = environment("VINCI_ALLOCATION", "exact");
  if (allocation != "exact" && allocation != "pages")
    fail(Fault::Input, "VINCI_ALLOCATION={}: exact or pages", allocation);
  s.whole_pages = allocation == "pages";
  if (&vinci_ascendc_auto_sync_log != nullptr) s.auto_sync_log = vinci_ascendc_auto_sync_log;
  s.quiet = environment("VINCI_VERBOSE") != "1";
  s.says_size = environment("VINCI_VERBOSE") != "0";
  s.watchdog = WatchdogLimits::from_environment();
  std::string_view usual = &vinci_ascendc_mode != nullptr ? vinci_ascendc_mode : "timing";
  if (usual == "timing" && s.options.find("--numerics") != std::string::npos) usual = "full";  // a census looks at data
  const std::string mode = environment("VINCI_MODE", std::string(usual));
  if (mode == "functional") {
    s.mode = Mode::functional;
  } else if (mode == "timing") {
    s.mode = Mode::timing;
  } else if (mode == "full") {
    s.mode = Mode::full;
  } else {
    fail(Fault::Input, "VINCI_MODE={}: the modes are functional, timing and full", mode);
  }
  return s;
}

Device::Device()
    : settings_(Settings::from_environment()),
      chip_(config::load_chip(settings_.chip, settings_.overrides)),
      recorder_(program_name(), chip_.arch,
                settings_.mode == Settings::Mode::full || (!settings_.record.empty() && settings_.record_data),
                settings_.recording()) {
  if (&vinci_ascendc_chip == nullptr) return;
  const isa::Arch compiled = config::load_chip(vinci_ascendc_chip).arch;
  if (chip_.arch != compiled) {
    fail(Fault::Input, "the program is compiled for {}, and {} is {}; compile it again with another --npu-arch",
         isa::name(compiled), chip_.name, isa::name(chip_.arch));
  }
}

namespace {

// How many bytes of a segment of the program or its libraries begin at an address; 0 where there is none.
u64 bytes_of_program_at(u64 address) {
  struct Search {
    u64 address, bytes;
  } search{address, 0};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          const u64 begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && s.address >= begin && s.address - begin < segment.p_memsz)
            s.bytes = segment.p_memsz - (s.address - begin);
        }
        return 0;
      },
      &search);
  return search.bytes;
}

}  // namespace

u64 Device::allocate(u64 bytes) {
  constexpr u64 kPage = u64{2} << 20;  // of device memory, as ACL_MEM_MALLOC_HUGE_FIRST names it
  const auto capacity = static_cast<u64>(chip_.memory.hbm.size);
  if (settings_.whole_pages && bytes <= capacity) bytes = (bytes + kPage - 1) / kPage * kPage;
  if (bytes > capacity - allocated_) return 0;
  const u64 address = gm_.allocate(bytes, fmt::format("device{}", sizes_.size()));
  sizes_[address] = bytes;
  allocated_ += bytes;
  recorder_.add_device_buffer(address, bytes);
  return address;
}

u64 Device::constants(u64 address, u64 bytes) {
  constexpr u64 kMost = u64{1} << 20;  // of an array whose length is not known
  // Each stream has copies of its own: nothing orders the launches of one behind the copies of another.
  const auto above = constants_.upper_bound({launch_stream_, address});
  if (above != constants_.begin()) {
    const auto& [key, known] = *std::prev(above);
    const auto [stream, begin] = key;
    if (stream == launch_stream_ && address - begin + std::max<u64>(bytes, 1) <= known.bytes)
      return known.device + (address - begin);
  }
  const u64 there = bytes_of_program_at(address);
  if (there == 0) return address;
  bytes = bytes == 0 ? std::min(there, kMost) : std::min(bytes, there);
  const u64 copy = allocate(bytes);
  if (copy == 0) fail(Fault::Limit, "device memory: {} bytes of the program's own arrays do not fit", bytes);
  const auto* from = reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
  gm_.write(copy, {from, bytes});
  recorder_.copy(launch_stream_, copy, address, bytes, Recorder::Direction::to_device, {from, bytes}, false);
  constants_[{launch_stream_, address}] = {bytes, copy};
  return copy;
}

bool Device::free(u64 address) {
  const auto it = sizes_.find(address);
  if (it == sizes_.end() || gm_.find(address, 0) == nullptr) return false;
  allocated_ -= it->second;
  shared_.erase(address);
  gm_.free(address);
  recorder_.free(address);
  return true;
}

u32 Device::default_stream() {
  if (recorder_.stream().streams.empty()) recorder_.add_stream();
  return 0;
}

bool Device::recorded_all_stores() const {
  return std::ranges::none_of(cores_, [](const auto& c) { return c.second->left_out_stores(); });
}

Core& Device::core(isa::CoreKind kind, u32 id) {
  auto& slot = cores_[{kind, id}];
  if (!slot) {
    const isa::CoreSpec spec = models::core_spec(chip_, kind);
    slot = std::make_unique<Core>(spec, gm_, id);
    if (settings_.inserts_sync())
      slot->synchronise_automatically(spec, settings_.auto_sync_log.empty() ? nullptr : &auto_sync_log_);
  }
  return *slot;
}

namespace {
bool g_made = false;  // the device
}

Device& device() {
  static Device* const one = [] {
    try {
      auto* made = new Device;
      std::atexit([] {
        try {
          finish();
        } catch (const Error& e) {
          die(e);
        }
      });
      g_made = true;
      save_on_crash([](const char* signal, const std::vector<void*>& frames) {
        if (present() != nullptr) {
          fmt::print(stderr,
                     "vinci: {} in {}: {}: an access through a null or wild pointer, or another fault of native code\n",
                     signal, present()->name(), place_of(frames));
        }
        save_recording(signal);
      });
      return made;
    } catch (const Error& e) {
      die(e);
    }
  }();
  return *one;
}

void die(const Error& e) {
  std::fflush(nullptr);
  fmt::print(stderr, "vinci: {} fault: {}\n", fault_name(e.fault()), e.what());
  if (g_made) save_recording(nullptr);
  std::fflush(nullptr);
  ::_exit(static_cast<int>(e.fault()));
}

}  // namespace vinci::ascendc
