// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sim/io/temp_folder.h"

namespace vinci::io {
namespace {

TEST(Program, ReturnsItsExitCode) {
  EXPECT_EQ(run_program({"true"}), 0);
  EXPECT_EQ(run_program({"sh", "-c", "exit 5"}), 5);
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}), 128);
  EXPECT_EQ(run_program({"there-is-no-such-program"}), 127);
}

TEST(Program, StdoutCanGoToStderr) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_program({"echo", "two words"}, Stdout::to_stderr), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "two words\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Program, WhatItPrintsCanBeRead) {
  EXPECT_EQ(output_of({"sh", "-c", "echo one; echo two >&2"}), "one\n");
  EXPECT_EQ(output_of({"yes"}, 4), "y\ny\n");
  EXPECT_EQ(output_of({"there-is-no-such-program"}), "");
}

TEST(TempFolder, IsNewAndGoesAwayWithItsFiles) {
  std::filesystem::path path;
  {
    const TempFolder folder("vinci-test"), other("vinci-test");
    path = folder.path();
    EXPECT_NE(path, other.path());
    std::ofstream(folder / "file") << "x";
    EXPECT_TRUE(std::filesystem::exists(path / "file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path.parent_path()));
}

TEST(TempFolder, OfAKilledProcessGoesAwayWithTheNextOne) {
  const TempFolder used("vinci-test-killed"), names("vinci-test-names");
  const std::string name = names / "name";
  const pid_t child = ::fork();
  if (child == 0) {
    const TempFolder folder("vinci-test-killed");
    std::ofstream(folder / "file") << "x";
    std::ofstream(name) << folder.path().string();
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  std::string left;
  std::ifstream(name) >> left;
  EXPECT_TRUE(std::filesystem::exists(left));
  const TempFolder next("vinci-test-killed");
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(left).parent_path()));
  EXPECT_TRUE(std::filesystem::exists(used.path()));
}

}  // namespace
}  // namespace vinci::io
