// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "isa/census/census.h"
#include "isa/mem/view.h"
#include "isa/table/insn.h"

namespace vinci::isa {

// Tracks which instruction made a special value: an infinity, a NaN, a largest value or a zero. The origin follows the
// value through memories of cores, global memory, host buffers, copies, reductions and collectives.
//
// Each block of 32 B has at most one mark. An instruction that writes a special value marks the block with the origin
// of the special values that it read; if it read none, it is a new origin. Results that are computed from a replaced
// value (see Node::replaced) are marked too, although they look like correct values.
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
    bool replaced = false;           // of a birth: the largest value, or 0 for a NaN, came in its place
    bool leaves_the_device = false;  // a copy to the host
  };
  // By number, from 1 on, in the order of their first execution.
  std::span<const Node> nodes() const { return std::span(nodes_).subspan(1); }
  const Node& node(u32 number) const { return nodes_[number]; }

  u32 born(u32 task, const Site& site, NumericEvents events, bool replaced);
  u32 passed(u32 from, u32 task, const Site& site);
  // Whether values that come from a node are wrong although they look like others.
  bool hides(u32 node) const { return node != 0 && nodes_[nodes_[node].birth].replaced; }

  // A memory.
  class Space {
   public:
    static Space global() { return Space(0); }
    static Space core(const View& buffer) { return Space(reinterpret_cast<u64>(&buffer)); }
    static Space host(u32 buffer) { return Space(u64{buffer} * 2 + 1); }  // no address of a View is odd
    bool is_global() const { return key_ == 0; }
    bool is_host() const { return (key_ & 1) != 0; }

   private:
    friend class Origins;
    explicit Space(u64 key) : key_(key) {}
    u64 key_;
  };
  struct Place {
    Space space;
    u64 begin;  // byte
  };

  bool empty() const { return marks_ == 0; }
  // The earliest mark of some bytes, 0: none.
  u32 at(const Place& place, u64 bytes) const;
  // They are written without special values.
  void clear(const Place& place, u64 bytes);
  // They are written with `contents`, by a node; 0: without special values.
  void wrote(const Place& place, std::span<const std::byte> contents, u32 node);
  // A task copies them.
  void copy(const Place& from, const Place& to, u64 bytes, u32 task);

  // What an instruction reads and writes.
  u32 read_by(const Footprint& footprint, const CoreMem& mem) const;
  void written_by(const Footprint& footprint, const CoreMem& mem, u32 node);

  template <class F>
  void renumber_tasks(F position) {
    for (Node& n : nodes_)
      n.task = position(n.task);
  }

 private:
  u32 find(Space space, u64 block) const;
  void mark(Space space, u64 block, u32 node);
  bool has_marks(Space space) const;
  std::vector<u32>* marks_of(Space space) const;  // not of global memory; null: none

  std::vector<Node> nodes_{1};
  std::map<std::tuple<u32, u32, Site>, u32> known_;  // by birth (0: a birth), task, site
  std::unordered_map<u64, std::vector<u32>> local_;  // by space, then block
  std::unordered_map<u64, u32> global_;              // by block
  u64 marks_ = 0;
  mutable u64 last_key_ = 0;  // of local_: that was found last
  mutable std::vector<u32>* last_ = nullptr;
};

// One execution of an instruction, or of a task that is no kernel, as special values see it: what it reads, before it
// runs, and what it has written.
class FollowedResults {
 public:
  // `replaces`: the overflow mode replaces infinities and NaN.
  FollowedResults(Census& census, CensusPoint& point, u32 task, bool replaces)
      : census_(census), point_(point), task_(task), replaces_(replaces) {}

  // Whether there is anything to ask for before it runs.
  bool reads() const { return census_.origins != nullptr && !census_.origins->empty(); }
  void read(const Footprint& footprint, const CoreMem& mem) { read(census_.origins->read_by(footprint, mem)); }
  void read(const Origins::Place& place, u64 bytes) {
    if (reads()) read(census_.origins->at(place, bytes));
  }

  // When it has run: whether there is anything to mark or to clear.
  bool writes() const { return point_.born() != 0 || reads(); }
  void wrote(const Footprint& footprint, const CoreMem& mem) {
    const u32 by = node();
    census_.origins->written_by(footprint, mem, by);
  }
  void wrote(const Origins::Place& place, std::span<const std::byte> contents) {
    const u32 by = node();
    census_.origins->wrote(place, contents, by);
  }
  // What special values that it wrote come from.
  u32 node();

 private:
  void read(u32 mark);

  Census& census_;
  CensusPoint& point_;
  u32 task_;
  bool replaces_;
  u32 cause_ = 0;  // the earliest
};

}  // namespace vinci::isa
