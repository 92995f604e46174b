// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/python/program.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/python/bodies.h"
#include "tools/python/owned.h"

namespace py = pybind11;

namespace vinci::python {
namespace {

using isa::ScalarOp;
using Compare = isa::Condition::Op;

// Instructions as data
// -------------------------------------------------------------------------------------------------

enum class OperandKind { value, reg, pipe, event, target };
struct OperandInfo {
  const char* name;
  const char* doc;
  OperandKind kind;
  bool optional;
  i64 fallback;
};
struct Instruction {
  const char* method;
  const char* name;
  const char* doc;
  std::vector<const char*> types;
  std::vector<OperandInfo> operands;
};

const std::vector<Instruction>& instructions() {
  static const std::vector<Instruction> all = {
#include "tools/python/instructions.inc"
  };
  return all;
}

// A builder and what belongs to it
// --------------------------------------------------------------------------------------

struct ProgramState : Bodies {
  static constexpr const char* kName = "ProgramBuilder";

  isa::ProgramBuilder builder;
  // An if_ whose body has ended, until else_() or anything else follows.
  std::optional<isa::ProgramBuilder::If> pending = {};

  ProgramState(std::string name, isa::Arch arch, std::optional<isa::CoreLimits> core)
      : builder(std::move(name), arch, core) {}

  isa::ProgramBuilder& use() {
    check();
    if (const auto ended = std::exchange(pending, std::nullopt)) builder.end_if(*ended);
    return builder;
  }
};
using Owner = std::shared_ptr<ProgramState>;
using BuilderType = py::class_<ProgramState, Owner>;

using Reg = Owned<ProgramState, isa::Reg>;
using Const = Owned<ProgramState, isa::Const>;
using Target = Owned<ProgramState, isa::Target>;
using Slots = Owned<ProgramState, isa::Slots>;
using Expr = Owned<ProgramState, isa::Expr>;
using Condition = Owned<ProgramState, isa::Condition>;

isa::PipeId pipe(std::string_view text) {
  if (text.starts_with("PIPE_")) text.remove_prefix(5);
  return enumerator<isa::PipeId>(isa::kPipeNames, text, "pipe");
}

isa::Value operand(const Owner& owner, py::handle h, std::string_view what) {
  if (py::isinstance<Reg>(h)) return own(owner, h.cast<const Reg&>(), "a register");
  if (py::isinstance<Const>(h)) return own(owner, h.cast<const Const&>(), "a constant");
  if (py::isinstance<Target>(h)) return own(owner, h.cast<const Target&>(), "a label");
  if (py::isinstance<py::str>(h)) return pipe(h.cast<std::string>());
  if (py::isinstance<Expr>(h)) {
    throw Failure{VINCI_ERROR_INPUT,
                  std::string(what) + ": an expression is no operand; set() puts it into a register"};
  }
  const WholeNumber n = whole_number(h, what);
  return n.negative ? isa::Value(static_cast<i64>(n.bits)) : isa::Value(n.bits);
}

isa::Expr expression(const Owner& owner, py::handle h) {
  if (py::isinstance<Expr>(h)) return own(owner, h.cast<const Expr&>(), "an expression");
  return operand(owner, h, "set");
}

isa::Reg reg(const Owner& owner, const Reg& r) { return own(owner, r, "a register"); }

// The call of an instruction: a type form first, where there are some, then operands by position and by name.
void call(const Owner& owner, const Instruction& insn, const py::args& args, const py::kwargs& named) {
  std::string name = insn.name;
  std::vector<isa::Value> operands;
  std::size_t first = 0;
  const auto place = [&](std::size_t f) { return std::string(insn.name) + ": '" + insn.operands[f].name + "'"; };
  if (!insn.types.empty() && !args.empty() && py::isinstance<py::str>(args[0])) {
    name += "." + args[0].cast<std::string>();
    first = 1;
  }
  for (std::size_t i = first; i < args.size(); ++i) {
    const std::size_t f = operands.size();
    operands.push_back(operand(owner, args[i], f < insn.operands.size() ? place(f) : std::string(insn.name)));
  }
  std::size_t used = 0;
  for (std::size_t f = 0; f < insn.operands.size() && used < named.size(); ++f) {
    const OperandInfo& o = insn.operands[f];
    const bool given = named.contains(o.name);
    if (f < operands.size()) {
      if (given) throw Failure{VINCI_ERROR_INPUT, place(f) + " is given twice"};
      continue;
    }
    if (given) {
      operands.push_back(operand(owner, named[o.name], place(f)));
      ++used;
    } else if (o.optional) {
      operands.push_back(o.kind == OperandKind::pipe ? isa::Value(static_cast<isa::PipeId>(o.fallback))
                                                     : isa::Value(o.fallback));
    } else {
      throw Failure{VINCI_ERROR_INPUT, place(f) + " is missing"};
    }
  }
  if (used < named.size()) {
    for (const auto& [key, value] : named) {
      const auto text = key.cast<std::string>();
      bool known = false;
      for (const OperandInfo& o : insn.operands)
        known = known || text == o.name;
      if (!known) throw Failure{VINCI_ERROR_INPUT, std::string(insn.name) + " has no operand '" + text + "'"};
    }
  }
  owner->use().call(name, operands);
}

std::string documentation(const Instruction& insn) {
  std::string text = std::string(insn.method) + "(", types;
  if (!insn.types.empty()) text += "type";
  for (const OperandInfo& o : insn.operands)
    text +=
        (text.back() == '(' ? "" : ", ") + std::string(o.name) + (o.optional ? "=" + std::to_string(o.fallback) : "");
  text += ")\n\n" + std::string(insn.doc);
  for (const char* t : insn.types)
    types += (types.empty() ? "" : ", ") + std::string(t);
  if (!types.empty()) text += "\ntypes: " + types;
  for (const OperandInfo& o : insn.operands)
    if (*o.doc != '\0') text += "\n" + std::string(o.name) + ": " + o.doc;
  return text;
}

// Bodies of with statements
// ---------------------------------------------------------------------------------------------

// What a body keeps from its beginning to its end. The scope is of `owner`, which must be the older member.
struct LoopBody {
  Owner owner;
  std::unique_ptr<isa::ProgramBuilder::Scope> scope = {};
  std::optional<isa::ProgramBuilder::Loop> loop = {};

  void open_scope() { scope.reset(new isa::ProgramBuilder::Scope(owner->use().scope())); }
};

std::unique_ptr<Body> scope(const Owner& owner) {
  auto kept = std::make_shared<LoopBody>(LoopBody{owner});
  return std::make_unique<Body>(
      owner,
      [kept]() -> py::object {
        kept->open_scope();
        return py::none();
      },
      [kept] { kept->scope.reset(); });
}

std::unique_ptr<Body> loop_times(const Owner& owner, const py::object& times) {
  auto kept = std::make_shared<LoopBody>(LoopBody{owner});
  const isa::Value to = operand(owner, times, "loop");
  return std::make_unique<Body>(
      owner,
      [kept, to]() -> py::object {
        kept->open_scope();
        isa::ProgramBuilder& p = kept->owner->use();
        const isa::Reg i = p.reg("i");
        kept->loop = p.begin_loop(i, 0, to, 1);
        return py::cast(Reg{kept->owner, i});
      },
      [kept] {
        kept->owner->use().end_loop(*kept->loop);
        kept->scope.reset();
      });
}

std::unique_ptr<Body> loop_range(const Owner& owner, const Reg& i, const py::object& start, const py::object& stop,
                                 const py::object& step) {
  auto kept = std::make_shared<LoopBody>(LoopBody{owner});
  const isa::Reg counter = reg(owner, i);
  const isa::Value from = operand(owner, start, "loop: start"), to = operand(owner, stop, "loop: stop"),
                   by = operand(owner, step, "loop: step");
  return std::make_unique<Body>(
      owner,
      [kept, counter, from, to, by]() -> py::object {
        kept->loop = kept->owner->use().begin_loop(counter, from, to, by);
        return py::cast(Reg{kept->owner, counter});
      },
      [kept] { kept->owner->use().end_loop(*kept->loop); });
}

std::unique_ptr<Body> if_(const Owner& owner, const Condition& c) {
  const isa::Condition condition = own(owner, c, "a condition");
  auto open = std::make_shared<std::optional<isa::ProgramBuilder::If>>();
  return std::make_unique<Body>(
      owner,
      [owner, condition, open]() -> py::object {
        *open = owner->use().begin_if(condition);
        return py::none();
      },
      [owner, open] {
        owner->use();
        owner->pending = **open;
      });
}

std::unique_ptr<Body> else_(const Owner& owner) {
  auto open = std::make_shared<std::optional<isa::ProgramBuilder::If>>();
  return std::make_unique<Body>(
      owner,
      [owner, open]() -> py::object {
        if (!owner->pending) throw Failure{VINCI_ERROR_INPUT, "else_() follows the body of an if_() directly"};
        *open = *std::exchange(owner->pending, std::nullopt);
        owner->builder.begin_else(**open);
        return py::none();
      },
      [owner, open] { owner->use().end_if(**open); });
}

// fill() and drain().
template <class Begin, class End>
std::unique_ptr<Body> part(const Owner& owner, const Slots& s, Begin begin, End end) {
  const isa::Slots slots = own(owner, s, "slots");
  auto kept = std::make_shared<LoopBody>(LoopBody{owner});
  return std::make_unique<Body>(
      owner,
      [kept, slots, begin]() -> py::object {
        kept->open_scope();
        return py::cast(Reg{kept->owner, (kept->owner->use().*begin)(slots)});
      },
      [kept, slots, end] {
        (kept->owner->use().*end)(slots);
        kept->scope.reset();
      });
}

// Python's operators
// -----------------------------------------------------------------------------------------------------

// Whether Python may try the other operand's operator in place of ours.
bool is_operand(py::handle h) { return py::isinstance<Reg>(h) || py::isinstance<Const>(h) || PyIndex_Check(h.ptr()); }
py::object not_implemented() { return py::reinterpret_borrow<py::object>(Py_NotImplemented); }

constexpr std::pair<const char*, ScalarOp> kOperators[] = {
    {"add", ScalarOp::add},    {"sub", ScalarOp::sub},   {"mul", ScalarOp::mul}, {"truediv", ScalarOp::div},
    {"mod", ScalarOp::rem},    {"and", ScalarOp::and_},  {"or", ScalarOp::or_},  {"xor", ScalarOp::xor_},
    {"lshift", ScalarOp::shl}, {"rshift", ScalarOp::shr}};
constexpr std::pair<const char*, Compare> kComparisons[] = {{"__eq__", Compare::eq}, {"__ne__", Compare::ne},
                                                            {"__lt__", Compare::lt}, {"__le__", Compare::le},
                                                            {"__gt__", Compare::gt}, {"__ge__", Compare::ge}};

template <class T>
void bind_arithmetic(py::class_<Owned<ProgramState, T>>& type) {
  for (const auto& entry : kOperators) {
    const char* const name = entry.first;
    const auto op = entry.second;
    type.def(("__" + std::string(name) + "__").c_str(),
             [op](const Owned<ProgramState, T>& a, const py::object& b) -> py::object {
               if (!is_operand(b)) return not_implemented();
               return py::cast(Expr{a.owner, isa::Expr(a.value).then(op, operand(a.owner, b, "an expression"))});
             });
  }
  type.def("min", [](const Owned<ProgramState, T>& a, const py::object& b) {
    return Expr{a.owner, isa::Expr(a.value).then(ScalarOp::min, operand(a.owner, b, "min"))};
  });
  type.def("max", [](const Owned<ProgramState, T>& a, const py::object& b) {
    return Expr{a.owner, isa::Expr(a.value).then(ScalarOp::max, operand(a.owner, b, "max"))};
  });
}

void bind_parts(BuilderType& builder) {
  py::class_<Expr> expr(builder, "Expression", "Operations on registers, from left to right, for set().");
  bind_arithmetic(expr);

  py::class_<Condition>(builder, "Condition", "A signed comparison, for if_() and branch().")
      .def("__bool__",
           [](const Condition&) -> bool {
             throw Failure{
                 VINCI_ERROR_INPUT,
                 "a comparison of registers is true or false when the program runs: if_() and branch() take it"};
           })
      .def("__invert__", [](const Condition& c) {
        return Condition{c.owner, !c.value};
      });

  py::class_<Reg> reg_type(builder, "Reg", "A scalar register.");
  bind_arithmetic(reg_type);
  reg_type.def_property_readonly("number", [](const Reg& r) { return static_cast<int>(r.value.number()); })
      .def("__hash__", [](const Reg& r) { return static_cast<int>(r.value.number()); })
      .def("__repr__", [](const Reg& r) { return "X" + std::to_string(r.value.number()); });
  for (const auto& entry : kOperators) {
    const char* const name = entry.first;
    const auto op = entry.second;
    reg_type.def(("__r" + std::string(name) + "__").c_str(), [op](const Reg& a, const py::object& b) -> py::object {
      if (!is_operand(b)) return not_implemented();
      return py::cast(Expr{a.owner, isa::Expr(operand(a.owner, b, "an expression")).then(op, a.value)});
    });
  }
  for (const auto& entry : kComparisons) {
    const Compare op = entry.second;
    reg_type.def(entry.first, [op](const Reg& a, const py::object& b) -> py::object {
      if (!is_operand(b)) return not_implemented();
      return py::cast(Condition{a.owner, {op, a.value, operand(a.owner, b, "a comparison")}});
    });
  }

  py::class_<Const> constant(builder, "Constant", "A number with a name in the text; arithmetic gives plain numbers.");
  const auto number = [](const Const& c) { return py::int_(static_cast<i64>(c.value)); };
  constant.def("__int__", number).def("__index__", number).def("__hash__", [number](const Const& c) {
    return py::hash(number(c));
  });
  for (const char* name : {"__add__",      "__radd__",      "__sub__", "__rsub__", "__mul__",    "__rmul__",
                           "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__lshift__", "__rlshift__",
                           "__rshift__",   "__rrshift__",   "__and__", "__rand__", "__or__",     "__ror__",
                           "__eq__",       "__ne__",        "__lt__",  "__le__",   "__gt__",     "__ge__"}) {
    constant.def(name, [name, number](const Const& c, const py::object& other) -> py::object {
      return number(c).attr(name)(py::isinstance<Const>(other) ? py::object(number(other.cast<const Const&>()))
                                                               : other);
    });
  }
  constant.def("__neg__", [number](const Const& c) { return number(c).attr("__neg__")(); });
  constant.def("__repr__", [number](const Const& c) { return py::repr(number(c)); });

  // NOLINTNEXTLINE(bugprone-unused-raii): it is known to the module
  py::class_<Target>(builder, "Label", "A place to branch to.");
  py::class_<Slots>(builder, "Slots", "Parts of a buffer for fill() and drain().")
      .def_property_readonly("bytes", [](const Slots& s) { return s.value.bytes(); })
      .def_property_readonly("count", [](const Slots& s) { return s.value.count(); });
}

isa::Arch arch(const std::string& name) { return enumerator<isa::Arch>(isa::kArchNames, name, "architecture"); }
isa::BufId memory(const std::string& name) { return enumerator<isa::BufId>(isa::kBufNames, name, "memory"); }

isa::CoreLimits limits(const std::string& kind, const std::map<std::string, u64>& sizes, u32 flags) {
  isa::CoreLimits out{.kind = enumerator<isa::CoreKind>(isa::kCoreKindNames, kind, "kind of core"),
                      .flags_per_pair = flags};
  for (const auto& [name, bytes] : sizes)
    out.sizes[isa::index(memory(name))] = bytes;
  return out;
}

void bind_names(BuilderType& type) {
  using Text = const std::string&;
  type.def(
          "reg",
          [](const Owner& o, Text name, std::optional<u32> number) {
            isa::ProgramBuilder& p = o->use();
            return Reg{o, number ? p.reg(name, *number) : p.reg(name)};
          },
          py::arg("name"), py::arg("number") = py::none(), "The lowest-numbered free register, or that of a number.")
      .def(
          "regs",
          [](const Owner& o, const py::args& names) {
            py::tuple out(names.size());
            for (std::size_t i = 0; i < names.size(); ++i)
              out[i] = Reg{o, o->use().reg(names[i].cast<std::string>())};
            return out;
          },
          "Several: a, b = p.regs('a', 'b').")
      .def(
          "alias",
          [](const Owner& o, Text name, const Reg& r) {
            return Reg{o, o->use().alias(name, reg(o, r))};
          },
          py::arg("name"), py::arg("reg"), "Another name for a register.")
      .def(
          "x",
          [](const Owner& o, u32 number) {
            return Reg{o, o->use().x(number)};
          },
          py::arg("number"), "A register without a name.")
      .def("release", [](const Owner& o, const Reg& r) { o->use().release(reg(o, r)); })
      .def("constant",
           [](const Owner& o, Text name, i64 value) {
             return Const{o, o->use().constant(name, value)};
           })
      .def("comment", [](const Owner& o, Text text) { o->use().comment(text); })
      .def("label",
           [](const Owner& o, Text name) {
             return Target{o, o->use().label(name)};
           })
      .def("bind", [](const Owner& o, const Target& t) { o->use().bind(own(o, t, "a label")); })
      .def("here",
           [](const Owner& o, Text name) {
             return Target{o, o->use().here(name)};
           })
      .def(
          "arg",
          [](const Owner& o, Text name, std::optional<u64> i) {
            return Reg{o, o->use().arg(name, i)};
          },
          py::arg("name"), py::arg("index") = py::none(), "An argument of the launch, by default the next.")
      .def(
          "buffer",
          [](const Owner& o, Text name, Text where, u64 bytes, u64 align) {
            return o->use().buffer(name, memory(where), bytes, align);
          },
          py::arg("name"), py::arg("memory"), py::arg("bytes"), py::arg("align") = 32,
          "The address of bytes that no other buffer has.")
      .def(
          "slots",
          [](const Owner& o, Text name, u32 count, u64 bytes, Text where) {
            return Slots{o, o->use().slots(name, count, bytes, memory(where))};
          },
          py::arg("name"), py::arg("count"), py::arg("bytes"), py::arg("memory") = "UB",
          "A buffer in parts that one pipe fills and another one drains.");
}

void bind_control(BuilderType& type) {
  using isa::ProgramBuilder;
  type.def("scope", &scope, "with: registers that are taken inside are free afterwards.")
      .def("loop", &loop_times, py::arg("times"), "with p.loop(n) as i: the body for i = 0 .. n - 1.")
      .def("loop", &loop_range, py::arg("i"), py::arg("start"), py::arg("stop"), py::arg("step") = 1,
           "The body for i = start, start + step, ... while i < stop.")
      .def("if_", &if_, py::arg("condition"), "with p.if_(a < b): the body where the condition holds.")
      .def("else_", &else_, "with p.else_(): right behind the body of an if_().")
      .def(
          "fill",
          [](const Owner& o, const Slots& s) {
            return part(o, s, &ProgramBuilder::begin_fill, &ProgramBuilder::end_fill);
          },
          py::arg("slots"), "with p.fill(s) as address: instructions of one pipe that write a part.")
      .def(
          "drain",
          [](const Owner& o, const Slots& s) {
            return part(o, s, &ProgramBuilder::begin_drain, &ProgramBuilder::end_drain);
          },
          py::arg("slots"), "with p.drain(s) as address: instructions of one pipe that read a part.")
      .def("branch", [](const Owner& o, const Condition& c,
                        const Target& t) { o->use().branch(own(o, c, "a condition"), own(o, t, "a label")); })
      .def(
          "set",
          [](const Owner& o, const Reg& dst, const py::object& e) { o->use().set(reg(o, dst), expression(o, e)); },
          py::arg("dst"), py::arg("expression"), "dst = expression, an instruction for each operation.")
      .def(
          "hand_over",
          [](const Owner& o, const std::string& from, const std::string& to, const py::object& event) {
            o->use().hand_over(pipe(from), pipe(to), operand(o, event, "hand_over: event"));
          },
          py::arg("from_"), py::arg("to"), py::arg("event"), "set_flag and wait_flag.")
      .def("end_block", [](const Owner& o) { o->use().end_block(); })
      .def(
          "call",
          [](const Owner& o, const std::string& mnemonic, const py::args& args) {
            std::vector<isa::Value> operands;
            for (const py::handle& a : args)
              operands.push_back(operand(o, a, mnemonic));
            o->use().call(mnemonic, operands);
          },
          "Any instruction by its text: p.call('vadd.f16', dst, src0, ...).")
      .def(
          "finish",
          [](const Owner& o) {
            o->check_closed();
            return BuiltProgram{o->use().finish()};
          },
          "The checked program. The builder is used up.");
}

py::array words(const BuiltProgram& p) {
  const auto all = p.built.words();
  py::array_t<u64> out({static_cast<py::ssize_t>(all.size()), py::ssize_t{4}});
  std::copy_n(all.empty() ? nullptr : all.front().data(), 4 * all.size(), out.mutable_data());
  return out;
}

}  // namespace

void bind_program(py::module_& m) {
  m.def(
      "f32", [](float number) { return isa::f32(number).bits(); }, "The bits of a number, for operands of scalars.");
  m.def(
      "f16", [](float number) { return isa::f16(number).bits(); }, "The same in f16, to nearest even.");
  py::class_<isa::CoreLimits>(m, "CoreLimits", "The core that a program is checked against while it is written.")
      .def(py::init(&limits), py::arg("kind"), py::arg("sizes"), py::arg("flags_per_pair") = 8,
           "kind: AIC, AIV or AI_CORE; sizes: bytes by memory, such as {'UB': 196608}.");

  py::class_<BuiltProgram>(m, "Program", "A program and its text.")
      .def_property_readonly(
          "text", [](const BuiltProgram& p) { return p.built.text(); }, "Assembly.")
      .def_property_readonly("words", &words, "Instruction words, an array of 4 numbers for each.")
      .def_property_readonly(
          "file",
          [](const BuiltProgram& p) {
            const std::vector<std::byte> bytes = p.built.file();
            return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          },
          "A program file, as `vinci asm` writes it.");

  BuilderType type(m, "ProgramBuilder", "Writes a program instruction by instruction (docs/builder.md).");
  bind_parts(type);
  type.def(py::init([](const std::string& name, const std::string& arch_name, std::optional<isa::CoreLimits> core) {
             return std::make_shared<ProgramState>(name, arch(arch_name), core);
           }),
           py::arg("name"), py::arg("arch"), py::arg("core") = py::none())
      .def_property_readonly("arch",
                             [](const Owner& o) { return std::string(isa::name((o->check(), o->builder.arch()))); })
      .def(
          "__len__", [](const Owner& o) { return o->check(), o->builder.size(); }, "Instructions so far.");
  for (const Instruction& insn : instructions()) {
    type.attr(insn.method) = py::cpp_function(
        [&insn](const Owner& o, const py::args& args, const py::kwargs& named) { call(o, insn, args, named); },
        py::name(insn.method), py::is_method(type), py::doc(documentation(insn).c_str()));
  }
  bind_names(type);
  bind_control(type);
}

}  // namespace vinci::python
