// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/copy.h"
#include "ascendc/copy_nz.h"
#include "ascendc/load.h"
#include "ascendc/matmul/config.h"
#include "ascendc/pipe.h"

// How Matmul brings its matrices from global memory into L1, and tiles of them from there into L0A and L0B.
//
// In L1 a piece is NZ. One that must be transposed on the way into L0 has the rows of k below each other; elements of
// 32 bits are then cut into groups of 16 rows, so that the two fractals of a square follow each other, as the loads
// that transpose want it.
namespace AscendC::vinci_detail {

constexpr uint32_t RoundUp(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }
constexpr uint32_t Parts(uint32_t value, uint32_t of) { return (value + of - 1) / of; }

// One operand: where it is, how its rows run. `x` is the side that is not k: m of A, n of B.
struct MatmulOperand {
  uint64_t address = 0;
  bool in_l1 = false;       // all of it, as NZ
  bool k_rows = false;      // the rows of the matrix are k: A transposed, or B not
  bool nz = false;          // in global memory
  uint32_t row_length = 0;  // of the whole matrix, elements
  uint32_t rows = 0;        // of the whole matrix
};

// A piece of an operand, in L1.
struct MatmulPiece {
  uint32_t address = 0;
  uint32_t x = 0, k = 0;  // sizes, rounded up to squares
};

template <typename T>
class MatmulMover {
 public:
  static constexpr uint32_t kC0 = 256 / kBitsOf<T>, kFractal = 16 * kC0;
  static constexpr uint32_t kSquare = kC0 < 16 ? 16 : kC0;  // the edge of what is transposed at once, the unit of k
  static constexpr bool kGroups = kBitsOf<T> == 32;         // of 16 rows of k

  // `use_x` by `use_k` elements from (x0, k0) of the operand.
  static void ToL1(const MatmulPiece& to, const MatmulOperand& o, uint32_t x0, uint32_t use_x, uint32_t k0,
                   uint32_t use_k, Place place) {
    const LocalTensor<T> l1(TPosition::A1, to.address, to.x * to.k);
    GlobalTensor<T> gm;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(o.address));
    const uint32_t row0 = o.k_rows ? k0 : x0, column0 = o.k_rows ? x0 : k0;
    const uint32_t rows = o.k_rows ? use_k : use_x, columns = o.k_rows ? use_x : use_k;
    const uint32_t rows_l1 = o.k_rows ? to.k : to.x;
    if (o.k_rows) {
      FillSquares(to, use_x, use_k, place);
    } else if (kGroups && Parts(use_k, kC0) % 2 == 1) {  // the cube unit takes k in whole units
      const LocalTensor<uint16_t> from(TPosition::A1, to.address + Parts(use_k, kC0) * to.x * ONE_BLK_SIZE, 0);
      Fill(from, InitConstValueParams<uint16_t>(1, Half(to.x), 0, 0), place);
    }
    if (!o.k_rows || !kGroups) return CopyRows(l1, rows_l1, gm, o, row0, rows, column0, columns, place);
    for (uint32_t row = 0; row < rows; row += 16)
      CopyRows(l1[row * to.x], 16, gm, o, row0 + row, rows - row < 16 ? rows - row : 16, column0, columns, place);
  }

  // `use_x` by `use_k` elements from k0 of a piece, to L0A, in rows of fractals along k.
  static void ToL0A(const LocalTensor<T>& to, const MatmulPiece& from, bool k_rows, uint32_t use_x, uint32_t k0,
                    uint32_t use_k, Place place) {
    const LocalTensor<T> l1(TPosition::A1, from.address, from.x * from.k);
    const uint32_t steps = RoundUp(use_k, kSquare) / kC0;
    if (!k_rows) {
      for (uint32_t i = 0; i < Parts(use_x, 16); ++i) {
        LoadData(to[i * steps * kFractal], l1[k0 * from.x + i * kFractal],
                 LoadData2DParams(0, Byte(steps), Half(from.x / 16), 0, 0, false, 0), place);
      }
      return;
    }
    for (uint32_t i = 0; i < Parts(use_x, kSquare); ++i) {
      LoadDataWithTranspose(
          to[i * (kSquare / 16) * steps * kFractal], l1,
          Squares(from, i, k0 / kSquare, false, Parts(use_k, kSquare), kGroups ? 1 : 0, kSquare > 16 ? steps - 1 : 0),
          place);
    }
  }
  // The same to L0B, in rows of fractals along x.
  static void ToL0B(const LocalTensor<T>& to, const MatmulPiece& from, bool k_rows, uint32_t use_x, uint32_t k0,
                    uint32_t use_k, Place place) {
    const LocalTensor<T> l1(TPosition::B1, from.address, from.x * from.k);
    const uint32_t across = Parts(use_x, 16);
    if (!k_rows) {
      for (uint32_t j = 0; j < RoundUp(use_k, kSquare) / kC0; ++j) {
        LoadData(to[j * across * kFractal], l1[k0 * from.x + j * from.x * kC0],
                 LoadData2DParams(0, Byte(across), 1, 0, 0, false, 0), place);
      }
      return;
    }
    for (uint32_t j = 0; j < Parts(use_k, kSquare); ++j) {
      LoadDataWithTranspose(to[j * (kSquare / kC0) * across * kFractal], l1,
                            Squares(from, 0, k0 / kSquare + j, true, Parts(use_x, kSquare),
                                    kSquare > 16 ? kSquare / 16 - 1 : 0, kGroups ? across - 1 : 0),
                            place);
    }
  }

 private:
  static uint8_t Byte(uint32_t value) { return static_cast<uint8_t>(value); }
  static uint16_t Half(uint32_t value) { return static_cast<uint16_t>(value); }

  // Fills the fractals of squares of two that are outside the matrix, below the rows of k or behind the columns.
  static void FillSquares(const MatmulPiece& to, uint32_t use_x, uint32_t use_k, Place place) {
    if (kSquare > 16 && Parts(use_k, 16) % 2 == 1) {
      const LocalTensor<uint16_t> from(TPosition::A1, to.address + Parts(use_k, 16) * 512, 0);
      Fill(from, InitConstValueParams<uint16_t>(Half(Parts(use_x, kC0)), 16, Half(to.k - 16), 0), place);
    }
    if (kGroups && Parts(use_x, kC0) % 2 == 1) {
      const LocalTensor<uint16_t> from(TPosition::A1, to.address + Parts(use_x, kC0) * 512, 0);
      Fill(from, InitConstValueParams<uint16_t>(Half(Parts(use_k, 16)), 16, Half(to.x * 2 - 16), 0), place);
    }
  }

  // Rows from global memory to NZ of `rows_l1` rows.
  static void CopyRows(const LocalTensor<T>& l1, uint32_t rows_l1, const GlobalTensor<T>& gm, const MatmulOperand& o,
                       uint32_t row0, uint32_t rows, uint32_t column0, uint32_t columns, Place place) {
    if (o.nz) {
      const uint32_t rows_gm = RoundUp(o.rows, 16);
      DataCopy(l1, gm[uint64_t{column0} * rows_gm + row0 * kC0],
               DataCopyParams(Half(Parts(columns, kC0)), Half(rows), Half(rows_gm - rows), Half(rows_l1 - rows)),
               place);
      return;
    }
    // Strides between rows have 16 bits, and count elements, of int4b_t pairs of them.
    constexpr uint32_t kCounted = std::is_same_v<T, int4b_t> ? 2 : 1;
    const uint32_t row_length = o.row_length / kCounted;
    const bool one_by_one = row_length > 65535;
    for (uint32_t row = 0; row < rows; row += one_by_one ? 1 : rows) {
      DataCopy(l1[row * kC0], gm[uint64_t{row0 + row} * o.row_length + column0],
               Nd2NzParams(1, Half(one_by_one ? 1 : rows), Half(columns / kCounted), 0,
                           Half(one_by_one ? columns / kCounted : row_length), Half(rows_l1), 1, 0),
               place);
    }
  }

  // Squares of a piece whose rows are k, from square (x, k) on, along x or along k.
  static LoadData2dTransposeParams Squares(const MatmulPiece& from, uint32_t x, uint32_t k, bool along_x,
                                           uint32_t count, uint32_t gap, uint32_t fractal_gap) {
    const uint32_t step_x = kGroups ? 1 : from.k / kSquare, step_k = kGroups ? from.x / 16 : 1;
    return {Half(x * step_x + k * step_k), Byte(count), Half(along_x ? step_x : step_k), Half(gap), Half(fractal_gap)};
  }
};

}  // namespace AscendC::vinci_detail
