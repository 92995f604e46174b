// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "isa/builder/program_builder.h"

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
  // The last parts of the queue that no core has waited for.
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
 protected:
  using PipeId = isa::PipeId;
  using Reg = isa::Reg;
  using Type = isa::Type;
  using Value = isa::Value;

  // `t` is the number of the register for what is needed at once.
  Writer(const Attention& attention, std::string name, isa::Arch arch, u32 number_of_t)
      : x_(attention), p_(std::move(name), arch), t(p_.reg("t", number_of_t)) {}

  // set_flag or wait_flag.
  void flag(bool set, PipeId from, PipeId to, u64 event) {
    set ? p_.set_flag(from, to, event) : p_.wait_flag(from, to, event);
  }
  void set_cross(PipeId pipe, Flag id) { p_.ffts_cross_core_sync(pipe, 0x1 | 2 << 4 | static_cast<u32>(id) << 8); }
  void wait_cross(Flag id) { p_.wait_flag_dev(static_cast<u32>(id)); }
  // The place of a tile in a queue is free once the tile `fifo` before it has been read, of which there is one note in
  // each `period`.
  void wait_free(Reg of_tile, Flag id) {
    p_.if_(of_tile >= x_.fifo, [&] {
      p_.rem(t, of_tile, x_.period);
      p_.if_(t == 0, [&] { wait_cross(id); });
    });
  }
  void note_free(Reg of_tile, PipeId pipe, Flag id) {
    p_.add(t, of_tile, 1);
    p_.rem(t, t, x_.period);
    p_.if_(t == 0, [&] { set_cross(pipe, id); });
  }
  void drain(Flag id) {
    for (u64 i = 0; i < x_.pending(); ++i)
      wait_cross(id);
  }
  // dst = the place of a tile in the queue of this core at `base`.
  void place_in_queue(Reg dst, Reg base, Reg of_tile, u64 bytes) {
    p_.rem(t, of_tile, x_.fifo);
    p_.mul(t, t, bytes);
    p_.add(dst, base, t);
  }
  // Each AI core has queues of its own.
  void own_queue(Reg base, u64 bytes) {
    p_.mul(t, core, bytes * x_.fifo);
    p_.add(base, base, t);
  }
  u64 qk_bytes() const { return kRows * x_.tile * 4; }
  u64 p_bytes() const { return kRows * x_.tile * 2; }
  u64 pv_bytes() const { return kRows * kHead * 4; }
  void arguments() {
    p_.set_ffts_base_addr(1);
    u64 index = 0;
    for (const Reg argument : {q, k, v, qk, p, pv, o})
      p_.ld_arg(argument, index++);
    p_.get_block_idx(block);
    p_.get_coreid(core);
    p_.get_subblockdim(t);
    p_.div(core, core, t);
    own_queue(qk, qk_bytes());
    own_queue(p, p_bytes());
    own_queue(pv, pv_bytes());
  }

  const Attention& x_;
  isa::ProgramBuilder p_;
  const Reg t;
  const Reg q = p_.reg("q"), k = p_.reg("k"), v = p_.reg("v"), qk = p_.reg("qk"), p = p_.reg("p"), pv = p_.reg("pv"),
            o = p_.reg("o"), block = p_.reg("block"), core = p_.reg("core"), tile = p_.reg("tile"),
            ahead = p_.reg("ahead"), part = p_.reg("part");
};

// The programs of the two kinds of cores. Arguments: Q, K, V, the queues of Q K^T, of exponentials and of P V, O.
isa::BuiltProgram cube_program(const Attention& attention, isa::Arch arch);
isa::BuiltProgram vector_program(const Attention& attention, isa::Arch arch);

}  // namespace vinci::validate::attention
