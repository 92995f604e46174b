// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "isa/base/error.h"
#include "tools/ascendc/prepass/launches.h"

namespace vinci::ascendc {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string run_of(const std::string& name, const std::string& type, const std::string& blocks,
                   const std::string& stream, const std::string& call, const std::string& captures = "") {
  return "::vinci::ascendc::run({\"" + name + "\", ::vinci::ascendc::KernelType::" + type +
         ", static_cast<::std::uint32_t>(" + blocks + "), (void*)(" + stream +
         "), ::vinci::ascendc::Place::here()}, [&" + captures + "] { " + call + "; })";
}

TEST(Prepass, ALaunchBecomesACall) {
  EXPECT_EQ(rewrite_launches("add<<<8, nullptr, s>>>(x, y);"), run_of("add", "vector", "8", " s", "add(x, y)") + ";");
}

TEST(Prepass, TemplateArgumentsAndNamespacesAreOfTheName) {
  EXPECT_EQ(rewrite_launches("if (a) ns::add<float, (3>2), N->M><<<f(1, 2), 0, s[i]>>>(x);"),
            "if (a) " + run_of("add", "vector", "f(1, 2)", " s[i]", "ns::add<float, (3>2), N->M>(x)") + ";");
}

TEST(Prepass, CommasOfTemplateArgumentsInTheNumberOfBlocks) {
  EXPECT_EQ(rewrite_launches("k<<<T<1, 2>::n, 0, s>>>();"), run_of("k", "vector", "T<1, 2>::n", " s", "k()") + ";");
}

TEST(Prepass, ArgumentsThatDoSomethingAreEvaluatedOnce) {
  EXPECT_EQ(rewrite_launches("k<<<2, 0, s>>>(x, f<int, 2>(y, z), a < b, n++, NULL, {1, g()});"),
            run_of("k", "vector", "2", " s", "k(x,vinci_argument_0, a < b,vinci_argument_1, NULL, {1, g()})",
                   ", vinci_argument_0 =  f<int, 2>(y, z), vinci_argument_1 =  n++") +
                ";");
}

TEST(Prepass, ShiftsStringsAndCommentsOfDirectivesStay) {
  const std::string text =
      "# 1 \"a<<<b.h\"\n"
      "int a = b << 3; auto c = x<y<z>>{}; s << \"k<<<1, 0, s>>>(x)\" << 'a' << R\"(k<<<1>>>(x))\";\n"
      "long n = 1'000'000; v<w<u<int>>> t;\n";
  EXPECT_EQ(rewrite_launches(text), text);
}

TEST(Prepass, KernelTypesComeFromMarksBeforeAndInTheKernel) {
  const auto type = [](const std::string& declaration) {
    const std::string out = rewrite_launches(declaration + "\nvoid f() { k<<<1, 0, s>>>(); }");
    const std::string key = "KernelType::";
    const auto at = out.find(key) + key.size();
    EXPECT_THAT(out, Not(HasSubstr("__vinci_"))) << out;
    return out.substr(at, out.find(',', at) - at);
  };
  EXPECT_EQ(type("__vinci_global__ __vinci_vector__ void k() {}"), "vector");
  EXPECT_EQ(type("template <int N> __vinci_cube__ __vinci_global__ void k() {}"), "cube");
  EXPECT_EQ(type("__vinci_global__ __vinci_mix__(1, 2) void k(int a) {}"), "mix_1_2");
  EXPECT_EQ(type("__vinci_mix__(1, 1) __vinci_global__ void k(int a) {}"), "mix_1_1");
  EXPECT_EQ(type("extern \"C\" __vinci_global__ void k(int a) { __vinci_task_type__(KERNEL_TYPE_MIX_AIC_1_2); g(); }"),
            "mix_1_2");
  EXPECT_EQ(type("__vinci_global__ void k(int a) { if (a) { __vinci_task_type__(KERNEL_TYPE_AIC_ONLY); } }"), "cube");
  EXPECT_EQ(type("__vinci_global__ void other() { __vinci_task_type__(KERNEL_TYPE_AIC_ONLY); }"), "vector");
  EXPECT_EQ(type("__vinci_cube__ __vinci_global__ void k() {} __vinci_global__ void k();"), "cube");
}

TEST(Prepass, LinesAfterALaunchStayWhereTheyAre) {
  const std::string text = "a();\nadd<float,\n  2>\n  <<<8,\n  nullptr, s>>>(\n  x,\n  y);\nmark();\n";
  const std::string out = rewrite_launches(text);
  const auto line = [](const std::string& t) {
    return std::count(t.begin(), t.begin() + static_cast<std::ptrdiff_t>(t.find("mark")), '\n');
  };
  EXPECT_EQ(line(out), line(text)) << out;
}

TEST(Prepass, ALaunchThatIsNotClosedIsNamedByItsLine) {
  for (const char* text : {"\n\nk<<<1, 0, s>>(x);", "\n\nk<<<1, 0, s>>>;", "\n\nk<<<1, 0"}) {
    try {
      rewrite_launches(text);
      FAIL() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.fault(), Fault::Input);
      EXPECT_THAT(e.what(), HasSubstr("line 3")) << text;
    }
  }
}

}  // namespace
}  // namespace vinci::ascendc
