// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/prepass/tiling_structs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/base/error.h"

namespace vinci::ascendc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(TilingStructs, BecomePlainStructs) {
  const TilingStructs structs(
      "namespace optiling { BEGIN_TILING_DATA_DEF(A) TILING_DATA_FIELD_DEF(uint32_t, n); "
      "TILING_DATA_FIELD_DEF(unsigned long, m); TILING_DATA_FIELD_DEF_WITH_INITVALUE(int, k, 3); END_TILING_DATA_DEF; "
      "}");
  EXPECT_EQ(structs.declare({"A"}),
            "namespace vinci_tiling {\nstruct alignas(8) A {\n  uint32_t n;\n  unsigned long m;\n  int k;\n};\n}\n"
            "using vinci_tiling::A;\n");
}

TEST(TilingStructs, MembersAndConstantsComeFirst) {
  const TilingStructs structs(
      "constexpr int32_t kTwo = 2; static const unsigned kSize{kTwo * 3}; constexpr int kOther = 9;"
      "BEGIN_TILING_DATA_DEF(Inner) TILING_DATA_FIELD_DEF_ARR(int64_t, kSize, a); END_TILING_DATA_DEF;"
      "BEGIN_TILING_DATA_DEF(Outer) TILING_DATA_FIELD_DEF_STRUCT(optiling::Inner, in);"
      "TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube); END_TILING_DATA_DEF;");
  EXPECT_EQ(structs.declare({"Outer", "Inner"}),
            "namespace vinci_tiling {\nconstexpr auto kTwo = 2;\nconstexpr auto kSize = kTwo*3;\n"
            "struct alignas(8) Inner {\n  int64_t a[kSize];\n};\nstruct alignas(8) Outer {\n  Inner in;\n  TCubeTiling "
            "cube;\n};\n}\n"
            "using vinci_tiling::Outer;\nusing vinci_tiling::Inner;\n");
}

TEST(TilingStructs, AreRegisteredForAnOperatorAndItsKeys) {
  const TilingStructs structs(
      "REGISTER_TILING_DATA_CLASS(Add, A) REGISTER_TILING_DATA_CLASS(Add_12, optiling::B)"
      "REGISTER_TILING_DATA_CLASS(AddN, C) REGISTER_TILING_DATA_CLASS(Add_Sub, D)");
  EXPECT_THAT(structs.of("Add"), ElementsAre(Pair("Add", "A"), Pair("Add_12", "B")));
}

TEST(TilingStructs, TheFirstDefinitionOfANameCounts) {
  const TilingStructs structs(
      "BEGIN_TILING_DATA_DEF(A) TILING_DATA_FIELD_DEF(int, first); END_TILING_DATA_DEF;"
      "BEGIN_TILING_DATA_DEF(A) TILING_DATA_FIELD_DEF(int, second); END_TILING_DATA_DEF;");
  EXPECT_THAT(structs.declare({"A"}), HasSubstr("int first;"));
  EXPECT_THAT(structs.declare({"A"}), testing::Not(HasSubstr("second")));
}

TEST(TilingStructs, WhatIsNotClosedIsRefused) {
  EXPECT_THROW(TilingStructs("BEGIN_TILING_DATA_DEF(A) TILING_DATA_FIELD_DEF(int, a);"), Error);
  EXPECT_THROW(TilingStructs("BEGIN_TILING_DATA_DEF(A"), Error);
  EXPECT_THROW(TilingStructs("BEGIN_TILING_DATA_DEF(A) TILING_DATA_FIELD_DEF(int); END_TILING_DATA_DEF"), Error);
  EXPECT_THROW(TilingStructs("REGISTER_TILING_DATA_CLASS"), Error);
}

}  // namespace
}  // namespace vinci::ascendc
