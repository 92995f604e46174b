// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Every tests/bad/asm/x.s must fail with exactly the message in x.expected: as unsupported if its name begins with
// "unsupported", else as wrong input. A first line "; --arch NAME" passes the
// architecture as an argument.
#include "isa/base/enums.h"
#include "isa/base/error.h"
#include "isa/text/text.h"
#include "tests/support/expected.h"

namespace vinci::isa {
namespace {

namespace fs = std::filesystem;

class BadAssembly : public testing::TestWithParam<fs::path> {};

TEST_P(BadAssembly, FailsWithItsMessage) {
  const fs::path file = fs::path(BAD_ASM_DIR) / GetParam();
  const std::string text = test::slurp(file);
  constexpr std::string_view kArchLine = "; --arch ";
  std::optional<Arch> arch;
  if (text.starts_with(kArchLine)) {
    arch = parse_enum<Arch>(kArchNames, std::string_view(text).substr(kArchLine.size(), 4));
    ASSERT_TRUE(arch.has_value());
  }
  try {
    assemble(text, GetParam().string(), arch);
    FAIL() << "it assembles";
  } catch (const Error& e) {
    const bool unsupported = GetParam().string().starts_with("unsupported");
    EXPECT_EQ(e.fault(), unsupported ? Fault::Unsupported : Fault::Input);
    test::expect_text(std::string(e.what()) + '\n', fs::path(file).replace_extension(".expected"));
  }
}

INSTANTIATE_TEST_SUITE_P(Asm, BadAssembly, testing::ValuesIn(test::files_in(BAD_ASM_DIR, ".s")),
                         [](const auto& p) { return test::test_name(p.param); });

}  // namespace
}  // namespace vinci::isa
