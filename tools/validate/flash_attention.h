// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "isa/base/types.h"

// Attention of one head with heads of 128: O = softmax(Q K^T / sqrt(128)) V, block by block of 128 rows of Q. The cube
// core makes Q K^T of a tile of K, the two vector cores its exponentials with the running maximum and sum of each row,
// the cube core multiplies them with V, the vector cores rescale O and add. Tiles pass through queues in global memory,
// in both directions under cross-core flags; the cube core is `preload` tiles ahead. After the published kernel of
// PTO-ISA (kernels/manual/common/flash_atten), whose tiles, buffers, flags and vector instructions this has.
namespace vinci::validate::attention {

constexpr u64 kHead = 128, kRows = 128, kColumns = 128;  // of Q, and of the part of a tile that one mad has
constexpr u64 kSlice = 8192;                             // elements that the vector cores have in UB at a time

struct Attention {
  u64 q_length, k_length, tile, preload, fifo, period, cores;
  u64 parts() const { return tile / kColumns; }     // mads for each tile, and slices of the rows of a vector core
  u64 rows() const { return kRows / 2 / parts(); }  // of a slice
  u64 tiles() const { return k_length / tile; }
  // The last parts of the queue that nobody has waited for.
  u64 pending() const {
    const u64 notes = tiles() / period;
    const u64 waits = tiles() > fifo ? (tiles() - 1) / period - (fifo - 1) / period : 0;
    return std::min(notes > waits ? notes - waits : 0, ceil_div(fifo, period));
  }
};

// Ids of cross-core flags: the tile is there, its place is free again.
enum Flag : u32 { qk_there, qk_free, p_there, p_free, pv_there, pv_free };

// What the programs of both cores have in common.
class Writer {
 public:
  explicit Writer(const Attention& x) : x_(x) {}
  std::string take() { return std::move(s_); }

 protected:
  template <class... Args>
  void op(fmt::format_string<Args...> format, Args&&... args) {
    s_ += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  void label(std::string_view name) { s_ += fmt::format("{}:\n", name); }
  void aliases(std::initializer_list<std::string_view> names) {
    u64 reg = 0;
    for (const std::string_view name : names)
      s_ += fmt::format(".alias {} = X{}\n", name, reg++);
  }
  void flag(std::string_view what, std::string_view from, std::string_view to, std::string_view event) {
    op("{} PIPE_{}, PIPE_{}, {}", what, from, to, event);
  }
  // What follows waits until `to` sees all that `from` has done.
  void hand_over(std::string_view from, std::string_view to, std::string_view event) {
    flag("set_flag", from, to, event);
    flag("wait_flag", from, to, event);
  }
  void set_cross(std::string_view pipe, Flag id) {
    op("ffts_cross_core_sync PIPE_{}, {}", pipe, 0x1 | 2 << 4 | static_cast<u32>(id) << 8);
  }
  // The place of a tile in a queue is free once the tile `fifo` before it has been read, of which there is one note in
  // each `period`.
  void wait_free(std::string_view tile, Flag id) {
    const u64 n = labels_++;
    op("blt {}, {}, free_{}", tile, x_.fifo, n);
    op("rem t, {}, {}", tile, x_.period);
    op("bne t, 0, free_{}", n);
    op("wait_flag_dev {}", static_cast<u32>(id));
    label(fmt::format("free_{}", n));
  }
  void note_free(std::string_view tile, std::string_view pipe, Flag id) {
    const u64 n = labels_++;
    op("add t, {}, 1", tile);
    op("rem t, t, {}", x_.period);
    op("bne t, 0, kept_{}", n);
    set_cross(pipe, id);
    label(fmt::format("kept_{}", n));
  }
  void drain(Flag id) {
    for (u64 i = 0; i < x_.pending(); ++i)
      op("wait_flag_dev {}", static_cast<u32>(id));
  }
  // dst = the place of `tile` in the queue of this core at `base`.
  void place(std::string_view dst, std::string_view base, std::string_view tile, u64 bytes) {
    op("rem t, {}, {}", tile, x_.fifo);
    op("mul t, t, {}", bytes);
    op("add {}, {}, t", dst, base);
  }
  // Each AI core has queues of its own.
  void own_queue(std::string_view base, u64 bytes) {
    op("mul t, core, {}", bytes * x_.fifo);
    op("add {0}, {0}, t", base);
  }
  u64 qk_bytes() const { return kRows * x_.tile * 4; }
  u64 p_bytes() const { return kRows * x_.tile * 2; }
  u64 pv_bytes() const { return kRows * kHead * 4; }
  void arguments() {
    op("set_ffts_base_addr 1");
    for (const std::string_view name : {"q", "k", "v", "qk", "p", "pv", "o"})
      op("ld_arg {}, {}", name, argument_++);
    op("get_block_idx block");
    op("get_coreid core");
    op("get_subblockdim t");
    op("div core, core, t");
    own_queue("qk", qk_bytes());
    own_queue("p", p_bytes());
    own_queue("pv", pv_bytes());
  }

  const Attention& x_;
  std::string s_;
  u64 labels_ = 0, argument_ = 0;
};

// The programs of the two kinds of cores. Arguments: Q, K, V, the queues of Q K^T, of exponentials and of P V, O.
std::string cube_text(const Attention& x);
std::string vector_text(const Attention& x);

}  // namespace vinci::validate::attention
