// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/runtime/aicpu_selection.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <numeric>

#include "models/runtime/element.h"

namespace vinci::models {
namespace {

using Operand = AicpuFunction::Operand;
using Data = AicpuFunction::Data;

double real(const Value& v) {
  switch (v.kind) {
    case Value::Kind::real: return v.real;
    case Value::Kind::is_signed: return static_cast<double>(static_cast<i64>(v.bits));
    case Value::Kind::is_unsigned: break;
  }
  return static_cast<double>(v.bits);
}

struct Less {
  bool operator()(const Value& a, const Value& b) const {
    if (a.kind == Value::Kind::real) return a.real < b.real;
    if (a.kind == Value::Kind::is_signed) return static_cast<i64>(a.bits) < static_cast<i64>(b.bits);
    return a.bits < b.bits;
  }
  bool operator()(const std::vector<Value>& a, const std::vector<Value>& b) const {
    return std::ranges::lexicographical_compare(a, b, *this);
  }
};

void put(std::vector<std::byte>& to, u64 at, i64 value) { std::memcpy(&to[at * sizeof value], &value, sizeof value); }

u64 at_most(const AicpuArgs& args, usize i, u64 most) {
  if (args.number(i) > most) args.refuse(i, "is too large");
  return args.number(i);
}

// NonZero: the indices of the elements of x [d0, d1, ...] that are not zero, in order, as y [rank, capacity] of int64.
constexpr usize kMostAxes = 8;
constexpr auto kNonZeroParameters = std::to_array<std::string_view>(
    {"x", "y", "found", "dtype", "capacity", "rank", "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"});
constexpr usize kFirstExtent = 6;

u64 extent(const AicpuArgs& args, usize axis) { return args.number(kFirstExtent + axis); }

std::vector<Operand> non_zero_operands(const AicpuArgs& args) {
  u64 bytes = bytes_of(args.type(3));
  for (usize a = 0; a < at_most(args, 5, kMostAxes); ++a)
    bytes = args.product({bytes, extent(args, a)});
  return {{.argument = 0, .bytes = bytes, .read = true},
          {.argument = 1, .bytes = args.product({args.number(4), args.number(5), sizeof(i64)}), .write = true},
          {.argument = 2, .bytes = sizeof(i64), .write = true}};
}

void non_zero(const AicpuArgs& args, Data& data) {
  const Element type = args.type(3);
  const u64 capacity = args.number(4), rank = args.number(5), count = data[0].size() / bytes_of(type);
  std::ranges::fill(data[1], std::byte{});
  u64 found = 0;
  for (u64 i = 0; i < count; ++i) {
    if (real(load(type, &data[0][i * bytes_of(type)])) == 0) continue;
    u64 rest = i;
    for (u64 a = rank; a-- > 0; rest /= extent(args, a)) {
      if (found < capacity) put(data[1], a * capacity + found, static_cast<i64>(rest % extent(args, a)));
    }
    ++found;
  }
  put(data[2], 0, static_cast<i64>(found));
}

// Compress: y [outer, capacity, inner] = the slices of x [outer, extent, inner] along the middle axis whose byte in
// `condition` is not zero; slices beyond the condition are dropped. `inner` is in bytes.
constexpr auto kCompressParameters = std::to_array<std::string_view>(
    {"x", "condition", "y", "found", "outer", "extent", "inner", "conditions", "capacity"});

std::vector<Operand> compress_operands(const AicpuArgs& args) {
  return {{.argument = 0, .bytes = args.product({args.number(4), args.number(5), args.number(6)}), .read = true},
          {.argument = 1, .bytes = args.number(7), .read = true},
          {.argument = 2, .bytes = args.product({args.number(4), args.number(8), args.number(6)}), .write = true},
          {.argument = 3, .bytes = sizeof(i64), .write = true}};
}

void compress(const AicpuArgs& args, Data& data) {
  const u64 outer = args.number(4), extent = args.number(5), inner = args.number(6), capacity = args.number(8);
  std::ranges::fill(data[2], std::byte{});
  u64 found = 0;
  for (u64 e = 0; e < std::min<u64>(extent, data[1].size()); ++e) {
    if (data[1][e] == std::byte{}) continue;
    for (u64 o = 0; o < outer && found < capacity && inner > 0; ++o)
      std::memcpy(&data[2][(o * capacity + found) * inner], &data[0][(o * extent + e) * inner], inner);
    ++found;
  }
  put(data[3], 0, static_cast<i64>(found));
}

// NonMaxSuppression of ONNX: of each class of each image the boxes with the best scores, but none that overlaps a
// chosen one by more than `iou`, at most `most`, and with a score above `threshold`. y [capacity, 3] of int64: image,
// class, box. iou and threshold are float32 as bits; centre 1: boxes are centres with extents.
constexpr auto kSuppressionParameters =
    std::to_array<std::string_view>({"boxes", "scores", "y", "found", "images", "classes", "count", "most", "iou",
                                     "threshold", "centre", "dtype", "capacity"});

std::vector<Operand> suppression_operands(const AicpuArgs& args) {
  const u64 bytes = bytes_of(args.type(11));
  return {{.argument = 0, .bytes = args.product({args.number(4), args.number(6), 4, bytes}), .read = true},
          {.argument = 1, .bytes = args.product({args.number(4), args.number(5), args.number(6), bytes}), .read = true},
          {.argument = 2, .bytes = args.product({args.number(12), 3, sizeof(i64)}), .write = true},
          {.argument = 3, .bytes = sizeof(i64), .write = true}};
}

struct Box {
  double low[2] = {}, high[2] = {};

  double area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
  // The common part of the area of both.
  double overlap(const Box& o) const {
    double common = 1;
    for (const usize axis : {0, 1})
      common *= std::max(0.0, std::min(high[axis], o.high[axis]) - std::max(low[axis], o.low[axis]));
    return common == 0 ? 0 : common / (area() + o.area() - common);
  }
};

Box box_of(const std::array<double, 4>& v, bool centre) {
  Box box;
  for (const usize axis : {0, 1}) {
    const double a = v[axis], b = v[axis + 2];
    box.low[axis] = centre ? a - b / 2 : std::min(a, b);
    box.high[axis] = centre ? a + b / 2 : std::max(a, b);
  }
  return box;
}

void suppression(const AicpuArgs& args, Data& data) {
  const Element type = args.type(11);
  const u64 images = args.number(4), classes = args.number(5), count = args.number(6), capacity = args.number(12);
  const auto bits = [&](usize i) {
    return static_cast<double>(std::bit_cast<float>(static_cast<u32>(args.number(i))));
  };
  const auto number = [&](usize operand, u64 i) { return real(load(type, &data[operand][i * bytes_of(type)])); };
  std::ranges::fill(data[2], std::byte{});
  u64 found = 0;
  for (u64 image = 0; image < images; ++image) {
    for (u64 c = 0; c < classes; ++c) {
      std::vector<std::pair<double, u64>> order;
      for (u64 i = 0; i < count; ++i) {
        const double score = number(1, (image * classes + c) * count + i);
        if (score > bits(9)) order.emplace_back(score, i);
      }
      std::ranges::stable_sort(order, std::greater<>{}, &std::pair<double, u64>::first);
      std::vector<Box> kept;
      for (const auto& [score, i] : order) {
        if (kept.size() >= args.number(7)) break;
        std::array<double, 4> corners{};
        for (u64 k = 0; k < 4; ++k)
          corners[k] = number(0, (image * count + i) * 4 + k);
        const Box box = box_of(corners, args.number(10) != 0);
        if (std::ranges::any_of(kept, [&](const Box& other) { return other.overlap(box) > bits(8); })) continue;
        kept.push_back(box);
        if (found < capacity) {
          put(data[2], found * 3, static_cast<i64>(image));
          put(data[2], found * 3 + 1, static_cast<i64>(c));
          put(data[2], found * 3 + 2, static_cast<i64>(i));
        }
        ++found;
      }
    }
  }
  put(data[3], 0, static_cast<i64>(found));
}

// Unique: the different slices of x [outer, extent, inner] along the middle axis, sorted or in the order of their first
// places: y [outer, capacity, inner], first [capacity], inverse [extent] (which of them each slice is), counts
// [capacity], the last three of int64.
constexpr auto kUniqueParameters = std::to_array<std::string_view>(
    {"x", "y", "first", "inverse", "counts", "found", "outer", "extent", "inner", "sorted", "dtype", "capacity"});

std::vector<Operand> unique_operands(const AicpuArgs& args) {
  const u64 slice = args.product({args.number(6), args.number(8), bytes_of(args.type(10))});
  const u64 numbers = args.product({args.number(11), sizeof(i64)});
  return {{.argument = 0, .bytes = args.product({slice, args.number(7)}), .read = true},
          {.argument = 1, .bytes = args.product({slice, args.number(11)}), .write = true},
          {.argument = 2, .bytes = numbers, .write = true},
          {.argument = 3, .bytes = args.product({args.number(7), sizeof(i64)}), .write = true},
          {.argument = 4, .bytes = numbers, .write = true},
          {.argument = 5, .bytes = sizeof(i64), .write = true}};
}

void unique(const AicpuArgs& args, Data& data) {
  const Element type = args.type(10);
  const u64 outer = args.number(6), extent = args.number(7), inner = args.number(8), capacity = args.number(11);
  const u64 bytes = inner * bytes_of(type);
  struct Found {
    u64 first = 0, count = 0, number = 0;
  };
  std::map<std::vector<Value>, Found, Less> found;
  std::vector<Found*> of(extent);
  for (u64 e = 0; e < extent; ++e) {
    std::vector<Value> slice;
    for (u64 o = 0; o < outer; ++o) {
      for (u64 i = 0; i < inner; ++i)
        slice.push_back(load(type, &data[0][((o * extent + e) * inner + i) * bytes_of(type)]));
    }
    of[e] = &found.try_emplace(std::move(slice), Found{.first = e}).first->second;
    ++of[e]->count;
  }
  std::vector<Found*> order;
  for (auto& [slice, f] : found)
    order.push_back(&f);
  if (args.number(9) == 0) std::ranges::sort(order, {}, &Found::first);
  for (const usize operand : {1, 2, 3, 4})
    std::ranges::fill(data[operand], std::byte{});
  for (u64 n = 0; n < order.size(); ++n) {
    order[n]->number = n;
    if (n >= capacity) continue;
    for (u64 o = 0; o < outer && bytes > 0; ++o)
      std::memcpy(&data[1][(o * capacity + n) * bytes], &data[0][(o * extent + order[n]->first) * bytes], bytes);
    put(data[2], n, static_cast<i64>(order[n]->first));
    put(data[4], n, static_cast<i64>(order[n]->count));
  }
  for (u64 e = 0; e < extent; ++e)
    put(data[3], e, static_cast<i64>(of[e]->number));
  put(data[5], 0, static_cast<i64>(order.size()));
}

constexpr auto kFunctions = std::to_array<AicpuFunction>({
    {"Compress", kCompressParameters, compress_operands, compress},
    {"NonMaxSuppression", kSuppressionParameters, suppression_operands, suppression},
    {"NonZero", kNonZeroParameters, non_zero_operands, non_zero},
    {"Unique", kUniqueParameters, unique_operands, unique},
});

}  // namespace

std::span<const AicpuFunction> selection_functions() { return kFunctions; }

}  // namespace vinci::models
