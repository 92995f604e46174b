// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "isa/numeric/lanes.h"
#include "isa/table/table.h"
#include "tests/unit/isa/test_core.h"

// A model of the vector unit for tests: one lane after the other, straight from the address formula of the public
// documentation, on a copy of UB as plain bytes.
namespace vinci::isa {

inline LaneType type_named(std::string_view name) {
  for (usize i = 0; i < kLaneTypeNames.size(); ++i) {
    if (kLaneTypeNames[i] == name) return static_cast<LaneType>(i);
  }
  ADD_FAILURE() << "no type " << name;
  return LaneType::f16;
}

// An instruction as text would give it: operands by name.
struct VectorCall {
  const Row* row = nullptr;
  u8 type = 0;
  std::map<std::string_view, u64> operands;

  explicit VectorCall(std::string_view mnemonic, std::string_view suffix = {}) : row(row_of(mnemonic)) {
    EXPECT_NE(row, nullptr) << mnemonic;
    for (usize i = 0; i < row->types.size(); ++i) {
      if (row->types[i].name == suffix) type = static_cast<u8>(i);
    }
  }
  u64 operator[](std::string_view name) const {
    const auto it = operands.find(name);
    return it == operands.end() ? 0 : it->second;
  }
  ArgsStorage args() const {
    ArgsStorage storage;
    if (row->set_type != nullptr) row->set_type(storage, type);
    for (const FieldInfo& f : row->fields) {
      const auto it = operands.find(f.name);
      f.set(storage, it == operands.end() ? f.fallback : it->second);
      EXPECT_TRUE(it == operands.end() || f.fits(it->second)) << f.name << " = " << it->second;
    }
    return storage;
  }
  void run(TestCore& core) const { row->execute(args(), core.context); }
  Footprint footprint(const TestCore& core) const { return row->footprint(args(), core.spr, core.context.arch); }
};

// Bits of a small number in a lane type.
inline u64 lane_bits_of(LaneType type, double x) {
  switch (type) {
    case LaneType::f16: return f16_bits(x);
    case LaneType::f32: return std::bit_cast<u32>(static_cast<float>(x));
    case LaneType::bf16: return std::bit_cast<u32>(static_cast<float>(x)) >> 16;
    default: return static_cast<u64>(static_cast<i64>(x)) & (~u64{0} >> (64 - lane_bits(type)));
  }
}
inline double lane_value_of(LaneType type, u64 bits) {
  switch (type) {
    case LaneType::f16: return f16_value(static_cast<u16>(bits));
    case LaneType::f32: return std::bit_cast<float>(static_cast<u32>(bits));
    case LaneType::bf16: return std::bit_cast<float>(static_cast<u32>(bits) << 16);
    default: break;
  }
  const unsigned unused = 64 - lane_bits(type);
  if (is_signed_int(type)) return static_cast<double>(static_cast<i64>(bits << unused) >> unused);
  return static_cast<double>(bits);
}

class VectorModel {
 public:
  explicit VectorModel(const TestCore& core) : core_(core) {
    const auto ub = core.mem[BufId::UB].bytes(0, core.mem[BufId::UB].size());
    bytes_.assign(ub.begin(), ub.end());
  }

  // Byte offset, and shift within the byte, of a lane.
  struct Place {
    u64 byte = 0;
    unsigned shift = 0;
  };
  static Place place(LaneType type, u64 base, u64 block_stride, u64 repeat_stride, u64 repeat, u64 lane) {
    const u64 per_block = 256 / lane_bits(type);
    const u64 bit = lane % per_block * lane_bits(type);
    return {base + repeat * repeat_stride * 32 + lane / per_block * block_stride * 32 + bit / 8,
            static_cast<unsigned>(bit % 8)};
  }

  u64 load(LaneType type, const Place& p) {
    u64 bits = 0;
    for (u64 i = 0; i < std::max(1u, lane_bits(type) / 8); ++i) {
      read_.insert((p.byte + i) / 32);
      bits |= std::to_integer<u64>(bytes_.at(p.byte + i)) << (8 * i);
    }
    return lane_bits(type) == 4 ? bits >> p.shift & 0xf : bits;
  }
  void store(LaneType type, const Place& p, u64 bits) {
    written_.insert(p.byte / 32);
    if (lane_bits(type) == 4) {
      const u64 old = std::to_integer<u64>(bytes_.at(p.byte));
      bytes_.at(p.byte) = static_cast<std::byte>((old & ~(u64{0xf} << p.shift)) | bits << p.shift);
      return;
    }
    for (u64 i = 0; i < lane_bits(type) / 8; ++i)
      bytes_.at(p.byte + i) = static_cast<std::byte>(bits >> (8 * i));
  }

  // Repeats and lanes that take part, by the rules of the mask.
  // Of vcopy: in counter mode each repeat has all the elements that are counted.
  u64 row_elements(u64 lanes) const { return counts() ? element_count() : lanes; }
  u64 repeats(u64 repeat, u64 lanes) const { return counts() ? (element_count() + lanes - 1) / lanes : repeat; }
  bool active(u64 repeat, u64 lane, u64 lanes) const {
    if (counts()) return repeat * lanes + lane < element_count();
    return (core_.spr.vector_mask[lane / 64] >> (lane % 64) & 1) != 0;
  }

  // UB of the core is that of the model, and the footprint covers what the model touched.
  void expect_same(const TestCore& core, const Footprint& footprint, const std::string& what) const {
    const auto ub = core.mem[BufId::UB].bytes(0, core.mem[BufId::UB].size());
    for (usize i = 0; i < bytes_.size() && std::memcmp(ub.data(), bytes_.data(), bytes_.size()) != 0; ++i) {
      ASSERT_EQ(static_cast<int>(ub[i]), static_cast<int>(bytes_[i])) << what << ", byte " << i;
    }
    std::set<u64> reads, writes;
    for (const Access& a : footprint) {
      if (a.empty()) continue;
      EXPECT_EQ(a.buffer, BufId::UB);
      for (u32 j = 0; j < a.count[1]; ++j) {
        for (u32 i = 0; i < a.count[0]; ++i) {
          const u64 at = a.address + static_cast<u64>(a.stride[0] * i + a.stride[1] * j);
          for (u64 block = at / 32; block * 32 < at + a.len; ++block)
            (a.write ? writes : reads).insert(block);
        }
      }
    }
    for (const u64 block : read_)
      EXPECT_TRUE(reads.count(block)) << what << " reads block " << block << " outside of its footprint";
    for (const u64 block : written_)
      EXPECT_TRUE(writes.count(block)) << what << " writes block " << block << " outside of its footprint";
    if (exact_) {
      EXPECT_EQ(reads, read_) << what;
      EXPECT_EQ(writes, written_) << what;
    }
  }
  // With a mask without holes the footprint has no block that is not touched.
  void set_exact(bool exact) { exact_ = exact; }

 private:
  bool counts() const { return (core_.spr.ctrl >> 56 & 1) != 0; }
  u64 element_count() const { return core_.spr.vector_mask[0] & 0xffffffff; }

  const TestCore& core_;
  std::vector<std::byte> bytes_;
  std::set<u64> read_, written_;  // blocks
  bool exact_ = false;
};

// Random masks of both modes; says whether the active lanes have no holes.
inline bool random_mask(TestCore& core, std::mt19937_64& random) {
  core.spr.ctrl &= ~ctrl::kCounterMode;
  switch (random() % 5) {
    case 0: core.spr.vector_mask = {~u64{0}, ~u64{0}}; return true;
    case 1: core.spr.vector_mask = {random(), random()}; return false;
    case 2: core.spr.vector_mask = {u64{1} << random() % 64, 0}; return true;
    case 3: core.spr.vector_mask = {0, random() % 2 * random()}; return false;
    default: break;
  }
  if (!contains(archs(Arch::m200, Arch::c220), core.context.arch)) {
    core.spr.vector_mask = {~u64{0} >> random() % 64, 0};
    return true;
  }
  core.spr.ctrl |= ctrl::kCounterMode;
  core.spr.vector_mask = {std::array<u64, 6>{0, 1, 64, 100, 128, 300}[random() % 6], random()};
  return true;
}

}  // namespace vinci::isa
