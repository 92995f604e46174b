// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "isa/numeric/convert.h"
#include "isa/numeric/lanes.h"
#include "tests/unit/isa/numeric_oracle.h"

// Operands for comparisons of lane kernels.
namespace vinci::isa {

// Each value of each mode.
inline constexpr std::array kModes{LaneMode{OverflowMode::inf_nan, false, Precision::high_performance},
                                   LaneMode{OverflowMode::saturation, true, Precision::high_precision}};

// Numbers that are special to some operation or cast of floats.
inline std::vector<float> special_values() {
  std::vector<float> out;
  for (const double x : {0.0,
                         0x1p-149,
                         0x1p-133,
                         0x1p-127,
                         0x1p-126,
                         0x1p-75,
                         0x1p-26,
                         0x1.000002p-25,
                         0x1p-25,
                         0x1p-24,
                         0x1.8p-24,
                         0x1p-15,
                         0x1p-14,
                         0x1p-12,
                         0.25,
                         0.49999997,
                         0.5,
                         0.75,
                         1.0,
                         1.5,
                         2.5,
                         3.5,
                         126.5,
                         127.0,
                         127.5,
                         128.0,
                         128.5,
                         254.5,
                         255.0,
                         255.5,
                         256.0,
                         2047.0,
                         2049.0,
                         8388607.5,
                         8388609.0,
                         32767.0,
                         32767.5,
                         32768.0,
                         32768.5,
                         65504.0,
                         65519.0,
                         65520.0,
                         65536.0,
                         0x1p24,
                         0x1.fffffep30,
                         0x1p31,
                         0x1.000002p31,
                         0x1p63,
                         0x1.fep127,
                         0x1.ffp127,
                         0x1.fffffep127,
                         HUGE_VAL}) {
    out.push_back(static_cast<float>(x));
    out.push_back(static_cast<float>(-x));
  }
  return out;
}

class Samples {
 public:
  Samples(LaneType type, u64 seed) : type_(type), random_(seed) {
    if (is_float(type)) {
      for (const float x : special_values())
        specials_.push_back(encode(x));
      const u64 nan = type == LaneType::f32 ? kF32Nan : type == LaneType::f16 ? kF16Nan : kBf16Nan;
      for (const u64 x : {nan, nan + 1, nan - 1})
        specials_.push_back(x);
    } else {
      const u64 top = u64{1} << (lane_bits(type) - 1);
      specials_ = {0, 1, 2, top - 2, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, 0x7f, 0x80, 0xff80, 0x7fff};
    }
  }
  const std::vector<u64>& specials() const { return specials_; }

  // Any bits; ordinary numbers; ordinary numbers with one special lane; few different numbers, which often cancel.
  LaneBuffer next(usize kind) {
    LaneBuffer out{};
    const usize special = random_.next() % lanes();
    for (usize i = 0; i < lanes(); ++i) {
      const u64 r = random_.next();
      const double few = static_cast<double>(r % 9) - 4;
      set(out, i,
          kind == 0                   ? r
          : kind == 2 && i == special ? specials_[r % specials_.size()]
          : kind == 3                 ? encode(std::ldexp(few, -static_cast<int>(r >> 20 & 3) * 6))
                                      : encode(static_cast<double>(static_cast<i64>(r) >> 32) * 0x1p-27));
    }
    return out;
  }
  LaneBuffer uniform(u64 bits) const {
    LaneBuffer out{};
    for (usize i = 0; i < lanes(); ++i)
      set(out, i, bits);
    return out;
  }

 private:
  usize lanes() const { return 8 * kRepeatBytes / lane_bits(type_); }
  u64 encode(double x) const {
    switch (type_) {
      case LaneType::f32: return std::bit_cast<u32>(static_cast<float>(x));
      case LaneType::f16: return f16_bits(x);
      case LaneType::bf16: return bf16_bits(x);
      default: return static_cast<u64>(static_cast<i64>(x * 3));
    }
  }
  void set(LaneBuffer& out, usize i, u64 bits) const {
    if (type_ == LaneType::s4) {
      out.bytes[i / 2] |= static_cast<std::byte>((bits & 15) << (i % 2 * 4));
    } else {
      std::memcpy(out.bytes.data() + i * lane_bytes(type_), &bits, lane_bytes(type_));
    }
  }

  LaneType type_;
  oracle::Random random_;
  std::vector<u64> specials_;
};

// One operand of a test: buffers of all kinds, then every special value in all lanes. With `turn`, the specials of two
// operands meet in other pairs.
inline std::vector<LaneBuffer> samples(LaneType type, u64 seed, usize count, usize turns = 1, usize turn = 0) {
  static const u64 base = oracle::seed(0);
  Samples s(type, base + seed);
  std::vector<LaneBuffer> out;
  for (usize i = 0; i < count; ++i)
    out.push_back(s.next(i % 4));
  const usize n = s.specials().size();
  for (usize i = 0; i < turns * n; ++i)
    out.push_back(s.uniform(s.specials()[(i + turn * (i / n)) % n]));
  return out;
}

}  // namespace vinci::isa
