// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/error.h"
#include "isa/mem/format.h"
#include "isa/mem/trans_data.h"
#include "sim/io/atomic_file.h"
#include "sim/io/npy.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

constexpr u64 kMaxTensorBytes = u64{1} << 36;

struct ConvertOptions {
  std::string input, output, from, to, shape, dtype;
  u32 c0 = 0;  // 0: from the type
  u64 groups = 1;
  bool strict = false, list = false;
};

std::string tuple(const std::vector<u64>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

// A tensor as its storage has it.
struct Storage {
  std::string dtype;       // of the .npy file
  bool packed = false;     // int4: two elements in each byte of the file, one in each byte here
  std::vector<u64> shape;  // in elements
  std::vector<std::byte> own;
  std::string file;
  std::span<const std::byte> data;

  u32 element_bytes() const { return static_cast<u32>(io::npy_element_bytes(dtype)); }
  u32 element_bits() const { return packed ? 4 : 8 * element_bytes(); }
};

// --dtype: how to see elements that NumPy has no type for.
void view_as(Storage& s, const ConvertOptions& o) {
  if (o.dtype.empty()) return;
  const std::string_view carrier = o.dtype == "int4" ? "u1" : "u2";
  if (s.dtype != carrier) {
    fail_at(Fault::Input, o.input, "--dtype {} reads an array of {}, but this one is of {}", o.dtype, carrier, s.dtype);
  }
  if (o.dtype != "int4") return;
  if (s.shape.empty()) fail_at(Fault::Input, o.input, "--dtype int4 needs an axis that holds its pairs");
  s.packed = true;
  s.shape.back() *= 2;
  s.own.reserve(2 * s.data.size());
  for (const std::byte b : s.data) {
    s.own.push_back(b & std::byte{0xf});
    s.own.push_back(b >> 4);
  }
  s.data = s.own;
}

// The first element of a pair is in the low half of its byte.
std::vector<std::byte> pack(std::span<const std::byte> elements) {
  std::vector<std::byte> out(elements.size() / 2);
  for (usize i = 0; i < out.size(); ++i)
    out[i] = elements[2 * i] | elements[2 * i + 1] << 4;
  return out;
}

void read_storage(Storage& s, const ConvertOptions& o) {
  s.file = io::read_file(o.input, kMaxTensorBytes);
  const auto bytes = io::as_bytes(s.file);
  const io::NpyHeader h =
      io::parse_npy_header(bytes.first(std::min<usize>(bytes.size(), io::kNpyMaxHeaderBytes)), bytes.size(), o.input);
  s.dtype = h.dtype;
  s.shape = h.shape;
  s.data = bytes.subspan(h.data_offset, h.data_bytes);
  view_as(s, o);
}

// The shape of the tensor: what --shape says, or in formats without padding what the array says.
std::vector<u64> tensor_shape(const Storage& s, isa::Format from, const ConvertOptions& o) {
  if (!o.shape.empty()) return parse_list("--shape", o.shape);
  const isa::FormatInfo& f = isa::info(from);
  if (f.c0_axis != 0) {
    fail_at(Fault::Input, o.input,
            "{} does not tell how much of {} is padding; give the shape of the tensor: --shape {}", f.name,
            tuple(s.shape), isa::axes_text(from));
  }
  if (from == isa::Format::ND) return s.shape;
  if (s.shape.size() != f.axes.size()) {
    fail_at(Fault::Input, o.input, "an array in {} has {} dimensions {}, but this one has {}: {}", f.name,
            f.axes.size(), isa::storage_text(from), s.shape.size(), tuple(s.shape));
  }
  std::vector<u64> shape;
  for (const char axis : f.axes) {
    const auto at = std::string_view(f.dims).find(axis) / 2;  // letters with spaces between them
    shape.push_back(s.shape[at]);
  }
  return shape;
}

// An array of one dimension is taken as the bare storage; others must have the dimensions of the format.
void check_storage(const Storage& s, const isa::TensorLayout& layout, const std::vector<u64>& shape,
                   const ConvertOptions& o) {
  const std::vector<u64> want = isa::storage_shape(layout, shape);
  if (s.shape == want || (s.shape.size() == 1 && s.shape[0] == layout.elements())) return;
  fail_at(Fault::Input, o.input, "the array has shape {}, but a tensor of {} in {} has {}{}", tuple(s.shape),
          tuple(shape), layout.info().name, tuple(want),
          layout.info().c0_axis != 0 ? fmt::format(" (C0 = {})", layout.c0()) : "");
}

void report_padding(const Storage& s, const isa::TensorLayout& from, const std::vector<u64>& shape, u64 dropped,
                    const ConvertOptions& o) {
  if (dropped == 0) return;
  u64 at = *isa::first_nonzero_padding(from, s.data, s.element_bytes());
  const std::vector<u64> sizes = isa::storage_shape(from, shape);
  std::vector<u64> index(sizes.size());
  for (usize i = sizes.size(); i-- > 0; at /= sizes[i])
    index[i] = at % sizes[i];
  const std::string what =
      fmt::format("{} of {} elements of padding {} not zero, the first at {}", dropped,
                  from.elements() - from.valid_elements(), dropped == 1 ? "is" : "are", tuple(index));
  if (o.strict) fail_at(Fault::Input, o.input, "{}", what);
  fmt::print(stderr, "note: {}: {}; they are left out\n", o.input, what);
}

void check_options(const ConvertOptions& o, isa::Format from, isa::Format to) {
  const isa::FormatInfo &a = isa::info(from), &b = isa::info(to);
  if (a.axes != b.axes) {
    fail(Fault::Input, "{} is a format for {}, {} for {}; the axes must be the same", a.name, isa::axes_text(from),
         b.name, isa::axes_text(to));
  }
  const auto has_c0 = [](const isa::FormatInfo& f) { return f.c0_axis != 0 && f.fixed_c0 == 0; };
  if (o.c0 != 0 && !has_c0(a) && !has_c0(b))
    fail_at(Fault::Input, "--c0", "neither {} nor {} has a C0 to choose", a.name, b.name);
  if (o.groups != 1 && !a.dims.starts_with('G') && !b.dims.starts_with('G'))
    fail_at(Fault::Input, "--groups", "neither {} nor {} stores groups; FRACTAL_Z and FRACTAL_Z_3D do", a.name, b.name);
}

isa::Format format_of(std::string_view option, const std::string& text) {
  try {
    return isa::parse_format(text);
  } catch (const Error& e) {
    fail_at(Fault::Input, std::string(option), "{} (`vinci convert --list` lists all)", e.message());
  }
}

void convert_file(const ConvertOptions& o) {
  prepare_output(o.input, o.output);
  const isa::Format from = format_of("--from", o.from), to = format_of("--to", o.to);
  check_options(o, from, to);
  Storage in;
  read_storage(in, o);
  const std::vector<u64> shape = tensor_shape(in, from, o);
  const u32 c0 = o.c0 != 0 ? o.c0 : isa::c0_of_bits(in.element_bits());
  const isa::TensorLayout a = isa::tensor_layout(from, shape, c0, o.groups),
                          b = isa::tensor_layout(to, shape, c0, o.groups);
  check_storage(in, a, shape, o);

  const u32 bytes = in.element_bytes();
  std::vector<u64> out_shape = isa::storage_shape(b, shape);
  if (b.elements() > kMaxTensorBytes / bytes) {
    fail(Fault::Limit, "the tensor would have shape {} in {}; at most {} bytes are written", tuple(out_shape),
         b.info().name, kMaxTensorBytes);
  }
  if (in.packed && out_shape.back() % 2 != 0) {
    fail(Fault::Unsupported, "int4 elements form pairs, but the last dimension of {} in {} is odd", tuple(out_shape),
         b.info().name);
  }
  std::vector<std::byte> out(b.elements() * bytes);
  isa::trans_data(a, in.data, b, out, bytes);
  if (a.elements() != a.valid_elements())
    report_padding(in, a, shape, isa::count_nonzero(in.data, bytes) - isa::count_nonzero(out, bytes), o);
  const std::string said =
      fmt::format("{}: {} {} of {}, {} elements of padding\n", o.output, b.info().name, tuple(out_shape),
                  o.dtype.empty() ? in.dtype : o.dtype, b.elements() - b.valid_elements());
  if (in.packed) {
    out = pack(out);
    out_shape.back() /= 2;
  }
  io::AtomicFile file(o.output, io::Durability::durable);
  file.write(std::span<const std::byte>(io::npy_header(in.dtype, out_shape)));
  file.write(std::span<const std::byte>(out));
  file.commit();
  std::error_code none;
  if (fs::is_regular_file(o.output, none)) print_out(said);
}

std::string list_formats() {
  std::string out = fmt::format("{:<24}{:<11}{:<11}{:<27}{}\n", "name", "aclFormat", "tensor", "storage", "for");
  for (usize i = 0; i < isa::kFormats.size(); ++i) {
    const isa::FormatInfo& f = isa::kFormats[i];
    const auto format = static_cast<isa::Format>(i);
    const std::string names = f.other_names.empty() ? std::string(f.name) : fmt::format("{} {}", f.name, f.other_names);
    const std::string number = f.ge_format < 0 ? "-" : fmt::format(fmt::runtime(f.acl ? "{}" : "({})"), f.ge_format);
    out += fmt::format("{:<24}{:<11}{:<11}{:<27}{}\n", names, number, isa::axes_text(format), isa::storage_text(format),
                       f.doc);
  }
  return out +
         "\nX1 = ceil(X / X0); what is left of the last block is zero. C0: 32 bytes of elements (f16 16, f32 8, 8 bits "
         "32,\n"
         "int4 64) or --c0. G: blocks of groups, 1 without --groups. (n): a number of ge::Format that aclFormat "
         "lacks.\n";
}

void convert(const ConvertOptions& o) {
  if (o.list) return print_out(list_formats());
  const std::array<std::pair<std::string_view, const std::string*>, 4> needed{
      {{"IN", &o.input}, {"OUT", &o.output}, {"--from", &o.from}, {"--to", &o.to}}};
  for (const auto& [name, value] : needed) {
    if (value->empty()) fail(Fault::Input, "{} is required\nTry 'vinci convert --help'.", name);
  }
  convert_file(o);
}

}  // namespace

void add_convert(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("convert", "Convert a tensor in a .npy file between data formats (TransData)");
  const auto o = std::make_shared<ConvertOptions>();
  sub->add_option("IN", o->input, "Array: the storage of the tensor in the format --from");
  sub->add_option("OUT", o->output, "Array: its storage in the format --to, padded with zeros");
  sub->add_option("--from", o->from, "Format of IN; --list shows all");
  sub->add_option("--to", o->to, "Format of OUT");
  sub->add_option("--shape", o->shape,
                  "Shape of the tensor without padding, always in the order N,C,H,W (N,C,D,H,W; ...,M,N for matrices); "
                  "needed where the format of IN pads");
  sub->add_option("--c0", o->c0, "C0 of both formats; 32 bytes of elements if not given. Accumulators have 16")
      ->transform(integer(1, 256));
  sub->add_option("--groups", o->groups, "Groups of a convolution: N counts all output channels, C the inputs of one")
      ->transform(integer(1, u64{1} << 32));
  sub->add_option("--dtype", o->dtype,
                  "Elements without a NumPy type: bf16 in u2, int4 in u1 (two a byte, low half first)")
      ->check(CLI::IsMember({"bf16", "int4"}));
  sub->add_flag("--strict", o->strict, "Padding of IN that is not zero is an error, not a note");
  sub->add_flag("--list", o->list, "List the formats and exit");
  sub->footer(
      "Example: vinci convert x.npy x5.npy --from NCHW --to NC1HWC0\n"
      "         vinci convert y5.npy y.npy --from NC1HWC0 --to NCHW --shape 1,3,224,224");
  sub->callback([o] { convert(*o); });
}

}  // namespace vinci::cli
