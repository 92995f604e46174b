// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The inventory of public names against the list of the names themselves (public_names.txt: tikicpulib stub_fun.h of
// CANN 8.1.RC1) and against the table.
#include "isa/public_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "isa/table.h"
#include "tests/support/expected.h"

namespace vinci::isa {
namespace {

TEST(PublicNames, EachIsImplementedOrRefused) {
  std::ifstream file(PUBLIC_NAMES);
  const std::vector<std::string> names{std::istream_iterator<std::string>(file), {}};
  ASSERT_EQ(names.size(), 764u);
  for (const std::string& name : names) {
    const PublicName* p = public_name(name);
    ASSERT_NE(p, nullptr) << name << " is missing";
    EXPECT_EQ(p->row == nullptr, p->spelling.empty()) << name;
    EXPECT_EQ(p->row == nullptr, !p->reason.empty()) << name << " has an instruction or a reason";
    EXPECT_EQ(p->spelling == name, row_of(name) != nullptr) << name;
  }
}

TEST(PublicNames, EachStandsOnce) {
  const auto names = public_names();
  EXPECT_EQ(std::ranges::adjacent_find(names, {}, &PublicName::name), names.end());
}

TEST(PublicNames, TypesAreASuffix) {
  EXPECT_EQ(public_name("mad_bf162f32")->spelling, "mad.bf162f32");
  EXPECT_EQ(public_name("mad_bf162f32")->archs, only(Arch::c220));
  EXPECT_EQ(public_name("fmax")->spelling, "max.f32");
  EXPECT_EQ(public_name("copy_matrix_cc_to_gm_s4")->spelling, "copy_matrix_cc_to_gm");
  EXPECT_EQ(public_name("winograd_conv")->row, nullptr);
  EXPECT_EQ(public_name("mov"), nullptr) << "the scalar set is ours";
}

// Whatever the table has and public sources do not name must be the small scalar set of docs/assembly.md.
TEST(PublicNames, OnlyTheScalarSetIsOurs) {
  static const std::set<std::string_view> kOurs{
      "mov", "add",    "sub",     "mul",     "div",           "rem",          "and",          "or",
      "xor", "shl",    "shr",     "sar",     "cmp_eq",        "cmp_ne",       "cmp_lt",       "cmp_le",
      "neg", "beq",    "bne",     "blt",     "ble",           "bgt",          "bge",          "b",
      "end", "ld_arg", "ld_ubuf", "st_ubuf", "conv_f322s32z", "conv_s322f32", "conv_f322f16", "conv_f162f32"};
  for (const Row& row : table())
    EXPECT_EQ(public_name(row.name) == nullptr, kOurs.contains(row.name)) << row.name;
}

TEST(PublicNames, CountsInstructionsOfAnArchitecture) {
  for (const Arch arch : {Arch::m100, Arch::c100, Arch::m200, Arch::c220}) {
    std::set<std::string_view> implemented;
    for (const Row& row : table()) {
      if (public_name(row.name) != nullptr && contains(row.archs, arch)) implemented.insert(row.name);
    }
    const PublicCount count = count_public(arch);
    EXPECT_EQ(count.implemented, implemented.size());
    EXPECT_GT(count.total, count.implemented);
  }
}

// The table of the README is computed.
TEST(PublicNames, ReadmeHasTheCounts) {
  constexpr std::string_view kBegin = "<!-- begin: vinci isa --count -->\n";
  constexpr std::string_view kEnd = "<!-- end -->";
  std::string readme = test::slurp(README);
  const usize begin = readme.find(kBegin);
  ASSERT_NE(begin, std::string::npos);
  const usize end = readme.find(kEnd, begin);
  ASSERT_NE(end, std::string::npos);
  std::string table = "| architecture | instructions implemented | public |\n|---|---|---|\n";
  for (const Arch arch : {Arch::m100, Arch::c100, Arch::m200, Arch::c220}) {
    const PublicCount count = count_public(arch);
    table += fmt::format("| {} | {} | {} |\n", name(arch), count.implemented, count.total);
  }
  const usize at = begin + kBegin.size();
  test::expect_text(readme.replace(at, end - at, table), README);
}

}  // namespace
}  // namespace vinci::isa
