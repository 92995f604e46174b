// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/shadow/planes.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "isa/shadow/kernels.h"

namespace vinci::isa {
namespace {

constexpr std::array<std::byte, 4096> kZeros{};
constexpr usize kVector = 8;  // doubles; no vector of the kernels has more

// Whether all blocks have the type of the first.
bool are_alike(std::span<const RefType> blocks) {
  return std::memcmp(blocks.data(), blocks.data() + 1, blocks.size() - 1) == 0;
}

// Calls f(offset, bytes) for pieces of some bytes.
template <class F>
void in_pieces(u64 bytes, F f) {
  for (u64 done = 0; done < bytes;) {
    const u64 now = std::min<u64>(bytes - done, kZeros.size());
    f(done, now);
    done += now;
  }
}

}  // namespace

RefSpace::Page* RefSpace::find(u64 number) const {
  if (number == last_number_) return last_;
  const auto found = pages_.find(number);
  last_number_ = number;
  last_ = found == pages_.end() ? nullptr : found->second.get();
  return last_;
}

RefSpace::Page& RefSpace::make(u64 number) {
  if (Page* page = find(number)) return *page;
  std::unique_ptr<Page>& page = pages_[number];
  page = std::make_unique<Page>();
  last_ = page.get();
  return *last_;
}

RefType RefSpace::type(u64 begin, u64 bytes) const {
  if (dirty_ == 0 || bytes == 0) return RefType::none;
  RefType out = RefType::none;
  each_part(begin, bytes, [&](u64 page_number, u64 first, u64 blocks) {
    const Page* page = find(page_number);
    if (page == nullptr) return;
    const auto part = std::span(*page).subspan(first, blocks);
    for (const RefType now : are_alike(part) ? part.first(1) : part)
      out = joined(out, now);
  });
  return out;
}

void RefSpace::clear(u64 begin, u64 bytes) {
  if (dirty_ == 0 || bytes == 0) return;
  const u64 end = begin + bytes;
  for (u64 block = begin / kBlock; block <= (end - 1) / kBlock; ++block) {
    Page* page = find(block / kPageBlocks);
    if (page == nullptr) {
      block |= kPageBlocks - 1;
      continue;
    }
    RefType& type = (*page)[block % kPageBlocks];
    if (type == RefType::none) continue;
    const u64 from = std::max(begin, block * kBlock), to = std::min(end, (block + 1) * kBlock);
    for (u32 p = 0; p < kPlanes; ++p)
      write(p, from, std::span(kZeros).first(to - from));
    if (to - from != kBlock) continue;
    type = RefType::none;
    --dirty_;
  }
}

void RefSpace::set_type(u64 begin, u64 bytes, RefType type) {
  const u64 end = begin + bytes;
  each_part(begin, bytes, [&](u64 page_number, u64 first, u64 blocks) {
    const auto part = std::span(make(page_number)).subspan(first, blocks);
    if (part[0] == type && are_alike(part)) return;
    u64 at = (page_number * kPageBlocks + first) * kBlock;
    for (RefType& now : part) {
      const bool whole = begin <= at && at + kBlock <= end;
      dirty_ += now == RefType::none ? 1 : 0;
      now = whole ? type : joined(now, type);
      at += kBlock;
    }
  });
}

void RefSpace::end(u64 begin, u64 bytes) {
  if (bytes == 0) return;
  std::array<u16, kZeros.size() / 2> marks;
  marks.fill(reference::kEnded);
  in_pieces(bytes, [&](u64 at, u64 now) {
    for (u32 p = 0; p + 1 < kPlanes; ++p)
      write(p, begin + at, std::span(kZeros).first(now));
    write(kPlanes - 1, begin + at, std::as_bytes(std::span(marks)).first(now));
  });
  set_type(begin, bytes, RefType::mixed);
}

void RefSpace::copy(const RefSpace& from, u64 source, u64 begin, u64 bytes) {
  const RefType type = from.type(source, bytes);
  if (type == RefType::none) return clear(begin, bytes);
  std::array<std::byte, kZeros.size()> part;
  in_pieces(bytes, [&](u64 at, u64 now) {
    for (u32 p = 0; p < kPlanes; ++p) {
      from.read(p, source + at, std::span(part).first(now));
      write(p, begin + at, std::span(part).first(now));
    }
  });
  set_type(begin, bytes, type);
}

u64 RefSpace::load(LaneType type, u64 address, std::span<const double> values, std::span<double> into) const {
  const u64 bytes = values.size() * lane_bytes(type);
  if (this->type(address, bytes) == RefType::none) {
    std::ranges::copy(values, into.begin());
    return 0;
  }
  const usize bytes_each = lane_bytes(type);
  PlaneLanes planes;
  u64 ended = 0;
  for (usize i = 0; i < values.size();) {
    const usize now = std::min<usize>(values.size() - i, kRepeatBytes / bytes_each);
    for (u32 p = 0; p < kPlanes; ++p) {
      if (now * bytes_each != kRepeatBytes) planes[p] = {};
      read(p, address + i * bytes_each, std::span(planes[p].bytes).first(now * bytes_each));
    }
    if (now % kVector == 0) {  // in place
      ended +=
          shadow_kernels::decode(static_cast<u32>(bytes_each), read_only(places_of(planes)), &values[i], &into[i], now);
      i += now;
      continue;
    }
    DoubleLanes own, references;
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i), now, own.v.begin());
    ended += shadow_kernels::decode(static_cast<u32>(bytes_each), read_only(places_of(planes)), own.v.data(),
                                    references.v.data(), now);
    std::copy_n(references.v.begin(), now, into.begin() + static_cast<std::ptrdiff_t>(i));
    i += now;
  }
  return ended;
}

void RefSpace::store(LaneType type, u64 address, std::span<const double> from) {
  const usize bytes_each = lane_bytes(type);
  PlaneLanes planes;
  for (usize i = 0; i < from.size();) {
    const usize now = std::min<usize>(from.size() - i, kRepeatBytes / bytes_each);
    if (now % kVector == 0) {
      shadow_kernels::encode(static_cast<u32>(bytes_each), &from[i], places_of(planes), now);
    } else {
      DoubleLanes some{};
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i), now, some.v.begin());
      shadow_kernels::encode(static_cast<u32>(bytes_each), some.v.data(), places_of(planes), now);
    }
    for (u32 p = 0; p < kPlanes; ++p)
      write(p, address + i * bytes_each, std::span<const std::byte>(planes[p].bytes).first(now * bytes_each));
    i += now;
  }
  set_type(address, from.size() * bytes_each, ref_type(type));
}

void HostRefs::read(u32 plane, u64 address, std::span<std::byte> into) const {
  for (u64 done = 0; done < into.size();) {
    const u64 at = address + done, offset = at % PageTable::kPageBytes;
    const u64 now = std::min<u64>(into.size() - done, PageTable::kPageBytes - offset);
    if (const std::byte* page = planes_[plane].find(at / PageTable::kPageBytes)) {
      std::memcpy(into.data() + done, page + offset, now);
    } else {
      std::memset(into.data() + done, 0, now);
    }
    done += now;
  }
}

void HostRefs::write(u32 plane, u64 address, std::span<const std::byte> from) {
  for (u64 done = 0; done < from.size();) {
    const u64 at = address + done, offset = at % PageTable::kPageBytes;
    const u64 now = std::min<u64>(from.size() - done, PageTable::kPageBytes - offset);
    std::memcpy(planes_[plane].make(at / PageTable::kPageBytes) + offset, from.data() + done, now);
    done += now;
  }
}

CoreRefs::CoreRefs(const CoreMem& mem, GlobalRefs& gm) {
  BufSizes sizes{};
  for (usize b = 0; b < kBufCount; ++b)
    sizes[b] = static_cast<BufId>(b) == BufId::GM ? 0 : mem[static_cast<BufId>(b)].size();
  for (u32 p = 0; p < kPlanes; ++p) {
    planes[p] = std::make_unique<CoreMem>(sizes, gm.planes[p]);
    for (usize b = 0; b < kBufCount; ++b)
      buffers[b].views[p] = (*planes[p])[static_cast<BufId>(b)];
  }
}

}  // namespace vinci::isa
