// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What is folded unfolds to what it was, and loops that were unrolled take little.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/base/error.h"
#include "isa/base/random.h"
#include "isa/text/text.h"
#include "sim/task/fold.h"
#include "sim/task/load.h"
#include "sim/task/write.h"

namespace vinci::task {
namespace {

using testing::HasSubstr;

std::vector<FoldedInst> random_code(u64 seed, usize n, u64 kinds) {
  Random random(seed);
  std::vector<FoldedInst> out(n);
  for (FoldedInst& i : out) {
    for (u64& part : i.word)
      part = random.next() % kinds * 0x0123456789abcdef;
    i.line = static_cast<u32>(random.next() % kinds);
    i.file = static_cast<u16>(random.next() % 2);
  }
  return out;
}

void expect_round_trip(const std::vector<FoldedInst>& code) {
  const FoldedCode folded = fold(code);
  EXPECT_EQ(unfold(folded, code.size()), code);
  EXPECT_LE(stated(folded), code.size());
}

TEST(Fold, UnfoldsToTheSame) {
  expect_round_trip({});
  for (u64 seed = 0; seed < 60; ++seed)
    expect_round_trip(random_code(seed, 1 + seed * 7, 1 + seed % 4));
}

// What a block records: tiles with two slots, addresses that advance; `begin` is where the data of the block are.
std::string block(u64 begin, u32 tiles) {
  std::string text = fmt::format("mov X1, {}\n", begin);
  for (u32 i = 0; i < tiles; ++i) {
    const u64 slot = i % 2 * 0x8000;
    text += fmt::format("copy_gm_to_ubuf {}, {}, 0, 1, 64, 0, 0\nset_flag PIPE_MTE2, PIPE_V, {}\n", slot,
                        begin + 2048 * i, i % 2);
    text += fmt::format("wait_flag PIPE_MTE2, PIPE_V, {}\n", i % 2);
    for (u32 k = 0; k < 4; ++k)
      text += fmt::format("vadds.f32 {0}, {0}, 1.0f, 2, 1, 1, 8, 8\n", slot + 512 * k);
    text += fmt::format("copy_ubuf_to_gm {}, {}, 0, 1, 64, 0, 0\n", begin + 2048 * i + 0x10000000, slot);
  }
  return text;
}

isa::Program blocks(u32 count, u32 tiles) {
  std::string text;
  for (u32 b = 0; b < count; ++b)
    text += block(0x100000000 + u64{b} * 0x123400, tiles) + "end\n";
  isa::Program p = isa::assemble(text, "k.s", isa::Arch::c220);
  // As native code has them: the lines of a loop are the same in each turn.
  const usize length = p.code.size() / count;
  for (usize i = 0; i < p.code.size(); ++i)
    p.lines[i] = static_cast<u32>(i % length == 0 ? 1 : i % length == length - 1 ? 99 : 2 + (i % length - 1) % 8);
  return p;
}

TEST(Fold, LoopsAndBlocksAreStatedOnce) {
  const isa::Program p = blocks(40, 32);
  ASSERT_EQ(p.code.size(), 40u * (32 * 8 + 2));
  const FoldedCode folded = fold(p);
  EXPECT_LT(stated(folded), 100u);  // of 10,320
  std::vector<isa::Word> words;
  for (const FoldedInst& i : unfold(folded, p.code.size()))
    words.push_back(i.word);
  EXPECT_EQ(words, p.code);
}

TEST(Fold, ATaskStreamIsSmallAndTheSame) {
  TaskStream s;
  s.name = "folded";
  s.arch = isa::Arch::c220;
  s.kernels.push_back({.name = "k", .type = KernelType::AIV_ONLY, .program = blocks(4, 64)});
  s.kernels[0].program.included = {"k.h"};
  s.kernels[0].program.files.assign(s.kernels[0].program.code.size(), 1);
  s.streams.push_back({.name = "main"});
  const std::vector<std::byte> bytes = to_vts(s);
  EXPECT_LT(bytes.size(), s.kernels[0].program.code.size() * 32 / 8);
  const TaskStream back = parse_task_stream(bytes, "s.vts", MemoryFiles());
  EXPECT_EQ(back.kernels[0].program, s.kernels[0].program);
}

std::string refused(const FoldedCode& folded, usize limit = 1000) {
  try {
    unfold(folded, limit);
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Fold, RefusesWhatIsNoProgram) {
  FoldedCode f;
  f.stated.resize(3);
  const auto with = [&](u32 at, u32 distance, u32 length) {
    f.repeats.clear();
    f.repeats.push_back({at, distance, length, nullptr});
    return refused(f);
  };
  EXPECT_EQ(with(3, 3, 9), "accepted");
  EXPECT_THAT(with(4, 1, 1), HasSubstr("not where the instructions"));
  EXPECT_THAT(with(2, 3, 1), HasSubstr("before the first"));
  EXPECT_THAT(with(2, 0, 1), HasSubstr("before the first"));
  EXPECT_THAT(with(3, 1, 998), HasSubstr("more than 1000"));
  EXPECT_THAT(with(3, 1, ~0u), HasSubstr("more than 1000"));
  EXPECT_EQ(with(3, 3, 4), "accepted");
  f.repeats[0].steps = std::make_unique<FoldedCode>();
  f.repeats[0].steps->stated.resize(2);
  EXPECT_THAT(refused(f), HasSubstr("2 steps, not 3"));
}

}  // namespace
}  // namespace vinci::task
