// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/program/program_file.h"

#include <gtest/gtest.h>

#include <string>

#include "isa/base/error.h"
#include "isa/text/text.h"

namespace vinci::isa {
namespace {

Program sample() { return assemble("start: mov X1, 5\nloop: sub X1, X1, 1\nbgt X1, 0, loop\nend", "k.s", Arch::m200); }

void put(std::vector<std::byte>& bytes, usize at, u64 value, usize size) {
  for (usize i = 0; i < size; ++i)
    bytes.at(at + i) = static_cast<std::byte>(value >> (8 * i));
}

void seal(std::vector<std::byte>& bytes) { put(bytes, 32, program_checksum(bytes), 8); }

std::string error_of(const std::vector<std::byte>& bytes) {
  try {
    read_program(bytes, "k.bin");
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Input);
    return e.what();
  }
  return "no error";
}

// The sample with one field of the header or the body changed, and a checksum that fits again.
std::string error_after(usize at, u64 value, usize size) {
  std::vector<std::byte> bytes = write_program(sample());
  put(bytes, at, value, size);
  seal(bytes);
  return error_of(bytes);
}

TEST(ProgramFile, KeepsEverything) {
  Program p = sample();
  p.labels.push_back({"f<int>(α β)", 2});  // names of other front ends
  p.source = "größe/k.s";
  EXPECT_EQ(read_program(write_program(p), "k.bin"), p);
}

TEST(ProgramFile, LaysOutBytesAsDocumented) {
  const std::vector<std::byte> bytes = write_program(sample());
  ASSERT_EQ(bytes.size(), 40 + 4 * 32 + 4 * 4 + 2 * 8 + 9 + 3);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), 8), std::string("VNCPROG\0", 8));
  EXPECT_EQ(static_cast<int>(bytes[8]), 1);                // version
  EXPECT_EQ(static_cast<int>(bytes[12]), 2);               // m200
  EXPECT_EQ(static_cast<int>(bytes[16]), 4);               // instructions
  EXPECT_EQ(static_cast<int>(bytes[40 + 32]), 0x03);       // opcode of sub
  EXPECT_EQ(static_cast<int>(bytes[40 + 4 * 32 + 4]), 2);  // line of sub
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()) + bytes.size() - 12, 12), "startloopk.s");
}

TEST(ProgramFile, EveryTruncationIsRefused) {
  const std::vector<std::byte> bytes = write_program(sample());
  for (usize n = 0; n < bytes.size(); ++n) {
    ASSERT_THROW(read_program(std::span(bytes).first(n), "k.bin"), Error) << n;
  }
}

TEST(ProgramFile, EveryDamagedByteIsNoticed) {
  const std::vector<std::byte> good = write_program(sample());
  for (usize i = 0; i < good.size(); ++i) {
    std::vector<std::byte> bytes = good;
    bytes[i] ^= std::byte{0x10};
    ASSERT_THROW(read_program(bytes, "k.bin"), Error) << i;
  }
}

TEST(ProgramFile, SaysWhatIsWrong) {
  EXPECT_EQ(error_of({}), "k.bin: this is no program file; it does not start with VNCPROG");
  EXPECT_EQ(error_after(8, 7, 4), "k.bin: program format version 7 is not known; this tool reads 1 and 2");
  EXPECT_EQ(error_after(12, 9, 4), "k.bin: architecture 9 is not known");
  EXPECT_EQ(error_after(16, 0xffffffff, 4), "k.bin: the header announces 154618822688 bytes, the file has 212");
  EXPECT_EQ(error_after(24, 8, 4), "k.bin: the header announces 211 bytes, the file has 212");
  EXPECT_EQ(error_after(40, 0xfff, 2), "k.bin: k.s:1: no instruction has opcode 0xfff");
  EXPECT_EQ(error_after(40 + 4 * 32 + 4 * 4, 5, 4), "k.bin: label 'start' is outside the program");
  EXPECT_EQ(error_after(40 + 4 * 32 + 4 * 4 + 4, 4, 4), "k.bin: the label names have 8 bytes, the header announces 9");
  EXPECT_EQ(error_after(212 - 12, 0x07, 1), "k.bin: the name of label 0 is not 1 to 4096 bytes of printable UTF-8");
  EXPECT_EQ(error_after(212 - 1, 0xff, 1), "k.bin: the source name is not at most 65536 bytes of printable UTF-8");
  std::vector<std::byte> bytes = write_program(sample());
  bytes.back() = std::byte{'S'};
  EXPECT_EQ(error_of(bytes), "k.bin: the checksum does not match; the file is damaged");
}

TEST(ProgramFile, DoesNotWriteWhatItWouldNotRead) {
  Program p = sample();
  p.labels.push_back({"start", 1});
  EXPECT_THROW(write_program(p), Error);
  p.labels.back().name = "\x80";
  EXPECT_THROW(write_program(p), Error);
}

}  // namespace
}  // namespace vinci::isa
