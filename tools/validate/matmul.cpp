// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// C[M,N] = A[M,K] * B on the cube cores, as matmul libraries of the split core do it: each core has a rectangle of C
// and computes it tile by tile; k goes through L1 in groups of base blocks, of A and of B apart, and through two slots
// of L0.
#include <fmt/format.h>

#include <algorithm>

#include "isa/base/error.h"
#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

using isa::PipeId, isa::Reg, isa::Target, isa::Value;

struct Matmul {
  u64 m, n, k;
  u64 base_m, base_n, base_k;
  u64 step_ka, step_kb;     // base blocks of k that one copy to L1 brings
  u64 l1_slots;             // 1 or 2
  u64 split_m, split_n;     // cores along m and n
  u64 single_m, single_n;   // rows and columns of each core, the last ones have what is left
  bool cores_along_m;       // consecutive cores are neighbours along m, else along n
  bool by_rows;             // a core makes its tiles row by row, else column by column
  u64 passes;               // over the rows: each core has a part of its rectangle in each
  u64 swizzle;              // 0: rectangles; else tiles are dealt to the cores in strips of so many rows of tiles
  bool swizzle_columns;     // of so many columns of tiles
  bool release_apart;       // a slot of L1 is free after the loads to L0 of its own operand, else after those of both
  bool shuffle_k;           // each core begins at another group of k
  bool b_nz;                // B is stored as NZ of [K,N]
  bool b_transposed;        // B is stored [N,K], else [K,N]
  u64 in_bytes, out_bytes;  // of an element
  bool unit_flag;
  u64 scalar;  // cycles that the scalar unit works for each base block of k
  std::string type;
};

// A walk over the tiles of a core: the place of the tile, and of the loads to L1, the next group of k.
struct Walk {
  Reg m0, n0, tile, k;
};

// One of the two operands on its way to L1: its walk, how large a group is, where its slots are.
struct Side {
  bool is_a;
  u64 step, base, events;  // first event id
  u64 address;             // of its slots in L1
  Reg gm;                  // of the operand
  Walk walk;
};

// Base blocks of k, the last one may be a part.
u64 k_blocks(const Matmul& x) { return ceil_div(x.k, x.base_k); }

// Base blocks of k in the loop: their slots and their places in L1 are then numbers.
u64 unrolled(const Matmul& x) { return std::max<u64>(2, std::max(x.step_ka, x.step_kb) * x.l1_slots); }

// With empty ones at the end, so that the slots are the same for each tile.
u64 looped_blocks(const Matmul& x) { return align_up(k_blocks(x), unrolled(x)); }

class MatmulWriter {
 public:
  MatmulWriter(const Matmul& x, isa::Arch arch)
      : x_(x), tail_(looped_blocks(x) * x.base_k != x.k), p_("matmul", arch) {}

  isa::BuiltProgram program() {
    const Target finish = p_.label("finish");
    header();
    flags(true);
    const Target passes = p_.here("passes");
    begin_pass(finish);
    for (const Side& side : sides_)
      if (x_.l1_slots == 2) load(side, 0);
    const Target tile_loop = p_.here("tile");
    tile_extent();
    p_.mov(kb, 0);
    const Target k_loop = p_.here("k_loop");
    for (u64 block = 0; block < unrolled(x_); ++block)
      step(block);
    p_.blt(kb, looped_blocks(x_), k_loop);
    store();
    advance(own_);
    p_.blt(m0, m_end, tile_loop);
    p_.add(pass, pass, 1);
    p_.blt(pass, x_.passes, passes);
    p_.bind(finish);
    flags(false);
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  u64 block_fractals() const { return x_.base_k * x_.in_bytes / 32; }  // of a base block along k
  isa::Const constant(std::string_view name, u64 value) { return p_.constant(name, static_cast<i64>(value)); }
  u64 l1_bytes_of_a() const { return x_.base_m * x_.base_k * x_.step_ka * x_.in_bytes * x_.l1_slots; }

  void header() {
    p_.ld_arg(a_gm, 0);
    p_.ld_arg(b_gm, 1);
    p_.ld_arg(c_gm, 2);
    p_.get_block_idx(mi);
    if (x_.swizzle > 0) return;
    if (x_.cores_along_m) {
      p_.div(ni, mi, x_.split_m);
      p_.rem(mi, mi, x_.split_m);
    } else {
      p_.rem(ni, mi, SPLIT_N);
      p_.div(mi, mi, SPLIT_N);
    }
    p_.mul(n_first, ni, CORE_N);
    p_.add(n_end, n_first, CORE_N);
    p_.min(n_end, n_end, N);
    p_.mov(pass, 0);
  }

  void begin_pass(Target finish) {
    if (x_.swizzle > 0) return begin_dealt(finish);
    p_.mul(t0, pass, PASS_M);
    p_.add(t1, t0, PASS_M);
    p_.min(t1, t1, M);
    p_.mul(m_first, mi, CORE_M);
    p_.add(m_first, m_first, t0);
    p_.add(m_end, m_first, CORE_M);
    p_.min(m_end, m_end, t1);
    for (const Walk& w : {own_, sides_[0].walk, sides_[1].walk}) {
      p_.mov(w.m0, m_first);
      p_.mov(w.n0, n_first);
    }
    p_.mov(load_ak, 0);
    p_.mov(load_bk, 0);
    p_.bge(m_first, m_end, finish);
    p_.bge(n_first, n_end, finish);
  }

  // Tiles are dealt to the cores in turn, as GemmIdentityBlockSwizzle of catlass numbers them: strips of `swizzle` rows
  // of tiles, columns of a strip one after the other, every second strip from the other side; or rows and columns
  // change places.
  void begin_dealt(Target finish) {
    p_.mov(m_end, M);
    p_.mov(n_end, N);
    for (const Walk& w : {own_, sides_[0].walk, sides_[1].walk}) {
      p_.mov(w.tile, mi);
      find_tile(w);
    }
    p_.mov(load_ak, 0);
    p_.mov(load_bk, 0);
    p_.bge(m0, m_end, finish);
  }
  void find_tile(const Walk& w) {
    const u64 m_tiles = ceil_div(x_.m, x_.base_m), n_tiles = ceil_div(x_.n, x_.base_n);
    // Across the strips, and along them.
    const Reg across = x_.swizzle_columns ? w.n0 : w.m0, along = x_.swizzle_columns ? w.m0 : w.n0;
    const u64 lanes = x_.swizzle_columns ? n_tiles : m_tiles, tiles = x_.swizzle_columns ? m_tiles : n_tiles;
    const Target forward = p_.label("forward"), found = p_.label("found");
    p_.mov(w.m0, M);
    p_.bge(w.tile, m_tiles * n_tiles, found);
    p_.div(t0, w.tile, x_.swizzle * tiles);
    p_.rem(t1, w.tile, x_.swizzle * tiles);
    p_.mul(src, t0, x_.swizzle);
    p_.sub(size, lanes, src);
    p_.min(size, size, x_.swizzle);
    p_.rem(across, t1, size);
    p_.add(across, across, src);
    p_.div(along, t1, size);
    p_.and_(t0, t0, 1);
    p_.beq(t0, 0, forward);
    p_.sub(along, tiles - 1, along);
    p_.bind(forward);
    p_.mul(w.m0, w.m0, BASE_M);
    p_.mul(w.n0, w.n0, BASE_N);
    p_.bind(found);
  }

  // Every slot is free at the start and at the end.
  void flags(bool set) {
    const auto flag = [&](PipeId from, PipeId to, u64 event) {
      set ? p_.set_flag(from, to, event) : p_.wait_flag(from, to, event);
    };
    for (const Side& side : sides_)
      for (u64 slot = 0; slot < x_.l1_slots; ++slot)
        flag(PipeId::MTE1, PipeId::MTE2, side.events + slot);
    for (u64 slot = 0; slot < 2; ++slot)
      flag(PipeId::M, PipeId::MTE1, slot);
    if (!x_.unit_flag) flag(PipeId::FIX, PipeId::M, 0);
  }

  // The next tile of a walk over the rectangle, columns of tiles one after the other, or rows; past the last one m0 is
  // not in it.
  void advance(const Walk& w) {
    if (x_.swizzle > 0) {
      p_.add(w.tile, w.tile, x_.split_m * x_.split_n);
      return find_tile(w);
    }
    const Target same = p_.label("same");
    if (x_.by_rows) {
      p_.add(w.n0, w.n0, BASE_N);
      p_.blt(w.n0, n_end, same);
      p_.add(w.m0, w.m0, BASE_M);
      p_.mov(w.n0, n_first);
    } else {
      p_.add(w.m0, w.m0, BASE_M);
      p_.blt(w.m0, m_end, same);
      p_.add(w.n0, w.n0, BASE_N);
      p_.bge(w.n0, n_end, same);
      p_.mov(w.m0, m_first);
    }
    p_.bind(same);
  }

  // The next group of k of one operand to its slot.
  void load(const Side& side, u64 slot) {
    const Walk& w = side.walk;
    const Target loaded = p_.label("loaded");
    const u64 columns = x_.base_k * side.step;
    p_.bge(w.m0, m_end, loaded);
    p_.wait_flag(PipeId::MTE1, PipeId::MTE2, side.events + slot);
    const bool rows_are_k = !side.is_a && !x_.b_transposed;
    const u64 dst = side.address + slot * side.base * columns * x_.in_bytes;
    const Reg first = side.is_a ? w.m0 : w.n0;
    p_.sub(size, side.is_a ? m_end : n_end, first);
    p_.min(size, size, side.base);
    Reg k = w.k;
    if (x_.shuffle_k) {
      k = t0;
      p_.get_block_idx(t0);
      p_.rem(t0, t0, x_.k / columns);
      p_.mul(t0, t0, columns);
      p_.add(t0, t0, w.k);
      p_.if_(t0 >= K, [&] { p_.sub(t0, t0, K); });
    }
    if (rows_are_k && x_.b_nz) {
      p_.mul(src, w.n0, K);
      p_.mul(t0, k, 32 / x_.in_bytes);
      p_.add(src, src, t0);
    } else if (rows_are_k) {
      p_.mul(src, k, N);
      p_.add(src, src, w.n0);
    } else {
      p_.mul(src, first, K);
      p_.add(src, src, k);
    }
    p_.mul(src, src, x_.in_bytes);
    p_.add(src, src, side.gm);
    if (tail_) {
      p_.sub(t1, K, w.k);
      p_.min(t1, t1, columns);
      p_.if_(Value(0) < t1, [&] { copy(side, dst, columns, t1); });
    } else {
      copy(side, dst, columns, columns);
    }
    p_.set_flag(PipeId::MTE2, PipeId::MTE1, side.events + slot);
    p_.add(w.k, w.k, columns);
    p_.blt(w.k, looped_blocks(x_) * x_.base_k, loaded);
    p_.mov(w.k, 0);
    advance(w);
    p_.bind(loaded);
  }

  // From src to L1: `size` rows of A or columns of B, `k_here` of the `columns` along k that a slot has.
  void copy(const Side& side, u64 dst, u64 columns, const Value& k_here) {
    if (!side.is_a && x_.b_nz) {
      p_.mul(t0, size, x_.in_bytes);
      p_.shr(t0, t0, 5);
      p_.sub(ni, K, k_here);
      p_.sub(init, columns, k_here);
      p_.copy_gm_to_cbuf(dst, src, 0, t0, k_here, ni, init);
    } else if (!side.is_a && !x_.b_transposed) {
      nd2nz(dst, k_here, size, N, columns);
    } else {
      p_.add(t0, size, 15);
      p_.shr(t0, t0, 4);
      p_.shl(t0, t0, 4);
      nd2nz(dst, size, k_here, K, t0);
    }
  }

  // A matrix of `rows` by `columns` at src, `pitch` elements from row to row, with `stride` rows in L1.
  void nd2nz(u64 dst, const Value& rows, const Value& columns, const Value& pitch, const Value& stride) {
    if (x_.in_bytes == 1) {
      p_.copy_gm_to_cbuf_multi_nd2nz_b8(dst, src, 0, 1, rows, columns, 0, pitch, stride, 1, 0);
    } else {
      p_.copy_gm_to_cbuf_multi_nd2nz_b16(dst, src, 0, 1, rows, columns, 0, pitch, stride, 1, 0);
    }
  }

  void tile_extent() {
    p_.sub(m, m_end, m0);
    p_.min(m, m, BASE_M);
    p_.sub(n, n_end, n0);
    p_.min(n, n, BASE_N);
    p_.add(m1, m, 15);
    p_.shr(m1, m1, 4);
    p_.add(n1, n, 15);
    p_.shr(n1, n1, 4);
  }

  // One base block of k: what L1 lacks, then L1 to L0, then mad.
  void step(u64 block) {
    for (const Side& side : sides_) {
      if (block % side.step != 0) continue;
      const u64 slot = block / side.step % x_.l1_slots;
      load(side, x_.l1_slots == 2 ? 1 - slot : slot);  // the group ahead
      p_.wait_flag(PipeId::MTE2, PipeId::MTE1, side.events + slot);
    }
    for (u64 i = 0; i < x_.scalar; ++i)
      p_.mov(t1, 0);
    if (tail_) {
      const Target no_block = p_.label("no_block"), done = p_.label("block_done");
      p_.bge(kb, K_BLOCKS, no_block);
      multiply(block);
      p_.beq(kb, kb, done);
      p_.bind(no_block);
      release_both(block);
      p_.bind(done);
    } else {
      multiply(block);
    }
    p_.add(kb, kb, 1);
  }

  void multiply(u64 block) {
    const u64 l0 = block % 2;
    p_.wait_flag(PipeId::M, PipeId::MTE1, l0);
    const bool part = x_.k % x_.base_k != 0 && block == (k_blocks(x_) - 1) % unrolled(x_);  // it may be the last one
    if (part) {
      p_.mul(size, kb, x_.base_k);
      p_.sub(size, K, size);
      p_.min(size, size, x_.base_k);
      p_.div(ni, size, 32 / x_.in_bytes);
      p_.sub(ni, ni, 1);
    }
    const u64 l0a = l0 * x_.base_m * x_.base_k * x_.in_bytes, l0b = l0 * x_.base_n * x_.base_k * x_.in_bytes;
    for (const Side& side : sides_) {
      side.is_a ? extract_a(side, block, l0a, part) : extract_b(side, block, l0b);
      if (x_.release_apart) release(side, block);
    }
    p_.set_flag(PipeId::MTE1, PipeId::M, l0);
    if (!x_.release_apart) release_both(block);
    p_.wait_flag(PipeId::MTE1, PipeId::M, l0);
    p_.cmp_eq(init, kb, 0);
    if (!x_.unit_flag && block == 0) p_.if_(init != 0, [&] { p_.wait_flag(PipeId::FIX, PipeId::M, 0); });
    p_.max(t1, m, 2);
    Value unit = 0;
    if (x_.unit_flag) {  // the last block of k says that its results are ready
      p_.add(t0, kb, 1);
      p_.cmp_eq(t0, t0, K_BLOCKS);
      p_.add(t0, t0, 2);
      unit = t0;
    }
    const Value depth = part ? Value(size) : Value(x_.base_k);
    const Value operands[] = {0, l0a, l0b, t1, depth, n, init, unit};
    p_.call("mad." + x_.type, operands);
    p_.set_flag(PipeId::M, PipeId::MTE1, l0);
  }

  // Where a base block is in L1: its slot, and the fractal columns of its group before it.
  u64 slot_of(const Side& side, u64 block) const {
    return side.address + block / side.step % x_.l1_slots * side.base * x_.base_k * side.step * x_.in_bytes;
  }
  u64 first_of(const Side& side, u64 block) const { return block % side.step * block_fractals(); }

  // A base block from L1 to L0; `part`: it may have less of k.
  void extract_a(const Side& side, u64 block, u64 l0a, bool part) {
    const u64 kf = block_fractals();
    const Target there = p_.label("a_there");
    for (u64 f = 0; f < kf; ++f) {
      if (part && f > 0) p_.blt(ni, f, there);
      p_.mul(t0, m1, first_of(side, block) + f);
      p_.load_cbuf_to_ca(l0a + f * 512, slot_of(side, block), t0, m1, 1, 0, 0, part ? Value(ni) : Value(kf - 1));
    }
    p_.bind(there);
  }
  void extract_b(const Side& side, u64 block, u64 l0b) {
    for (u64 f = 0; f < block_fractals(); ++f) {
      const u64 column = first_of(side, block) + f;
      if (x_.b_transposed) p_.mul(t0, n1, column);
      p_.shl(t1, n1, 9);
      p_.mul(t1, t1, f);
      p_.add(t1, t1, l0b);
      if (x_.b_transposed) {
        p_.load_cbuf_to_cb(t1, slot_of(side, block), t0, n1, 1, 0, 0);
      } else {
        p_.load_cbuf_to_cb(t1, slot_of(side, block), column, n1, x_.base_k * side.step / 16, 0, 1);
      }
    }
  }
  // The slot of L1 is free after the last block of its group.
  void release(const Side& side, u64 block) {
    const u64 slot = block / side.step % x_.l1_slots;
    if ((block + 1) % side.step == 0) p_.set_flag(PipeId::MTE1, PipeId::MTE2, side.events + slot);
  }

  void release_both(u64 block) {
    for (const Side& side : sides_)
      release(side, block);
  }

  void store() {
    if (!x_.unit_flag) p_.hand_over(PipeId::M, PipeId::FIX, 0);
    p_.mul(src, m0, N);
    p_.add(src, src, n0);
    p_.mul(src, src, x_.out_bytes);
    p_.add(src, src, c_gm);
    p_.shl(t0, m1, 4);
    const u64 quantisation = x_.out_bytes == 4 ? 0 : x_.type[0] == 's' ? 11 : 1;
    p_.copy_matrix_cc_to_gm(src, 0, 0, n, m, N, t0, x_.unit_flag ? 3 : 0, quantisation, 0, 0, 1);
    if (!x_.unit_flag) p_.set_flag(PipeId::FIX, PipeId::M, 0);
  }

  const Matmul& x_;
  const bool tail_;  // k is no whole number of loops
  isa::ProgramBuilder p_;
  const isa::Const M = constant("M", x_.m), N = constant("N", x_.n), K = constant("K", x_.k),
                   CORE_M = constant("CORE_M", x_.single_m), CORE_N = constant("CORE_N", x_.single_n),
                   SPLIT_N = constant("SPLIT_N", x_.split_n), PASS_M = constant("PASS_M", ceil_div(x_.m, x_.passes)),
                   BASE_M = constant("BASE_M", x_.base_m), BASE_N = constant("BASE_N", x_.base_n),
                   K_BLOCKS = constant("K_BLOCKS", k_blocks(x_));
  const Reg a_gm = p_.reg("a_gm"), b_gm = p_.reg("b_gm"), c_gm = p_.reg("c_gm"), kb = p_.reg("kb"),
            m_first = p_.reg("m_first"), m_end = p_.reg("m_end"), n_first = p_.reg("n_first"), n_end = p_.reg("n_end"),
            m0 = p_.reg("m0"), n0 = p_.reg("n0"), m = p_.reg("m"), n = p_.reg("n"), m1 = p_.reg("m1"),
            n1 = p_.reg("n1"), load_am0 = p_.reg("load_am0"), load_an0 = p_.reg("load_an0"),
            load_ak = p_.reg("load_ak"), load_bm0 = p_.reg("load_bm0"), load_bn0 = p_.reg("load_bn0"),
            load_bk = p_.reg("load_bk"), pass = p_.reg("pass"), src = p_.reg("src"), size = p_.reg("size"),
            t0 = p_.reg("t0"), t1 = p_.reg("t1"), init = p_.reg("init"), mi = p_.reg("mi"), ni = p_.reg("ni"),
            tile = p_.reg("tile"), load_atile = p_.reg("load_atile"), load_btile = p_.reg("load_btile");
  const Walk own_{m0, n0, tile, kb};
  const Side sides_[2] = {
      {true, x_.step_ka, x_.base_m, 0, 0, a_gm, {load_am0, load_an0, load_atile, load_ak}},
      {false, x_.step_kb, x_.base_n, 2, l1_bytes_of_a(), b_gm, {load_bm0, load_bn0, load_btile, load_bk}}};
};

KernelStream matmul_kernel(const Params& p, const config::ChipConfig& chip) {
  Matmul x{.m = p.whole("m"),
           .n = p.whole("n"),
           .k = p.whole("k"),
           .base_m = p.whole("base_m"),
           .base_n = p.whole("base_n"),
           .base_k = p.whole("base_k"),
           .step_ka = p.whole("step_ka"),
           .step_kb = p.whole("step_kb"),
           .l1_slots = p.whole("l1_slots"),
           .split_m = p.whole("split_m"),
           .split_n = p.whole("split_n"),
           .single_m = p.whole("single_m"),
           .single_n = p.whole("single_n"),
           .cores_along_m = p.flag("cores_along_m"),
           .by_rows = p.flag("by_rows"),
           .passes = p.whole("passes"),
           .swizzle = p.whole("swizzle"),
           .swizzle_columns = p.flag("swizzle_columns"),
           .release_apart = p.flag("release_apart"),
           .shuffle_k = p.flag("shuffle_k"),
           .b_nz = p.flag("b_nz"),
           .b_transposed = p.flag("b_transposed"),
           .in_bytes = p.whole("in_bytes"),
           .out_bytes = p.whole("out_bytes"),
           .unit_flag = p.flag("unit_flag"),
           .scalar = p.whole("scalar"),
           .type = p.text("type")};
  constexpr u64 kMost = u64{1} << 24;
  for (const u64 n : {x.m, x.n, x.k, x.base_m, x.base_n, x.base_k, x.step_ka, x.step_kb, x.split_m, x.split_n, x.passes,
                      x.in_bytes, x.out_bytes})
    p.need(n > 0 && n <= kMost, "sizes are 1 to 2^24");
  p.need(x.single_m <= kMost && x.single_n <= kMost, "single_m and single_n are at most 2^24");
  if (x.single_m == 0) x.single_m = ceil_div(x.m, x.split_m * x.passes);
  if (x.single_n == 0) x.single_n = ceil_div(x.n, x.split_n);
  const u64 block = 32 / std::min<u64>(x.in_bytes, 2);  // elements of 32 B
  p.need(x.in_bytes <= 2, "in_bytes: 1 or 2");
  p.need((x.type.starts_with("s8") || x.type.starts_with("u8")) == (x.in_bytes == 1),
         "in_bytes is 1 where type is s8 or u8, and 2 elsewhere");
  p.need(x.out_bytes == 2 || x.out_bytes == 4, "out_bytes: 2 or 4");
  p.need(x.l1_slots == 1 || x.l1_slots == 2, "l1_slots: 1 or 2");
  p.need(x.k % block == 0, "k is a multiple of 32 bytes");
  p.need(x.base_m % 16 == 0 && x.base_n % 16 == 0 && x.base_k % block == 0,
         "base_m and base_n are multiples of 16, base_k of 32 bytes");
  p.need(std::max(x.step_ka, x.step_kb) <= 64 && std::max(x.step_ka, x.step_kb) % std::min(x.step_ka, x.step_kb) == 0,
         "of step_ka and step_kb one is a multiple of the other, and they are at most 64");
  p.need(x.passes <= x.m, "passes: at most m");
  p.need(x.scalar <= 100'000, "scalar: at most 100000 cycles");
  p.need(x.swizzle > 0 || (x.single_m * x.split_m >= ceil_div(x.m, x.passes) && x.single_n * x.split_n >= x.n),
         "single_m and single_n leave a part of C to no core");
  p.need(x.swizzle == 0 || (!x.cores_along_m && !x.by_rows),
         "cores_along_m and by_rows are of rectangles; swizzle has an order of its own");
  p.need(!x.shuffle_k || (x.step_ka == x.step_kb && looped_blocks(x) * x.base_k == x.k),
         "shuffle_k is of equal groups of A and B in whole loops over k");
  p.need(!x.b_nz || !x.b_transposed, "b_nz is of B that is not transposed");
  p.need(!x.b_nz || (x.n % block == 0 && x.single_n % block == 0), "b_nz: n and single_n are multiples of 32 bytes");
  return {.code = MatmulWriter(x, chip.arch).program(),
          .cube = true,
          .blocks = static_cast<u32>(x.split_m * x.split_n),
          .l2 = l2_state(p),
          .buffers = {{x.m * x.k * x.in_bytes}, {x.k * x.n * x.in_bytes}, {x.m * x.n * x.out_bytes}}};
}

}  // namespace

Family matmul() {
  return {.name = "matmul",
          .doc = "C[m,n] = A[m,k] * B on the cube cores, each with a rectangle of C",
          .parameters = {{"m", "", "", "rows of A and C"},
                         {"n", "", "", "columns of C"},
                         {"k", "", "", "columns of A"},
                         {"split_m", "", "1", "cores along m"},
                         {"split_n", "", "1", "cores along n"},
                         {"single_m", "", "0", "rows of each core and pass; 0: all the same"},
                         {"single_n", "", "0", "columns of each core; 0: all the same"},
                         {"base_m", "", "128", "rows of a tile of C"},
                         {"base_n", "", "256", "columns of a tile of C"},
                         {"base_k", "", "64", "columns of A that one mad takes"},
                         {"step_ka", "", "1", "base blocks of A that one copy to L1 brings"},
                         {"step_kb", "", "1", "the same of B"},
                         {"l1_slots", "", "2", "1: a copy to L1 waits until the one before is used up"},
                         {"passes", "", "1", "over parts of the rows, one after the other"},
                         {"cores_along_m", "", "0", "1: consecutive cores are neighbours along m, else along n"},
                         {"by_rows", "", "0", "1: a core makes its tiles row by row, else column by column"},
                         {"swizzle", "", "0",
                          "of tiles dealt to split_m * split_n cores: strips of so many rows of tiles; 0: rectangles"},
                         {"swizzle_columns", "", "0", "1: strips of columns of tiles"},
                         {"release_apart", "", "0",
                          "1: a slot of L1 is free after the loads of its own operand to L0, else after those of both"},
                         {"shuffle_k", "", "0", "1: each core begins at another group of k"},
                         {"b_nz", "", "0", "1: B is stored as NZ"},
                         {"b_transposed", "", "0", "1: B is stored [n,k]"},
                         {"type", "", "f162f32", "of mad"},
                         {"in_bytes", "B", "2", "of an element of A and B"},
                         {"out_bytes", "B", "2", "of an element of C"},
                         {"unit_flag", "", "0", "1: FIXPIPE follows the last mad block by block"},
                         {"scalar", "cycle", "0", "scalar work for each base block of k"},
                         l2_parameter("empty")},
          .metrics = kernel_metrics(),
          .kernel = matmul_kernel,
          .measure = times_of(matmul_kernel)};
}

}  // namespace vinci::validate
