// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/elementwise.h"

#include <fmt/format.h>

#include "isa/base/error.h"

namespace vinci::gen {
namespace {

using isa::PipeId;
using isa::Reg;

constexpr i64 kBufferBytes = kElementwiseTile * 4;  // of UB, for each operand of a tile

class ElementwiseWriter {
 public:
  ElementwiseWriter(std::string_view name, isa::Arch arch, const Elementwise& k, u64 elements)
      : k_(k), p_(std::string(name), arch), elements_(p_.constant("N", static_cast<i64>(elements))) {
    for (usize i = 0; i < inputs(); ++i)
      gm_in_.push_back(p_.reg(fmt::format("gm{}", i), static_cast<u32>(i)));
    u32 next = 16;
    for (usize i = 0; i < inputs(); ++i)
      ub_.in.push_back(p_.reg(fmt::format("in{}", i), next++));
    ub_.out = p_.reg("out", next++);
    for (u32 i = 0; i < k_.temporaries; ++i)
      ub_.t.push_back(p_.reg(fmt::format("t{}", i), next++));
    for (u32 i = 0; i < k_.scalars; ++i)
      ub_.s.push_back(p_.reg(fmt::format("s{}", i), 24 + i));
    ub_.r16 = r16_;
    ub_.r32 = r32_;
  }

  isa::BuiltProgram program() {
    prologue();
    const isa::Target loop = p_.here("loop"), finish = p_.label("finish");
    p_.mul(at_, tile_, tile_elements_);
    p_.bge(at_, elements_, finish);
    size();
    load();
    p_.wait_flag(PipeId::MTE3, PipeId::V, slot_);
    k_.body(ub_);
    p_.set_flag(PipeId::V, PipeId::MTE2, slot_);
    p_.hand_over(PipeId::V, PipeId::MTE3, slot_);
    piece(gm_out_, k_.output_bytes);
    p_.copy_ubuf_to_gm(gm_, ub_.out, 0, 1, blocks_, 0, 0);
    p_.set_flag(PipeId::MTE3, PipeId::V, slot_);
    p_.xor_(slot_, slot_, 1);
    p_.add(tile_, tile_, step_);
    p_.b(loop);
    p_.bind(finish);
    each_flag([&](PipeId from, PipeId to, u32 event) { p_.wait_flag(from, to, event); });
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  usize inputs() const { return k_.input_bytes.size(); }
  i64 buffers() const { return static_cast<i64>(inputs() + 1 + k_.temporaries); }

  // Two flags for each slot and direction: the slot has been read, the slot has been written.
  template <class Flag>
  static void each_flag(const Flag& flag) {
    for (const u32 event : {0u, 1u})
      flag(PipeId::V, PipeId::MTE2, event);
    for (const u32 event : {0u, 1u})
      flag(PipeId::MTE3, PipeId::V, event);
  }

  void prologue() {
    u64 argument = 0;
    for (const Reg gm : gm_in_)
      p_.ld_arg(gm, argument++);
    p_.ld_arg(gm_out_, argument++);
    for (const Reg scalar : ub_.s)
      p_.ld_arg(scalar, argument++);
    p_.get_block_idx(tile_);
    p_.get_block_num(step_);
    p_.mov(slot_, 0);
    each_flag([&](PipeId from, PipeId to, u32 event) { p_.set_flag(from, to, event); });
  }

  // Elements of the tile, repeats that cover them, addresses in UB.
  void size() {
    p_.sub(n_, elements_, at_);
    p_.min(n_, n_, tile_elements_);
    p_.add(r16_, n_, 127);
    p_.shr(r16_, r16_, 7);
    p_.add(r32_, n_, 63);
    p_.shr(r32_, r32_, 6);
    p_.mul(base_, slot_, slot_bytes_);
    i64 offset = 0;
    for (const auto& list : {ub_.in, {ub_.out}, ub_.t}) {
      for (const Reg address : list) {
        p_.add(address, base_, offset);
        offset += buffer_bytes_;
      }
    }
  }

  // A piece of a tile in global memory: `gm` and `blocks` for elements of this size.
  void piece(Reg pointer, u32 bytes) {
    p_.mul(offset_, at_, bytes);
    p_.add(gm_, pointer, offset_);
    p_.mul(blocks_, n_, bytes);
    p_.shr(blocks_, blocks_, 5);
  }

  void load() {
    p_.wait_flag(PipeId::V, PipeId::MTE2, slot_);
    for (usize i = 0; i < inputs(); ++i) {
      piece(gm_in_[i], k_.input_bytes[i]);
      p_.copy_gm_to_ubuf(ub_.in[i], gm_, 0, 1, blocks_, 0, 0);
    }
    p_.hand_over(PipeId::MTE2, PipeId::V, slot_);
  }

  const Elementwise& k_;
  isa::ProgramBuilder p_;
  const isa::Const elements_;
  const isa::Const tile_elements_ = p_.constant("TILE", kElementwiseTile);
  const isa::Const buffer_bytes_ = p_.constant("BUFFER", kBufferBytes);
  const isa::Const slot_bytes_ = p_.constant("SLOT", buffers() * kBufferBytes);
  const Reg gm_out_ = p_.reg("gm_out", 4), tile_ = p_.reg("tile", 5), step_ = p_.reg("step", 6),
            slot_ = p_.reg("slot", 7), at_ = p_.reg("at", 8), n_ = p_.reg("n", 9), r16_ = p_.reg("r16", 10),
            r32_ = p_.reg("r32", 11), base_ = p_.reg("base", 12), gm_ = p_.reg("gm", 13),
            blocks_ = p_.reg("blocks", 14), offset_ = p_.reg("offset", 15);
  std::vector<Reg> gm_in_ = {};
  ElementwiseTile ub_{p_};
};

// Repeats for lanes of the width of the type.
Reg repeats(const ElementwiseTile& tile, std::string_view instruction) {
  return instruction.ends_with("16") ? tile.r16 : tile.r32;
}

}  // namespace

void ElementwiseTile::unary(std::string_view instruction, Reg dst, Reg src) const {
  p.call(instruction, {dst, src, repeats(*this, instruction), 1, 1, 8, 8});
  fence();
}
void ElementwiseTile::scalar(std::string_view instruction, Reg dst, Reg src, const isa::Value& by) const {
  p.call(instruction, {dst, src, by, repeats(*this, instruction), 1, 1, 8, 8});
  fence();
}
void ElementwiseTile::binary(std::string_view instruction, Reg dst, Reg a, Reg b) const {
  p.call(instruction, {dst, a, b, repeats(*this, instruction), 1, 1, 1, 8, 8, 8});
  fence();
}

Elementwise scaled_store() {
  return {.input_bytes = {4}, .scalars = 1, .temporaries = 1, .body = [](const ElementwiseTile& x) {
            x.scalar("vmuls.f32", x.t[0], x.in[0], x.s[0]);
            x.p.vconv_f322f16(x.out, x.t[0], x.r32, 1, 1, 4, 8);
            x.fence();
          }};
}

isa::BuiltProgram elementwise_program(std::string_view name, isa::Arch arch, const Elementwise& k, u64 elements) {
  if (elements % 128 != 0) fail(Fault::Input, "{} elements are no multiple of 128", elements);
  VINCI_CHECK(k.input_bytes.size() <= 4 && k.temporaries <= 3 && k.scalars <= 2);
  return ElementwiseWriter(name, arch, k, elements).program();
}

}  // namespace vinci::gen
