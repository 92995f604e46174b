// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Writes the binary spelling.
#include <algorithm>

#include "sim/task/fold.h"
#include "sim/task/load.h"
#include "sim/task/vts_tables.h"
#include "sim/task/write.h"

namespace vinci::task {
namespace {

namespace fb = flatbuffers;
namespace vts = ::vinci_vts;

class VtsWriter {
 public:
  explicit VtsWriter(const TaskStream& stream) : s_(stream) {}

  std::vector<std::byte> write() {
    std::vector<fb::Offset<vts::Buffer>> buffers;
    for (const Buffer& b : s_.buffers)
      buffers.push_back(buffer(b));
    std::vector<fb::Offset<vts::Kernel>> kernels;
    for (const Kernel& k : s_.kernels)
      kernels.push_back(kernel(k));
    std::vector<fb::Offset<vts::Stream>> streams;
    for (const Stream& st : s_.streams) {
      std::vector<fb::Offset<vts::Task>> tasks;
      for (const Task& t : st.tasks)
        tasks.push_back(task(t));
      const auto list = fbb_.CreateVector(tasks);
      const auto stream_name = fbb_.CreateString(st.name);
      streams.push_back(vts::CreateStream(fbb_, stream_name, list, st.device, st.priority, st.model, st.head));
    }
    std::vector<fb::Offset<vts::Comm>> comms;
    for (const Comm& c : s_.comms) {
      const auto devices = numbers(c.devices);
      comms.push_back(vts::CreateComm(fbb_, fbb_.CreateString(c.name), devices));
    }
    std::vector<fb::Offset<vts::Semaphore>> semaphores;
    for (const Semaphore& x : s_.host.semaphores)
      semaphores.push_back(vts::CreateSemaphore(fbb_, fbb_.CreateString(x.name), x.initial));
    std::vector<fb::Offset<vts::HostThread>> threads;
    for (const HostThread& t : s_.host.threads)
      threads.push_back(thread(t));
    // One statement each: the order of evaluation must not decide the bytes.
    const auto name = fbb_.CreateString(s_.name);
    const auto buffer_list = fbb_.CreateVector(buffers);
    const auto kernel_list = fbb_.CreateVector(kernels);
    const auto event_list = names(s_.events);
    const auto stream_list = fbb_.CreateVector(streams);
    const auto notify_list = names(s_.notifies);
    const auto label_list = names(s_.labels);
    const auto model_list = names(s_.models);
    const auto comm_list = numbers(comms);
    const auto semaphore_list = numbers(semaphores);
    const auto thread_list = numbers(threads);
    const auto root = vts::CreateTaskStream(fbb_, kFormatVersion, name, static_cast<vts::Arch>(s_.arch), buffer_list,
                                            kernel_list, event_list, stream_list, s_.devices, notify_list, label_list,
                                            model_list, comm_list, semaphore_list, thread_list, s_.without_data);
    vts::FinishTaskStreamBuffer(fbb_, root);
    const auto* begin = reinterpret_cast<const std::byte*>(fbb_.GetBufferPointer());
    return {begin, begin + fbb_.GetSize()};
  }

 private:
  fb::Offset<fb::String> text(const std::string& s) {
    return s.empty() ? fb::Offset<fb::String>{} : fbb_.CreateString(s);
  }
  template <class T>
  fb::Offset<fb::Vector<T>> numbers(const std::vector<T>& v) {
    return v.empty() ? fb::Offset<fb::Vector<T>>{} : fbb_.CreateVector(v);
  }

  fb::Offset<fb::Vector<fb::Offset<fb::String>>> names(const std::vector<std::string>& list) {
    std::vector<fb::Offset<fb::String>> out;
    for (const std::string& name : list)
      out.push_back(fbb_.CreateString(name));
    return numbers(out);
  }

  fb::Offset<vts::Buffer> buffer(const Buffer& b) {
    const auto name = fbb_.CreateString(b.name);
    const auto file = text(b.file), output = text(b.output), dtype = text(b.dtype);
    const auto shape = numbers(b.shape);
    const auto data = b.data.empty() ? fb::Offset<fb::Vector<u8>>{}
                                     : fbb_.CreateVector(reinterpret_cast<const u8*>(b.data.data()), b.data.size());
    return vts::CreateBuffer(fbb_, name, static_cast<vts::Place>(b.place), b.bytes, file, output, dtype, shape, data,
                             b.random, b.device, b.pageable, static_cast<vts::CacheHint>(b.l2));
  }

  template <class T>
  fb::Offset<fb::Vector<const T*>> structs(const std::vector<T>& list) {
    return list.empty() ? fb::Offset<fb::Vector<const T*>>{} : fbb_.CreateVectorOfStructs(list);
  }

  fb::Offset<fb::Vector<const vts::Word*>> words(const FoldedCode& folded) {
    std::vector<vts::Word> out;
    for (const FoldedInst& i : folded.stated)
      out.emplace_back(fb::span<const u64, 4>(i.word.data(), 4));
    return fbb_.CreateVectorOfStructs(out);
  }

  fb::Offset<fb::Vector<fb::Offset<vts::Repeat>>> repeats(const FoldedCode& folded) {
    std::vector<fb::Offset<vts::Repeat>> out;
    for (const Repeat& r : folded.repeats) {
      fb::Offset<vts::Steps> steps;
      if (r.steps) {
        const auto stated = words(*r.steps);
        steps = vts::CreateSteps(fbb_, stated, repeats(*r.steps));
      }
      out.push_back(vts::CreateRepeat(fbb_, r.at, r.distance, r.length, steps));
    }
    return numbers(out);
  }

  fb::Offset<vts::Kernel> kernel(const Kernel& k) {
    const isa::Program& p = k.program;
    const auto source = text(p.source);
    const FoldedCode folded = fold(p);
    std::vector<u32> line_list;
    std::vector<u16> file_list;
    for (const FoldedInst& i : folded.stated) {
      line_list.push_back(i.line);
      file_list.push_back(i.file);
    }
    if (std::ranges::all_of(line_list, [](u32 l) { return l == 0; })) line_list.clear();
    if (p.files.empty()) file_list.clear();
    const auto code = words(folded);
    const auto lines = numbers(line_list);
    std::vector<fb::Offset<vts::Label>> labels;
    for (const isa::Label& l : p.labels)
      labels.push_back(vts::CreateLabel(fbb_, fbb_.CreateString(l.name), l.index));
    std::vector<fb::Offset<fb::String>> included;
    for (const std::string& name : p.included)
      included.push_back(fbb_.CreateString(name));
    const auto label_list = numbers(labels);
    const auto included_list = numbers(included);
    const auto files = numbers(file_list);
    const auto repeat_list = repeats(folded);
    std::vector<vts::Loop> loops;
    for (const isa::Loop& l : p.loops)
      loops.emplace_back(l.first, l.length, l.count);
    std::vector<vts::Stride> strides;
    for (const isa::Stride& s : p.strides)
      strides.emplace_back(s.by, s.inst, s.loop, s.field);
    const auto loop_list = structs(loops);
    const auto stride_list = structs(strides);
    const auto program = vts::CreateProgram(fbb_, static_cast<vts::Arch>(p.arch), source, code, lines, label_list,
                                            included_list, files, repeat_list, loop_list, stride_list);
    const auto entries = k.entries.empty() ? fb::Offset<fb::Vector<u32>>{} : fbb_.CreateVector(k.entries);
    return vts::CreateKernel(fbb_, fbb_.CreateString(k.name), static_cast<vts::KernelType>(k.type), program, k.seconds,
                             entries);
  }

  fb::Offset<vts::Task> task(const Task& t) {
    const auto name = t.name.empty() ? fb::Offset<fb::String>{} : fbb_.CreateSharedString(t.name);
    const auto [type, op] = std::visit([&](const auto& o) { return this->op(o); }, t.op);
    return vts::CreateTask(fbb_, name, type, op);
  }

  // Operations: each field of the table from the member of the same name.

  using AnyOp = std::pair<vts::Op, fb::Offset<void>>;

  template <class Op>
  AnyOp op(const Op& o) {
    using Table = TableOf<Op>;
    return with_fields<Table>([&](auto... index) {
      // In braces, so that texts and lists are created in the order of the table.
      const std::tuple values{stored<Op, Table, index>(o)...};
      const auto table =
          std::apply([&](const auto&... value) { return Table::Traits::Create(fbb_, given(value)...); }, values);
      const vts::Op type = vts::OpTraits<Table>::enum_value;  // has no address without optimisation
      return AnyOp{type, table.Union()};
    });
  }

  template <class Op, class Table, usize Index>
  auto stored(const Op& o) {
    constexpr const auto& kField = field_of_table<Op, Table, Index>();
    using Stored = typename Table::Traits::template FieldType<Index>;
    return stored<Stored>(kField.of(o), kField.applies(o));
  }
  template <class Stored, class Value>
  auto stored(const Value& value, bool applies) {
    if constexpr (std::is_same_v<Value, Slice>) {
      return applies ? std::optional(vts::Slice(value.offset, value.buffer)) : std::nullopt;
    } else if constexpr (std::is_same_v<Value, std::string>) {
      return fbb_.CreateSharedString(value);
    } else if constexpr (std::is_same_v<Value, std::vector<Arg>>) {
      return args(value);
    } else if constexpr (std::is_same_v<Value, std::vector<u32>>) {
      return numbers(value);
    } else {
      return static_cast<Stored>(value);
    }
  }
  static const vts::Slice* given(const std::optional<vts::Slice>& slice) { return slice ? &*slice : nullptr; }
  template <class T>
  static const T& given(const T& value) {
    return value;
  }

  fb::Offset<fb::Vector<const vts::Arg*>> args(const std::vector<Arg>& list) {
    std::vector<vts::Arg> out;
    for (const Arg& a : list) {
      if (const auto* number = std::get_if<u64>(&a)) {
        out.emplace_back(*number, 0, vts::ArgKind::number);
      } else {
        out.emplace_back(std::get<Slice>(a).offset, std::get<Slice>(a).buffer, vts::ArgKind::address);
      }
    }
    return out.empty() ? 0 : fbb_.CreateVectorOfStructs(out);
  }

  fb::Offset<vts::HostThread> thread(const HostThread& t) {
    std::vector<fb::Offset<vts::HostStep>> steps;
    for (const HostStep& step : t.steps) {
      const auto [type, op] = std::visit([&](const auto& o) { return this->host_op(o); }, step);
      steps.push_back(vts::CreateHostStep(fbb_, type, op));
    }
    const auto list = numbers(steps);
    return vts::CreateHostThread(fbb_, fbb_.CreateString(t.name), list);
  }

  using AnyHostOp = std::pair<vts::HostOp, fb::Offset<void>>;

  AnyHostOp host_op(const HostEnqueue& o) {
    return {vts::HostOp::HostEnqueue, vts::CreateHostEnqueue(fbb_, o.stream, o.first, o.count).Union()};
  }
  AnyHostOp host_op(const HostCompute& o) {
    const auto name = text(o.name);
    return {vts::HostOp::HostCompute, vts::CreateHostCompute(fbb_, o.seconds, name).Union()};
  }
  AnyHostOp host_op(const SynchronizeStream& o) {
    return {vts::HostOp::SynchronizeStream, vts::CreateSynchronizeStream(fbb_, o.stream).Union()};
  }
  AnyHostOp host_op(const SynchronizeEvent& o) {
    return {vts::HostOp::SynchronizeEvent, vts::CreateSynchronizeEvent(fbb_, o.event).Union()};
  }
  AnyHostOp host_op(const SynchronizeDevice& o) {
    return {vts::HostOp::SynchronizeDevice, vts::CreateSynchronizeDevice(fbb_, o.device).Union()};
  }
  AnyHostOp host_op(const HostPost& o) {
    return {vts::HostOp::HostPost, vts::CreateHostPost(fbb_, o.semaphore).Union()};
  }
  AnyHostOp host_op(const HostWait& o) {
    return {vts::HostOp::HostWait, vts::CreateHostWait(fbb_, o.semaphore).Union()};
  }
  AnyHostOp host_op(const HostRepeat& o) {
    return {vts::HostOp::HostRepeat, vts::CreateHostRepeat(fbb_, o.times, o.length).Union()};
  }

  const TaskStream& s_;
  fb::FlatBufferBuilder fbb_;
};

}  // namespace

std::vector<std::byte> to_vts(const TaskStream& stream) { return VtsWriter(stream).write(); }

}  // namespace vinci::task
