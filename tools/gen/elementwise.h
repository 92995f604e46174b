// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "isa/builder/program_builder.h"

namespace vinci::gen {

// A tile of an element-wise kernel in UB, and the ways to compute on it. Each instruction waits for the one before.
class ElementwiseTile {
 public:
  explicit ElementwiseTile(isa::ProgramBuilder& builder) : p(builder) {}

  // dst = f(src), dst = f(src, scalar), dst = f(a, b), where all have lanes of one width: "vexp.f16".
  void unary(std::string_view instruction, isa::Reg dst, isa::Reg src) const;
  void scalar(std::string_view instruction, isa::Reg dst, isa::Reg src, const isa::Value& scalar) const;
  void binary(std::string_view instruction, isa::Reg dst, isa::Reg a, isa::Reg b) const;
  // What the functions above do not say ends with it.
  void fence() const { p.pipe_barrier(isa::PipeId::V); }

  isa::ProgramBuilder& p;
  std::vector<isa::Reg> in = {}, t = {}, s = {};  // addresses of inputs and temporaries; scalars
  isa::Reg out = {}, r16 = {}, r32 = {};  // address; repeats that cover the tile with lanes of 16 and of 32 bits
};

// A kernel that computes out[i] from in0[i], in1[i], ... over arrays of any multiple of 128 elements: tiles are dealt
// out to the blocks, and copies overlap with the vector unit through two slots of UB. The launch passes the addresses
// of the inputs and of the output and then the scalars, in this order.
struct Elementwise {
  std::vector<u32> input_bytes;  // of an element: 2 or 4; at most 4 inputs
  u32 output_bytes = 2;
  u32 scalars = 0;      // arguments of the launch; at most 2
  u32 temporaries = 0;  // of up to 4 bytes an element; at most 3
  std::function<void(const ElementwiseTile&)> body = {};
};

// out = in * scalar from f32, stored in f16. The scalar is an argument of the launch.
Elementwise scaled_store();

inline constexpr u64 kElementwiseTile = 2048;  // elements

// Throws Fault::Input where `elements` is no multiple of 128.
isa::BuiltProgram elementwise_program(std::string_view name, isa::Arch arch, const Elementwise& kernel, u64 elements);

}  // namespace vinci::gen
