// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/elementwise.h"

#include <fmt/format.h>

#include "isa/base/error.h"

namespace vinci::gen {
namespace {

constexpr u64 kBufferBytes = kElementwiseTile * 4;  // of UB, for each operand of a tile

// Two flags for each slot and direction: the slot has been read, the slot has been written.
constexpr std::string_view kFlagsUp = R"(  set_flag PIPE_V, PIPE_MTE2, EVENT_ID0
  set_flag PIPE_V, PIPE_MTE2, EVENT_ID1
  set_flag PIPE_MTE3, PIPE_V, EVENT_ID0
  set_flag PIPE_MTE3, PIPE_V, EVENT_ID1
)";
constexpr std::string_view kFlagsDown = R"(  wait_flag PIPE_V, PIPE_MTE2, EVENT_ID0
  wait_flag PIPE_V, PIPE_MTE2, EVENT_ID1
  wait_flag PIPE_MTE3, PIPE_V, EVENT_ID0
  wait_flag PIPE_MTE3, PIPE_V, EVENT_ID1
  pipe_barrier PIPE_ALL
  end
)";

}  // namespace

std::string elementwise_assembly(const Elementwise& k, u64 elements) {
  if (elements % 128 != 0) fail(Fault::Input, "{} elements are no multiple of 128", elements);
  VINCI_CHECK(k.input_bytes.size() <= 4 && k.temporaries <= 3 && k.scalars <= 2);
  const usize inputs = k.input_bytes.size();
  const usize buffers = inputs + 1 + k.temporaries;
  std::string s = fmt::format(".const N = {}\n.const TILE = {}\n.const BUFFER = {}\n.const SLOT = {}\n", elements,
                              kElementwiseTile, kBufferBytes, buffers * kBufferBytes);
  s += ".alias tile = X5\n.alias step = X6\n.alias slot = X7\n.alias at = X8\n.alias n = X9\n.alias r16 = X10\n";
  s += ".alias r32 = X11\n.alias base = X12\n.alias gm = X13\n.alias blocks = X14\n.alias offset = X15\n";
  for (usize i = 0; i < inputs; ++i)
    s += fmt::format(".alias gm{0} = X{0}\n.alias in{0} = X{1}\n", i, 16 + i);
  s += fmt::format(".alias gm_out = X4\n.alias out = X{}\n", 16 + inputs);
  for (u32 i = 0; i < k.temporaries; ++i)
    s += fmt::format(".alias t{} = X{}\n", i, 17 + inputs + i);
  for (usize i = 0; i < inputs; ++i)
    s += fmt::format("  ld_arg gm{0}, {0}\n", i);
  s += fmt::format("  ld_arg gm_out, {}\n", inputs);
  for (u32 i = 0; i < k.scalars; ++i)
    s += fmt::format(".alias s{0} = X{1}\n  ld_arg s{0}, {2}\n", i, 24 + i, inputs + 1 + i);
  s += "  get_block_idx tile\n  get_block_num step\n  mov slot, 0\n";
  s += kFlagsUp;
  s += "loop:\n  mul at, tile, TILE\n  bge at, N, finish\n  sub n, N, at\n  min n, n, TILE\n";
  s += "  add r16, n, 127\n  shr r16, r16, 7\n  add r32, n, 63\n  shr r32, r32, 6\n  mul base, slot, SLOT\n";
  for (usize i = 0; i < buffers; ++i)
    s += fmt::format("  add X{}, base, {} * BUFFER\n", 16 + i, i);
  // A piece of a tile in global memory: `gm` and `blocks` for elements of this size.
  const auto piece = [&](std::string_view pointer, u32 bytes) {
    return fmt::format("  mul offset, at, {0}\n  add gm, {1}, offset\n  mul blocks, n, {0}\n  shr blocks, blocks, 5\n",
                       bytes, pointer);
  };
  s += "  wait_flag PIPE_V, PIPE_MTE2, slot\n";
  for (usize i = 0; i < inputs; ++i) {
    s += piece(fmt::format("gm{}", i), k.input_bytes[i]);
    s += fmt::format("  copy_gm_to_ubuf in{}, gm, 0, 1, blocks, 0, 0\n", i);
  }
  s += "  set_flag PIPE_MTE2, PIPE_V, slot\n  wait_flag PIPE_MTE2, PIPE_V, slot\n  wait_flag PIPE_MTE3, PIPE_V, slot\n";
  for (const std::string& line : k.body)
    s += fmt::format("  {}\n  pipe_barrier PIPE_V\n", line);
  s += "  set_flag PIPE_V, PIPE_MTE2, slot\n  set_flag PIPE_V, PIPE_MTE3, slot\n  wait_flag PIPE_V, PIPE_MTE3, slot\n";
  s += piece("gm_out", k.output_bytes);
  s += "  copy_ubuf_to_gm gm, out, 0, 1, blocks, 0, 0\n  set_flag PIPE_MTE3, PIPE_V, slot\n";
  s += "  xor slot, slot, 1\n  add tile, tile, step\n  b loop\nfinish:\n";
  s += kFlagsDown;
  return s;
}

}  // namespace vinci::gen
