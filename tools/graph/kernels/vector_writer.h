// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string_view>

#include "isa/builder/program_builder.h"

namespace vinci::graph {

inline constexpr u64 kLanes16 = 128, kLanes32 = 64;
inline constexpr u64 kNumberBytes = 256;  // of UB, for a number in place of a tensor

// The first `count` lanes.
void set_mask(isa::ProgramBuilder& p, u64 count);

// Vector instructions on a part of the elements of buffers: whole repeats, or the rest as one repeat with a mask. Each
// call ends with a barrier, so that the next one may read the result. Addresses are those of first elements of buffers.
class VectorWriter {
 public:
  struct Part {
    bool wide = false;  // lanes of 32 bits
    u64 first = 0;      // element
    u64 repeats = 0;
  };
  // `scratch`: room for a number, then buffers of `scratch_bytes`.
  VectorWriter(isa::ProgramBuilder& p, Part part, u64 scratch, u64 scratch_bytes)
      : p_(p), part_(part), scratch_(scratch), scratch_bytes_(scratch_bytes) {}

  u64 scratch(u32 i) const { return scratch_ + kNumberBytes + i * scratch_bytes_; }
  bool wide() const { return part_.wide; }

  void unary(std::string_view name, u64 dst, u64 src);
  void scalar(std::string_view name, u64 dst, u64 src, double by);
  // An operand that is one block for all positions does not move on.
  void binary(std::string_view name, u64 dst, u64 a, u64 b, bool a_is_block = false, bool b_is_block = false);
  void fill(u64 dst, double value);
  void to_f16(u64 dst, u64 src);
  void to_f32(u64 dst, u64 src);
  // dst (f16) = the nearest number toward zero that i8 (or u8) has; `scratch`: a buffer.
  void to_whole_bytes(u64 dst, u64 src, u64 scratch, bool with_sign);
  void convert(std::string_view name, u64 dst, u64 src);  // between types of 32 bits
  void copy(u64 dst, u64 src) { scalar("vmuls", dst, src, 1); }
  // A block of lanes of this number, until the next one.
  u64 number_block(double value);
  u64 number_block_at(u64 at, double value);
  // dst = a <op> b ? x : y, lane by lane; op: "eq", "ne", "lt", "le", "gt", "ge". `bits`: a buffer of scratch.
  struct Lanes {
    u64 at = 0;
    bool block = false;  // one block for all positions
  };
  struct Choice {
    std::string_view op;
    Lanes a, b;  // compared
    Lanes x, y;  // chosen from
  };
  void choose(u64 dst, const Choice& choice, u64 bits);

 private:
  isa::Type type() const { return part_.wide ? isa::Type::f32 : isa::Type::f16; }
  u64 bytes() const { return part_.wide ? 4 : 2; }
  u64 lanes() const { return part_.wide ? kLanes32 : kLanes16; }
  isa::Value number(double v) const;
  // body(first element, repeats) for as many repeats as one instruction takes.
  template <class Body>
  void each(const Body& body);

  isa::ProgramBuilder& p_;
  Part part_;
  u64 scratch_, scratch_bytes_;
};

}  // namespace vinci::graph
