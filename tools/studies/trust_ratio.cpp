// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/trust_ratio.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isa/base/random.h"
#include "tools/studies/stream_parts.h"

namespace vinci::studies {
namespace {

using isa::PipeId, isa::ProgramBuilder, isa::Reg, isa::Type;

constexpr u64 kTensors = 16, kElements = 8192, kRepeats = kElements / 64;
constexpr float kRate = 0x1p-7f, kEpsilon = 0x1p-80f;

class Update {
 public:
  Update(isa::Arch arch, TrustRatio kind) : kind_(kind), p_(kind == TrustRatio::lars ? "lars" : "lamb", arch) {}

  // Arguments: w, g.
  isa::BuiltProgram program() {
    const Reg w = p_.arg("w"), g = p_.arg("g"), at = p_.reg("at");
    p_.get_block_idx(at);
    p_.mul(at, at, kElements * 4);
    p_.add(w, w, at);
    p_.add(g, g, at);
    p_.copy_gm_to_ubuf(kW, w, 0, 1, kElements * 4 / 32, 0, 0);
    p_.copy_gm_to_ubuf(kG, g, 0, 1, kElements * 4 / 32, 0, 0);
    p_.hand_over(PipeId::MTE2, PipeId::V, 0);
    if (kind_ == TrustRatio::lamb) divide_by_size();
    norm(kW, kNormW);
    norm(kG, kNormG);
    // rate * |w| / |g| in all lanes, and the update.
    p_.vdiv(Type::f32, kNormW, kNormW, kNormG, 1, 1, 1, 1, 8, 8, 8);
    p_.pipe_barrier(PipeId::V);
    p_.vmuls(Type::f32, kNormW, kNormW, isa::f32(-kRate), 1, 1, 1, 8, 8);
    p_.pipe_barrier(PipeId::V);
    p_.vmul(Type::f32, kG, kG, kNormW, kRepeats, 1, 1, 1, 8, 8, 0);
    p_.pipe_barrier(PipeId::V);
    p_.vadd(Type::f32, kW, kW, kG, kRepeats, 1, 1, 1, 8, 8, 8);
    p_.hand_over(PipeId::V, PipeId::MTE3, 0);
    p_.copy_ubuf_to_gm(w, kW, 0, 1, kElements * 4 / 32, 0, 0);
    p_.end_block();
    return p_.finish();
  }

 private:
  static constexpr u64 kW = 0, kG = kElements * 4, kSquares = 2 * kElements * 4, kNormW = 3 * kElements * 4,
                       kNormG = kNormW + 256, kPart = kNormG + 256;

  // g / (|g| + epsilon).
  void divide_by_size() {
    p_.vabs(Type::f32, kSquares, kG, kRepeats, 1, 1, 8, 8);
    p_.pipe_barrier(PipeId::V);
    p_.vadds(Type::f32, kSquares, kSquares, isa::f32(kEpsilon), kRepeats, 1, 1, 8, 8);
    p_.pipe_barrier(PipeId::V);
    p_.vdiv(Type::f32, kG, kG, kSquares, kRepeats, 1, 1, 1, 8, 8, 8);
    p_.pipe_barrier(PipeId::V);
  }
  // The norm of a tensor in the 64 lanes at `to`: squares, halves added to each other, the sum of the last 64 from the
  // reduction of a repeat, and its root.
  void norm(u64 of, u64 to) {
    p_.vmul(Type::f32, kSquares, of, of, kRepeats, 1, 1, 1, 8, 8, 8);
    p_.pipe_barrier(PipeId::V);
    for (u64 half = kRepeats / 2; half > 0; half /= 2) {
      p_.vadd(Type::f32, kSquares, kSquares, kSquares + half * 256, half, 1, 1, 1, 8, 8, 8);
      p_.pipe_barrier(PipeId::V);
    }
    p_.vcadd(Type::f32, kPart, kSquares, 1, 1, 1, 8);
    p_.hand_over(PipeId::V, PipeId::S, 0);
    const auto scope = p_.scope();
    const Reg sum = p_.reg("sum");
    p_.ld_ubuf(Type::b32, sum, kPart);
    p_.hand_over(PipeId::S, PipeId::V, 0);
    p_.vector_dup(Type::f32, to, sum, 1, 1, 1, 8, 8);
    p_.pipe_barrier(PipeId::V);
    p_.vsqrt(Type::f32, to, to, 1, 1, 1, 8, 8);
    p_.pipe_barrier(PipeId::V);
  }

  const TrustRatio kind_;
  ProgramBuilder p_;
};

std::vector<float> run(const Study& study, TrustRatio kind, const std::string& name, const std::vector<float>& w,
                       const std::vector<float>& g) {
  const config::ChipConfig& chip = study.chip();
  task::StreamBuilder s(name, chip.arch);
  const task::BufferRef w_dev = s.device("w_dev", w.size() * 4), g_dev = s.device("g_dev", g.size() * 4);
  task::StreamRef main = s.stream("main");
  const auto type = chip.vector_cores > 0 ? task::KernelType::AIV_ONLY : task::KernelType::AI_CORE;
  main.memcpy(w_dev, s.host_data<float>("w", "f4", w)).memcpy(g_dev, s.host_data<float>("g", "f4", g));
  main.launch(s.kernel("update", type, Update(chip.arch, kind).program()), kTensors, {w_dev, g_dev});
  main.memcpy(s.host({.name = "after", .output = "after.npy", .dtype = "f4", .shape = {w.size()}}), w_dev);
  s.thread("main").enqueue(main);
  return study.run(name, s.finish()).values<float>("after");
}

}  // namespace

TrustRatioFound check_trust_ratio(const Study& study, TrustRatio kind) {
  Random random(32);
  std::vector<float> w(kTensors * kElements), g(w.size()), large(w.size());
  for (u64 i = 0; i < w.size(); ++i) {
    const int size = static_cast<int>(i / kElements);  // tensors of many sizes
    w[i] = std::ldexp(random.uniform(), size % 4 - 4);
    g[i] = std::ldexp(random.uniform(), -size);
    large[i] = std::ldexp(g[i], 10);
  }
  const std::string name = kind == TrustRatio::lars ? "lars" : "lamb";
  const std::vector<float> after = run(study, kind, name, w, g), scaled = run(study, kind, name + "-scaled", w, large);
  TrustRatioFound found;
  for (u64 t = 0; t < kTensors; ++t) {
    double norm_w = 0, norm_u = 0;
    const auto direction = [&](u64 i) {
      return kind == TrustRatio::lars ? double{g[i]} : g[i] / (std::fabs(double{g[i]}) + kEpsilon);
    };
    for (u64 i = t * kElements; i < (t + 1) * kElements; ++i)
      norm_w += double{w[i]} * w[i], norm_u += direction(i) * direction(i);
    for (u64 i = t * kElements; i < (t + 1) * kElements; ++i) {
      const double update = kRate * std::sqrt(norm_w / norm_u) * direction(i);
      const double size = std::fabs(w[i]) + std::fabs(update);
      found.error = std::max(found.error, std::fabs(after[i] - (w[i] - update)) / size * 0x1p23);
      found.scaled = std::max(found.scaled, std::fabs(double{after[i]} - scaled[i]) / size * 0x1p23);
    }
  }
  return found;
}

}  // namespace vinci::studies
