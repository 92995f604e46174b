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
  explicit Cube(const Attention& x) : Writer(x) {
    aliases({"q",  "k",      "v",      "qk", "p",   "pv",     "o",      "block", "core",    "tile", "ahead", "part",
             "at", "k_slot", "v_slot", "l0", "acc", "qk_acc", "pv_acc", "t",     "address", "b_at", "init",  "unit"});
    arguments();
    op("mul t, block, {}", kOperand);
    op("add q, q, t");
    all_free("set_flag");
    op("mov ahead, 0");
    op("mov acc, 0");
    label("preload");
    op("mov part, 0");
    label("preload_parts");
    next_accumulator("qk_acc");
    multiply_qk();
    op("add part, part, 1");
    op("blt part, {}, preload_parts", x.parts());
    op("add ahead, ahead, 1");
    op("blt ahead, {}, preload", std::min(x.preload, x.tiles()));
    op("mov tile, 0");
    label("tiles");
    op("bge ahead, {}, no_qk_accumulator", x.tiles());
    next_accumulator("qk_acc");
    label("no_qk_accumulator");
    next_accumulator("pv_acc");
    op("mov part, 0");
    label("parts");
    op("bge ahead, {}, no_qk", x.tiles());
    multiply_qk();
    label("no_qk");
    multiply_pv();
    op("add part, part, 1");
    op("blt part, {}, parts", x.parts());
    op("add ahead, ahead, 1");
    op("add tile, tile, 1");
    op("blt tile, {}, tiles", x.tiles());
    all_free("wait_flag");
    drain(qk_free);
    drain(pv_free);
    op("pipe_barrier PIPE_ALL");
    op("end");
  }

 private:
  void all_free(std::string_view what) {
    for (const std::string_view event : {"0", "1"})
      flag(what, "M", "MTE1", event);
    for (const std::string_view event : {"0", "1", "2", "3"})
      flag(what, "MTE1", "MTE2", event);
  }
  void next_accumulator(std::string_view name) {
    op("mul {}, acc, {}", name, kRows * kHead * 4);
    op("xor acc, acc, 1");
  }
  // 128 rows of 128 elements, one after the other in memory.
  void load(std::string_view dst, std::string_view src) {
    op("copy_gm_to_cbuf_multi_nd2nz_b16 {}, {}, 0, 1, 128, 128, 0, 128, 128, 1, 0", dst, src);
  }
  // L1 to L0, 8 rows of fractals; those of B as they are, or of its transpose.
  void extract(std::string_view core_buffer, std::string_view src, bool transposed) {
    op("mul address, l0, {}", kOperand);
    for (u64 i = 0; i < 8; ++i) {
      op("load_cbuf_to_{} address, {}, {}, 8, {}, 0, {}", core_buffer, src,
         transposed || core_buffer == "ca" ? i : 8 * i, transposed || core_buffer == "ca" ? 8 : 1, transposed ? 1 : 0);
      op("add address, address, {}", kOperand / 8);
    }
  }
  // A and B of L1 to L0 when mad has left it, and mad.
  void multiply(std::string_view a, std::string_view b, bool b_transposed, std::string_view acc, std::string_view unit,
                std::string_view init) {
    flag("wait_flag", "M", "MTE1", "l0");
    extract("ca", a, false);
    extract("cb", b, b_transposed);
    hand_over("MTE1", "M", "l0");
    op("mul address, l0, {}", kOperand);
    op("mad.f162f32 {}, address, address, 128, 128, 128, {}, {}", acc, init, unit);
    flag("set_flag", "M", "MTE1", "l0");
    op("xor l0, l0, 1");
  }
  void store(std::string_view dst, std::string_view acc) {
    op("copy_matrix_cc_to_gm {}, {}, 0, 128, 128, 128, 128, 3, 0, 0, 0, 1", dst, acc);
  }

  void multiply_qk() {
    const u64 n = labels_++;
    flag("wait_flag", "MTE1", "MTE2", "k_slot");
    op("or t, ahead, part");
    op("bne t, 0, q_there_{}", n);
    load("0", "q");
    label(fmt::format("q_there_{}", n));
    op("mul at, ahead, {}", x_.tile * kHead * 2);
    op("mul t, part, {}", kOperand);
    op("add at, at, t");
    op("add at, at, k");
    op("mul address, k_slot, {}", kOperand);
    op("add address, address, {}", kOperand);
    load("address", "at");
    hand_over("MTE2", "MTE1", "k_slot");
    op("mov at, address");
    multiply("0", "at", false, "qk_acc", "3", "1");
    flag("set_flag", "MTE1", "MTE2", "k_slot");
    op("xor k_slot, k_slot, 1");
    op("bne part, 0, qk_place_{}", n);
    wait_free("ahead", qk_free);
    label(fmt::format("qk_place_{}", n));
    place("at", "qk", "ahead", qk_bytes());
    op("mul t, part, {}", kRows * kColumns * 4);
    op("add at, at, t");
    store("at", "qk_acc");
    op("bne part, {}, qk_stored_{}", x_.parts() - 1, n);
    set_cross("FIX", qk_there);
    label(fmt::format("qk_stored_{}", n));
  }

  void multiply_pv() {
    const u64 n = labels_++;
    op("add address, v_slot, 2");
    flag("wait_flag", "MTE1", "MTE2", "address");
    op("mul at, tile, {}", x_.tile * kHead * 2);
    op("mul t, part, {}", kOperand);
    op("add at, at, t");
    op("add at, at, v");
    op("mul address, v_slot, {}", kOperand);
    op("add address, address, {}", 5 * kOperand);
    load("address", "at");
    op("bne part, 0, p_there_{}", n);
    op("wait_flag_dev {}", static_cast<u32>(p_there));
    label(fmt::format("p_there_{}", n));
    place("at", "p", "tile", p_bytes());
    op("mul t, part, {}", kRows * kColumns * 2);
    op("add at, at, t");
    op("mul address, v_slot, {}", kOperand);
    op("add address, address, {}", 3 * kOperand);
    load("address", "at");
    op("bne part, {}, p_read_{}", x_.parts() - 1, n);
    note_free("tile", "MTE2", p_free);
    label(fmt::format("p_read_{}", n));
    op("add address, v_slot, 2");
    hand_over("MTE2", "MTE1", "address");
    op("mul at, v_slot, {}", kOperand);
    op("add at, at, {}", 3 * kOperand);
    op("add b_at, at, {}", 2 * kOperand);
    op("cmp_eq init, part, 0");
    op("cmp_eq unit, part, {}", x_.parts() - 1);
    op("add unit, unit, 2");
    multiply("at", "b_at", true, "pv_acc", "unit", "init");
    op("add address, v_slot, 2");
    flag("set_flag", "MTE1", "MTE2", "address");
    op("xor v_slot, v_slot, 1");
    op("bne part, {}, pv_stored_{}", x_.parts() - 1, n);
    wait_free("tile", pv_free);
    place("at", "pv", "tile", pv_bytes());
    store("at", "pv_acc");
    set_cross("FIX", pv_there);
    label(fmt::format("pv_stored_{}", n));
  }
};

}  // namespace

std::string cube_text(const Attention& x) { return Cube(x).take(); }

}  // namespace vinci::validate::attention
