// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// YAML and .vts say the same thing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>

#include "isa/text/text.h"
#include "tests/unit/sim/task_round_trip.h"

namespace vinci::task {
namespace {

using test::expect_round_trip;
using test::kSample;
using test::parse_text;
using test::parse_vts;
using test::refusal;
using testing::HasSubstr;

TEST(TaskRoundTrip, Sample) { expect_round_trip(parse_text(kSample)); }

TEST(TaskRoundTrip, Empty) { expect_round_trip(parse_text("vinci: 1\nname: t\narch: m100\nstreams: {}\n")); }

TEST(TaskRoundTrip, EntriesOfAKernelAreKeptAndChecked) {
  const auto text = [](const std::string& entries, u32 blocks) {
    return "vinci: 1\nname: t\narch: c220\nkernels:\n  k:\n    type: AIV_ONLY\n    entries: " + entries +
           "\n    code: |\n      ld_arg X1, 0\n      end\nstreams:\n  s:\n    - kernel_launch: {kernel: k, "
           "block_dim: " +
           std::to_string(blocks) + ", args: [1]}\n";
  };
  const TaskStream s = parse_text(text("[1, 0, 1]", 3));
  EXPECT_EQ(s.kernels[0].entries, (std::vector<u32>{1, 0, 1}));
  expect_round_trip(s);
  EXPECT_THAT(refusal([&] { parse_text(text("[1, 0]", 3)); }), HasSubstr("entries for 2 cores, but 3 run"));
  EXPECT_THAT(refusal([&] { parse_text(text("[2]", 1)); }), HasSubstr("entry 2 is not one of its 2"));
}

TEST(TaskRoundTrip, MixTasks) {
  const TaskStream s = parse_text(R"(vinci: 1
name: mix
arch: c220
kernels:
  other: {type: AIV_ONLY, code: end}
  cube: {type: AIC_ONLY, code: end}
  vector: {type: AIV_ONLY, code: end}
streams:
  main:
    - kernel_launch: {kernel: cube, type: MIX_AIC_1_2, aiv_kernel: vector, block_dim: 3, args: [5]}
    - kernel_launch: {kernel: cube, type: MIX_AIC_1_1, aiv_kernel: other}
    - kernel_launch: {kernel: cube}
)");
  expect_round_trip(s);
  const auto tasks = parse_vts(to_vts(s)).streams[0].tasks;
  const auto launch = [&](usize n) { return std::get<KernelLaunch>(tasks.at(n).op); };
  EXPECT_EQ(launch(0).aivs, 2u);
  EXPECT_EQ(launch(0).kernel, 1u);
  EXPECT_EQ(launch(0).aiv_kernel, 2u);
  EXPECT_EQ(launch(0).block_dim, 3u);
  EXPECT_EQ(launch(1).aivs, 1u);
  EXPECT_EQ(launch(1).aiv_kernel, 0u);
  EXPECT_TRUE(launch(1).mix());
  EXPECT_FALSE(launch(2).mix());
}

TEST(TaskRoundTrip, MixTasksOfAVtsAreVerified) {
  TaskStream s = parse_text(kSample);  // kernel 0 is AIV_ONLY, kernel 1 AIC_ONLY
  Task& t = s.streams[0].tasks[3];
  const auto refusal_of = [&](KernelLaunch launch) {
    t.op = launch;
    return refusal([&] { parse_vts(to_vts(s)); });
  };
  EXPECT_EQ(refusal_of({.kernel = 1, .aivs = 2, .aiv_kernel = 0}), "accepted");
  EXPECT_THAT(refusal_of({.kernel = 1, .aivs = 3, .aiv_kernel = 0}), HasSubstr("t.vts: streams[0].tasks[3]"));
  EXPECT_THAT(refusal_of({.kernel = 1, .aivs = 2, .aiv_kernel = 1}), HasSubstr("t.vts: streams[0].tasks[3]"));
  EXPECT_THAT(refusal_of({.kernel = 0, .aivs = 2, .aiv_kernel = 0}), HasSubstr("t.vts: streams[0].tasks[3]"));
  EXPECT_THAT(refusal_of({.kernel = 1, .aivs = 2, .aiv_kernel = 9}), HasSubstr("t.vts: streams[0].tasks[3]"));
}

TEST(TaskRoundTrip, NamesThatYamlWouldMisread) {
  TaskStream s = parse_text(kSample);
  s.name = "null";
  s.buffers[0].name = "12";
  s.buffers[1].name = "{a: \"b\\\"} # 'c'";
  s.buffers[2].name = "~";
  s.buffers[3].name = "-1";
  s.kernels[0].name = "\xc3\xa9\xe2\x82\xac";
  s.streams[0].name = std::string(2000, 'n');
  s.streams[0].tasks[0].name = "yes: no";
  s.events[1] = " leading";
  expect_round_trip(s);
}

TEST(TaskRoundTrip, FilesOfLinesAreKept) {
  TaskStream s = parse_text(kSample);
  isa::Program& p = s.kernels[0].program;
  p.included = {"a.h", "dir/b.h"};
  p.files.assign(p.code.size(), 2);
  p.files[0] = 0;
  const TaskStream back = parse_task_stream(to_vts(s), "s.vts", MemoryFiles());
  EXPECT_EQ(back.kernels[0].program, p);
  EXPECT_TRUE(same_meaning(parse_text(kSample), s));
}

TEST(TaskRoundTrip, DifferencesInMeaningAreSeen) {
  const TaskStream s = parse_text(kSample);
  TaskStream t = s;
  t.kernels[0].program.lines[0] = 99;
  t.kernels[0].program.source = "other.s";
  t.folder = "elsewhere";
  EXPECT_TRUE(same_meaning(s, t));
  t.kernels[0].program.code[0][0] ^= 1u << 20;
  EXPECT_FALSE(same_meaning(s, t));
  t = s;
  t.kernels.pop_back();
  EXPECT_FALSE(same_meaning(s, t));
  t = s;
  std::get<MemcpyAsync>(t.streams[0].tasks[1].op).src_pitch = 48;
  EXPECT_FALSE(same_meaning(s, t));
}

// Random legal task streams.
class Generator {
 public:
  explicit Generator(u32 seed) : random_(seed) {}

  TaskStream make() {
    TaskStream s;
    s.name = "random";
    s.arch = pick(2) == 0 ? isa::Arch::c220 : isa::Arch::c100;
    const u64 buffers = 2 + pick(5);
    for (u64 i = 0; i < buffers; ++i) {
      Buffer b;
      b.name = "b" + std::to_string(i);
      b.place = i % 2 == 0 ? Buffer::Place::device : Buffer::Place::host;
      b.bytes = 64 * (1 + pick(8));
      if (b.place == Buffer::Place::host) {
        if (pick(2) == 0) b.output = b.name + ".npy";
        if (pick(2) == 0 || !b.output.empty()) b.dtype = "f2";
        if (b.dtype == "f2" && pick(2) == 0) b.shape = {b.bytes / 64, 32};
        if (pick(2) == 0) b.data.assign(b.bytes, static_cast<std::byte>(pick(256)));
      }
      s.buffers.push_back(b);
    }
    for (u64 k = 0; k <= pick(3); ++k) {
      const KernelType split = pick(2) == 0 ? KernelType::AIC_ONLY : KernelType::AIV_ONLY;
      std::string text;
      for (u64 n = pick(5); n > 0; --n)
        text += "ld_arg X" + std::to_string(pick(32)) + ", " + std::to_string(pick(8)) + "\n";
      s.kernels.push_back({"k" + std::to_string(k), s.arch == isa::Arch::c220 ? split : KernelType::AI_CORE,
                           isa::assemble(text + "end\n", "k.s", s.arch)});
    }
    // Waits only for what an earlier stream has recorded: no circles.
    for (u64 i = 0; i < 1 + pick(4); ++i) {
      Stream& stream = s.streams.emplace_back();
      stream.name = "s" + std::to_string(i);
      const usize waitable = s.events.size();
      for (u64 n = pick(8); n > 0; --n)
        stream.tasks.push_back(task(s, waitable));
    }
    return s;
  }

 private:
  u64 pick(u64 n) { return std::uniform_int_distribution<u64>(0, n - 1)(random_); }

  Slice slice(const TaskStream& s, u32 parity, u64 room) {
    const auto b = static_cast<u32>(2 * pick(s.buffers.size() / 2) + parity);
    return {b, pick(s.buffers[b].bytes - room + 1)};
  }

  Task task(TaskStream& s, usize waitable) {
    Task t;
    switch (pick(waitable > 0 ? 8 : 7)) {
      case 0: {
        const u32 down = static_cast<u32>(pick(2));
        t.op = MemcpyAsync{slice(s, down, 40), slice(s, 1 - down, 40), 8, 2, 32, 16};
        break;
      }
      case 1: t.op = MemsetAsync{slice(s, 0, 5), 5, static_cast<u8>(pick(256))}; break;
      case 2: {
        KernelLaunch launch{static_cast<u32>(pick(s.kernels.size())), static_cast<u32>(1 + pick(100)), {}};
        const auto vector = std::ranges::find(s.kernels, KernelType::AIV_ONLY, &Kernel::type);
        if (s.kernels[launch.kernel].type == KernelType::AIC_ONLY && vector != s.kernels.end() && pick(2) == 0) {
          launch.aivs = static_cast<u32>(1 + pick(2));
          launch.aiv_kernel = static_cast<u32>(vector - s.kernels.begin());
        }
        for (u64 n = pick(4); n > 0; --n)
          launch.args.push_back(pick(2) == 0 ? Arg(random_() * u64{0x100000001}) : Arg(slice(s, 0, 1)));
        t.op = launch;
        break;
      }
      case 3:
        t.op = EventRecord{static_cast<u32>(s.events.size())};
        s.events.push_back("e" + std::to_string(s.events.size()));
        break;
      case 4: t.op = Free{slice(s, 0, 1).buffer}; break;
      case 5: t.op = NpuGetFloatStatus{slice(s, 0, 32)}; break;
      case 6: t.op = NpuClearFloatStatus{}; break;
      default: t.op = StreamWaitEvent{static_cast<u32>(pick(waitable))};
    }
    if (pick(3) == 0) t.name = "task " + std::to_string(pick(1000));
    return t;
  }

  std::mt19937 random_;
};

TEST(TaskRoundTrip, RandomTaskStreams) {
  for (u32 seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    TaskStream s = Generator(seed).make();
    ASSERT_EQ(refusal([&] { verify(s, "random", MemoryFiles{}); }), "accepted");
    expect_round_trip(s);
    if (HasFailure()) break;
  }
}

// -----------------------------------------------------------------------------------------------------------------------
// Broken .vts files: the path inside.

std::string vts_refusal(void (*damage)(TaskStream&)) {
  TaskStream s = parse_text(kSample);
  damage(s);
  return refusal([&] { parse_vts(to_vts(s)); });
}

TEST(TaskVts, MessagesNameThePathInside) {
  EXPECT_EQ(vts_refusal([](TaskStream& s) {
              std::get<KernelLaunch>(s.streams[0].tasks[3].op).args[1] = Slice{7, 0};
            }),
            "t.vts: streams[0].tasks[3].kernel_launch.args[1]: buffer 7 does not exist; there are 4");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { std::get<KernelLaunch>(s.streams[0].tasks[3].op).kernel = ~0u; }),
            "t.vts: streams[0].tasks[3].kernel_launch.kernel: kernel 4294967295 does not exist; there are 2");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { std::get<MemcpyAsync>(s.streams[0].tasks[0].op).dst.offset = 2000; }),
            "t.vts: streams[0].tasks[0].memcpy_async.dst: [2000, +64) is outside buffer 'dev' of 2048 bytes");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { s.buffers[1].place = static_cast<Buffer::Place>(9); }),
            "t.vts: buffers[1].place: value 9 is not in [0, 1]");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { s.arch = static_cast<isa::Arch>(77); }),
            "t.vts: arch: value 77 is not in [0, 3]\n"
            "t.vts: kernels[0].type: kernel 'scale': type AIV_ONLY does not exist on m100; use AI_CORE\n"
            "t.vts: kernels[0].program: kernel 'scale' is a program for c220, but the task stream is for m100\n"
            "t.vts: kernels[1].type: kernel 'idle': type AIC_ONLY does not exist on m100; use AI_CORE\n"
            "t.vts: kernels[1].program: kernel 'idle' is a program for c220, but the task stream is for m100");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { s.kernels[1].program.arch = isa::Arch::m200; }),
            "t.vts: kernels[1].program: kernel 'idle' is a program for m200, but the task stream is for c220");
  EXPECT_THAT(vts_refusal([](TaskStream& s) { s.kernels[0].program.code[1][3] = ~u64{0}; }),
              HasSubstr("t.vts: kernels[0].program: kernel 'scale': t.yaml:17: "));
  EXPECT_EQ(vts_refusal([](TaskStream& s) {
              s.kernels[0].program.code.clear();
              s.kernels[0].program.lines.clear();
            }),
            "t.vts: kernels[0].program: kernel 'scale': the program is empty");
  EXPECT_EQ(vts_refusal([](TaskStream& s) {
              s.kernels[0].program.labels = {{"a b", 0}};
            }),
            "t.vts: kernels[0].program: kernel 'scale': label 'a b' is no name, or there twice");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { s.buffers[3].name = "x\n"; }),
            "t.vts: buffers[3]: the name contains control characters or is not UTF-8");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { s.buffers[3].name = "x"; }), "t.vts: buffers[3]: buffers has 'x' twice");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { s.name = std::string(65537, 'x'); }),
            "t.vts: name: the name of the task stream is longer than 64 KiB");
  EXPECT_EQ(vts_refusal([](TaskStream& s) { s.streams[0].tasks[4].op = StreamWaitEvent{2}; }),
            "t.vts: streams[0].tasks[4].stream_wait_event: event 'done' is waited for but never recorded\n"
            "t.vts: streams[1].tasks[2].stream_wait_event: event 'done' is waited for but never recorded");
}

// A file that was written before the schema had tasks for the float status.
TEST(TaskVts, OlderFilesStayReadable) {
  TaskStream s = load_task_stream(VINCI_OLDER_VTS);
  s.folder.clear();
  ASSERT_EQ(s.streams.size(), 2u);
  EXPECT_EQ(s.streams[1].tasks.size(), 4u);
  expect_round_trip(s);
}

TEST(TaskVts, OtherBytesAreRefused) {
  EXPECT_EQ(refusal([] { parse_vts({}); }), "t.vts: not a binary task stream: bytes 4 to 7 are not 'VNTS'");
  EXPECT_EQ(refusal([] { parse_vts(test::to_bytes("\x01\x01\x01\x01VNTS")); }),
            "t.vts: damaged binary task stream: an offset or a size leads out of the file");
}

TEST(TaskVts, DamageIsRefusedOrHarmless) {
  const TaskStream s = parse_text(kSample);
  const std::vector<std::byte> good = to_vts(s);
  // Up to seven bytes of padding at the end mean nothing.
  for (usize n = 0; n + 8 <= good.size(); ++n) {
    EXPECT_NE(refusal([&] {
                parse_vts({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n)});
              }),
              "accepted")
        << n << " of " << good.size();
  }
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> bad = good;
    bad[random() % bad.size()] ^= static_cast<std::byte>(1 + random() % 255);
    refused += refusal([&] { parse_vts(bad); }) != "accepted";
  }
  EXPECT_GT(refused, 1000);  // the rest changed a number or a name into another legal one
}

}  // namespace
}  // namespace vinci::task
