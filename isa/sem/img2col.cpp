// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/img2col.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace vinci::isa::insn {
namespace {

using Block = std::array<std::byte, kBlockBytes>;

// The padding value in every element of a block.
Block padding_block(u64 value, u8 type) {
  if (type == img2col::b4) value = (value & 0xf) * 0x11;
  const u32 bytes = std::max(1u, img2col::bits(type) / 8);
  Block block;
  for (u32 i = 0; i < kBlockBytes; i += bytes)
    std::memcpy(block.data() + i, &value, bytes);  // the low bytes come first
  return block;
}

// Rows of the map that some positions and some rows of the filter meet.
struct Rows {
  i64 first = 0, last = -1;
};

// A feature map in L1 and the walk of a filter over it.
struct Image {
  u64 src = 0;       // byte address
  u64 boundary = 0;  // reading goes on at address 0 from here; 0: no limit
  i64 width = 0, height = 0, left = 0, right = 0, top = 0, bottom = 0;
  i64 stride_w = 1, stride_h = 1, filter_w = 1, filter_h = 1, dilation_w = 1, dilation_h = 1;
  i64 first_w = 0, first_h = 0;  // corner of position 0
  i64 first_row = 0, row = 0;    // positions in the first row and in each other one

  bool empty() const { return width == 0 || height == 0; }
  i64 points() const { return filter_w * filter_h; }

  void set_map(u64 fmatrix) {
    const auto field = [&](unsigned lsb, u64 mask) { return static_cast<i64>(fmatrix >> lsb & mask); };
    width = field(0, 0xffff);
    height = field(16, 0xffff);
    left = field(32, 0xff);
    right = field(40, 0xff);
    top = field(48, 0xff);
    bottom = field(56, 0xff);
  }

  // After everything else is set; position 0 at (w, h).
  void start(i64 w, i64 h) {
    const auto at_least_1 = [](std::string_view operand, i64 value) {
      if (value < 1) fail(Fault::Program, "operand {} is {}; it must be at least 1", operand, value);
    };
    at_least_1("strideW", stride_w);
    at_least_1("strideH", stride_h);
    at_least_1("filterW", filter_w);
    at_least_1("filterH", filter_h);
    at_least_1("dilationW", dilation_w);
    at_least_1("dilationH", dilation_h);
    constexpr i64 kMaxEdge = 32767;
    if (width > kMaxEdge || height > kMaxEdge) {
      fail(Fault::Program, "set_fmatrix gives a feature map of {} x {}; an edge has at most {}", height, width,
           kMaxEdge);
    }
    const i64 last_w = width + right - ((filter_w - 1) * dilation_w + 1);  // corner of the last position of a row
    const i64 last_h = height + bottom - ((filter_h - 1) * dilation_h + 1);
    if (last_w < -left || last_h < -top) {
      fail(Fault::Program, "a filter of {} x {} with dilation {} x {} does not fit the padded feature map of {} x {}",
           filter_h, filter_w, dilation_h, dilation_w, height + top + bottom, width + left + right);
    }
    constexpr u64 kMinBoundary = 1024;
    if (boundary != 0 && (boundary < kMinBoundary || src >= boundary)) {
      fail(Fault::Program, "set_l1_3d_size gives {:#x} bytes; it must be at least {:#x} and above src = {:#x}",
           boundary, kMinBoundary, src);
    }
    first_w = w;
    first_h = h;
    first_row = w > last_w ? 1 : (last_w - w) / stride_w + 1;
    row = (last_w + left) / stride_w + 1;
  }

  i64 row_of(i64 position) const { return position < first_row ? 0 : 1 + (position - first_row) / row; }
  i64 corner_h(i64 position) const { return first_h + row_of(position) * stride_h; }
  i64 corner_w(i64 position) const {
    return position < first_row ? first_w + position * stride_w : -left + (position - first_row) % row * stride_w;
  }

  // The block of C0 channels under a point of the filter, or null outside of the map.
  const std::byte* block(const View& l1, i64 c1, i64 corner_w, i64 corner_h, i64 kw, i64 kh) const {
    const i64 w = corner_w + kw * dilation_w;
    const i64 h = corner_h + kh * dilation_h;
    if (w < 0 || w >= width || h < 0 || h >= height) return nullptr;
    const u64 at = src + static_cast<u64>((c1 * height + h) * width + w) * kBlockBytes;
    return l1.bytes(boundary == 0 ? at : at % boundary, kBlockBytes).data();
  }

  // What positions first..last read under rows kh_first..kh_last of the filter in channels c1_first..c1_last. Positions
  // of one row read its columns from the first to the last; of more than one, whole rows of the map, which is more than
  // a narrow filter touches.
  Access read(i64 first, i64 last, i64 kh_first, i64 kh_last, i64 c1_first, i64 c1_last) const {
    const i64 top_row = std::max<i64>(0, corner_h(first) + kh_first * dilation_h);
    const i64 end_row = std::min<i64>(height, corner_h(last) + kh_last * dilation_h + 1);
    Access a{.buffer = BufId::L1, .align = kBlockBytes, .address = src, .operand = "src"};
    if (top_row >= end_row) return a;
    constexpr u64 kTooMuch = u64{1} << 30;  // more than any L1, so that the check of bounds says so
    const u64 plane = static_cast<u64>(height * width) * kBlockBytes;
    u64 rows = static_cast<u64>((end_row - top_row) * width) * kBlockBytes;
    a.address += static_cast<u64>(c1_first) * plane + static_cast<u64>(top_row * width) * kBlockBytes;
    a.len = static_cast<u32>(std::min(rows, kTooMuch));
    if (corner_h(first) == corner_h(last)) {
      const i64 begin_column = std::max<i64>(0, corner_w(first));
      const i64 end_column = std::min<i64>(width, corner_w(last) + (filter_w - 1) * dilation_w + 1);
      if (begin_column >= end_column)
        return {.buffer = BufId::L1, .align = kBlockBytes, .address = src, .operand = "src"};
      a.address += static_cast<u64>(begin_column) * kBlockBytes;
      a.len = static_cast<u32>((end_column - begin_column) * kBlockBytes);
      a.count[1] = static_cast<u32>(end_row - top_row);
      a.stride[1] = static_cast<i64>(width) * kBlockBytes;
      rows = static_cast<u64>((end_row - top_row - 1) * width) * kBlockBytes + a.len;
    }
    // A filter of one point takes the map as a matrix, whose last fractals may have rows without data.
    if (points() == 1) a.unit = kFractalBytes;
    a.count[0] = static_cast<u32>(c1_last - c1_first + 1);
    a.stride[0] = static_cast<i64>(plane);
    const u64 end = a.address + static_cast<u64>(c1_last - c1_first) * plane + rows;
    if (boundary == 0 || end <= boundary) return a;
    return {.buffer = BufId::L1, .align = kBlockBytes, .len = static_cast<u32>(boundary), .operand = "src"};
  }
};

Access fractals_written(BufId dst, u64 address, u32 len, u32 count, i64 stride) {
  return {.buffer = dst,
          .write = true,
          .align = static_cast<u16>(dst == BufId::UB ? kBlockBytes : kFractalBytes),
          .address = address,
          .len = len,
          .count = {count, 1, 1},
          .stride = {stride, 0, 0},
          .operand = "dst"};
}

// ---------------------------------------------------------------------------------------------------------------------
// Version 1

constexpr i64 kEdge = 16;  // positions of a fractal

Image image_of(const Img2colArgs& x, const Spr& spr) {
  if (x.cSize != 0) {
    fail(Fault::Unsupported, "operand cSize is {}; img2col models 0: the layout of 4 channels is not public", x.cSize);
  }
  if (x.jumpStride == 0 || (x.repeatMode == 0 && x.jumpStride != 1)) {
    fail(x.jumpStride == 0 ? Fault::Program : Fault::Unsupported,
         "operand jumpStride is {}; it is 1 to 127 with repeatMode 1, and 1 with repeatMode 0", x.jumpStride);
  }
  if (x.fetchFilterW >= x.filterW || x.fetchFilterH >= x.filterH) {
    fail(Fault::Program, "fetchFilterH, fetchFilterW = {}, {} is no point of a filter of {} x {}", x.fetchFilterH,
         x.fetchFilterW, x.filterH, x.filterW);
  }
  constexpr i16 kMinCorner = -255;
  if (x.leftTopW < kMinCorner || x.leftTopH < kMinCorner) {
    fail(Fault::Program, "leftTopH, leftTopW = {}, {}; they must be at least {}", x.leftTopH, x.leftTopW, kMinCorner);
  }
  Image image{.src = x.src,
              .boundary = spr[SprId::l1_3d_size] * kBlockBytes,
              .stride_w = x.strideW,
              .stride_h = x.strideH,
              .filter_w = x.filterW,
              .filter_h = x.filterH,
              .dilation_w = x.dilationW,
              .dilation_h = x.dilationH};
  image.set_map(spr[SprId::fmatrix]);
  if (image.empty()) fail(Fault::Program, "img2col without a feature map: set_fmatrix gives it no size");
  image.start(x.leftTopW, x.leftTopH);
  return image;
}

// The point of the filter of fractal i, counted from (c1 = 0, kh = 0, kw = 0).
i64 point_of(const Img2colArgs& x, i64 i) {
  const i64 first = (i64{x.c1Index} * x.filterH + x.fetchFilterH) * x.filterW + x.fetchFilterW;
  return x.repeatMode == 0 ? first + i : first;
}

}  // namespace

Footprint img2col_footprint(const Img2colArgs& x, BufId dst, const Spr& spr) {
  const Image image = image_of(x, spr);
  if (x.repeatTime == 0) return {};
  const i64 positions = x.repeatMode == 0 ? kEdge : kEdge * x.repeatTime;
  const i64 first = point_of(x, 0), last = point_of(x, x.repeatTime - 1);
  const i64 c1_first = first / image.points(), c1_last = last / image.points();
  const bool one = c1_first == c1_last;
  return {image.read(0, positions - 1, one ? first / image.filter_w % image.filter_h : 0,
                     one ? last / image.filter_w % image.filter_h : image.filter_h - 1, c1_first, c1_last),
          fractals_written(dst, x.dst, kFractalBytes, x.repeatTime, i64{x.jumpStride} * kFractalBytes)};
}

void img2col_v1(const Img2colArgs& x, BufId dst, ExecContext& c) {
  const Image image = image_of(x, c.spr);
  const Block padding = padding_block(c.spr[SprId::padding], x.type);
  for (i64 i = 0; i < x.repeatTime; ++i) {
    const i64 point = point_of(x, i);
    const i64 kw = point % image.filter_w, kh = point / image.filter_w % image.filter_h, c1 = point / image.points();
    const i64 position = x.repeatMode == 0 ? 0 : i * kEdge;
    std::byte* into =
        c.mem[dst].bytes(x.dst + static_cast<u64>(i) * x.jumpStride * kFractalBytes, kFractalBytes).data();
    for (i64 p = position; p < position + kEdge; ++p, into += kBlockBytes) {
      const std::byte* from = image.block(c.mem[BufId::L1], c1, image.corner_w(p), image.corner_h(p), kw, kh);
      std::memcpy(into, from != nullptr ? from : padding.data(), kBlockBytes);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Version 2

namespace {

// The part of the matrix that an instruction takes: `time` pieces, which together are rows x cols.
struct Part {
  i64 rows = 0, cols = 0, piece_rows = 0, piece_cols = 0;
  i64 first_row = 0, first_col = 0;  // of the first piece, in the whole matrix
  i64 row_step = 0, col_step = 0;    // from piece to piece, in the whole matrix

  bool empty() const { return rows == 0 || cols == 0; }
  i64 row_of(i64 i) const { return first_row + i / piece_rows * row_step + i % piece_rows; }
  i64 col_of(i64 j) const { return first_col + j / piece_cols * col_step + j % piece_cols; }
};

i64 filter_edge(u8 edge, u8 more) { return edge + (more != 0 ? 256 : 0); }

Part part_of(const Img2colV2Args& x, const Spr& spr) {
  const u64 rpt = spr[SprId::l3d_rpt];
  const i64 stride = static_cast<i64>(rpt & 0xffff), time = static_cast<i64>(rpt >> 16 & 0xff);
  const bool down = (rpt >> 24 & 1) == 0;
  const i64 c0 = img2col::c0(x.type);
  const u64 map = spr[x.fmatrixCtrl != 0 ? SprId::fmatrix_b : SprId::fmatrix];
  const bool nothing = (map & 0xffff) == 0 || (map >> 16 & 0xffff) == 0 || x.sizeChannel == 0 || x.stepK == 0 ||
                       x.stepM == 0 || time == 0 || filter_edge(x.filterW, x.filterSizeW) == 0 ||
                       filter_edge(x.filterH, x.filterSizeH) == 0;
  if (nothing) return {};
  if (time > 1 && (down ? x.stepM % kEdge : x.stepK % c0) != 0) {
    fail(Fault::Unsupported,
         "set_l3d_rpt repeats {} times a part of {} rows and {} columns; {} must be a multiple of {}", time, x.stepM,
         x.stepK, down ? "rows" : "columns", down ? kEdge : c0);
  }
  return {.rows = down ? time * x.stepM : x.stepM,
          .cols = down ? x.stepK : time * x.stepK,
          .piece_rows = x.stepM,
          .piece_cols = x.stepK,
          .first_row = x.posM,
          .first_col = x.posK,
          .row_step = down ? stride * kEdge : 0,
          .col_step = down ? 0 : stride * c0};
}

// The layout of the part in the destination: fractals of 16 x C0 elements.
enum class Order : u8 { plain, transposed, nz };
struct Shape {
  Order order = Order::plain;
  i64 c0 = 0, across = 0, fractals = 0;  // elements of a block, fractals of a row of them, all fractals

  // Fractal of element (i, j); only for the orders that exchange rows and columns.
  i64 fractal(i64 i, i64 j) const {
    return order == Order::nz ? i / c0 * across + j / kEdge : j / kEdge * across + i / c0;
  }
};

Shape shape_of(const Img2colV2Args& x, BufId dst, const Part& part) {
  const i64 c0 = img2col::c0(x.type);
  Shape s{.c0 = c0};
  if (dst == BufId::L0B) {
    s.order = Order::nz;
    s.across = ceil_div(part.cols, kEdge);
    s.fractals = ceil_div(part.rows, c0) * s.across;
  } else if (x.transpose != 0) {
    s.order = Order::transposed;
    s.across = ceil_div(part.rows, c0);
    s.fractals = ceil_div(part.cols, kEdge) * s.across;
  } else {
    s.across = ceil_div(part.cols, c0);
    s.fractals = ceil_div(part.rows, kEdge) * s.across;
  }
  return s;
}

Image image_of(const Img2colV2Args& x, const Spr& spr) {
  Image image{.src = x.src,
              .boundary = spr[SprId::l1_3d_size],
              .stride_w = x.strideW,
              .stride_h = x.strideH,
              .filter_w = filter_edge(x.filterW, x.filterSizeW),
              .filter_h = filter_edge(x.filterH, x.filterSizeH),
              .dilation_w = x.dilationW,
              .dilation_h = x.dilationH};
  image.set_map(spr[x.fmatrixCtrl != 0 ? SprId::fmatrix_b : SprId::fmatrix]);
  image.start(-image.left, -image.top);
  return image;
}

void check_arch(const Img2colV2Args& x, Arch arch) {
  if (arch == Arch::m200 && (x.filterSizeW != 0 || x.filterSizeH != 0 || x.fmatrixCtrl != 0)) {
    fail(Fault::Program, "img2colv2 of m200 has no filterSizeW, filterSizeH and fmatrixCtrl; they must be 0");
  }
}

void check(const Img2colV2Args& x, BufId dst, const Part& part, const Image& image, Arch arch) {
  const i64 c0 = img2col::c0(x.type);
  const bool transposes =
      dst == BufId::L0A && (x.type == img2col::b16 || (x.type == img2col::b32 && arch == Arch::c220));
  if (x.transpose != 0 && dst != BufId::L0B && !transposes) {
    fail(Fault::Program, "operand transpose is 1; img2colv2 of {} transposes {} to L0A only", isa::name(arch),
         arch == Arch::c220 ? "b16 and b32" : "b16");
  }
  if (x.sizeChannel % c0 != 0) {
    fail(Fault::Unsupported, "operand sizeChannel is {}; img2colv2 models multiples of {}: the layout of fewer is open",
         x.sizeChannel, c0);
  }
  const i64 cols = x.sizeChannel * image.points();
  const i64 end = part.col_of(part.cols - 1) + 1;
  if (x.posK % c0 != 0 || (x.stepK % c0 != 0 && end != cols)) {
    fail(Fault::Program, "operands posK and stepK are {} and {}; they must be multiples of C0 = {}", x.posK, x.stepK,
         c0);
  }
  if (end > cols) {
    fail(Fault::Program, "columns up to {} of a matrix of {}: {} channels x {} points of the filter", end, cols,
         x.sizeChannel, image.points());
  }
}

template <u32 Bytes>
void scatter(const Shape& s, i64 i, i64 j, i64 count, const std::byte* block, std::byte* dst) {
  for (i64 e = 0; e < count; ++e) {
    std::byte* into = dst + s.fractal(i, j + e) * kFractalBytes + (j + e) % kEdge * kBlockBytes + i % s.c0 * Bytes;
    std::memcpy(into, block + e * Bytes, Bytes);
  }
}

// Elements j.. of row i, at most a block of them.
void place(const Shape& s, u8 type, i64 i, i64 j, i64 count, const std::byte* block, std::byte* dst) {
  if (s.order == Order::plain) {
    std::memcpy(dst + (i / kEdge * s.across + j / s.c0) * kFractalBytes + i % kEdge * kBlockBytes, block,
                static_cast<usize>(count * img2col::bits(type) / 8));
  } else if (type == img2col::b8) {
    scatter<1>(s, i, j, count, block, dst);
  } else if (type == img2col::b16) {
    scatter<2>(s, i, j, count, block, dst);
  } else {
    scatter<4>(s, i, j, count, block, dst);
  }
}

}  // namespace

Footprint img2colv2_footprint(const Img2colV2Args& x, BufId dst, const Spr& spr, Arch arch) {
  check_arch(x, arch);
  const Part part = part_of(x, spr);
  if (part.empty()) return {};
  const Image image = image_of(x, spr);
  check(x, dst, part, image, arch);
  const i64 c0 = img2col::c0(x.type);
  const i64 first = part.first_col / c0, last = part.col_of(part.cols - 1) / c0;  // blocks of columns: c1, kh, kw
  const i64 c1_first = first / image.points(), c1_last = last / image.points();
  const bool one = c1_first == c1_last;
  return {
      image.read(part.first_row, part.row_of(part.rows - 1), one ? first / image.filter_w % image.filter_h : 0,
                 one ? last / image.filter_w % image.filter_h : image.filter_h - 1, c1_first, c1_last),
      fractals_written(dst, x.dst, kFractalBytes, static_cast<u32>(shape_of(x, dst, part).fractals), kFractalBytes)};
}

Work img2colv2_work(const Img2colV2Args& x, BufId dst, const Spr& spr) {
  const Part part = part_of(x, spr);
  if (part.empty()) return {};
  const u64 n = static_cast<u64>(shape_of(x, dst, part).fractals);
  return {.steps = n, .bytes = n * kFractalBytes, .bursts = n};
}

void img2col_v2(const Img2colV2Args& x, BufId dst, ExecContext& c) {
  const Part part = part_of(x, c.spr);
  if (part.empty()) return;
  const Image image = image_of(x, c.spr);
  const Shape shape = shape_of(x, dst, part);
  const Block padding = padding_block(c.spr[SprId::padding], x.type);
  std::byte* into = c.mem[dst].bytes(x.dst, static_cast<u64>(shape.fractals) * kFractalBytes).data();
  for (i64 i = 0; i < part.rows; ++i) {
    const i64 position = part.row_of(i);
    const i64 w = image.corner_w(position), h = image.corner_h(position);
    for (i64 j = 0; j < part.cols; j += shape.c0) {
      const i64 point = part.col_of(j) / shape.c0;
      const std::byte* from = image.block(c.mem[BufId::L1], point / image.points(), w, h, point % image.filter_w,
                                          point / image.filter_w % image.filter_h);
      place(shape, x.type, i, j, std::min(shape.c0, part.cols - j), from != nullptr ? from : padding.data(), into);
    }
  }
}

}  // namespace vinci::isa::insn
