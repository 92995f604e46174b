// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "isa/base/random.h"
#include "isa/census/execute.h"
#include "isa/table/spr.h"
#include "isa/table/table.h"
#include "tests/unit/isa/census_model.h"
#include "tests/unit/isa/test_core.h"

// Compares what a census counted of one execution with what the model says.
namespace vinci::isa::model {

inline u64 setting(const char* name, u64 fallback) {
  const char* given = std::getenv(name);
  return given != nullptr ? std::strtoull(given, nullptr, 0) : fallback;
}

// What one execution should leave.
struct Expected {
  u64 results = 0, status = 0;
  std::array<u64, kNumericEvents> counts{};
  std::array<u64, kNumericEvents> first{};  // elements

  void add(const Verdict& v, u64 element) {
    ++results;
    status |= v.status;
    for (usize e = 0; e < kNumericEvents; ++e) {
      if ((v.events >> e & 1) != 0 && counts[e]++ == 0) first[e] = element;
    }
  }
};

// "" or how they differ; `status`: what the execution raised.
inline std::string differences(const Expected& expected, Census& census, u64 status) {
  const TaskCensus& task = census.of(0);
  const SiteCensus none;
  const SiteCensus& counted = task.sites.empty() ? none : task.sites.begin()->second;
  std::string what;
  const auto differ = [&](const std::string& name, u64 is, u64 should) {
    if (is != should) what += fmt::format(" {} {:#x} in place of {:#x}", name, is, should);
  };
  differ("results", counted.results, expected.results);
  differ("STATUS", status, expected.status);
  differ("first overflow", task.first_overflow.status, expected.status & status::kOverflows);
  for (usize e = 0; e < kNumericEvents; ++e) {
    const std::string name(kNumericEventNames[e]);
    differ(name, counted.counts[e], expected.counts[e]);
    if (counted.counts[e] != 0 && expected.counts[e] != 0)
      differ("first " + name, counted.first[e].element, expected.first[e]);
  }
  return what;
}

// Random instances: how many (VINCI_INSTANCES), from which seed (VINCI_SEED), and which were wrong.
class Instances {
 public:
  explicit Instances(u64 usual)
      : count(setting("VINCI_INSTANCES", usual)), seed_(setting("VINCI_SEED", 20)), random(seed_) {
    std::cout << "seed " << seed_ << " (VINCI_SEED), " << count << " instances (VINCI_INSTANCES)\n";
  }
  ~Instances() {
    u64 wrong = 0;
    std::string names;
    for (const auto& [name, n] : wrong_) {
      wrong += n;
      names += fmt::format(" {} {}", name, n);
    }
    EXPECT_EQ(wrong, 0u) << names << "\n" << example_;
    EXPECT_GT(events_, count / 4) << "the instances hardly have events";
  }
  Instances(const Instances&) = delete;
  Instances& operator=(const Instances&) = delete;

  void check(const std::string& name, const std::string& settings, const Expected& expected, Census& census,
             u64 status) {
    for (const u64 n : expected.counts)
      events_ += n;
    const std::string what = differences(expected, census, status);
    if (what.empty()) return;
    ++wrong_[name];
    if (example_.size() < 2000) example_ += fmt::format("{} ({}):{}\n", name, settings, what);
  }

  u64 count;

 private:
  u64 seed_;

 public:
  Random random;

 private:
  std::map<std::string, u64> wrong_;
  std::string example_;
  u64 events_ = 0;
};

// Values where things happen: near limits, powers of two, special ones, and pairs that absorb each other.
inline u64 draw(Random& random, LaneType type) {
  const u64 r = random.next();
  const u32 bits = lane_bits(type);
  const u64 mask = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  if (!is_float(type)) {
    const u64 sign = u64{1} << (bits - 1);
    switch (r % 6) {
      case 0: return r >> 8 & 0xf & mask;
      case 1: return (sign - 2 + (r >> 8 & 3)) & mask;
      case 2: return (mask - (r >> 8 & 3)) & mask;
      case 3: return (u64{1} << (r >> 8) % bits) & mask;
      default: return random.next() & mask;
    }
  }
  const Format f = format_of(type);
  const u64 sign = (r >> 60 & 1) << (f.bits - 1), infinity = static_cast<u64>(2 * f.most_exponent + 1) << f.fraction;
  const u64 noise = random.next() & ((u64{1} << f.fraction) - 1);
  const auto power = [&](int e) { return static_cast<u64>(e + f.most_exponent) << f.fraction; };
  switch (r % 12) {
    case 0: return sign | 0;
    case 1: return sign | infinity;
    case 2: return sign | infinity | (noise | 1);
    case 3: return sign | (infinity - 1 - (noise & 1));
    case 4: return sign | noise;  // subnormal
    case 5: return sign | power(0);
    case 6: return sign | power(static_cast<int>(random.next() % 16) - 1) | noise;
    case 7: return sign | power(f.fraction + 1);
    case 8: return sign | power(-f.fraction - 1) | (noise & 1);
    case 9: return sign | power(std::min(static_cast<int>(random.next() % 66), f.most_exponent));
    default: return random.next() & mask;
  }
}

// Arguments of an instruction by the names of its fields; those that it does not have are left out.
inline ArgsStorage args_of(const Row& row, u8 type, std::initializer_list<std::pair<std::string_view, u64>> values) {
  ArgsStorage args{};
  if (!row.types.empty()) row.set_type(args, type);
  for (const auto& [name, value] : values) {
    for (const FieldInfo& f : row.fields) {
      if (f.name == name) f.set(args, value);
    }
  }
  return args;
}

// Executes an instruction with a census.
inline void run_counted(const Row& row, u8 type, const ArgsStorage& args, TestCore& core, Census& census) {
  const Issued issued{.row = &row, .args = args, .spr = core.spr, .type = type};
  execute(issued, core.context, &census, nullptr, {}, "core0");
}

// A finite value of moderate size, so that events are rare where many meet.
inline u64 draw_moderate(Random& random, LaneType type) {
  const u64 r = random.next();
  if (!is_float(type)) return r & ((u64{1} << lane_bits(type)) - 1);
  const Format f = format_of(type);
  const u64 noise = r & ((u64{1} << f.fraction) - 1);
  const int exponent = static_cast<int>(r >> 40 & 7) - 4 + f.most_exponent;
  return (r >> 63) << (f.bits - 1) | static_cast<u64>(exponent) << f.fraction | noise;
}

}  // namespace vinci::isa::model
