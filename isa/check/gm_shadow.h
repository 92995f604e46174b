// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "isa/check/defined.h"
#include "isa/check/record.h"

namespace vinci::isa::check {

// Who touched global memory last, exact to the byte. Granules that accesses cover whole have cells like those of
// LocalShadow; a granule that some access covers in part also has a list of its parts. Of reads, the latest and the
// latest of another block are kept, apart for scalar units and the others: whichever block writes next, one of them is
// not its own.
class GmShadow {
 public:
  using Met = std::function<void(u32 record, u64 begin, u64 end, bool was_write)>;

  explicit GmShadow(const Records& records) : records_(records) {}

  void read(const Record& r, u32 number, u64 begin, u64 end, const Met& met);
  void write(const Record& r, u32 number, u64 begin, u64 end, const Met& met);
  // Calls met for the latest writes of these bytes, and enters nothing.
  void latest_writes(u64 begin, u64 end, const Met& met);
  // Calls f(begin, end) for what was never written.
  void undefined(u64 begin, u64 end, const std::function<void(u64, u64)>& f);

 private:
  static constexpr u64 kPageGranules = 2048;
  static constexpr u64 kPageBytes = kPageGranules * kGranule;
  using Cells = std::array<u32, kPageGranules>;
  enum Slot : u8 { latest, other, scalar_latest, scalar_other, slots };
  struct Page {
    Cells defined{}, written{};
    std::array<std::unique_ptr<Cells>, slots> read;
    std::array<u8, kPageGranules> split{};  // whether parts_ has the granule
  };
  struct Part {
    u32 record = 0;
    u32 bits = 0;  // of the bytes
    bool write = false;
  };
  static constexpr usize kMaxParts = 256;  // of one granule; the oldest go

  Page& page(u64 number);
  template <class F>
  void each_page(u64 begin, u64 end, F&& f);
  void meet_cells(const Page& p, u64 base, u64 from, u64 to, bool reads_too, const Met& met) const;
  void meet_parts(u64 granule, u32 bits, bool reads_too, const Met& met) const;
  void enter_part(Page& p, u64 granule, u32 bits, const Record& r, u32 number, bool write);
  void enter_read(Page& p, u64 from, u64 to, const Record& r, u32 number) const;

  const Records& records_;
  std::unordered_map<u64, std::unique_ptr<Page>> pages_;
  std::unordered_map<u64, std::vector<Part>> parts_;  // by granule
  u64 cached_number_ = ~u64{0};
  Page* cached_ = nullptr;
};

}  // namespace vinci::isa::check
