// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/check/checked_run.h"

// Programs that are wrong by construction: one thing of a correct pipeline is taken away, moved or added, of which the
// pipeline's own description says that nothing else does its work.
namespace vinci::test {

using Random = std::mt19937_64;

struct Mutant {
  config::ChipConfig chip;
  task::TaskStream stream;
  Lines program;
  std::string at;          // tags of the instruction, or names of the task, "|" between them: any of them
  std::string other = {};  // of the one that it is in conflict with; "": not asked for
};

// A way to break programs, and the id under which each mutant must be found.
struct MutantClass {
  std::string name;
  isa::check::FaultId id;
  std::function<Mutant(Random&)> make;
};

std::vector<MutantClass> vector_classes();  // mutants_vector.cpp, as are those of task streams
std::vector<MutantClass> stream_classes();
std::vector<MutantClass> cube_classes();  // mutants_cube.cpp
std::vector<MutantClass> mix_classes();   // mutants_mix.cpp

// For those who write them.
inline u32 below(Random& random, u32 n) { return static_cast<u32>(random() % n); }
inline std::string tag(std::string_view what, u32 a) { return fmt::format("{} {}", what, a); }
inline std::string tag(std::string_view what, u32 a, u32 b) { return fmt::format("{} {} {}", what, a, b); }
inline void drop(Mutant& m, std::initializer_list<std::string> tags) {
  for (const std::string& t : tags)
    m.program.drop(t);
}

}  // namespace vinci::test
