// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/elements.h"
#include "ascendc/copy.h"
#include "ascendc/layout.h"
#include "ascendc/reduce.h"

// The base of functions of rows: a matrix of f32 in UB, a number for each row, and a row of factors for all rows.
namespace AscendC {

namespace vinci_detail {
// Numbers of rows are kept as blocks of 32 bytes filled with them, as operands that repeat.
constexpr uint32_t kRowBlock = ONE_BLK_SIZE / sizeof(float);
constexpr uint32_t kRowLanes = ONE_REPEAT_BYTE_SIZE / sizeof(float);
constexpr uint32_t AlignedRows(uint32_t rows) { return (rows + kRowBlock - 1) / kRowBlock * kRowBlock; }

class Rows {
 public:
  using F = LocalTensor<float>;

  // `stride` elements from row to row, whole blocks; the first `columns` of them count.
  Rows(uint32_t rows, uint32_t columns, uint32_t stride, Place place)
      : rows_(rows), columns_(columns), stride_(stride), place_(place) {
    if (stride % kRowBlock != 0) ::vinci::ascendc::wrong("a row of the matrix does not fill blocks of 32 bytes", place);
  }
  uint32_t rows() const { return rows_; }
  uint32_t elements() const { return rows_ * stride_; }

  // vals[row] = the sum or the largest element of the row; acc are 64 elements for each row.
  void Sum(const F& vals, const F& x, const F& acc) const {
    Fold(AddInsn<float>(), acc, x, 0.0f);
    ForEach255(rows_, [&](uint32_t first, uint32_t n) {
      IssueReduce(WholeReduceSumInsn<float>(), vals[first], acc[first * kRowLanes], static_cast<int32_t>(n), 1, 1, 8,
                  place_);
    });
    Wait();
  }
  // acc += the pieces of 64 of each row, folded on each other.
  void AddFolded(const F& acc, const F& x) const { FoldOnto(AddInsn<float>(), acc, x); }
  void Max(const F& vals, const F& x, const F& acc) const {
    Fold(MaxInsn<float>(), acc, x, -3.402823466e38f);
    Extremum(vals, acc, kRowLanes);
  }
  void Min(const F& vals, const F& x, const F& acc) const {
    Fold(MinInsn<float>(), acc, x, 3.402823466e38f);
    SetMaskLanes<float>(kRowLanes, place_);
    ForEach255(rows_, [&](uint32_t first, uint32_t n) {
      IssueReduce(WholeReduceMinInsn<float>(), vals[first], acc[first * kRowLanes], static_cast<int32_t>(n), 1, 1, 8,
                  static_cast<uint64_t>(ReduceOrder::ORDER_ONLY_VALUE), place_);
    });
    Wait();
  }

  // Numbers to blocks, which must have room for a multiple of 8 rows; and back.
  template <typename T>
  void ToBlocks(const LocalTensor<T>& blocks, const LocalTensor<T>& vals) const {
#if __NPU_ARCH__ == 2201
    const uint32_t repeats = AlignedRows(rows_) / kRowBlock;
    static ::vinci::ascendc::Insn insn("vbrcb", TypeName<T>());
    ForEach255(repeats, [&](uint32_t first, uint32_t n) {
      constexpr uint32_t kBlock = ONE_BLK_SIZE / sizeof(T);
      ::vinci::ascendc::issue(
          insn, {blocks[first * kRowBlock * kBlock].Address(), vals[first * kRowBlock].Address(), 1, 8, n}, place_);
    });
#else
    SpreadNumbers(blocks, vals, rows_, ONE_BLK_SIZE / sizeof(T), ONE_BLK_SIZE / sizeof(T), place_);
#endif
    Wait();
  }
  void FromBlocks(const F& vals, const F& blocks, uint32_t elements = kRowBlock) const {
    Extremum(vals, blocks, elements);
    ResetMask(place_);
  }

  // d = x op the number of the row.
  void SubRow(const F& d, const F& x, const F& blocks) const { OfRow(SubInsn<float>(), d, x, blocks); }
  void MulRow(const F& d, const F& x, const F& blocks) const { OfRow(MulInsn<float>(), d, x, blocks); }
  void AddRow(const F& d, const F& x, const F& blocks) const { OfRow(AddInsn<float>(), d, x, blocks); }
  void DivRow(const F& d, const F& x, const F& blocks) const { OfRow(DivInsn<float>(), d, x, blocks); }
  // d = x op the element of the column.
  void MulColumn(const F& d, const F& x, const F& row) const { OfColumn(MulInsn<float>(), d, x, row); }
  void AddColumn(const F& d, const F& x, const F& row) const { OfColumn(AddInsn<float>(), d, x, row); }
  void Mul(const F& d, const F& a, const F& b) const {
    ForEach([&](const Piece& p) {
      IssueBinary(MulInsn<float>(), d[p.at], a[p.at], b[p.at], p.repeat, {1, 1, 1, p.step, p.step, p.step}, place_);
    });
  }
  void Exp(const F& d, const F& x) const { Unary(ExpInsn<float>(), d, x); }
  void Ln(const F& d, const F& x) const { Unary(LnInsn<float>(), d, x); }
  void Muls(const F& d, const F& x, float factor) const {
    ForEach([&](const Piece& p) {
      IssueScalar(MulsInsn<float>(), d[p.at], x[p.at], BitsOf(factor), p.repeat, {1, 1, p.step, p.step}, place_);
    });
  }

 private:
  // Repeats of an instruction: from element `at` on, `step` blocks apart; which row and column, and how many blocks
  // from row to row of numbers of rows and from column to column of a row of factors.
  struct Piece {
    uint32_t at, row, column;
    uint8_t repeat, step, row_step, column_step;
  };
  void Wait() const { IssueBarrier(PIPE_V, place_); }
  template <typename G>
  static void ForEach255(uint32_t count, G&& body) {
    for (uint32_t first = 0; first < count; first += 255) {
      ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
      body(first, count - first < 255 ? count - first : 255);
    }
  }
  // Repeats run down the rows where a stride can say so, else along each row.
  template <typename G>
  void ForEach(G&& body) const {
    const uint32_t blocks = stride_ / kRowBlock;
    if (blocks <= 255) {
      for (uint32_t c = 0; c < columns_; c += kRowLanes) {
        SetMaskLanes<float>(columns_ - c < kRowLanes ? columns_ - c : kRowLanes, place_);
        ForEach255(rows_, [&](uint32_t first, uint32_t n) {
          body(Piece{first * stride_ + c, first, c, static_cast<uint8_t>(n), static_cast<uint8_t>(blocks), 1, 0});
        });
      }
    } else {
      const uint32_t whole = columns_ / kRowLanes, rest = columns_ % kRowLanes;
      for (uint32_t r = 0; r < rows_; ++r) {
        SetMaskLanes<float>(kRowLanes, place_);
        ForEach255(whole, [&](uint32_t first, uint32_t n) {
          const uint32_t c = first * kRowLanes;
          body(Piece{r * stride_ + c, r, c, static_cast<uint8_t>(n), 8, 0, 8});
        });
        if (rest == 0) continue;
        SetMaskLanes<float>(rest, place_);
        body(Piece{r * stride_ + whole * kRowLanes, r, whole * kRowLanes, 1, 8, 0, 8});
      }
    }
    ResetMask(place_);
    Wait();
  }
  // acc = what remains of each row when its pieces of 64 are folded on each other.
  void Fold(::vinci::ascendc::Insn& insn, const F& acc, const F& x, float identity) const {
    CountedMask mask(rows_ * kRowLanes, place_);
    IssueDuplicate(acc, identity, 1, 1, 8, place_);
    mask.Reset();
    Wait();
    FoldOnto(insn, acc, x);
  }
  void FoldOnto(::vinci::ascendc::Insn& insn, const F& acc, const F& x) const {
    bool first = true;
    ForEach([&](const Piece& p) {
      if (!first) Wait();
      first = false;
      const auto step = static_cast<uint8_t>(p.row_step * 8);
      IssueBinary(insn, acc[p.row * kRowLanes], x[p.at], acc[p.row * kRowLanes], p.repeat,
                  {1, 1, 1, step, p.step, step}, place_);
    });
  }
  void Extremum(const F& vals, const F& x, uint32_t elements) const {
    SetMaskLanes<float>(elements, place_);
    ForEach255(rows_, [&](uint32_t first, uint32_t n) {
      IssueReduce(WholeReduceMaxInsn<float>(), vals[first], x[first * elements], static_cast<int32_t>(n), 1, 1,
                  static_cast<int32_t>(elements / kRowBlock), static_cast<uint64_t>(ReduceOrder::ORDER_ONLY_VALUE),
                  place_);
    });
    Wait();
  }
  void OfRow(::vinci::ascendc::Insn& insn, const F& d, const F& x, const F& blocks) const {
    ForEach([&](const Piece& p) {
      IssueBinary(insn, d[p.at], x[p.at], blocks[p.row * kRowBlock], p.repeat, {1, 1, 0, p.step, p.step, p.row_step},
                  place_);
    });
  }
  void OfColumn(::vinci::ascendc::Insn& insn, const F& d, const F& x, const F& row) const {
    ForEach([&](const Piece& p) {
      IssueBinary(insn, d[p.at], x[p.at], row[p.column], p.repeat, {1, 1, 1, p.step, p.step, p.column_step}, place_);
    });
  }
  void Unary(::vinci::ascendc::Insn& insn, const F& d, const F& x) const {
    ForEach([&](const Piece& p) { IssueUnary(insn, d[p.at], x[p.at], p.repeat, {1, 1, p.step, p.step}, place_); });
  }

  uint32_t rows_, columns_, stride_;
  Place place_;
};

// The numbers of rows to a tensor, one behind the other; by the scalar unit where that does not begin at a block.
template <typename T>
void PutNumbers(const LocalTensor<T>& to, const LocalTensor<float>& vals, uint32_t n, const LocalTensor<float>& scratch,
                Place place) {
  const bool whole = to.Address() % ONE_BLK_SIZE == 0;
  Elements m(n, place);
  LocalTensor<T> from = whole ? to : scratch.template ReinterpretCast<T>();
  if constexpr (std::is_same_v<T, float>) {
    if (whole) m.Copy(from, vals);
    if (!whole) from = vals;
  } else {
    FromFloat(m, from, vals);
  }
  m.Done();
  if (whole) return;
  TPipe::Order(HardEvent::V_S, place);
  for (uint32_t i = 0; i < n; ++i)
    to.SetValue(i, from.GetValue(i, place), place);
  TPipe::Order(HardEvent::S_V, place);
}

// And back, as f32.
template <typename T>
void LoadNumbers(const LocalTensor<float>& to, const LocalTensor<T>& from, uint32_t n,
                 const LocalTensor<float>& scratch, Place place) {
  LocalTensor<T> source = from;
  if (from.Address() % ONE_BLK_SIZE != 0) {
    source = scratch.template ReinterpretCast<T>();
    TPipe::Order(HardEvent::V_S, place);
    for (uint32_t i = 0; i < n; ++i)
      source.SetValue(i, from.GetValue(i, place), place);
    TPipe::Order(HardEvent::S_V, place);
  }
  Elements m(n, place);
  AsFloat(m, source, to, true);
  m.Done();
}

// Temporary memory, from its beginning on.
class Memory32 {
 public:
  explicit Memory32(const LocalTensor<uint8_t>& memory) : left_(memory.ReinterpretCast<float>()) {}
  LocalTensor<float> Take(uint32_t elements) {
    const LocalTensor<float> taken = left_;
    left_ = left_[(elements + kRowBlock - 1) / kRowBlock * kRowBlock];
    return taken;
  }

 private:
  LocalTensor<float> left_;
};

// As many of the rows as `bytes` suffice for, where `words(n)` elements of f32 are needed for n.
template <typename Words>
uint32_t RowsAtOnce(uint32_t wanted, uint32_t bytes, Words&& words, Place place) {
  uint32_t rows = wanted;
  while (rows > 0 && words(rows) * sizeof(float) > bytes)
    --rows;
  if (rows == 0)
    ::vinci::ascendc::wrong("the temporary memory is too small; the host's function for its size says what is needed",
                            place);
  // Parts that begin at whole blocks of results.
  constexpr uint32_t kWhole = ONE_BLK_SIZE / sizeof(half);
  return rows < wanted && rows > kWhole ? rows / kWhole * kWhole : rows;
}
}  // namespace vinci_detail

}  // namespace AscendC
