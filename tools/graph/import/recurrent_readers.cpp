// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <span>

#include "tools/graph/import/readers.h"
#include "tools/graph/ops/op.h"

// LSTM, GRU and RNN, unrolled: the products of all steps with the input are one, and each step has a product with the
// state of the step before.
namespace vinci::graph {
namespace {

constexpr i64 kMostSteps = 4096;  // nodes of a graph are some for each

// The sizes and operands of a recurrent node. Operands: X, W, R, B, sequence_lens, initial_h and more.
class Recurrent {
 public:
  Recurrent(Reading& x, i64 gates, std::span<const std::string_view> activations) : x_(x), gates_(gates) {
    const Shape &in = x.in.at(0)->shape, &weights = x.in.at(1)->shape;
    if (!in.known() || in.rank() != 3 || !weights.known() || weights.rank() != 3)
      x.unsupported("the extents of its operands are not known");
    if (x.has(4)) check_lengths();
    if (x.attribute<double>("clip") != nullptr) x.unsupported("it clips its gates");
    batch_first_ = x.integer("layout", 0) != 0;
    input_ = batch_first_ ? swapped(x.in[0]) : x.in[0];
    steps_ = input_->shape[0];
    batch_ = input_->shape[1];
    hidden_ = weights[1] / gates;
    if (steps_ > kMostSteps) x.unsupported("it has {} steps; at most {} are unrolled", steps_, kMostSteps);
    const auto* const direction = x.attribute<std::string>("direction");
    directions_ = direction != nullptr && *direction == "bidirectional" ? 2 : 1;
    backward_ = direction != nullptr && *direction == "reverse";
    if (weights[0] != directions_) x.unsupported("it has weights of {} directions", weights[0]);
    const auto* const given = x.attribute<std::vector<std::string>>("activations");
    for (usize i = 0; i < activations.size() * static_cast<usize>(directions_); ++i) {
      activations_.emplace_back(given != nullptr && i < given->size() ? (*given)[i]
                                                                      : activations[i % activations.size()]);
      if (std::ranges::find(kActivations, activations_.back()) == kActivations.end())
        x.unsupported("no activation '{}'", activations_.back());
    }
    per_direction_ = activations.size();
  }

  i64 steps() const { return steps_; }
  i64 hidden() const { return hidden_; }
  i64 directions() const { return directions_; }
  DataType type() const { return input_->type; }

  Value* make(std::string_view type, const std::vector<Value*>& in, Attributes attributes = {}) {
    return x_.make(type, in, std::move(attributes));
  }
  Value* number(double v) { return x_.scalar(type(), v); }
  Value* activation(i64 direction, usize i, Value* v) {
    return make(activations_[static_cast<usize>(direction) * per_direction_ + i], {v});
  }
  Value* slice(Value* v, i64 axis, i64 from, i64 to) {
    return make("StridedSliceV2", {v, x_.integers({from}), x_.integers({to}), x_.integers({axis}), x_.integers({1})});
  }
  Value* reshape(Value* v, const Dims& dims) {
    return make("Reshape", {v, x_.integers(dims)}, {{"allowzero", i64{1}}});
  }

  // The part of an operand for a direction, without that axis; null where it is absent.
  Value* of_direction(usize operand, i64 direction) {
    Value* const v = x_.input(operand);
    if (v == nullptr) return nullptr;
    if (!v->shape.known() || v->shape.rank() == 0) x_.unsupported("the extents of its operands are not known");
    const Dims rest(v->shape.dims().begin() + 1, v->shape.dims().end());
    return reshape(slice(v, 0, direction, direction + 1), rest);
  }
  // Half of a bias: 0 of the input, 1 of the state; of gates [first, end).
  Value* bias(i64 direction, i64 half, i64 first, i64 end) {
    Value* const b = of_direction(3, direction);
    if (b == nullptr) return nullptr;
    return slice(b, 0, (half * gates_ + first) * hidden_, (half * gates_ + end) * hidden_);
  }
  Value* with(Value* v, Value* more) { return more == nullptr ? v : make("Add", {v, more}); }

  // (rows, n) * weights', weights (m, n).
  Value* times(Value* v, Value* weights) { return make("BatchMatMulV2", {v, weights}, {{"adj_x2", i64{1}}}); }

  // All steps with the weights of the input: (steps * batch, gates * hidden).
  Value* inputs(i64 direction, bool with_both_biases) {
    Value* const rows = reshape(input_, {steps_ * batch_, input_->shape[2]});
    Value* sum = times(rows, of_direction(1, direction));
    sum = with(sum, bias(direction, 0, 0, gates_));
    return with_both_biases ? with(sum, bias(direction, 1, 0, gates_)) : sum;
  }
  Value* step(Value* all, i64 t) { return slice(all, 0, t * batch_, (t + 1) * batch_); }
  Value* gate(Value* all, i64 g) { return slice(all, 1, g * hidden_, (g + 1) * hidden_); }
  // The state before the first step, from operand `i`.
  Value* initial(usize i, i64 direction) {
    Value* const given = x_.input(i);
    if (given == nullptr) return x_.constant(Array(type(), {batch_, hidden_}));
    return reshape(slice(given, batch_first_ ? 1 : 0, direction, direction + 1), {batch_, hidden_});
  }
  // Steps in the order in which a direction takes them.
  i64 step_of(i64 direction, i64 turn) const { return backward_ || direction == 1 ? steps_ - 1 - turn : turn; }

  // The outputs: all states by direction and step, and the last ones, of as many states as there are lists.
  std::vector<Value*> results(const std::vector<std::vector<Value*>>& states,
                              const std::vector<std::vector<Value*>>& last) {
    std::vector<Value*> all, out;
    for (i64 t = 0; t < steps_; ++t) {
      std::vector<Value*> row;
      for (i64 d = 0; d < directions_; ++d)
        row.push_back(reshape(states[static_cast<usize>(d)][static_cast<usize>(t)], {1, 1, batch_, hidden_}));
      all.push_back(row.size() == 1 ? row[0] : make("ConcatD", row, {{"axis", i64{1}}}));
    }
    Value* const y = make("ConcatD", all, {{"axis", i64{0}}});
    out.push_back(batch_first_ ? make("TransposeD", {y}, {{"perm", std::vector<i64>{2, 0, 1, 3}}}) : y);
    for (const std::vector<Value*>& list : last) {
      std::vector<Value*> row;
      for (Value* const v : list)
        row.push_back(reshape(v, {1, batch_, hidden_}));
      Value* const joined = row.size() == 1 ? row[0] : make("ConcatD", row, {{"axis", i64{0}}});
      out.push_back(batch_first_ ? swapped(joined) : joined);
    }
    out.resize(std::max<usize>(1, std::min(out.size(), x_.node.outputs.size())));
    return out;
  }

 private:
  static constexpr auto kActivations =
      std::to_array<std::string_view>({"Relu", "Sigmoid", "Softplus", "Softsign", "Tanh"});

  Value* swapped(Value* v) { return make("TransposeD", {v}, {{"perm", std::vector<i64>{1, 0, 2}}}); }
  // All sequences must have all steps.
  void check_lengths() {
    const Value& lengths = *x_.in[4];
    const i64 steps = x_.in[0]->shape[x_.integer("layout", 0) != 0 ? 1 : 0];
    if (!lengths.constant) x_.unsupported("the lengths of its sequences are no constants");
    for (const i64 length : lengths.constant->array().integers()) {
      if (length != steps) x_.unsupported("its sequences have different lengths");
    }
  }

  Reading& x_;
  i64 gates_, steps_ = 0, batch_ = 0, hidden_ = 0, directions_ = 1;
  bool batch_first_ = false, backward_ = false;
  Value* input_ = nullptr;
  std::vector<std::string> activations_;
  usize per_direction_ = 0;
};

using Lists = std::vector<std::vector<Value*>>;

Lists by_step(const Recurrent& r) {
  return Lists(static_cast<usize>(r.directions()), std::vector<Value*>(static_cast<usize>(r.steps())));
}

}  // namespace

// Gates in the order input, output, forget, cell.
std::vector<Value*> read_lstm(Reading& x) {
  static constexpr std::array<std::string_view, 3> kDefaults{"Sigmoid", "Tanh", "Tanh"};
  Recurrent r(x, 4, kDefaults);
  if (x.integer("input_forget", 0) != 0) x.unsupported("it couples input and forget gates");
  Lists states = by_step(r), last(2);
  for (i64 d = 0; d < r.directions(); ++d) {
    Value* const all = r.inputs(d, true);
    Value* const recurrence = r.of_direction(2, d);
    Value *h = r.initial(5, d), *c = r.initial(6, d), *const peephole = r.of_direction(7, d);
    const auto peep = [&](Value* gate, i64 p, Value* cell) {
      if (peephole == nullptr) return gate;
      return r.make("Add", {gate, r.make("Mul", {cell, r.slice(peephole, 0, p * r.hidden(), (p + 1) * r.hidden())})});
    };
    for (i64 turn = 0; turn < r.steps(); ++turn) {
      const i64 t = r.step_of(d, turn);
      Value* const gates = r.make("Add", {r.step(all, t), r.times(h, recurrence)});
      Value* const in = r.activation(d, 0, peep(r.gate(gates, 0), 0, c));
      Value* const forget = r.activation(d, 0, peep(r.gate(gates, 2), 2, c));
      Value* const cell = r.activation(d, 1, r.gate(gates, 3));
      c = r.make("Add", {r.make("Mul", {forget, c}), r.make("Mul", {in, cell})});
      Value* const out = r.activation(d, 0, peep(r.gate(gates, 1), 1, c));
      h = r.make("Mul", {out, r.activation(d, 2, c)});
      states[static_cast<usize>(d)][static_cast<usize>(t)] = h;
    }
    last[0].push_back(h);
    last[1].push_back(c);
  }
  return r.results(states, last);
}

// Gates in the order update, reset, hidden.
std::vector<Value*> read_gru(Reading& x) {
  static constexpr std::array<std::string_view, 2> kDefaults{"Sigmoid", "Tanh"};
  Recurrent r(x, 3, kDefaults);
  const bool reset_behind = x.integer("linear_before_reset", 0) != 0;
  Lists states = by_step(r), last(1);
  for (i64 d = 0; d < r.directions(); ++d) {
    Value* const all = r.inputs(d, false);
    Value* const recurrence = r.of_direction(2, d);
    Value* const gates_of_state = r.slice(recurrence, 0, 0, 2 * r.hidden());
    Value* const hidden_of_state = r.slice(recurrence, 0, 2 * r.hidden(), 3 * r.hidden());
    Value *const gate_bias = r.bias(d, 1, 0, 2), *const hidden_bias = r.bias(d, 1, 2, 3);
    Value* h = r.initial(5, d);
    for (i64 turn = 0; turn < r.steps(); ++turn) {
      const i64 t = r.step_of(d, turn);
      Value* const in = r.step(all, t);
      Value* const both =
          r.with(r.make("Add", {r.slice(in, 1, 0, 2 * r.hidden()), r.times(h, gates_of_state)}), gate_bias);
      Value* const update = r.activation(d, 0, r.gate(both, 0));
      Value* const reset = r.activation(d, 0, r.gate(both, 1));
      Value* state = nullptr;
      if (reset_behind) {
        state = r.make("Mul", {reset, r.with(r.times(h, hidden_of_state), hidden_bias)});
      } else {
        state = r.with(r.times(r.make("Mul", {reset, h}), hidden_of_state), hidden_bias);
      }
      Value* const hidden = r.activation(d, 1, r.make("Add", {r.gate(in, 2), state}));
      Value* const kept = r.make("Mul", {update, h});
      h = r.make("Add", {r.make("Mul", {r.make("Sub", {r.number(1), update}), hidden}), kept});
      states[static_cast<usize>(d)][static_cast<usize>(t)] = h;
    }
    last[0].push_back(h);
  }
  return r.results(states, last);
}

std::vector<Value*> read_rnn(Reading& x) {
  static constexpr std::array<std::string_view, 1> kDefaults{"Tanh"};
  Recurrent r(x, 1, kDefaults);
  Lists states = by_step(r), last(1);
  for (i64 d = 0; d < r.directions(); ++d) {
    Value* const all = r.inputs(d, true);
    Value* const recurrence = r.of_direction(2, d);
    Value* h = r.initial(5, d);
    for (i64 turn = 0; turn < r.steps(); ++turn) {
      const i64 t = r.step_of(d, turn);
      h = r.activation(d, 0, r.make("Add", {r.step(all, t), r.times(h, recurrence)}));
      states[static_cast<usize>(d)][static_cast<usize>(t)] = h;
    }
    last[0].push_back(h);
  }
  return r.results(states, last);
}

}  // namespace vinci::graph
