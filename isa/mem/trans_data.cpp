// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/mem/trans_data.h"

#include <cstring>
#include <memory>

namespace vinci::isa {
namespace {

// A tile of two axes is copied at a time, so that the lines it touches stay in the cache.
constexpr u64 kInnerTile = 512;
constexpr u64 kMiddleTile = 64;

struct Run {
  u64 from, to;  // elements
  u64 length;
};

// Offsets of one stretch of an axis in both layouts; neighbours that are neighbours in both are one run.
class Stretch {
 public:
  void set(const TensorLayout& from, u64 from_origin, const TensorLayout& to, u64 to_origin, usize axis, u64 begin,
           u64 end, bool join) {
    size_ = 0;
    for (u64 x = begin; x < end; ++x) {
      const Run next{from.axis_offset(axis, from_origin + x), to.axis_offset(axis, to_origin + x), 1};
      if (join && size_ != 0) {
        Run& last = runs_[size_ - 1];
        if (next.from == last.from + last.length && next.to == last.to + last.length) {
          ++last.length;
          continue;
        }
      }
      runs_[size_++] = next;
    }
    single_ = size_ == end - begin;
  }
  std::span<const Run> runs() const { return {runs_.data(), static_cast<usize>(size_)}; }
  bool single() const { return single_; }  // every run has one element

 private:
  std::array<Run, kInnerTile> runs_;
  u64 size_ = 0;
  bool single_ = true;
};

template <usize kBytes>
void copy_tile(const std::byte* in, std::byte* out, const Stretch& middle, const Stretch& inner) {
  for (const Run& m : middle.runs()) {
    const std::byte* const from = in + m.from * kBytes;
    std::byte* const to = out + m.to * kBytes;
    if (inner.single()) {
      for (const Run& r : inner.runs())
        std::memcpy(to + r.to * kBytes, from + r.from * kBytes, kBytes);
    } else {
      for (const Run& r : inner.runs())
        std::memcpy(to + r.to * kBytes, from + r.from * kBytes, r.length * kBytes);
    }
  }
}

// The axes from the one that runs fastest: first where the target is contiguous, then where the source is, so that
// either side uses whole lines. Axes of one element have nothing to run over and come last.
std::array<usize, TensorLayout::kMaxAxes> loop_order(const TensorLayout& from, const TensorLayout& to) {
  std::array<usize, TensorLayout::kMaxAxes> order = to.axes_from_inside();
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(to.axes());
  const auto runs = [&](usize axis) { return to.group_extent(axis) > 1; };
  std::stable_partition(order.begin(), end, runs);
  const auto source = from.axes_from_inside();
  for (const usize axis : std::span(source).first(from.axes())) {
    if (!runs(axis) || axis == order[0]) continue;
    const auto at = std::find(order.begin() + 1, end, axis);
    std::rotate(order.begin() + 1, at, at + 1);
    break;
  }
  return order;
}

template <usize kBytes>
void permute(const TensorLayout& from, const std::byte* in, const TensorLayout& to, std::byte* out) {
  const usize axes = to.axes();
  const auto order = loop_order(from, to);
  const u64 inner_extent = to.group_extent(order[0]), middle_extent = to.group_extent(order[1]);
  const auto inner = std::make_unique<Stretch>(), middle = std::make_unique<Stretch>();
  for (u64 group = 0; group < to.groups(); ++group) {
    const auto a = from.group_origin(group), b = to.group_origin(group);
    const u64 g_from = from.axis_offset(axes, a[axes]), g_to = to.axis_offset(axes, b[axes]);
    for (u64 i = 0; i < inner_extent; i += kInnerTile) {
      inner->set(from, a[order[0]], to, b[order[0]], order[0], i, std::min(i + kInnerTile, inner_extent), true);
      for (u64 m = 0; m < middle_extent; m += kMiddleTile) {
        middle->set(from, a[order[1]], to, b[order[1]], order[1], m, std::min(m + kMiddleTile, middle_extent), false);
        // All other axes, counted like digits.
        TensorLayout::Index at{};
        for (usize carry = 0; carry != axes;) {
          u64 base_from = g_from, base_to = g_to;
          for (usize k = 2; k < axes; ++k) {
            base_from += from.axis_offset(order[k], a[order[k]] + at[k]);
            base_to += to.axis_offset(order[k], b[order[k]] + at[k]);
          }
          copy_tile<kBytes>(in + base_from * kBytes, out + base_to * kBytes, *middle, *inner);
          for (carry = 2; carry < axes && ++at[carry] == to.group_extent(order[carry]); ++carry)
            at[carry] = 0;
        }
      }
    }
  }
}

bool is_zero(const std::byte* p, u32 bytes) {
  for (u32 i = 0; i < bytes; ++i) {
    if (p[i] != std::byte{0}) return false;
  }
  return true;
}

template <class T>
u64 count_nonzero_of(std::span<const std::byte> data) {
  u64 count = 0;
  for (usize i = 0; i < data.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, data.data() + i, sizeof(T));
    count += value != 0 ? 1 : 0;
  }
  return count;
}

}  // namespace

void trans_data(const TensorLayout& from, std::span<const std::byte> in, const TensorLayout& to,
                std::span<std::byte> out, u32 element_bytes) {
  VINCI_CHECK(from.info().axes == to.info().axes && from.groups() == to.groups());
  for (usize a = 0; a < to.axes(); ++a)
    VINCI_CHECK(from.extent(a) == to.extent(a));
  VINCI_CHECK(in.size() == from.elements() * element_bytes && out.size() == to.elements() * element_bytes);
  if (to.elements() != to.valid_elements()) std::memset(out.data(), 0, out.size());
  if (to.valid_elements() == 0) return;
  switch (element_bytes) {
    case 1: return permute<1>(from, in.data(), to, out.data());
    case 2: return permute<2>(from, in.data(), to, out.data());
    case 4: return permute<4>(from, in.data(), to, out.data());
    case 8: return permute<8>(from, in.data(), to, out.data());
    default: VINCI_CHECK(false);
  }
}

u64 count_nonzero(std::span<const std::byte> data, u32 element_bytes) {
  VINCI_CHECK(data.size() % element_bytes == 0);
  switch (element_bytes) {
    case 1: return count_nonzero_of<u8>(data);
    case 2: return count_nonzero_of<u16>(data);
    case 4: return count_nonzero_of<u32>(data);
    default: VINCI_CHECK(element_bytes == 8); return count_nonzero_of<u64>(data);
  }
}

std::optional<u64> first_nonzero_padding(const TensorLayout& layout, std::span<const std::byte> data,
                                         u32 element_bytes) {
  VINCI_CHECK(data.size() == layout.elements() * element_bytes);
  for (u64 at = 0; at < layout.elements(); ++at) {
    if (!is_zero(data.data() + at * element_bytes, element_bytes) && !layout.index_at(at)) return at;
  }
  return std::nullopt;
}

}  // namespace vinci::isa
