// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/lanes.h"

#include <algorithm>
#include <cmath>

#include "isa/sem/fractal_kernel.h"
#include "isa/shadow/kernels.h"
#include "isa/shadow/shadow.h"

namespace vinci::isa {
namespace {

using shadow_kernels::Math;

// Operands as doubles: what the program has, and their references.
struct Operand {
  DoubleLanes value, reference;
  bool present = false, referenced = false;
  u64 ended = 0;

  Operand(const ShadowOperand& o, u32 lanes) {
    if (o.lanes == nullptr) return;
    present = true;
    shadow_kernels::lane_doubles(o.type, *o.lanes, lanes, value);
    referenced = o.planes != nullptr && is_float(o.type);
    if (referenced)
      ended = shadow_kernels::decode(lane_bytes(o.type), *o.planes, value.v.data(), reference.v.data(), lanes);
  }
  const double* values() const { return value.v.data(); }
  const double* references() const { return referenced ? reference.v.data() : value.v.data(); }
};

// A decision between two references: by the simulated operands, where they are equal by the references. Counts those
// that the references would take otherwise.
class Decisions {
 public:
  double positive(double simulated, double reference) {
    if (simulated > 0) {
      count_ += reference < 0 ? 1 : 0;
      return reference;
    }
    if (simulated < 0) {
      count_ += reference > 0 ? 1 : 0;
      return 0;
    }
    return simulated == 0 ? std::max(reference, 0.0) : reference;
  }
  double scaled_below(double simulated, double reference, double factor) {
    const bool below = simulated < 0 || (simulated == 0 && reference < 0);
    count_ += (simulated < 0 && reference > 0) || (simulated > 0 && reference < 0) ? 1 : 0;
    return below ? reference * factor : reference;
  }
  double greater(double a, double b, double x, double y) {
    count_ += (a > b && x < y) || (a < b && x > y) ? 1 : 0;
    if (a > b) return x;
    if (a < b) return y;
    return x != x || y != y ? x + y : std::max(x, y);
  }
  u64 count() const { return count_; }

 private:
  u64 count_ = 0;
};

struct Terms {
  const double* a;
  const double* b;
  const double* c;
};

Math math_of(UnaryOp op) {
  switch (op) {
    case UnaryOp::exp: return Math::exp;
    case UnaryOp::ln: return Math::ln;
    case UnaryOp::rec: return Math::rec;
    case UnaryOp::sqrt: return Math::sqrt;
    case UnaryOp::rsqrt: return Math::rsqrt;
    default: return Math::abs;
  }
}

// What stays of a sum in its larger addend: half of the bits of the type are lost.
double half_of_bits(LaneType type) { return std::ldexp(1.0, -((shadow_kernels::range_of(type).fraction + 1) / 2)); }

// Sums that lost at least half of their bits, and whose operands had errors: more than an ulp comes in.
u64 cancellations(LaneType type, const double* x, const double* y, const DoubleLanes& exact,
                  const DoubleLanes& reference, u32 lanes) {
  const double left = half_of_bits(type);
  const shadow_kernels::FloatRange range = shadow_kernels::range_of(type);
  u64 out = 0;
  for (u32 i = 0; i < lanes; ++i) {
    const double most = std::max(std::fabs(x[i]), std::fabs(y[i])), e = std::fabs(exact.v[i]);
    if (!(e <= most * left) || most == 0) continue;
    const double come_in = std::fabs(exact.v[i] - reference.v[i]);
    const double ulp = std::ldexp(1.0, std::max(e == 0 ? range.least : std::ilogb(e), range.least) - range.fraction);
    out += come_in > ulp ? 1 : 0;
  }
  return out;
}

// Computes a repeat twice: on what the program has, and on the references.
class Twice {
 public:
  Twice(const ShadowLanes& s, const Operand& a, const Operand& b, const Operand& old)
      : s_(s), a_(a), b_(b), old_(old), referenced_(a.referenced || b.referenced || old.referenced) {}

  bool referenced() const { return referenced_; }
  // False: the operation is not one of floating-point numbers.
  bool compute(DoubleLanes& exact, DoubleLanes& reference) {
    switch (s_.op.kind) {
      case LaneOp::Kind::bits: return false;
      case LaneOp::Kind::unary: return unary(static_cast<UnaryOp>(s_.op.op), exact, reference);
      case LaneOp::Kind::binary: return binary(static_cast<BinaryOp>(s_.op.op), exact, reference);
      case LaneOp::Kind::ternary: return ternary(static_cast<TernaryOp>(s_.op.op), exact, reference);
      case LaneOp::Kind::scale: both(Math::mul, exact, reference); return true;
      case LaneOp::Kind::convert: break;
    }
    copy(exact, reference);
    return true;
  }
  u64 decided() const { return decisions_.count(); }
  u64 cancelled() const { return cancelled_; }

 private:
  Terms simulated() const { return {a_.values(), b_.values(), old_.values()}; }
  Terms references() const { return {a_.references(), b_.references(), old_.references()}; }

  void both(Math op, DoubleLanes& exact, DoubleLanes& reference) {
    both(op, simulated(), references(), exact, reference);
  }
  void both(Math op, const Terms& v, const Terms& r, DoubleLanes& exact, DoubleLanes& reference) {
    shadow_kernels::apply(op, v.a, v.b, v.c, exact.v.data(), s_.lanes);
    if (referenced_) {
      shadow_kernels::apply(op, r.a, r.b, r.c, reference.v.data(), s_.lanes);
    } else {
      std::copy_n(exact.v.begin(), s_.lanes, reference.v.begin());
    }
  }
  void copy(DoubleLanes& exact, DoubleLanes& reference) const {
    std::copy_n(a_.values(), s_.lanes, exact.v.begin());
    std::copy_n(a_.references(), s_.lanes, reference.v.begin());
  }
  // relu of what was computed.
  void keep_positive(DoubleLanes& exact, DoubleLanes& reference) {
    for (u32 i = 0; i < s_.lanes; ++i) {
      const double before = exact.v[i];
      reference.v[i] = decisions_.positive(before, reference.v[i]);
      exact.v[i] = before > 0 || before != before ? before : 0;
    }
  }
  void look_for_cancellation(const double* x, const double* y, const DoubleLanes& exact, const DoubleLanes& reference) {
    if (referenced_) cancelled_ += cancellations(s_.dst, x, y, exact, reference, s_.lanes);
  }

  bool unary(UnaryOp op, DoubleLanes& exact, DoubleLanes& reference) {
    if (op == UnaryOp::not_) return false;
    if (op != UnaryOp::relu) {
      both(math_of(op), exact, reference);
      return true;
    }
    copy(exact, reference);
    keep_positive(exact, reference);
    return true;
  }

  bool binary(BinaryOp op, DoubleLanes& exact, DoubleLanes& reference) {
    const Terms v = simulated(), r = references();
    switch (op) {
      case BinaryOp::add:
      case BinaryOp::add_relu:
      case BinaryOp::sub:
      case BinaryOp::sub_relu:
        both(op == BinaryOp::add || op == BinaryOp::add_relu ? Math::add : Math::sub, exact, reference);
        look_for_cancellation(v.a, v.b, exact, reference);
        if (op == BinaryOp::add_relu || op == BinaryOp::sub_relu) keep_positive(exact, reference);
        return true;
      case BinaryOp::mul: both(Math::mul, exact, reference); return true;
      case BinaryOp::div: both(Math::div, exact, reference); return true;
      case BinaryOp::max:
      case BinaryOp::min: {
        const double sign = op == BinaryOp::max ? 1 : -1;
        Decisions unused;
        for (u32 i = 0; i < s_.lanes; ++i) {
          const double a = sign * v.a[i], b = sign * v.b[i];
          exact.v[i] = sign * unused.greater(a, b, a, b);
          reference.v[i] = sign * decisions_.greater(a, b, sign * r.a[i], sign * r.b[i]);
        }
        return true;
      }
      case BinaryOp::lrelu:
        for (u32 i = 0; i < s_.lanes; ++i) {
          exact.v[i] = v.a[i] < 0 ? v.a[i] * v.b[i] : v.a[i];
          reference.v[i] = decisions_.scaled_below(v.a[i], r.a[i], r.b[i]);
        }
        return true;
      default: return false;
    }
  }

  bool ternary(TernaryOp op, DoubleLanes& exact, DoubleLanes& reference) {
    const Terms v = simulated(), r = references();
    const bool mla = op == TernaryOp::mla;  // old + a * b, else old * a + b
    const Terms values = mla ? Terms{v.a, v.b, v.c} : Terms{v.c, v.a, v.b};
    both(Math::mul_add, values, mla ? Terms{r.a, r.b, r.c} : Terms{r.c, r.a, r.b}, exact, reference);
    if (referenced_) {
      DoubleLanes product;
      shadow_kernels::apply(Math::mul, values.a, values.b, nullptr, product.v.data(), s_.lanes);
      look_for_cancellation(product.v.data(), values.c, exact, reference);
    }
    if (op == TernaryOp::madd_relu) keep_positive(exact, reference);
    return true;
  }

  const ShadowLanes& s_;
  const Operand &a_, &b_, &old_;
  bool referenced_;
  Decisions decisions_;
  u64 cancelled_ = 0;
};

// A float as an integer of the cast's rounding.
double rounded(double v, RoundMode mode) {
  switch (mode) {
    case RoundMode::round: return std::round(v);
    case RoundMode::floor: return std::floor(v);
    case RoundMode::ceil: return std::ceil(v);
    case RoundMode::trunc: return std::trunc(v);
    default: return std::nearbyint(v);
  }
}

bool is_active(const LaneBits& active, u32 lane) { return (active[lane / 64] >> (lane % 64) & 1) != 0; }

}  // namespace

void shadow_kernels::lane_doubles(LaneType type, const LaneBuffer& lanes, u32 count, DoubleLanes& to) {
  switch (type) {
    case LaneType::f16: {
      alignas(64) std::array<float, kShadowLanes> wide;
      widen_f16(lanes.bytes.data(), wide.data(), count);
      for (u32 i = 0; i < count; ++i)
        to.v[i] = wide[i];
      return;
    }
    case LaneType::f32: {
      std::array<float, kRepeatBytes / sizeof(float)> some;
      std::memcpy(some.data(), lanes.bytes.data(), sizeof some);
      for (u32 i = 0; i < count; ++i)
        to.v[i] = some[i];
      return;
    }
    default:
      for (u32 i = 0; i < count; ++i)
        to.v[i] = lane_value(type, lanes, i);
  }
}

bool ShadowPoint::compute(const ShadowLanes& s, PlaneLanes& to) {
  const bool reads = s.a.planes != nullptr || s.b.planes != nullptr || s.old.planes != nullptr;
  const bool all = count_active(s.lanes, s.active) == s.lanes;
  if (!is_float(s.dst) || (s.op.kind != LaneOp::Kind::convert && !is_float(s.a.type))) {
    // Integers are their own references. Casts of references are decisions; what is made of bits ends them.
    if (!reads) return false;
    const bool cast = s.op.kind == LaneOp::Kind::convert && is_float(s.a.type);
    if (!cast) {
      to = {};
      auto* marks = reinterpret_cast<u16*>(to[kPlanes - 1].bytes.data());
      std::fill_n(marks, kRepeatBytes / sizeof(u16), reference::kEnded);
      add_ended(count_active(s.lanes, s.active));
      return true;
    }
    const Operand a(s.a, s.lanes);
    u64 decided = 0;
    for (u32 i = 0; i < s.lanes; ++i)
      decided += is_active(s.active, i) && rounded(a.value.v[i], s.round) != rounded(a.reference.v[i], s.round) ? 1 : 0;
    add_decided(decided);
    return false;
  }
  const Operand a(s.a, s.lanes), b(s.b, s.lanes), old(s.old, s.lanes);
  DoubleLanes exact, reference, value;
  Twice twice(s, a, b, old);
  shadow_kernels::lane_doubles(s.dst, *s.out, s.lanes, value);
  if (s.op.kind == LaneOp::Kind::convert && s.a.type == s.dst) {  // to an integral value: a decision
    u64 decided = 0;
    for (u32 i = 0; i < s.lanes; ++i) {
      if (a.referenced && is_active(s.active, i))
        decided += rounded(a.value.v[i], s.round) != rounded(a.reference.v[i], s.round) ? 1 : 0;
      exact.v[i] = reference.v[i] = value.v[i];
    }
    add_decided(decided);
  } else if (!twice.compute(exact, reference)) {
    to = {};
    if (!reads) return false;
    std::fill_n(reinterpret_cast<u16*>(to[kPlanes - 1].bytes.data()), kRepeatBytes / sizeof(u16), reference::kEnded);
    add_ended(count_active(s.lanes, s.active));
    return true;
  }
  if (!all) {
    for (u32 i = 0; i < s.lanes; ++i) {
      if (!is_active(s.active, i)) exact.v[i] = reference.v[i] = value.v[i] = 1;
    }
  }
  add_restarted(std::min<u64>(a.ended + b.ended + old.ended, s.lanes));
  add_decided(twice.decided());
  add_cancelled(twice.cancelled());
  count(s.dst, std::span(value.v).first(s.lanes), std::span(exact.v).first(s.lanes),
        std::span(reference.v).first(s.lanes), s.element);
  site().results -= s.lanes - count_active(s.lanes, s.active);
  shadow_kernels::encode(lane_bytes(s.dst), reference.v.data(), to, s.lanes);
  return true;
}

}  // namespace vinci::isa
