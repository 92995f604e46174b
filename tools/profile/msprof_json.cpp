// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/profile/msprof_json.h"

#include <algorithm>
#include <array>
#include <set>

#include "isa/base/enums.h"
#include "sim/trace/json_text.h"

namespace vinci::profile {
namespace {

using trace::json_string;

constexpr u32 kHostDevice = 31;  // the vendor's number for the host
constexpr u32 kOsPid = 1;        // a fixed one: files must not differ from run to run

// HCCL's names of data types, by ElementType.
std::string_view data_type(task::ElementType type) {
  static constexpr auto kNames =
      enum_table<task::ElementType, std::string_view>({{task::ElementType::int8, "INT8"},
                                                       {task::ElementType::int16, "INT16"},
                                                       {task::ElementType::int32, "INT32"},
                                                       {task::ElementType::uint8, "UINT8"},
                                                       {task::ElementType::uint16, "UINT16"},
                                                       {task::ElementType::uint32, "UINT32"},
                                                       {task::ElementType::float16, "FP16"},
                                                       {task::ElementType::float32, "FP32"},
                                                       {task::ElementType::bfloat16, "BFP16"}});
  return kNames[static_cast<usize>(type)];
}

std::string_view algorithm(task::Hccl::Algorithm algorithm) {
  return task::kHcclAlgorithmNames[static_cast<usize>(algorithm)];
}

}  // namespace

// How the vendor's exporter makes process numbers.
u64 MsprofJson::Process::pid() const { return u64{kOsPid} << 10 | u64{sort_index} << 5 | device; }

const MsprofJson::Process MsprofJson::kHost{"CANN", 7, kHostDevice};
MsprofJson::Process MsprofJson::hardware(u32 device) { return {"Ascend Hardware", 14, device}; }
MsprofJson::Process MsprofJson::frequency(u32 device) { return {"AI Core Freq", 15, device}; }
MsprofJson::Process MsprofJson::communication(u32 device) { return {"Communication", 16, device}; }

MsprofJson::MsprofJson(const std::string& path, const Target& target) : target_(target), file_(path) {
  file_.print("[");
  describe_streams();
}

void MsprofJson::describe(const Process& p) {
  const u64 pid = p.pid();
  const std::string label = p.device == kHostDevice ? "CPU" : fmt::format("NPU {}", p.device);
  // The first event of the file has no comma before it; it is the host's.
  file_.print("{}{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{},\"tid\":0,\"args\":{{\"name\":{}}}}}",
              p.device == kHostDevice ? "\n" : ",\n", pid, json_string(p.name));
  file_.print(",\n{{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":{},\"tid\":0,\"args\":{{\"labels\":{}}}}}", pid,
              json_string(label));
  file_.print(",\n{{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":{},\"tid\":0,\"args\":{{\"sort_index\":{}}}}}",
              pid, p.sort_index);
}

void MsprofJson::describe_thread(const Process& p, u32 tid, std::string_view name) {
  file_.print(",\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}}", p.pid(),
              tid, json_string(name));
  file_.print(
      ",\n{{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":{0},\"tid\":{1},\"args\":{{\"sort_index\":{1}}}}}",
      p.pid(), tid);
}

void MsprofJson::describe_streams() {
  const auto& streams = target_.stream().streams;
  const auto collective = [](const task::Stream& s) {
    return std::ranges::any_of(s.tasks, [](const task::Task& t) { return std::holds_alternative<task::Hccl>(t.op); });
  };
  std::set<u32> devices, communicating;
  for (const task::Stream& s : streams) {
    devices.insert(s.device);
    if (collective(s)) communicating.insert(s.device);
  }
  describe(kHost);
  for (const u32 d : devices) {
    describe(hardware(d));
    describe(frequency(d));
    if (communicating.contains(d)) describe(communication(d));
  }
  for (u32 i = 0; i < streams.size(); ++i) {
    const task::Stream& s = streams[i];
    if (s.model == task::kNone) describe_thread(kHost, i, "Stream " + s.name);
    describe_thread(hardware(s.device), i, "Stream " + s.name);
    if (collective(s)) describe_thread(communication(s.device), i, "Stream " + s.name);
  }
  for (const u32 d : devices)
    frequency_point(d, 0);
}

void MsprofJson::frequency_point(u32 device, u64 ns) {
  file_.print(
      ",\n{{\"name\":\"AI Core Freq\",\"ph\":\"C\",\"pid\":{},\"tid\":0,\"ts\":{},\"args\":{{\"MHz\":{:.0f}}}}}",
      frequency(device).pid(), microseconds(ns), target_.hertz() * 1e-6);
}

void MsprofJson::host_call(const models::TaskRecord& r, u64 connection) {
  const u64 end = target_.nanoseconds(r.enqueued);
  const u64 cost = std::min(end, target_.host_nanoseconds(r));
  file_.print(
      ",\n{{\"name\":{},\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{\"Task Type\":\"{}\","
      "\"connection_id\":{}}}}}",
      json_string(r.name), kHost.pid(), r.stream_id, microseconds(end - cost), microseconds(cost), r.kind, connection);
  const auto arrow = [&](std::string_view phase, u64 pid, u64 ns, std::string_view more) {
    file_.print(
        ",\n{{\"name\":\"HostToDevice{0}\",\"cat\":\"HostToDevice\",\"ph\":\"{1}\",\"id\":\"{0}\",\"pid\":{2},"
        "\"tid\":{3},\"ts\":{4}{5}}}",
        connection << 32, phase, pid, r.stream_id, microseconds(ns), more);
  };
  arrow("s", kHost.pid(), end - cost, "");
  arrow("f", hardware(r.device).pid(), target_.nanoseconds(r.start), ",\"bp\":\"e\"");
}

void MsprofJson::task(const models::TaskRecord& r) {
  const u64 connection = ++connections_;
  const u64 start = target_.nanoseconds(r.start), duration = target_.duration(r);
  end_ = std::max(end_, start + duration);
  const double rate = duration == 0 ? 0 : static_cast<double>(r.bytes) / static_cast<double>(duration);
  const auto event = [&](const Process& process) {
    file_.print(
        ",\n{{\"name\":{},\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{\"Model Id\":{},"
        "\"Task Type\":\"{}\",\"Physic Stream Id\":{},\"Task Id\":{},\"Batch Id\":{},\"Subtask Id\":{},"
        "\"connection_id\":{}",
        json_string(r.name), process.pid(), r.stream_id, microseconds(start), microseconds(duration), target_.model(r),
        task_type(r), r.stream_id, task_id(r), batch_id(r), task::kNone, connection);
    const task::Hccl* hccl = target_.collective(r);
    if (hccl != nullptr || !r.direction.empty())
      file_.print(",\"size(B)\":{},\"bandwidth(GB/s)\":{:.3f}", r.bytes, rate);
    if (!r.direction.empty()) file_.print(",\"operation\":{}", json_string(r.direction));
    if (hccl != nullptr) {
      file_.print(",\"op_type\":\"{}\",\"data_type\":\"{}\",\"count\":{},\"alg_type\":\"{}\"",
                  op_type(target_.stream(), r), data_type(hccl->type), hccl->count, algorithm(hccl->algorithm));
    }
    file_.print("}}}}");
  };
  event(hardware(r.device));
  if (target_.collective(r) != nullptr) event(communication(r.device));
  if (!target_.bound(r)) host_call(r, connection);
}

void MsprofJson::commit() {
  std::set<u32> devices;
  for (const task::Stream& s : target_.stream().streams)
    devices.insert(s.device);
  for (const u32 d : devices)
    frequency_point(d, end_);
  file_.print("\n]\n");
  file_.commit();
}

}  // namespace vinci::profile
