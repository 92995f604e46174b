// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/vector_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace vinci::graph {
namespace {

constexpr u64 kMaxVectorRepeats = 255;

}  // namespace

void set_mask(isa::ProgramBuilder& p, u64 count) {
  const auto bits = [](u64 n) { return n >= 64 ? ~u64{0} : (u64{1} << n) - 1; };
  p.set_vector_mask(count > 64 ? bits(count - 64) : 0, bits(count));
}

isa::Value VectorWriter::number(double v) const {
  return part_.wide ? isa::f32(static_cast<float>(v)) : isa::f16(static_cast<float>(v));
}

template <class Body>
void VectorWriter::each(const Body& body) {
  for (u64 done = 0; done < part_.repeats; done += kMaxVectorRepeats)
    body(part_.first + done * lanes(), std::min(kMaxVectorRepeats, part_.repeats - done));
  p_.pipe_barrier(isa::PipeId::V);
}

void VectorWriter::unary(std::string_view name, u64 dst, u64 src) {
  // c100 has no vrelu of f32.
  if (name == "vrelu" && part_.wide && p_.arch() == isa::Arch::c100)
    return binary("vmax", dst, src, number_block(0), false, true);
  each([&](u64 e, u64 n) { p_.call(name, type(), {dst + e * bytes(), src + e * bytes(), n, 1, 1, 8, 8}); });
}

void VectorWriter::scalar(std::string_view name, u64 dst, u64 src, double by) {
  // c100 has neither vmaxs nor vmins.
  if (p_.arch() == isa::Arch::c100 && (name == "vmaxs" || name == "vmins"))
    return binary(name.substr(0, 4), dst, src, number_block(by), false, true);
  each([&](u64 e, u64 n) { p_.call(name, type(), {dst + e * bytes(), src + e * bytes(), number(by), n, 1, 1, 8, 8}); });
}

void VectorWriter::binary(std::string_view name, u64 dst, u64 a, u64 b, bool a_is_block, bool b_is_block) {
  const u64 a_step = a_is_block ? 0 : 1, b_step = b_is_block ? 0 : 1;
  each([&](u64 e, u64 n) {
    p_.call(name, type(),
            {dst + e * bytes(), a + a_step * e * bytes(), b + b_step * e * bytes(), n, 1, a_step, b_step, 8, 8 * a_step,
             8 * b_step});
  });
}

void VectorWriter::fill(u64 dst, double value) {
  each([&](u64 e, u64 n) { p_.vector_dup(type(), dst + e * bytes(), number(value), n, 1, 1, 8, 8); });
}

// 64 lanes are 4 blocks of f16 and 8 of f32.
void VectorWriter::to_f16(u64 dst, u64 src) {
  each([&](u64 e, u64 n) { p_.vconv_f322f16(dst + e * 2, src + e * 4, n, 1, 1, 4, 8); });
}
void VectorWriter::to_f32(u64 dst, u64 src) {
  each([&](u64 e, u64 n) { p_.vconv_f162f32(dst + e * 4, src + e * 2, n, 1, 1, 8, 4); });
}
// 128 lanes of f16 are 4 blocks of bytes.
void VectorWriter::to_whole_bytes(u64 dst, u64 src, u64 room, bool with_sign) {
  if (part_.wide) {
    convert("vconv_f322s32z", room, src);
    convert("vconv_s322f32", room, room);
    scalar("vmaxs", room, room, with_sign ? -128 : 0);
    scalar("vmins", room, room, with_sign ? 127 : 255);
    return to_f16(dst, room);
  }
  each([&](u64 e, u64 n) {
    const u64 at = room + e;
    with_sign ? p_.vconv_f162s8z(at, src + e * 2, n, 1, 1, 4, 8) : p_.vconv_f162u8z(at, src + e * 2, n, 1, 1, 4, 8);
    p_.pipe_barrier(isa::PipeId::V);
    with_sign ? p_.vconv_s82f16(dst + e * 2, at, n, 1, 1, 8, 4) : p_.vconv_u82f16(dst + e * 2, at, n, 1, 1, 8, 4);
  });
}
void VectorWriter::convert(std::string_view name, u64 dst, u64 src) {
  each([&](u64 e, u64 n) { p_.call(name, {dst + e * 4, src + e * 4, n, 1, 1, 8, 8}); });
}

u64 VectorWriter::number_block(double value) { return number_block_at(scratch_, value); }
u64 VectorWriter::number_block_at(u64 at, double value) {
  p_.vector_dup(type(), at, number(value), 1, 1, 1, 8, 8);
  p_.pipe_barrier(isa::PipeId::V);
  return at;
}

void VectorWriter::choose(u64 dst, const Choice& c, u64 bits) {
  using isa::PipeId;
  const auto at = [&](const Lanes& l, u64 e) { return l.block ? l.at : l.at + e * bytes(); };
  const auto step = [](const Lanes& l, u64 blocks) { return l.block ? 0 : blocks; };
  each([&](u64 e, u64 n) {
    if (n > 1 && p_.arch() != isa::Arch::c100) {
      // The bits of all repeats go to UB, and CMPMASK says where they are.
      p_.call(fmt::format("vcmpv_{}", c.op), type(),
              {bits, at(c.a, e), at(c.b, e), n, 1, step(c.a, 1), step(c.b, 1), 8, step(c.a, 8), step(c.b, 8)});
      const u64 address = bits + n * lanes() / 8;  // a block of 32 B
      p_.vector_dup(isa::Type::s32, align_up<u64>(address, 32), bits, 1, 1, 1, 8, 8);
      p_.pipe_barrier(PipeId::V);
      p_.set_cmpmask(align_up<u64>(address, 32));
      p_.pipe_barrier(PipeId::V);
      constexpr u64 kBitsInMemory = 2;
      return p_.call("vsel", type(),
                     {dst + e * bytes(), at(c.x, e), at(c.y, e), n, 1, step(c.x, 1), step(c.y, 1), 8, step(c.x, 8),
                      step(c.y, 8), kBitsInMemory});
    }
    // CMPMASK has the bits of one repeat.
    for (u64 r = 0; r < n; ++r) {
      const u64 first = e + r * lanes();
      p_.call(fmt::format("vcmp_{}", c.op), type(),
              {at(c.a, first), at(c.b, first), 1, 1, step(c.a, 1), step(c.b, 1), 8, 8, 8});
      p_.pipe_barrier(PipeId::V);
      p_.call("vsel", type(),
              {dst + first * bytes(), at(c.x, first), at(c.y, first), 1, 1, step(c.x, 1), step(c.y, 1), 8, 8, 8});
      p_.pipe_barrier(PipeId::V);
    }
  });
}

}  // namespace vinci::graph
