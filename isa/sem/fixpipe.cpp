// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/fixpipe.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "isa/census/cast.h"
#include "isa/numeric/bfloat16.h"
#include "isa/sem/atomic.h"
#include "isa/sem/fractal_kernel.h"
#include "isa/sem/quant.h"
#include "isa/shadow/shadow.h"

// STATUS bits 8 and 9 record what f16 results did (a modelling choice: the public bit descriptions name L0C to UB
// only).
namespace vinci::isa::insn {
namespace {

constexpr u32 kColumns = 16;                         // of a block column of L0C
constexpr u32 kRowBytes = kColumns * sizeof(float);  // in L0C

enum class Output : u8 { b32, f16, bf16, s16, b8, s4 };

struct QuantMode {
  QuantPre number;
  bool from_s32;    // else f32
  bool parameters;  // has quantisation parameters
  bool vector;      // one for each column
  Output output;
};
constexpr std::array<QuantMode, 15> kModes{{{QuantPre::none, false, false, false, Output::b32},
                                            {QuantPre::f32_to_f16, false, false, false, Output::f16},
                                            {QuantPre::f32_to_bf16, false, false, false, Output::bf16},
                                            {QuantPre::vreq8, true, true, true, Output::b8},
                                            {QuantPre::req8, true, true, false, Output::b8},
                                            {QuantPre::vdeqf16, true, true, true, Output::f16},
                                            {QuantPre::deqf16, true, true, false, Output::f16},
                                            {QuantPre::vshifts16, true, true, true, Output::s16},
                                            {QuantPre::shifts16, true, true, false, Output::s16},
                                            {QuantPre::vreq4, true, true, true, Output::s4},
                                            {QuantPre::req4, true, true, false, Output::s4},
                                            {QuantPre::vqf322b8, false, true, true, Output::b8},
                                            {QuantPre::qf322b8, false, true, false, Output::b8},
                                            {QuantPre::vqf322s4, false, true, true, Output::s4},
                                            {QuantPre::qf322s4, false, true, false, Output::s4}}};

const QuantMode& mode_of(const FixpipeArgs& x) {
  for (const QuantMode& m : kModes) {
    if (static_cast<u8>(m.number) == x.quantPre) return m;
  }
  fail(Fault::Unsupported,
       "operand QuantPRE is {}; FIXPIPE models 0, 1, 8 to 13, 16, 21, 22, 23, 24, 25 and 26 of QuantMode_t",
       x.quantPre);
}

// Where values go: block columns of `width` elements, rows one after the other (NZ), or one block as wide as the matrix
// whose rows are apart (row-major).
struct Layout {
  u32 columns = 0;     // that leave: NSize, in NZ filled up with what is in L0C
  u32 width = 0;       // of a block column; the last one may have fewer
  u64 block_step = 0;  // bytes from one block column to the next
  u64 row_step = 0;    // bytes from row to row of a block column; 0: they are contiguous
  u32 bits = 32;       // of an element
  u32 matrices = 1;
  u64 src_matrix = 0, dst_matrix = 0;  // bytes from one matrix to the next

  u64 bytes(u64 elements) const { return elements * bits / 8; }
};

Layout layout_of(const FixpipeArgs& x, const Spr& spr) {
  Layout l{.bits = fixpipe_output_bits(x)};
  if (x.nz2nd != 0) {
    const u64 para = spr[SprId::nd_para];
    l.columns = l.width = x.nSize;
    l.row_step = l.bytes(x.dstStride);
    l.matrices = std::max<u32>(para & 0xffff, 1);
    l.src_matrix = (para >> 16 & 0xffff) * kColumns * kRowBytes;
    l.dst_matrix = l.bytes(para >> 32 & 0xffff);
    return l;
  }
  l.columns = x.channelSplit != 0 ? x.nSize : align_up<u32>(x.nSize, kColumns);
  l.width = x.channelSplit != 0 ? 8 : std::max(kColumns, kBlockBytes * 8 / l.bits);
  l.block_step = u64{x.dstStride} * kBlockBytes;
  return l;
}

void check(const FixpipeArgs& x, BufId dst) {
  const QuantMode& mode = mode_of(x);
  if (x.unitFlag == 1) fail(Fault::Program, "operand unitFlag is 1, which is reserved; 0 is off, 2 keeps, 3 updates");
  if (x.reluPre > 3) fail(Fault::Program, "operand ReLUPRE is {}; FIXPIPE has 0 to 3", x.reluPre);
  // Source: platform configuration of the 910B1, scalar_relu and vector_relu.
  if (x.reluPre > 1 && (mode.output == Output::b32 || mode.output == Output::bf16)) {
    fail(Fault::Program, "operand ReLUPRE is {}; results of QuantPRE {} take 0 (none) or 1 (relu)", x.reluPre,
         x.quantPre);
  }
  if (x.reluPre > 1 && mode.output == Output::s16)
    fail(Fault::Unsupported, "operand ReLUPRE is {}; results of s16 model 0 (none) and 1 (relu)", x.reluPre);
  if (x.channelSplit != 0) {
    if (dst != BufId::GM) fail(Fault::Program, "operand channelSplit is 1, which is for global memory only");
    if (mode.number != QuantPre::none || x.nz2nd != 0 || x.unitFlag != 0) {
      fail(Fault::Program, "operand channelSplit is 1, which needs QuantPRE 0, NZ2ND_EN 0 and unitFlag 0");
    }
    if (x.nSize % 8 != 0) fail(Fault::Program, "operand NSize is {}; with channelSplit it is a multiple of 8", x.nSize);
  }
  if (x.nz2nd != 0) {
    if (dst != BufId::GM) fail(Fault::Unsupported, "operand NZ2ND_EN is 1; copy_matrix_cc_to_cbuf models 0 (NZ)");
    if (x.mSize > 8192) fail(Fault::Program, "operand MSize is {}; with NZ2ND_EN it is at most 8192", x.mSize);
  }
  if (mode.output == Output::s4) {
    if (x.nz2nd == 0 && x.nSize % 64 != 0) {
      fail(Fault::Unsupported, "operand NSize is {}; NZ of s4 models multiples of 64", x.nSize);
    }
    if (x.nz2nd != 0 && (x.nSize % 2 != 0 || x.dstStride % 2 != 0)) {
      fail(Fault::Program, "operands NSize {} and dstStride {}: rows of s4 have whole bytes", x.nSize, x.dstStride);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------

u64 quant_table(const Spr& spr) { return (spr[SprId::fpc] >> 8 & 0xff) * 128; }
u64 relu_table(const Spr& spr) { return (spr[SprId::fpc] & 0xff) * 64; }

// What happens to the values of one column.
struct Channel {
  QuantParameter quant;
  float positive = 1, negative = 1;  // factors
};

// A value of L0C, what its factor meets of it (behind a shift), the factor and their product.
struct Scaled {
  double src;
  float shifted, factor, value;
};

// The factors of all columns, and what becomes of a value.
class Converter {
 public:
  Converter(const FixpipeArgs& x, u32 columns, ExecContext& c)
      : mode_(mode_of(x)),
        relu_(x.reluPre),
        columns_(x.nSize),
        context_(c),
        census_(mode_.output == Output::b32 ? nullptr : c.census,
                mode_.output == Output::bf16 ? LaneType::bf16 : LaneType::f16, saturating()) {
    if (!scales()) return;
    const View& fb = c.mem[BufId::FB];
    channels_.resize(columns);
    for (u32 i = 0; i < columns; ++i) {
      Channel& channel = channels_[i];
      if (mode_.parameters) {
        const u64 bits =
            mode_.vector ? (i < x.nSize ? fb.load<u64>(quant_table(c.spr) + 8 * i) : 0) : c.spr[SprId::quant_pre];
        channel.quant = quant_parameter(bits);
        channel.positive = fixpipe_factor(static_cast<u32>(bits));
      }
      switch (static_cast<ReluPre>(relu_)) {
        case ReluPre::none: channel.negative = channel.positive; break;
        case ReluPre::normal: channel.negative = 0; break;
        case ReluPre::scalar: channel.negative = fixpipe_factor(static_cast<u32>(c.spr[SprId::lrelu_alpha])); break;
        case ReluPre::vector:
          channel.negative = i < x.nSize ? fixpipe_factor(fb.load<u32>(relu_table(c.spr) + 4 * i)) : 0;
          break;
      }
    }
  }

  // `count` values whose columns are `first`, `first` + 1 .. `first` + `width` - 1, again and again.
  void operator()(const std::byte* from, std::byte* into, u64 count, u32 first, u32 width) {
    if (!scales()) {
      const bool relu = relu_ == static_cast<u8>(ReluPre::normal);
      if (mode_.number == QuantPre::none) return copy(from, into, count, relu);
      if (first + width <= columns_) return record(narrow(from, into, count, relu));
      return narrow_with_padding(from, into, count, first, width, relu);
    }
    u8 nibble = 0;
    for (u64 i = 0; i < count; ++i) {
      const u32 column = first + i % width;
      const Channel& channel = channels_[column];
      const bool padding = column >= columns_;  // leaves with the matrix, but is none of it
      if (padding) census_.skip(1);
      const bool counts = census_ && !padding;
      if (mode_.output == Output::s16) {
        const i32 value = s32_at(from + 4 * i);
        put(into + 2 * i, static_cast<i16>(shifted_s16(value, channel.quant.shift)));
        if (counts)
          census_.add_integer(value, clips_s16(value, channel.quant.shift), shifted_s16(value, channel.quant.shift));
        continue;
      }
      const Scaled v = scaled(from + 4 * i, channel);
      switch (mode_.output) {
        case Output::b32:  // copied above
        case Output::s16: break;
        case Output::f16: {
          const RoundedF16 r = round_f32_to_f16(std::bit_cast<u32>(v.value));
          const bool made = !std::isfinite(v.value) && std::isfinite(v.src);
          // The product may be lost in f32 already.
          const bool lost = v.value == 0 && v.shifted != 0 && v.factor != 0;
          if (!padding) record({.overflow = r.overflow || made, .underflow = r.underflow || lost});
          put(into + 2 * i, saturate_f16(r.bits, saturating() ? OverflowMode::saturation : OverflowMode::inf_nan));
          if (counts) census_.add(v.shifted, v.factor, v.value);
          break;
        }
        case Output::bf16:
          put(into + 2 * i, saturate_bf16(f32_to_bf16(std::bit_cast<u32>(v.value)), context_.overflow));
          if (counts) census_.add(v.shifted, v.factor, v.value);
          break;
        case Output::b8: {
          const auto bits = static_cast<u8>(quantise(v.value, channel.quant.offset, range_b8(channel.quant.is_signed)));
          put(into + i, bits);
          if (counts) count_quantised(v, channel, range_b8(channel.quant.is_signed));
          break;
        }
        case Output::s4: {  // the lower nibble first
          const auto bits = static_cast<u8>(quantise(v.value, channel.quant.offset, kRangeS4) & 15);
          if (counts) count_quantised(v, channel, kRangeS4);
          if (i % 2 == 0) {
            nibble = bits;
          } else {
            put(into + i / 2, static_cast<u8>(nibble | bits << 4));
          }
          break;
        }
      }
    }
  }

 private:
  template <class T>
  static void put(std::byte* into, T v) {
    std::memcpy(into, &v, sizeof v);
  }
  // Whether values meet factors; the two frequent modes do without.
  bool scales() const {
    if (mode_.number != QuantPre::none && mode_.number != QuantPre::f32_to_f16) return true;
    return relu_ >= static_cast<u8>(ReluPre::scalar);
  }
  // Dequantisation knows no INF_NAN mode. Source: published documentation of QuantMode_t.
  bool saturating() const { return mode_.parameters || context_.overflow == OverflowMode::saturation; }
  void record(Narrowed n) {
    if (n.overflow) context_.status |= status::kL0cToUbOverflow;
    if (n.underflow) context_.status |= status::kL0cToUbUnderflow;
  }
  Narrowed narrow(const std::byte* from, std::byte* into, u64 count, bool relu) {
    census_.add({from, count * sizeof(float)}, relu);
    return narrow_f32(from, into, count, {.saturate = saturating(), .relu = relu});
  }
  // Columns beyond the matrix leave, too, but raise nothing.
  void narrow_with_padding(const std::byte* from, std::byte* into, u64 count, u32 first, u32 width, bool relu) {
    const u32 matrix = columns_ - std::min(first, columns_);
    for (u64 i = 0; i < count; i += width) {
      record(narrow(from + 4 * i, into + 2 * i, matrix, relu));
      narrow_f32(from + 4 * (i + matrix), into + 2 * (i + matrix), width - matrix,
                 {.saturate = saturating(), .relu = relu});
      census_.skip(width - matrix);
    }
  }
  void count_quantised(const Scaled& v, const Channel& channel, IntRange range) {
    const bool shifted = mode_.from_s32 && channel.quant.shift_first;
    const bool clipped = (shifted && clips_s16(static_cast<i32>(v.src), channel.quant.shift)) ||
                         clips(v.value, channel.quant.offset, range);
    census_.add_integer(v.src, clipped, quantise(v.value, channel.quant.offset, range));
  }
  // No factor: the sum of integers keeps all its bits until the shift.
  i32 s32_at(const std::byte* from) const {
    i32 value = 0;
    std::memcpy(&value, from, sizeof value);
    return relu_ == static_cast<u8>(ReluPre::normal) ? std::max(value, 0) : value;
  }
  Scaled scaled(const std::byte* from, const Channel& channel) const {
    float v = 0;
    double src = 0;
    if (mode_.from_s32) {
      i32 bits = 0;
      std::memcpy(&bits, from, sizeof bits);
      v = dequant_input(bits, channel.quant);
      src = bits;
    } else {
      std::memcpy(&v, from, sizeof v);
      src = v;
    }
    if (relu_ == static_cast<u8>(ReluPre::normal) && v <= 0) return {src, v, 0, 0};
    const float factor = v < 0 ? channel.negative : channel.positive;
    return {src, v, factor, v * factor};
  }
  // The instruction does not say whether the bits are f32 or s32, so relu looks at the sign alone, which is right for
  // both: NaN that the cube makes have no sign.
  static void copy(const std::byte* from, std::byte* into, u64 count, bool relu) {
    std::memcpy(into, from, count * sizeof(i32));
    for (u64 i = 0; relu && i < count; ++i) {
      i32 v = 0;
      std::memcpy(&v, from + 4 * i, sizeof v);
      put(into + 4 * i, std::max(v, 0));
    }
  }

  const QuantMode& mode_;
  u8 relu_;
  u32 columns_;  // of the matrix
  ExecContext& context_;
  CastCensus census_;
  std::vector<Channel> channels_;  // empty where no value is scaled
};

void store(BufId dst, u64 address, std::span<const std::byte> bytes, ExecContext& c) {
  if (dst == BufId::GM) {
    write_gm(address, bytes, c);
  } else {
    std::ranges::copy(bytes, c.mem[dst].bytes(address, bytes.size()).begin());
  }
}

}  // namespace

Footprint fixpipe_footprint(const FixpipeArgs& x, BufId dst, const Spr& spr) {
  check(x, dst);
  const QuantMode& mode = mode_of(x);
  const Layout l = layout_of(x, spr);
  Footprint f{{.buffer = BufId::L0C,
               .align = kRowBytes,
               .address = x.src,
               .len = x.mSize * kRowBytes,
               .count = {ceil_div<u32>(x.nSize, kColumns), l.matrices, 1},
               .stride = {i64{x.srcStride} * kRowBytes, static_cast<i64>(l.src_matrix), 0},
               .operand = "src"}};
  const auto written = [&](const Access& a) { return dst == BufId::GM ? gm_write_access(a, spr, Arch::c220) : a; };
  Access out{.buffer = dst, .write = true, .address = x.dst, .operand = "dst"};
  if (x.nz2nd != 0) {
    out.len = static_cast<u32>(l.bytes(l.columns));
    out.count = {x.mSize, l.matrices, 1};
    out.stride = {static_cast<i64>(l.row_step), static_cast<i64>(l.dst_matrix), 0};
    f.add(written(out));
  } else {
    out.align = kBlockBytes;
    out.len = static_cast<u32>(l.bytes(u64{x.mSize} * l.width));
    out.count = {l.columns / l.width, 1, 1};
    out.stride = {static_cast<i64>(l.block_step), 0, 0};
    f.add(written(out));
    if (const u32 rest = l.columns % l.width; rest != 0) {
      out.address += out.count[0] * l.block_step;
      out.len = static_cast<u32>(l.bytes(u64{x.mSize} * rest));
      out.count = {1, 1, 1};
      f.add(written(out));
    }
  }
  const auto table = [&](std::string_view operand, u64 address, u32 entry) {
    if (x.nSize != 0) f.add({.buffer = BufId::FB, .address = address, .len = x.nSize * entry, .operand = operand});
  };
  if (mode.vector) table("quantisation table", quant_table(spr), 8);
  if (x.reluPre == static_cast<u8>(ReluPre::vector)) table("relu table", relu_table(spr), 4);
  return f;
}

namespace {

constexpr u64 kMostElements = 4096;  // on their way at once: of a row, or of several
using Elements = std::array<std::byte, kMostElements * sizeof(float)>;

// Rows of `width` values from the column `first` on, side by side in `into` unless they are so in L0C.
const std::byte* gather(const View& l0c, u64 src, const FixpipeArgs& x, u32 first, u32 width, u64 rows,
                        Elements& into) {
  const auto at = [&](u32 column, u64 row) { return src + (u64{column / kColumns} * x.srcStride + row) * kRowBytes; };
  if (width == kColumns && first % kColumns == 0) return l0c.bytes(at(first, 0), rows * kRowBytes).data();
  for (u64 r = 0; r < rows; ++r) {
    for (u32 done = 0; done < width;) {
      const u32 column = first + done, now = std::min(width - done, kColumns - column % kColumns);
      std::memcpy(into.data() + (r * width + done) * 4,
                  l0c.bytes(at(column, r), kRowBytes).data() + column % kColumns * 4, now * 4);
      done += now;
    }
  }
  return into.data();
}

// Block columns, each with its rows one after the other.
void write_blocks(const FixpipeArgs& x, BufId dst, const Layout& l, Converter& convert, ExecContext& c) {
  alignas(64) Elements in, out;
  for (u32 first = 0, block = 0; first < l.columns; first += l.width, ++block) {
    const u32 width = std::min(l.width, l.columns - first);
    const u64 at_once = kMostElements / width;
    for (u64 row = 0; row < x.mSize; row += at_once) {
      const u64 rows = std::min<u64>(at_once, x.mSize - row);
      convert(gather(c.mem[BufId::L0C], x.src + row * kRowBytes, x, first, width, rows, in), out.data(), rows * width,
              first, width);
      store(dst, x.dst + block * l.block_step + row * l.bytes(width), std::span(out).first(l.bytes(rows * width)), c);
    }
  }
}

// Some rows of all columns at once: each block column of L0C is converted as it is.
void write_rows(u64 src, u64 dst, const FixpipeArgs& x, const Layout& l, Converter& convert, ExecContext& c) {
  constexpr u64 kMostRows = 16;
  alignas(64) Elements in, block, out;
  const u64 row_bytes = l.bytes(l.columns);
  // A census counts the values of a row in their order.
  const u64 at_once = c.census != nullptr ? 1 : std::clamp<u64>(out.size() / row_bytes, 1, kMostRows);
  for (u64 row = 0; row < x.mSize; row += at_once) {
    const u64 rows = std::min<u64>(at_once, x.mSize - row);
    for (u32 first = 0; first < l.columns; first += kColumns) {
      const u32 width = std::min(kColumns, l.columns - first);
      const u64 bytes = l.bytes(width);
      convert(gather(c.mem[BufId::L0C], src + row * kRowBytes, x, first, width, rows, in), block.data(), rows * width,
              first, width);
      for (u64 r = 0; r < rows; ++r)
        std::memcpy(out.data() + r * row_bytes + l.bytes(first), block.data() + r * bytes, bytes);
    }
    for (u64 r = 0; r < rows; ++r) {
      write_gm(dst + (row + r) * l.row_step, std::span(out).subspan(r * row_bytes, row_bytes), c);
    }
  }
}

// The references of what has left L0C.
class FixpipeShadow {
 public:
  FixpipeShadow(const FixpipeArgs& x, BufId dst, const Layout& l, const ExecContext& c)
      : x_(x), dst_(dst), l_(l), c_(c), mode_(mode_of(x)) {}

  void count(ShadowPoint& point) const {
    for (u64 matrix = 0; matrix < l_.matrices; ++matrix) {
      for (u64 row = 0; row < x_.mSize; ++row) {
        const u32 piece = x_.channelSplit != 0 ? kColumns / 2 : kColumns;
        for (u32 first = 0; first < l_.columns; first += piece)
          count_piece(point, matrix, row, first, std::min(piece, l_.columns - first));
      }
    }
  }

 private:
  u64 address(u64 matrix, u64 row, u32 column) const {
    if (x_.nz2nd != 0) return x_.dst + matrix * l_.dst_matrix + row * l_.row_step + l_.bytes(column);
    const u32 block = column / l_.width, width = std::min(l_.width, l_.columns - block * l_.width);
    return x_.dst + block * l_.block_step + l_.bytes(row * width + column % l_.width);
  }
  // Columns of one row that are side by side in source and destination.
  void count_piece(ShadowPoint& point, u64 matrix, u64 row, u32 first, u32 count) const {
    RefSpace& to = point.space(dst_);
    const u64 at = address(matrix, row, first);
    const u64 from = x_.src + matrix * l_.src_matrix + (u64{first / kColumns} * x_.srcStride + row) * kRowBytes +
                     first % kColumns * 4;
    const bool narrows = mode_.number == QuantPre::f32_to_f16 || mode_.number == QuantPre::f32_to_bf16;
    if ((!narrows && mode_.number != QuantPre::none) || x_.reluPre > static_cast<u8>(ReluPre::normal))
      return to.clear(at, std::max<u64>(1, l_.bytes(count)));
    const RefSpace& l0c = point.space(BufId::L0C);
    if (!narrows && l0c.type(from, count * 4) == RefType::none) return to.clear(at, l_.bytes(count));
    std::array<double, kColumns> own{}, reference{}, value{};
    for (u32 i = 0; i < count; ++i)
      own[i] = c_.mem[BufId::L0C].load<float>(from + 4 * i);
    const auto some = [count](auto& of) { return std::span(of).first(count); };
    point.add_restarted(l0c.load(LaneType::f32, from, some(own), some(reference)));
    u64 decided = 0;
    for (u32 i = 0; x_.reluPre != 0 && i < count; ++i) {
      decided += (own[i] > 0 && reference[i] < 0) || (own[i] < 0 && reference[i] > 0) ? 1 : 0;
      if (own[i] < 0 || (own[i] == 0 && reference[i] < 0)) reference[i] = 0;
      if (own[i] < 0) own[i] = 0;
    }
    point.add_decided(decided);
    const LaneType type = !narrows                               ? LaneType::f32
                          : mode_.number == QuantPre::f32_to_f16 ? LaneType::f16
                                                                 : LaneType::bf16;
    // Columns beyond the matrix leave with it, but count for nothing.
    const u32 counted = std::min(count, x_.nSize - std::min<u32>(first, x_.nSize));
    if (narrows && counted != 0) {
      read(at, type, std::span(value).first(counted));
      point.count(type, std::span(value).first(counted), std::span(own).first(counted),
                  std::span(reference).first(counted), (matrix * x_.mSize + row) * x_.nSize + first);
    }
    to.store(type, at, some(reference));
  }
  void read(u64 address, LaneType type, std::span<double> into) const {
    std::array<u16, kColumns> bits{};
    const auto bytes = std::as_writable_bytes(std::span(bits)).first(into.size() * sizeof(u16));
    if (dst_ == BufId::GM) {
      c_.mem.gm().read(address, bytes);
    } else {
      std::ranges::copy(c_.mem[dst_].bytes(address, bytes.size()), bytes.begin());
    }
    for (usize i = 0; i < into.size(); ++i)
      into[i] = type == LaneType::f16 ? f16_value(bits[i]) : bf16_value(bits[i]);
  }

  const FixpipeArgs& x_;
  BufId dst_;
  const Layout& l_;
  const ExecContext& c_;
  const QuantMode& mode_;
};

// Whether an element of the matrices is infinite or NaN; false where it does not say that they are floats.
bool moves_specials(const FixpipeArgs& x, const Layout& l, const ExecContext& c) {
  const QuantMode& mode = mode_of(x);
  if (mode.number == QuantPre::none || mode.from_s32) return false;
  for (u64 matrix = 0; matrix < l.matrices; ++matrix) {
    for (u64 row = 0; row < x.mSize; ++row) {
      for (u32 column = 0; column < x.nSize; ++column) {
        const u64 at = x.src + matrix * l.src_matrix + (u64{column / kColumns} * x.srcStride + row) * kRowBytes;
        if (!f32_finite(c.mem[BufId::L0C].load<u32>(at + column % kColumns * sizeof(u32)))) return true;
      }
    }
  }
  return false;
}

void write_matrices(const FixpipeArgs& x, BufId dst, const Layout& l, Converter& convert, ExecContext& c) {
  if (x.nz2nd == 0) return write_blocks(x, dst, l, convert, c);
  for (u64 matrix = 0; matrix < l.matrices; ++matrix)
    write_rows(x.src + matrix * l.src_matrix, x.dst + matrix * l.dst_matrix, x, l, convert, c);
}

}  // namespace

void fixpipe_execute(const FixpipeArgs& x, BufId dst, ExecContext& c) {
  check(x, dst);
  const Layout l = layout_of(x, c.spr);
  if (l.columns == 0) return;
  if (c.numerics.moved_specials == MovedSpecials::raised && moves_specials(x, l, c)) c.status |= status::kMovedNanInf;
  Converter convert(x, l.columns, c);
  write_matrices(x, dst, l, convert, c);
  for (ShadowPoint* point = c.shadow; point != nullptr; point = point->next)
    FixpipeShadow(x, dst, l, c).count(*point);
}

}  // namespace vinci::isa::insn
