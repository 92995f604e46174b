// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Pipes and devices in place of input files: refused at once, never waited for.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/shell.h"

namespace vinci {
namespace {

class SpecialFiles : public testing::TestWithParam<const char*> {
 protected:
  SpecialFiles() {
    for (const char* name : {"fifo.yaml", "fifo.s", "fifo.npy", "fifo.bin", "fifo.vts"})
      ::mkfifo((folder_ / name).c_str(), 0600);
    std::ofstream(folder_ / "child.yaml") << "extends: fifo\nname: child\n";
    std::ofstream(folder_ / "parent.yaml") << "extends: ./fifo.yaml\nname: child\n";
    std::ofstream(folder_ / "s.yaml") << "vinci: 1\nname: s\narch: c220\nstreams:\n  main: []\n";
    std::ofstream(folder_ / "file.yaml") << "vinci: 1\nname: s\narch: c220\nbuffers:\n"
                                            "  h: {place: host, file: fifo.npy}\nstreams:\n  main: []\n";
    std::ofstream(folder_ / "source.yaml") << "vinci: 1\nname: s\narch: c220\nkernels:\n"
                                              "  k: {type: AIV_ONLY, source: fifo.s}\nstreams:\n  main: []\n";
    std::filesystem::create_directories(folder_.path() / "run");
    std::ofstream(folder_ / "run/chip.yaml") << "extends: tiny\n";
    ::mkfifo((folder_ / "run/stats.json").c_str(), 0600);
    std::filesystem::create_directories(folder_.path() / "run2");
    ::mkfifo((folder_ / "run2/chip.yaml").c_str(), 0600);
  }
  test::TempFolder folder_{"vinci_special"};
};

TEST_P(SpecialFiles, AreRefusedAtOnce) {
  const auto r = test::shell(folder_.path(), fmt::format("timeout 20 '{}' {} 2>&1", VINCI_BINARY, GetParam()));
  EXPECT_EQ(r.exit_code, 2) << r.output;
  EXPECT_NE(r.output.find("not a regular file"), std::string::npos) << r.output;
}

INSTANTIATE_TEST_SUITE_P(Readers, SpecialFiles,
                         testing::Values("run s.yaml --chip ./fifo.yaml --out o",
                                         "run s.yaml --chip ./child.yaml --out o", "run fifo.yaml --out o",
                                         "run fifo.vts --out o", "run file.yaml --out o", "run source.yaml --out o",
                                         "check fifo.yaml", "check --chip ./fifo.yaml", "check /dev/zero",
                                         "pack fifo.yaml -o x.vts", "asm fifo.s", "asm /dev/zero", "dis fifo.bin",
                                         "dis /dev/zero", "convert fifo.npy x.npy --from NCHW --to NC1HWC0",
                                         "validate fifo.yaml", "study S09 --chip ./fifo.yaml", "report run",
                                         "report run2", "gen gemm --m 16 --n 16 --k 16 --chip ./fifo.yaml -o g"));

}  // namespace
}  // namespace vinci
