// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/matmul_epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "tools/graph/kernels/rows.h"
#include "tools/graph/kernels/vector_ops.h"

namespace vinci::graph {
namespace {

using LayoutAxis = gen::GemmLayout::Axis;

constexpr u64 kMostFarBlocks = 65535;  // that a copy steps over

const Value* result_of(const Group& group) { return group.nodes()[0]->output(); }

// Tensors that element-wise nodes read from memory, each once.
std::vector<const Value*> operands_of(const Group& group) {
  std::vector<const Value*> out;
  for (usize i = 1; i < group.vector_end(); ++i) {
    for (const Value* const operand : group.nodes()[i]->inputs()) {
      const Value* const v = group.resolve(operand);
      const bool tensor = std::ranges::find(group.inputs(), v) != group.inputs().end();
      if (tensor && std::ranges::find(out, v) == out.end()) out.push_back(v);
    }
  }
  return out;
}

// None where the operand is repeated in a way that the product does not know. `argument` is not set.
std::optional<gen::GemmEpilogue::Operand> operand_of(const Value& v, const Shape& result, const gen::GemmProblem& p) {
  if (result.rank() < 2 || v.shape.rank() == 0) return std::nullopt;
  Dims dims(result.rank() - v.shape.rank(), 1);
  dims.insert(dims.end(), v.shape.dims().begin(), v.shape.dims().end());
  const usize batch_axes = result.rank() - 2;
  const i64 rows = dims[batch_axes], columns = dims[batch_axes + 1];
  if (columns != static_cast<i64>(p.n)) return std::nullopt;
  gen::GemmEpilogue::Operand out{.row = rows == 1 && p.m != 1};
  if (v.shape == result) {
    out.row = false;
    if (p.matrices > 1) out.batch = {.below = 1, .count = p.matrices};
    return out;
  }
  if (!out.row && rows != result[batch_axes]) return std::nullopt;
  const std::span<const i64> of_v = std::span(dims).first(batch_axes);
  if (p.matrices == 1) {  // the rows of a batch are those of one matrix
    if (elements_of(of_v) != 1 || (!out.row && rows != static_cast<i64>(p.m))) return std::nullopt;
    return out;
  }
  const auto batch = matrices_of(of_v, std::span(result.dims()).first(batch_axes));
  if (!batch) return std::nullopt;
  out.batch = *batch;
  return out;
}

// Axes that are one: numbers of the last one follow those of the one before.
void merge(std::vector<LayoutAxis>& axes) {
  std::vector<LayoutAxis> out;
  for (const LayoutAxis& a : axes) {
    if (a.extent == 1) continue;
    if (!out.empty() && out.back().distance == a.extent * a.distance) {
      out.back() = {out.back().extent * a.extent, a.distance};
    } else {
      out.push_back(a);
    }
  }
  axes = std::move(out);
}

// Takes the last axes from `axes` whose extents make `count`; none where an axis would have to be cut unevenly.
std::optional<std::vector<LayoutAxis>> take_last(std::vector<LayoutAxis>& axes, u64 count) {
  std::vector<LayoutAxis> out;
  while (count > 1) {
    if (axes.empty()) return std::nullopt;
    LayoutAxis& last = axes.back();
    const u64 part = std::gcd(last.extent, count);
    if (part != last.extent && part != count) return std::nullopt;
    out.insert(out.begin(), {part, last.distance});
    count /= part;
    if (part == last.extent) {
      axes.pop_back();
    } else {
      last = {last.extent / part, last.distance * part};
    }
  }
  merge(out);
  return out;
}

std::vector<LayoutAxis> flat(const std::vector<std::vector<LayoutAxis>>& axes) {
  std::vector<LayoutAxis> out;
  for (const std::vector<LayoutAxis>& a : axes)
    out.insert(out.end(), a.begin(), a.end());
  return out;
}

// The axes of the result, with the distance of neighbours in the output of the group; none where an axis would have to
// be cut unevenly.
std::optional<std::vector<LayoutAxis>> result_axes(const Group& group) {
  const Shape& out = group.outputs()[0]->shape;
  std::vector<std::vector<LayoutAxis>> axes;  // of each axis of a tensor
  u64 distance = out.elements();
  for (const i64 extent : out.dims()) {
    distance /= static_cast<u64>(extent);
    axes.push_back({{static_cast<u64>(extent), distance}});
  }
  // From the last node to the first: the axes of what each of them reads.
  for (usize i = group.nodes().size(); i-- > group.vector_end();) {
    const Node& node = *group.nodes()[i];
    std::vector<std::vector<LayoutAxis>> before(node.input(0)->shape.rank());
    if (node.type == "TransposeD") {
      const std::vector<i64>& perm = node.integers("perm");
      for (usize a = 0; a < axes.size(); ++a)
        before[perm.empty() ? axes.size() - 1 - a : static_cast<usize>(perm[a])] = axes[a];
    } else {
      std::vector<LayoutAxis> all = flat(axes);
      for (usize a = before.size(); a-- > 0;) {
        const auto of_axis = take_last(all, static_cast<u64>(node.input(0)->shape[a]));
        if (!of_axis) return std::nullopt;
        before[a] = *of_axis;
      }
    }
    axes = std::move(before);
  }
  return flat(axes);
}

// None where the elements of a block would not stay together.
std::optional<gen::GemmLayout> layout_of(const Group& group, const gen::GemmProblem& p) {
  std::optional<std::vector<LayoutAxis>> all = result_axes(group);
  if (!all) return std::nullopt;
  std::vector<LayoutAxis>& axes = *all;
  const auto columns = take_last(axes, p.n);
  const auto rows = columns ? take_last(axes, p.m) : std::nullopt;
  const auto matrices = rows ? take_last(axes, p.matrices) : std::nullopt;
  if (!matrices) return std::nullopt;
  gen::GemmLayout out{.matrices = *matrices, .rows = *rows, .columns = *columns};
  if (out.columns.empty() || out.columns.back().distance != 1 || out.columns.back().extent % kC0 != 0)
    return std::nullopt;
  if (out.rows.empty()) out.rows.push_back({1, kC0});
  for (const auto* const list : {&out.matrices, &out.rows, &out.columns}) {
    for (const LayoutAxis& a : *list) {
      if (&a != &out.columns.back() && a.distance % kC0 != 0) return std::nullopt;
    }
  }
  if (out.rows.back().distance / kC0 > kMostFarBlocks) return std::nullopt;
  return out;
}

}  // namespace

u64 elements_of(std::span<const i64> dims) {
  return static_cast<u64>(std::accumulate(dims.begin(), dims.end(), i64{1}, std::multiplies<>()));
}

std::optional<gen::GemmBatch> matrices_of(std::span<const i64> operand, std::span<const i64> out) {
  std::vector<i64> dims(out.size() - operand.size(), 1);
  dims.insert(dims.end(), operand.begin(), operand.end());
  usize first = 0, last = dims.size();
  while (first < last && dims[first] == 1)
    ++first;
  while (first < last && dims[last - 1] == 1)
    --last;
  for (usize a = first; a < last; ++a) {
    if (dims[a] != out[a]) return std::nullopt;
  }
  return gen::GemmBatch{.below = elements_of(out.subspan(last)),
                        .count = elements_of(out.subspan(first, last - first))};
}

std::string epilogue_refuses(const Group& group, const gen::GemmProblem& p, const config::ChipConfig& chip) {
  if (group.nodes().size() == 1) return "";
  if (std::string reason = vector_refuses(group, 1, chip); !reason.empty()) return reason;
  const Shape& result = result_of(group)->shape;
  for (usize i = 1; i < group.vector_end(); ++i) {
    const Value& made = *group.nodes()[i]->output();
    if (made.type != DataType::f16) return fmt::format("{} is not f16", made.name);
    if (made.shape != result) return fmt::format("{} has another shape than the product", made.name);
  }
  for (const Value* const v : operands_of(group)) {
    if (v->type != DataType::f16) return fmt::format("{} is not f16", v->name);
    if (!operand_of(*v, result, p)) return fmt::format("{} is repeated in a way that tiles do not have", v->name);
  }
  if (group.inputs().size() > kMostTensors) return "it reads more tensors than there are registers for addresses";
  if (group.vector_end() < group.nodes().size() && !layout_of(group, p))
    return "its transpose does not keep blocks of 16 columns together";
  gen::GemmProblem all = p;
  add_epilogue(all, group, chip);
  return gen::fits_epilogue(all, chip) ? "" : "UB has no room for what is behind the product and a tile of 128 x 128";
}

void add_epilogue(gen::GemmProblem& p, const Group& group, const config::ChipConfig& chip) {
  if (group.vector_end() < group.nodes().size()) p.layout = *layout_of(group, p);
  if (group.vector_end() == 1) return;
  gen::GemmEpilogue e;
  const std::vector<const Value*> tensors = operands_of(group);
  for (const Value* const v : tensors) {
    gen::GemmEpilogue::Operand operand = *operand_of(*v, result_of(group)->shape, p);
    operand.argument = static_cast<u32>(std::ranges::find(group.inputs(), v) - group.inputs().begin());
    e.operands.push_back(operand);
  }
  constexpr u64 kElements = 256;  // a multiple of what scratch is rounded to
  const u64 between = temporaries(group, 1).count;
  e.fixed_bytes = scratch_bytes(group, 1, 0);
  e.element_bytes = between * 2 + (scratch_bytes(group, 1, kElements) - e.fixed_bytes) / kElements;
  e.write = [&group, tensors](isa::ProgramBuilder& out, const gen::GemmEpilogue::Place& place, u64 elements) {
    const Temporaries inner = temporaries(group, 1);
    const Value* const last = group.nodes()[group.vector_end() - 1]->output();
    const Addresses where = [&](const Value* v) {
      if (v == result_of(group) || v == last) return place.results;
      const auto operand = std::ranges::find(tensors, group.resolve(v));
      if (operand != tensors.end()) return place.operands[static_cast<usize>(operand - tensors.begin())];
      return place.room + inner.of.at(v) * elements * 2;
    };
    write_vector_nodes(out, group, 1, {.at = where, .scratch = place.room + inner.count * elements * 2}, elements);
  };
  const VectorWork work = vector_work(group, 1, chip);
  e.cycles = work.cycles;
  e.once = work.once;
  p.epilogue = std::make_shared<gen::GemmEpilogue>(std::move(e));
}

}  // namespace vinci::graph
