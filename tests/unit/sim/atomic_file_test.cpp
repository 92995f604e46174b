// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

#include "isa/base/error.h"
#include "sim/io/folder_lock.h"
#include "sim/io/text_file.h"

// Counts the calls of the functions under test; takes the place of the one of the C library.
static int g_syncs = 0;
extern "C" int fsync(int) {
  ++g_syncs;
  return 0;
}

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

TEST_F(AtomicFileTest, OnlyDurableFilesWaitForTheDisk) {
  g_syncs = 0;
  write_file_atomically(path("a"), "again");
  EXPECT_EQ(g_syncs, 0);
  write_file_atomically(path("b"), "once", Durability::durable);
  EXPECT_EQ(g_syncs, 2);  // the file and its folder
  EXPECT_EQ(read_file(path("b")), "once");
}

// A child that is killed between write and commit: its destructor does not run.
TEST_F(AtomicFileTest, AbandonedFilesAreRemovedAndOthersStay) {
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(path("lost"));
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(file_count(), 1u);
  write_file_atomically(path(".mine.12.0.tmp"), "");
  AtomicFile alive(path("alive"));
  alive.write("alive");
  remove_abandoned(folder_.string());
  EXPECT_EQ(file_count(), 2u);
  alive.commit();
  EXPECT_EQ(read_file(path("alive")), "alive");
  EXPECT_TRUE(fs::exists(path(".mine.12.0.tmp")));
}

// What was written into a sub-folder of a run is found by the next run, also by one that writes nothing there.
TEST_F(AtomicFileTest, AbandonedFilesOfSubfoldersAreInTheFolderOfTheRun) {
  fs::create_directories(folder_ / "deep/er");
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(path("deep/er/lost"), Durability::rebuildable, folder_.string());
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  remove_abandoned(folder_.string());
  usize files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_))
    files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 0u);

  AtomicFile file(path("deep/er/kept"), Durability::rebuildable, folder_.string());
  file.write("whole");
  EXPECT_FALSE(fs::exists(path("deep/er/kept")));
  file.commit();
  EXPECT_EQ(read_file(path("deep/er/kept")), "whole");
}

TEST_F(AtomicFileTest, AFolderHasOneWriter) {
  std::optional<FolderLock> first(folder_.string());
  EXPECT_THROW(FolderLock(folder_.string()), Error);
  first.reset();
  EXPECT_NO_THROW(FolderLock(folder_.string()));
  EXPECT_EQ(file_count(), 0u);
}

TEST_F(AtomicFileTest, AFolderHasOneWriterOrReaders) {
  using enum FolderLock::Use;
  const FolderLock reader(folder_.string(), read);
  EXPECT_NO_THROW(FolderLock(folder_.string(), read));
  EXPECT_THROW(FolderLock(folder_.string(), write), Error);
}

TEST_F(AtomicFileTest, ALockedFolderIsMadeAndHasNoAbandonedFiles) {
  write_file_atomically(path(".x.1.0.vinci-tmp"), "");
  const LockedFolder locked(folder_.string());
  EXPECT_EQ(file_count(), 0u);
  EXPECT_THROW(FolderLock(folder_.string(), FolderLock::Use::read), Error);
  EXPECT_NO_THROW(LockedFolder(path("a/b")));
  EXPECT_TRUE(fs::is_directory(path("a/b")));
}

TEST(Csv, NamesAreNoFormulas) {
  for (const std::string name : {"=1+1", "+1", "-1", "@SUM", "\tx"})
    EXPECT_EQ(csv_field(name), "'" + name);
  EXPECT_EQ(csv_field("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
  EXPECT_EQ(csv_field("\rx"), "\"'\rx\"");
  EXPECT_EQ(csv_field("a=b"), "a=b");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_quoted("-x"), "\"'-x\"");
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
  EXPECT_THROW(read_file("/dev/zero", 1 << 20), Error);  // a device has no size
}

}  // namespace
}  // namespace vinci::io
