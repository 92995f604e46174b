// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "acl/acl.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "runtime/rt.h"
#include "tools/ascendc/runtime/acl_error.h"
#include "tools/ascendc/runtime/kernel_code.h"
#include "tools/ascendc/runtime/launch.h"

namespace vinci::ascendc {
namespace {
// The name by which the driver knows a chip: Ascend910B1 of the chip file ascend-910b1. Other names are as they are.
std::string soc_name(const std::string& chip) {
  constexpr std::string_view kSeries = "ascend-";
  if (!chip.starts_with(kSeries)) return chip;
  std::string out = "Ascend";
  for (const char c : chip.substr(kSeries.size()))
    out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

thread_local std::string t_message;  // of the latest failure
thread_local bool t_failed = false;
thread_local aclError t_last = ACL_SUCCESS;  // its code, until it is asked for

aclError failed(aclError code, std::string message) { return acl_failed(code, std::move(message)); }

struct Stream {
  u32 id = 0;
  std::map<aclrtStreamAttr, aclrtStreamAttrValue> attributes;
};
struct Event {
  std::optional<u32> recorded;
};

Stream& stream_of(aclrtStream stream) {
  static Stream of_device;
  return stream == nullptr ? of_device : *static_cast<Stream*>(stream);
}

u32 id_of(aclrtStream stream) {
  return stream == nullptr ? device().default_stream() : static_cast<const Stream*>(stream)->id;
}

std::map<const std::byte*, u64>& pinned() {
  static std::map<const std::byte*, u64> areas;
  return areas;
}

bool is_pinned(const void* at) {
  const auto* p = static_cast<const std::byte*>(at);
  const auto above = pinned().upper_bound(p);
  if (above == pinned().begin()) return false;
  const auto& [begin, bytes] = *std::prev(above);
  return p < begin + bytes;
}

// The address of the flags between cores: any but 0, as they are not in memory here.
void* const kFlagsOfCores = reinterpret_cast<void*>(u64{1});  // NOLINT(performance-no-int-to-ptr)

u64 address_of(const void* p) { return reinterpret_cast<u64>(p); }
bool on_device(const void* p, u64 bytes) { return device().gm().find(address_of(p), bytes) != nullptr; }
bool in_device_space(const void* p) {
  const u64 a = address_of(p);
  return a >= isa::GlobalMemory::kBase && a < isa::GlobalMemory::kBase + isa::GlobalMemory::kMappedBytes;
}

aclError copy_rows(void* dst, const void* src, const Recorder::Rows& rows, aclrtMemcpyKind kind, aclrtStream stream) {
  if (rows.width > rows.dst_pitch || rows.width > rows.src_pitch) {
    return failed(ACL_ERROR_RT_PARAM_INVALID, fmt::format("a copy of rows of {} bytes to rows {} bytes apart, from {}",
                                                          rows.width, rows.dst_pitch, rows.src_pitch));
  }
  if (rows.width == 0 || rows.height == 0) return ACL_SUCCESS;
  if (kind == ACL_MEMCPY_DEFAULT) {
    kind = in_device_space(dst) ? (in_device_space(src) ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE)
                                : (in_device_space(src) ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_HOST);
  }
  const bool from = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  const bool to = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  for (const auto& [p, device_side, pitch, what] :
       {std::tuple{static_cast<const void*>(dst), to, rows.dst_pitch, "destination"},
        std::tuple{src, from, rows.src_pitch, "source"}}) {
    const u64 size = (rows.height - 1) * pitch + rows.width;
    if (device_side ? !on_device(p, size) : in_device_space(p)) {
      return failed(ACL_ERROR_RT_PARAM_INVALID,
                    fmt::format("the {} of a copy, {:#x} with {} bytes, is not memory of the {}", what, address_of(p),
                                size, device_side ? "device" : "host"));
    }
  }
  for (u64 row = 0; row < rows.height; ++row)
    std::memmove(static_cast<std::byte*>(dst) + row * rows.dst_pitch,
                 static_cast<const std::byte*>(src) + row * rows.src_pitch, rows.width);
  if (!from && !to) return ACL_SUCCESS;
  const auto* host = static_cast<const std::byte*>(to ? src : dst);
  std::vector<std::byte> in_a_row;  // the rows of the host's side, if there are several
  std::span held(host, from && to ? 0 : rows.width);
  if (rows.height > 1 && !(from && to)) {
    for (u64 row = 0; row < rows.height; ++row) {
      const std::byte* const begin = host + row * (to ? rows.src_pitch : rows.dst_pitch);
      in_a_row.insert(in_a_row.end(), begin, begin + rows.width);
    }
    held = in_a_row;
  }
  device().recorder().copy_rows(id_of(stream), address_of(dst), address_of(src), rows,
                                from && to ? Recorder::Direction::on_device
                                : to       ? Recorder::Direction::to_device
                                           : Recorder::Direction::from_device,
                                held, !is_pinned(host));
  return ACL_SUCCESS;
}

aclError copy(void* dst, size_t capacity, const void* src, size_t size, aclrtMemcpyKind kind, aclrtStream stream) {
  if (size > capacity) {
    return failed(ACL_ERROR_RT_PARAM_INVALID, fmt::format("a copy of {} bytes to a destination of {}", size, capacity));
  }
  return copy_rows(dst, src, {.width = size, .height = 1, .dst_pitch = size, .src_pitch = size}, kind, stream);
}

aclError fill(void* address, size_t capacity, int32_t value, size_t size, aclrtStream stream) {
  if (size > capacity || !on_device(address, size)) {
    return failed(ACL_ERROR_RT_PARAM_INVALID,
                  fmt::format("memset of {:#x} with {} bytes: not memory of the device", address_of(address), size));
  }
  std::memset(address, value, size);
  device().recorder().fill(id_of(stream), address_of(address), size, static_cast<u8>(value));
  return ACL_SUCCESS;
}

// A fault ends the process: what the program does then would mean nothing.
template <class F>
aclError call(F&& body) {
  try {
    return body();
  } catch (const Error& e) {
    die(e);
  } catch (const std::bad_alloc&) {
    die(Error(Fault::Limit, "out of memory"));
  }
}

template <class T>
aclError need(const T* p, const char* what) {
  return p != nullptr ? ACL_SUCCESS : failed(ACL_ERROR_INVALID_PARAM, fmt::format("{} is null", what));
}

aclError set_stream(aclrtStream* stream) {
  return call([&] {
    if (const aclError e = need(stream, "stream")) return e;
    device().default_stream();
    *stream = new Stream{device().recorder().add_stream(), {}};
    return ACL_SUCCESS;
  });
}

aclError set_event(aclrtEvent* event) {
  if (const aclError e = need(event, "event")) return e;
  *event = new Event;
  return ACL_SUCCESS;
}

}  // namespace

aclError acl_failed(aclError code, std::string message) {
  t_message = fmt::format("[{}] {}", code, message);
  t_failed = true;
  t_last = code;
  return code;
}

void* allocate_shared(std::size_t bytes) {
  void* address = nullptr;
  if (aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return nullptr;
  device().share(address_of(address));
  return address;
}

void free_shared(void* address) { aclrtFree(address); }

void run(const Launch& asked, Call kernel, void* context) {
  try {
    if (asked.blocks == 0) fail(Fault::Program, "a launch of 0 blocks");
    if (present() != nullptr) fail(Fault::Program, "a kernel launches a kernel");
    Launch launch = asked;
    if (launch.type == KernelType::declared) launch.type = declared_type(launch, kernel, context);
    Device& d = device();
    const u32 stream = id_of(launch.stream);
    const auto copy_shared = [&](Recorder::Direction direction) {
      for (const auto& [address, bytes] : d.shared()) {
        d.recorder().copy(stream, address, address, bytes, direction,
                          {reinterpret_cast<const std::byte*>(address), bytes},  // NOLINT(performance-no-int-to-ptr)
                          false);
      }
    };
    copy_shared(Recorder::Direction::to_device);
    d.begin_launch(stream);
    TaskRun(d, launch, [&] { kernel(context); }).run(stream);
    copy_shared(Recorder::Direction::from_device);
  } catch (const Error& e) {
    die(e.location().empty() ? Error(e.fault(), e.message(), fmt::format("{}:{}", asked.place.file, asked.place.line))
                             : e);
  } catch (const std::bad_alloc&) {
    die(Error(Fault::Limit, "out of memory"));
  }
}

}  // namespace vinci::ascendc

using namespace vinci::ascendc;  // NOLINT(google-build-using-namespace): the C interface of this file

extern "C" {

aclError aclInit(const char*) {
  return call([] { return device(), ACL_SUCCESS; });
}
aclError aclFinalize() { return ACL_SUCCESS; }
const char* aclGetRecentErrMsg() {
  const bool failed_before = t_failed;
  t_failed = false;
  return failed_before ? t_message.c_str() : nullptr;
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel) { return t_last; }
aclError aclrtGetLastError(aclrtLastErrLevel) { return std::exchange(t_last, ACL_SUCCESS); }

aclError aclrtSetDevice(int32_t id) {
  return id == 0 ? call([] { return device(), ACL_SUCCESS; })
                 : failed(ACL_ERROR_RT_INVALID_DEVICEID, fmt::format("device {}: there is one device, 0", id));
}
aclError aclrtResetDevice(int32_t) { return ACL_SUCCESS; }
aclError aclrtResetDeviceForce(int32_t) { return ACL_SUCCESS; }
aclError aclrtGetDevice(int32_t* id) {
  if (const aclError e = need(id, "device")) return e;
  *id = 0;
  return ACL_SUCCESS;
}
aclError aclrtGetDeviceCount(uint32_t* count) {
  if (const aclError e = need(count, "count")) return e;
  *count = 1;
  return ACL_SUCCESS;
}
aclError aclrtGetHardwareSyncAddr(void** addr) {
  if (const aclError e = need(addr, "addr")) return e;
  *addr = kFlagsOfCores;
  return ACL_SUCCESS;
}
aclError aclrtGetDeviceInfo(uint32_t, aclrtDevAttr attribute, int64_t* value) {
  return call([&] {
    if (const aclError e = need(value, "value")) return e;
    const auto& chip = device().chip();
    switch (attribute) {
      case ACL_DEV_ATTR_AICORE_CORE_NUM:
      case ACL_DEV_ATTR_CUBE_CORE_NUM: *value = chip.ai_cores; return ACL_SUCCESS;
      case ACL_DEV_ATTR_VECTOR_CORE_NUM: *value = chip.vector_cores; return ACL_SUCCESS;
      default: return failed(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "this device attribute is not supported");
    }
  });
}
aclError aclrtGetRunMode(aclrtRunMode* mode) {
  if (const aclError e = need(mode, "mode")) return e;
  *mode = ACL_HOST;
  return ACL_SUCCESS;
}
const char* aclrtGetSocName() {
  static const std::string name = soc_name(device().chip().name);
  return name.c_str();
}
aclError aclrtSynchronizeDevice() {
  return call([] {
    device().default_stream();
    device().recorder().synchronize_device();
    return ACL_SUCCESS;
  });
}

aclError aclrtCreateContext(aclrtContext* context, int32_t id) {
  if (const aclError e = need(context, "context")) return e;
  static int one;
  *context = &one;
  return aclrtSetDevice(id);
}
aclError aclrtDestroyContext(aclrtContext) { return ACL_SUCCESS; }
aclError aclrtSetCurrentContext(aclrtContext) { return ACL_SUCCESS; }
aclError aclrtGetCurrentContext(aclrtContext* context) { return aclrtCreateContext(context, 0); }

aclError aclrtCreateStream(aclrtStream* stream) { return set_stream(stream); }
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) { return set_stream(stream); }
aclError aclrtDestroyStream(aclrtStream stream) {
  delete static_cast<Stream*>(stream);
  return ACL_SUCCESS;
}
aclError aclrtDestroyStreamForce(aclrtStream stream) { return aclrtDestroyStream(stream); }
aclError aclrtSynchronizeStream(aclrtStream stream) {
  return call([&] {
    device().recorder().synchronize_stream(id_of(stream));
    return ACL_SUCCESS;
  });
}
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t) { return aclrtSynchronizeStream(stream); }

aclError aclrtStreamGetId(aclrtStream stream, int32_t* id) {
  return call([&] {
    if (const aclError e = need(id, "id")) return e;
    *id = static_cast<int32_t>(id_of(stream));
    return ACL_SUCCESS;
  });
}
aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr attribute, aclrtStreamAttrValue* value) {
  if (const aclError e = need(value, "value")) return e;
  if (attribute < ACL_STREAM_ATTR_FAILURE_MODE || attribute > ACL_STREAM_ATTR_CACHE_OP_INFO)
    return failed(ACL_ERROR_RT_PARAM_INVALID, fmt::format("a stream has no attribute {}", static_cast<int>(attribute)));
  stream_of(stream).attributes[attribute] = *value;
  return ACL_SUCCESS;
}
aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr attribute, aclrtStreamAttrValue* value) {
  if (const aclError e = need(value, "value")) return e;
  if (attribute < ACL_STREAM_ATTR_FAILURE_MODE || attribute > ACL_STREAM_ATTR_CACHE_OP_INFO)
    return failed(ACL_ERROR_RT_PARAM_INVALID, fmt::format("a stream has no attribute {}", static_cast<int>(attribute)));
  const auto& known = stream_of(stream).attributes;
  const auto at = known.find(attribute);
  *value = at == known.end() ? aclrtStreamAttrValue{} : at->second;
  return ACL_SUCCESS;
}
aclError aclrtStreamQuery(aclrtStream, aclrtStreamStatus* status) {
  if (const aclError e = need(status, "status")) return e;
  *status = ACL_STREAM_STATUS_COMPLETE;
  return ACL_SUCCESS;
}

aclError aclrtMalloc(void** address, size_t size, aclrtMemMallocPolicy) {
  return call([&] {
    if (const aclError e = need(address, "address")) return e;
    if (size == 0) return failed(ACL_ERROR_RT_PARAM_INVALID, "an allocation of 0 bytes");
    const std::uint64_t at = device().allocate(size);
    if (at == 0) return failed(ACL_ERROR_RT_MEMORY_ALLOCATION, fmt::format("no room for {} bytes", size));
    *address = reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr)
    return ACL_SUCCESS;
  });
}
aclError aclrtMallocAlign32(void** address, size_t size, aclrtMemMallocPolicy policy) {
  return aclrtMalloc(address, size, policy);
}
aclError aclrtMallocCached(void** address, size_t size, aclrtMemMallocPolicy policy) {
  return aclrtMalloc(address, size, policy);
}
aclError aclrtFree(void* address) {
  return call([&] {
    if (address == nullptr) return failed(ACL_ERROR_RT_PARAM_INVALID, "free of null");
    if (!device().free(address_of(address))) {
      return failed(ACL_ERROR_RT_PARAM_INVALID,
                    fmt::format("free of {:#x}, which is not an allocation", address_of(address)));
    }
    return ACL_SUCCESS;
  });
}
aclError aclrtMallocHost(void** address, size_t size) {
  if (const aclError e = need(address, "address")) return e;
  *address = std::malloc(size);
  if (*address == nullptr) return failed(ACL_ERROR_RT_MEMORY_ALLOCATION, fmt::format("no room for {} bytes", size));
  pinned()[static_cast<const std::byte*>(*address)] = size;
  return ACL_SUCCESS;
}
aclError aclrtFreeHost(void* address) {
  pinned().erase(static_cast<const std::byte*>(address));
  std::free(address);
  return ACL_SUCCESS;
}
aclError aclrtGetMemInfo(aclrtMemAttr, size_t* free, size_t* total) {
  return call([&] {
    if (const aclError e = need(total, "total")) return e;
    *total = static_cast<std::uint64_t>(device().chip().memory.hbm.size);
    if (free != nullptr) *free = *total - device().allocated();
    return ACL_SUCCESS;
  });
}
aclError aclrtMemcpy(void* dst, size_t capacity, const void* src, size_t size, aclrtMemcpyKind kind) {
  return call([&] {
    const aclError e = copy(dst, capacity, src, size, kind, nullptr);
    if (e == ACL_SUCCESS && kind != ACL_MEMCPY_HOST_TO_HOST)
      device().recorder().synchronize_stream(device().default_stream());
    return e;
  });
}
aclError aclrtMemcpyAsync(void* dst, size_t capacity, const void* src, size_t size, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  return call([&] { return copy(dst, capacity, src, size, kind, stream); });
}
aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
  return call([&] {
    const aclError e = copy_rows(dst, src, {width, height, dpitch, spitch}, kind, nullptr);
    if (e == ACL_SUCCESS && kind != ACL_MEMCPY_HOST_TO_HOST)
      device().recorder().synchronize_stream(device().default_stream());
    return e;
  });
}
aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                            aclrtMemcpyKind kind, aclrtStream stream) {
  return call([&] { return copy_rows(dst, src, {width, height, dpitch, spitch}, kind, stream); });
}
aclError aclrtMemset(void* address, size_t capacity, int32_t value, size_t size) {
  return call([&] {
    const aclError e = fill(address, capacity, value, size, nullptr);
    if (e == ACL_SUCCESS) device().recorder().synchronize_stream(device().default_stream());
    return e;
  });
}
aclError aclrtMemsetAsync(void* address, size_t capacity, int32_t value, size_t size, aclrtStream stream) {
  return call([&] { return fill(address, capacity, value, size, stream); });
}

aclError aclrtCmoAsync(void* address, size_t size, aclrtCmoType type, aclrtStream) {
  if (type < ACL_RT_CMO_TYPE_PREFETCH || type > ACL_RT_CMO_TYPE_FLUSH)
    return failed(ACL_ERROR_RT_PARAM_INVALID, fmt::format("cache operation {} does not exist", static_cast<int>(type)));
  if (size == 0 || !on_device(address, size)) {
    return failed(
        ACL_ERROR_RT_PARAM_INVALID,
        fmt::format("a cache operation on {:#x} with {} bytes: not memory of the device", address_of(address), size));
  }
  return ACL_SUCCESS;
}

aclError aclrtCreateEvent(aclrtEvent* event) { return set_event(event); }
aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t) { return set_event(event); }
aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t) { return set_event(event); }
aclError aclrtDestroyEvent(aclrtEvent event) {
  delete static_cast<Event*>(event);
  return ACL_SUCCESS;
}
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return call([&] {
    if (const aclError e = need(event, "event")) return e;
    static_cast<Event*>(event)->recorded = device().recorder().event_record(id_of(stream));
    return ACL_SUCCESS;
  });
}
aclError aclrtResetEvent(aclrtEvent event, aclrtStream) {
  if (const aclError e = need(event, "event")) return e;
  static_cast<Event*>(event)->recorded.reset();
  return ACL_SUCCESS;
}
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return call([&] {
    if (const aclError e = need(event, "event")) return e;
    const auto& recorded = static_cast<const Event*>(event)->recorded;
    if (recorded) device().recorder().event_wait(id_of(stream), *recorded);
    return ACL_SUCCESS;
  });
}
aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return call([&] {
    if (const aclError e = need(event, "event")) return e;
    const auto& recorded = static_cast<const Event*>(event)->recorded;
    if (recorded) device().recorder().synchronize_event(*recorded);
    return ACL_SUCCESS;
  });
}
aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end) {
  return call([&] {
    if (const aclError e = need(milliseconds, "ms")) return e;
    if (const aclError e = need(start, "start")) return e;
    if (const aclError e = need(end, "end")) return e;
    const auto& from = static_cast<const Event*>(start)->recorded;
    const auto& to = static_cast<const Event*>(end)->recorded;
    if (!from || !to) return failed(ACL_ERROR_RT_PARAM_INVALID, "an event that is not recorded has no time");
    if (device().settings().mode == Settings::Mode::functional)
      return failed(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "VINCI_MODE=functional has no time");
    const double begin = event_time(*from);
    *milliseconds = static_cast<float>((event_time(*to) - begin) * 1000);
    return ACL_SUCCESS;
  });
}
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  if (const aclError e = need(event, "event")) return e;
  *status = static_cast<const Event*>(event)->recorded ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                                       : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

rtError_t rtGetC2cCtrlAddr(uint64_t* address, uint32_t* bytes) {
  if (const aclError e = need(address, "address")) return e;
  *address = reinterpret_cast<uint64_t>(kFlagsOfCores);
  if (bytes != nullptr) *bytes = sizeof(uint64_t);
  return RT_ERROR_NONE;
}
rtError_t rtGetAiCoreCount(uint32_t* count) {
  return call([&] {
    if (const aclError e = need(count, "count")) return e;
    *count = core_count(CoreKind::cube);
    return ACL_SUCCESS;
  });
}

}  // extern "C"
