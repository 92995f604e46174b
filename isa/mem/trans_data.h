// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <span>

#include "isa/mem/format.h"

// TransData on the host: a tensor from one format into another. Nothing but a permutation, zeros where the target is
// padding, and padding of the source left out.
namespace vinci::isa {

// Both layouts are of one tensor: the same axes, extents and groups. Elements have 1, 2, 4 or 8 bytes; `in` and `out`
// hold all elements of their storage and do not overlap.
void trans_data(const TensorLayout& from, std::span<const std::byte> in, const TensorLayout& to,
                std::span<std::byte> out, u32 element_bytes);

// Elements with a bit that is not zero.
u64 count_nonzero(std::span<const std::byte> data, u32 element_bytes);

// Offset, in elements, of the first padding element with a bit that is not zero.
std::optional<u64> first_nonzero_padding(const TensorLayout& layout, std::span<const std::byte> data,
                                         u32 element_bytes);

}  // namespace vinci::isa
