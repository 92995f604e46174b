// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/error.h"
#include "sim/task/load.h"

// A task stream that uses everything, for the tests of readers and writers.
namespace vinci::task::test {

inline std::vector<std::byte> to_bytes(std::string_view s) {
  std::vector<std::byte> out(s.size());
  if (!s.empty()) std::memcpy(out.data(), s.data(), s.size());
  return out;
}

inline TaskStream parse_text(std::string_view text, const Files& files = MemoryFiles{}) {
  return parse_task_stream(to_bytes(text), "t.yaml", files);
}

// What parse() throws, or "accepted".
template <class F>
std::string refusal(F parse) {
  try {
    parse();
  } catch (const Error& e) {
    return e.fault() == Fault::Input ? e.what() : "not an input error";
  }
  return "accepted";
}

inline constexpr std::string_view kSample = R"(vinci: 1
name: sample
arch: c220
buffers:
  x: {place: host, dtype: f2, shape: [4, 8], data: "003c 0040 0042 0044 0045 0046 0047 0048
      003c 0040 0042 0044 0045 0046 0047 0048 003c 0040 0042 0044 0045 0046 0047 0048
      003c 0040 0042 0044 0045 0046 0047 0048"}
  "odd name, 2": {place: host, bytes: 64, output: y.bin}
  z: {place: host, bytes: 64, dtype: f4, output: z.npy}
  dev: {place: device, bytes: 2KiB}
kernels:
  scale:
    type: AIV_ONLY
    code: |
      ld_arg X1, 0

      loop: add X1, X1, -1
      b loop
      end
  idle: {type: AIC_ONLY, code: end}
events: [copied, "never used"]
streams:
  main:
    - memcpy_async: {dst: {buffer: dev, offset: 64}, src: x, count: 64}
    - memcpy_async: {dst: dev, src: {buffer: dev, offset: 512}, width: 16, height: 3, dst_pitch: 32, src_pitch: 64}
      name: gather
    - event_record: copied
    - kernel_launch: {kernel: scale, block_dim: 24, args: [dev, {buffer: dev, offset: 512}, 1024, -1, 0xff]}
    - event_record: done
  "side stream":
    - stream_wait_event: copied
    - memset_async: {dst: {buffer: dev, offset: 1KiB}, value: 7}
    - stream_wait_event: done
    - memcpy_async: {dst: "odd name, 2", src: dev, count: 64}
    - npu_clear_float_status: {}
    - npu_get_float_status: {dst: {buffer: dev, offset: 128}}
    - free: dev
)";

}  // namespace vinci::task::test
