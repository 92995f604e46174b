// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <array>
#include <string>

#include "tools/graph/import/readers.h"

// GridSample: a map at places that the network computes. Each axis gives a few positions with weights (taps); the pixel
// of each pair of taps is gathered by its number in the map. Formulas: ONNX's document of the operator, and for
// reflections and cubic weights what PyTorch documents for grid_sample.
namespace vinci::graph {
namespace {

struct Tap {
  Value* position = nullptr;  // a whole number, in the type of the grid; it may be outside
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
    const i64 points = grid[1] * grid[2];
    Value* const pixels = shaped(x_.in[0], {map[0], map[1], map[2] * map[3]});
    const std::vector<Tap> rows = taps(coordinate(1, points), map[2]), columns = taps(coordinate(0, points), map[3]);
    Value* sum = nullptr;
    for (const Tap& row : rows) {
      Value* const first = binary("Mul", index(row, map[2]), x_.scalar(DataType::i32, static_cast<double>(map[3])));
      for (const Tap& column : columns) {
        Value* const number = binary("Add", first, index(column, map[3]));
        Value* const each = x_.make("BroadcastTo", {number, x_.integers({map[0], map[1], points})});
        Value* v = x_.make("GatherElements", {pixels, each}, {{"axis", i64{2}}});
        if (row.weight != nullptr) v = binary("Mul", v, binary("Mul", row.weight, column.weight));
        sum = sum == nullptr ? v : binary("Add", sum, v);
      }
    }
    return shaped(sum, {map[0], map[1], grid[1], grid[2]});
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
  Value* clipped(Value* v, i64 extent) {
    return x_.make("ClipByValue", {v, number(0), number(static_cast<double>(extent - 1))});
  }

  // Column `which` of the grid: (images, 1, points).
  Value* coordinate(i64 which, i64 points) {
    Value* const column = x_.make("StridedSliceV2", {x_.in[1], x_.integers({which}), x_.integers({which + 1}),
                                                     x_.integers({3}), x_.integers({1})});
    return shaped(column, {x_.in[1]->shape[0], 1, points});
  }

  // -1 to 1 as a position of the map.
  Value* position(Value* v, i64 extent) {
    const double last = static_cast<double>(extent - 1);
    return binary("Add", binary("Mul", v, number(align_ ? last / 2 : (last + 1) / 2)), number(last / 2));
  }

  // Positions outside come back: off the middle of the last pixels, or off their edges.
  Value* reflected(Value* v, i64 extent) {
    const double least = align_ ? 0 : -0.5, span = static_cast<double>(align_ ? extent - 1 : extent);
    if (span == 0) return binary("Mul", v, number(0));
    Value* const away = x_.make("Abs", {binary("Sub", v, number(least))});
    Value* const turns = x_.make("Floor", {binary("Mul", away, number(1 / span))});
    Value* const rest = binary("Sub", away, binary("Mul", turns, number(span)));
    Value* const half = x_.make("Floor", {binary("Mul", turns, number(0.5))});
    Value* const odd = binary("Sub", turns, binary("Mul", half, number(2)));
    Value* const back = binary("Mul", odd, binary("Sub", number(span), binary("Mul", rest, number(2))));
    return binary("Add", binary("Add", rest, back), number(least));
  }
  Value* inside(Value* v, i64 extent) {
    if (padding_ == "zeros") return v;
    return clipped(padding_ == "reflection" ? reflected(v, extent) : v, extent);
  }

  std::vector<Tap> taps(Value* of_grid, i64 extent) {
    const bool cubic = mode_ == "bicubic" || mode_ == "cubic";
    Value* const v = cubic ? position(of_grid, extent) : inside(position(of_grid, extent), extent);
    if (mode_ == "nearest") return {known({.position = x_.make("Round", {v})}, extent)};
    Value* const floor = x_.make("Floor", {v});
    Value* const beyond = binary("Sub", v, floor);
    if (!cubic)
      return {known({floor, binary("Sub", number(1), beyond)}, extent),
              known({binary("Add", floor, number(1)), beyond}, extent)};
    std::vector<Tap> out;
    for (const int step : {-1, 0, 1, 2}) {
      // How far the tap is from the place: 1 + beyond, beyond, 1 - beyond, 2 - beyond.
      Value* const far = step <= 0 ? binary("Add", beyond, number(-step)) : binary("Sub", number(step), beyond);
      Value* const at = binary("Add", floor, number(step));
      out.push_back(known({inside(at, extent), cubic_weight(far, step == -1 || step == 2)}, extent));
    }
    return out;
  }

  // Of a distance up to 1, or from 1 to 2; Horner's form.
  Value* cubic_weight(Value* far, bool outer) {
    constexpr double a = -0.75;
    const auto c = outer ? std::array{a, -5 * a, 8 * a, -4 * a} : std::array{a + 2, -(a + 3), 0.0, 1.0};
    Value* sum = number(c[0]);
    for (const usize i : {1, 2, 3})
      sum = binary("Add", binary("Mul", sum, far), number(c[i]));
    return sum;
  }

  // Pixels outside are zeros.
  Tap known(Tap tap, i64 extent) {
    if (padding_ != "zeros") return tap;
    const double last = static_cast<double>(extent - 1);
    Value* const there = binary("LogicalAnd", binary("GreaterEqual", tap.position, number(0)),
                                binary("LessEqual", tap.position, number(last)));
    Value* const mask = x_.make("Cast", {there}, {{"to", static_cast<i64>(enum_index(type_))}});
    tap.weight = tap.weight == nullptr ? mask : binary("Mul", tap.weight, mask);
    return tap;
  }
  Value* index(const Tap& tap, i64 extent) {
    return x_.make("Cast", {clipped(tap.position, extent)}, {{"to", static_cast<i64>(enum_index(DataType::i32))}});
  }

  Reading& x_;
  const DataType type_;
  bool align_ = false;
  std::string mode_, padding_;
};

}  // namespace

std::vector<Value*> read_grid_sample(Reading& x) { return {GridReading(x).read()}; }

}  // namespace vinci::graph
