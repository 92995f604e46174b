// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <string>

#include "tools/graph/import/readers.h"

// GridSample: a map at places that the network computes. Each axis gives a few positions with weights (taps); the pixel
// of each pair of taps is gathered with all of its channels. Both axes and all taps are computed together, since a node
// of so few elements takes as long as its launch. Formulas: ONNX's document of the operator, and for reflections and
// cubic weights what PyTorch documents for grid_sample.
namespace vinci::graph {
namespace {

// Both are (images, 2, taps, points), columns in front of rows as in the grid, in its type.
struct Taps {
  Value* position = nullptr;  // a whole number; it may be outside
  Value* weight = nullptr;    // null: 1
};

class GridReading {
 public:
  explicit GridReading(Reading& x) : x_(x), type_(x.in.at(1)->type) {
    const Shape &map = x.in.at(0)->shape, &grid = x.in[1]->shape;
    if (!map.known() || !grid.known() || map.rank() != 4 || grid.rank() != 4 || grid[3] != 2)
      x.unsupported("its operands are no map and pairs of known extents");
    align_ = x.integer("align_corners", 0) != 0;
    mode_ = text("mode", "bilinear");
    padding_ = text("padding_mode", "zeros");
    if (mode_ != "bilinear" && mode_ != "nearest" && mode_ != "bicubic" && mode_ != "linear" && mode_ != "cubic")
      x.unsupported("no mode '{}'", mode_);
    if (padding_ != "zeros" && padding_ != "border" && padding_ != "reflection")
      x.unsupported("no padding_mode '{}'", padding_);
  }

  Value* read() {
    const Dims map = x_.in[0]->shape.dims(), grid = x_.in[1]->shape.dims();
    pixels_ = channels_last();
    const Taps all = taps();
    const Taps rows = part(all, 1, 2), columns = part(all, 0, 1);
    const i64 count = all.position->shape[2], at_once = count <= kPairs ? count : 1;
    Value* sum = nullptr;
    for (i64 row = 0; row < count; row += at_once) {
      Value* const some = gathered(at_once == count ? rows : tap(rows, row), columns);
      sum = sum == nullptr ? some : binary("Add", sum, some);
    }
    Value* const out = sum->shape[1] == map[1] ? sum : sliced(sum, 1, 0, map[1]);
    return shaped(out, {map[0], map[1], grid[1], grid[2]});
  }

 private:
  std::string text(std::string_view key, std::string_view otherwise) const {
    const auto* const given = x_.attribute<std::string>(key);
    return given == nullptr ? std::string(otherwise) : *given;
  }
  Value* number(double v) { return x_.scalar(type_, v); }
  Value* binary(std::string_view type, Value* a, Value* b) { return x_.make(type, {a, b}); }
  Value* shaped(Value* v, const Dims& dims) {
    return x_.make("Reshape", {v, x_.integers(dims)}, {{"allowzero", i64{1}}});
  }
  Value* concat(const std::vector<Value*>& pieces, i64 axis) { return x_.make("ConcatD", pieces, {{"axis", axis}}); }
  Value* sliced(Value* v, i64 axis, i64 from, i64 to) {
    return x_.make("StridedSliceV2",
                   {v, x_.integers({from}), x_.integers({to}), x_.integers({axis}), x_.integers({1})});
  }

  // The map as (images, rows, columns, channels), with zeros behind the channels, so that those of a pixel are whole
  // blocks of 32 B.
  Value* channels_last() {
    constexpr i64 kBlock = 16;
    Dims dims = x_.in[0]->shape.dims();
    Value* v = x_.in[0];
    if (const i64 more = (kBlock - dims[1] % kBlock) % kBlock; more != 0) {
      dims[1] = more;
      v = concat({v, x_.constant(Array(v->type, dims))}, 1);
    }
    return x_.make("TransposeD", {v}, {{"perm", std::vector<i64>{0, 2, 3, 1}}});
  }

  // A number for each of the two axes.
  Value* each(double of_rows, double of_columns) {
    return of_rows == of_columns ? number(of_rows) : x_.constant(Array(type_, {2, 1, 1}, {of_columns, of_rows}));
  }
  template <class Function>
  Value* of_extent(const Function& function) {
    const Dims& map = x_.in[0]->shape.dims();
    return each(function(static_cast<double>(map[2])), function(static_cast<double>(map[3])));
  }
  Value* last() {
    return of_extent([](double extent) { return extent - 1; });
  }
  Value* clipped(Value* v) { return binary("Minimum", binary("Maximum", v, number(0)), last()); }

  // The grid as positions of the map: (images, 2, 1, points).
  Value* places() {
    const Dims& grid = x_.in[1]->shape.dims();
    const i64 points = grid[1] * grid[2];
    Value* const both =
        x_.make("TransposeD", {shaped(x_.in[1], {grid[0], points, 2})}, {{"perm", std::vector<i64>{0, 2, 1}}});
    Value* const v = shaped(both, {grid[0], 2, 1, points});
    Value* const scaled = binary("Mul", v, of_extent([&](double e) { return align_ ? (e - 1) / 2 : e / 2; }));
    return binary("Add", scaled, of_extent([](double e) { return (e - 1) / 2; }));
  }

  // Positions outside come back: off the middle of the last pixels, or off their edges.
  Value* reflected(Value* v) {
    const double least = align_ ? 0 : -0.5;
    // Of one pixel and no edges, any span: its only position is what remains inside.
    const auto span = [&](double extent) { return align_ ? std::max(extent - 1, 1.0) : extent; };
    Value* const spans = of_extent(span);
    Value* const away = x_.make("Abs", {binary("Sub", v, number(least))});
    Value* const turns = x_.make("Floor", {binary("Mul", away, of_extent([&](double e) { return 1 / span(e); }))});
    Value* const rest = binary("Sub", away, binary("Mul", turns, spans));
    Value* const half = x_.make("Floor", {binary("Mul", turns, number(0.5))});
    Value* const odd = binary("Sub", turns, binary("Mul", half, number(2)));
    Value* const back = binary("Mul", odd, binary("Sub", spans, binary("Mul", rest, number(2))));
    return binary("Add", binary("Add", rest, back), number(least));
  }
  Value* inside(Value* v) {
    if (padding_ == "zeros") return v;
    return clipped(padding_ == "reflection" ? reflected(v) : v);
  }

  Taps taps() {
    const bool cubic = mode_ == "bicubic" || mode_ == "cubic";
    Value* const v = cubic ? places() : inside(places());
    if (mode_ == "nearest") return known({.position = x_.make("Round", {v})});
    Value* const floor = x_.make("Floor", {v});
    if (!cubic) {
      Value* const at = binary("Add", floor, x_.constant(Array(type_, {2, 1}, {0, 1})));
      return known({at, binary("Sub", number(1), x_.make("Abs", {binary("Sub", v, at)}))});
    }
    Value* const at = binary("Add", floor, x_.constant(Array(type_, {4, 1}, {-1, 0, 1, 2})));
    Value* const beyond = binary("Sub", v, floor);
    Value* const before = binary("Sub", number(1), beyond);
    return known({inside(at), concat({outer_weight(beyond, before), inner_weight(beyond, before),
                                      inner_weight(before, beyond), outer_weight(before, beyond)},
                                     2)});
  }

  // Cubic weights of taps at the distances `far` and 1 + far, where near = 1 - far. As products they lose no digits:
  // (1 - far) (1 + far - (a + 2) far^2) and a far (1 - far)^2.
  static constexpr double kCubic = -0.75;
  Value* inner_weight(Value* far, Value* near) {
    Value* const rest = binary("Mul", far, binary("Sub", number(1), binary("Mul", far, number(kCubic + 2))));
    return binary("Mul", near, binary("Add", rest, number(1)));
  }
  Value* outer_weight(Value* far, Value* near) {
    return binary("Mul", binary("Mul", far, number(kCubic)), binary("Mul", near, near));
  }

  // Pixels outside are zeros.
  Taps known(Taps taps) {
    if (padding_ == "zeros") {
      Value* const there = binary("LogicalAnd", binary("GreaterEqual", taps.position, number(0)),
                                  binary("LessEqual", taps.position, last()));
      Value* const mask = x_.make("Cast", {there}, {{"to", static_cast<i64>(enum_index(type_))}});
      taps.weight = taps.weight == nullptr ? mask : binary("Mul", taps.weight, mask);
    }
    taps.position = clipped(taps.position);
    return taps;
  }

  // Of one axis, and one tap of it.
  Taps part(const Taps& taps, i64 from, i64 to) {
    return {sliced(taps.position, 1, from, to), taps.weight == nullptr ? nullptr : sliced(taps.weight, 1, from, to)};
  }
  Taps tap(const Taps& taps, i64 which) {
    return {sliced(taps.position, 2, which, which + 1),
            taps.weight == nullptr ? nullptr : sliced(taps.weight, 2, which, which + 1)};
  }

  // The sum over all pairs of taps: (images, channels, points).
  Value* gathered(const Taps& rows, const Taps& columns) {
    const Dims of_rows = rows.position->shape.dims(), of_columns = columns.position->shape.dims();
    const i64 images = of_rows[0], points = of_rows[3], pairs = of_rows[2] * of_columns[2];
    const Dims both{images, of_rows[2], of_columns[2], points};
    const auto repeated = [&](Value* v, const Dims& as) {
      Value* const each = shaped(v, as);
      Value* const all = as == both ? each : x_.make("BroadcastTo", {each, x_.integers(both)});
      return shaped(all, {images, pairs * points, 1});
    };
    const Dims row{images, of_rows[2], 1, points}, column{images, 1, of_columns[2], points};
    Value* const index =
        x_.make("Cast", {concat({repeated(rows.position, row), repeated(columns.position, column)}, 2)},
                {{"to", static_cast<i64>(enum_index(DataType::i32))}});
    Value* const pixels = x_.make("GatherNd", {pixels_, index}, {{"batch_dims", i64{1}}});
    const i64 channels = pixels->shape[2];
    Value* v = x_.make("TransposeD", {shaped(pixels, {images * pairs, points, channels})},
                       {{"perm", std::vector<i64>{0, 2, 1}}});
    v = shaped(v, {images, pairs, channels, points});
    if (rows.weight != nullptr) {
      Value* const weight = binary("Mul", shaped(rows.weight, row), shaped(columns.weight, column));
      v = binary("Mul", v, shaped(weight, {images, pairs, 1, points}));
    }
    if (pairs == 1) return shaped(v, {images, channels, points});
    return x_.make("ReduceSum", {v, x_.integers({1})}, {{"keepdims", i64{0}}});
  }

  Reading& x_;
  static constexpr i64 kPairs = 2;  // most taps of an axis whose pairs are gathered at once
  const DataType type_;
  Value* pixels_ = nullptr;  // (images, rows, columns, channels)
  bool align_ = false;
  std::string mode_, padding_;
};

}  // namespace

std::vector<Value*> read_grid_sample(Reading& x) { return {GridReading(x).read()}; }

}  // namespace vinci::graph
