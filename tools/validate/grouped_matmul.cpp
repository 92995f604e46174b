// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// y = gelu(x * weight[group] * scale of the column * scale of the row) of int8, y in f16: the cube cores write s32
// results of 128 x 256 to a few places in global memory, from where their vector cores take them, under cross-core
// flags. After the published quant_group_matmul_high_performance of asc-devkit, whose tiles, depth of L1, places and
// vector instructions this has: blocks of 128 x 1024 are dealt to the cores, A of a block is in L1 once, weights are
// NZ.
#include <algorithm>
#include <bit>

#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

using isa::PipeId, isa::Reg, isa::Target, isa::Type, isa::Value;

constexpr u64 kM = 128, kN = 256, kK = 128, kBlockN = 1024;  // a tile of results and of one mad; a block of work
constexpr u64 kStepB = 4;                                    // mads that one copy of weights is for
constexpr u64 kChunk = 24;                                   // rows that a vector core takes at a time
constexpr u64 kTileBytes = kM * kN * 4;

struct Grouped {
  u64 m, n, k, groups;
  u64 cores, aivs, depth;
  u64 blocks_n() const { return n / kBlockN; }
  u64 blocks() const { return m / kM * blocks_n(); }
};

class GroupedWriter {
 public:
  GroupedWriter(const Grouped& problem, std::string_view name, isa::Arch arch)
      : x_(problem), p_(std::string(name), arch) {}

 protected:
  // set_flag or wait_flag.
  void flag(bool set, PipeId from, PipeId to, u64 event) {
    set ? p_.set_flag(from, to, event) : p_.wait_flag(from, to, event);
  }
  void set_cross(PipeId pipe, u32 id) { p_.ffts_cross_core_sync(pipe, 0x1 | 2 << 4 | id << 8); }
  void begin() {
    p_.set_ffts_base_addr(1);
    u64 argument = 0;
    for (const Reg r : {x, w, scale, row_scale, y, work})
      p_.ld_arg(r, argument++);
    p_.get_block_idx(core);
    p_.mul(t, core, kTileBytes);
    p_.add(work, work, t);
    p_.mov(task, 0);
    p_.mov(block, core);
  }
  // m and the columns from n to n_end of a block.
  void place_of_block() {
    p_.div(m, block, x_.blocks_n());
    p_.mul(m, m, kM);
    p_.rem(n, block, x_.blocks_n());
    p_.mul(n, n, kBlockN);
    p_.add(n_end, n, kBlockN);
  }
  // at = where the tile of this number goes.
  void place_of_task() {
    p_.rem(at, task, x_.depth);
    p_.mul(at, at, x_.cores * kTileBytes);
    p_.add(at, at, work);
  }

  const Grouped& x_;
  isa::ProgramBuilder p_;
  const Reg x = p_.reg("x"), w = p_.reg("w"), scale = p_.reg("scale"), row_scale = p_.reg("row_scale"), y = p_.reg("y"),
            work = p_.reg("work"), core = p_.reg("core"), block = p_.reg("block"), m = p_.reg("m"), n = p_.reg("n"),
            n_end = p_.reg("n_end"), task = p_.reg("task"), at = p_.reg("at"), t = p_.reg("t");
};

constexpr u32 kThere = 8, kFree = 9;  // flags

class Cube final : public GroupedWriter {
 public:
  Cube(const Grouped& problem, isa::Arch arch) : GroupedWriter(problem, "grouped_matmul", arch) {}

  isa::BuiltProgram program() {
    const Target finish = p_.label("finish"), drained = p_.label("drained");
    begin();
    flags(true);
    p_.bge(block, x_.blocks(), finish);
    const Target blocks = p_.here("blocks");
    place_of_block();
    load_a();
    const Target tiles = p_.here("tiles");
    for (u64 step = 0; step < x_.k / kK; ++step)
      multiply(step);
    store();
    p_.add(n, n, kN);
    p_.blt(n, n_end, tiles);
    p_.set_flag(PipeId::MTE1, PipeId::MTE2, a_slot);
    p_.xor_(a_slot, a_slot, 1);
    p_.add(block, block, x_.cores);
    p_.blt(block, x_.blocks(), blocks);
    p_.bind(finish);
    flags(false);
    p_.min(t, task, x_.depth);
    const Target drain = p_.here("drain");
    p_.beq(t, 0, drained);
    p_.wait_flag_dev(kFree);
    p_.sub(t, t, 1);
    p_.b(drain);
    p_.bind(drained);
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  u64 a_bytes() const { return kM * x_.k; }
  void flags(bool set) {
    for (u64 event = 0; event < 4; ++event)
      flag(set, PipeId::MTE1, PipeId::MTE2, event);
    for (u64 event = 0; event < 2; ++event)
      flag(set, PipeId::M, PipeId::MTE1, event);
  }
  void load_a() {
    p_.wait_flag(PipeId::MTE1, PipeId::MTE2, a_slot);
    p_.mul(at, m, x_.k);
    p_.add(at, at, x);
    p_.mul(a_at, a_slot, a_bytes());
    p_.copy_gm_to_cbuf_multi_nd2nz_b8(a_at, at, 0, 1, kM, x_.k, 0, x_.k, kM, 1, 0);
    p_.set_flag(PipeId::MTE2, PipeId::MTE1, a_slot);
    p_.div(group, m, x_.m / x_.groups);
    p_.mul(group, group, x_.k * x_.n);
    p_.add(group, group, w);
    p_.wait_flag(PipeId::MTE2, PipeId::MTE1, a_slot);
  }
  // The weights of kStepB mads, block columns of 32: k x 32 bytes each.
  void load_b(u64 step, u64 slot) {
    const u64 rows = kK * kStepB;
    p_.wait_flag(PipeId::MTE1, PipeId::MTE2, 2 + slot);
    p_.mul(at, n, x_.k);
    p_.add(at, at, step * kK * 32);
    p_.add(at, at, group);
    p_.copy_gm_to_cbuf(b_at(slot), at, 0, kN / 32, rows, x_.k - rows, 0);
    p_.hand_over(PipeId::MTE2, PipeId::MTE1, 2 + slot);
  }
  u64 b_at(u64 slot) const { return 2 * a_bytes() + slot * kK * kStepB * kN; }

  void multiply(u64 step) {
    const u64 slot = step / kStepB % 2, l0 = step % 2, l0a = l0 * kM * kK, l0b = l0 * kN * kK;
    if (step % kStepB == 0) load_b(step, slot);
    p_.wait_flag(PipeId::M, PipeId::MTE1, l0);
    for (u64 f = 0; f < kK / 32; ++f)
      p_.load_cbuf_to_ca(l0a + f * 512, a_at, (step * (kK / 32) + f) * (kM / 16), kM / 16, 1, 0, 0, kK / 32 - 1);
    for (u64 f = 0; f < kK / 32; ++f)
      p_.load_cbuf_to_cb_transpose(Type::b8, l0b + f * (kN / 16) * 512, b_at(slot), step % kStepB * (kK / 32) + f,
                                   kN / 32, kK * kStepB / 32, 1, 0, 0);
    if ((step + 1) % kStepB == 0) p_.set_flag(PipeId::MTE1, PipeId::MTE2, 2 + slot);
    p_.hand_over(PipeId::MTE1, PipeId::M, l0);
    p_.mad(Type::s8, 0, l0a, l0b, kM, kK, kN, step == 0 ? 1 : 0, step + 1 == x_.k / kK ? 3 : 2);
    p_.set_flag(PipeId::M, PipeId::MTE1, l0);
  }

  void store() {
    p_.if_(task >= x_.depth, [&] { p_.wait_flag_dev(kFree); });
    place_of_task();
    p_.copy_matrix_cc_to_gm(at, 0, 0, kN, kM, kN, kM, 3, 0, 0, 0, 1);
    set_cross(PipeId::FIX, kThere);
    p_.add(task, task, 1);
  }

  const Reg a_slot = p_.reg("a_slot"), a_at = p_.reg("a_at"), b_slot = p_.reg("b_slot"), group = p_.reg("group"),
            kb = p_.reg("kb");
};

// UB: from 0 on two places for results of the cube, then for y, for scales of columns and of rows; what is between the
// steps.
namespace ub {
constexpr u64 kElements = kChunk * kN, kOut = 2 * kElements * 4, kScale = kOut + 2 * kElements * 2;
constexpr u64 kRowScale = kScale + 2 * kN * 4, kBroadcast = kRowScale + 2 * 256, kValues = kBroadcast + 1024;
constexpr u64 kRows = kValues + kElements * 4, kGelu = kRows + kElements * 4;
static_assert(kGelu + kElements * 4 <= 192 * 1024);
}  // namespace ub

class Vector final : public GroupedWriter {
 public:
  Vector(const Grouped& problem, isa::Arch arch) : GroupedWriter(problem, "grouped_matmul_aiv", arch) {}

  isa::BuiltProgram program() {
    const Target finish = p_.label("finish");
    begin();
    p_.get_subblockid(aiv);
    flags(true);
    p_.bge(block, x_.blocks(), finish);
    const Target blocks = p_.here("blocks");
    place_of_block();
    const Target tiles = p_.here("tiles");
    load_scale();
    p_.wait_flag_dev(kThere);
    p_.mov(chunk, x_.aivs == 2 ? Value(aiv) : Value(0));
    const Target chunks = p_.here("chunks");
    process_chunk();
    p_.add(chunk, chunk, x_.aivs);
    p_.blt(chunk, ceil_div(kM, kChunk), chunks);
    p_.set_flag(PipeId::V, PipeId::MTE2, scale_slot);
    p_.sub(scale_slot, 5, scale_slot);
    set_cross(PipeId::MTE2, kFree);
    p_.add(task, task, 1);
    p_.add(n, n, kN);
    p_.blt(n, n_end, tiles);
    p_.add(block, block, x_.cores);
    p_.blt(block, x_.blocks(), blocks);
    p_.bind(finish);
    flags(false);
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  void flags(bool set) {
    for (u64 event = 0; event < 2; ++event) {
      flag(set, PipeId::V, PipeId::MTE2, event);
      flag(set, PipeId::MTE3, PipeId::V, event);
    }
    for (u64 event = 2; event < 4; ++event)
      flag(set, PipeId::V, PipeId::MTE2, event);
    if (set) p_.mov(scale_slot, 2);
  }
  void barrier() { p_.pipe_barrier(PipeId::V); }

  void load_scale() {
    p_.wait_flag(PipeId::V, PipeId::MTE2, scale_slot);
    p_.div(src, m, x_.m / x_.groups);
    p_.mul(src, src, x_.n);
    p_.add(src, src, n);
    p_.shl(src, src, 2);
    p_.add(src, src, scale);
    p_.mul(scale_at, scale_slot, kN * 4);
    p_.add(scale_at, scale_at, ub::kScale - 2 * kN * 4);
    p_.copy_gm_to_ubuf(scale_at, src, 0, 1, kN * 4 / 32, 0, 0);
    p_.hand_over(PipeId::MTE2, PipeId::V, scale_slot);
  }

  void process_chunk() {
    p_.mul(t, chunk, kChunk);
    p_.sub(rows, kM, t);
    p_.min(rows, rows, kChunk);
    p_.mul(repeats, rows, kN / 64);
    p_.mul(in, slot, ub::kElements * 4);
    p_.mul(out, slot, ub::kElements * 2);
    p_.add(out, out, ub::kOut);
    p_.mul(row_scale_at, slot, 256);
    p_.add(row_scale_at, row_scale_at, ub::kRowScale);
    p_.wait_flag(PipeId::V, PipeId::MTE2, slot);
    place_of_task();
    p_.mul(t, chunk, kChunk * kN * 4);
    p_.add(at, at, t);
    p_.mul(t, rows, kN * 4 / 32);
    p_.copy_gm_to_ubuf(in, at, 0, 1, t, 0, 0);
    p_.mul(src, chunk, kChunk);
    p_.add(src, src, m);
    p_.shl(src, src, 2);
    p_.add(src, src, row_scale);
    p_.shr(t, rows, 3);
    p_.copy_gm_to_ubuf(row_scale_at, src, 0, 1, t, 0, 0);
    p_.hand_over(PipeId::MTE2, PipeId::V, slot);
    p_.wait_flag(PipeId::MTE3, PipeId::V, slot);
    p_.shr(t, rows, 3);
    p_.vbrcb(Type::f32, ub::kBroadcast, row_scale_at, 1, 8, t);
    barrier();
    for (u64 column = 0; column < kN; column += 64)
      p_.vcopy(Type::f32, ub::kRows + column * 4, ub::kBroadcast, rows, 1, 0, 32, 1);
    barrier();
    p_.vconv_s322f32(ub::kValues, in, repeats, 1, 1, 8, 8);
    barrier();
    for (u64 column = 0; column < kN; column += 64) {
      const u64 values = ub::kValues + column * 4;
      p_.add(t, scale_at, column * 4);
      p_.vmul(Type::f32, values, values, t, rows, 1, 1, 1, 32, 32, 0);
    }
    barrier();
    p_.vadds(Type::f32, ub::kValues, ub::kValues, 0, repeats, 1, 1, 8, 8);
    barrier();
    p_.set_flag(PipeId::V, PipeId::MTE2, slot);
    p_.vmul(Type::f32, ub::kRows, ub::kValues, ub::kRows, repeats, 1, 1, 1, 8, 8, 8);
    barrier();
    p_.vmuls(Type::f32, ub::kGelu, ub::kRows, isa::f32(-1.702f), repeats, 1, 1, 8, 8);
    barrier();
    p_.vexp(Type::f32, ub::kGelu, ub::kGelu, repeats, 1, 1, 8, 8);
    barrier();
    p_.vadds(Type::f32, ub::kGelu, ub::kGelu, isa::f32(1), repeats, 1, 1, 8, 8);
    barrier();
    p_.vdiv(Type::f32, ub::kGelu, ub::kRows, ub::kGelu, repeats, 1, 1, 1, 8, 8, 8);
    barrier();
    p_.vconv_f322f16(out, ub::kGelu, repeats, 1, 1, 4, 8);
    barrier();
    p_.hand_over(PipeId::V, PipeId::MTE3, slot);
    p_.mul(src, chunk, kChunk);
    p_.add(src, src, m);
    p_.mul(src, src, x_.n);
    p_.add(src, src, n);
    p_.shl(src, src, 1);
    p_.add(src, src, y);
    p_.copy_ubuf_to_gm(src, out, 0, rows, kN * 2 / 32, 0, (x_.n - kN) * 2 / 32);
    p_.set_flag(PipeId::MTE3, PipeId::V, slot);
    p_.xor_(slot, slot, 1);
  }

  const Reg aiv = p_.reg("aiv"), chunk = p_.reg("chunk"), rows = p_.reg("rows"), repeats = p_.reg("repeats"),
            slot = p_.reg("slot"), scale_slot = p_.reg("scale_slot"), in = p_.reg("in"), out = p_.reg("out"),
            scale_at = p_.reg("scale_at"), row_scale_at = p_.reg("row_scale_at"), src = p_.reg("src");
};

KernelStream grouped_matmul_kernel(const Params& p, const config::ChipConfig& chip) {
  const Grouped x{.m = p.whole("m"),
                  .n = p.whole("n"),
                  .k = p.whole("k"),
                  .groups = p.whole("groups"),
                  .cores = p.whole("cores"),
                  .aivs = p.whole("aivs"),
                  .depth = p.whole("depth")};
  p.need(x.groups > 0 && x.m > 0 && x.m % (x.groups * kM) == 0, "m is a multiple of groups * 128");
  p.need(x.n > 0 && x.n % kBlockN == 0, "n is a multiple of 1024");
  p.need(x.k > 0 && x.k % (2 * kStepB * kK) == 0 && x.k <= 1024, "k is 1024");
  p.need(x.cores > 0 && x.depth > 0 && x.depth <= 8, "cores is not 0, depth is 1 to 8");
  p.need(x.aivs == 1 || x.aivs == 2, "aivs: 1 or 2");
  return {.code = Cube(x, chip.arch).program(),
          .aiv_code = Vector(x, chip.arch).program(),
          .cube = true,
          .aivs = static_cast<u32>(x.aivs),
          .blocks = static_cast<u32>(x.cores),
          .l2 = l2_state(p),
          .buffers = {{x.m * x.k},
                      {x.groups * x.k * x.n},
                      {x.groups * x.n * 4},
                      {x.m * 4},
                      {x.m * x.n * 2},
                      {x.depth * x.cores * kTileBytes}}};
}

}  // namespace

Family grouped_matmul() {
  return {.name = "grouped_matmul",
          .doc = "groups of rows of int8, each times its own weights, then scales and gelu on the vector cores",
          .parameters = {{"m", "", "", "rows of x and y"},
                         {"n", "", "", "columns of y"},
                         {"k", "", "1024", "columns of x"},
                         {"groups", "", "", "of the rows"},
                         {"cores", "", "24", "of the launch"},
                         {"aivs", "", "2", "vector cores with each cube core"},
                         {"depth", "tile", "1", "that the cube core may be ahead"},
                         l2_parameter("own")},
          .metrics = kernel_metrics(),
          .kernel = grouped_matmul_kernel,
          .measure = times_of(grouped_matmul_kernel)};
}

}  // namespace vinci::validate
