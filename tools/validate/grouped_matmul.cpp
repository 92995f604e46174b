// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// y = gelu(x * weight[group] * scale of the column * scale of the row) of int8, y in f16: the cube cores write s32
// results of 128 x 256 to a few places in global memory, from where their vector cores take them, under cross-core
// flags. After the published quant_group_matmul_high_performance of asc-devkit, whose tiles, depth of L1, places and
// vector instructions this has: blocks of 128 x 1024 are dealt to the cores, A of a block is in L1 once, weights are
// NZ.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

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

class Writer {
 public:
  explicit Writer(const Grouped& x) : x_(x) {}

 protected:
  template <class... Args>
  void op(fmt::format_string<Args...> format, Args&&... args) {
    s_ += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  void label(std::string_view name) { s_ += fmt::format("{}:\n", name); }
  void flag(std::string_view what, std::string_view from, std::string_view to, std::string_view event) {
    op("{} PIPE_{}, PIPE_{}, {}", what, from, to, event);
  }
  void hand_over(std::string_view from, std::string_view to, std::string_view event) {
    flag("set_flag", from, to, event);
    flag("wait_flag", from, to, event);
  }
  void set_cross(std::string_view pipe, u32 id) {
    op("ffts_cross_core_sync PIPE_{}, {}", pipe, 0x1 | 2 << 4 | id << 8);
  }
  void begin(std::initializer_list<std::string_view> more) {
    u64 reg = 0;
    for (const std::string_view name :
         {"x", "w", "scale", "row_scale", "y", "work", "core", "block", "m", "n", "n_end", "task", "at", "t"})
      s_ += fmt::format(".alias {} = X{}\n", name, reg++);
    for (const std::string_view name : more)
      s_ += fmt::format(".alias {} = X{}\n", name, reg++);
    op("set_ffts_base_addr 1");
    reg = 0;
    for (const std::string_view name : {"x", "w", "scale", "row_scale", "y", "work"})
      op("ld_arg {}, {}", name, reg++);
    op("get_block_idx core");
    op("mul t, core, {}", kTileBytes);
    op("add work, work, t");
    op("mov task, 0");
    op("mov block, core");
  }
  // m and the columns from n to n_end of a block.
  void place_of_block() {
    op("div m, block, {}", x_.blocks_n());
    op("mul m, m, {}", kM);
    op("rem n, block, {}", x_.blocks_n());
    op("mul n, n, {}", kBlockN);
    op("add n_end, n, {}", kBlockN);
  }
  // at = where the tile of this number goes.
  void place_of_task() {
    op("rem at, task, {}", x_.depth);
    op("mul at, at, {}", x_.cores * kTileBytes);
    op("add at, at, work");
  }

  const Grouped& x_;
  std::string s_;
};

constexpr u32 kThere = 8, kFree = 9;  // flags

class Cube final : public Writer {
 public:
  using Writer::Writer;

  std::string text() {
    begin({"a_slot", "a_at", "b_slot", "group", "kb"});
    flags("set_flag");
    op("bge block, {}, finish", x_.blocks());
    label("blocks");
    place_of_block();
    load_a();
    label("tiles");
    for (u64 step = 0; step < x_.k / kK; ++step)
      multiply(step);
    store();
    op("add n, n, {}", kN);
    op("blt n, n_end, tiles");
    flag("set_flag", "MTE1", "MTE2", "a_slot");
    op("xor a_slot, a_slot, 1");
    op("add block, block, {}", x_.cores);
    op("blt block, {}, blocks", x_.blocks());
    label("finish");
    flags("wait_flag");
    op("min t, task, {}", x_.depth);
    label("drain");
    op("beq t, 0, drained");
    op("wait_flag_dev {}", kFree);
    op("sub t, t, 1");
    op("b drain");
    label("drained");
    op("pipe_barrier PIPE_ALL\n  end");
    return std::move(s_);
  }

 private:
  u64 a_bytes() const { return kM * x_.k; }
  void flags(std::string_view what) {
    for (const std::string_view event : {"0", "1", "2", "3"})
      flag(what, "MTE1", "MTE2", event);
    for (const std::string_view event : {"0", "1"})
      flag(what, "M", "MTE1", event);
  }
  void load_a() {
    flag("wait_flag", "MTE1", "MTE2", "a_slot");
    op("mul at, m, {}", x_.k);
    op("add at, at, x");
    op("mul a_at, a_slot, {}", a_bytes());
    op("copy_gm_to_cbuf_multi_nd2nz_b8 a_at, at, 0, 1, {}, {}, 0, {}, {}, 1, 0", kM, x_.k, x_.k, kM);
    flag("set_flag", "MTE2", "MTE1", "a_slot");
    op("div group, m, {}", x_.m / x_.groups);
    op("mul group, group, {}", x_.k * x_.n);
    op("add group, group, w");
    flag("wait_flag", "MTE2", "MTE1", "a_slot");
  }
  // The weights of kStepB mads, block columns of 32: k x 32 bytes each.
  void load_b(u64 step, u64 slot) {
    const u64 rows = kK * kStepB;
    flag("wait_flag", "MTE1", "MTE2", fmt::format("{}", 2 + slot));
    op("mul at, n, {}", x_.k);
    op("add at, at, {}", step * kK * 32);
    op("add at, at, group");
    op("copy_gm_to_cbuf {}, at, 0, {}, {}, {}, 0", b_at(slot), kN / 32, rows, x_.k - rows);
    hand_over("MTE2", "MTE1", fmt::format("{}", 2 + slot));
  }
  u64 b_at(u64 slot) const { return 2 * a_bytes() + slot * kK * kStepB * kN; }

  void multiply(u64 step) {
    const u64 slot = step / kStepB % 2, l0 = step % 2, l0a = l0 * kM * kK, l0b = l0 * kN * kK;
    if (step % kStepB == 0) load_b(step, slot);
    flag("wait_flag", "M", "MTE1", fmt::format("{}", l0));
    for (u64 f = 0; f < kK / 32; ++f)
      op("load_cbuf_to_ca {}, a_at, {}, {}, 1, 0, 0, {}", l0a + f * 512, (step * (kK / 32) + f) * (kM / 16), kM / 16,
         kK / 32 - 1);
    for (u64 f = 0; f < kK / 32; ++f)
      op("load_cbuf_to_cb_transpose.b8 {}, {}, {}, {}, {}, 1, 0, 0", l0b + f * (kN / 16) * 512, b_at(slot),
         step % kStepB * (kK / 32) + f, kN / 32, kK * kStepB / 32);
    if ((step + 1) % kStepB == 0) flag("set_flag", "MTE1", "MTE2", fmt::format("{}", 2 + slot));
    hand_over("MTE1", "M", fmt::format("{}", l0));
    op("mad.s8 0, {}, {}, {}, {}, {}, {}, {}", l0a, l0b, kM, kK, kN, step == 0 ? 1 : 0, step + 1 == x_.k / kK ? 3 : 2);
    flag("set_flag", "M", "MTE1", fmt::format("{}", l0));
  }

  void store() {
    op("blt task, {}, place", x_.depth);
    op("wait_flag_dev {}", kFree);
    label("place");
    place_of_task();
    op("copy_matrix_cc_to_gm at, 0, 0, {}, {}, {}, {}, 3, 0, 0, 0, 1", kN, kM, kN, kM);
    set_cross("FIX", kThere);
    op("add task, task, 1");
  }
};

// UB: from 0 on two places for results of the cube, then for y, for scales of columns and of rows; what is between the
// steps.
namespace ub {
constexpr u64 kElements = kChunk * kN, kOut = 2 * kElements * 4, kScale = kOut + 2 * kElements * 2;
constexpr u64 kRowScale = kScale + 2 * kN * 4, kBroadcast = kRowScale + 2 * 256, kValues = kBroadcast + 1024;
constexpr u64 kRows = kValues + kElements * 4, kGelu = kRows + kElements * 4;
static_assert(kGelu + kElements * 4 <= 192 * 1024);
}  // namespace ub

class Vector final : public Writer {
 public:
  using Writer::Writer;

  std::string text() {
    begin({"aiv", "chunk", "rows", "repeats", "slot", "scale_slot", "in", "out", "scale_at", "row_scale_at", "src"});
    op("get_subblockid aiv");
    flags("set_flag");
    op("bge block, {}, finish", x_.blocks());
    label("blocks");
    place_of_block();
    label("tiles");
    load_scale();
    op("wait_flag_dev {}", kThere);
    op("mov chunk, {}", x_.aivs == 2 ? "aiv" : "0");
    label("chunks");
    process_chunk();
    op("add chunk, chunk, {}", x_.aivs);
    op("blt chunk, {}, chunks", ceil_div(kM, kChunk));
    flag("set_flag", "V", "MTE2", "scale_slot");
    op("sub scale_slot, 5, scale_slot");
    set_cross("MTE2", kFree);
    op("add task, task, 1");
    op("add n, n, {}", kN);
    op("blt n, n_end, tiles");
    op("add block, block, {}", x_.cores);
    op("blt block, {}, blocks", x_.blocks());
    label("finish");
    flags("wait_flag");
    op("pipe_barrier PIPE_ALL\n  end");
    return std::move(s_);
  }

 private:
  void flags(std::string_view what) {
    for (const std::string_view event : {"0", "1"}) {
      flag(what, "V", "MTE2", event);
      flag(what, "MTE3", "V", event);
    }
    for (const std::string_view event : {"2", "3"})
      flag(what, "V", "MTE2", event);
    if (what == "set_flag") op("mov scale_slot, 2");
  }
  template <class... Args>
  void vector(fmt::format_string<Args...> format, Args&&... args) {
    op(format, std::forward<Args>(args)...);
    op("pipe_barrier PIPE_V");
  }
  static u64 bits(float f) { return std::bit_cast<u32>(f); }

  void load_scale() {
    flag("wait_flag", "V", "MTE2", "scale_slot");
    op("div src, m, {}", x_.m / x_.groups);
    op("mul src, src, {}", x_.n);
    op("add src, src, n");
    op("shl src, src, 2");
    op("add src, src, scale");
    op("mul scale_at, scale_slot, {}", kN * 4);
    op("add scale_at, scale_at, {}", ub::kScale - 2 * kN * 4);
    op("copy_gm_to_ubuf scale_at, src, 0, 1, {}, 0, 0", kN * 4 / 32);
    hand_over("MTE2", "V", "scale_slot");
  }

  void process_chunk() {
    op("mul t, chunk, {}", kChunk);
    op("sub rows, {}, t", kM);
    op("min rows, rows, {}", kChunk);
    op("mul repeats, rows, {}", kN / 64);
    op("mul in, slot, {}", ub::kElements * 4);
    op("mul out, slot, {}", ub::kElements * 2);
    op("add out, out, {}", ub::kOut);
    op("mul row_scale_at, slot, 256");
    op("add row_scale_at, row_scale_at, {}", ub::kRowScale);
    flag("wait_flag", "V", "MTE2", "slot");
    place_of_task();
    op("mul t, chunk, {}", kChunk * kN * 4);
    op("add at, at, t");
    op("mul t, rows, {}", kN * 4 / 32);
    op("copy_gm_to_ubuf in, at, 0, 1, t, 0, 0");
    op("mul src, chunk, {}", kChunk);
    op("add src, src, m");
    op("shl src, src, 2");
    op("add src, src, row_scale");
    op("shr t, rows, 3");
    op("copy_gm_to_ubuf row_scale_at, src, 0, 1, t, 0, 0");
    hand_over("MTE2", "V", "slot");
    flag("wait_flag", "MTE3", "V", "slot");
    op("shr t, rows, 3");
    vector("vbrcb.f32 {}, row_scale_at, 1, 8, t", ub::kBroadcast);
    by_row("vcopy.f32 {0}, {1}, rows, 1, 0, 32, 1", ub::kRows, ub::kBroadcast, false);
    vector("vconv_s322f32 {}, in, repeats, 1, 1, 8, 8", ub::kValues);
    by_row("vmul.f32 {0}, {0}, t, rows, 1, 1, 1, 32, 32, 0", ub::kValues, 0, true);
    vector("vadds.f32 {0}, {0}, 0, repeats, 1, 1, 8, 8", ub::kValues);
    flag("set_flag", "V", "MTE2", "slot");
    vector("vmul.f32 {0}, {1}, {0}, repeats, 1, 1, 1, 8, 8, 8", ub::kRows, ub::kValues);
    vector("vmuls.f32 {}, {}, {:#x}, repeats, 1, 1, 8, 8", ub::kGelu, ub::kRows, bits(-1.702f));
    vector("vexp.f32 {0}, {0}, repeats, 1, 1, 8, 8", ub::kGelu);
    vector("vadds.f32 {0}, {0}, {1:#x}, repeats, 1, 1, 8, 8", ub::kGelu, bits(1));
    vector("vdiv.f32 {0}, {1}, {0}, repeats, 1, 1, 1, 8, 8, 8", ub::kGelu, ub::kRows);
    vector("vconv_f322f16 out, {}, repeats, 1, 1, 4, 8", ub::kGelu);
    hand_over("V", "MTE3", "slot");
    op("mul src, chunk, {}", kChunk);
    op("add src, src, m");
    op("mul src, src, {}", x_.n);
    op("add src, src, n");
    op("shl src, src, 1");
    op("add src, src, y");
    op("copy_ubuf_to_gm src, out, 0, rows, {}, 0, {}", kN * 2 / 32, (x_.n - kN) * 2 / 32);
    flag("set_flag", "MTE3", "V", "slot");
    op("xor slot, slot, 1");
  }
  // 64 columns at a time of all rows; `scaled`: with the scales of these columns in t.
  void by_row(std::string_view format, u64 dst, u64 src, bool scaled) {
    for (u64 column = 0; column < kN; column += 64) {
      if (scaled) op("add t, scale_at, {}", column * 4);
      s_ += "  " + fmt::format(fmt::runtime(format), dst + column * 4, src) + "\n";
    }
    op("pipe_barrier PIPE_V");
  }
};

KernelStream kernel(const Params& p, const config::ChipConfig& /*chip*/) {
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
  return {.code = Cube(x).text(),
          .aiv_code = Vector(x).text(),
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
          .kernel = kernel,
          .measure = times_of(kernel)};
}

}  // namespace vinci::validate
