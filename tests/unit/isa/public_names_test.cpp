// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The inventory of public names against the list of the names themselves (public_names.txt: tikicpulib stub_fun.h of
// CANN 8.1.RC1) and against the table.
#include "isa/table/public_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "isa/table/public_forms.h"
#include "isa/table/table.h"
#include "tests/support/expected.h"

namespace vinci::isa {
namespace {

TEST(PublicNames, EachIsThere) {
  std::ifstream file(PUBLIC_NAMES);
  const std::vector<std::string> names{std::istream_iterator<std::string>(file), {}};
  ASSERT_EQ(names.size(), 764u);
  for (const std::string& name : names)
    EXPECT_NE(public_name(name), nullptr) << name << " is missing";
}

TEST(PublicNames, EachIsImplementedOrRefusedAndStandsOnce) {
  const auto names = public_names();
  EXPECT_EQ(std::ranges::adjacent_find(names, {}, &PublicName::name), names.end());
  for (const PublicName& p : names) {
    EXPECT_EQ(public_name(p.name), &p);
    EXPECT_EQ(p.row == nullptr, p.spelling.empty()) << p.name;
    EXPECT_EQ(p.row == nullptr, !p.reason.empty()) << p.name << " needs an instruction or a reason";
    EXPECT_EQ(p.spelling == p.name, row_of(p.name) != nullptr) << p.name;
    EXPECT_TRUE(p.row == nullptr || p.archs != 0) << p.name;
  }
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
      "mov",          "add",          "sub",          "mul",        "div",          "rem",
      "and",          "or",           "xor",          "shl",        "shr",          "sar",
      "cmp_eq",       "cmp_ne",       "cmp_lt",       "cmp_le",     "neg",          "beq",
      "bne",          "blt",          "ble",          "bgt",        "bge",          "b",
      "end",          "nop",          "ld_arg",       "ld_ubuf",    "st_ubuf",      "conv_f322s32z",
      "conv_s322f32", "conv_f322f16", "conv_f162f32", "touch_ubuf", "local_buffer", "misuse"};
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

// public_forms.txt: an architecture, an intrinsic and its types a line, as the platform files list them.
TEST(PublicForms, EachIsATypeOfTheTableOrRefused) {
  std::ifstream file(PUBLIC_FORMS);
  usize listed = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string arch, intrinsic;
    words >> arch >> intrinsic;
    for (std::string type; words >> type; ++listed) {
      const auto matches = [&](const PublicForm& f) {
        return name(f.arch) == arch && f.intrinsic == intrinsic && f.type == type;
      };
      const std::string shown = fmt::format("{} {} {}", arch, intrinsic, type);
      ASSERT_EQ(std::ranges::count_if(public_forms(), matches), 1) << shown;
      const PublicForm& form = *std::ranges::find_if(public_forms(), matches);
      EXPECT_NE(form.spelling.empty(), form.reason.empty()) << shown;
      if (form.spelling.empty()) continue;
      const usize dot = form.spelling.find('.');
      const Row* row = row_of(std::string_view(form.spelling).substr(0, dot));
      ASSERT_NE(row, nullptr) << shown;
      EXPECT_TRUE(contains(row->archs, form.arch)) << shown;
      EXPECT_EQ(row->types.empty(), dot == std::string::npos) << shown;
      for (const TypeForm& t : row->types) {
        EXPECT_TRUE(form.spelling.substr(dot + 1) != t.name || contains(t.archs, form.arch)) << shown;
      }
    }
  }
  EXPECT_EQ(listed, public_forms().size());
}

TEST(PublicForms, NamesOfTypesAreTranslated) {
  const auto spelling = [](Arch arch, std::string_view intrinsic, std::string_view type) {
    for (const PublicForm& f : public_forms()) {
      if (f.arch == arch && f.intrinsic == intrinsic && f.type == type) return f.spelling;
    }
    return std::string("none");
  };
  EXPECT_EQ(spelling(Arch::c100, "vadd", "f32"), "vadd.f32");
  EXPECT_EQ(spelling(Arch::c100, "mmad", "s32u8s8"), "mad.u8s8");
  EXPECT_EQ(spelling(Arch::m200, "vaxpy", "f32f16f16"), "vaxpy.fmix");
  EXPECT_EQ(spelling(Arch::c220, "vbitsort", "f16"), "vbitsort32.f16");
  EXPECT_EQ(spelling(Arch::c220, "vconv", "f322bf16z"), "vconv_f322bf16z");
  EXPECT_EQ(spelling(Arch::c220, "data_move_l12bt", "f32"), "copy_cbuf_to_bt");
  EXPECT_EQ(spelling(Arch::c220, "mmad", "f162f16"), "");
  EXPECT_EQ(spelling(Arch::c100, "vgather", "f16"), "none");
}

// vcmp_eq represents the six comparisons.
TEST(PublicForms, ComparisonsHaveTheSameTypes) {
  for (const std::string_view name : {"vcmp_ne", "vcmp_lt", "vcmp_le", "vcmp_gt", "vcmp_ge"}) {
    const Row *row = row_of(name), *eq = row_of("vcmp_eq");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->archs, eq->archs);
    EXPECT_TRUE(std::ranges::equal(row->types, eq->types, {}, &TypeForm::name, &TypeForm::name));
    EXPECT_TRUE(std::ranges::equal(row->types, eq->types, {}, &TypeForm::archs, &TypeForm::archs));
  }
}

// The table of docs/assembly.md is computed.
TEST(PublicNames, TheDocumentHasTheCounts) {
  constexpr std::string_view kBegin = "<!-- begin: vinci isa --count -->\n";
  constexpr std::string_view kEnd = "<!-- end -->";
  std::string document = test::slurp(ASSEMBLY_DOC);
  const usize begin = document.find(kBegin);
  ASSERT_NE(begin, std::string::npos);
  const usize end = document.find(kEnd, begin);
  ASSERT_NE(end, std::string::npos);
  std::string table = "| architecture | instructions implemented | public | with types, implemented | public |\n";
  table += "|---|---|---|---|---|\n";
  for (const Arch arch : {Arch::m100, Arch::c100, Arch::m200, Arch::c220}) {
    const PublicCount count = count_public(arch);
    const PublicCount forms = count_public_forms(arch);
    table += fmt::format("| {} | {} | {} |", name(arch), count.implemented, count.total);
    table += forms.total == 0 ? " - | - |\n" : fmt::format(" {} | {} |\n", forms.implemented, forms.total);
  }
  const usize at = begin + kBegin.size();
  test::expect_text(document.replace(at, end - at, table), ASSEMBLY_DOC);
}

}  // namespace
}  // namespace vinci::isa
