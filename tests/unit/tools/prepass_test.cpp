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

std::string launch_of(const std::string& name, const std::string& blocks, const std::string& stream,
                      const std::string& kernel, const std::string& arguments) {
  return "::vinci::ascendc::launch({\"" + name +
         "\", ::vinci::ascendc::KernelType::declared, static_cast<::std::uint32_t>(" + blocks + "), (void*)(" + stream +
         "), ::vinci::ascendc::Place::here()}, [](auto... vinci_a) -> decltype(" + kernel + "(vinci_a...)) { return " +
         kernel + "(vinci_a...); }" + arguments + ")";
}

TEST(Prepass, ALaunchBecomesACall) {
  EXPECT_EQ(rewrite_launches("add<<<8, nullptr, s>>>(x, y);"), launch_of("add", "8", " s", "add", ", x, y") + ";");
}

TEST(Prepass, TemplateArgumentsAndNamespacesAreOfTheName) {
  EXPECT_EQ(rewrite_launches("if (a) ns::add<float, (3>2), N->M><<<f(1, 2), 0, s[i]>>>(x);"),
            "if (a) " + launch_of("add", "f(1, 2)", " s[i]", "ns::add<float, (3>2), N->M>", ", x") + ";");
}

TEST(Prepass, CommasOfTemplateArgumentsInTheNumberOfBlocks) {
  EXPECT_EQ(rewrite_launches("k<<<T<1, 2>::n, 0, s>>>();"), launch_of("k", "T<1, 2>::n", " s", "k", "") + ";");
}

TEST(Prepass, NullHasTheTypeOfAPointer) {
  EXPECT_EQ(rewrite_launches("k<<<2, 0, s>>>(x, f<int, 2>(y, z), a < b, n++, NULL, g(__null));"),
            launch_of("k", "2", " s", "k", ", x, f<int, 2>(y, z), a < b, n++, nullptr, g(nullptr)") + ";");
}

TEST(Prepass, ArgumentsWithoutATypeOfTheirOwnArePassedDirectly) {
  EXPECT_EQ(rewrite_launches("k<<<2, 0, s>>>(x, {1, g()});"),
            "::vinci::ascendc::run({\"k\", ::vinci::ascendc::KernelType::declared, static_cast<::std::uint32_t>(2), "
            "(void*)( s), ::vinci::ascendc::Place::here()}, [&] { k(x, {1, g()}); });");
}

TEST(Prepass, KindsOfProcessorsAreDropped) {
  EXPECT_EQ(rewrite_launches("[aicore] void f(); [host, aicore] int g(); [host]int h(int x[host]);"),
            " void f();  int g(); int h(int x[host]);");
  EXPECT_EQ(rewrite_launches("a[i]; [host, other] {}; x[host]"), "a[i]; [host, other] {}; x[host]");
}

TEST(Prepass, TestsOfTheKindOfTheCoreAreConstant) {
  EXPECT_EQ(rewrite_launches("if (vinci_core_type != 2) f(); if (a && vinci_core_type) g();"),
            "if constexpr (vinci_core_type != 2) f(); if (a && vinci_core_type) g();");
}

TEST(Prepass, CastsToAMemoryOfTheCoreMayChangeIt) {
  EXPECT_EQ(rewrite_launches("a = reinterpret_cast<M(address_space(6)) T<1>*>(f(reinterpret_cast<int*>(x)))[2];"),
            "a = ((M(address_space(6)) T<1>*)(f(reinterpret_cast<int*>(x))))[2];");
}

TEST(Prepass, ShiftsStringsAndCommentsOfDirectivesStay) {
  const std::string text =
      "# 1 \"a<<<b.h\"\n"
      "int a = b << 3; auto c = x<y<z>>{}; s << \"k<<<1, 0, s>>>(x)\" << 'a' << R\"(k<<<1>>>(x))\";\n"
      "long n = 1'000'000; v<w<u<int>>> t;\n";
  EXPECT_EQ(rewrite_launches(text), text);
}

TEST(Prepass, ArraysInAMemoryOfTheCoreArePointers) {
  const std::string space = "__attribute__((address_space(6)))";
  EXPECT_EQ(rewrite_launches("{ " + space + " float a[2 * n]; }"),
            "{ " + space + " float * const a = (" + space +
                " float *)::vinci::ascendc::local_array([]() -> const void* { static char site; return &site; }(), 6, "
                "sizeof( float ) * (2 * n), ::vinci::ascendc::Place::here()); }");
  EXPECT_THAT(rewrite_launches("{ x(); " + space + " std::array<half, 2> a[n]; }"),
              HasSubstr("sizeof( std::array<half, 2> ) * (n)"));
  // Pointers, parameters and what is no declaration.
  for (const std::string_view other : {" float* a;", " float* a = b[2];", " float a[2], b;", " float a[];"}) {
    std::string text = "{ ";
    text.append(space).append(other).append(" }");
    EXPECT_EQ(rewrite_launches(text), text);
  }
  EXPECT_EQ(rewrite_launches("void f(" + space + " float a[2]);"), "void f(" + space + " float a[2]);");
}

TEST(Prepass, LinesAfterALaunchStayWhereTheyAre) {
  const std::string text = "a();\nadd<float,\n  2>\n  <<<8,\n  nullptr, s>>>(\n  x,\n  y);\nmark();\n";
  const std::string out = rewrite_launches(text);
  const auto line = [](const std::string& t) {
    return std::count(t.begin(), t.begin() + static_cast<std::ptrdiff_t>(t.find("mark")), '\n');
  };
  EXPECT_EQ(line(out), line(text)) << out;
}

TEST(Prepass, KernelsWithTheNameOfC) {
  const std::string mark = "__attribute__((annotate(\"vinci.kernel\")))";
  EXPECT_THAT(
      kernels_of_c("extern \"C\" " + mark + " void a(int x[], int) __attribute__((used)) { if (x) { f(); } }\n" +
                   "extern \"C\" {" + mark + " __attribute__((aic)) void b() {}\nvoid c() {} }\n" + "extern \"C\" " +
                   mark + " void declared();"),
      testing::ElementsAre("a", "b"));
  EXPECT_THAT(kernels_of_c("namespace n { extern \"C\" " + mark + " void a() {} }" + mark + "void b() {}" +
                           "extern \"C\" void c() {}"),
              testing::IsEmpty());
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
