// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "sim/io/npy.h"
#include "sim/task/load.h"
#include "sim/task/write.h"
#include "tests/unit/sim/task_sample.h"

namespace vinci::task {
namespace {

namespace fs = std::filesystem;
using test::kSample;
using test::parse_text;
using test::refusal;
using test::to_bytes;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(TaskLoad, YamlMeansWhatItSays) {
  const TaskStream s = parse_text(kSample);
  EXPECT_EQ(s.name, "sample");
  EXPECT_EQ(s.arch, isa::Arch::c220);
  ASSERT_THAT(s.buffers, SizeIs(4));
  EXPECT_EQ(s.buffers[0].bytes, 64u);
  EXPECT_EQ(s.buffers[0].data[1], std::byte{0x3c});
  EXPECT_EQ(s.buffers[1].name, "odd name, 2");
  EXPECT_EQ(s.buffers[3].bytes, 2048u);
  EXPECT_EQ(s.buffers[3].place, Buffer::Place::device);
  EXPECT_THAT(s.events, ElementsAre("copied", "never used", "done"));

  ASSERT_THAT(s.kernels, SizeIs(2));
  EXPECT_EQ(s.kernels[0].type, KernelType::AIV_ONLY);
  EXPECT_EQ(s.kernels[0].program.source, "t.yaml");
  EXPECT_THAT(s.kernels[0].program.lines, ElementsAre(15, 17, 18, 19));  // of the YAML file
  EXPECT_EQ(s.kernels[1].program.source, "t.yaml(idle)");
  EXPECT_THAT(s.kernels[1].program.lines, ElementsAre(1));

  ASSERT_THAT(s.streams, SizeIs(2));
  const auto& main = s.streams[0].tasks;
  ASSERT_THAT(main, SizeIs(5));
  const MemcpyAsync up{{3, 64}, {0, 0}, 64, 1, 64, 64};
  const MemcpyAsync gather{{3, 0}, {3, 512}, 16, 3, 32, 64};
  EXPECT_EQ(std::get<MemcpyAsync>(main[0].op), up);
  EXPECT_EQ(std::get<MemcpyAsync>(main[1].op), gather);
  EXPECT_EQ(std::get<EventRecord>(main[2].op).event, 0u);
  const auto& launch = std::get<KernelLaunch>(main[3].op);
  EXPECT_EQ(launch.block_dim, 24u);
  EXPECT_THAT(launch.args,
              ElementsAre(Arg(Slice{3, 0}), Arg(Slice{3, 512}), Arg(u64{1024}), Arg(~u64{0}), Arg(u64{255})));
  EXPECT_EQ(main[0].name, "memcpy_async");
  EXPECT_EQ(main[1].name, "gather");
  EXPECT_EQ(main[3].name, "scale");

  const auto& side = s.streams[1].tasks;
  const MemsetAsync fill{{3, 1024}, 1024, 7};
  EXPECT_EQ(std::get<MemsetAsync>(side[1].op), fill);
  EXPECT_EQ(std::get<StreamWaitEvent>(side[2].op).event, 2u);
  EXPECT_EQ(std::get<MemcpyAsync>(side[3].op).bytes(), 64u);
  ASSERT_THAT(side, SizeIs(7));
  EXPECT_TRUE(std::holds_alternative<NpuClearFloatStatus>(side[4].op));
  EXPECT_EQ(std::get<NpuGetFloatStatus>(side[5].op).dst, (Slice{3, 128}));
  EXPECT_EQ(std::get<Free>(side[6].op).buffer, 3u);
}

TEST(TaskLoad, TasksKnowWhereTheyStand) {
  TaskStream s = parse_text(kSample);
  EXPECT_EQ(place(s, 0, 0), "t.yaml:24");
  EXPECT_EQ(place(s, 0, 2), "t.yaml:27");  // after a task of two lines
  EXPECT_EQ(place(s, 1, 6), "t.yaml:37");
  EXPECT_EQ(place(parse_task_stream(to_vts(s), "in/t.vts", MemoryFiles{}), 1, 6), "t.vts: streams[1].tasks[6]");
  s.streams[0].tasks.pop_back();  // then lines mean nothing
  EXPECT_EQ(place(s, 1, 6), "t.yaml: streams[1].tasks[6]");
  EXPECT_EQ(place(TaskStream{}, 0, 3), "streams[0].tasks[3]");
}

TEST(TaskLoad, JointArchitecturesNeedNoKernelType) {
  const TaskStream s = parse_text("vinci: 1\nname: t\narch: c100\nkernels: {k: {code: end}}\nstreams: {}\n");
  EXPECT_EQ(s.kernels.at(0).type, KernelType::AI_CORE);
  EXPECT_EQ(s.kernels.at(0).program.arch, isa::Arch::c100);
}

TEST(TaskLoad, FilesFillWhatIsLeftOpen) {
  const std::vector<u64> shape{2, 3};
  const MemoryFiles files({{"a.npy", io::to_npy("f2", shape, std::vector<std::byte>(12))},
                           {"one.npy", io::to_npy("i8", {}, std::vector<std::byte>(8))},
                           {"raw.bin", std::vector<std::byte>(10)},
                           {"k.s", to_bytes("  end\n")}});
  const TaskStream s = parse_text(R"(vinci: 1
name: t
arch: c220
buffers:
  a: {place: host, file: a.npy, bytes: 12}
  one: {place: host, file: one.npy}
  raw: {place: host, file: raw.bin, dtype: f2}
  dev: {place: device, bytes: 12}
kernels: {k: {type: AIV_ONLY, source: k.s}}
streams:
  main: [memcpy_async: {dst: dev, src: a}]
)",
                                  files);
  EXPECT_EQ(s.buffers[0].dtype, "f2");
  EXPECT_EQ(s.buffers[0].shape, shape);
  EXPECT_THAT(s.buffers[1].shape, ElementsAre(1));
  EXPECT_EQ(s.buffers[1].bytes, 8u);
  EXPECT_EQ(s.buffers[2].bytes, 10u);
  EXPECT_EQ(s.kernels[0].program.source, "k.s");
  EXPECT_EQ(std::get<MemcpyAsync>(s.streams[0].tasks[0].op).width, 12u);  // known from the file only
}

TEST(TaskLoad, AliasesAreBounded) {
  std::string text = "vinci: 1\nname: t\narch: c220\nbuffers:\n  a: &a {place: device, bytes: 64, data: &d \"";
  text += std::string(100'000, '0') + "\"}\n";
  for (int i = 0; i < 10'000; ++i)
    text += "  b" + std::to_string(i) + ": *a\n";
  text += "streams: {}\n";
  EXPECT_THAT(refusal([&] { parse_text(text); }), testing::HasSubstr("aliases expand the file by more than 67108864"));
}

TEST(TaskLoad, LimitsHoldOnBothSides) {
  const auto with_block_dim = [](std::string_view n) {
    return refusal([&] {
      parse_text(
          "vinci: 1\nname: t\narch: c220\nkernels: {k: {type: AIV_ONLY, code: end}}\nstreams:\n  main:\n"
          "    - kernel_launch: {kernel: k, block_dim: " +
          std::string(n) + "}\n");
    });
  };
  EXPECT_EQ(with_block_dim("1"), "accepted");
  EXPECT_EQ(with_block_dim("65535"), "accepted");
  EXPECT_EQ(with_block_dim("65536"), "t.yaml:7:45: block_dim = 65536 is not in [1, 65535]");
  const auto with_buffer = [](std::string_view n) {
    return refusal([&] {
      parse_text("vinci: 1\nname: t\narch: c220\nbuffers: {d: {place: device, bytes: " + std::string(n) +
                 "}}\nstreams: {}\n");
    });
  };
  EXPECT_EQ(with_buffer("64GiB"), "accepted");
  EXPECT_THAT(with_buffer("68719476737"), testing::HasSubstr("buffers of its memory have more than 68719476736 bytes"));
  const auto with_nesting = [](int levels) {
    return refusal([&] {
      parse_text("vinci: 1\nname: t\narch: c220\nstreams: " + std::string(static_cast<usize>(levels), '[') +
                 std::string(static_cast<usize>(levels), ']'));
    });
  };
  EXPECT_EQ(with_nesting(63), "t.yaml:4:10: streams must be a map, not a list");  // one level is the document's map
  EXPECT_EQ(with_nesting(64), "t.yaml:4:73: more than 64 levels of nesting");
  EXPECT_EQ(with_nesting(100'000), "t.yaml:4:73: more than 64 levels of nesting");
}

TEST(TaskLoad, BuiltTaskStreamsAreVerifiedToo) {
  TaskStream s = parse_text(kSample);
  std::get<KernelLaunch>(s.streams[0].tasks[3].op).kernel = 9;
  EXPECT_EQ(refusal([&] { verify(s, "built", MemoryFiles{}); }),
            "built: streams[0].tasks[3].kernel_launch.kernel: kernel 9 does not exist; there are 2");
}

// -----------------------------------------------------------------------------------------------------------------------

// A folder that goes away with the test.
class TaskFolder : public testing::Test {
 protected:
  TaskFolder() : root_(fs::path(testing::TempDir()) / ("vinci_task_" + std::to_string(::getpid()))) {
    fs::create_directories(root_ / "in");
    fs::create_directories(root_ / "out");
  }
  ~TaskFolder() override { fs::remove_all(root_); }

  void put(const std::string& name, const std::vector<std::byte>& bytes) const {
    std::ofstream(root_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::vector<std::byte> get(const std::string& name) const {
    std::ifstream in(root_ / name, std::ios::binary);
    return to_bytes(std::string(std::istreambuf_iterator<char>(in), {}));
  }
  std::string load_with_file(const std::string& file) const {
    put("in/t.yaml",
        to_bytes("vinci: 1\nname: t\narch: c220\nbuffers: {a: {place: host, file: " + file + "}}\nstreams: {}\n"));
    return refusal([&] { load_task_stream((root_ / "in/t.yaml").string()); });
  }

  fs::path root_;
};

TEST_F(TaskFolder, InitialDataComesFromFileDataOrNothing) {
  std::vector<std::byte> payload(12);
  for (usize i = 0; i < payload.size(); ++i)
    payload[i] = static_cast<std::byte>(i + 1);
  put("in/a.npy", io::to_npy("f2", std::vector<u64>{2, 3}, payload));
  put("in/r.bin", payload);
  put("in/t.yaml", to_bytes(R"(vinci: 1
name: t
arch: c220
buffers:
  a: {place: host, file: a.npy}
  r: {place: host, file: r.bin}
  d: {place: host, data: "0102"}
  n: {place: host, bytes: 100}
streams: {}
)"));
  const TaskStream s = load_task_stream((root_ / "in/t.yaml").string());
  EXPECT_EQ(initial_data(s, 0), payload);
  EXPECT_EQ(initial_data(s, 1), payload);
  EXPECT_THAT(initial_data(s, 2), ElementsAre(std::byte{1}, std::byte{2}));
  EXPECT_THAT(initial_data(s, 3), IsEmpty());

  put("in/r.bin", std::vector<std::byte>(11));  // changed after loading
  EXPECT_EQ(refusal([&] { initial_data(s, 1); }),
            (root_ / "in/r.bin").string() + ": buffer 'r' has 12 bytes, but the file has 11");
}

TEST_F(TaskFolder, OutputsAreNpyOrRaw) {
  TaskStream s;
  s.buffers.push_back({.name = "n",
                       .place = Buffer::Place::host,
                       .bytes = 12,
                       .file = {},
                       .output = "n.npy",
                       .dtype = "f2",
                       .shape = {2, 3}});
  s.buffers.push_back({.name = "r",
                       .place = Buffer::Place::host,
                       .bytes = 12,
                       .file = {},
                       .output = "sub/r.bin",
                       .dtype = {},
                       .shape = {}});
  s.buffers.push_back({.name = "f",
                       .place = Buffer::Place::host,
                       .bytes = 12,
                       .file = {},
                       .output = "flat.npy",
                       .dtype = "f4",
                       .shape = {}});
  const std::vector<std::byte> contents(12, std::byte{0x3c});
  for (u32 i = 0; i < 3; ++i)
    write_output(s, i, contents, (root_ / "out").string());
  EXPECT_EQ(get("out/n.npy"), io::to_npy("f2", std::vector<u64>{2, 3}, contents));
  EXPECT_EQ(get("out/sub/r.bin"), contents);
  EXPECT_EQ(get("out/flat.npy"), io::to_npy("f4", std::vector<u64>{3}, contents));
}

TEST_F(TaskFolder, FilesStayBeneathTheFolder) {
  put("secret.bin", std::vector<std::byte>(4));
  put("in/mine.bin", std::vector<std::byte>(4));
  fs::create_symlink("mine.bin", root_ / "in/inside.bin");
  fs::create_symlink(root_ / "secret.bin", root_ / "in/outside.bin");
  fs::create_directory_symlink(root_, root_ / "in/up");
  ASSERT_EQ(::mkfifo((root_ / "in/pipe").c_str(), 0600), 0);
  const std::string at = (root_ / "in/t.yaml").string() + ":4:34: ";
  EXPECT_EQ(load_with_file("mine.bin"), "accepted");
  EXPECT_EQ(load_with_file("./inside.bin"), "accepted");
  EXPECT_EQ(load_with_file("outside.bin"),
            at + "'outside.bin' is a symbolic link that leaves the folder of the task stream");
  EXPECT_EQ(load_with_file("up/secret.bin"),
            at + "'up/secret.bin' is a symbolic link that leaves the folder of the task stream");
  EXPECT_EQ(load_with_file("../secret.bin"),
            at + "'../secret.bin' contains '..'; only files beneath the folder of the task stream can be named");
  EXPECT_EQ(load_with_file("/dev/zero"),
            at + "'/dev/zero' is an absolute path; name files relative to the task stream");
  EXPECT_EQ(load_with_file("pipe"), at + "cannot read 'pipe': it is not a regular file");
  EXPECT_EQ(load_with_file("."), at + "cannot read '.': it is a folder");
  EXPECT_EQ(load_with_file("\"m\\0\""), at + "the file name contains control characters or is not UTF-8");
}

TEST_F(TaskFolder, TheTaskFileItselfMustBeARegularFileOfBoundedSize) {
  EXPECT_EQ(refusal([&] { load_task_stream((root_ / "in").string()); }),
            (root_ / "in").string() + ": cannot read '" + (root_ / "in").string() + "': it is a folder");
  const std::string big = (root_ / "big.yaml").string();
  put("big.yaml", {});
  fs::resize_file(big, kMaxFileBytes + 1);
  EXPECT_EQ(refusal([&] { load_task_stream(big); }), big + ": the file has 67108865 bytes; at most 67108864 are read");
}

}  // namespace
}  // namespace vinci::task
