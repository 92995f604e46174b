// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "isa/sem/matmul_kernel.h"

// The inputs of a matrix product as the loops want them: 32-bit elements, the same layout for every type.
namespace vinci::isa {

inline constexpr usize kEdge = 16;  // rows and columns of a fractal of C

// Elements of k that are side by side in A: a multiple of every k0 but that of s4, which is two of them.
constexpr usize matmul_chunk(MatmulType t) { return is_float(t) ? 16 : 32; }

// f32 for floating-point types, s32 for integers.
struct MatmulInputs {
  std::byte* a = nullptr;  // [m1][chunks][16][chunk], or [chunks][chunk] (gemv)
  std::byte* b = nullptr;  // [n1][chunks * chunk][16]; zero beyond n
  usize chunk = 0;
  usize chunks = 0;
  bool gemv = false;

  usize a_step() const { return gemv ? chunk : kEdge * chunk; }  // elements from one chunk to the next
  usize b_panel() const { return chunks * chunk * kEdge; }       // elements from one n1 to the next
  usize a_row(usize row) const {                                 // element 0 of a row
    return gemv ? 0 : (row / kEdge * chunks * kEdge + row % kEdge) * chunk;
  }
};

// Fills the inputs of the types that have no vector code of their own.
void widen_portable(const MatmulTile& t, MatmulType type, Hf32 hf32, const MatmulInputs& into);

// What happens to values that f32 cannot hold. Only types with the exponents of f32 can leave its range.
class RangeWatch {
 public:
  // Looks at A and B, and at C unless it starts at zero; before the product.
  RangeWatch(const MatmulTile& t, const MatmulInputs& in);
  // Looks at C after the product; `special`: it holds an infinite or NaN element.
  MatmulResult result(const MatmulTile& t, bool special) const;
  // Whether an element of A, B or C that this result comes from is infinite or NaN.
  bool special(usize row, usize column) const {
    return row_[row] || column_[column] || (!c_.empty() && c_[row * column_.size() + column]);
  }

 private:
  std::vector<bool> row_, column_, c_;  // where an element is infinite or NaN; c_ may be empty: nowhere
  bool underflow_ = false, non_finite_ = false;
};

// C = C + A * B with the products of one k0 added first, as `order` says, or with fused operations one after the other;
// not for Accumulation::sequential. Returns whether C got an infinite or NaN element.
bool multiply_in_steps(const MatmulTile& t, const MatmulInputs& in, u32 k0, Accumulation order);

}  // namespace vinci::isa
