// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/fixpipe.h"
#include "tools/graph/kernels/convolution_writer.h"
#include "tools/graph/kernels/vector_ops.h"

namespace vinci::graph {

void ConvWriter::tile_in(Reg to, usize argument) {
  p_.mul(to, image_, x_.out_c1);
  if (x_.out_c0 == kC0) {
    p_.add(to, to, n0_);
  } else {
    p_.mul(t3_, n0_, kC0);
    p_.div(t3_, t3_, x_.out_c0);
    p_.add(to, to, t3_);
  }
  p_.mul(to, to, x_.positions);
  p_.add(to, to, m0_);
  p_.shl(to, to, 5);
  p_.ld_arg(t3_, argument);
  p_.add(to, to, t3_);
}

void ConvWriter::store_by_fixpipe() {
  const bool relu = has_epilogue() || (x_.scaling != nullptr && x_.scaling->integer("relu_flag") != 0);
  p_.comment("the tile is complete");
  p_.wait_flag(PipeId::M, PipeId::FIX, c_slot_);
  if (x_.scaling != nullptr) {
    p_.comment("the parameters of the filters, when FIXPIPE is through with those before");
    p_.mul(t0_, n0_, kC0 * 8);
    p_.add(t0_, t0_, factors_at());
    p_.pipe_barrier(PipeId::FIX);
    p_.copy_cbuf_to_fbuf(0, t0_, 1, n1_, 0, 0);
    p_.pipe_barrier(PipeId::FIX);
  }
  tile_in(t0_, group_.inputs().size());
  p_.mul(t1_, c_slot_, s_.m * s_.n * 4);
  p_.shl(t2_, n1_, 4);
  if (x_.out_bytes == 4) {  // blocks of 8 channels, of which the last one of 16 may have one
    p_.mul(t3_, n0_, kC0);
    p_.sub(t3_, x_.out_c1 * x_.out_c0, t3_);
    p_.min(t2_, t2_, t3_);
  }
  p_.shl(t3_, m1_, 4);
  p_.copy_matrix_cc_to_gm(t0_, t1_, 0, t2_, m_, x_.positions, t3_, 0, quant_pre(), relu ? 1 : 0,
                          x_.out_bytes == 4 ? 1 : 0, 0);
  p_.set_flag(PipeId::FIX, PipeId::M, c_slot_);
}

u32 ConvWriter::quant_pre() const {
  using isa::insn::QuantPre;
  if (x_.scaling != nullptr) return static_cast<u32>(x_.out_bytes == 1 ? QuantPre::vreq8 : QuantPre::vdeqf16);
  if (x_.out_bytes == 4) return static_cast<u32>(QuantPre::none);
  return static_cast<u32>(mad_ == Type::bf162f32 ? QuantPre::f32_to_bf16 : QuantPre::f32_to_f16);
}

void ConvWriter::store_through_ub() {
  const usize extra = residuals_.size();
  p_.comment("the tile is complete");
  for (usize i = 0; i < extra; ++i) {
    if (i == 0) p_.wait_flag(PipeId::V, PipeId::MTE2, c_slot_);
    tile_in(t0_, static_cast<usize>(std::ranges::find(group_.inputs(), residuals_[i]) - group_.inputs().begin()));
    p_.mul(t1_, c_slot_, tile_bytes());
    p_.add(t1_, t1_, residual_at() + i * 2 * tile_bytes());
    p_.shl(t2_, m1_, 4);
    p_.sub(t2_, t2_, m_);
    between(t0_, t1_, t2_, true);
  }
  if (extra > 0) p_.hand_over(PipeId::MTE2, PipeId::V, c_slot_);
  p_.wait_flag(PipeId::M, PipeId::V, c_slot_);
  p_.wait_flag(PipeId::MTE3, PipeId::V, c_slot_);
  p_.mul(t0_, c_slot_, s_.m * s_.n * 4);
  p_.mul(t1_, c_slot_, tile_bytes());
  p_.add(t1_, t1_, out_at());
  if (x_.scaling != nullptr) {   // a piece for each 16 filters, which have parameters of their own
    constexpr u64 kVdeq16 = 10;  // CRMODE
    p_.shl(t2_, n0_, 2);
    p_.add(t2_, t2_, factors_at() / 32);
    p_.set_deqscale(t2_);
    p_.copy_matrix_cc_to_ubuf(Type::s32, t1_, t0_, 0, n1_, m1_, 0, 0, kVdeq16);
  } else {
    p_.mul(t2_, m1_, n1_);
    p_.copy_matrix_cc_to_ubuf(x_.out_bytes == 4 ? Type::s32 : Type::f32, t1_, t0_, 0, 1, t2_, 0, 0,
                              x_.out_bytes == 4 ? 0 : 1);
  }
  p_.set_flag(PipeId::V, PipeId::M, c_slot_);
  epilogue();
  if (extra > 0) p_.set_flag(PipeId::V, PipeId::MTE2, c_slot_);
  p_.hand_over(PipeId::V, PipeId::MTE3, c_slot_);
  tile_in(t0_, group_.inputs().size());
  p_.mul(t1_, c_slot_, tile_bytes());
  p_.add(t1_, t1_, out_at());
  p_.shl(t2_, m1_, 4);
  p_.sub(t2_, t2_, m_);
  between(t0_, t1_, t2_, false);
  p_.set_flag(PipeId::MTE3, PipeId::V, c_slot_);
}

void ConvWriter::between(Reg gm, Reg ub, Reg gap, bool load) {
  if (x_.out_bytes == 4) return store_halves(gm, ub);
  const auto copy = [&](const isa::Value& count, const isa::Value& far, const isa::Value& near) {
    if (load) return p_.copy_gm_to_ubuf(ub, gm, 0, count, m_, far, near);
    p_.copy_ubuf_to_gm(gm, ub, 0, count, m_, near, far);
  };
  if (x_.positions <= kMaxCopyGap) {
    p_.sub(t3_, x_.positions, m_);
    return copy(n1_, t3_, gap);
  }
  p_.shl(t3_, m1_, 9);
  p_.loop(n1_, [&](Reg) {
    copy(1, 0, 0);
    p_.add(gm, gm, x_.positions * 32);
    p_.add(ub, ub, t3_);
  });
}

void ConvWriter::store_halves(Reg gm, Reg ub) {
  const Target next = p_.label("halves"), done = p_.label("halves_done");
  p_.mul(t2_, n0_, kC0 / x_.out_c0);
  p_.sub(t2_, x_.out_c1, t2_);  // blocks of 8 from the tile on
  p_.shl(k_, n1_, 1);
  p_.min(t2_, t2_, k_);
  p_.mov(k_, 0);
  p_.shl(t3_, m1_, 10);
  p_.bind(next);
  p_.bge(k_, t2_, done);
  p_.copy_ubuf_to_gm(gm, ub, 0, m_, 1, 1, 0);
  p_.add(gm, gm, x_.positions * 32);
  p_.and_(first_, k_, 1);
  p_.if_(
      first_ == 0, [&] { p_.add(ub, ub, 32); },
      [&] {
        p_.add(ub, ub, t3_);
        p_.sub(ub, ub, 32);
      });
  p_.add(k_, k_, 1);
  p_.b(next);
  p_.bind(done);
}

void ConvWriter::epilogue() {
  if (!has_epilogue()) return;
  p_.pipe_barrier(PipeId::V);
  const usize first = first_behind();
  const Temporaries inner = temporaries(group_, first);
  const auto write = [&](u64 slot) {
    const Addresses where = [&](const Value* v) {
      const Value* const outer = group_.resolve(v);
      if (v == group_.nodes()[first - 1]->output() || outer == group_.outputs()[0])
        return out_at() + slot * tile_bytes();
      for (usize i = 0; i < residuals_.size(); ++i) {
        if (outer == residuals_[i]) return residual_at() + (i * 2 + slot) * tile_bytes();
      }
      return between_at() + inner.of.at(v) * tile_bytes();
    };
    write_vector_nodes(p_, group_, first, {.at = where, .scratch = between_at() + inner.count * tile_bytes()},
                       s_.m * s_.n);
  };
  p_.if_(
      c_slot_ == 0, [&] { write(0); }, [&] { write(1); });
}

}  // namespace vinci::graph
