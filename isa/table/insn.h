// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "isa/arch.h"
#include "isa/base/types.h"
#include "isa/table/cost_class.h"
#include "isa/table/exec.h"

// The contract of an instruction. One struct says everything about it (isa/insns/*.h); the fold in isa/table/table.h
// turns the list of structs into rows, and every tool reads rows: codec, assembler, disassembler, scalar unit, pipes,
// cost, checks, traces and the printed reference.
namespace vinci::isa {

// What an operand is, for text and for the scalar unit.
enum class OperandKind : u8 {
  value,    // a number: scalar register or immediate
  reg_dst,  // a scalar register that is written
  pipe,     // PIPE_*
  event,    // EVENT_ID*, a number, or a scalar register
  label,    // a branch target: an instruction index
};

// Whether a scalar register can supply the operand.
constexpr bool takes_register(OperandKind kind) {
  return kind == OperandKind::value || kind == OperandKind::event || kind == OperandKind::reg_dst;
}

inline constexpr unsigned kRegisterBits = 5;  // X0..X31

// Value bits of an operand in the word: a narrow operand still has room for the number of a register.
constexpr unsigned slot_bits(OperandKind kind, unsigned width) {
  return takes_register(kind) && width < kRegisterBits ? kRegisterBits : width;
}

// One operand of an instruction: a member of its Args. `width` is the number of bits that a value may have. Every
// operand also owns one bit that says "the value is the number of a scalar register".
template <auto Member>
struct Field {
  std::string_view name;
  u8 width;
  OperandKind kind = OperandKind::value;
  std::string_view doc = {};
  bool optional = false;  // may be left out at the end of the text; then it is `fallback`
  u64 fallback = 0;
  bool is_signed = false;
  std::optional<BufId> memory = {};  // the value is a byte address in it: a pointer in CCE
  bool lanes = false;                // what is there, or the value itself, is of the type form
};

inline constexpr u8 kLocalBits = 24;  // of an address in a memory of the core
inline constexpr u8 kGmBits = 48;
// What the reference says of an address where there is nothing else to say.
constexpr std::string_view address_doc(BufId memory) {
  constexpr auto kDocs = enum_table<BufId, std::string_view>({{BufId::GM, "byte address in global memory"},
                                                              {BufId::L1, "byte address in L1"},
                                                              {BufId::L0A, "byte address in L0A"},
                                                              {BufId::L0B, "byte address in L0B"},
                                                              {BufId::L0C, "byte address in L0C"},
                                                              {BufId::UB, "byte address in UB"},
                                                              {BufId::BT, "byte address in BT"},
                                                              {BufId::FB, "byte address in FB"},
                                                              {BufId::IDX, "byte address in IDX"}});
  return kDocs[index(memory)];
}
// An operand that is the address of bytes, whatever the type form.
template <auto Member>
constexpr Field<Member> bytes_in(BufId memory, std::string_view name, std::string_view doc = {}) {
  return {.name = name,
          .width = memory == BufId::GM ? kGmBits : kLocalBits,
          .doc = doc.empty() ? address_doc(memory) : doc,
          .memory = memory};
}
// One that is the address of elements of the type form, where the instruction has such.
template <auto Member>
constexpr Field<Member> address_in(BufId memory, std::string_view name, std::string_view doc = {}) {
  Field<Member> field = bytes_in<Member>(memory, name, doc);
  field.lanes = true;
  return field;
}
// One that is an element.
template <auto Member>
constexpr Field<Member> lane_value(std::string_view name) {
  return {.name = name, .width = 64, .doc = "raw bits of the lane type; integers may be sign-extended", .lanes = true};
}

// A form of an instruction on data types, spelled as a suffix of the mnemonic: `vadd.f16`.
struct TypeForm {
  std::string_view name;
  ArchSet archs = kAllArchs;
};

// How much there is to do; the chip file says how fast.
struct Work {
  u64 steps = 0;   // fractal steps of the cube, repeats of the vector unit, fractals of load2d
  u64 bytes = 0;   // payload moved
  u64 bursts = 0;  // contiguous pieces
  u64 rows = 0;    // of fractals of A, of a mad
  u64 macs = 0;    // multiply-accumulates, for rates; costs nothing by itself
};

// A regular set of byte ranges of one buffer: `len` bytes at every address + sum(i[d] * stride[d]), i[d] < count[d].
struct Access {
  BufId buffer = BufId::GM;
  bool write = false;
  u16 align = 1;  // bytes that `address` must be a multiple of
  u64 address = 0;
  u32 len = 0;
  std::array<u32, 3> count{1, 1, 1};
  std::array<i64, 3> stride{0, 0, 0};
  std::string_view operand = {};  // which operand, for messages
  u32 unit = 32;                  // bytes that are moved together: some of them may be padding that was never written
  bool atomic = false;            // a read-modify-write in memory: atomic writes of several cores may meet

  // Of an instruction that works repeat by repeat, the blocks of 32 B of each; count 0: it does not. The bytes are the
  // same as above, where dimensions that are contiguous are joined; the last repeat may end with them.
  struct Repeats {
    u32 first = 0;  // the repeat that starts at `address`
    u32 count = 0;
    u32 blocks = 0;            // of a repeat
    u32 block_stride = 0;      // bytes
    u32 stride = 0;            // bytes from repeat to repeat
    bool accumulator = false;  // a source that may also be the destination of all repeats
  };
  Repeats repeats{};

  u64 pieces() const { return u64{count[0]} * count[1] * count[2]; }
  u64 bytes() const { return pieces() * len; }
  bool empty() const { return len == 0 || pieces() == 0; }
};

// What an instruction reads and writes. Small and fixed: no allocation on the hot path.
class Footprint {
 public:
  static constexpr usize kMaxAccesses = 8;
  Footprint() {}  // NOLINT(modernize-use-equals-default): that would fill the accesses with zeros
  Footprint(std::initializer_list<Access> list) {
    for (const Access& a : list)
      add(a);
  }
  Footprint(const Footprint& from) { *this = from; }
  Footprint& operator=(const Footprint& from) {
    size_ = from.size_;
    std::uninitialized_copy_n(from.items_, size_, items_);
    return *this;
  }
  void add(const Access& a) { std::construct_at(items_ + size_++, a); }
  const Access* begin() const { return items_; }
  const Access* end() const { return items_ + size_; }
  usize size() const { return size_; }

 private:
  static_assert(std::is_trivially_copyable_v<Access>);
  usize size_ = 0;
  union {
    Access items_[kMaxAccesses];  // beyond `size_` nothing was written
  };
};

// What the scalar unit and the pipes do with an instruction.
enum class Role : u8 {
  scalar,        // executed by the scalar unit itself
  work,          // pushed to a pipe and executed there
  set_flag,      // pushed to the source pipe
  wait_flag,     // pushed to the destination pipe
  pipe_barrier,  // pushed to its pipe, or stops the scalar unit (PIPE_ALL)
  cross_set,     // pushed to its pipe: a flag for other cores
  cross_wait,    // stops the scalar unit until other cores have set a flag
  end,           // the block is finished
};

// 256 bits: opcode [11:0], type form [15:12], then the operands in order, each its value bits and its register bit.
using Word = std::array<u64, 4>;
inline constexpr unsigned kOpcodeBits = 12;
inline constexpr unsigned kTypeBits = 4;
inline constexpr unsigned kOperandsBegin = kOpcodeBits + kTypeBits;
inline constexpr unsigned kWordBits = 256;

// Arguments of any instruction, by value.
inline constexpr usize kArgsBytes = 64;
struct alignas(8) ArgsStorage {
  std::array<std::byte, kArgsBytes> bytes{};
};

struct FieldInfo {
  std::string_view name;
  OperandKind kind = OperandKind::value;
  u8 lsb = 0;    // of the value bits in the Word
  u8 width = 0;  // of a value; in the Word it has slot() bits, and the register bit follows
  bool is_signed = false;
  bool optional = false;
  u64 fallback = 0;
  std::string_view doc;
  std::optional<BufId> memory;
  bool lanes = false;
  void (*set)(ArgsStorage&, u64) = nullptr;
  u64 (*get)(const ArgsStorage&) = nullptr;

  unsigned slot() const { return slot_bits(kind, width); }
  unsigned reg_bit() const { return lsb + slot(); }
  // Whether a value can be written into this operand.
  bool fits(u64 v) const {
    if (width >= 64) return true;
    if (is_signed) {
      const i64 s = static_cast<i64>(v);
      return s >= -(i64{1} << (width - 1)) && s < (i64{1} << (width - 1));
    }
    return v < (u64{1} << width);
  }
};

// What an instruction does, besides its footprint, at addresses in UB that it finds in UB itself.
enum class Computes : u8 { nothing, reads, writes };

// The type-erased instruction that every tool reads.
struct Row {
  std::string_view name;
  std::string_view doc;
  u16 opcode = 0;
  Role role = Role::work;
  CostClass cost = "scalar.alu"_cost;
  ArchSet archs = kAllArchs;
  std::span<const TypeForm> types;
  std::span<const FieldInfo> fields;
  Word used{};  // bits that an operand owns
  PipeId (*pipe)(const ArgsStorage&, Arch) = nullptr;
  CostClass (*cost_of)(const ArgsStorage&) = nullptr;
  Work (*work)(const ArgsStorage&, const Spr&) = nullptr;
  Footprint (*footprint)(const ArgsStorage&, const Spr&, Arch) = nullptr;
  void (*execute)(const ArgsStorage&, ExecContext&) = nullptr;
  void (*execute_scalar)(const ArgsStorage&, ScalarContext&) = nullptr;
  void (*set_type)(ArgsStorage&, u8) = nullptr;
  // Whether the pipe orders it before a later one of the same kind on the same data, without pipe_barrier; null: no.
  bool (*forwards)(const ArgsStorage&, Arch) = nullptr;
  Computes computes = Computes::nothing;
  bool reads_results = false;  // a scalar instruction that reads what may change without it: STATUS, ResultRegisters,
                               // the system counter
  bool sets_mask = false;      // a scalar instruction that sets the vector mask
  bool remark = false;         // a scalar instruction for the checker alone: it takes no time, and is not counted
  bool first_type_is_default = false;  // text may leave out the suffix of types[0]
};

// Instructions that belong together, in the order of their opcodes; isa/table/table.cpp joins the lists.
template <class... I>
struct InsnList {};

namespace detail {
template <class...>
struct Join {
  using List = InsnList<>;
};
template <class... I>
struct Join<InsnList<I...>> {
  using List = InsnList<I...>;
};
template <class... I, class... J, class... More>
struct Join<InsnList<I...>, InsnList<J...>, More...> : Join<InsnList<I..., J...>, More...> {};
}  // namespace detail
template <class... Lists>
using JoinInsns = typename detail::Join<Lists...>::List;

// ---------------------------------------------------------------------------------------------------------------------
// From struct to row.

template <class I>
const typename I::Args& args_of(const ArgsStorage& s) {
  return *reinterpret_cast<const typename I::Args*>(s.bytes.data());
}
template <class I>
typename I::Args& args_of(ArgsStorage& s) {
  return *reinterpret_cast<typename I::Args*>(s.bytes.data());
}

template <class I>
concept HasRole = requires {
  { I::role } -> std::convertible_to<Role>;
};
template <class I>
constexpr Role role_of() {
  if constexpr (HasRole<I>) return I::role;
  return Role::work;
}
template <class I>
concept Typed = requires(typename I::Args a) {
  { I::types.size() } -> std::convertible_to<usize>;
  { a.type } -> std::convertible_to<u8>;
};
template <class I>
concept Named = requires {
  { I::name } -> std::convertible_to<std::string_view>;
  { I::doc } -> std::convertible_to<std::string_view>;
  { I::opcode } -> std::convertible_to<u16>;
  { I::archs } -> std::convertible_to<ArchSet>;
  { I::cost } -> std::convertible_to<CostClass>;
  std::tuple_size<std::remove_cvref_t<decltype(I::fields)>>::value;
};
template <class I>
concept ScalarInstruction = Named<I> && requires(const typename I::Args& a, ScalarContext& c) {
  { I::execute(a, c) } -> std::same_as<void>;
};
template <class I>
concept WorkInstruction = Named<I> && requires(const typename I::Args& a, const Spr& s, Arch arch, ExecContext& c) {
  { I::pipe(a, arch) } -> std::same_as<PipeId>;
  { I::work(a, s) } -> std::same_as<Work>;
  { I::footprint(a, s, arch) } -> std::same_as<Footprint>;
  { I::execute(a, c) } -> std::same_as<void>;
};
template <class I>
concept SyncInstruction = Named<I> && requires(const typename I::Args& a, Arch arch) {
  { I::pipe(a, arch) } -> std::same_as<PipeId>;
};
// A struct that lacks a part is refused here, with the part's name in the diagnostic.
template <class I>
concept Instruction = std::is_trivially_copyable_v<typename I::Args> && sizeof(typename I::Args) <= kArgsBytes &&
                      ((role_of<I>() == Role::work && WorkInstruction<I>) ||
                       (role_of<I>() == Role::scalar && ScalarInstruction<I>) ||
                       (role_of<I>() == Role::end && Named<I>) ||
                       ((role_of<I>() == Role::set_flag || role_of<I>() == Role::wait_flag ||
                         role_of<I>() == Role::pipe_barrier || role_of<I>() == Role::cross_set ||
                         role_of<I>() == Role::cross_wait) &&
                        SyncInstruction<I>));

namespace detail {

template <class>
struct MemberOf;
template <class C, class T>
struct MemberOf<T C::*> {
  using Class = C;
  using Type = T;
};

template <class Args, auto Member>
constexpr FieldInfo make_field(const Field<Member>& f, unsigned lsb) {
  using T = typename MemberOf<decltype(Member)>::Type;
  return {
      .name = f.name,
      .kind = f.kind,
      .lsb = static_cast<u8>(lsb),
      .width = f.width,
      .is_signed = f.is_signed,
      .optional = f.optional,
      .fallback = f.fallback,
      .doc = f.doc,
      .memory = f.memory,
      .lanes = f.lanes,
      .set = [](ArgsStorage& s, u64 v) { reinterpret_cast<Args*>(s.bytes.data())->*Member = static_cast<T>(v); },
      .get =
          [](const ArgsStorage& s) {
            const T value = reinterpret_cast<const Args*>(s.bytes.data())->*Member;
            if constexpr (std::is_signed_v<T>) return static_cast<u64>(static_cast<i64>(value));
            return static_cast<u64>(value);
          },
  };
}

template <class I>
constexpr auto make_fields() {
  constexpr usize n = std::tuple_size_v<std::remove_cvref_t<decltype(I::fields)>>;
  std::array<FieldInfo, n> out{};
  unsigned lsb = kOperandsBegin;
  usize i = 0;
  std::apply(
      [&](const auto&... f) {
        ((out[i++] = make_field<typename I::Args>(f, lsb), lsb += slot_bits(f.kind, f.width) + 1), ...);
      },
      I::fields);
  return out;
}

constexpr void mark(Word& w, unsigned from, unsigned count) {
  for (unsigned b = from; b < from + count; ++b)
    w[b / 64] |= u64{1} << (b % 64);
}

template <class I>
constexpr unsigned operand_bits() {
  unsigned bits = kOperandsBegin;
  std::apply([&](const auto&... f) { ((bits += slot_bits(f.kind, f.width) + 1), ...); }, I::fields);
  return bits;
}

template <class I>
inline constexpr auto kFieldsOf = make_fields<I>();

}  // namespace detail

template <Instruction I>
constexpr Row make_row() {
  static_assert(detail::operand_bits<I>() <= kWordBits, "the operands leave the instruction word");
  Row r{.name = I::name,
        .doc = I::doc,
        .opcode = I::opcode,
        .role = role_of<I>(),
        .cost = I::cost,
        .archs = I::archs,
        .types = {},
        .fields = std::span<const FieldInfo>(detail::kFieldsOf<I>)};
  detail::mark(r.used, 0, kOpcodeBits);
  detail::mark(r.used, kOperandsBegin, detail::operand_bits<I>() - kOperandsBegin);
  if constexpr (Typed<I>) {
    static_assert(I::types.size() <= (1u << kTypeBits), "too many type forms");
    r.types = std::span<const TypeForm>(I::types);
    detail::mark(r.used, kOpcodeBits, kTypeBits);
    r.set_type = [](ArgsStorage& s, u8 t) { args_of<I>(s).type = t; };
  }
  if constexpr (requires(const typename I::Args& a, Arch arch) { I::pipe(a, arch); }) {
    r.pipe = [](const ArgsStorage& s, Arch arch) { return I::pipe(args_of<I>(s), arch); };
  }
  if constexpr (requires(const typename I::Args& a) { I::cost_of(a); }) {
    r.cost_of = [](const ArgsStorage& s) { return I::cost_of(args_of<I>(s)); };
  }
  if constexpr (requires(const typename I::Args& a, const Spr& spr, Arch arch) { I::footprint(a, spr, arch); }) {
    r.footprint = [](const ArgsStorage& s, const Spr& spr, Arch arch) {
      return I::footprint(args_of<I>(s), spr, arch);
    };
  }
  if constexpr (requires(const typename I::Args& a, Arch arch) { I::forwards(a, arch); }) {
    r.forwards = [](const ArgsStorage& s, Arch arch) { return I::forwards(args_of<I>(s), arch); };
  }
  if constexpr (requires { I::first_type_is_default; }) r.first_type_is_default = I::first_type_is_default;
  if constexpr (requires { I::computes; }) r.computes = I::computes;
  if constexpr (requires { I::reads_results; }) r.reads_results = I::reads_results;
  if constexpr (requires { I::sets_mask; }) r.sets_mask = I::sets_mask;
  if constexpr (requires { I::remark; }) r.remark = I::remark;
  if constexpr (role_of<I>() == Role::scalar) {
    r.execute_scalar = [](const ArgsStorage& s, ScalarContext& c) { I::execute(args_of<I>(s), c); };
  }
  if constexpr (role_of<I>() == Role::work) {
    r.work = [](const ArgsStorage& s, const Spr& spr) { return I::work(args_of<I>(s), spr); };
    r.execute = [](const ArgsStorage& s, ExecContext& c) { I::execute(args_of<I>(s), c); };
  }
  return r;
}

}  // namespace vinci::isa
