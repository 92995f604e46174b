// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/gen/gemm_writer.h"

namespace vinci::gen {

// The ways between global memory and the core. The split core: nd2nz to L1, FIXPIPE out of L0C. The joint core has
// neither; both ways are through UB, and MTE3 writes L1 and global memory.
class GemmMoves : protected GemmWriter {
 protected:
  using GemmWriter::GemmWriter;

  // One of the matrices on its way to L1: where it is, its pitch, the rows and columns of a step, how far apart block
  // columns of a slot are.
  struct Part {
    std::string_view name;
    Reg at;  // in global memory
    Const pitch;
    Value rows, columns;
    Const column_rows;
    u32 max_rows, max_columns;
  };
  void load(const Part& x);  // a row-major part, load_a or load_b, to NZ at dst
  void store_tile();         // C out of L0C, on the joint core to UB
  void store_from_ub();      // joint core: the tile before `tile`

  // Joint core: the epilogue (gemm_epilogue.cpp).
  void clear_for_epilogue();
  // The work on the tile before: one part of it with each step of k, so that the queue of V is never full and the loads
  // of this tile go on; all that is left with the last step.
  void work_on_tile();
  Reg factors_at;  // of the tile: in L1, or as DEQSCALE has it

 private:
  void to_nz(const Value& from, const Value& count, const Value& columns, const Value& pitch, const Value& column_rows);
  u32 quant_pre() const;
  void through_ub(const Part& x);
  // Block columns of results in UB are as far apart as those of a whole tile.
  bool results_in_columns() const { return p_.epilogue != nullptr || !p_.layout.empty(); }
  u64 result_rows() const { return t_.tile_m; }
  u64 operand_at(usize i) const;
  u64 operand_bytes(usize i) const;  // of a slot
  void load_operands();
  u64 chunks() const { return t_.tile_n / t_.chunk; }
  void work_on_columns(u64 first, u64 tile_at, u64 operand_slot);
  void store_transposed();
  void add_distance(Reg to, Reg of, const std::vector<GemmLayout::Axis>& axes);
};

}  // namespace vinci::gen
