// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "isa/arch.h"
#include "isa/program/program.h"
#include "sim/task/ops.h"

// A compiled task stream after loading: plain data, names resolved to indices, everything verified. Names follow the
// vendor runtime (aclrt*, rtModelTaskType). YAML and FlatBuffers (.vts) are two spellings of this one meaning.
namespace vinci::task {

struct Kernel {
  std::string name;
  KernelType type = KernelType::AI_CORE;
  isa::Program program;
  // > 0: an opaque kernel. It has no program and no effect on memory; each block occupies its core for so long.
  double seconds = 0;
  // Where its cores begin, in place of the first instruction, for a program that is not the same for all of them: by
  // block; of a kernel on the AIVs of a MIX task, by block and then AIV. Then a launch must have as many.
  std::vector<u32> entries = {};

  bool opaque() const { return seconds > 0; }

  friend bool operator==(const Kernel&, const Kernel&) = default;
};

// Positions in the file, for messages about a run; not part of the meaning, so all are equal.
struct TaskPlaces {
  std::string file;                     // its name without folders, "" of what a program has built
  std::vector<u32> lines;               // of tasks, by position(); empty: the file has no lines
  std::vector<std::vector<u32>> steps;  // of host threads: lines of their steps; empty: the file has no lines

  friend bool operator==(const TaskPlaces&, const TaskPlaces&) { return true; }
};

struct TaskStream {
  std::string name;
  isa::Arch arch = isa::Arch::c220;  // that the kernels are assembled for
  std::vector<Buffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<std::string> events;
  std::deque<Stream> streams;  // elements stay where they are when streams are appended
  u32 devices = 1;             // chips that it runs on, all of one kind
  std::vector<std::string> notifies = {};
  std::vector<std::string> labels = {};
  std::vector<std::string> models = {};  // what is of a model, the streams say
  std::vector<Comm> comms = {};
  bool without_data = false;  // contents of host buffers were left out, so only mode timing can run it
  HostProgram host = {};
  std::string folder;  // where relative files are looked up; not part of the meaning
  TaskPlaces places = {};

  friend bool operator==(const TaskStream&, const TaskStream&) = default;
};

// The position of a task when the streams are read one after the other, in the order of the file.
inline u32 position(const TaskStream& s, usize stream, usize task) {
  for (usize i = 0; i < stream; ++i)
    task += s.streams[i].tasks.size();
  return static_cast<u32>(task);
}

// The place of a task, for messages: "gemm.yaml:31", of a .vts "gemm.vts: streams[0].tasks[3]".
std::string place(const TaskStream& s, usize stream, usize task);
// The same for a step of a host thread.
std::string place_of_step(const TaskStream& s, usize thread, usize step);

}  // namespace vinci::task
