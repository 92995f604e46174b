// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What reading a YAML task stream may take: 20 bytes of memory for each byte of text, and 64 MiB.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "isa/base/error.h"
#include "sim/task/load.h"

namespace vinci::task {
namespace {

std::string repeat(std::string_view text, usize times) {
  std::string out;
  out.reserve(text.size() * times);
  for (usize i = 0; i < times; ++i)
    out += text;
  return out;
}

// Bytes of this process that are in memory.
u64 resident() {
  u64 pages = 0, resident_pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident_pages;
  return resident_pages * static_cast<u64>(::sysconf(_SC_PAGESIZE));
}

struct Reading {
  u64 peak = 0;  // bytes, beyond what was there before
  int fault = 0;
  std::string message;
};

// Reads a text in a process of its own.
Reading read_apart(const std::string& text) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    const u64 before = resident();
    std::string line = "0 ";
    try {
      parse_task_stream(std::as_bytes(std::span(text)), "s.yaml", MemoryFiles());
    } catch (const Error& e) {
      line = fmt::format("{} {}", static_cast<int>(e.fault()), std::string(e.what()).substr(0, 300));
    }
    struct rusage usage {};
    ::getrusage(RUSAGE_SELF, &usage);
    line = fmt::format("{} {}", static_cast<u64>(usage.ru_maxrss) * 1024 - before, line);
    ::_exit(::write(ends[1], line.data(), line.size()) < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  std::array<char, 1024> buffer{};
  const ssize_t n = ::read(ends[0], buffer.data(), buffer.size());
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  Reading out;
  std::istringstream in(std::string(buffer.data(), n < 0 ? 0 : static_cast<usize>(n)));
  in >> out.peak >> out.fault;
  std::getline(in, out.message);
  return out;
}

const std::string kHead = "vinci: 1\nname: s\narch: c220\n";

struct Text {
  const char* name;
  std::function<std::string()> make;
  std::string message;  // "": it is read
};

class TaskMemory : public testing::TestWithParam<Text> {};

TEST_P(TaskMemory, IsBounded) {
  const std::string text = GetParam().make();
  const Reading r = read_apart(text);
  EXPECT_GT(r.peak, 0u);
#if !defined(VINCI_SANITIZED)  // whose memory comes on top
  EXPECT_LE(r.peak, 20 * text.size() + (u64{64} << 20)) << text.size() << " bytes of text";
#endif
  EXPECT_EQ(r.fault, GetParam().message.empty() ? 0 : static_cast<int>(Fault::Input)) << r.message;
  EXPECT_NE(r.message.find(GetParam().message), std::string::npos) << r.message;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, TaskMemory,
    testing::Values(
        Text{"braces", [] { return repeat("{", 8 << 20); }, "more than 64 levels of nesting"},
        Text{"brackets", [] { return repeat("[a,", 3 << 20); }, "more than 64 levels of nesting"},
        Text{"keys", [] { return "{" + repeat("a,", 4 << 20) + "}"; }, "a task stream starts with"},
        Text{"pairs", [] { return "[" + repeat("a: ,", 3 << 20) + "]"; }, "a task stream is a map"},
        Text{"empty_items", [] { return repeat("-\n", 4 << 20); }, "a task stream is a map"},
        Text{"one_scalar", [] { return "name: \"" + repeat("a", 16 << 20) + "\"\n"; }, "vinci"},
        Text{"escapes", [] { return "name: \"" + repeat("\\L", 8 << 20) + "\"\n"; }, "vinci"},
        Text{"anchors",
             [] {
               std::string s = "[";
               for (int i = 0; i < 1 << 20; ++i)
                 s += fmt::format("&{:x} a,", i);
               return s + "]";
             },
             "a task stream is a map"},
        Text{"kernels_by_alias",
             [] {
               std::string s = kHead + "kernels:\n  k0: &k\n    type: AIV_ONLY\n    code: |\n" +
                               repeat("      nop 1\n", 5000) + "      end\n";
               for (int i = 1; i < 5000; ++i)
                 s += fmt::format("  k{}: *k\n", i);
               return s + "streams:\n  main: []\n";
             },
             "the kernels take more memory than"},
        Text{"tasks_by_alias",
             [] {
               return kHead + "kernels:\n  k: {type: AIV_ONLY, time: 1us}\nstreams:\n  main:\n" +
                      "    - &t {kernel_launch: {kernel: k}}\n" + repeat("    - *t\n", 999'999);
             },
             "aliases expand the file by more than"},
        Text{"launches",
             [] {
               return kHead +
                      "buffers:\n  a: {place: device, bytes: 64}\nkernels:\n  k: {type: AIV_ONLY, time: 1us}\n" +
                      "streams:\n  main:\n" +
                      repeat("    - kernel_launch: {kernel: k, block_dim: 1, args: [a]}\n", 200'000);
             },
             ""}),
    [](const testing::TestParamInfo<Text>& text) { return std::string(text.param.name); });

}  // namespace
}  // namespace vinci::task
