// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/shadow/lanes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "isa/census/lanes.h"
#include "isa/shadow/kernels.h"

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

struct Addresses {
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
  u64 decided() const { return decided_; }
  u64 cancelled() const { return cancelled_; }

 private:
  Addresses simulated() const { return {a_.values(), b_.values(), old_.values()}; }
  Addresses references() const { return {a_.references(), b_.references(), old_.references()}; }
  shadow_kernels::Terms terms() const { return {a_.values(), b_.values(), a_.references(), b_.references()}; }

  void both(Math op, DoubleLanes& exact, DoubleLanes& reference) {
    both(op, simulated(), references(), exact, reference);
  }
  void both(Math op, const Addresses& v, const Addresses& r, DoubleLanes& exact, DoubleLanes& reference) {
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
  void keep_positive(DoubleLanes& exact, DoubleLanes& reference) {
    decided_ += shadow_kernels::keep_positive(exact.v.data(), reference.v.data(), s_.lanes);
  }
  void look_for_cancellation(const double* x, const double* y, const DoubleLanes& exact, const DoubleLanes& reference) {
    if (!referenced_) return;
    cancelled_ += shadow_kernels::cancellations(shadow_kernels::range_of(s_.dst),
                                                {x, y, exact.v.data(), reference.v.data()}, s_.lanes);
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
    switch (op) {
      case BinaryOp::add:
      case BinaryOp::add_relu:
      case BinaryOp::sub:
      case BinaryOp::sub_relu:
        both(op == BinaryOp::add || op == BinaryOp::add_relu ? Math::add : Math::sub, exact, reference);
        look_for_cancellation(a_.values(), b_.values(), exact, reference);
        if (op == BinaryOp::add_relu || op == BinaryOp::sub_relu) keep_positive(exact, reference);
        return true;
      case BinaryOp::mul: both(Math::mul, exact, reference); return true;
      case BinaryOp::div: both(Math::div, exact, reference); return true;
      case BinaryOp::max:
      case BinaryOp::min:
        decided_ += shadow_kernels::choose(op == BinaryOp::max, terms(), exact.v.data(), reference.v.data(), s_.lanes);
        return true;
      case BinaryOp::lrelu:
        decided_ += shadow_kernels::scale_negative(terms(), exact.v.data(), reference.v.data(), s_.lanes);
        return true;
      default: return false;
    }
  }

  bool ternary(TernaryOp op, DoubleLanes& exact, DoubleLanes& reference) {
    const Addresses v = simulated(), r = references();
    const bool mla = op == TernaryOp::mla;  // old + a * b, else old * a + b
    const Addresses values = mla ? v : Addresses{v.c, v.a, v.b};
    both(Math::mul_add, values, mla ? r : Addresses{r.c, r.a, r.b}, exact, reference);
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
  u64 decided_ = 0, cancelled_ = 0;
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

// What is made of bits that had references.
void end_lanes(const ShadowLanes& s, const PlanesTo& to) {
  const usize bytes = usize{s.lanes} * lane_bits(s.dst) / 8;
  for (u32 p = 0; p + 1 < kPlanes; ++p)
    std::memset(to[p], 0, bytes);
  std::fill_n(reinterpret_cast<u16*>(to[kPlanes - 1]), bytes / sizeof(u16), reference::kEnded);
}

}  // namespace

void exact_results(const ShadowLanes& s, DoubleLanes& exact) {
  ShadowLanes simulated = s;
  for (ShadowOperand* o : {&simulated.a, &simulated.b, &simulated.old})
    o->planes = nullptr;
  const Operand a(simulated.a, s.lanes), b(simulated.b, s.lanes), old(simulated.old, s.lanes);
  DoubleLanes reference;  // the same
  VINCI_CHECK(Twice(simulated, a, b, old).compute(exact, reference));
}

bool ShadowPoint::compute(const ShadowLanes& s, const PlanesTo& to) {
  const bool reads = s.a.planes != nullptr || s.b.planes != nullptr || s.old.planes != nullptr;
  const bool all = count_active(s.lanes, s.active) == s.lanes;
  if (!is_float(s.dst) || (s.op.kind != LaneOp::Kind::convert && !is_float(s.a.type))) {
    // Integers are their own references. Casts of references are decisions; what is made of bits ends them.
    if (!reads) return false;
    const bool cast = s.op.kind == LaneOp::Kind::convert && is_float(s.a.type);
    if (!cast) {
      end_lanes(s, to);
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
    if (!reads) return false;
    end_lanes(s, to);
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
