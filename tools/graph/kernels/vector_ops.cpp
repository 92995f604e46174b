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

#include "isa/base/error.h"
#include "tools/graph/passes/match.h"

namespace vinci::graph {
namespace {

using isa::PipeId;
using isa::ProgramBuilder;
using isa::Type;

constexpr u64 kLanes16 = 128, kLanes32 = 64;

constexpr u64 kMaxRepeats = 255;

// Instructions of one node, for a part of the elements: whole repeats, or the rest as one repeat with a mask.
class Writer {
 public:
  Writer(ProgramBuilder& p, bool wide, u64 from, u64 repeats) : p_(p), wide_(wide), from_(from), repeats_(repeats) {}

  void unary(std::string_view name, u64 dst, u64 src) {
    each([&](u64 e, u64 n) { p_.call(name, type(), {dst + e * bytes(), src + e * bytes(), n, 1, 1, 8, 8}); });
  }
  void scalar(std::string_view name, u64 dst, u64 src, double by) {
    each([&](u64 e, u64 n) {
      p_.call(name, type(), {dst + e * bytes(), src + e * bytes(), number(by), n, 1, 1, 8, 8});
    });
  }
  // An operand that is one block for all positions does not move on.
  void binary(std::string_view name, u64 dst, u64 a, u64 b, bool a_is_block = false, bool b_is_block = false) {
    const u64 a_step = a_is_block ? 0 : 1, b_step = b_is_block ? 0 : 1;
    each([&](u64 e, u64 n) {
      p_.call(name, type(),
              {dst + e * bytes(), a + a_step * e * bytes(), b + b_step * e * bytes(), n, 1, a_step, b_step, 8,
               8 * a_step, 8 * b_step});
    });
  }
  void fill(u64 dst, double value) {
    each([&](u64 e, u64 n) { p_.vector_dup(type(), dst + e * bytes(), number(value), n, 1, 1, 8, 8); });
  }
  // 64 lanes are 4 blocks of f16 and 8 of f32.
  void to_f16(u64 dst, u64 src) {
    each([&](u64 e, u64 n) { p_.vconv_f322f16(dst + e * 2, src + e * 4, n, 1, 1, 4, 8); });
  }
  void to_f32(u64 dst, u64 src) {
    each([&](u64 e, u64 n) { p_.vconv_f162f32(dst + e * 4, src + e * 2, n, 1, 1, 8, 4); });
  }

 private:
  Type type() const { return wide_ ? Type::f32 : Type::f16; }
  u64 bytes() const { return wide_ ? 4 : 2; }
  u64 lanes() const { return wide_ ? kLanes32 : kLanes16; }
  isa::Value number(double v) const {
    return wide_ ? isa::f32(static_cast<float>(v)) : isa::f16(static_cast<float>(v));
  }
  // body(first element, repeats) for as many repeats as one instruction takes; the next instruction may read the
  // result.
  template <class Body>
  void each(const Body& body) {
    for (u64 done = 0; done < repeats_; done += kMaxRepeats)
      body(from_ + done * lanes(), std::min(kMaxRepeats, repeats_ - done));
    p_.pipe_barrier(PipeId::V);
  }

  ProgramBuilder& p_;
  bool wide_;
  u64 from_, repeats_;
};

// The first `count` lanes.
void set_mask(ProgramBuilder& p, u64 count) {
  const auto bits = [](u64 n) { return n >= 64 ? ~u64{0} : (u64{1} << n) - 1; };
  p.set_vector_mask(count > 64 ? bits(count - 64) : 0, bits(count));
}

struct Operands {
  u64 dst = 0;
  std::array<u64, 2> src{};
  std::array<std::optional<double>, 2> scalar{};  // in place of an address
  std::array<bool, 2> block{};                    // one block for all positions
};
using Write = void (*)(Writer& w, const Operands& x, const Node& node);

template <const char* name>
void write_unary(Writer& w, const Operands& x, const Node&) {
  w.unary(name, x.dst, x.src[0]);
}
constexpr char kVRelu[] = "vrelu", kVExp[] = "vexp", kVLog[] = "vln", kVSqrt[] = "vsqrt", kVAbs[] = "vabs";

// A sum or product; one operand may be a number.
template <const char* two, const char* one>
void write_commutative(Writer& w, const Operands& x, const Node&) {
  if (x.scalar[0]) return w.scalar(one, x.dst, x.src[1], *x.scalar[0]);
  if (x.scalar[1]) return w.scalar(one, x.dst, x.src[0], *x.scalar[1]);
  w.binary(two, x.dst, x.src[0], x.src[1], x.block[0], x.block[1]);
}
constexpr char kVAdd[] = "vadd", kVAdds[] = "vadds", kVMul[] = "vmul", kVMuls[] = "vmuls", kVMax[] = "vmax",
               kVMaxs[] = "vmaxs", kVMin[] = "vmin", kVMins[] = "vmins";

void write_subtract(Writer& w, const Operands& x, const Node&) {
  if (x.scalar[1]) return w.scalar("vadds", x.dst, x.src[0], -*x.scalar[1]);
  if (!x.scalar[0]) return w.binary("vsub", x.dst, x.src[0], x.src[1], x.block[0], x.block[1]);
  w.scalar("vmuls", x.dst, x.src[1], -1);
  w.scalar("vadds", x.dst, x.dst, *x.scalar[0]);
}
void write_divide(Writer& w, const Operands& x, const Node&) {
  w.binary("vdiv", x.dst, x.src[0], x.src[1], x.block[0], x.block[1]);
}
void write_negate(Writer& w, const Operands& x, const Node&) { w.scalar("vmuls", x.dst, x.src[0], -1); }
void write_clip(Writer& w, const Operands& x, const Node& node) {
  u64 from = x.src[0];
  if (const auto low = scalar(node.input(1))) {
    w.scalar("vmaxs", x.dst, from, *low);
    from = x.dst;
  }
  if (const auto high = scalar(node.input(2))) w.scalar("vmins", x.dst, from, *high);
}
void write_cast(Writer& w, const Operands& x, const Node& node) {
  if (node.output()->type == node.input(0)->type) return w.scalar("vmuls", x.dst, x.src[0], 1);
  node.output()->type == DataType::f16 ? w.to_f16(x.dst, x.src[0]) : w.to_f32(x.dst, x.src[0]);
}

struct VectorOp {
  std::string_view type;
  Write write;
  bool takes_number = false;  // in place of a tensor
};
constexpr auto kVectorOps = std::to_array<VectorOp>({
    {"Abs", write_unary<kVAbs>},
    {"Add", write_commutative<kVAdd, kVAdds>, true},
    {"Cast", write_cast},
    {"ClipByValue", write_clip},
    {"Exp", write_unary<kVExp>},
    {"Log", write_unary<kVLog>},
    {"Maximum", write_commutative<kVMax, kVMaxs>, true},
    {"Minimum", write_commutative<kVMin, kVMins>, true},
    {"Mul", write_commutative<kVMul, kVMuls>, true},
    {"Neg", write_negate},
    {"RealDiv", write_divide},
    {"Relu", write_unary<kVRelu>},
    {"Sqrt", write_unary<kVSqrt>},
    {"Sub", write_subtract, true},
});

const VectorOp* find_vector_op(std::string_view type) {
  const auto at = std::ranges::find(kVectorOps, type, &VectorOp::type);
  return at == kVectorOps.end() ? nullptr : at;
}

bool float_16_or_32(DataType t) { return t == DataType::f16 || t == DataType::f32; }

// Operands that are tensors: those of a clip beside the first one are numbers of its own.
usize tensor_operands(const Node& node) { return node.type == "ClipByValue" ? 1 : node.inputs().size(); }

std::string node_refuses(const Group& group, const Node& node) {
  const VectorOp* const op = find_vector_op(node.type);
  if (op == nullptr) return fmt::format("no vector instructions for {}", node.type);
  const auto& out = *group.resolve(node.output());
  if (!float_16_or_32(out.type)) return fmt::format("{} is of type {}", out.name, info(out.type).name);
  for (usize i = 0; i < node.inputs().size(); ++i) {
    const Value* const in = group.resolve(node.input(i));
    if (i >= tensor_operands(node)) {
      if (in != nullptr && !scalar(in)) return fmt::format("operand {} of {} is no constant number", i, node.name);
      continue;
    }
    if (scalar(in)) {
      if (op->takes_number) continue;
      return fmt::format("operand {} of {} is a number", i, node.name);
    }
    if (!float_16_or_32(in->type)) return fmt::format("{} is of type {}", in->name, info(in->type).name);
    if (is_by_channel(*in, out) && node.inputs().size() == 2 && in->type == DataType::f16 && out.type == DataType::f16)
      continue;
    if (in->shape != out.shape || in->format != out.format)
      return fmt::format("{} has another shape or format than {}", in->name, out.name);
    if (node.type != "Cast" && in->type != out.type) return fmt::format("{} and {} differ in type", in->name, out.name);
  }
  return "";
}

}  // namespace

bool is_by_channel(const Value& operand, const Value& map) {
  const Shape &o = operand.shape, &m = map.shape;
  if (map.format != isa::Format::NC1HWC0 || operand.format != isa::Format::NC1HWC0 || !o.known() || !m.known())
    return false;
  return o.rank() == 4 && m.rank() == 4 && o != m && (o[0] == 1 || o[0] == m[0]) && o[1] == m[1] && o[2] == 1 &&
         o[3] == 1;
}

std::string vector_refuses(const Group& group, usize first, const config::ChipConfig&) {
  for (usize i = first; i < group.nodes().size(); ++i) {
    if (std::string reason = node_refuses(group, *group.nodes()[i]); !reason.empty()) return reason;
  }
  return "";
}

void write_vector_nodes(ProgramBuilder& p, const Group& group, usize first, const Addresses& at, u64 elements) {
  // All nodes of whole repeats of the narrow lanes first, then all nodes of the rest: the mask changes seldom.
  const u64 whole = elements / kLanes16 * kLanes16;
  u64 masked = 0;  // lanes of the mask that is set; 0: all
  const auto write = [&](const Node& node, bool wide, u64 from, u64 repeats, u64 mask) {
    if (masked != mask) {
      mask == 0 ? p.set_vector_mask(~u64{0}, ~u64{0}) : set_mask(p, mask);
      masked = mask;
    }
    Writer w(p, wide, from, repeats);
    Operands x{.dst = at(node.output())};
    for (usize o = 0; o < std::min<usize>(tensor_operands(node), 2); ++o) {
      if (const auto number = scalar(group.resolve(node.input(o)))) {
        x.scalar[o] = number;
      } else {
        x.src[o] = at(node.input(o));
        x.block[o] = is_by_channel(*group.resolve(node.input(o)), *group.resolve(node.output()));
      }
    }
    find_vector_op(node.type)->write(w, x, node);
  };
  const auto each = [&](const auto& body) {
    for (usize i = first; i < group.nodes().size(); ++i) {
      const Node& node = *group.nodes()[i];
      // A Cast has the lanes of the wider type.
      const bool wide =
          group.resolve(node.output())->type == DataType::f32 || group.resolve(node.input(0))->type == DataType::f32;
      body(node, wide, wide ? kLanes32 : kLanes16);
    }
  };
  if (whole != 0) each([&](const Node& node, bool wide, u64 lanes) { write(node, wide, 0, whole / lanes, 0); });
  if (whole == elements) return;
  each([&](const Node& node, bool wide, u64 lanes) {
    const u64 rest = elements - whole, full = rest / lanes * lanes;
    if (full != 0) write(node, wide, whole, full / lanes, 0);
    if (rest != full) write(node, wide, whole + full, 1, rest - full);
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

Temporaries temporaries(const Group& group, usize first) {
  Temporaries out;
  std::map<const Value*, usize> last;  // node that reads it last
  for (usize i = first; i < group.nodes().size(); ++i) {
    for (const auto* const v : group.nodes()[i]->inputs())
      last[v] = i;
  }
  std::map<const Value*, u32> live;
  std::set<u32> free;
  for (usize i = first; i < group.nodes().size(); ++i) {
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
