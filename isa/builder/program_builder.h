// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/arch.h"
#include "isa/builder/calls.h"
#include "isa/builder/value.h"

// Programs from C++: the door for compilers. docs/builder.md explains it and has an example.
namespace vinci::isa {

struct Program;

// What finish() checks a program against: the core that runs it.
struct CoreLimits {
  CoreKind kind = CoreKind::joint;
  std::array<u64, kBufCount> sizes{};  // bytes, by BufId
  u32 flags_per_pair = 8;
};

// A program and its text. Copies share both.
class BuiltProgram {
 public:
  // Its words, with lines of text() and labels.
  const Program& program() const { return *program_; }
  std::span<const std::array<u64, 4>> words() const;
  // The same as bytes: a program file, as `vinci asm` writes it.
  std::vector<std::byte> file() const;
  // Assembly that assembles to the same words; names of registers, constants and labels and comments are kept.
  const std::string& text() const { return *text_; }

 private:
  friend class ProgramBuilder;
  std::shared_ptr<const Program> program_;
  std::shared_ptr<const std::string> text_;
};

// A buffer that one pipe fills and another one uses up, in `count` parts so that both can work at the same time. Which
// pipes these are, and with them the flags, follows from the instructions in fill() and drain().
class Slots {
 public:
  u64 bytes() const { return bytes_; }  // of a part
  u32 count() const { return count_; }

 private:
  friend class ProgramBuilder;
  Slots(u32 id, u64 bytes, u32 count) : id_(id), count_(count), bytes_(bytes) {}
  u32 id_, count_;
  u64 bytes_;
};

// Writes a program instruction by instruction. Each instruction of the table is a call (isa/builder/calls.h,
// generated); what the architecture lacks, and operands that do not fit, throw Fault::Input or Fault::Unsupported with
// the text of the assembler. Names are made unique where they occur twice.
class ProgramBuilder final : public InstructionCalls {
 public:
  // `name` is the source that messages cite: "<name>.s". With `core`, pipes and buffers that it lacks are refused.
  ProgramBuilder(std::string name, Arch arch, std::optional<CoreLimits> core = std::nullopt);
  ~ProgramBuilder();
  ProgramBuilder(ProgramBuilder&&) noexcept;
  ProgramBuilder& operator=(ProgramBuilder&&) noexcept;

  Arch arch() const;
  usize size() const;  // instructions so far

  // Registers ---------------------------------------------------------------------------------------------------------
  // The lowest-numbered free register under a name. Throws Fault::Limit, with all names in use, where none is free.
  Reg reg(std::string_view name);
  // A register of a given number, which must be free.
  Reg reg(std::string_view name, u32 number);
  // Several, in this order: auto [a, b] = p.regs("a", "b"). clang 14 cannot capture such names in lambdas.
  template <std::convertible_to<std::string_view>... Names>
  std::array<Reg, sizeof...(Names)> regs(const Names&... names) {
    return {reg(std::string_view(names))...};
  }
  // Another name for a register.
  Reg alias(std::string_view name, Reg reg);
  // Register X<number> without a name; it is not free from now on.
  Reg x(u32 number);
  void release(Reg reg);  // which must not be free
  // Registers that are taken while it lives are free afterwards.
  class Scope {
   public:
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    friend class ProgramBuilder;
    explicit Scope(ProgramBuilder& builder);
    ProgramBuilder& builder_;
    u32 taken_;
  };
  [[nodiscard]] Scope scope() { return Scope(*this); }

  // Names and text ----------------------------------------------------------------------------------------------------
  Const constant(std::string_view name, i64 value);
  // A line of its own before the next instruction or label.
  void comment(std::string_view text);

  // Control -----------------------------------------------------------------------------------------------------------
  Target label(std::string_view name);  // to be bound
  void bind(Target label);              // to the next instruction
  Target here(std::string_view name) {
    const Target made = label(name);
    bind(made);
    return made;
  }
  // Goes to `target` where the condition holds.
  void branch(const Condition& condition, Target target);
  template <class Then>
  void if_(const Condition& condition, const Then& then) {
    const Target done = label("endif");
    branch(!condition, done);
    then();
    bind(done);
  }
  template <class Then, class Else>
  void if_(const Condition& condition, const Then& then, const Else& otherwise) {
    const Target other = label("else"), done = label("endif");
    branch(!condition, other);
    then();
    b(done);
    bind(other);
    otherwise();
    bind(done);
  }
  // The ends of an if_ whose bodies are no functions; begin_else() between them is optional.
  struct If {
    Target skip;
  };
  If begin_if(const Condition& condition);
  void begin_else(If& open);
  void end_if(const If& open) { bind(open.skip); }
  // body() for i = from, from + step, ... while i < to. The test before the first turn is left out where it is known. A
  // step that is a number must be above 0.
  template <class Body>
  void loop(Reg i, const Value& from, const Value& to, const Value& step, const Body& body) {
    const Loop turns = begin_loop(i, from, to, step);
    body();
    end_loop(turns);
  }
  // The same for the value that `i` has already.
  template <class Body>
  void loop(Reg i, const Value& to, const Value& step, const Body& body) {
    loop(i, i, to, step, body);
  }
  // body(i) for i = 0 .. times - 1, in a register of its own.
  template <class Body>
  void loop(const Value& times, const Body& body) {
    const Scope scope(*this);
    const Reg i = reg("i");
    loop(i, 0, times, 1, [&] { body(i); });
  }
  // The two ends of a loop whose body is no function.
  struct Loop {
    Reg i;
    Value to, step;
    Target again;
    std::optional<Target> done;
  };
  Loop begin_loop(Reg i, const Value& from, const Value& to, const Value& step);
  void end_loop(const Loop& loop);
  // pipe_barrier PIPE_ALL and end; before, each Slots is waited for until it is free.
  void end_block();

  // Scalars -----------------------------------------------------------------------------------------------------------
  // dst = expression, an instruction for each operation. Constants alone are one mov.
  void set(Reg dst, const Expr& expression);
  // Argument `index` of the launch in a register of its own; without an index, the one after the last.
  Reg arg(std::string_view name, std::optional<u64> index = std::nullopt);

  // Memory and flags --------------------------------------------------------------------------------------------------
  // The address of so many bytes of a buffer, after those that were given away before.
  u64 buffer(std::string_view name, BufId memory, u64 bytes, u64 align = 32);
  // set_flag and wait_flag: `to` goes on when `from` has done all before.
  void hand_over(PipeId from, PipeId to, const Event& event);
  Slots slots(std::string_view name, u32 count, u64 bytes, BufId memory = BufId::UB);
  // body(address): instructions of one pipe that write a part; waits until the part has been used up.
  template <class Body>
  void fill(const Slots& slots, const Body& body) {
    const Scope scope(*this);
    body(begin_fill(slots));
    end_fill(slots);
  }
  // body(address): instructions of one pipe that read the part; waits until it is filled.
  template <class Body>
  void drain(const Slots& slots, const Body& body) {
    const Scope scope(*this);
    body(begin_drain(slots));
    end_drain(slots);
  }

  // The two ends of a body that is no function. The first returns the address, in a register that is then taken.
  Reg begin_fill(const Slots& slots);
  void end_fill(const Slots& slots);
  Reg begin_drain(const Slots& slots);
  void end_drain(const Slots& slots);

  // Any instruction by its text, "vadd.f16", with operands in their order.
  void call(std::string_view mnemonic, std::span<const Value> operands);
  void call(std::string_view mnemonic, std::initializer_list<Value> operands) {
    call(mnemonic, std::span(operands.begin(), operands.size()));
  }
  // The same for its name and its type form apart.
  void call(std::string_view mnemonic, Type type, std::initializer_list<Value> operands);

  // The program, checked: labels are bound, flags balance where that can be decided (docs/builder.md), buffers fit
  // the core. The builder is used up. Throws Fault::Input.
  BuiltProgram finish();

 private:
  struct State;

  State& state() const;  // throws Fault::Input behind finish()
  void put(u16 opcode, std::optional<Type> type, std::initializer_list<Value> operands) override;
  std::unique_ptr<State> state_;
};

}  // namespace vinci::isa
