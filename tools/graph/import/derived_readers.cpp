// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <sstream>
#include <string>

#include "tools/graph/import/readers.h"

// Operators that are sums, products and other operators of the table.
namespace vinci::graph {
namespace {

// An operand of Einsum: a letter for each axis.
struct Labelled {
  Value* value = nullptr;
  std::string labels = {};

  bool has(char label) const { return labels.find(label) != std::string::npos; }
};

class EinsumReading {
 public:
  explicit EinsumReading(Reading& x) : x_(x) {
    const auto* const given = x.attribute<std::string>("equation");
    if (given == nullptr) x.unsupported("it has no equation");
    std::string equation = *given;
    std::erase(equation, ' ');
    const usize arrow = equation.find("->");
    std::istringstream terms(equation.substr(0, arrow));
    std::string term;
    while (std::getline(terms, term, ',') && operands_.size() < x.in.size())
      operands_.push_back({x.in[operands_.size()], term});
    if (operands_.size() != x.in.size() || std::getline(terms, term, ','))
      x.unsupported("its equation '{}' has another number of operands", *given);
    const std::string rest = name_ellipses(equation);
    std::map<char, int> times;
    for (Labelled& o : operands_) {
      if (!o.value->shape.known() || o.value->shape.rank() != o.labels.size())
        x.unsupported("the extents of its operands are not known, or have no letter");
      std::map<char, int> here;
      for (usize a = 0; a < o.labels.size(); ++a) {
        if (++here[o.labels[a]] > 1) x.unsupported("its equation '{}' takes a diagonal", *given);
        ++times[o.labels[a]];
        extent_[o.labels[a]] = std::max(extent_[o.labels[a]], o.value->shape[a]);
      }
    }
    for (Labelled& o : operands_)
      o.value = repeated(o);
    if (arrow != std::string::npos) {
      result_ = equation.substr(arrow + 2);
      if (const usize dots = result_.find("..."); dots != std::string::npos) result_.replace(dots, 3, rest);
      if (result_.find('.') != std::string::npos) x.unsupported("its equation '{}' has no such dots", *given);
      for (const char label : result_) {
        if (!times.contains(label)) x.unsupported("no operand of its equation '{}' has {}", *given, label);
      }
    } else {
      result_ = rest;
      for (const auto& [label, count] : times) {
        if (count == 1 && rest.find(label) == std::string::npos) result_ += label;
      }
    }
  }

  Value* read() {
    Labelled sum = operands_[0];
    for (usize i = 1; i < operands_.size(); ++i)
      sum = product(sum, operands_[i], i + 1);
    return ordered(reduced(sum, [&](char label) { return result_.find(label) != std::string::npos; }), result_);
  }

 private:
  // An ellipsis becomes letters that the equation does not have, the last axes the same in all operands; returns them.
  std::string name_ellipses(const std::string& equation) {
    usize most = 0;
    const auto dots_of = [](const Labelled& o) { return o.labels.find("..."); };
    const auto axes_of = [](const Labelled& o) { return o.value->shape.rank() + 3 - o.labels.size(); };
    for (const Labelled& o : operands_) {
      if (dots_of(o) == std::string::npos) continue;
      if (!o.value->shape.known() || o.value->shape.rank() + 3 < o.labels.size())
        x_.unsupported("the extents of its operands are not known, or have no letter");
      most = std::max(most, axes_of(o));
    }
    std::string names;
    for (char letter = 'Z'; letter >= 'A' && names.size() < most; --letter) {
      if (equation.find(letter) == std::string::npos) names.insert(names.begin(), letter);
    }
    if (names.size() < most) x_.unsupported("its equation '{}' needs more letters than there are", equation);
    for (Labelled& o : operands_) {
      const usize dots = dots_of(o), axes = dots == std::string::npos ? 0 : axes_of(o);
      if (dots != std::string::npos) o.labels.replace(dots, 3, names.substr(most - axes));
    }
    return names;
  }

  // The operand with the extents that its letters have elsewhere.
  Value* repeated(const Labelled& o) {
    Dims dims;
    for (const char label : o.labels)
      dims.push_back(extent_.at(label));
    return o.value->shape.dims() == dims ? o.value : x_.make("BroadcastTo", {o.value, x_.integers(dims)});
  }

  // Whether a label is still needed behind the operands before `next`.
  bool needed(char label, usize next) const {
    if (result_.find(label) != std::string::npos) return true;
    return std::any_of(operands_.begin() + static_cast<std::ptrdiff_t>(next), operands_.end(),
                       [&](const Labelled& o) { return o.has(label); });
  }

  // Summed over the axes that are not kept.
  template <class Keep>
  Labelled reduced(const Labelled& v, const Keep& keep) {
    std::vector<i64> axes;
    std::string rest;
    for (usize a = 0; a < v.labels.size(); ++a) {
      if (keep(v.labels[a])) {
        rest += v.labels[a];
      } else {
        axes.push_back(static_cast<i64>(a));
      }
    }
    if (axes.empty()) return v;
    return {x_.make("ReduceSum", {v.value, x_.integers(axes)}, {{"keepdims", i64{0}}}), rest};
  }

  Value* ordered(const Labelled& v, const std::string& labels) {
    std::vector<i64> perm;
    for (const char label : labels)
      perm.push_back(static_cast<i64>(v.labels.find(label)));
    if (v.labels == labels) return x_.make("Identity", {v.value});
    return x_.make("TransposeD", {v.value}, {{"perm", perm}});
  }

  i64 size(const std::string& labels) const {
    i64 out = 1;
    for (const char label : labels)
      out *= extent_.at(label);
    return out;
  }

  // A product of matrices: labels of both that stay are a batch, those of both that go are summed over.
  Labelled product(Labelled a, Labelled b, usize next) {
    a = reduced(a, [&](char label) { return b.has(label) || needed(label, next); });
    b = reduced(b, [&](char label) { return a.has(label) || needed(label, next); });
    std::string batch, inner, left, right;
    for (const char label : a.labels)
      (!b.has(label) ? left : needed(label, next) ? batch : inner) += label;
    for (const char label : b.labels) {
      if (!a.has(label)) right += label;
    }
    for (const Labelled* const o : {&a, &b}) {
      for (usize i = 0; i < o->labels.size(); ++i) {
        if (o->value->shape[i] != extent_.at(o->labels[i])) x_.unsupported("an axis of extent 1 is repeated");
      }
    }
    Value* const rows = shaped(ordered(a, batch + left + inner), {size(batch), size(left), size(inner)});
    Value* const columns = shaped(ordered(b, batch + inner + right), {size(batch), size(inner), size(right)});
    const std::string all = fmt::format("{}{}{}", batch, left, right);
    Dims dims;
    for (const char label : all)
      dims.push_back(extent_.at(label));
    return {shaped(x_.make("BatchMatMulV2", {rows, columns}), dims), all};
  }

  Value* shaped(Value* v, const Dims& dims) {
    return x_.make("Reshape", {v, x_.integers(dims)}, {{"allowzero", i64{1}}});
  }

  Reading& x_;
  std::vector<Labelled> operands_;
  std::string result_;
  std::map<char, i64> extent_;
};

}  // namespace

std::vector<Value*> read_einsum(Reading& x) { return {EinsumReading(x).read()}; }

std::vector<Value*> read_gelu(Reading& x) {
  const auto* const how = x.attribute<std::string>("approximate");
  Value* const v = x.in.at(0);
  if (how == nullptr || *how == "none") return {x.make("Gelu", {v})};
  if (*how != "tanh") x.unsupported("no approximation '{}'", *how);
  const auto number = [&](double n) { return x.scalar(v->type, n); };
  Value* const cube = x.make("Mul", {x.make("Mul", {v, x.make("Mul", {v, v})}), number(0.044715)});
  Value* const inner = x.make("Mul", {x.make("Add", {v, cube}), number(std::sqrt(2 / std::numbers::pi))});
  Value* const half = x.make("Mul", {v, number(0.5)});
  return {x.make("Mul", {half, x.make("Add", {x.make("Tanh", {inner}), number(1)})})};
}

std::vector<Value*> read_mish(Reading& x) {
  return {x.make("Mul", {x.in.at(0), x.make("Tanh", {x.make("Softplus", {x.in[0]})})})};
}

// The list is stacked along axis 0 (lists.h).
std::vector<Value*> read_joined_list(Reading& x) {
  Value* const list = x.in.at(0);
  if (!list->shape.ranked() || list->shape.rank() == 0) x.unsupported("the rank of its tensors is not known");
  const auto rank = static_cast<i64>(list->shape.rank());
  const bool apart = x.integer("new_axis", 0) != 0;
  const i64 axes = apart ? rank : rank - 1, given = x.integer("axis", 0), axis = given < 0 ? given + axes : given;
  if (axis < 0 || axis >= axes) x.unsupported("its axis {} does not exist", given);
  // Axis 0 comes in front of the axis of this number of a tensor.
  std::vector<i64> perm;
  for (i64 a = 1; a < rank; ++a)
    perm.push_back(a);
  perm.insert(perm.begin() + axis, 0);
  Value* const turned = x.make("TransposeD", {list}, {{"perm", perm}});
  if (apart) return {turned};
  Dims dims;
  for (i64 a = 0; a + 1 < rank; ++a) {
    const i64 extent = list->shape[static_cast<usize>(a + 1)];
    if (a != axis && extent < 0) x.unsupported("the extents of its tensors are not known");
    dims.push_back(a == axis ? -1 : extent);
  }
  return {x.make("Reshape", {turned, x.integers(dims)})};
}

// Scale and offset are those of groups (version 18) or of channels.
std::vector<Value*> read_group_norm(Reading& x) {
  Value* const in = x.in.at(0);
  const i64 groups = x.integer("num_groups", 1);
  if (!in->shape.known() || in->shape.rank() < 2 || groups < 1 || in->shape[1] % groups != 0)
    x.unsupported("the extents of its input are not known, or are no {} groups", groups);
  const Dims dims = in->shape.dims();
  const auto shaped = [&](Value* v, const Dims& to) {
    return x.make("Reshape", {v, x.integers(to)}, {{"allowzero", i64{1}}});
  };
  const double* const epsilon = x.attribute<double>("epsilon");
  const Attributes attributes{{"axis", i64{-1}}, {"epsilon", epsilon == nullptr ? 1e-5 : *epsilon}};
  const i64 size = static_cast<i64>(in->shape.elements()) / (dims[0] * groups);
  Value* y = x.make("LayerNorm", {shaped(in, {dims[0], groups, size})}, attributes);
  const bool by_group = x.in.at(1)->shape.elements() == static_cast<u64>(groups);
  Dims across(by_group ? 2 : dims.size() - 1, 1);
  across[0] = by_group ? groups : dims[1];
  if (!by_group) y = shaped(y, dims);
  y = x.make("Add", {x.make("Mul", {y, shaped(x.in[1], across)}), shaped(x.in.at(2), across)});
  return {by_group ? shaped(y, dims) : y};
}

}  // namespace vinci::graph
