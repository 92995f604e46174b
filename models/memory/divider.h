// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <bit>

#include "isa/base/types.h"

namespace vinci::models {

// Division by a number that is known when a chip is built, by multiplication: every memory request divides several
// times.
class Divider {
 public:
  struct Parts {
    u64 quotient, remainder;
  };
  explicit Divider(u64 by) : by_(by), inverse_(~u64{0} / by + (by > 1 && std::has_single_bit(by) ? 1 : 0)) {}

  Parts operator()(u64 n) const {
    // The inverse is rounded down, so that the estimate is right or, at most, one or two too small; that of a power of
    // two is exact, and nothing is left to correct.
    auto q = static_cast<u64>((static_cast<Wide>(n) * inverse_) >> 64);
    u64 r = n - q * by_;
    while (r >= by_) {
      r -= by_;
      ++q;
    }
    return {q, r};
  }
  u64 by() const { return by_; }

 private:
  __extension__ using Wide = unsigned __int128;
  u64 by_;
  u64 inverse_;
};

// The same for numbers below 2^63 that mostly follow each other: it knows the latest quotient.
class NearDivider {
 public:
  explicit NearDivider(u64 by) : divide_(by) {}

  Divider::Parts operator()(u64 n) {
    if (const u64 remainder = n - begin_; remainder < divide_.by()) [[likely]]
      return {quotient_, remainder};
    const Divider::Parts out = divide_(n);
    quotient_ = out.quotient;
    begin_ = n - out.remainder;
    return out;
  }
  u64 by() const { return divide_.by(); }

 private:
  Divider divide_;
  u64 quotient_ = 0, begin_ = 0;  // of which it is the quotient, the first one
};

// 0 to `of` - 1, as if by chance, but the same for the same number.
inline u64 scattered(u64 n, u64 of) {
  const u64 mixed = (n ^ (n >> 32)) * 0x9E3779B97F4A7C15;
  return ((mixed >> 32) * of) >> 32;
}

// The same where numbers at any stride from each other have to fall as if by chance, which takes two rounds.
inline u64 by_chance(u64 n, u64 of) { return scattered((n ^ (n >> 29)) * 0xD6E8FEB86659FD93, of); }

// Places consecutive numbers on servers in turn. Every aligned group of as many numbers as there are servers meets each
// once, in an order that differs from group to group, so that strides do not camp on few of them. The hash of the
// hardware is not public. It knows the latest group.
class Interleave {
 public:
  explicit Interleave(u64 servers) : group_of_(servers), first_(scattered(0, servers)) {}

  // Which server, and the number's index among those of that server.
  struct Place {
    u64 index, server;
  };
  Place operator()(u64 n) {
    const auto [group, member] = group_of_(n);
    if (group != group_) [[unlikely]] {
      group_ = group;
      first_ = scattered(group, servers());
    }
    const u64 server = member + first_;
    return {group, server < servers() ? server : server - servers()};
  }
  u64 servers() const { return group_of_.by(); }

 private:
  NearDivider group_of_;
  u64 group_ = 0, first_;  // where its first number is
};

}  // namespace vinci::models
