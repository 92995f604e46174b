// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "tools/graph/ops/op.h"

// Operators whose results have as many elements as their data choose.
namespace vinci::graph {
namespace {

void infer_non_zero(Inference& x) {
  x.set(0, DataType::i64,
        {x.shape(0).ranked() ? static_cast<i64>(x.shape(0).rank()) : Shape::kUnknown, Shape::kUnknown});
}
void non_zero(Evaluation& x) {
  const Array& in = x.input(0);
  std::vector<Dims> found;
  usize n = 0;
  for_each_index(in.dims, [&](std::span<const i64> at) {
    if (in.values[n++] != 0) found.emplace_back(at.begin(), at.end());
  });
  Array& out = x.out[0];
  out = Array(DataType::i64, {static_cast<i64>(in.rank()), static_cast<i64>(found.size())});
  for (usize i = 0; i < found.size(); ++i) {
    for (usize a = 0; a < in.rank(); ++a)
      out.values[a * found.size() + i] = static_cast<double>(found[i][a]);
  }
}

// The slices along an axis whose condition holds; without an axis, of the flat tensor.
void infer_compress(Inference& x) {
  const Shape& in = x.shape(0);
  if (!x.node().has("axis")) return x.set(0, x.type(0), {Shape::kUnknown});
  if (!in.ranked()) return x.set(0, x.type(0), Shape::unranked());
  Dims dims = in.dims();
  dims[axis_of(x.node(), x.node().integer("axis"), in.rank())] = Shape::kUnknown;
  x.set(0, x.type(0), dims);
}
void compress(Evaluation& x) {
  const Array& in = x.input(0);
  Dims dims = x.node.has("axis") ? in.dims : Dims{static_cast<i64>(in.size())};
  const usize axis = x.node.has("axis") ? axis_of(x.node, x.node.integer("axis"), in.rank()) : 0;
  const AroundAxis a = around_axis(dims, axis);
  std::vector<u64> chosen;
  for (u64 i = 0; i < std::min<u64>(x.input(1).size(), a.extent); ++i) {
    if (x.input(1).values[i] != 0) chosen.push_back(i);
  }
  dims[axis] = static_cast<i64>(chosen.size());
  Array& out = x.out[0];
  out = Array(in.type, dims);
  auto to = out.values.begin();
  for (u64 o = 0; o < a.outer; ++o) {
    for (const u64 i : chosen)
      to = std::copy_n(in.values.begin() + static_cast<std::ptrdiff_t>((o * a.extent + i) * a.inner), a.inner, to);
  }
}

// boxes [n, boxes, 4], scores [n, classes, boxes], how many of a class at most, IoU from which a box is dropped, least
// score; the last three may be absent. Rows of the result: image, class, box.
void infer_suppression(Inference& x) { x.set(0, DataType::i64, {Shape::kUnknown, 3}); }

struct Box {
  double y1 = 0, x1 = 0, y2 = 0, x2 = 0;

  // Corners in any order, or the centre with width and height.
  Box(const double* v, bool centre) {
    if (centre) {
      x1 = v[0] - v[2] / 2, x2 = v[0] + v[2] / 2, y1 = v[1] - v[3] / 2, y2 = v[1] + v[3] / 2;
    } else {
      y1 = std::min(v[0], v[2]), y2 = std::max(v[0], v[2]), x1 = std::min(v[1], v[3]), x2 = std::max(v[1], v[3]);
    }
  }
  double area() const { return (y2 - y1) * (x2 - x1); }
  double overlap(const Box& o) const {
    const double height = std::min(y2, o.y2) - std::max(y1, o.y1), width = std::min(x2, o.x2) - std::max(x1, o.x1);
    if (height <= 0 || width <= 0) return 0;
    const double common = height * width;
    return common / (area() + o.area() - common);
  }
};

void suppression(Evaluation& x) {
  const Array &boxes = x.input(0), &scores = x.input(1);
  const auto limit = [&](usize i, double otherwise) { return x.has(i) ? x.input(i).values.at(0) : otherwise; };
  const double most = limit(2, 0), iou = limit(3, 0);
  const bool centre = x.node.integer("center_point_box") != 0;
  const auto images = static_cast<usize>(scores.dims.at(0)), classes = static_cast<usize>(scores.dims.at(1)),
             count = static_cast<usize>(scores.dims.at(2));
  std::vector<double> rows;
  for (usize image = 0; image < images; ++image) {
    for (usize c = 0; c < classes; ++c) {
      const double* const score = &scores.values[(image * classes + c) * count];
      std::vector<usize> order(count);
      std::iota(order.begin(), order.end(), 0);
      if (x.has(4)) std::erase_if(order, [&](usize i) { return !(score[i] > x.input(4).values.at(0)); });
      std::ranges::stable_sort(order, std::greater<>{}, [&](usize i) { return score[i]; });
      std::vector<Box> kept;
      for (const usize i : order) {
        if (static_cast<double>(kept.size()) >= most) break;
        const Box box(&boxes.values[(image * count + i) * 4], centre);
        if (std::ranges::any_of(kept, [&](const Box& other) { return other.overlap(box) > iou; })) continue;
        kept.push_back(box);
        rows.insert(rows.end(), {static_cast<double>(image), static_cast<double>(c), static_cast<double>(i)});
      }
    }
  }
  const auto found = static_cast<i64>(rows.size() / 3);
  x.out[0] = Array(DataType::i64, {found, 3}, std::move(rows));
}

// Different elements, or different slices along an axis: themselves, where the first of each is, which of them each
// element is, how many there are of each.
void infer_unique(Inference& x) {
  Shape out{Shape::kUnknown};
  i64 all = Shape::kUnknown;
  if (const Shape& in = x.shape(0); x.node().has("axis")) {
    out = Shape::unranked();
    if (in.ranked()) {
      Dims dims = in.dims();
      const usize axis = axis_of(x.node(), x.node().integer("axis"), in.rank());
      all = dims[axis];
      dims[axis] = Shape::kUnknown;
      out = dims;
    }
  } else if (in.known()) {
    all = static_cast<i64>(in.elements());
  }
  x.set(0, x.type(0), out);
  x.set(1, DataType::i64, {Shape::kUnknown});
  x.set(2, DataType::i64, {all});
  x.set(3, DataType::i64, {Shape::kUnknown});
}

void unique(Evaluation& x) {
  const Array& in = x.input(0);
  Dims dims = x.node.has("axis") ? in.dims : Dims{static_cast<i64>(in.size())};
  const usize axis = x.node.has("axis") ? axis_of(x.node, x.node.integer("axis"), in.rank()) : 0;
  const AroundAxis a = around_axis(dims, axis);
  std::vector<std::vector<double>> slices(a.extent);
  for (u64 o = 0; o < a.outer; ++o) {
    for (u64 e = 0; e < a.extent; ++e) {
      const auto from = in.values.begin() + static_cast<std::ptrdiff_t>((o * a.extent + e) * a.inner);
      slices[e].insert(slices[e].end(), from, from + static_cast<std::ptrdiff_t>(a.inner));
    }
  }
  struct Found {
    u64 first = 0, count = 0, number = 0;
  };
  std::map<std::vector<double>, Found> found;
  std::vector<Found*> of(a.extent);
  for (u64 e = 0; e < a.extent; ++e) {
    of[e] = &found.try_emplace(slices[e], Found{.first = e}).first->second;
    ++of[e]->count;
  }
  std::vector<Found*> order;
  for (auto& [slice, f] : found)
    order.push_back(&f);
  if (x.node.integer("sorted", 1) == 0) std::ranges::sort(order, {}, &Found::first);
  const auto count = static_cast<i64>(order.size());
  dims[axis] = count;
  std::vector<Array> out{Array(in.type, dims), Array(DataType::i64, {count}),
                         Array(DataType::i64, {static_cast<i64>(a.extent)}), Array(DataType::i64, {count})};
  for (u64 i = 0; i < order.size(); ++i) {
    order[i]->number = i;
    const std::vector<double>& slice = slices[order[i]->first];
    for (u64 o = 0; o < a.outer; ++o)
      std::copy_n(slice.begin() + static_cast<std::ptrdiff_t>(o * a.inner), a.inner,
                  out[0].values.begin() + static_cast<std::ptrdiff_t>((o * order.size() + i) * a.inner));
    out[1].values[i] = static_cast<double>(order[i]->first);
    out[3].values[i] = static_cast<double>(order[i]->count);
  }
  for (u64 e = 0; e < a.extent; ++e)
    out[2].values[e] = static_cast<double>(of[e]->number);
  for (usize i = 0; i < x.out.size(); ++i)
    x.out[i] = std::move(out[i]);
}

constexpr auto kSelectionOps = std::to_array<Op>({
    {"Compress", infer_compress, compress},
    {"NonMaxSuppression", infer_suppression, suppression},
    {"NonZero", infer_non_zero, non_zero},
    {"Unique", infer_unique, unique},
});

}  // namespace

std::span<const Op> selection_ops() { return kSelectionOps; }

}  // namespace vinci::graph
