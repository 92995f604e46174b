// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/links/schedule.h"
#include "models/runtime/task_numbers.h"
#include "sim/task/run_memory.h"

namespace vinci::isa {
struct Census;  // isa/census/census.h
}

namespace vinci::models {

// The collectives of a run without time: who meets whom, and what becomes of the bytes. The n-th collective of a
// communicator that each of its ranks reaches belong together. When the last rank has come, all inputs are read and all
// results are made; each rank gets its own when its task is over, and that is all that time decides.
class Collectives {
 public:
  // With `lenient`, buffers that are freed are left out, because a checker reports them.
  Collectives(const task::TaskStream& stream, const config::LinksConfig& links, task::RunMemory& memory, bool lenient);

  struct Rank {
    u32 stream = task::kNone;  // kNone: has not come
    u32 position = 0;          // of its task in its stream
    const task::Task* task = nullptr;

    const task::Hccl& op() const { return std::get<task::Hccl>(task->op); }
  };
  struct Call {
    u64 number = 0;  // in its communicator, from 0
    std::vector<Rank> ranks;
    u32 first = 0;  // rank that came first
    u32 arrived = 0, delivered = 0;
    std::shared_ptr<const Schedule> schedule;  // when all have come
    std::vector<std::vector<std::byte>> work;  // by rank, with data
    u32 origin = 0;                            // of special values that it delivers: a node of Origins
    // References of the elements of `work`, by shadow and rank; empty where there are none.
    std::vector<std::vector<std::vector<double>>> references = {};
  };
  // A stream comes to its collective. When it is the last, the call, valid until the first rank is delivered; else
  // null. Throws Fault::Program where ranks that meet do not mean the same.
  const Call* arrive(u32 stream, u32 task);
  // Counts what reductions do from now on, as of the task of rank 0, and follows special values.
  void count(isa::Census* census, const TaskNumbers& numbers) {
    census_ = census;
    numbers_ = &numbers;
  }
  // Takes over the streams that the task stream has gained.
  void append() { present_.resize(stream_.streams.size()); }
  // The task of a stream is over: writes what its rank receives.
  void deliver(u32 stream);

  // Bytes of the buffers of each rank; a broadcast has none to send.
  struct Sizes {
    u64 send = 0, recv = 0;
  };
  Sizes bytes(const task::Hccl& op) const;

  // A line for each stream in a collective that not all ranks have reached.
  void report(std::vector<std::string>& lines) const;

 private:
  using Key = std::pair<u32, u64>;  // communicator, number

  std::string device_name(u32 comm, u32 rank) const;
  u32 rank_of(u32 stream, u32 comm) const;
  void check_same(const Call& call, u32 rank) const;
  std::string place(const Rank& rank) const;
  std::string task_text(const Rank& rank) const;
  std::shared_ptr<const Schedule> schedule_of(const task::Hccl& op);
  void compute(Call& call) const;
  void carry_references(Call& call, u32 task, isa::CensusPoint* point) const;

  const task::TaskStream& stream_;
  const config::LinksConfig& links_;
  task::RunMemory& memory_;
  bool lenient_;
  isa::Census* census_ = nullptr;
  const TaskNumbers* numbers_ = nullptr;
  std::map<Key, Call> calls_;              // not delivered to all
  std::vector<std::vector<u64>> reached_;  // collectives so far, by communicator and rank
  std::vector<Key> present_;               // by stream
  std::map<std::tuple<u32, task::Hccl::Op, task::Hccl::Algorithm, u64, u64, u32>, std::shared_ptr<const Schedule>>
      schedules_;  // by communicator, operation, algorithm, count, bytes of an element, root
};

}  // namespace vinci::models
