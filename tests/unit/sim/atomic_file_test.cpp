// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/atomic_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string>

#include "isa/base/error.h"

namespace vinci::io {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  AtomicFileTest() { fs::create_directories(folder_); }
  ~AtomicFileTest() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  usize file_count() const {
    return static_cast<usize>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(AtomicFileTest, AppearsOnCommitOnly) {
  AtomicFile file(path("a"));
  file.write("one ");
  std::fprintf(file.stream(), "%d", 2);
  EXPECT_FALSE(fs::exists(path("a")));
  file.commit();
  EXPECT_EQ(read_file(path("a")), "one 2");
  EXPECT_EQ(file_count(), 1u);
}

TEST_F(AtomicFileTest, WithoutCommitTheOldFileStays) {
  write_file_atomically(path("a"), "old");
  {
    AtomicFile file(path("a"));
    file.write("new");
  }
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(file_count(), 1u);
}

TEST_F(AtomicFileTest, TwoAtOnceDoNotMix) {
  AtomicFile first(path("a"));
  AtomicFile second(path("a"));
  first.write("first");
  second.write("second");
  first.commit();
  second.commit();
  EXPECT_EQ(read_file(path("a")), "second");
  EXPECT_EQ(file_count(), 1u);
}

TEST_F(AtomicFileTest, KeepsEveryByte) {
  std::string bytes;
  for (int i = 0; i < 300000; ++i)
    bytes += static_cast<char>(i * 7);
  write_file_atomically(path("a"), as_bytes(bytes));
  EXPECT_EQ(read_file(path("a")), bytes);
}

TEST_F(AtomicFileTest, AFullDiskIsALimit) {
  try {
    write_file_atomically("/dev/full", std::string(1 << 20, 'x'));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Limit);
    EXPECT_EQ(e.message(), "cannot write '/dev/full': No space left on device");
  }
}

TEST_F(AtomicFileTest, ReadingIsBounded) {
  write_file_atomically(path("a"), "12345");
  EXPECT_EQ(read_file(path("a"), 5), "12345");
  EXPECT_THROW(read_file(path("a"), 4), Error);
  EXPECT_THROW(read_file("/dev/zero", 1 << 20), Error);  // no size to look at beforehand
  EXPECT_EQ(read_file("/dev/null"), "");
}

}  // namespace
}  // namespace vinci::io
