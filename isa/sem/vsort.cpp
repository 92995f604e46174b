// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vsort.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

namespace vinci::isa::insn {
namespace {

// What is sorted: a score, and the bytes that move with it.
struct Record {
  u32 bytes = 0;
  u32 score_at = 0;
  LaneType type = LaneType::f16;
};
Record proposal(LaneType t) { return {kProposalElements * lane_bytes(t), kScoreElement * lane_bytes(t), t}; }
Record sort_record(LaneType t) { return {kSortRecordBytes, 0, t}; }

// A key that is greater where the score sorts first.
u32 score_key(const std::byte* score, LaneType type) {
  constexpr u32 kSign = 0x80000000;
  u32 bits = 0;
  if (type == LaneType::f16) {
    u16 half = 0;
    std::memcpy(&half, score, sizeof half);
    bits = f16_to_f32(half);
  } else {
    std::memcpy(&bits, score, sizeof bits);
  }
  if (f32_nan(bits)) return ~u32{0};
  if (f32_zero(bits)) return kSign;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
u32 record_key(const std::byte* record, const Record& r) { return score_key(record + r.score_at, r.type); }

Access whole(u32 address, u64 bytes, bool write, u32 align, std::string_view operand) {
  return {.buffer = BufId::UB,
          .write = write,
          .align = static_cast<u16>(align),
          .address = address,
          .len = static_cast<u32>(bytes),
          .operand = operand};
}
// The positions of `keys` in descending order of their values; equal ones stay in order.
template <usize N>
std::array<u8, N> descending(const std::array<u32, N>& keys) {
  std::array<u8, N> order{};
  std::iota(order.begin(), order.end(), u8{0});
  std::ranges::stable_sort(order, [&](u8 a, u8 b) { return keys[a] > keys[b]; });
  return order;
}

std::array<u32, 4> addresses(const MergeArgs& x) { return {x.src0, x.src1, x.src2, x.src3}; }
std::array<u16, 4> lengths(const MergeArgs& x) { return {x.len0, x.len1, x.len2, x.len3}; }

// Merges the lists of one repeat to `to`; returns how many elements of each were taken.
std::array<u16, 4> merge(const std::array<std::span<const std::byte>, 4>& lists, const Record& r, bool suspend,
                         std::byte* to) {
  std::array<u16, 4> taken{};
  const auto next = [&](usize i) { return lists[i].subspan(usize{taken[i]} * r.bytes); };
  // The key of the next element of each list plus one; 0 where none is left.
  std::array<u64, 4> keys{};
  const auto look = [&](usize i) { keys[i] = next(i).empty() ? 0 : u64{record_key(next(i).data(), r)} + 1; };
  for (usize i = 0; i < lists.size(); ++i)
    look(i);
  while (true) {
    const auto best = static_cast<usize>(std::ranges::max_element(keys) - keys.begin());  // the first of equal ones
    if (keys[best] == 0) return taken;
    const std::byte* const from = next(best).data();
    if (r.bytes == kSortRecordBytes) {  // a size that the compiler knows
      std::memcpy(to, from, kSortRecordBytes);
    } else {
      std::memcpy(to, from, r.bytes);
    }
    to += r.bytes;
    ++taken[best];
    look(best);
    if (suspend && keys[best] == 0) return taken;
  }
}

}  // namespace

Footprint sort_proposals_footprint(const SortArgs& x, LaneType type) {
  const u64 bytes = u64{x.repeat} * kProposals * proposal(type).bytes;
  return {ub_blocks(x.src, bytes, false, "src"), ub_blocks(x.dst, bytes, true, "dst")};
}

void sort_proposals(const SortArgs& x, LaneType type, ExecContext& c) {
  const Record r = proposal(type);
  const View& ub = c.mem[BufId::UB];
  const u32 bytes = kProposals * r.bytes;
  std::vector<std::byte> from(bytes);
  for (u32 i = 0; i < x.repeat; ++i) {
    std::ranges::copy(ub.bytes(x.src + u64{i} * bytes, bytes), from.begin());
    std::array<u32, kProposals> keys{};
    for (u32 p = 0; p < kProposals; ++p)
      keys[p] = record_key(from.data() + usize{p} * r.bytes, r);
    std::byte* to = ub.bytes(x.dst + u64{i} * bytes, bytes).data();
    for (const u8 p : descending(keys)) {
      std::memcpy(to, from.data() + usize{p} * r.bytes, r.bytes);
      to += r.bytes;
    }
  }
}

Footprint sort_records_footprint(const SortArgs& x, LaneType type) {
  const u64 records = u64{x.repeat} * kSortRecords;
  return {ub_blocks(x.src, records * lane_bytes(type), false, "src0"), ub_blocks(x.src1, records * 4, false, "src1"),
          ub_blocks(x.dst, records * kSortRecordBytes, true, "dst")};
}

void sort_records(const SortArgs& x, LaneType type, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  const u32 score_bytes = lane_bytes(type);
  std::array<std::byte, kSortRecords * 4> scores{}, indices{};
  for (u32 i = 0; i < x.repeat; ++i) {
    const u64 first = u64{i} * kSortRecords;
    std::ranges::copy(ub.bytes(x.src + first * score_bytes, kSortRecords * score_bytes), scores.begin());
    std::ranges::copy(ub.bytes(x.src1 + first * 4, kSortRecords * 4), indices.begin());
    std::array<u32, kSortRecords> keys{};
    for (u32 e = 0; e < kSortRecords; ++e)
      keys[e] = score_key(scores.data() + usize{e} * score_bytes, type);
    std::byte* to = ub.bytes(x.dst + first * kSortRecordBytes, kSortRecords * kSortRecordBytes).data();
    for (const u8 e : descending(keys)) {
      std::memset(to, 0, 4);  // of an f16 the two bytes after it are zero
      std::memcpy(to, scores.data() + usize{e} * score_bytes, score_bytes);
      std::memcpy(to + 4, indices.data() + usize{e} * 4, 4);
      to += kSortRecordBytes;
    }
  }
}

Footprint merge_footprint(const MergeArgs& x, LaneType type, Arch arch) {
  if (x.valid != 3 && x.valid != 7 && x.valid != 15) {
    fail(Fault::Program, "validBit = {}: the lists that take part are the first two (3), three (7) or four (15)",
         x.valid);
  }
  const bool split = contains(kSplitArchs, arch);
  const Record r = split ? sort_record(type) : proposal(type);
  const std::array<u32, 4> src = addresses(x);
  const std::array<u16, 4> len = lengths(x);
  if (x.repeat > 1) {
    const u32 bytes = u32{x.len0} * r.bytes;
    for (usize i = 0; i < src.size(); ++i) {
      if (x.valid != 15 || x.suspend != 0 || len[i] != x.len0 || src[i] != src[0] + i * bytes) {
        fail(Fault::Program,
             "repeat = {}: above 1, the four lists must be equally long and adjacent, validBit 15 and "
             "ifExhaustedSuspension 0",
             x.repeat);
      }
    }
  }
  if (x.repeat == 0) return {};
  const u64 bytes = merged_elements(x) * r.bytes * x.repeat;
  Footprint f{whole(x.dst, bytes, true, split ? kBlockBytes : r.bytes, "dst")};
  if (x.repeat > 1) {
    f.add(whole(x.src0, bytes, false, r.bytes, "src0"));
    return f;
  }
  static constexpr std::array<std::string_view, 4> kNames{"src0", "src1", "src2", "src3"};
  for (usize i = 0; i < src.size(); ++i) {
    if ((x.valid >> i & 1) != 0) f.add(whole(src[i], u64{len[i]} * r.bytes, false, r.bytes, kNames[i]));
  }
  return f;
}

void merge_lists(const MergeArgs& x, LaneType type, ExecContext& c) {
  const bool split = contains(kSplitArchs, c.arch);
  const Record r = split ? sort_record(type) : proposal(type);
  const View& ub = c.mem[BufId::UB];
  const u64 step = merged_elements(x) * r.bytes;
  std::vector<std::byte> out(step);
  for (u32 i = 0; i < x.repeat; ++i) {
    std::array<std::span<const std::byte>, 4> lists{};
    for (usize l = 0; l < lists.size(); ++l) {
      if ((x.valid >> l & 1) != 0) lists[l] = ub.bytes(addresses(x)[l] + i * step, u64{lengths(x)[l]} * r.bytes);
    }
    const std::array<u16, 4> taken = merge(lists, r, x.suspend != 0, out.data());
    const u64 bytes = std::accumulate(taken.begin(), taken.end(), u64{0}) * r.bytes;
    std::copy_n(out.begin(), bytes, ub.bytes(x.dst + i * step, bytes).begin());
    const unsigned bits = split ? 16 : 13;
    c.results.vms4_sr = 0;
    for (usize l = 0; l < taken.size(); ++l)
      c.results.vms4_sr |= u64{taken[l]} << (l * bits);
  }
}

Footprint proposal_field_footprint(const SortArgs& x, LaneType type, bool concat, Arch arch) {
  // Source of the limit of m100: the TIK library of CANN.
  const u32 last = arch == Arch::m100 && !concat ? 3 : 5;
  if (x.mode > last) {
    fail(Fault::Program, "mode = {}: the fields of a proposal that can be named here are 0 to {}", x.mode, last);
  }
  const u64 proposals = u64{x.repeat} * kProposals;
  const u64 dst_bytes = proposals * (concat ? proposal(type).bytes : lane_bytes(type));
  const u64 src_bytes = proposals * (concat ? lane_bytes(type) : proposal(type).bytes);
  return {ub_blocks(x.src, src_bytes, false, "src"), ub_blocks(x.dst, dst_bytes, true, "dst")};
}

void proposal_concat(const SortArgs& x, LaneType type, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  const u32 bytes = lane_bytes(type);
  for (u32 r = 0; r < x.repeat; ++r) {
    std::array<std::byte, kProposals * 4> elements{};
    std::ranges::copy(ub.bytes(x.src + u64{r} * kProposals * bytes, kProposals * bytes), elements.begin());
    for (u32 p = 0; p < kProposals; ++p) {
      const u64 at = x.dst + ((u64{r} * kProposals + p) * kProposalElements + x.mode) * bytes;
      std::memcpy(ub.bytes(at, bytes).data(), elements.data() + usize{p} * bytes, bytes);
    }
  }
}

void proposal_extract(const SortArgs& x, LaneType type, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  const u32 bytes = lane_bytes(type);
  for (u32 r = 0; r < x.repeat; ++r) {
    std::array<std::byte, kProposals * 4> elements{};
    for (u32 p = 0; p < kProposals; ++p) {
      const u64 at = x.src + ((u64{r} * kProposals + p) * kProposalElements + x.mode) * bytes;
      std::memcpy(elements.data() + usize{p} * bytes, ub.bytes(at, bytes).data(), bytes);
    }
    std::memcpy(ub.bytes(x.dst + u64{r} * kProposals * bytes, kProposals * bytes).data(), elements.data(),
                kProposals * bytes);
  }
}

}  // namespace vinci::isa::insn
