// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/compare.h"
#include "ascendc/vector.h"

// Whole tensors by operators: dst = src0 + src1, dst = src0 < src1. Documentation: Ascend C API, Add, Compare.
namespace AscendC {

namespace vinci_detail {
// Arithmetic is on all elements of dst, a comparison on all of src0: dst has one bit for each of them.
template <typename T, typename U, TensorOperator op>
void Evaluate(const LocalTensor<T>& dst, const TensorExpression<U, op>& e) {
  if constexpr (op >= TensorOperator::LT) {
    constexpr CMPMODE mode = op == TensorOperator::LT   ? CMPMODE::LT
                             : op == TensorOperator::GT ? CMPMODE::GT
                             : op == TensorOperator::LE ? CMPMODE::LE
                             : op == TensorOperator::GE ? CMPMODE::GE
                             : op == TensorOperator::EQ ? CMPMODE::EQ
                                                        : CMPMODE::NE;
    Compare(dst, e.src0, e.src1, mode, e.src0.GetSize(), e.place);
  } else {
    static_assert(std::is_same_v<T, U>, "the operands and the result have one type");
    const auto count = static_cast<int32_t>(dst.GetSize());
    if constexpr (op == TensorOperator::Add) Add(dst, e.src0, e.src1, count, e.place);
    if constexpr (op == TensorOperator::Sub) Sub(dst, e.src0, e.src1, count, e.place);
    if constexpr (op == TensorOperator::Mul) Mul(dst, e.src0, e.src1, count, e.place);
    if constexpr (op == TensorOperator::Div) Div(dst, e.src0, e.src1, count, e.place);
    if constexpr (op == TensorOperator::And) And(dst, e.src0, e.src1, count, e.place);
    if constexpr (op == TensorOperator::Or) Or(dst, e.src0, e.src1, count, e.place);
  }
}
}  // namespace vinci_detail

}  // namespace AscendC
