// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// C[M,N] = A[M,K] * B on the cube cores, as matmul libraries of the split core do it: each core has a rectangle of C
// and computes it tile by tile; k goes through L1 in groups of base blocks, of A and of B apart, and through two slots
// of L0.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "isa/base/error.h"
#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

struct Matmul {
  u64 m, n, k;
  u64 base_m, base_n, base_k;
  u64 step_ka, step_kb;     // base blocks of k that one copy to L1 brings
  u64 l1_slots;             // 1 or 2
  u64 split_m, split_n;     // cores along m and n
  u64 single_m, single_n;   // rows and columns of each core, the last ones have what is left
  bool cores_along_m;       // cores that follow each other lie along m, else along n
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

// One of the two operands on its way to L1: which buffer, how large a group is, where its slots are.
struct Side {
  char name;
  u64 step, base, events;  // first event id
  u64 address;             // of its slots in L1
};

// Base blocks of k, the last one may be a part.
u64 k_blocks(const Matmul& x) { return ceil_div(x.k, x.base_k); }

// Base blocks of k in the loop: their slots and their places in L1 are then numbers.
u64 unrolled(const Matmul& x) { return std::max<u64>(2, std::max(x.step_ka, x.step_kb) * x.l1_slots); }

// With empty ones at the end, so that the slots are the same for each tile.
u64 looped_blocks(const Matmul& x) { return align_up(k_blocks(x), unrolled(x)); }

class Writer {
 public:
  explicit Writer(const Matmul& x) : x_(x), tail_(looped_blocks(x) * x.base_k != x.k) {
    const u64 a_bytes = x.base_m * x.base_k * x.step_ka * x.in_bytes;
    sides_[0] = {'a', x.step_ka, x.base_m, 0, 0};
    sides_[1] = {'b', x.step_kb, x.base_n, 2, a_bytes * x.l1_slots};
  }

  std::string text() {
    header();
    flags("set_flag");
    line("passes:");
    begin_pass();
    for (const Side& side : sides_)
      if (x_.l1_slots == 2) load(side, 0);
    line("tile:");
    tile_extent();
    op("mov kb, 0");
    line("k_loop:");
    for (u64 block = 0; block < unrolled(x_); ++block)
      step(block);
    op(fmt::format("blt kb, {}, k_loop", looped_blocks(x_)));
    store();
    advance("");
    op("blt m0, m_end, tile");
    op("add pass, pass, 1");
    op(fmt::format("blt pass, {}, passes", x_.passes));
    line("finish:");
    flags("wait_flag");
    op("pipe_barrier PIPE_ALL");
    op("end");
    return std::move(s_);
  }

 private:
  void line(std::string_view text) { s_.append(text).append("\n"); }
  void op(std::string_view text) { s_.append("  ").append(text).append("\n"); }
  u64 block_fractals() const { return x_.base_k * x_.in_bytes / 32; }  // of a base block along k

  void header() {
    const auto constant = [&](std::string_view name, u64 v) { line(fmt::format(".const {} = {}", name, v)); };
    constant("M", x_.m);
    constant("N", x_.n);
    constant("K", x_.k);
    constant("CORE_M", x_.single_m);
    constant("CORE_N", x_.single_n);
    constant("SPLIT_N", x_.split_n);
    constant("PASS_M", ceil_div(x_.m, x_.passes));
    constant("BASE_M", x_.base_m);
    constant("BASE_N", x_.base_n);
    constant("K_BLOCKS", k_blocks(x_));
    u64 reg = 0;
    for (const std::string_view name :
         {"a_gm",    "b_gm",     "c_gm",     "kb",      "m_first", "m_end",      "n_first",   "n_end",
          "m0",      "n0",       "m",        "n",       "m1",      "n1",         "load_am0",  "load_an0",
          "load_ak", "load_bm0", "load_bn0", "load_bk", "pass",    "src",        "size",      "t0",
          "t1",      "init",     "mi",       "ni",      "tile",    "load_atile", "load_btile"})
      line(fmt::format(".alias {} = X{}", name, reg++));
    op("ld_arg a_gm, 0");
    op("ld_arg b_gm, 1");
    op("ld_arg c_gm, 2");
    op("get_block_idx mi");
    if (x_.swizzle > 0) return;
    if (x_.cores_along_m) {
      op(fmt::format("div ni, mi, {}", x_.split_m));
      op(fmt::format("rem mi, mi, {}", x_.split_m));
    } else {
      op("rem ni, mi, SPLIT_N");
      op("div mi, mi, SPLIT_N");
    }
    op("mul n_first, ni, CORE_N");
    op("add n_end, n_first, CORE_N");
    op("min n_end, n_end, N");
    op("mov pass, 0");
  }

  void begin_pass() {
    if (x_.swizzle > 0) return begin_dealt();
    op("mul t0, pass, PASS_M");
    op("add t1, t0, PASS_M");
    op("min t1, t1, M");
    op("mul m_first, mi, CORE_M");
    op("add m_first, m_first, t0");
    op("add m_end, m_first, CORE_M");
    op("min m_end, m_end, t1");
    for (const std::string_view who : {"", "load_a", "load_b"}) {
      op(fmt::format("mov {}m0, m_first", who));
      op(fmt::format("mov {}n0, n_first", who));
    }
    op("mov load_ak, 0");
    op("mov load_bk, 0");
    op("bge m_first, m_end, finish");
    op("bge n_first, n_end, finish");
  }

  // Tiles are dealt to the cores in turn, as GemmIdentityBlockSwizzle of catlass numbers them: strips of `swizzle` rows
  // of tiles, columns of a strip one after the other, every second strip from the other side; or rows and columns
  // change places.
  void begin_dealt() {
    op("mov m_end, M");
    op("mov n_end, N");
    for (const std::string_view who : {"", "load_a", "load_b"}) {
      op(fmt::format("mov {}tile, mi", who));
      find_tile(who);
    }
    op("mov load_ak, 0");
    op("mov load_bk, 0");
    op("bge m0, m_end, finish");
  }
  void find_tile(std::string_view who) {
    const u64 m_tiles = ceil_div(x_.m, x_.base_m), n_tiles = ceil_div(x_.n, x_.base_n), label = labels_++;
    // Across the strips, and along them.
    const auto [across, lanes, along, tiles] =
        x_.swizzle_columns ? std::tuple('n', n_tiles, 'm', m_tiles) : std::tuple('m', m_tiles, 'n', n_tiles);
    op(fmt::format("mov {}m0, M", who));
    op(fmt::format("bge {}tile, {}, found_{}", who, m_tiles * n_tiles, label));
    op(fmt::format("div t0, {}tile, {}", who, x_.swizzle * tiles));
    op(fmt::format("rem t1, {}tile, {}", who, x_.swizzle * tiles));
    op(fmt::format("mul src, t0, {}", x_.swizzle));
    op(fmt::format("sub size, {}, src", lanes));
    op(fmt::format("min size, size, {}", x_.swizzle));
    op(fmt::format("rem {}{}0, t1, size", who, across));
    op(fmt::format("add {0}{1}0, {0}{1}0, src", who, across));
    op(fmt::format("div {}{}0, t1, size", who, along));
    op("and t0, t0, 1");
    op(fmt::format("beq t0, 0, forward_{}", label));
    op(fmt::format("sub {0}{1}0, {2}, {0}{1}0", who, along, tiles - 1));
    line(fmt::format("forward_{}:", label));
    op(fmt::format("mul {0}m0, {0}m0, BASE_M", who));
    op(fmt::format("mul {0}n0, {0}n0, BASE_N", who));
    line(fmt::format("found_{}:", label));
  }

  // Every slot is free at the start and at the end.
  void flags(std::string_view what) {
    for (const Side& side : sides_)
      for (u64 slot = 0; slot < x_.l1_slots; ++slot)
        op(fmt::format("{} PIPE_MTE1, PIPE_MTE2, {}", what, side.events + slot));
    for (u64 slot = 0; slot < 2; ++slot)
      op(fmt::format("{} PIPE_M, PIPE_MTE1, {}", what, slot));
    if (!x_.unit_flag) op(fmt::format("{} PIPE_FIX, PIPE_M, 0", what));
  }

  // The next tile of a walk over the rectangle, columns of tiles one after the other, or rows; past the last one m0 is
  // not in it.
  void advance(std::string_view who) {
    if (x_.swizzle > 0) {
      op(fmt::format("add {0}tile, {0}tile, {1}", who, x_.split_m * x_.split_n));
      return find_tile(who);
    }
    if (x_.by_rows) {
      op(fmt::format("add {0}n0, {0}n0, BASE_N", who));
      op(fmt::format("blt {}n0, n_end, {}same_{}", who, who, labels_));
      op(fmt::format("add {0}m0, {0}m0, BASE_M", who));
      op(fmt::format("mov {}n0, n_first", who));
    } else {
      op(fmt::format("add {0}m0, {0}m0, BASE_M", who));
      op(fmt::format("blt {}m0, m_end, {}same_{}", who, who, labels_));
      op(fmt::format("add {0}n0, {0}n0, BASE_N", who));
      op(fmt::format("bge {}n0, n_end, {}same_{}", who, who, labels_));
      op(fmt::format("mov {}m0, m_first", who));
    }
    line(fmt::format("{}same_{}:", who, labels_++));
  }

  // The next group of k of one operand to its slot.
  void load(const Side& side, u64 slot) {
    const char o = side.name;
    const u64 label = labels_++;
    const std::string walk = fmt::format("load_{}", o);
    const u64 columns = x_.base_k * side.step;
    op(fmt::format("bge {}m0, m_end, loaded_{}", walk, label));
    op(fmt::format("wait_flag PIPE_MTE1, PIPE_MTE2, {}", side.events + slot));
    const bool rows_are_k = o == 'b' && !x_.b_transposed;
    const u64 dst = side.address + slot * side.base * columns * x_.in_bytes;
    op(o == 'a' ? fmt::format("sub size, m_end, {}m0", walk) : fmt::format("sub size, n_end, {}n0", walk));
    op(fmt::format("min size, size, {}", side.base));
    std::string k = walk + "k";
    if (x_.shuffle_k) {
      k = "t0";
      op("get_block_idx t0");
      op(fmt::format("rem t0, t0, {}", x_.k / columns));
      op(fmt::format("mul t0, t0, {}", columns));
      op(fmt::format("add t0, t0, {}k", walk));
      op(fmt::format("blt t0, K, in_k_{}", label));
      op("sub t0, t0, K");
      line(fmt::format("in_k_{}:", label));
    }
    if (rows_are_k && x_.b_nz) {
      op(fmt::format("mul src, {}n0, K", walk));
      op(fmt::format("mul t0, {}, {}", k, 32 / x_.in_bytes));
      op("add src, src, t0");
    } else if (rows_are_k) {
      op(fmt::format("mul src, {}, N", k));
      op(fmt::format("add src, src, {}n0", walk));
    } else {
      op(fmt::format("mul src, {}{}0, K", walk, o == 'a' ? 'm' : 'n'));
      op(fmt::format("add src, src, {}", k));
    }
    op(fmt::format("mul src, src, {}", x_.in_bytes));
    op(fmt::format("add src, src, {}_gm", o));
    std::string k_here = fmt::format("{}", columns);
    if (tail_) {
      k_here = "t1";
      op(fmt::format("sub t1, K, {}k", walk));
      op(fmt::format("min t1, t1, {}", columns));
      op(fmt::format("bge 0, t1, no_copy_{}", label));
    }
    copy(o, dst, columns, k_here);
    if (tail_) line(fmt::format("no_copy_{}:", label));
    op(fmt::format("set_flag PIPE_MTE2, PIPE_MTE1, {}", side.events + slot));
    op(fmt::format("add {0}k, {0}k, {1}", walk, columns));
    op(fmt::format("blt {}k, {}, loaded_{}", walk, looped_blocks(x_) * x_.base_k, label));
    op(fmt::format("mov {}k, 0", walk));
    advance(walk);
    line(fmt::format("loaded_{}:", label));
  }

  // From src to L1: `size` rows of A or columns of B, `k_here` of the `columns` along k that a slot has.
  void copy(char o, u64 dst, u64 columns, std::string_view k_here) {
    const std::string_view bits = x_.in_bytes == 1 ? "b8" : "b16";
    if (o == 'b' && x_.b_nz) {
      op(fmt::format("mul t0, size, {}", x_.in_bytes));
      op("shr t0, t0, 5");
      op(fmt::format("sub ni, K, {}", k_here));
      op(fmt::format("sub init, {}, {}", columns, k_here));
      op(fmt::format("copy_gm_to_cbuf {}, src, 0, t0, {}, ni, init", dst, k_here));
    } else if (o == 'b' && !x_.b_transposed) {
      op(fmt::format("copy_gm_to_cbuf_multi_nd2nz_{} {}, src, 0, 1, {}, size, 0, N, {}, 1, 0", bits, dst, k_here,
                     columns));
    } else {
      op("add t0, size, 15");
      op("shr t0, t0, 4");
      op("shl t0, t0, 4");
      op(fmt::format("copy_gm_to_cbuf_multi_nd2nz_{} {}, src, 0, 1, size, {}, 0, K, t0, 1, 0", bits, dst, k_here));
    }
  }

  void tile_extent() {
    op("sub m, m_end, m0");
    op("min m, m, BASE_M");
    op("sub n, n_end, n0");
    op("min n, n, BASE_N");
    op("add m1, m, 15");
    op("shr m1, m1, 4");
    op("add n1, n, 15");
    op("shr n1, n1, 4");
  }

  // One base block of k: what L1 lacks, then L1 to L0, then mad.
  void step(u64 block) {
    for (const Side& side : sides_) {
      if (block % side.step != 0) continue;
      const u64 slot = block / side.step % x_.l1_slots;
      load(side, x_.l1_slots == 2 ? 1 - slot : slot);  // the group ahead
      op(fmt::format("wait_flag PIPE_MTE2, PIPE_MTE1, {}", side.events + slot));
    }
    for (u64 i = 0; i < x_.scalar; ++i)
      op("mov t1, 0");
    const u64 l0 = block % 2, label = labels_++;
    if (tail_) op(fmt::format("bge kb, K_BLOCKS, no_block_{}", label));
    op(fmt::format("wait_flag PIPE_M, PIPE_MTE1, {}", l0));
    const u64 kf = block_fractals();
    const bool part = x_.k % x_.base_k != 0 && block == (k_blocks(x_) - 1) % unrolled(x_);  // it may be the last one
    if (part) {
      op(fmt::format("mul size, kb, {}", x_.base_k));
      op("sub size, K, size");
      op(fmt::format("min size, size, {}", x_.base_k));
      op(fmt::format("div ni, size, {}", 32 / x_.in_bytes));
      op("sub ni, ni, 1");
    }
    const u64 l0a = l0 * x_.base_m * x_.base_k * x_.in_bytes, l0b = l0 * x_.base_n * x_.base_k * x_.in_bytes;
    for (const Side& side : sides_) {
      const bool a = side.name == 'a';
      const u64 columns = x_.base_k * side.step;
      const u64 slot = block / side.step % x_.l1_slots;
      const u64 src = side.address + slot * side.base * columns * x_.in_bytes;
      const u64 first = block % side.step * kf;  // fractal columns of the group before this block
      for (u64 f = 0; f < kf; ++f) {
        if (a) {
          if (part && f > 0) op(fmt::format("blt ni, {}, a_there_{}", f, label));
          op(fmt::format("mul t0, m1, {}", first + f));
          op(fmt::format("load_cbuf_to_ca {}, {}, t0, m1, 1, 0, 0, {}", l0a + f * 512, src,
                         part ? "ni" : fmt::format("{}", kf - 1)));
          if (part && f + 1 == kf) line(fmt::format("a_there_{}:", label));
        } else if (x_.b_transposed) {
          op(fmt::format("mul t0, n1, {}", first + f));
          op("shl t1, n1, 9");
          op(fmt::format("mul t1, t1, {}", f));
          op(fmt::format("add t1, t1, {}", l0b));
          op(fmt::format("load_cbuf_to_cb t1, {}, t0, n1, 1, 0, 0", src));
        } else {
          op("shl t1, n1, 9");
          op(fmt::format("mul t1, t1, {}", f));
          op(fmt::format("add t1, t1, {}", l0b));
          op(fmt::format("load_cbuf_to_cb t1, {}, {}, n1, {}, 0, 1", src, first + f, columns / 16));
        }
      }
      if (x_.release_apart) release(side, block);
    }
    op(fmt::format("set_flag PIPE_MTE1, PIPE_M, {}", l0));
    if (!x_.release_apart) release_both(block);
    op(fmt::format("wait_flag PIPE_MTE1, PIPE_M, {}", l0));
    op("cmp_eq init, kb, 0");
    if (!x_.unit_flag && block == 0) {
      op(fmt::format("beq init, 0, no_wait_{}", labels_));
      op("wait_flag PIPE_FIX, PIPE_M, 0");
      line(fmt::format("no_wait_{}:", labels_++));
    }
    op("max t1, m, 2");
    std::string unit;
    if (x_.unit_flag) {  // the last block of k says that its results are ready
      op("add t0, kb, 1");
      op("cmp_eq t0, t0, K_BLOCKS");
      op("add t0, t0, 2");
      unit = ", t0";
    }
    op(fmt::format("mad.{} 0, {}, {}, t1, {}, n, init{}", x_.type, l0a, l0b,
                   part ? "size" : fmt::format("{}", x_.base_k), unit));
    op(fmt::format("set_flag PIPE_M, PIPE_MTE1, {}", l0));
    if (tail_) {
      op(fmt::format("beq kb, kb, block_done_{}", label));
      line(fmt::format("no_block_{}:", label));
      release_both(block);
      line(fmt::format("block_done_{}:", label));
    }
    op("add kb, kb, 1");
  }
  // The slot of L1 is free after the last block of its group.
  void release(const Side& side, u64 block) {
    const u64 slot = block / side.step % x_.l1_slots;
    if ((block + 1) % side.step == 0) op(fmt::format("set_flag PIPE_MTE1, PIPE_MTE2, {}", side.events + slot));
  }

  void release_both(u64 block) {
    for (const Side& side : sides_)
      release(side, block);
  }

  void store() {
    if (!x_.unit_flag) op("set_flag PIPE_M, PIPE_FIX, 0\n  wait_flag PIPE_M, PIPE_FIX, 0");
    op("mul src, m0, N");
    op("add src, src, n0");
    op(fmt::format("mul src, src, {}", x_.out_bytes));
    op("add src, src, c_gm");
    op("shl t0, m1, 4");
    const bool integer = x_.type[0] == 's';
    op(fmt::format("copy_matrix_cc_to_gm src, 0, 0, n, m, N, t0, {}, {}, 0, 0, 1", x_.unit_flag ? 3 : 0,
                   x_.out_bytes == 4 ? 0
                   : integer         ? 11
                                     : 1));
    if (!x_.unit_flag) op("set_flag PIPE_FIX, PIPE_M, 0");
  }

  const Matmul& x_;
  const bool tail_;  // k is no whole number of loops
  std::string s_;
  u64 labels_ = 0;
  Side sides_[2] = {};
};

KernelStream kernel(const Params& p, const config::ChipConfig& /*chip*/) {
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
         "single_m and single_n leave a part of C to nobody");
  p.need(x.swizzle == 0 || (!x.cores_along_m && !x.by_rows),
         "cores_along_m and by_rows are of rectangles; swizzle has an order of its own");
  p.need(!x.shuffle_k || (x.step_ka == x.step_kb && looped_blocks(x) * x.base_k == x.k),
         "shuffle_k is of equal groups of A and B in whole loops over k");
  p.need(!x.b_nz || !x.b_transposed, "b_nz is of B that is not transposed");
  p.need(!x.b_nz || (x.n % block == 0 && x.single_n % block == 0), "b_nz: n and single_n are multiples of 32 bytes");
  return {.code = Writer(x).text(),
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
                         {"cores_along_m", "", "0", "1: cores that follow each other lie along m, else along n"},
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
          .kernel = kernel,
          .measure = times_of(kernel)};
}

}  // namespace vinci::validate
