// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/enums.h"
#include "isa/base/error.h"
#include "isa/base/types.h"

// The data formats of tensors. A format is one line of kFormats: the axes of the tensor and, from the outermost to the
// innermost, what its storage is indexed by. Size, offset, inverse and padding follow from that line.
// Sources: published Ascend C data layout formats; aclFormat of the CANN runtime documentation; ge::Format (types.h);
// format conversions of mindspore-ai/mindspore trans.cc (Apache-2.0) for C1HWNCoC0, FRACTAL_Z_3D and groups;
// csim generic_mad of mindspore-ai/akg (Apache-2.0) for the fractals of the cube.
namespace vinci::isa {

enum class Format : u8 {
  ND,
  FRACTAL_NZ,
  FRACTAL_ZZ,
  nZ,
  nN,
  NCHW,
  NHWC,
  HWCN,
  NC1HWC0,
  NC1HWC0_C04,
  FRACTAL_Z,
  C1HWNCoC0,
  NCDHW,
  NDHWC,
  DHWCN,
  NDC1HWC0,
  FRACTAL_Z_3D,
};

struct FormatInfo {
  std::string_view name;
  std::string_view other_names;  // separated by spaces
  // The axes of the tensor, a letter each, in the order in which shapes are given. B means any number of leading
  // axes, in every format of a matrix the outermost.
  std::string_view axes;
  // The dimensions of the storage, separated by spaces. Each is a product of digits of the axes: X the whole axis,
  // X1 = x / X0, X0 = x % X0; Co is C0 once more: only elements with equal C0 and Co exist. G counts blocks of groups.
  std::string_view dims;
  char c0_axis = 0;   // the axis that is split by C0, 0 = none; the other split axes are split by 16
  u32 fixed_c0 = 0;   // 0: C0 follows from the type of the elements
  i8 ge_format = -1;  // number in ge::Format, -1 = none
  bool acl = false;   // that number is in aclFormat too
  std::string_view doc;
};

inline constexpr auto kFormats = enum_table<Format, FormatInfo>({
    {Format::ND, {"ND", "", "BMN", "B M N", 0, 0, 2, true, "row-major matrices"}},
    {Format::FRACTAL_NZ,
     {"FRACTAL_NZ", "NZ Nz zN", "BMN", "B N1 M1 M0 N0", 'N', 0, 29, true,
      "matrices of the L1 buffer; L0C with C0 = 16"}},
    {Format::FRACTAL_ZZ,
     {"FRACTAL_ZZ", "ZZ Zz zZ", "BMN", "B M1 N1 M0 N0", 'N', 0, 28, false, "left operand of the cube in L0A"}},
    {Format::nZ,
     {"nZ", "Zn", "BMN", "B M1 N1 N0 M0", 'M', 0, -1, false, "right operand of the cube in L0B; its rows are k"}},
    {Format::nN, {"nN", "Nn", "BMN", "B N1 M1 N0 M0", 'M', 0, -1, false, "column-major fractals, column by column"}},
    {Format::NCHW, {"NCHW", "", "NCHW", "N C H W", 0, 0, 0, true, "images; weights with N = output channels"}},
    {Format::NHWC, {"NHWC", "", "NCHW", "N H W C", 0, 0, 1, true, "images, channels last"}},
    {Format::HWCN, {"HWCN", "", "NCHW", "H W C N", 0, 0, 16, true, "weights of a convolution"}},
    {Format::NC1HWC0, {"NC1HWC0", "5HD", "NCHW", "N C1 H W C0", 'C', 0, 3, true, "images as the cube reads them"}},
    {Format::NC1HWC0_C04,
     {"NC1HWC0_C04", "", "NCHW", "N C1 H W C0", 'C', 4, 12, true, "images of few channels, C0 = 4"}},
    {Format::FRACTAL_Z, {"FRACTAL_Z", "", "NCHW", "GC1HW N1 N0 C0", 'C', 0, 4, true, "weights as the cube reads them"}},
    {Format::C1HWNCoC0,
     {"C1HWNCoC0", "", "NCHW", "C1 H W N Co C0", 'C', 0, 25, false, "weights of a depthwise convolution, diagonal"}},
    {Format::NCDHW, {"NCDHW", "", "NCDHW", "N C D H W", 0, 0, 30, true, "volumes"}},
    {Format::NDHWC, {"NDHWC", "", "NCDHW", "N D H W C", 0, 0, 27, true, "volumes, channels last"}},
    {Format::DHWCN, {"DHWCN", "", "NCDHW", "D H W C N", 0, 0, 31, false, "weights of a 3-D convolution"}},
    {Format::NDC1HWC0,
     {"NDC1HWC0", "6HD", "NCDHW", "N D C1 H W C0", 'C', 0, 32, true, "volumes as the cube reads them"}},
    {Format::FRACTAL_Z_3D,
     {"FRACTAL_Z_3D", "", "NCDHW", "GDC1HW N1 N0 C0", 'C', 0, 33, true, "weights of a 3-D convolution for the cube"}},
});

constexpr const FormatInfo& info(Format f) { return kFormats[static_cast<usize>(f)]; }
constexpr std::string_view name(Format f) { return info(f).name; }

// By any of its names, exactly; throws Fault::Input with the nearest one.
Format parse_format(std::string_view text);

inline constexpr u32 kFractalEdge = 16;

// C0: the elements of 32 bytes. 16 for 16 bits, 32 for 8, 8 for 32, 64 for 4. Accumulators have 16 whatever their type.
constexpr u32 c0_of_bits(u32 element_bits) { return 256 / element_bits; }

// Where each element of a tensor is in a format.
class TensorLayout {
 public:
  static constexpr usize kMaxAxes = 5;
  using Index = std::array<u64, kMaxAxes + 1>;  // by position in FormatInfo::axes, then G; the rest is 0

  // `shape` has an extent for each letter of FormatInfo::axes (B is the product of the leading axes). `groups` is the
  // number of groups of a convolution: N counts the output channels of all, C the input channels of one. Formats
  // without G store grouped weights like others. Throws Fault::Input, or Fault::Limit for more than 2^63 elements.
  constexpr TensorLayout(Format format, std::span<const u64> shape, u32 c0, u64 groups = 1)
      : info_(&vinci::isa::info(format)), c0_(info_->fixed_c0 != 0 ? info_->fixed_c0 : c0), groups_(groups) {
    VINCI_CHECK(shape.size() == info_->axes.size() && c0_ != 0 && groups_ != 0);
    std::copy(shape.begin(), shape.end(), extent_.begin());
    set_groups();
    read_digits();
    elements_ = 1;
    for (usize i = digit_count_; i-- > 0;) {
      digits_[i].stride = elements_;
      elements_ = product(elements_, digits_[i].size);
    }
  }

  constexpr const FormatInfo& info() const { return *info_; }
  constexpr usize axes() const { return info_->axes.size(); }
  constexpr u64 extent(usize axis) const { return extent_[axis]; }
  constexpr u32 c0() const { return c0_; }
  constexpr u64 groups() const { return groups_; }

  // Of the storage, padding included.
  constexpr u64 elements() const { return elements_; }
  // Of the tensor.
  constexpr u64 valid_elements() const {
    u64 n = 1;
    for (usize a = 0; a < axes(); ++a)
      n = product(n, extent_[a]);
    return n;
  }

  // Position of an element in the storage, in elements; index[i] < extent(i).
  constexpr u64 offset(std::span<const u64> index) const {
    Index at{};
    std::copy(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(axes()), at.begin());
    if (groups_ != 1) {
      const Index origin = group_origin(at[n_axis_] / group_n_);
      at[n_axis_] %= group_n_;
      for (usize a = 0; a < at.size(); ++a)
        at[a] += origin[a];
    }
    u64 sum = 0;
    for (usize a = 0; a < at.size(); ++a)
      sum += axis_offset(a, at[a]);
    return sum;
  }

  // The inverse; nothing where the storage is padding. offset < elements().
  constexpr std::optional<Index> index_at(u64 offset) const {
    Index at{}, outer{}, inner{};
    std::array<bool, kMaxAxes + 1> has_inner{};
    for (usize i = 0; i < digit_count_; ++i) {
      const Digit& d = digits_[i];
      const u64 value = offset / d.stride % d.size;
      if (d.part != Part::inner) {
        outer[d.axis] = value * (d.part == Part::outer ? d.split : 1);
      } else if (has_inner[d.axis] && inner[d.axis] != value) {
        return std::nullopt;
      } else {
        inner[d.axis] = value;
        has_inner[d.axis] = true;
      }
    }
    for (usize a = 0; a < at.size(); ++a)
      at[a] = outer[a] + inner[a];
    if (stores_groups()) {
      const u64 member = at[n_axis_] / group_n_;
      const u64 group = at[axes()] * merged_ + member;
      if (member >= merged_ || member != at[c_axis_] / extent_[c_axis_] || group >= groups_) return std::nullopt;
      at[n_axis_] = group * group_n_ + at[n_axis_] % group_n_;
      at[c_axis_] %= extent_[c_axis_];
      at[axes()] = 0;
    }
    for (usize a = 0; a < axes(); ++a) {
      if (at[a] >= extent_[a]) return std::nullopt;
    }
    return at;
  }

  // An offset is a sum over the axes. The coordinates are those of the element inside its group, plus the origin of the
  // group; without groups they are the index. What runs through tensors in bulk uses this.
  constexpr u64 axis_offset(usize axis, u64 coordinate) const {
    u64 sum = 0;
    for (usize i = 0; i < digit_count_; ++i) {
      const Digit& d = digits_[i];
      if (d.axis != axis) continue;
      sum += d.stride * (d.part == Part::whole ? coordinate
                                               : (d.part == Part::outer ? coordinate / d.split : coordinate % d.split));
    }
    return sum;
  }
  constexpr Index group_origin(u64 group) const {
    Index origin{};
    if (stores_groups()) {
      origin[axes()] = group / merged_;
      origin[n_axis_] = group % merged_ * group_n_;
      origin[c_axis_] = group % merged_ * extent_[c_axis_];
    } else if (groups_ != 1) {
      origin[n_axis_] = group * group_n_;
    }
    return origin;
  }
  // Extent of an axis inside one group.
  constexpr u64 group_extent(usize axis) const { return groups_ != 1 && axis == n_axis_ ? group_n_ : extent_[axis]; }

  // The axes whose neighbours are close to each other in storage, closest first, each once.
  constexpr std::array<usize, kMaxAxes> axes_from_inside() const {
    std::array<usize, kMaxAxes> order{};
    usize count = 0;
    for (usize i = digit_count_; i-- > 0;) {
      const usize axis = digits_[i].axis;
      const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
      if (axis < axes() && std::find(order.begin(), end, axis) == end) order[count++] = axis;
    }
    return order;
  }

  // Size of dimension `dim` of the storage, as separated in FormatInfo::dims.
  constexpr u64 dim(usize dim) const {
    u64 size = 1;
    for (usize i = 0; i < digit_count_; ++i) {
      if (digits_[i].dim == dim) size *= digits_[i].size;
    }
    return size;
  }
  constexpr usize dims() const { return digit_count_ == 0 ? 0 : digits_[digit_count_ - 1].dim + usize{1}; }

 private:
  enum class Part : u8 { whole, outer, inner };
  struct Digit {
    u8 axis = 0;  // position in FormatInfo::axes, or axes() for G
    Part part = Part::whole;
    u8 dim = 0;  // dimension of the storage that it belongs to
    u64 split = 1;
    u64 size = 1;
    u64 stride = 1;
  };

  static constexpr u64 product(u64 a, u64 b) {
    u64 out = 0;
    if (__builtin_mul_overflow(a, b, &out) || out > u64{1} << 63)
      fail(Fault::Limit, "the tensor has more than 2^63 elements");
    return out;
  }

  constexpr bool stores_groups() const { return groups_ != 1 && info_->dims.starts_with('G'); }

  // Groups whose channels would not fill a fractal share one: `merged_` of them are on its diagonal.
  constexpr void set_groups() {
    for (const u64 e : extent_) {
      if (e > u64{1} << 63) fail(Fault::Limit, "the tensor has more than 2^63 elements");
    }
    if (groups_ == 1) return;
    n_axis_ = static_cast<u8>(info_->axes.find('N'));
    c_axis_ = static_cast<u8>(info_->axes.find('C'));
    if (c_axis_ >= axes()) fail(Fault::Input, "{} has no channels that could have groups", info_->name);
    const u64 n = extent_[n_axis_], c = extent_[c_axis_];
    if (n % groups_ != 0) fail(Fault::Input, "N = {} is no multiple of the {} groups", n, groups_);
    group_n_ = n / groups_;
    if (group_n_ == 0 || c == 0) fail(Fault::Input, "grouped weights without channels");
    const u64 fill_c = c0_ / std::gcd<u64>(c, c0_), fill_n = kFractalEdge / std::gcd<u64>(group_n_, kFractalEdge);
    merged_ = std::min(std::lcm(fill_c, fill_n), groups_);
  }

  // Extent of an axis as the storage has it, before padding.
  constexpr u64 stored_extent(usize axis) const {
    if (axis == axes()) return stores_groups() ? ceil_div(groups_, merged_) : 1;
    if (stores_groups() && axis == n_axis_) return product(merged_, group_n_);
    if (stores_groups() && axis == c_axis_) return product(merged_, extent_[axis]);
    return extent_[axis];
  }

  constexpr void read_digits() {
    const std::string_view text = info_->dims;
    u8 dim = 0;
    for (usize i = 0; i < text.size(); ++i) {
      if (text[i] == ' ') {
        ++dim;
        continue;
      }
      Digit& d = digits_[digit_count_++];
      d.dim = dim;
      d.axis = static_cast<u8>(text[i] == 'G' ? axes() : info_->axes.find(text[i]));
      d.split = text[i] == info_->c0_axis ? c0_ : kFractalEdge;
      const u64 extent = stored_extent(d.axis);
      const char suffix = i + 1 < text.size() ? text[i + 1] : ' ';
      if (suffix == '1') {
        d.part = Part::outer;
        d.size = ceil_div(extent, d.split);
      } else if (suffix == '0' || suffix == 'o') {
        d.part = Part::inner;
        d.size = d.split;
      } else {
        d.size = extent;
        continue;
      }
      ++i;
    }
  }

  const FormatInfo* info_;
  u32 c0_;
  u64 groups_;
  std::array<u64, kMaxAxes> extent_{};
  u8 n_axis_ = 0, c_axis_ = 0;
  u64 group_n_ = 1;  // output channels of a group
  u64 merged_ = 1;   // groups that share fractals
  std::array<Digit, 8> digits_{};
  usize digit_count_ = 0;
  u64 elements_ = 0;
};

// A layout for a shape with any number of leading axes where the format has them. Throws Fault::Input for a wrong
// number of axes.
TensorLayout tensor_layout(Format format, std::span<const u64> shape, u32 c0, u64 groups = 1);

// The shape of the storage of such a tensor: B as its leading axes again.
std::vector<u64> storage_shape(const TensorLayout& layout, std::span<const u64> shape);

// The axes of a tensor as a list of extents is written: "N,C,H,W"; "...,M,N" where there can be leading axes.
std::string axes_text(Format format);

// The dimensions of the storage, for people: "(G*C1*H*W, N1, 16, C0)".
std::string storage_text(Format format);

}  // namespace vinci::isa
