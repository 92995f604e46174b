// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/fold.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "isa/base/error.h"

namespace vinci::task {
namespace {

using isa::Word;

Word plus(const Word& a, const Word& b) {
  Word out{};
  u64 carry = 0;
  for (usize i = 0; i < out.size(); ++i) {
    const u64 sum = a[i] + b[i];
    out[i] = sum + carry;
    carry = (sum < a[i] ? 1u : 0u) | (out[i] < sum ? 1u : 0u);
  }
  return out;
}

Word minus(const Word& a, const Word& b) {
  Word out{};
  u64 borrow = 0;
  for (usize i = 0; i < out.size(); ++i) {
    const u64 difference = a[i] - b[i];
    out[i] = difference - borrow;
    borrow = (a[i] < b[i] ? 1u : 0u) | (difference < borrow ? 1u : 0u);
  }
  return out;
}

// Repeats shorter than this are stated.
constexpr u32 kShortest = 4;
// Repeats are looked for where so many instructions in a row have occurred before, at the latest places.
constexpr u32 kWindow = 3;
constexpr usize kPlaces = 8;
class Folder {
 public:
  Folder(std::span<const FoldedInst> code, int depth) : code_(code), depth_(depth) {}

  FoldedCode run() {
    FoldedCode out;
    const auto n = static_cast<u32>(code_.size());
    for (u32 i = 0; i < n;) {
      Repeat best = find(i);
      if (best.length == 0) {
        out.stated.push_back(code_[i]);
        remember(i++);
        continue;
      }
      for (u32 k = 0; k < best.length; ++k)
        remember(i + k);
      i += best.length;
      out.repeats.push_back(std::move(best));
    }
    return out;
  }

 private:
  // What an instruction has in common with those that it repeats: opcode, type and place; of a step, all.
  u64 key(u32 i) const {
    const FoldedInst& s = code_[i];
    u64 h = s.word[0];
    if (depth_ == 0) {
      h = (h & 0xffff) | u64{s.line} << 16 | u64{s.file} << 48;
    } else {
      for (usize k = 1; k < s.word.size(); ++k)
        h = h * 0x9e3779b97f4a7c15 + s.word[k];
    }
    return h;
  }
  u64 window(u32 i) const {
    u64 h = 0;
    for (u32 k = 0; k < kWindow; ++k)
      h = (h ^ key(i + k)) * 0x9e3779b97f4a7c15 + (h >> 29);
    return h;
  }
  void remember(u32 i) {
    if (i + kWindow > code_.size()) return;
    Places& p = places_[window(i)];
    p.at[p.count++ % kPlaces] = i;
  }
  bool alike(u32 i, u32 j) const { return key(i) == key(j); }
  Word step(u32 i, u32 distance) const { return minus(code_[i].word, code_[i - distance].word); }

  // How far instructions from i on equal those before.
  u32 same(u32 i, u32 distance) const {
    u32 k = i;
    while (k < code_.size() && code_[k] == code_[k - distance])
      ++k;
    return k - i;
  }
  // How far they advance evenly, from round to round.
  u32 even(u32 i, u32 distance) {
    if (depth_ > 0) return 0;
    const auto known = ends_.find(distance);
    if (known != ends_.end() && i + distance <= known->second && known->second - i < 2 * distance) return 0;
    u32 k = i;
    while (k < code_.size() && alike(k, k - distance) &&
           (k - i < distance || step(k, distance) == step(k - distance, distance)))
      ++k;
    ends_[distance] = k;
    return k - i >= 2 * distance ? k - i : 0;
  }

  Repeat find(u32 i) {
    Repeat best;
    if (i + kWindow > code_.size()) return best;
    const auto it = places_.find(window(i));
    if (it == places_.end()) return best;
    u32 best_gain = kShortest - 1;
    bool steps = false;
    const Places& p = it->second;
    for (usize k = 0; k < std::min<usize>(p.count, kPlaces); ++k) {
      const u32 distance = i - p.at[(p.count - 1 - k) % kPlaces];
      const u32 equal = same(i, distance), advance = even(i, distance);
      if (equal > best_gain) {
        best_gain = equal;
        best.distance = distance;
        best.length = equal;
        steps = false;
      }
      if (advance > distance && advance - distance > best_gain) {
        best_gain = advance - distance;
        best.distance = distance;
        best.length = advance;
        steps = true;
      }
    }
    best.at = i;
    if (steps) {
      std::vector<FoldedInst> words(best.distance);
      for (u32 k = 0; k < best.distance; ++k)
        words[k].word = step(i + k, best.distance);
      FoldedCode folded;
      if (depth_ < kMaxFoldDepth - 1) {
        folded = Folder(words, depth_ + 1).run();
      } else {
        folded.stated = std::move(words);
      }
      best.steps = std::make_unique<FoldedCode>(std::move(folded));
    }
    return best;
  }

  struct Places {
    std::array<u32, kPlaces> at{};  // the latest, in a ring
    usize count = 0;
  };
  std::span<const FoldedInst> code_;
  int depth_;
  std::unordered_map<u64, Places> places_;  // by window
  std::unordered_map<u32, u32> ends_;       // by distance, where what advances evenly has ended
};

}  // namespace

FoldedCode fold(std::span<const FoldedInst> code) { return Folder(code, 0).run(); }

FoldedCode fold(const isa::Program& program) {
  std::vector<FoldedInst> code(program.code.size());
  for (usize i = 0; i < code.size(); ++i) {
    code[i].word = program.code[i];
    if (i < program.lines.size()) code[i].line = program.lines[i];
    if (i < program.files.size()) code[i].file = program.files[i];
  }
  return fold(code);
}

std::vector<FoldedInst> unfold(const FoldedCode& folded, usize limit) {
  std::vector<FoldedInst> out;
  usize taken = 0;
  const auto take_until = [&](usize at) {
    if (at < out.size() || at - out.size() > folded.stated.size() - taken)
      fail(Fault::Input, "a repeat is not where the instructions before it end");
    const auto from = folded.stated.begin() + static_cast<std::ptrdiff_t>(taken);
    taken += at - out.size();
    out.insert(out.end(), from, folded.stated.begin() + static_cast<std::ptrdiff_t>(taken));
  };
  for (const Repeat& r : folded.repeats) {
    take_until(r.at);
    if (r.distance == 0 || r.distance > out.size()) fail(Fault::Input, "a repeat reaches before the first instruction");
    if (out.size() + r.length > limit) fail(Fault::Input, "the repeats make more than {} instructions", limit);
    std::vector<FoldedInst> steps;
    if (r.steps) {
      steps = unfold(*r.steps, r.distance);
      if (steps.size() != r.distance) fail(Fault::Input, "a repeat has {} steps, not {}", steps.size(), r.distance);
    }
    for (u32 k = 0; k < r.length; ++k) {
      FoldedInst next = out[out.size() - r.distance];
      if (!steps.empty()) next.word = plus(next.word, steps[k % r.distance].word);
      out.push_back(next);
    }
  }
  take_until(out.size() + folded.stated.size() - taken);
  if (out.size() > limit) fail(Fault::Input, "a program of more than {} instructions", limit);
  return out;
}

usize stated(const FoldedCode& folded) {
  usize sum = folded.stated.size();
  for (const Repeat& r : folded.repeats)
    sum += r.steps ? stated(*r.steps) : 0;
  return sum;
}

}  // namespace vinci::task
