// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "isa/census/census.h"
#include "isa/insn.h"
#include "isa/mem/view.h"

namespace vinci::isa {

// Where special values come from: infinities, NaN, largest values and flushed zeros, followed from the instruction that
// made them through the memories of cores, global memory, copies and reductions. Memory is marked in blocks of 32 B: a
// block that is written with a special value carries the origin of the special values that were read, or a new one.
class Origins {
 public:
  static constexpr u32 kBlock = 32;  // bytes

  // An instruction of a task, or a task that is no kernel, through which special values of one birth went.
  struct Node {
    u32 task = 0;
    Site site;
    u32 birth = 0;                   // the node at which they were born; itself
    u32 parent = 0;                  // the node that they came from, 0: born here
    NumericEvents events = 0;        // of a birth
    bool leaves_the_device = false;  // a copy to the host
  };
  // By number, from 1 on, in the order of their first execution.
  std::span<const Node> nodes() const { return std::span(nodes_).subspan(1); }
  const Node& node(u32 number) const { return nodes_[number]; }

  u32 born(u32 task, const Site& site, NumericEvents events);
  u32 passed(u32 from, u32 task, const Site& site);

  // Global memory is null.
  using Space = const View*;
  bool empty() const { return marks_ == 0; }
  // The earliest mark of some bytes, 0: none.
  u32 at(Space space, u64 begin, u64 bytes) const;
  void mark(Space space, u64 block, u32 node);
  // The bytes are written without special values.
  void clear(Space space, u64 begin, u64 bytes);
  // They are copied within global memory by a task.
  void copy(u64 from, u64 to, u64 bytes, u32 task);
  // They are copied to the host.
  void leave(u64 from, u64 bytes, u32 task);

  // What an instruction reads and writes.
  u32 read_by(const Footprint& footprint, const CoreMem& mem) const;
  void written_by(const Footprint& footprint, const CoreMem& mem, u32 node);

  template <class F>
  void renumber_tasks(F position) {
    for (Node& n : nodes_)
      n.task = position(n.task);
  }

 private:
  u32& slot(Space space, u64 block);
  u32 find(Space space, u64 block) const;

  std::vector<Node> nodes_{1};
  std::map<std::tuple<u32, u32, Site>, u32> known_;  // by birth (0: a birth), task, site
  std::unordered_map<Space, std::vector<u32>> local_;
  std::unordered_map<u64, u32> global_;
  u64 marks_ = 0;
};

}  // namespace vinci::isa
