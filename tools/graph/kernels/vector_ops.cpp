// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/vector_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "isa/table/codec.h"
#include "models/cost/cost.h"
#include "tools/graph/kernels/vector_functions.h"
#include "tools/graph/passes/match.h"

namespace vinci::graph {
namespace {

using isa::PipeId;
using isa::ProgramBuilder;

constexpr u64 kMaxRepeats = 255;
constexpr u64 kBlockElements = 16;  // of f16 in a block of 32 B: a number for each channel of a block

constexpr usize kMostOperands = 3;

struct Operands {
  u64 dst = 0;
  std::array<u64, kMostOperands> src{};
  std::array<std::optional<double>, kMostOperands> scalar{};  // in place of an address
  std::array<bool, kMostOperands> block{};                    // one block for all positions
};
using Write = void (*)(VectorWriter& w, const Operands& x, const Node& node);

template <const char* name>
void write_unary(VectorWriter& w, const Operands& x, const Node&) {
  w.unary(name, x.dst, x.src[0]);
}
constexpr char kVRelu[] = "vrelu", kVExp[] = "vexp", kVLog[] = "vln", kVSqrt[] = "vsqrt", kVAbs[] = "vabs";

// A sum or product; one operand may be a number.
template <const char* two, const char* one>
void write_commutative(VectorWriter& w, const Operands& x, const Node&) {
  if (x.scalar[0]) return w.scalar(one, x.dst, x.src[1], *x.scalar[0]);
  if (x.scalar[1]) return w.scalar(one, x.dst, x.src[0], *x.scalar[1]);
  w.binary(two, x.dst, x.src[0], x.src[1], x.block[0], x.block[1]);
}
constexpr char kVAdd[] = "vadd", kVAdds[] = "vadds", kVMul[] = "vmul", kVMuls[] = "vmuls", kVMax[] = "vmax",
               kVMaxs[] = "vmaxs", kVMin[] = "vmin", kVMins[] = "vmins";

// The operands as buffers: a number becomes a block.
Operands in_buffers(VectorWriter& w, Operands x) {
  for (usize i = 0; i < x.src.size(); ++i) {
    if (!x.scalar[i]) continue;
    x.src[i] = w.number_block(*x.scalar[i]);
    x.block[i] = true;
  }
  return x;
}
void write_subtract(VectorWriter& w, const Operands& x, const Node&) {
  if (x.scalar[1]) return w.scalar("vadds", x.dst, x.src[0], -*x.scalar[1]);
  if (!x.scalar[0]) return w.binary("vsub", x.dst, x.src[0], x.src[1], x.block[0], x.block[1]);
  w.scalar("vmuls", x.dst, x.src[1], -1);
  w.scalar("vadds", x.dst, x.dst, *x.scalar[0]);
}
void write_divide(VectorWriter& w, const Operands& given, const Node&) {
  const Operands x = in_buffers(w, given);
  w.binary("vdiv", x.dst, x.src[0], x.src[1], x.block[0], x.block[1]);
}
// max(x, 0) + slope * min(x, 0)
void write_prelu(VectorWriter& w, const Operands& given, const Node&) {
  const u64 t = w.scratch(0);
  w.scalar("vmins", t, given.src[0], 0);
  const Operands x = in_buffers(w, given);
  w.binary("vmul", t, t, x.src[1], false, x.block[1]);
  w.unary("vrelu", x.dst, x.src[0]);
  w.binary("vadd", x.dst, x.dst, t);
}
void write_negate(VectorWriter& w, const Operands& x, const Node&) { w.scalar("vmuls", x.dst, x.src[0], -1); }
void write_clip(VectorWriter& w, const Operands& x, const Node& node) {
  u64 from = x.src[0];
  if (const auto low = scalar(node.input(1))) {
    w.scalar("vmaxs", x.dst, from, *low);
    from = x.dst;
  }
  if (const auto high = scalar(node.input(2))) {
    w.scalar("vmins", x.dst, from, *high);
    from = x.dst;
  }
  if (from != x.dst) w.copy(x.dst, from);
}

// Comparisons, logic and selection: Booleans are 1 and 0 of f16 in UB. Scratch: bits, two numbers, a tensor.
struct ChoiceRoom {
  explicit ChoiceRoom(const VectorWriter& w)
      : bits(w.scratch(0)), x(w.scratch(1)), y(w.scratch(1) + kNumberBytes), tensor(w.scratch(2)) {}
  u64 bits, x, y, tensor;
};
constexpr u32 kChoiceBuffers = 3;

// dst = a <op> b ? yes : no, as a Boolean.
void write_boolean(VectorWriter& w, u64 dst, std::string_view op, VectorWriter::Lanes a, VectorWriter::Lanes b,
                   double yes = 1, double no = 0) {
  const ChoiceRoom room(w);
  w.choose(w.wide() ? room.tensor : dst,
           {.op = op,
            .a = a,
            .b = b,
            .x = {w.number_block_at(room.x, yes), true},
            .y = {w.number_block_at(room.y, no), true}},
           room.bits);
  if (w.wide()) w.to_f16(dst, room.tensor);
}
template <const char* op>
void write_comparison(VectorWriter& w, const Operands& given, const Node&) {
  const Operands x = in_buffers(w, given);
  write_boolean(w, x.dst, op, {x.src[0], x.block[0]}, {x.src[1], x.block[1]});
}
constexpr char kIsEq[] = "eq", kIsLt[] = "lt", kIsLe[] = "le", kIsGt[] = "gt", kIsGe[] = "ge";
void write_is_nan(VectorWriter& w, const Operands& x, const Node&) {
  write_boolean(w, x.dst, "eq", {x.src[0]}, {x.src[0]}, 0, 1);
}
template <const char* name>
void write_logic(VectorWriter& w, const Operands& given, const Node&) {
  const Operands x = in_buffers(w, given);
  w.binary(name, x.dst, x.src[0], x.src[1], x.block[0], x.block[1]);
}
void write_xor(VectorWriter& w, const Operands& given, const Node&) {
  const Operands x = in_buffers(w, given);
  w.binary("vsub", x.dst, x.src[0], x.src[1], x.block[0], x.block[1]);
  w.unary("vabs", x.dst, x.dst);
}
void write_not(VectorWriter& w, const Operands& x, const Node&) {
  w.scalar("vmuls", x.dst, x.src[0], -1);
  w.scalar("vadds", x.dst, x.dst, 1);
}
void write_select(VectorWriter& w, const Operands& x, const Node&) {
  const ChoiceRoom room(w);
  u64 condition = x.src[0];
  if (w.wide()) {
    w.to_f32(room.tensor, condition);
    condition = room.tensor;
  }
  const auto chosen = [&](usize i, u64 at) -> VectorWriter::Lanes {
    if (x.scalar[i]) return {w.number_block_at(at, *x.scalar[i]), true};
    return {x.src[i], x.block[i]};
  };
  w.choose(
      x.dst,
      {.op = "ne", .a = {condition}, .b = {w.number_block(0), true}, .x = chosen(1, room.x), .y = chosen(2, room.y)},
      room.bits);
}
void write_cast(VectorWriter& w, const Operands& x, const Node& node) {
  const DataType from = node.input(0)->type, to = node.output()->type;
  if (to == DataType::boolean && from != DataType::boolean)
    return write_boolean(w, x.dst, "ne", {x.src[0]}, {w.number_block(0), true});
  if (is_float(from) && !is_float(to)) return w.to_whole_bytes(x.dst, x.src[0], w.scratch(0), to == DataType::i8);
  if (to == DataType::f32 && from != DataType::f32) return w.to_f32(x.dst, x.src[0]);
  from == DataType::f32&& to == DataType::f16 ? w.to_f16(x.dst, x.src[0]) : w.copy(x.dst, x.src[0]);
}

// The rows of the operand are those of the result: the kernel repeats it.
void write_repeated(VectorWriter& w, const Operands& x, const Node&) { w.copy(x.dst, x.src[0]); }

// A function in f32, for tensors of f16 with a cast before and behind it.
void write_function(VectorWriter& w, const Operands& x, const Node& node) {
  const VectorFunction& f = *find_vector_function(node.type);
  if (node.output()->type == DataType::f32) return f.write(w, x.dst, x.src[0], 0, node);
  w.to_f32(w.scratch(0), x.src[0]);
  f.write(w, w.scratch(1), w.scratch(0), 2, node);
  w.to_f16(x.dst, w.scratch(1));
}

struct VectorOp {
  std::string_view type;
  Write write;
  std::array<bool, kMostOperands> takes_number{};  // in place of a tensor, by operand
  u32 scratch = 0;                                 // buffers of f32
  bool in_f32 = false;                             // whatever the type of its tensors
  bool boolean = false;                            // its result
  std::array<bool, kMostOperands> of_booleans{};   // operands
};
constexpr auto kVectorOps = std::to_array<VectorOp>({
    {"Abs", write_unary<kVAbs>},
    {"Add", write_commutative<kVAdd, kVAdds>, {true, true}},
    {"BroadcastTo", write_repeated},
    {"Cast", write_cast, {}, kChoiceBuffers},
    {"ClipByValue", write_clip},
    {"Equal", write_comparison<kIsEq>, {true, true}, kChoiceBuffers, false, true},
    {"Exp", write_unary<kVExp>},
    {"Greater", write_comparison<kIsGt>, {true, true}, kChoiceBuffers, false, true},
    {"GreaterEqual", write_comparison<kIsGe>, {true, true}, kChoiceBuffers, false, true},
    {"IsNan", write_is_nan, {}, kChoiceBuffers, false, true},
    {"Less", write_comparison<kIsLt>, {true, true}, kChoiceBuffers, false, true},
    {"LessEqual", write_comparison<kIsLe>, {true, true}, kChoiceBuffers, false, true},
    {"Log", write_unary<kVLog>},
    {"LogicalAnd", write_logic<kVMin>, {true, true}, 1, false, true, {true, true}},
    {"LogicalNot", write_not, {}, 0, false, true, {true}},
    {"LogicalOr", write_logic<kVMax>, {true, true}, 1, false, true, {true, true}},
    {"LogicalXor", write_xor, {true, true}, 1, false, true, {true, true}},
    {"Maximum", write_commutative<kVMax, kVMaxs>, {true, true}},
    {"Minimum", write_commutative<kVMin, kVMins>, {true, true}},
    {"Mul", write_commutative<kVMul, kVMuls>, {true, true}},
    {"Neg", write_negate},
    {"PRelu", write_prelu, {false, true}, 1},
    {"RealDiv", write_divide, {true, true}},
    {"Relu", write_unary<kVRelu>},
    {"SelectV2", write_select, {false, true, true}, kChoiceBuffers, false, false, {true}},
    {"Sqrt", write_unary<kVSqrt>},
    {"Sub", write_subtract, {true, true}},
});

std::optional<VectorOp> find_vector_op(std::string_view type) {
  if (const auto at = std::ranges::find(kVectorOps, type, &VectorOp::type); at != kVectorOps.end()) return *at;
  if (const VectorFunction* const f = find_vector_function(type); f != nullptr)
    return VectorOp{.type = f->type, .write = write_function, .scratch = f->scratch + 2, .in_f32 = true};
  return std::nullopt;
}

bool float_16_or_32(DataType t) { return t == DataType::f16 || t == DataType::f32; }

// A cast between types that vector instructions have; bytes are f16 there.
bool casts_in_lanes(const Node& node, const Value& in, const Value& out) {
  const auto there = [](DataType t) { return float_16_or_32(t) || is_byte(t); };
  // Between i8 and u8 numbers wrap.
  const bool wraps = in.type != out.type && !is_float(in.type) && !is_float(out.type) && out.type != DataType::boolean;
  return node.type == "Cast" && there(in.type) && there(out.type) && !wraps;
}

// Operands that are tensors: those of a clip, except the first one, are numbers of its own.
usize tensor_operands(const Node& node) {
  const bool one =
      node.type == "BroadcastTo" || node.type == "ClipByValue" || find_vector_function(node.type) != nullptr;
  return one ? 1 : node.inputs().size();
}

std::string node_refuses(const Group& group, const Node& node) {
  const std::optional<VectorOp> op = find_vector_op(node.type);
  if (!op) return fmt::format("no vector instructions for {}", node.type);
  if (const VectorFunction* const f = find_vector_function(node.type); f != nullptr && f->refuses != nullptr) {
    if (const std::string_view reason = f->refuses(node); !reason.empty()) return std::string(reason);
  }
  if (node.type == "BroadcastTo" && group.nodes().size() > 1)
    return "element-wise nodes repeat their operands themselves";
  const auto& out = *group.resolve(node.output());
  const bool cast = casts_in_lanes(node, *group.resolve(node.input(0)), out);
  if (op->boolean ? out.type != DataType::boolean : !cast && !float_16_or_32(out.type))
    return fmt::format("{} is of type {}", out.name, info(out.type).name);
  for (usize i = 0; i < node.inputs().size(); ++i) {
    const Value* const in = group.resolve(node.input(i));
    if (i >= tensor_operands(node)) {
      if (in != nullptr && !scalar(in) && node.type != "BroadcastTo")
        return fmt::format("operand {} of {} is no constant number", i, node.name);
      continue;
    }
    if (scalar(in)) {
      if (op->takes_number.at(i)) continue;
      return fmt::format("operand {} of {} is a number", i, node.name);
    }
    const bool boolean = i < kMostOperands && op->of_booleans.at(i);
    if (boolean ? in->type != DataType::boolean : !cast && !float_16_or_32(in->type))
      return fmt::format("{} is of type {}", in->name, info(in->type).name);
    if (is_by_channel(*in, out) && node.inputs().size() == 2 && in->type == DataType::f16 && out.type == DataType::f16)
      continue;
    // What a comparison compares has one type, and what a selection chooses from has that of the result.
    const Value* const like = op->boolean ? group.resolve(node.input(scalar(node.input(0)) ? 1 : 0)) : &out;
    if (!cast && !boolean && in->type != like->type)
      return fmt::format("{} and {} differ in type", in->name, like->name);
    if (is_broadcast(group, *in, out)) continue;
    if (in->shape != out.shape || in->format != out.format)
      return fmt::format("{} has another shape or format than {}", in->name, out.name);
  }
  return "";
}

// Whether the result jumps where an operand crosses a limit.
bool is_step(const Node& node) {
  const std::optional<VectorOp> op = find_vector_op(node.type);
  if (node.type == "Ceil" || node.type == "Floor" || node.type == "Round") return true;
  if (node.type == "Cast") return is_byte(node.output()->type) && is_float(node.input(0)->type);
  return op && op->boolean && !op->of_booleans[0];
}

// Results that go to memory are rounded there; in between, the last bit may differ from what other programs have, and
// a comparison would say something else.
std::string step_refuses(const Group& group, const Node& node) {
  static constexpr auto kExact = std::to_array<std::string_view>(
      {"Abs", "Ceil", "ClipByValue", "Floor", "Maximum", "Minimum", "Neg", "Relu", "Round", "SelectV2"});
  for (const Value* const v : node.inputs()) {
    const Node* const before = v == nullptr ? nullptr : v->producer();
    const auto here = [&](const Node* n) { return n == before; };
    if (before == nullptr || std::ranges::none_of(group.nodes(), here)) continue;
    // What a chip in mode saturation makes of infinity and NaN is no Cast of the reference.
    const bool widens = before->type == "Cast" && group.resolve(before->input(0))->type != DataType::f32;
    if (!widens && std::ranges::find(kExact, before->type) == kExact.end())
      return fmt::format("{} compares what {} computes", node.name, before->name);
  }
  return "";
}

// Buffers of scratch of a node.
u32 scratch_buffers(const VectorOp& op, const Node& node) {
  if (node.type == "Cast" && !is_step(node)) return 0;
  // The form with tanh has one value in between, that with erf four.
  if (node.type == "Gelu" && node.input(0)->type == DataType::f16) return 3;
  return op.scratch;
}

// Whether it is computed in lanes of 32 bits: a Cast has those of the wider type.
bool is_wide(const Group& group, const Node& node) {
  const auto wide = [&](const Value* v) { return v != nullptr && group.resolve(v)->type == DataType::f32; };
  const usize tensors = std::min(node.inputs().size(), tensor_operands(node));
  return find_vector_op(node.type)->in_f32 || wide(node.output()) ||
         std::any_of(node.inputs().begin(), node.inputs().begin() + static_cast<std::ptrdiff_t>(tensors), wide);
}

}  // namespace

bool is_by_channel(const Value& operand, const Value& map) {
  const Shape &o = operand.shape, &m = map.shape;
  if (map.format != isa::Format::NC1HWC0 || operand.format != isa::Format::NC1HWC0 || !o.known() || !m.known())
    return false;
  return o.rank() == 4 && m.rank() == 4 && o != m && (o[0] == 1 || o[0] == m[0]) && o[1] == m[1] && o[2] == 1 &&
         o[3] == 1;
}

bool is_broadcast(const Group& group, const Value& operand, const Value& out) {
  const Shape &o = operand.shape, &to = out.shape;
  if (operand.format != isa::Format::ND || out.format != isa::Format::ND || !o.known() || !to.known()) return false;
  if (o == to || o.rank() > to.rank()) return false;
  for (usize a = 0; a < o.rank(); ++a) {
    if (o[a] != 1 && o[a] != to[a + to.rank() - o.rank()]) return false;
  }
  return std::ranges::find(group.inputs(), &operand) != group.inputs().end();
}

std::string vector_refuses(const Group& group, usize first, const config::ChipConfig&) {
  for (usize i = first; i < group.vector_end(); ++i) {
    if (std::string reason = node_refuses(group, *group.nodes()[i]); !reason.empty()) return reason;
    if (is_step(*group.nodes()[i])) {
      if (std::string reason = step_refuses(group, *group.nodes()[i]); !reason.empty()) return reason;
    }
  }
  return "";
}

bool is_byte(DataType type) { return type == DataType::boolean || type == DataType::i8 || type == DataType::u8; }
void widen_bytes(ProgramBuilder& p, DataType type, u64 dst, u64 src, u64 elements) {
  in_repeats(p, false, elements, [&](u64 e, u64 n) {
    type == DataType::i8 ? p.vconv_s82f16(dst + e * 2, src + e, n, 1, 1, 8, 4)
                         : p.vconv_u82f16(dst + e * 2, src + e, n, 1, 1, 8, 4);
  });
}
void narrow_bytes(ProgramBuilder& p, DataType type, u64 dst, u64 src, u64 elements) {
  in_repeats(p, false, elements, [&](u64 e, u64 n) {
    type == DataType::i8 ? p.vconv_f162s8(dst + e, src + e * 2, n, 1, 1, 4, 8)
                         : p.vconv_f162u8(dst + e, src + e * 2, n, 1, 1, 4, 8);
  });
}

u64 scratch_bytes(const Group& group, usize first, u64 elements) {
  u64 buffers = 0;
  bool any = false;
  for (usize i = first; i < group.vector_end(); ++i) {
    const Node& node = *group.nodes()[i];
    const std::optional<VectorOp> op = find_vector_op(node.type);
    if (!op) continue;
    const u32 scratch = scratch_buffers(*op, node);
    buffers = std::max<u64>(buffers, scratch);
    // Numbers in blocks: divided by, or where an architecture lacks an instruction with a scalar.
    any = any || scratch != 0 || op->type == "RealDiv" || op->type == "Maximum" || op->type == "Minimum" ||
          op->type == "ClipByValue" || (op->type == "Relu" && group.resolve(node.output())->type == DataType::f32);
  }
  return any ? kNumberBytes + buffers * align_up(elements, kLanes16) * 4 : 0;
}

void write_vector_nodes(ProgramBuilder& p, const Group& group, usize first, const VectorPlace& place, u64 elements) {
  // All nodes of whole repeats of the narrow lanes first, then all nodes of the rest: the mask changes seldom.
  const u64 whole = elements / kLanes16 * kLanes16;
  u64 masked = 0;  // lanes of the mask that is set; 0: all
  const auto write = [&](const Node& node, VectorWriter::Part part, u64 mask) {
    if (masked != mask) {
      mask == 0 ? p.set_vector_mask(~u64{0}, ~u64{0}) : set_mask(p, mask);
      masked = mask;
    }
    VectorWriter w(p, part, place.scratch, align_up(elements, kLanes16) * 4);
    Operands x{.dst = place.at(node.output())};
    for (usize o = 0; o < std::min(tensor_operands(node), kMostOperands); ++o) {
      if (const auto number = scalar(group.resolve(node.input(o)))) {
        x.scalar[o] = number;
      } else {
        x.src[o] = place.at(node.input(o));
        x.block[o] = is_by_channel(*group.resolve(node.input(o)), *group.resolve(node.output()));
      }
    }
    find_vector_op(node.type)->write(w, x, node);
  };
  // What has one number for each channel is one block, whatever the size of the tile.
  const auto one_block = [&](const Node& node) {
    return is_by_channel(*group.resolve(node.output()), *group.outputs()[0]);
  };
  const auto each = [&](const auto& body) {
    for (usize i = first; i < group.vector_end(); ++i) {
      const Node& node = *group.nodes()[i];
      if (one_block(node)) continue;
      const bool wide = is_wide(group, node);
      body(node, wide, wide ? kLanes32 : kLanes16);
    }
  };
  for (usize i = first; i < group.vector_end(); ++i) {
    const Node& node = *group.nodes()[i];
    if (one_block(node)) write(node, {.wide = is_wide(group, node), .first = 0, .repeats = 1}, kBlockElements);
  }
  if (whole != 0) {
    each([&](const Node& node, bool wide, u64 lanes) {
      write(node, {.wide = wide, .first = 0, .repeats = whole / lanes}, 0);
    });
  }
  if (whole == elements) return;
  each([&](const Node& node, bool wide, u64 lanes) {
    const u64 rest = elements - whole, full = rest / lanes * lanes;
    if (full != 0) write(node, {.wide = wide, .first = whole, .repeats = full / lanes}, 0);
    if (rest != full) write(node, {.wide = wide, .first = whole + full, .repeats = 1}, rest - full);
  });
  if (masked != 0) p.set_vector_mask(~u64{0}, ~u64{0});
}

void in_repeats(ProgramBuilder& p, bool wide, u64 elements, const std::function<void(u64, u64)>& body) {
  const u64 lanes = wide ? kLanes32 : kLanes16, whole = elements / lanes, rest = elements % lanes;
  for (u64 done = 0; done < whole; done += kMaxRepeats)
    body(done * lanes, std::min(kMaxRepeats, whole - done));
  if (rest != 0) {
    set_mask(p, rest);
    body(whole * lanes, 1);
    p.set_vector_mask(~u64{0}, ~u64{0});
  }
  p.pipe_barrier(PipeId::V);
}

VectorWork vector_work(const Group& group, usize first, const config::ChipConfig& chip) {
  const models::CostTable costs(chip.core);
  VectorWork out;
  for (usize i = first; i < group.vector_end(); ++i) {
    const Node& node = *group.nodes()[i];
    // The node on its own, on 128 elements in buffers anywhere.
    ProgramBuilder p("work", chip.arch);
    const u64 repeats = is_wide(group, node) ? kLanes16 / kLanes32 : 1;
    VectorWriter w(p, {.wide = repeats != 1, .first = 0, .repeats = repeats}, 0, kLanes16 * 4);
    Operands x;
    for (usize o = 0; o < std::min(tensor_operands(node), kMostOperands); ++o)
      x.scalar[o] = scalar(group.resolve(node.input(o)));
    find_vector_op(node.type)->write(w, x, node);
    p.end();
    const isa::BuiltProgram built = p.finish();
    for (const isa::Word& word : built.program().code) {
      const isa::Inst inst = isa::decode(word);
      if (!inst.row->name.starts_with('v')) continue;
      const config::CostLine& line = costs.line(*inst.row, inst.type, {});
      out.cycles += line.per_step() * static_cast<double>(repeats);
      out.once += line.head + line.startup + line.tail;
    }
  }
  return out;
}

Temporaries temporaries(const Group& group, usize first) {
  Temporaries out;
  std::map<const Value*, usize> last;  // node that reads it last
  for (usize i = first; i < group.vector_end(); ++i) {
    for (const auto* const v : group.nodes()[i]->inputs())
      last[v] = i;
  }
  std::map<const Value*, u32> live;
  std::set<u32> free;
  for (usize i = first; i < group.vector_end(); ++i) {
    const auto* const made = group.nodes()[i]->output();
    const bool outer = group.resolve(made) != made || group.node().type != "FusedOp";
    if (!outer) {
      if (free.empty()) free.insert(out.count++);
      const u32 buffer = *free.begin();
      free.erase(free.begin());
      out.of[made] = live[made] = buffer;
    }
    for (auto at = live.begin(); at != live.end();) {
      if (last.contains(at->first) && last[at->first] > i) {
        ++at;
      } else {
        free.insert(at->second);
        at = live.erase(at);
      }
    }
  }
  return out;
}

}  // namespace vinci::graph
