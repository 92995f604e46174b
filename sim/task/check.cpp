// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <set>

#include "isa/base/text.h"
#include "isa/program/loops.h"
#include "isa/table/codec.h"
#include "isa/text/text.h"
#include "sim/task/check_parts.h"
#include "sim/task/load.h"

namespace vinci::task {
namespace {

// The top of a task stream: names, kernels, communicators, streams and their models.
class Checker {
 public:
  explicit Checker(Checks& checks) : c_(checks) {}

  void run() {
    TaskStream& s = c_.s;
    // A name that is not there has been reported as such.
    const char* why = s.name.empty() && c_.any_problem() ? nullptr : why_bad_name(s.name);
    if (why != nullptr) c_.report(Path{} / "name", "the name of the task stream {}", why);
    c_.names("kernels", s.kernels);
    c_.names("events", s.events);
    c_.names("notifies", s.notifies);
    c_.names("labels", s.labels);
    c_.names("comms", s.comms);
    c_.names("models", s.models);
    c_.names("streams", s.streams);
    if (s.devices == 0 || s.devices > kMaxDevices)
      c_.report(Path{} / "devices", "devices = {} is not in [1, {}]", s.devices, kMaxDevices);
    for (usize k = 0; k < s.kernels.size(); ++k)
      check_kernel(s.kernels[k], Path{} / "kernels" / k);
    for (usize i = 0; i < s.comms.size(); ++i)
      check_comm(s.comms[i], Path{} / "comms" / i);
    check_streams();
  }

 private:
  void check_kernel(Kernel& k, const Path& path) {
    const bool split = isa::contains(isa::kSplitArchs, c_.s.arch);
    if (split == (k.type == KernelType::AI_CORE)) {
      c_.report(path / "type", "kernel '{}': type {} does not exist on {}; use {}", shown(k.name),
                kKernelTypeNames[static_cast<usize>(k.type)], isa::name(c_.s.arch),
                split ? "AIC_ONLY or AIV_ONLY" : "AI_CORE");
    }
    if (k.seconds != 0) {
      check_entries(k, 0, path);
      check_opaque(k, path);
      return;
    }
    // A reader that could not make a program has said why.
    if (k.program.code.empty() && c_.any_problem()) return;
    if (k.program.arch != c_.s.arch) {
      c_.report(path / "program", "kernel '{}' is a program for {}, but the task stream is for {}", shown(k.name),
                isa::name(k.program.arch), isa::name(c_.s.arch));
      return;
    }
    if (!is_text(k.program.source) || !std::ranges::all_of(k.program.included, is_text)) {
      c_.report(path / "program", "kernel '{}': the source name contains control characters or is not UTF-8",
                shown(k.name));
      return;
    }
    std::set<std::string_view> labels;
    for (const isa::Label& l : k.program.labels) {
      if (!isa::is_name(l.name) || l.name.size() > isa::kMaxNameLength || !labels.insert(l.name).second) {
        c_.report(path / "program", "kernel '{}': label '{}' is no name, or there twice", shown(k.name), shown(l.name));
        return;
      }
    }
    try {
      isa::verify(k.program);
    } catch (const Error& e) {
      c_.report(path / "program", "kernel '{}': {}", shown(k.name), e.what());
      return;
    }
    check_entries(k, isa::positions(k.program), path);
    if (isa::runs_past_end(k.program)) {
      c_.report(path / "program",
                "kernel '{}': the program runs past its last instruction ({}line {}); `end` is missing", shown(k.name),
                k.program.source.empty() ? "" : shown(k.program.source) + ", ", k.program.lines.back());
    }
  }

  void check_entries(const Kernel& k, u64 positions, const Path& path) {
    for (usize i = 0; i < k.entries.size(); ++i) {
      if (k.entries[i] < positions) continue;
      c_.report(path / "entries" / i, "kernel '{}': entry {} is not one of its {} instructions", shown(k.name),
                k.entries[i], positions);
    }
  }

  void check_opaque(Kernel& k, const Path& path) {
    if (!(k.seconds > 0 && k.seconds <= kMaxSeconds)) {
      c_.report(path / "time", "kernel '{}': its time must be more than 0, at most {:.0f}s", shown(k.name),
                kMaxSeconds);
    } else if (!k.program.code.empty()) {
      c_.report(path / "program", "kernel '{}' has both a time and a program", shown(k.name));
    } else {  // no program is one, wherever it came from
      k.program = {};
      k.program.arch = c_.s.arch;
    }
  }

  void check_comm(const Comm& comm, const Path& path) {
    if (comm.devices.empty()) c_.report(path, "communicator '{}' has no devices", shown(comm.name));
    std::set<u32> seen;
    for (usize r = 0; r < comm.devices.size(); ++r) {
      if (!c_.known_device(comm.devices[r], path / r)) continue;
      if (!seen.insert(comm.devices[r]).second)
        c_.report(path / r, "communicator '{}' has device {} twice", shown(comm.name), comm.devices[r]);
    }
    bool in_order = comm.devices.size() == c_.s.devices;
    for (usize r = 0; in_order && r < comm.devices.size(); ++r)
      in_order = comm.devices[r] == r;
    if (comm.name == kWorld && !in_order)
      c_.report(path, "communicator '{}' is that of all devices, in their order", kWorld);
  }

  void check_streams() {
    std::vector<u32> first(c_.s.models.size(), kNone);  // stream of each model
    std::vector<bool> has_head(c_.s.models.size());
    for (u32 i = 0; i < c_.s.streams.size(); ++i) {
      Stream& stream = c_.s.streams[i];
      const Path path = Path{} / "streams" / i;
      if (stream.model == kNone) stream.head = true;  // means nothing here; one spelling of it
      c_.known_device(stream.device, path / "device");
      if (stream.priority > kLowestPriority)
        c_.report(path / "priority", "priority = {} is not in [0, {}]", stream.priority, kLowestPriority);
      if (stream.model == kNone || !c_.known(stream.model, c_.s.models, "model", path / "model")) continue;
      if (stream.head) has_head[stream.model] = true;
      u32& leader = first[stream.model];
      if (leader == kNone) leader = i;
      if (stream.device != c_.s.streams[leader].device) {
        c_.report(path / "device", "streams '{}' and '{}' of model '{}' are on devices {} and {}; a model is of one",
                  shown(c_.s.streams[leader].name), shown(stream.name), shown(c_.s.models[stream.model]),
                  c_.s.streams[leader].device, stream.device);
      }
    }
    for (usize m = 0; m < has_head.size(); ++m) {
      // A head that is not there has been reported as such.
      if (!has_head[m] && !c_.any_problem())
        c_.report(Path{} / "models" / m, "model '{}' has no head stream: nothing of it starts", shown(c_.s.models[m]));
    }
  }

  Checks& c_;
};

void name_tasks(TaskStream& s) {
  for (Stream& stream : s.streams) {
    for (Task& t : stream.tasks) {
      if (t.name.empty()) t.name = default_task_name(s, t);
    }
  }
}

}  // namespace

bool is_text(std::string_view s) {
  while (!s.empty()) {
    const usize length = character_length(s);
    if (length == 0) return false;
    s.remove_prefix(length);
  }
  return true;
}

const char* why_bad_name(std::string_view s) {
  if (s.empty()) return "is empty";
  if (s.size() > kMaxNameBytes) return "is longer than 64 KiB";
  if (!is_text(s)) return "contains control characters or is not UTF-8";
  return nullptr;
}

void check_rest(TaskStream& stream, const Locator& where, config::Problems& problems) {
  Checks checks(stream, where, problems);
  Checker(checks).run();
  check_tasks(checks);
  check_host(checks);
  if (!problems.any()) check_collectives(checks);
  if (!problems.any()) check_waits(checks);
  if (!problems.any()) name_tasks(stream);
}

std::string default_task_name(const TaskStream& s, const Task& t) {
  if (const auto* launch = std::get_if<KernelLaunch>(&t.op)) return s.kernels[launch->kernel].name;
  if (const auto* launch = std::get_if<CpuKernelLaunch>(&t.op)) return launch->kernel;
  if (const auto* hccl = std::get_if<Hccl>(&t.op))
    return fmt::format("hccl_{}", kHcclOpNames[static_cast<usize>(hccl->op)]);
  return std::string(t.info().key);
}

std::string shown(std::string_view text) {
  std::string out;
  while (!text.empty() && out.size() < 80) {
    const usize length = character_length(text);
    out += length == 0 ? "?" : text.substr(0, length);
    text.remove_prefix(std::max<usize>(1, length));
  }
  if (!text.empty()) out += "...";
  return out;
}

}  // namespace vinci::task
