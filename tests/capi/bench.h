// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <gtest/gtest.h>
#include <vinci/vinci.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/types.h"

// What the tests of the C interface share: a kernel, handles that end by themselves, and a chip with a task stream or a
// device.
namespace vinci::capi_test {

// b = 2 * a, for as many blocks of 64 floats as there are.
inline constexpr std::string_view kDouble = R"(ld_arg X1, 0
ld_arg X2, 1
get_block_idx X3
mul X3, X3, 256
add X1, X1, X3
add X2, X2, X3
copy_gm_to_ubuf 0, X1, sid=0, nBurst=1, lenBurst=8, srcGap=0, dstGap=0
set_flag PIPE_MTE2, PIPE_V, EVENT_ID0
wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0
vadd.f32 0x1000, 0, 0, 1, 1, 1, 1, 8, 8, 8
set_flag PIPE_V, PIPE_MTE3, EVENT_ID0
wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0
copy_ubuf_to_gm X2, 0x1000, sid=0, nBurst=1, lenBurst=8, srcGap=0, dstGap=0
end
)";

inline std::string stream_text() {
  std::string code;
  for (usize at = 0; at < kDouble.size();) {
    const usize end = kDouble.find('\n', at);
    code += "      " + std::string(kDouble.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return "vinci: 1\nname: double\narch: c220\nbuffers:\n"
         "  a: {place: host, dtype: f4, shape: [3, 64], random: true}\n"
         "  b: {place: host, dtype: f4, shape: [3, 64], output: b.npy}\n"
         "  ad: {place: device, bytes: 768}\n  bd: {place: device, bytes: 768}\n"
         "kernels:\n  double:\n    type: AIV_ONLY\n    code: |\n" +
         code +
         "streams:\n  main:\n    - memcpy_async: {dst: ad, src: a}\n"
         "    - kernel_launch: {kernel: double, block_dim: 3, args: [ad, bd]}\n"
         "    - memcpy_async: {dst: b, src: bd}\n";
}

// How much longer the process takes than by itself: valgrind runs with a library of its own in LD_PRELOAD.
inline double slowness() {
#if defined(VINCI_SANITIZED) || !defined(__OPTIMIZE__)
  return 10;
#else
  const char* preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr && std::strstr(preloaded, "vgpreload") != nullptr ? 50 : 1;
#endif
}

template <class T, void (*Destroy)(T*)>
struct Handle {
  T* p = nullptr;
  ~Handle() { Destroy(p); }
  operator T*() const { return p; }  // NOLINT(google-explicit-constructor)
};
using ChipHandle = Handle<vinci_chip, vinci_chip_destroy>;
using StreamHandle = Handle<vinci_stream, vinci_stream_destroy>;
using DeviceHandle = Handle<vinci_device, vinci_device_destroy>;
using RunHandle = Handle<vinci_run, vinci_run_destroy>;

struct Bench {
  ChipHandle chip;
  StreamHandle stream;
  Bench() {
    EXPECT_EQ(vinci_chip_create("ascend-910b1", nullptr, 0, &chip.p), VINCI_OK) << vinci_last_error();
    const std::string text = stream_text();
    EXPECT_EQ(vinci_stream_parse(text.data(), text.size(), nullptr, &stream.p), VINCI_OK) << vinci_last_error();
  }
};

inline vinci_options options(vinci_mode mode) {
  vinci_options o = VINCI_OPTIONS_INIT;
  o.mode = mode;
  return o;
}

inline std::vector<float> output(const vinci_run* run, const char* name) {
  vinci_output out{};
  out.size = sizeof out;
  EXPECT_EQ(vinci_run_find_output(run, name, &out), VINCI_OK) << vinci_last_error();
  std::vector<float> values(out.bytes / sizeof(float));
  std::memcpy(values.data(), out.data, out.bytes);
  return values;
}

struct DeviceBench {
  ChipHandle chip;
  DeviceHandle device;
  vinci_buffer *a = nullptr, *b = nullptr;
  vinci_kernel* twice = nullptr;
  DeviceBench() {
    EXPECT_EQ(vinci_chip_create("ascend-910b1", nullptr, 0, &chip.p), VINCI_OK);
    EXPECT_EQ(vinci_device_create(chip, &device.p), VINCI_OK);
    EXPECT_EQ(vinci_malloc(device, 768, &a), VINCI_OK);
    EXPECT_EQ(vinci_malloc(device, 768, &b), VINCI_OK);
    EXPECT_EQ(vinci_kernel_create(device, "double", VINCI_CORE_VECTOR, kDouble.data(), kDouble.size(), &twice),
              VINCI_OK)
        << vinci_last_error();
  }
  vinci_status launch(vinci_buffer* from, vinci_buffer* to, uint64_t offset = 0, uint32_t blocks = 3) {
    const vinci_arg args[] = {{from, offset}, {to, offset}};
    return vinci_launch(twice, blocks, args, 2);
  }
  vinci_status run(const vinci_options* o = nullptr) {
    RunHandle r;
    const vinci_status status = vinci_device_submit(device, o, &r.p);
    return status != VINCI_OK ? status : vinci_wait(r);
  }
};

}  // namespace vinci::capi_test
