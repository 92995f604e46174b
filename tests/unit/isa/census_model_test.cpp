// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/unit/isa/census_model.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>

#include "isa/census/execute.h"
#include "isa/table/spr.h"
#include "isa/table/table.h"
#include "tests/unit/isa/census_check.h"
#include "tests/unit/isa/test_core.h"

// Random instances of the lane-wise forms of the vector unit: the census, STATUS and the first overflow of a task
// against the model. VINCI_INSTANCES sets how many, VINCI_SEED where they start.
namespace vinci::isa {
namespace {

using model::draw;
using model::Expected;
using model::Kind;
using model::Switches;
using model::Verdict;

struct Types {
  LaneType src, dst;
};

// A form: how to compute it without relu, and what the table says of a lane.
struct Form {
  const Row* row = nullptr;
  u8 type = 0;
  Types types{};
  std::string plain;  // the mnemonic of what it computes before relu
  Kind kind = Kind::moved;
  enum { binary, unary, scalar, ternary, axpy, cast } shape = binary;
  char mode = 'r';
  bool relu = false;

  std::string name() const { return std::string(row->name) + "." + std::to_string(type); }
};

std::optional<LaneType> lane_type_named(std::string_view name) {
  for (usize i = 0; i < kLaneTypeNames.size(); ++i) {
    if (kLaneTypeNames[i] == name) return static_cast<LaneType>(i);
  }
  return {};
}

// "f322f16z" as types and mode.
std::optional<std::pair<Types, char>> parse_cast(std::string_view text) {
  for (usize at = text.find('2'); at != std::string_view::npos; at = text.find('2', at + 1)) {
    const auto from = lane_type_named(text.substr(0, at));
    std::string_view rest = text.substr(at + 1);
    auto to = lane_type_named(rest);
    char mode = 'r';
    if (!to && !rest.empty()) {
      mode = rest.back();
      to = lane_type_named(rest.substr(0, rest.size() - 1));
    }
    if (from && to) return {{{*from, *to}, mode}};
  }
  return {};
}

std::vector<Form> all_forms() {
  struct Named {
    std::string_view name, plain;
    Kind kind;
    decltype(Form::binary) shape;
  };
  static const std::array kNamed{
      Named{"vadd", "vadd", Kind::sum, Form::binary},         Named{"vsub", "vsub", Kind::sub, Form::binary},
      Named{"vmul", "vmul", Kind::product, Form::binary},     Named{"vdiv", "vdiv", Kind::quotient, Form::binary},
      Named{"vmax", "vmax", Kind::moved, Form::binary},       Named{"vmin", "vmin", Kind::moved, Form::binary},
      Named{"vaddrelu", "vadd", Kind::sum, Form::binary},     Named{"vsubrelu", "vsub", Kind::sub, Form::binary},
      Named{"vmadd", "vmadd", Kind::fused, Form::ternary},    Named{"vmaddrelu", "vmadd", Kind::fused, Form::ternary},
      Named{"vmla", "vmla", Kind::fused, Form::ternary},      Named{"vrelu", "vrelu", Kind::moved, Form::unary},
      Named{"vabs", "vabs", Kind::moved, Form::unary},        Named{"vexp", "vexp", Kind::exponential, Form::unary},
      Named{"vln", "vln", Kind::function, Form::unary},       Named{"vrec", "vrec", Kind::function, Form::unary},
      Named{"vsqrt", "vsqrt", Kind::function, Form::unary},   Named{"vrsqrt", "vrsqrt", Kind::function, Form::unary},
      Named{"vadds", "vadds", Kind::sum, Form::scalar},       Named{"vmuls", "vmuls", Kind::product, Form::scalar},
      Named{"vmaxs", "vmaxs", Kind::moved, Form::scalar},     Named{"vmins", "vmins", Kind::moved, Form::scalar},
      Named{"vlrelu", "vlrelu", Kind::product, Form::scalar}, Named{"vaxpy", "vaxpy", Kind::fused, Form::axpy}};
  std::vector<Form> out;
  for (const Named& n : kNamed) {
    const Row* row = row_of(n.name);
    for (u8 t = 0; t < row->types.size(); ++t) {
      if (!contains(row->types[t].archs, Arch::c220)) continue;
      const bool mixed = row->types[t].name == "fmix";
      const auto type = mixed ? LaneType::f32 : lane_type_named(row->types[t].name);
      if (!type) continue;
      out.push_back({.row = row,
                     .type = t,
                     .types = {mixed ? LaneType::f16 : *type, *type},
                     .plain = std::string(n.plain),
                     .kind = n.kind,
                     .shape = n.shape,
                     .relu = n.name != n.plain});
    }
  }
  for (const Row& row : table()) {
    if (!row.name.starts_with("vconv_") || !contains(row.archs, Arch::c220)) continue;
    const auto parsed = parse_cast(row.name.substr(6));
    if (!parsed) continue;
    out.push_back({.row = &row,
                   .types = parsed->first,
                   .plain = std::string(row.name),
                   .shape = Form::cast,
                   .mode = parsed->second});
  }
  return out;
}

constexpr u32 kA = 0, kB = 8192, kOut = 16384;

struct Instance {
  Form form;
  u32 lanes = 0, repeat = 1;
  std::array<u64, 2> mask{};
  u32 dst = 0;
  u64 scalar = 0, ctrl = 0;
  bool saturation = false;
  std::vector<u64> a, b, old;  // bits by element
};

u64 load_lane(const TestCore& core, u32 base, LaneType type, u32 repeat, u32 lane) {
  const u32 bit = lane * lane_bits(type);
  u64 v = 0;
  const u32 bytes = std::max(1u, lane_bits(type) / 8);
  std::memcpy(&v, core.mem[BufId::UB].bytes(base + repeat * 256 + bit / 8, bytes).data(), bytes);
  return type == LaneType::s4 ? v >> (bit % 8) & 15 : v;
}
void store_lane(TestCore& core, u32 base, LaneType type, u32 repeat, u32 lane, u64 v) {
  const u32 bit = lane * lane_bits(type);
  const u32 bytes = std::max(1u, lane_bits(type) / 8);
  std::byte* at = core.mem[BufId::UB].bytes(base + repeat * 256 + bit / 8, bytes).data();
  if (type == LaneType::s4) v = (static_cast<u64>(*at) & (0xf0u >> (bit % 8))) | (v & 15) << (bit % 8);
  std::memcpy(at, &v, bytes);
}

void prepare(TestCore& core, const Instance& x) {
  for (u32 r = 0; r < x.repeat; ++r) {
    for (u32 i = 0; i < x.lanes; ++i) {
      const usize at = r * x.lanes + i;
      store_lane(core, kA, x.form.types.src, r, i, x.a[at]);
      store_lane(core, kB, x.form.types.src, r, i, x.b[at]);
      store_lane(core, kOut, x.form.types.dst, r, i, x.old[at]);
    }
  }
  core.spr.vector_mask = x.mask;
  core.spr.ctrl = x.ctrl;
}

ArgsStorage args_of_form(const Instance& x, const Row& row) {
  ArgsStorage args{};
  if (!row.types.empty()) row.set_type(args, x.form.type);
  const auto set = [&](std::string_view name, u64 v) {
    for (const FieldInfo& f : row.fields) {
      if (f.name == name) f.set(args, v);
    }
  };
  for (const std::string_view stride : {"dstBlkStride", "srcBlkStride", "src0BlkStride", "src1BlkStride"})
    set(stride, 1);
  for (const std::string_view stride : {"dstRepStride", "srcRepStride", "src0RepStride", "src1RepStride"})
    set(stride, 8);
  set("dst", x.dst);
  set("src", kA);
  set("src0", kA);
  set("src1", kB);
  set("scalar", x.scalar);
  set("repeat", x.repeat);
  return args;
}

Verdict lane_verdict(const Instance& x, const TestCore& ieee, u32 r, u32 i) {
  const Form& f = x.form;
  const usize at = r * x.lanes + i;
  const Switches s{.saturation = x.saturation,
                   .saturate_int = (x.ctrl & ctrl::kSaturateInt) != 0,
                   .wrap_casts = (x.ctrl & ctrl::kWrapCasts) != 0};
  const auto in = [&](u64 bits) { return model::decode(f.types.src, bits); };
  const long double a = in(x.a[at]), b = in(f.shape == Form::scalar || f.shape == Form::axpy ? x.scalar : x.b[at]);
  const long double old = model::decode(f.types.dst, x.old[at]);
  const long double result = model::decode(f.types.dst, load_lane(ieee, x.dst, f.types.dst, r, i));
  if (f.shape == Form::cast) return model::cast_result(f.types.src, f.types.dst, a, result, f.mode, s);
  if (!is_float(f.types.dst)) {
    switch (f.kind) {
      case Kind::sum: return model::integer_result(f.types.dst, a + b, s);
      case Kind::sub: return model::integer_result(f.types.dst, a - b, s);
      case Kind::product: return model::integer_result(f.types.dst, a * b, s);
      default: return {};
    }
  }
  model::FloatCase c{.kind = f.kind, .type = f.types.dst, .operands = {a, b}, .r = result, .relu = f.relu};
  using model::Wide;
  switch (f.kind) {
    case Kind::sum:
      c.x = a, c.y = b;
      c.exact_zero = true;
      break;
    case Kind::sub:
      c.x = a, c.y = -b;
      c.exact_zero = true;
      break;
    case Kind::product: c.exact_zero = a == 0 || b == 0; break;
    case Kind::quotient: c.exact_zero = a == 0 || std::isinf(b); break;
    case Kind::fused:
      c.operands.push_back(old);
      c.x = f.plain == "vmadd" ? Wide{old} * a : Wide{a} * b;
      c.y = f.plain == "vmadd" ? b : old;
      c.exact_zero = c.x == -c.y;
      break;
    case Kind::exponential: c.exact_zero = std::isinf(a); break;
    default: c.exact_zero = true;
  }
  if (f.shape == Form::unary) c.operands = {a};
  return model::float_result(c, s);
}

Expected expect(const Instance& x) {
  TestCore ieee(Arch::c220, OverflowMode::inf_nan);
  prepare(ieee, x);
  const Row& plain = *row_of(x.form.plain);
  plain.execute(args_of_form(x, plain), ieee.context);
  Expected out;
  for (u32 r = 0; r < x.repeat; ++r) {
    for (u32 i = 0; i < x.lanes; ++i) {
      if ((x.mask[i / 64] >> (i % 64) & 1) == 0) continue;
      out.add(lane_verdict(x, ieee, r, i), u64{r} * x.lanes + i);
    }
  }
  return out;
}

Instance draw_instance(Random& random, const std::vector<Form>& forms) {
  Instance x;
  x.form = forms[random.next() % forms.size()];
  const u32 widest = std::max(lane_bits(x.form.types.src), lane_bits(x.form.types.dst));
  x.lanes = widest == 64 ? 32 : std::min(128u, 2048 / widest);
  x.repeat = 1 + random.next() % 2;
  // Results apart from the operands, or in the place of one.
  const bool in_place = random.next() % 4 == 0 && x.form.types.src == x.form.types.dst &&
                        x.form.shape != Form::ternary && x.form.shape != Form::axpy;
  x.dst = in_place ? kA : kOut;
  switch (random.next() % 3) {
    case 0: x.mask = {~u64{0}, ~u64{0}}; break;
    case 1: x.mask = {random.next(), random.next()}; break;
    default: x.mask = {u64{1} << random.next() % 64, u64{1} << random.next() % 64};
  }
  x.scalar = draw(random, x.form.types.src);
  x.saturation = random.next() % 2 == 0;
  if (random.next() % 2 == 0) x.ctrl |= ctrl::kSaturateInt;
  if (random.next() % 4 == 0) x.ctrl |= ctrl::kWrapCasts;
  // Mostly quiet, or wild everywhere: an event alone must be found as well as many.
  const u64 wild = std::array<u64, 3>{2, 64, 1}[random.next() % 3];
  const auto fill = [&](std::vector<u64>& to, LaneType type) {
    const u64 quiet =
        is_float(type) ? static_cast<u64>(model::format_of(type).most_exponent) << model::format_of(type).fraction : 3;
    for (u32 i = 0; i < x.lanes * x.repeat; ++i)
      to.push_back(random.next() % wild == 0 ? draw(random, type) : quiet);
  };
  fill(x.a, x.form.types.src);
  fill(x.b, x.form.types.src);
  fill(x.old, x.form.types.dst);
  return x;
}

TEST(CensusModel, EveryLaneWiseFormAgreesWithTheTable) {
  const std::vector<Form> forms = all_forms();
  ASSERT_GT(forms.size(), 130u);
  model::Instances instances(4000);
  for (u64 n = 0; n < instances.count; ++n) {
    const Instance x = draw_instance(instances.random, forms);
    const Expected expected = expect(x);
    TestCore core(Arch::c220, x.saturation ? OverflowMode::saturation : OverflowMode::inf_nan);
    prepare(core, x);
    Census census;
    const Issued issued{.row = x.form.row, .args = args_of_form(x, *x.form.row), .spr = core.spr, .type = x.form.type};
    execute(issued, core.context, &census, nullptr, {}, "core0");
    instances.check(x.form.name(), fmt::format("instance {}, ctrl {:x}, saturation {}", n, x.ctrl, x.saturation),
                    expected, census, core.status);
  }
}

}  // namespace
}  // namespace vinci::isa
