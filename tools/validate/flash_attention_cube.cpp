// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The cube core of flash_attention.h.
#include "tools/validate/flash_attention.h"

namespace vinci::validate::attention {
namespace {

constexpr u64 kOperand = kRows * kHead * 2;  // of a mad, in L1 and L0

// L1: Q, then two places each of K, P and V. L0A, L0B and L0C: two places each.
class Cube final : public Writer {
 public:
  Cube(const Attention& attention, isa::Arch arch) : Writer(attention, "attention_cube", arch, 19) {}

  isa::BuiltProgram program() {
    arguments();
    p_.mul(t, block, kOperand);
    p_.add(q, q, t);
    all_free(true);
    p_.mov(ahead, 0);
    p_.mov(acc, 0);
    const isa::Target preload = p_.here("preload");
    p_.loop(part, 0, x_.parts(), 1, [&] {
      next_accumulator(qk_acc);
      multiply_qk();
    });
    p_.add(ahead, ahead, 1);
    p_.blt(ahead, std::min(x_.preload, x_.tiles()), preload);
    p_.loop(tile, 0, x_.tiles(), 1, [&] { next_tile(); });
    all_free(false);
    drain(qk_free);
    drain(pv_free);
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  // Q K^T of the tile ahead, where there is one, and P V of this one.
  void next_tile() {
    p_.if_(ahead < x_.tiles(), [&] { next_accumulator(qk_acc); });
    next_accumulator(pv_acc);
    p_.loop(part, 0, x_.parts(), 1, [&] {
      p_.if_(ahead < x_.tiles(), [&] { multiply_qk(); });
      multiply_pv();
    });
    p_.add(ahead, ahead, 1);
  }
  void all_free(bool set) {
    for (u64 event = 0; event < 2; ++event)
      flag(set, PipeId::M, PipeId::MTE1, event);
    for (u64 event = 0; event < 4; ++event)
      flag(set, PipeId::MTE1, PipeId::MTE2, event);
  }
  void next_accumulator(Reg name) {
    p_.mul(name, acc, kRows * kHead * 4);
    p_.xor_(acc, acc, 1);
  }
  // 128 rows of 128 elements, one after the other in memory.
  void load(const Value& dst, Reg src) {
    p_.copy_gm_to_cbuf_multi_nd2nz_b16(dst, src, 0, 1, 128, 128, 0, 128, 128, 1, 0);
  }
  // L1 to L0, 8 rows of fractals; those of B as they are, or of its transpose.
  void extract_a(const Value& src) {
    p_.mul(address, l0, kOperand);
    for (u64 i = 0; i < 8; ++i) {
      p_.load_cbuf_to_ca(address, src, i, 8, 8, 0, 0);
      p_.add(address, address, kOperand / 8);
    }
  }
  void extract_b(Reg src, bool transposed) {
    p_.mul(address, l0, kOperand);
    for (u64 i = 0; i < 8; ++i) {
      p_.load_cbuf_to_cb(address, src, transposed ? i : 8 * i, 8, transposed ? 8 : 1, 0, transposed);
      p_.add(address, address, kOperand / 8);
    }
  }
  // A and B of L1 to L0 when mad has left it, and mad.
  void multiply(const Value& a, Reg b, bool b_transposed, Reg c, const Value& unit_flag, const Value& first) {
    p_.wait_flag(PipeId::M, PipeId::MTE1, l0);
    extract_a(a);
    extract_b(b, b_transposed);
    p_.hand_over(PipeId::MTE1, PipeId::M, l0);
    p_.mul(address, l0, kOperand);
    p_.mad(Type::f162f32, c, address, address, 128, 128, 128, first, unit_flag);
    p_.set_flag(PipeId::M, PipeId::MTE1, l0);
    p_.xor_(l0, l0, 1);
  }
  void store(Reg dst, Reg c) { p_.copy_matrix_cc_to_gm(dst, c, 0, 128, 128, 128, 128, 3, 0, 0, 0, 1); }

  void multiply_qk() {
    p_.wait_flag(PipeId::MTE1, PipeId::MTE2, k_slot);
    p_.or_(t, ahead, part);
    p_.if_(t == 0, [&] { load(0, q); });
    p_.mul(at, ahead, x_.tile * kHead * 2);
    p_.mul(t, part, kOperand);
    p_.add(at, at, t);
    p_.add(at, at, k);
    p_.mul(address, k_slot, kOperand);
    p_.add(address, address, kOperand);
    load(address, at);
    p_.hand_over(PipeId::MTE2, PipeId::MTE1, k_slot);
    p_.mov(at, address);
    multiply(0, at, false, qk_acc, 3, 1);
    p_.set_flag(PipeId::MTE1, PipeId::MTE2, k_slot);
    p_.xor_(k_slot, k_slot, 1);
    p_.if_(part == 0, [&] { wait_free(ahead, qk_free); });
    place_in_queue(at, qk, ahead, qk_bytes());
    p_.mul(t, part, kRows * kColumns * 4);
    p_.add(at, at, t);
    store(at, qk_acc);
    p_.if_(part == x_.parts() - 1, [&] { set_cross(PipeId::FIX, qk_there); });
  }

  void multiply_pv() {
    p_.add(address, v_slot, 2);
    p_.wait_flag(PipeId::MTE1, PipeId::MTE2, address);
    p_.mul(at, tile, x_.tile * kHead * 2);
    p_.mul(t, part, kOperand);
    p_.add(at, at, t);
    p_.add(at, at, v);
    p_.mul(address, v_slot, kOperand);
    p_.add(address, address, 5 * kOperand);
    load(address, at);
    p_.if_(part == 0, [&] { wait_cross(p_there); });
    place_in_queue(at, p, tile, p_bytes());
    p_.mul(t, part, kRows * kColumns * 2);
    p_.add(at, at, t);
    p_.mul(address, v_slot, kOperand);
    p_.add(address, address, 3 * kOperand);
    load(address, at);
    p_.if_(part == x_.parts() - 1, [&] { note_free(tile, PipeId::MTE2, p_free); });
    p_.add(address, v_slot, 2);
    p_.hand_over(PipeId::MTE2, PipeId::MTE1, address);
    p_.mul(at, v_slot, kOperand);
    p_.add(at, at, 3 * kOperand);
    p_.add(b_at, at, 2 * kOperand);
    p_.cmp_eq(init, part, 0);
    p_.cmp_eq(unit, part, x_.parts() - 1);
    p_.add(unit, unit, 2);
    multiply(at, b_at, true, pv_acc, unit, init);
    p_.add(address, v_slot, 2);
    p_.set_flag(PipeId::MTE1, PipeId::MTE2, address);
    p_.xor_(v_slot, v_slot, 1);
    p_.if_(part == x_.parts() - 1, [&] { store_pv(); });
  }
  void store_pv() {
    wait_free(tile, pv_free);
    place_in_queue(at, pv, tile, pv_bytes());
    store(at, pv_acc);
    set_cross(PipeId::FIX, pv_there);
  }

  const Reg at = p_.reg("at"), k_slot = p_.reg("k_slot"), v_slot = p_.reg("v_slot"), l0 = p_.reg("l0"),
            acc = p_.reg("acc"), qk_acc = p_.reg("qk_acc"), pv_acc = p_.reg("pv_acc"), address = p_.reg("address"),
            b_at = p_.reg("b_at"), init = p_.reg("init"), unit = p_.reg("unit");
};

}  // namespace

isa::BuiltProgram cube_program(const Attention& attention, isa::Arch arch) { return Cube(attention, arch).program(); }

}  // namespace vinci::validate::attention
