// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "sim/config/unit_text.h"

namespace vinci::config {
namespace {

template <class T>
struct Case {
  const char* text;
  decltype(T::value) value;
};

template <class T>
void accepts(std::initializer_list<Case<T>> cases) {
  for (const Case<T>& c : cases) {
    T value;
    EXPECT_TRUE(read_text(c.text, value)) << c.text;
    EXPECT_EQ(value.value, c.value) << c.text;
    T back;
    EXPECT_TRUE(read_text(write_text(value), back)) << write_text(value);
    EXPECT_EQ(back, value) << write_text(value);
  }
}

template <class T>
void refuses(std::initializer_list<const char*> texts) {
  for (const char* text : texts) {
    T value{};
    EXPECT_FALSE(read_text(text, value)) << text;
    EXPECT_EQ(value, T{}) << text;
  }
}

TEST(Units, Bytes) {
  accepts<Bytes>({{"0B", 0},
                  {"512KiB", 524288},
                  {"1MiB", 1048576},
                  {"64GiB", 68719476736},
                  {"1.5KiB", 1536},
                  {"1 MiB", 1048576},
                  {"1e3B", 1000},
                  {"16777215TiB", 16777215ull << 40},
                  {"18446744073709551615B", std::numeric_limits<u64>::max()}});
  refuses<Bytes>(
      {"",        "512",   "512KB", "512kB",         "KiB",   "-1B",    "+1B",         "1.5B",
       "1..5KiB", "1.KiB", ".5KiB", "0x10B",         "1e99B", "1e400B", "16777216TiB", "18446744073709551616B",
       "1  KiB",  " 1KiB", "1KiB ", "1e1000000000B", "nan",   "infB",   "1,5KiB"});
}

TEST(Units, Frequencies) {
  accepts<Hertz>({{"1.85GHz", 1.85e9}, {"1.06GHz", 1.06e9}, {"680MHz", 680e6}, {"50kHz", 50e3}, {"1Hz", 1}});
  refuses<Hertz>({"1.85", "1.85Ghz", "1.85 G Hz", "1e309Hz", "1e300GHz", "-1GHz"});
}

TEST(Units, Rates) {
  accepts<BytesPerCycle>({{"256B/cycle", 256}, {"45.5B/cycle", 45.5}, {"0B/cycle", 0}});
  refuses<BytesPerCycle>({"256", "256B", "256B/s", "256B/cycles"});
  accepts<BytesPerSecond>({{"1.8TB/s", 1.8e12}, {"204.8GB/s", 204.8e9}, {"3MB/s", 3e6}, {"1kB/s", 1e3}, {"7B/s", 7}});
  refuses<BytesPerSecond>({"1.8TiB/s", "1.8TB", "1.8"});
}

TEST(Units, Times) {
  accepts<Seconds>({{"2.5us", 2.5e-6}, {"150ns", 150e-9}, {"1s", 1}, {"3ms", 3e-3}, {"7ps", 7e-12}, {"0s", 0}});
  refuses<Seconds>({"2.5", "2.5usec", "2.5 u s", "2.5m"});
  accepts<Cycles>({{"170", 170}, {"170cycles", 170}, {"0", 0}});
  refuses<Cycles>({"2.5", "1e3", "170cycle", "170ns", "18446744073709551616"});
}

TEST(Units, PlainNumbers) {
  double cycles = 0;
  EXPECT_TRUE(read_text("2.1", cycles));
  EXPECT_EQ(cycles, 2.1);
  EXPECT_TRUE(read_text("4.9cycles", cycles));
  EXPECT_EQ(cycles, 4.9);
  EXPECT_FALSE(read_text("nan", cycles));
  EXPECT_FALSE(read_text("2.1B", cycles));
  u32 whole = 0;
  EXPECT_TRUE(read_text("4294967295", whole));
  EXPECT_EQ(whole, 4294967295u);
  EXPECT_FALSE(read_text("4294967296", whole));
  EXPECT_FALSE(read_text("1.0", whole));
  bool truth = false;
  EXPECT_TRUE(read_text("true", truth));
  EXPECT_TRUE(truth);
  EXPECT_FALSE(read_text("True", truth));
}

TEST(Units, AreWrittenShort) {
  EXPECT_EQ(write_text(Hertz{1.85e9}), "1.85GHz");
  EXPECT_EQ(write_text(Seconds{50e-9}), "50ns");
  EXPECT_EQ(write_text(Seconds{30e-9}), "30ns");  // where the division by a power of ten rounds
  EXPECT_EQ(write_text(Seconds{0}), "0s");
  EXPECT_EQ(write_text(Bytes{192 * 1024}), "192KiB");
  EXPECT_EQ(write_text(Bytes{1000}), "1000B");
  EXPECT_EQ(write_text(BytesPerSecond{91.12e9}), "91.12GB/s");
  EXPECT_EQ(write_text(BytesPerCycle{47.25}), "47.25B/cycle");
}

}  // namespace
}  // namespace vinci::config
