// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Prints ascendc/cce_intrinsics.h: CCE intrinsics as functions, from the table of instructions. `./dev docs` writes it.
// With --each-call, a function that calls each of them on each type, for the test of them.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "isa/table/table.h"

namespace vinci::isa {
namespace {

// Those whose public forms the table does not say; ascendc/cce.h, sync.h, cross_core.h and language.h have them.
constexpr std::array<std::string_view, 35> kByHand{"create_ca_matrix",
                                                   "create_ca_matrix_bf16",
                                                   "create_cb_matrix",
                                                   "create_cb_matrix_bf16",
                                                   "create_cbuf_matrix",
                                                   "create_cbuf_matrix_bf16",
                                                   "dcci",
                                                   "dsb",
                                                   "ffts_cross_core_sync",
                                                   "get_block_idx",
                                                   "get_block_num",
                                                   "get_subblockdim",
                                                   "get_subblockid",
                                                   "ld_dev",
                                                   "ld_ubuf",
                                                   "load_cbuf_to_ca",
                                                   "load_cbuf_to_ca_s4",
                                                   "load_cbuf_to_cb",
                                                   "load_cbuf_to_cb_s4",
                                                   "load_cbuf_to_cb_sp",
                                                   "load_gm_to_ca",
                                                   "load_gm_to_ca_s4",
                                                   "load_gm_to_cb",
                                                   "load_gm_to_cb_s4",
                                                   "load_gm_to_cbuf",
                                                   "mad",
                                                   "mad_sp",
                                                   "pipe_barrier",
                                                   "set_ffts_base_addr",
                                                   "set_va_reg_sb",
                                                   "st_dev",
                                                   "st_ubuf",
                                                   "vmrgsort4",
                                                   "vmrgsort4v2",
                                                   "wait_flag_dev"};

// Whether the row is an intrinsic that the generator writes. What the scalar unit computes is plain C++.
bool is_written(const Row& row) {
  if (std::ranges::find(kByHand, row.name) != kByHand.end()) return false;
  if (row.role == Role::work) return true;
  if (row.role != Role::scalar) return false;
  // Special registers: those that are read, and those that are set.
  const bool writes_register =
      std::ranges::any_of(row.fields, [](const FieldInfo& f) { return f.kind == OperandKind::reg_dst; });
  const bool jumps = std::ranges::any_of(row.fields, [](const FieldInfo& f) { return f.kind == OperandKind::label; });
  if (jumps || row.name == "nop" || row.name == "touch_ubuf" || row.remark) return false;
  return !writes_register || row.fields.size() == 1;
}

std::string_view qualifier(BufId memory) {
  switch (memory) {
    case BufId::GM: return "__gm__";
    case BufId::L1: return "__cbuf__";
    case BufId::L0A: return "__ca__";
    case BufId::L0B: return "__cb__";
    case BufId::L0C: return "__cc__";
    case BufId::UB: return "__ubuf__";
    case BufId::BT: return "__biasbuf__";
    case BufId::FB: return "__fbuf__";
    case BufId::IDX: break;  // no instruction has an address there
  }
  return {};
}

std::string joined(const std::string& a, std::string_view b, std::string_view separator) {
  return a.empty() ? std::string(b) : fmt::format("{}{}{}", a, separator, b);
}

// The parts of a function for a row.
struct Function {
  std::string types;       // template parameters
  std::string lanes;       // the element types of its pointers to lanes
  std::string parameters;  // with the place
  std::string operands;
};

Function function_of(const Row& row) {
  Function out;
  const bool typed = !row.types.empty();
  std::string lane;  // the type of the last pointer to lanes
  for (const FieldInfo& f : row.fields) {
    std::string parameter, operand;
    if (f.memory && typed && f.lanes) {
      lane = fmt::format("T{}", std::count(out.lanes.begin(), out.lanes.end(), 'T'));
      out.types = joined(out.types, "typename " + lane, ", ");
      out.lanes = joined(out.lanes, lane, ", ");
      parameter = fmt::format("{} {}* {}", qualifier(*f.memory), lane, f.name);
      operand = fmt::format("at({})", f.name);
    } else if (f.memory) {
      parameter = fmt::format("const volatile {} void* {}", qualifier(*f.memory), f.name);
      operand = fmt::format("at({})", f.name);
    } else if (f.lanes && !lane.empty()) {
      out.types = joined(out.types, "typename N", ", ");
      parameter = fmt::format("N {}", f.name);
      operand = fmt::format("scalar_of<{}>({})", lane, f.name);
    } else if (row.role == Role::scalar && f.width >= 16) {
      out.types = joined(out.types, fmt::format("typename N{}{}", f.name, f.optional ? " = uint64_t" : ""), ", ");
      parameter = fmt::format("N{} {}", f.name, f.name);
      operand = fmt::format("register_of({})", f.name);
    } else {
      parameter = fmt::format("::vinci::ascendc::cce::Number {}", f.name);
      operand = fmt::format("{}.value", f.name);
    }
    if (f.optional) parameter += fmt::format(" = {}", f.fallback);
    out.parameters = joined(out.parameters, parameter, ", ");
    out.operands = joined(out.operands, operand, ", ");
  }
  out.parameters = joined(out.parameters, "VINCI_PLACE", ", ");
  return out;
}

// What functions of the same parameters have in common: a macro of their name, their instruction and its form or forms.
std::string macro_of(const Row& row) {
  if (row.fields.size() == 1 && row.fields[0].kind == OperandKind::reg_dst) {
    return "  inline int64_t name(VINCI_PLACE) {                                \\\n"
           "    static ::vinci::ascendc::Insn insn(mnemonic, forms);                \\\n"
           "    return static_cast<int64_t>(::vinci::ascendc::read(insn, place)); \\\n"
           "  }\n";
  }
  const Function f = function_of(row);
  std::string out = f.types.empty() ? "  inline" : fmt::format("  template <{}> \\\n ", f.types);
  out += fmt::format(" void name({}) {{ \\\n    using namespace vinci::ascendc::cce; \\\n", f.parameters);
  if (f.lanes.empty()) {
    out += "    static ::vinci::ascendc::Insn insn(mnemonic, forms); \\\n";
  } else {
    out += fmt::format("    constexpr const char* form = form_of<{}>(forms); \\\n", f.lanes);
    out += "    static_assert(form != nullptr, mnemonic \" has no form for elements of these types\"); \\\n";
    out += "    static ::vinci::ascendc::Insn insn(mnemonic, form); \\\n";
  }
  return out + fmt::format("    ::vinci::ascendc::issue(insn, {{{}}}, place); \\\n  }}\n", f.operands);
}

struct Group {
  std::string macro;
  std::string uses;
};

void add(std::vector<Group>& groups, const Row& row) {
  const std::string macro = macro_of(row);
  auto group = std::ranges::find(groups, macro, &Group::macro);
  if (group == groups.end()) group = groups.insert(group, Group{macro, {}});
  group->uses += fmt::format("// {}\n", row.doc);
  const bool by_pointer = std::ranges::any_of(row.fields, [](const FieldInfo& f) { return f.memory && f.lanes; });
  const auto use = [&](const std::string& name, const std::string& forms) {
    group->uses += fmt::format("VINCI_CCE({}, \"{}\", {})\n", name, row.name, forms);
  };
  if (row.types.empty()) {
    use(std::string(row.name), "nullptr");
  } else if (by_pointer) {
    std::string forms;
    for (const TypeForm& t : row.types)
      forms = joined(forms, t.name, " ");
    use(std::string(row.name), fmt::format("\"{}\"", forms));
  } else {  // without pointers, the public name says the type
    for (const TypeForm& t : row.types)
      use(fmt::format("{}_{}", row.name, t.name), fmt::format("\"{}\"", t.name));
  }
}

void print_header() {
  fmt::print(
      "// SPDX-License-Identifier: Apache-2.0\n// SPDX-FileCopyrightText: The Vinci authors\n"
      "// Generated by tools/ascendc/cce/make_intrinsics.cpp from the table of instructions; do not edit.\n"
      "// clang-format off\n#pragma once\n\n#include \"ascendc/cce_types.h\"\n\n"
      "// Operands are in the order of `vinci isa NAME`, which says what they are. A pointer is the address in its\n"
      "// memory; the type of its elements chooses the form of the instruction.\n");
  std::vector<Group> groups;
  for (const Row& row : table())
    if (is_written(row)) add(groups, row);
  for (const Group& group : groups)
    fmt::print("\n#define VINCI_CCE(name, mnemonic, forms) \\\n{}{}#undef VINCI_CCE\n", group.macro, group.uses);
}

// The element type of a pointer for a form: of the destination, or of what is read.
std::string_view element_type(std::string_view form, bool destination) {
  constexpr std::array<std::array<std::string_view, 2>, 13> kTypes{{{"f16", "half"},
                                                                    {"f32", "float"},
                                                                    {"bf16", "bfloat16_t"},
                                                                    {"s4", "AscendC::int4b_t"},
                                                                    {"s8", "int8_t"},
                                                                    {"u8", "uint8_t"},
                                                                    {"s16", "int16_t"},
                                                                    {"u16", "uint16_t"},
                                                                    {"s32", "int32_t"},
                                                                    {"u32", "uint32_t"},
                                                                    {"b8", "int8_t"},
                                                                    {"b16", "half"},
                                                                    {"b32", "float"}}};
  if (form == "fmix" || form == "f162f32") return destination ? "float" : "half";
  for (const auto& [name, type] : kTypes)
    if (name == form) return type;
  return "void";
}

void print_each_call() {
  fmt::print("#include \"ascendc/cce.h\"\n__global__ [aicore] void each() {{\n");
  for (const Row& row : table()) {
    if (!is_written(row)) continue;
    const bool by_pointer = std::ranges::any_of(row.fields, [](const FieldInfo& f) { return f.memory && f.lanes; });
    std::vector<std::string_view> forms{""};
    if (!row.types.empty()) forms.clear();
    for (const TypeForm& t : row.types)
      forms.push_back(t.name);
    for (const std::string_view form : forms) {
      std::string operands;
      bool destination = true;
      for (const FieldInfo& f : row.fields) {
        if (f.kind == OperandKind::reg_dst) continue;
        std::string operand = "0";
        if (f.memory) {
          operand = fmt::format("({} {}*)0", qualifier(*f.memory), f.lanes ? element_type(form, destination) : "void");
          destination = false;
        }
        operands = joined(operands, operand, ", ");
      }
      const std::string suffix = form.empty() || by_pointer ? "" : fmt::format("_{}", form);
      fmt::print("  {}{}({});\n", row.name, suffix, operands);
    }
  }
  fmt::print("}}\n");
}

}  // namespace
}  // namespace vinci::isa

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--each-call") {
    vinci::isa::print_each_call();
  } else {
    vinci::isa::print_header();
  }
}
