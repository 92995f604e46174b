// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "isa/base/error.h"
#include "isa/text/text.h"
#include "sim/io/atomic_file.h"
#include "sim/io/temp_folder.h"
#include "sim/task/load.h"
#include "sim/task/write.h"

namespace vinci::ascendc {
namespace {

constexpr u64 kAddress = 0x1'0000'0000;

task::Kernel kernel(const std::string& name, const std::string& text) {
  return {.name = name, .type = task::KernelType::AIV_ONLY, .program = isa::assemble(text, "k.s", isa::Arch::c220)};
}

Recorder sample(bool with_data) {
  Recorder r("app", isa::Arch::c220, with_data);
  const u32 a = r.add_stream(), b = r.add_stream();
  r.add_device_buffer(kAddress, 1024);
  r.add_device_buffer(kAddress + 2048, 512);
  const std::vector<std::byte> bytes(64, std::byte{7});
  r.copy(a, kAddress + 128, 0, 64, Recorder::Direction::to_device, bytes, true);
  r.kernel(a, kernel("k", "end"), {.block_dim = 2});
  const u32 event = r.event_record(a);
  r.event_wait(b, event);
  r.kernel(b, kernel("k", "end"), {.block_dim = 2});
  r.kernel(b, kernel("k", "nop 3\nend"), {.block_dim = 2});
  r.copy(b, kAddress + 2048, kAddress, 32, Recorder::Direction::on_device, {}, false);
  r.copy(b, 0, kAddress + 2048, 64, Recorder::Direction::from_device, bytes, false);
  r.synchronize_stream(b);
  r.free(kAddress);
  return r;
}

TEST(Recorder, WhatAProgramDidIsATaskStream) {
  const Recorder r = sample(true);
  const task::TaskStream& s = r.stream();
  EXPECT_TRUE(task::same_meaning(task::parse_task_stream(task::to_vts(s), "app.vts", task::MemoryFiles()),
                                 s));  // which verifies it
  ASSERT_EQ(s.streams.size(), 2u);
  EXPECT_EQ(std::get<task::MemcpyAsync>(s.streams[0].tasks[0].op).dst, (task::Slice{0, 128}));
  EXPECT_EQ(std::get<task::MemcpyAsync>(s.streams[1].tasks[3].op).dst, (task::Slice{1, 0}));
  EXPECT_EQ(std::get<task::Free>(s.streams[0].tasks.back().op).buffer, 0u);
}

TEST(Recorder, TheSameKernelIsStoredOnce) {
  const Recorder r = sample(false);
  const task::TaskStream& s = r.stream();
  ASSERT_EQ(s.kernels.size(), 2u);
  EXPECT_EQ(s.kernels[0].name, "k");
  EXPECT_EQ(s.kernels[1].name, "k#1");
  EXPECT_EQ(std::get<task::KernelLaunch>(s.streams[1].tasks[1].op).kernel, 0u);
  EXPECT_EQ(std::get<task::KernelLaunch>(s.streams[1].tasks[2].op).kernel, 1u);
}

TEST(Recorder, TheHostHandsOverInTheOrderOfItsCalls) {
  const Recorder r = sample(false);
  const auto& steps = r.stream().host.threads.at(0).steps;
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(std::get<task::HostEnqueue>(steps[0]), (task::HostEnqueue{0, 0, 3}));
  EXPECT_EQ(std::get<task::HostEnqueue>(steps[1]), (task::HostEnqueue{1, 0, 5}));
  EXPECT_EQ(std::get<task::SynchronizeStream>(steps[2]).stream, 1u);
  EXPECT_TRUE(std::holds_alternative<task::SynchronizeDevice>(steps[3]));
  EXPECT_EQ(std::get<task::HostEnqueue>(steps[4]), (task::HostEnqueue{0, 3, 1}));
}

TEST(Recorder, DataAreKeptOnlyForRunsWithData) {
  const auto host_bytes = [](const Recorder& r) {
    usize sum = 0;
    for (const task::Buffer& b : r.stream().buffers)
      sum += b.data.size();
    return sum;
  };
  EXPECT_EQ(host_bytes(sample(false)), 0u);
  EXPECT_TRUE(sample(false).results().empty());
  EXPECT_EQ(host_bytes(sample(true)), 64u);
  const Recorder full = sample(true);
  ASSERT_EQ(full.results().size(), 1u);
  EXPECT_EQ(full.results().begin()->second, std::vector<std::byte>(64, std::byte{7}));
}

std::string in(const io::TempFolder& folder, const std::string& name) { return (folder.path() / name).string(); }

// A recording of two copies of so many bytes, in a folder of its own.
struct Recorded {
  explicit Recorded(const io::TempFolder& folder, usize bytes, u8 value)
      : file(in(folder, "app.vts")), recorder("app", isa::Arch::c220, true, file), data(bytes, std::byte{value}) {
    recorder.add_stream();
    recorder.add_device_buffer(kAddress, bytes);
    recorder.copy(0, kAddress, 0, bytes, Recorder::Direction::to_device, data, true);
    recorder.copy(0, kAddress, 0, bytes, Recorder::Direction::to_device, data, true);
  }
  void write() {
    io::write_file_atomically(file, task::to_vts(recorder.stream()));
    recorder.written();
  }

  std::string file;
  Recorder recorder;
  std::vector<std::byte> data;
};

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    out.push_back(entry.path().filename().string());
  return out;
}

TEST(Recorder, LargeBuffersAreBesideTheStream) {
  const io::TempFolder folder("recorder");
  constexpr usize kBytes = 3 << 20;
  Recorded first(folder, kBytes, 1);
  first.write();
  EXPECT_LT(std::filesystem::file_size(first.file), 4096u);
  const std::vector<std::string> of_first = files_in(in(folder, "app.data"));
  ASSERT_EQ(of_first.size(), 1u);  // two buffers of the same contents
  const task::TaskStream loaded = task::load_task_stream(first.file);
  ASSERT_EQ(loaded.buffers.size(), 3u);
  EXPECT_EQ(loaded.buffers[1].bytes, kBytes);
  EXPECT_EQ(task::initial_data(loaded, 1), first.data);
  EXPECT_EQ(task::initial_data(loaded, 2), first.data);

  // Until the next one is written, the first is there with its data.
  Recorded second(folder, kBytes, 2);
  EXPECT_EQ(files_in(in(folder, "app.data")).size(), 2u);
  EXPECT_EQ(task::initial_data(task::load_task_stream(first.file), 1), first.data);
  second.write();
  EXPECT_EQ(files_in(in(folder, "app.data")).size(), 1u);
  EXPECT_NE(files_in(in(folder, "app.data")), of_first);
  EXPECT_EQ(task::initial_data(task::load_task_stream(second.file), 1), second.data);

  // Small ones are in the stream, and no files are left next to it.
  Recorded third(folder, 4096, 3);
  third.write();
  EXPECT_FALSE(std::filesystem::exists(in(folder, "app.data")));
  EXPECT_EQ(task::initial_data(task::load_task_stream(third.file), 1), third.data);
}

TEST(Recorder, ManySmallBuffersAreBesideTheStreamAsWell) {
  const io::TempFolder folder("recorder");
  Recorder r("app", isa::Arch::c220, true, in(folder, "app.vts"));
  r.add_stream();
  r.add_device_buffer(kAddress, 1 << 20);
  usize inside = 0;
  for (u32 i = 0; i < 40; ++i) {
    std::vector<std::byte> data(1 << 20, std::byte{static_cast<u8>(i)});
    r.copy(0, kAddress, 0, data.size(), Recorder::Direction::to_device, data, true);
    inside += r.stream().buffers.back().data.size();
  }
  EXPECT_EQ(inside, usize{16} << 20);
  EXPECT_EQ(files_in(in(folder, "app.data")).size(), 24u);
}

TEST(Recorder, AFileOfAnotherContentIsNotTaken) {
  const io::TempFolder folder("recorder");
  const std::string name = Recorded(folder, 2 << 20, 1).recorder.stream().buffers[1].file;
  io::write_file_atomically(in(folder, name), std::string_view("damaged"));
  Recorded again(folder, 2 << 20, 1);
  EXPECT_NE(again.recorder.stream().buffers[1].file, name);
  again.write();
  EXPECT_EQ(task::initial_data(task::load_task_stream(again.file), 1), again.data);
}

TEST(Recorder, AChangedFileIsNoticed) {
  const io::TempFolder folder("recorder");
  Recorded first(folder, 2 << 20, 1);
  first.write();
  const std::string name = first.recorder.stream().buffers[1].file;
  std::vector<std::byte> other = first.data;
  other[12345] ^= std::byte{1};
  io::write_file_atomically(in(folder, name), other);
  try {
    task::initial_data(task::load_task_stream(first.file), 1);
    FAIL() << "a changed file is read";
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Input);
    EXPECT_NE(e.message().find("changed after it was recorded"), std::string::npos) << e.message();
    EXPECT_EQ(e.location(), in(folder, name));
  }
}

TEST(Recorder, WhatAKilledRecordingHasLeftIsRemoved) {
  const io::TempFolder folder("recorder");
  std::filesystem::create_directories(in(folder, "app.data"));
  io::write_file_atomically(in(folder, "app.data/.0123456789abcdef.bin.12.0.vinci-tmp"), std::string_view("part"));
  Recorded(folder, 2 << 20, 1).write();
  EXPECT_EQ(files_in(in(folder, "app.data")).size(), 1u);
}

TEST(Recorder, OneRecordingAtATimeWritesItsData) {
  const io::TempFolder folder("recorder");
  constexpr usize kBytes = 2 << 20;
  {
    Recorded first(folder, kBytes, 1);
    try {
      Recorded second(folder, kBytes, 2);
      FAIL() << "two recordings write into one folder";
    } catch (const Error& e) {
      EXPECT_EQ(e.fault(), Fault::Input);
      EXPECT_EQ(e.location(), in(folder, "app.data"));
    }
    Recorded small(folder, 4096, 3);
    small.write();  // leaves the files of the first alone
    first.write();
    EXPECT_EQ(task::initial_data(task::load_task_stream(first.file), 1), first.data);
    Recorded third(folder, kBytes, 3);  // the first has ended
  }
  Recorded(folder, kBytes, 4).write();
}

TEST(Recorder, AFolderOfDataBehindALinkIsRefused) {
  const io::TempFolder folder("recorder");
  std::filesystem::create_directory(folder.path() / "elsewhere");
  std::filesystem::create_directory_symlink("elsewhere", folder.path() / "app.data");
  try {
    Recorded(folder, 2 << 20, 1).write();
    FAIL() << "the link was followed";
  } catch (const Error& e) {
    EXPECT_THAT(e.message(), testing::HasSubstr("is a symbolic link"));
  }
  Recorded(folder, 4096, 1).write();  // has no data to put there
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "app.data"));
}

}  // namespace
}  // namespace vinci::ascendc
