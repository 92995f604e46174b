// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/run_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

namespace vinci::task {
namespace {

using testing::ElementsAre;

struct Seen {
  u64 offset, bytes;  // of the device buffer "a"
  bool write;
  friend bool operator==(const Seen&, const Seen&) = default;
};

class RunMemoryWatcher : public testing::Test, protected RunMemory::Watcher {
 protected:
  RunMemoryWatcher() {
    for (const char* name : {"a", "b", "host"}) {
      Buffer b;
      b.name = name;
      b.bytes = 256;
      b.place = b.name == "host" ? Buffer::Place::host : Buffer::Place::device;
      stream_.buffers.push_back(b);
    }
    memory_.emplace(stream_, true);
    memory_->set_watcher(this);
  }
  void before(u64 address, u64 bytes, bool write) override {
    const u64 offset = address - memory_->address({kA, 0});
    if (offset < 256) seen_.push_back({offset, bytes, write});
    // What is about to be written is not there yet.
    if (write && offset < 256) {
      std::byte there{};
      memory_->gm().read(address, {&there, 1});
      EXPECT_EQ(there, std::byte{0}) << offset;
    }
  }
  MemcpyAsync copy(u32 dst, u32 src) const {
    MemcpyAsync op{.dst = {dst, 16}, .src = {src, 16}};
    op.width = 8;
    op.height = 2;
    op.dst_pitch = op.src_pitch = 32;
    return op;
  }

  static constexpr u32 kA = 0, kB = 1, kHost = 2;
  TaskStream stream_;
  std::optional<RunMemory> memory_;
  std::vector<Seen> seen_;
};

TEST_F(RunMemoryWatcher, HearsOfEachRowOfACopy) {
  memory_->copy(copy(kA, kHost));
  EXPECT_THAT(seen_, ElementsAre(Seen{16, 8, true}, Seen{48, 8, true}));
  seen_.clear();
  memory_->copy(copy(kB, kA));
  EXPECT_THAT(seen_, ElementsAre(Seen{16, 8, false}, Seen{48, 8, false}));
  seen_.clear();
  memory_->copy(copy(kHost, kA));
  EXPECT_THAT(seen_, ElementsAre(Seen{16, 8, false}, Seen{48, 8, false}));
}

TEST_F(RunMemoryWatcher, HearsOfWhatOtherTasksTouch) {
  memory_->fill({.dst = {kA, 64}, .bytes = 32, .value = 7});
  memory_->put_float_status({.dst = {kA, 128}}, true);
  EXPECT_THAT(seen_, ElementsAre(Seen{64, 32, true}, Seen{128, NpuGetFloatStatus::kBytes, true}));
  seen_.clear();
  memory_->reduce({kB, 0}, {kA, 64}, 32, ReduceKind::ADD, ElementType::float32);
  EXPECT_THAT(seen_, ElementsAre(Seen{64, 32, false}));
}

TEST_F(RunMemoryWatcher, HearsOfReadsAndWritesOfOthers) {
  std::array<std::byte, 4> bytes{std::byte{1}};
  memory_->write({kA, 8}, bytes, "write of");
  memory_->read({kA, 8}, bytes, "read of");
  memory_->write(memory_->address({kA, 100}), bytes);
  memory_->read(memory_->address({kA, 100}), bytes);
  EXPECT_THAT(seen_, ElementsAre(Seen{8, 4, true}, Seen{8, 4, false}, Seen{100, 4, true}, Seen{100, 4, false}));
  memory_->set_watcher(nullptr);
  memory_->read({kA, 8}, bytes, "read of");
  EXPECT_EQ(seen_.size(), 4u);
}

}  // namespace
}  // namespace vinci::task
