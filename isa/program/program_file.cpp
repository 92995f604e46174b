// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/program/program_file.h"

#include <array>
#include <string_view>
#include <unordered_set>

#include "isa/base/error.h"
#include "isa/base/fnv1a.h"
#include "isa/table/codec.h"

namespace vinci::isa {
namespace {

constexpr std::array<char, 8> kMagic{'V', 'N', 'C', 'P', 'R', 'O', 'G', '\0'};
constexpr usize kChecksumOffset = 32;
constexpr usize kHeaderBytes = 40;
constexpr usize kWordBytes = 32;
constexpr usize kLabelBytes = 8;
constexpr usize kLoopCountBytes = 8, kLoopBytes = 12, kStrideBytes = 20;
constexpr u32 kVersionWithoutLoops = 1;
constexpr usize kMaxLabelBytes = 4096;
constexpr usize kMaxSourceBytes = 65536;
constexpr usize kMaxLabels = usize{1} << 19;  // with the longest names still fewer bytes than 32 bits can count
static_assert(kMaxLabels * kMaxLabelBytes <= 0xffffffffu);

class Writer {
 public:
  explicit Writer(usize size) { bytes_.reserve(size); }

  template <class T>
  void number(T v) {
    for (usize i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<std::byte>(v >> (8 * i)));
  }
  void text(std::string_view s) {
    for (const char c : s)
      bytes_.push_back(static_cast<std::byte>(c));
  }
  std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads in order; the sizes have been checked before.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T number() {
    T v = 0;
    for (usize i = 0; i < sizeof(T); ++i)
      v |= static_cast<T>(static_cast<T>(bytes_[at_ + i]) << (8 * i));
    at_ += sizeof(T);
    return v;
  }
  std::string_view text(usize size) {
    const std::string_view s(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
    at_ += size;
    return s;
  }

 private:
  std::span<const std::byte> bytes_;
  usize at_ = 0;
};

// Well-formed UTF-8 without control characters: safe to print.
bool is_clean_utf8(std::string_view s) {
  for (usize i = 0; i < s.size();) {
    const auto lead = static_cast<unsigned char>(s[i]);
    const usize extra = lead < 0x80                   ? 0
                        : lead >= 0xc2 && lead < 0xe0 ? 1
                        : lead >= 0xe0 && lead < 0xf0 ? 2
                        : lead >= 0xf0 && lead < 0xf5 ? 3
                                                      : s.size();
    if (extra >= s.size() - i) return false;
    u32 code = extra == 0 ? lead : lead & (0x3fu >> extra);
    for (usize k = 1; k <= extra; ++k) {
      const auto next = static_cast<unsigned char>(s[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3fu);
    }
    const bool overlong = (extra == 2 && code < 0x800) || (extra == 3 && code < 0x10000);
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (overlong || surrogate || code > 0x10ffff || code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
    i += extra + 1;
  }
  return true;
}

// Names are free text, but they end up in messages, and labels must tell apart what they name.
void check_names(const Program& p) {
  std::unordered_set<std::string_view> names;
  for (usize i = 0; i < p.labels.size(); ++i) {
    const std::string_view label = p.labels[i].name;
    if (label.empty() || label.size() > kMaxLabelBytes || !is_clean_utf8(label)) {
      fail(Fault::Input, "the name of label {} is not 1 to {} bytes of printable UTF-8", i, kMaxLabelBytes);
    }
    if (!names.insert(label).second) fail(Fault::Input, "label '{}' occurs twice", label);
  }
  if (!p.included.empty()) {
    fail(Fault::Unsupported, "a program file has lines of one source; this program has them of {}",
         p.included.size() + 1);
  }
  if (p.source.size() > kMaxSourceBytes || !is_clean_utf8(p.source)) {
    fail(Fault::Input, "the source name is not at most {} bytes of printable UTF-8", kMaxSourceBytes);
  }
}

struct Header {
  u32 arch, insts, labels, label_text, source;
  u64 file_size() const {
    return kHeaderBytes + u64{insts} * (kWordBytes + 4) + u64{labels} * kLabelBytes + label_text + source;
  }
};

}  // namespace

u64 program_checksum(std::span<const std::byte> bytes) {
  VINCI_CHECK(bytes.size() >= kHeaderBytes);
  return fnv1a(bytes.subspan(kHeaderBytes), fnv1a(bytes.first(kChecksumOffset)));
}

std::vector<std::byte> write_program(const Program& p) {
  verify(p);
  check_names(p);
  if (p.labels.size() > kMaxLabels) fail(Fault::Limit, "the program has more than {} labels", kMaxLabels);
  usize label_text = 0;
  for (const Label& label : p.labels)
    label_text += label.name.size();

  const Header h{static_cast<u32>(p.arch), static_cast<u32>(p.code.size()), static_cast<u32>(p.labels.size()),
                 static_cast<u32>(label_text), static_cast<u32>(p.source.size())};
  Writer out(h.file_size());
  out.text({kMagic.data(), kMagic.size()});
  out.number(p.loops.empty() ? kVersionWithoutLoops : kProgramFormatVersion);
  for (const u32 v : {h.arch, h.insts, h.labels, h.label_text, h.source})
    out.number(v);
  out.number(u64{0});  // the checksum, below
  for (const Word& word : p.code) {
    for (const u64 part : word)
      out.number(part);
  }
  for (const u32 line : p.lines)
    out.number(line);
  for (const Label& label : p.labels) {
    out.number(label.index);
    out.number(static_cast<u32>(label.name.size()));
  }
  for (const Label& label : p.labels)
    out.text(label.name);
  out.text(p.source);
  if (!p.loops.empty()) {
    out.number(static_cast<u32>(p.loops.size()));
    out.number(static_cast<u32>(p.strides.size()));
  }
  for (const Loop& l : p.loops) {
    for (const u32 v : {l.first, l.length, l.count})
      out.number(v);
  }
  for (const Stride& s : p.strides) {
    for (const u32 v : {s.inst, s.loop, u32{s.field}})
      out.number(v);
    out.number(s.by);
  }

  std::vector<std::byte> bytes = std::move(out).take();
  const u64 checksum = program_checksum(bytes);
  for (usize i = 0; i < 8; ++i)
    bytes[kChecksumOffset + i] = static_cast<std::byte>(checksum >> (8 * i));
  return bytes;
}

Program read_program(std::span<const std::byte> bytes, const std::string& file) {
  Reader in(bytes);
  if (bytes.size() < kMagic.size() || in.text(kMagic.size()) != std::string_view(kMagic.data(), kMagic.size())) {
    fail_at(Fault::Input, file, "this is no program file; it does not start with VNCPROG");
  }
  if (bytes.size() < kHeaderBytes) {
    fail_at(Fault::Input, file, "the file ends within its header, after {} of {} bytes", bytes.size(), kHeaderBytes);
  }
  const u32 version = in.number<u32>();
  if (version != kVersionWithoutLoops && version != kProgramFormatVersion) {
    fail_at(Fault::Input, file, "program format version {} is not known; this tool reads {} and {}", version,
            kVersionWithoutLoops, kProgramFormatVersion);
  }
  Header h{};
  h.arch = in.number<u32>();
  h.insts = in.number<u32>();
  h.labels = in.number<u32>();
  h.label_text = in.number<u32>();
  h.source = in.number<u32>();
  if (version == kVersionWithoutLoops ? h.file_size() != bytes.size()
                                      : h.file_size() + kLoopCountBytes > bytes.size()) {
    fail_at(Fault::Input, file, "the header announces {} bytes, the file has {}", h.file_size(), bytes.size());
  }
  if (const u64 stated = in.number<u64>(); stated != program_checksum(bytes)) {
    fail_at(Fault::Input, file, "the checksum does not match; the file is damaged");
  }
  if (h.arch >= kArchNames.size()) fail_at(Fault::Input, file, "architecture {} is not known", h.arch);
  if (h.labels > kMaxLabels) fail_at(Fault::Input, file, "{} labels are more than {}", h.labels, kMaxLabels);

  Program p;
  p.arch = static_cast<Arch>(h.arch);
  p.code.resize(h.insts);
  for (Word& word : p.code) {
    for (u64& part : word)
      part = in.number<u64>();
  }
  p.lines.resize(h.insts);
  for (u32& line : p.lines)
    line = in.number<u32>();

  std::vector<u32> sizes(h.labels);
  p.labels.resize(h.labels);
  u64 total = 0;
  for (usize i = 0; i < h.labels; ++i) {
    p.labels[i].index = in.number<u32>();
    total += sizes[i] = in.number<u32>();
  }
  if (total != h.label_text) {
    fail_at(Fault::Input, file, "the label names have {} bytes, the header announces {}", total, h.label_text);
  }
  for (usize i = 0; i < h.labels; ++i)
    p.labels[i].name = in.text(sizes[i]);
  p.source = in.text(h.source);
  if (version != kVersionWithoutLoops) {
    const u32 loops = in.number<u32>(), strides = in.number<u32>();
    const u64 size = h.file_size() + kLoopCountBytes + u64{loops} * kLoopBytes + u64{strides} * kStrideBytes;
    if (size != bytes.size())
      fail_at(Fault::Input, file, "the header announces {} bytes, the file has {}", size, bytes.size());
    if (loops == 0) fail_at(Fault::Input, file, "a file of format version {} without loops", version);
    p.loops.resize(loops);
    for (Loop& l : p.loops) {
      l.first = in.number<u32>();
      l.length = in.number<u32>();
      l.count = in.number<u32>();
    }
    p.strides.resize(strides);
    for (Stride& s : p.strides) {
      s.inst = in.number<u32>();
      s.loop = in.number<u32>();
      const u32 field = in.number<u32>();
      if (field >= kMaxOperands) fail_at(Fault::Input, file, "a stride is of operand {}", field);
      s.field = static_cast<u8>(field);
      s.by = in.number<u64>();
    }
  }
  try {
    check_names(p);
    verify(p);
  } catch (const Error& e) {
    fail_at(e.fault(), file, "{}", e.what());
  }
  return p;
}

}  // namespace vinci::isa
