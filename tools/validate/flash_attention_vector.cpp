// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The vector cores of flash_attention.h.
#include <bit>

#include "tools/validate/flash_attention.h"
#include "tools/validate/row_reduce.h"

namespace vinci::validate::attention {
namespace {

// UB: two places for what comes from the cube, two for exponentials, O, and what is one number for each row.
namespace ub {
constexpr u64 kPlace = kSlice * 4, kExp = 2 * kPlace, kO = kExp + 2 * kSlice * 2, kReduce = kO + kPlace;
constexpr u64 kReduceBytes = kSlice / 8 * 4, kBroadcast = kReduce + 2 * kReduceBytes, kRow = kRows / 2 * 4;
constexpr u64 kMax = kBroadcast + kRows / 2 * 32, kGlobalMax = kMax + kRow, kSum = kGlobalMax + kRow;
constexpr u64 kGlobalSum = kSum + kRow, kRescale = kGlobalSum + kRow;  // the last by tile of the queue
}  // namespace ub

class Vector final : public Writer {
 public:
  explicit Vector(const Attention& x) : Writer(x) {
    aliases({"q",      "k",    "v",     "qk",   "p",          "pv",  "o",          "block",
             "core",   "tile", "ahead", "part", "slot",       "aiv", "place",      "factor",
             "exp_at", "at",   "t",     "max",  "global_max", "sum", "global_sum", "rescale"});
    arguments();
    op("get_subblockid aiv");
    op("mul t, block, {}", kRows * kHead * 4);
    op("add o, o, t");
    op("mul t, aiv, {}", kRows / 2 * kHead * 4);
    op("add o, o, t");
    op("add pv, pv, t");
    all_free("set_flag");
    op("mov ahead, 0");
    op("mov slot, 0");
    label("preload");
    softmax_of_tile("preload_parts");
    op("add ahead, ahead, 1");
    op("blt ahead, {}, preload", std::min(x.preload, x.tiles()));
    op("mov tile, 0");
    label("tiles");
    op("bge ahead, {}, no_softmax", x.tiles());
    softmax_of_tile("parts");
    label("no_softmax");
    update();
    op("add ahead, ahead, 1");
    op("add tile, tile, 1");
    op("blt tile, {}, tiles", x.tiles());
    all_free("wait_flag");
    drain(p_free);
    op("pipe_barrier PIPE_ALL");
    op("end");
  }

 private:
  void all_free(std::string_view what) {
    for (const std::string_view event : {"0", "1"}) {
      flag(what, "V", "MTE2", event);
      flag(what, "MTE3", "V", event);
    }
  }
  // Vector instructions on f32, each after what the one before has written.
  template <class... Args>
  void vector(fmt::format_string<Args...> format, Args&&... args) {
    op(format, std::forward<Args>(args)...);
    op("pipe_barrier PIPE_V");
  }
  static constexpr std::string_view kTwo = "1, 1, 1, 8, 8, 8", kOne = "1, 1, 8, 8";
  static u64 bits(float f) { return std::bit_cast<u32>(f); }

  // On one number for each row of the slice.
  void rows_mask() { op("set_vector_mask 0, {:#x}", x_.rows() == 64 ? ~u64{0} : (u64{1} << x_.rows()) - 1); }
  void full_mask() { op("set_vector_mask {0:#x}, {0:#x}", ~u64{0}); }

  // dst[row] = max or sum of the row.
  void reduce(std::string_view name, std::string_view dst, std::string_view src) {
    s_ +=
        row_reduce({.name = name, .dst = dst, .src = src, .rows = x_.rows(), .columns = x_.tile, .work = ub::kReduce});
  }
  // at[row, :] = at[row, :] op factor[row], of `rows` rows of `columns`.
  void by_row(std::string_view name, std::string_view at, std::string_view factor, u64 rows, u64 columns) {
    vector("vbrcb.f32 {}, {}, 1, 8, {}", ub::kBroadcast, factor, rows / 8);
    if (columns / 64 <= rows) {
      op("mov t, {}", at);
      for (u64 i = 0; i < columns / 64; ++i) {
        op("v{}.f32 t, t, {}, {}, 1, 1, 0, {}, {}, 1", name, ub::kBroadcast, rows, columns / 8, columns / 8);
        op("add t, t, 256");
      }
    } else {
      op("mov t, {}", at);
      for (u64 i = 0; i < rows; ++i) {
        op("v{}.f32 t, t, {}, {}, 1, 1, 0, 8, 8, 0", name, ub::kBroadcast + i * 32, columns / 64);
        op("add t, t, {}", columns * 4);
      }
    }
    op("pipe_barrier PIPE_V");
  }

  // The exponentials of tile `ahead`, slice by slice of the rows.
  void softmax_of_tile(std::string_view loop) {
    const u64 n = labels_++;
    const u64 parts = x_.parts(), rows = x_.rows();
    op("mov part, 0");
    label(loop);
    flag("wait_flag", "V", "MTE2", "slot");
    op("bne part, 0, qk_there_{}", n);
    op("wait_flag_dev {}", static_cast<u32>(qk_there));
    label(fmt::format("qk_there_{}", n));
    op("mul place, slot, {}", ub::kPlace);
    place("at", "qk", "ahead", qk_bytes());
    op("mul t, aiv, {}", kRows / 2 * kColumns * 4);
    op("add at, at, t");
    op("mul t, part, {}", rows * kColumns * 4);
    op("add at, at, t");
    for (u64 i = 0; i < parts; ++i) {
      op("add t, place, {}", i * kColumns * 4);
      op("copy_gm_to_ubuf t, at, 0, {}, {}, 0, {}", rows, kColumns * 4 / 32, (parts - 1) * kColumns * 4 / 32);
      op("add at, at, {}", kRows * kColumns * 4);
    }
    op("bne part, {}, qk_read_{}", parts - 1, n);
    note_free("ahead", "MTE2", qk_free);
    label(fmt::format("qk_read_{}", n));
    hand_over("MTE2", "V", "slot");
    for (const auto& [name, base] : {std::pair{"max", ub::kMax}, std::pair{"global_max", ub::kGlobalMax},
                                     std::pair{"sum", ub::kSum}, std::pair{"global_sum", ub::kGlobalSum}}) {
      op("mul t, part, {}", rows * 4);
      op("add {}, t, {}", name, base);
    }
    op("rem t, ahead, {}", x_.fifo);
    op("mul t, t, {}", ub::kRow);
    op("mul rescale, part, {}", rows * 4);
    op("add rescale, rescale, t");
    op("add rescale, rescale, {}", ub::kRescale);
    op("mul exp_at, slot, {}", kSlice * 2);
    op("add exp_at, exp_at, {}", ub::kExp);
    flag("wait_flag", "MTE3", "V", "slot");
    op("bne ahead, 0, later_{}", n);
    first_tile();
    op("b softmax_done_{}", n);
    label(fmt::format("later_{}", n));
    later_tile();
    label(fmt::format("softmax_done_{}", n));
    flag("set_flag", "V", "MTE2", "slot");
    hand_over("V", "MTE3", "slot");
    op("bne part, 0, p_place_{}", n);
    wait_free("ahead", p_free);
    label(fmt::format("p_place_{}", n));
    place("at", "p", "ahead", p_bytes());
    op("mul t, aiv, {}", kRows / 2 * kColumns * 2);
    op("add at, at, t");
    op("mul t, part, {}", rows * kColumns * 2);
    op("add at, at, t");
    for (u64 i = 0; i < parts; ++i) {
      op("add t, exp_at, {}", i * kColumns * 2);
      op("copy_ubuf_to_gm at, t, 0, {}, {}, {}, 0", rows, kColumns * 2 / 32, (parts - 1) * kColumns * 2 / 32);
      op("add at, at, {}", kRows * kColumns * 2);
    }
    op("bne part, {}, p_stored_{}", parts - 1, n);
    set_cross("MTE3", p_there);
    label(fmt::format("p_stored_{}", n));
    flag("set_flag", "MTE3", "V", "slot");
    op("xor slot, slot, 1");
    op("add part, part, 1");
    op("blt part, {}, {}", parts, loop);
  }

  void scale(std::string_view at, u64 repeats) {
    vector("vmuls.f32 {}, {}, {:#x}, {}, {}", at, at, bits(0.088388346f), repeats, kOne);
  }
  void first_tile() {
    reduce("max", "global_max", "place");
    by_row("sub", "place", "global_max", x_.rows(), x_.tile);
    scale("place", kSlice / 64);
    vector("vexp.f32 place, place, {}, {}", kSlice / 64, kOne);
    reduce("add", "global_sum", "place");
    vector("vconv_f322f16a exp_at, place, {}, 1, 1, 4, 8", kSlice / 64);
  }
  void later_tile() {
    reduce("max", "max", "place");
    rows_mask();
    vector("vmax.f32 max, max, global_max, 1, {}", kTwo);
    vector("vsub.f32 rescale, global_max, max, 1, {}", kTwo);
    vector("vmuls.f32 global_max, max, {:#x}, 1, {}", bits(1), kOne);
    full_mask();
    by_row("sub", "place", "max", x_.rows(), x_.tile);
    rows_mask();
    scale("rescale", 1);
    full_mask();
    scale("place", kSlice / 64);
    rows_mask();
    vector("vexp.f32 rescale, rescale, 1, {}", kOne);
    full_mask();
    vector("vexp.f32 place, place, {}, {}", kSlice / 64, kOne);
    vector("vconv_f322f16a exp_at, place, {}, 1, 1, 4, 8", kSlice / 64);
    rows_mask();
    vector("vmul.f32 global_sum, rescale, global_sum, 1, {}", kTwo);
    full_mask();
    reduce("add", "sum", "place");
    rows_mask();
    vector("vadd.f32 global_sum, global_sum, sum, 1, {}", kTwo);
    full_mask();
  }

  // O = O * rescale + P V of `tile`, and at the end its rows through their sums.
  void update() {
    constexpr u64 kMine = kRows / 2;
    op("wait_flag_dev {}", static_cast<u32>(pv_there));
    flag("wait_flag", "V", "MTE2", "slot");
    op("mul place, slot, {}", ub::kPlace);
    op("bne tile, 0, not_first");
    op("mov place, {}", ub::kO);
    label("not_first");
    place("at", "pv", "tile", pv_bytes());
    op("copy_gm_to_ubuf place, at, 0, 1, {}, 0, 0", kMine * kHead * 4 / 32);
    hand_over("MTE2", "V", "slot");
    op("beq tile, 0, updated");
    op("rem t, tile, {}", x_.fifo);
    op("mul t, t, {}", ub::kRow);
    op("add rescale, t, {}", ub::kRescale);
    by_row("mul", fmt::format("{}", ub::kO), "rescale", kMine, kHead);
    vector("vadd.f32 {0}, {0}, place, {1}, {2}", ub::kO, kSlice / 64, kTwo);
    label("updated");
    flag("set_flag", "V", "MTE2", "slot");
    note_free("tile", "MTE2", pv_free);
    op("bne tile, {}, not_last", x_.tiles() - 1);
    by_row("div", fmt::format("{}", ub::kO), fmt::format("{}", ub::kGlobalSum), kMine, kHead);
    hand_over("V", "MTE3", "2");
    op("copy_ubuf_to_gm o, {}, 0, 1, {}, 0, 0", ub::kO, kMine * kHead * 4 / 32);
    label("not_last");
    op("xor slot, slot, 1");
  }
};

}  // namespace

std::string vector_text(const Attention& x) { return Vector(x).take(); }

}  // namespace vinci::validate::attention
