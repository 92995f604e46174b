// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Two commands and one folder: the second is refused, so that the files of both are never mixed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>

#include "sim/io/atomic_file.h"
#include "sim/io/folder_lock.h"
#include "tests/support/shell.h"

namespace vinci {
namespace {

class SharedFolder : public testing::TestWithParam<const char*> {
 protected:
  test::ShellResult vinci(const std::string& arguments) const {
    return test::shell(folder_.path(), fmt::format("'{}' {} 2>&1", VINCI_BINARY, arguments));
  }
  bool is_empty(const std::string& folder) const { return std::filesystem::is_empty(folder_.path() / folder); }

  int hidden(const std::string& folder) const {
    int n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / folder))
      n += entry.path().filename().string().starts_with('.') ? 1 : 0;
    return n;
  }

  test::TempFolder folder_{"vinci_shared"};
};

TEST_P(SharedFolder, IsRefusedWhileAnotherProcessUsesIt) {
  std::filesystem::create_directories(folder_.path() / "o");
  std::optional<io::FolderLock> other(folder_ / "o");
  const auto refused = vinci(GetParam());
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.output,
            "error: o: another process of vinci uses this folder; wait for its end or choose another folder\n");
  EXPECT_TRUE(is_empty("o"));
  other.reset();
  EXPECT_EQ(vinci(GetParam()).exit_code, 0);
  EXPECT_FALSE(is_empty("o"));
}

TEST_P(SharedFolder, KeepsNoTemporaryFilesOfKilledProcesses) {
  std::filesystem::create_directories(folder_.path() / "o");
  std::ofstream(folder_ / "o/.a.npy.1.0.vinci-tmp") << "half";
  EXPECT_EQ(vinci(GetParam()).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "o/.a.npy.1.0.vinci-tmp"));
}

INSTANTIATE_TEST_SUITE_P(Writers, SharedFolder,
                         testing::Values("gen gemm --m 16 --n 16 --k 16 -o o", "gen db-log1p --elements 128 -o o",
                                         "gen db-loss-scale --elements 128 -o o", "gen db-maxpoolgrad -o o",
                                         "study S07 -o o"));

using SharedRunFolder = SharedFolder;

TEST_F(SharedRunFolder, APageIsNotMadeOfFilesThatARunReplaces) {
  ASSERT_EQ(vinci("gen gemm --m 16 --n 16 --k 16 -o g").exit_code, 0);
  ASSERT_EQ(vinci("run g/gemm.yaml -q --out o").exit_code, 0);
  std::optional<io::FolderLock> run(folder_ / "o");
  for (const char* page : {"report o", "report o -o page.html"}) {
    const auto r = vinci(page);
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_EQ(
        r.output,
        "error: o: another process of vinci writes into this folder; wait for its end or choose another folder\n");
  }
  run.reset();
  const io::FolderLock reader(folder_ / "o", io::FolderLock::Use::read);
  EXPECT_EQ(vinci("report o").exit_code, 0);
  EXPECT_EQ(vinci("run g/gemm.yaml -q --out o").exit_code, 2);
}

TEST_F(SharedRunFolder, ACommandWithOneOutputKeepsNoTemporaryFilesBesideIt) {
  ASSERT_EQ(vinci("gen gemm --m 16 --n 16 --k 16 -o g").exit_code, 0);
  ASSERT_EQ(vinci("run g/gemm.yaml -q --out r").exit_code, 0);
  std::filesystem::create_directories(folder_.path() / "o");
  for (const char* command :
       {"asm g/gemm.s -o o/gemm.bin", "dis o/gemm.bin -o o/gemm.s", "pack g/gemm.yaml --embed -o o/gemm.vts",
        "convert g/a.npy o/a.npy --from ND --to FRACTAL_NZ", "report r -o o/r.html",
        "validate --only vadd --sample 1 --csv o/values.csv"}) {
    std::ofstream(folder_ / "o/.x.1.0.vinci-tmp") << "half";
    const io::AtomicFile alive(folder_ / "o/alive");
    const auto r = vinci(command);
    EXPECT_EQ(r.exit_code, 0) << command << ": " << r.output;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "o/.x.1.0.vinci-tmp")) << command;
    EXPECT_EQ(hidden("o"), 1) << command;
  }
}

TEST_F(SharedRunFolder, AStudyThatFailsIsNotMistakenForTheOneBefore) {
  ASSERT_EQ(vinci("study S07 -o o").exit_code, 0);
  ASSERT_TRUE(std::filesystem::exists(folder_ / "o/report.txt"));
  EXPECT_EQ(test::shell(folder_.path(), "timeout -s KILL 0.5 '" VINCI_BINARY "' study S01 -o o 2>&1").exit_code, 137);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "o/report.txt"));
}

}  // namespace
}  // namespace vinci
