// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Both directions of the binary spelling; the only file that sees the generated header.
#include <algorithm>
#include <cstring>

#include "sim/task/draft.h"
#include "sim/task/load.h"
#include "sim/task/write.h"
#include "task_stream_generated.h"

namespace vinci::task {
namespace {

namespace fb = flatbuffers;

// FlatBuffers only promise offsets inside the file; meaning starts here. Offsets may share what they point at, so
// everything that is copied counts against one budget.
class VtsReader {
 public:
  VtsReader(const std::string& name, Draft& out) : name_(name), s_(out.stream), problems_(out.problems), where_(name) {}

  void read(const vts::TaskStream& in) {
    if (in.version() != kFormatVersion) {
      fail_at(Fault::Input, where_.at(Path{} / "version"), "format version {} is not supported; this program reads {}",
              in.version(), kFormatVersion);
    }
    s_.name = text(in.name());
    s_.arch = enumerator<isa::Arch>(in.arch(), isa::kArchNames.size(), Path{} / "arch");
    each(in.buffers(),
         [&](usize i, const vts::Buffer* b) { s_.buffers.push_back(buffer(*b, Path{} / "buffers" / i)); });
    each(in.kernels(),
         [&](usize i, const vts::Kernel* k) { s_.kernels.push_back(kernel(*k, Path{} / "kernels" / i)); });
    each(in.events(), [&](usize, const fb::String* e) { s_.events.push_back(text(e)); });
    each(in.streams(), [&](usize i, const vts::Stream* in_stream) {
      Stream& stream = s_.streams.emplace_back();
      stream.name = text(in_stream->name());
      each(in_stream->tasks(), [&](usize t, const vts::Task* in_task) {
        stream.tasks.push_back(task(*in_task, Path{} / "streams" / i / "tasks" / t));
      });
    });
  }

 private:
  template <class T, class F>
  void each(const fb::Vector<T>* list, F body) {
    if (list == nullptr) return;
    for (fb::uoffset_t i = 0; i < list->size(); ++i) {
      spend(sizeof(Task));
      body(i, list->Get(i));
    }
  }

  void report(const Path& path, const std::string& text) {
    problems_.full() ? problems_.add({}, {}) : problems_.add(where_.at(path), text);
  }

  void spend(u64 bytes) {
    if (bytes > budget_) {
      fail_at(Fault::Input, name_, "the parts of the file share each other so that it expands to more than {} bytes",
              kMaxExpandedBytes);
    }
    budget_ -= bytes;
  }

  std::string text(const fb::String* s) {
    if (s == nullptr) return {};
    spend(s->size());
    return {s->c_str(), s->size()};
  }

  // The verifier of FlatBuffers checks where a list starts, but not that its elements are aligned.
  template <class T>
  void check_aligned(const fb::Vector<T>* list) const {
    if (list->size() == 0 || reinterpret_cast<std::uintptr_t>(list->Data()) % alignof(u64) == 0) return;
    fail_at(Fault::Input, name_, "damaged binary task stream: a list of 64-bit elements is not aligned to 8 bytes");
  }

  template <class To, class From>
  std::vector<To> numbers(const fb::Vector<From>* list) {
    std::vector<To> out;
    if (list == nullptr) return out;
    if (sizeof(From) == sizeof(u64)) check_aligned(list);
    spend(u64{list->size()} * sizeof(To));
    out.resize(list->size());
    for (fb::uoffset_t i = 0; i < list->size(); ++i)
      out[i] = static_cast<To>(list->Get(i));
    return out;
  }

  template <class E, class Fb>
  E enumerator(Fb value, usize count, const Path& path) {
    if (static_cast<usize>(value) < count) return static_cast<E>(value);
    report(path, fmt::format("value {} is not in [0, {}]", static_cast<usize>(value), count - 1));
    return E{};
  }

  Buffer buffer(const vts::Buffer& in, const Path& path) {
    Buffer b;
    b.name = text(in.name());
    b.place = enumerator<Buffer::Place>(in.place(), kPlaceNames.size(), path / "place");
    b.bytes = in.bytes();
    b.file = text(in.file());
    b.output = text(in.output());
    b.dtype = text(in.dtype());
    b.shape = numbers<u64>(in.shape());
    b.data = numbers<std::byte>(in.data());
    b.random = in.random();
    return b;
  }

  Kernel kernel(const vts::Kernel& in, const Path& path) {
    Kernel k;
    k.name = text(in.name());
    k.type = enumerator<KernelType>(in.type(), kKernelTypeNames.size(), path / "type");
    const vts::Program& p = *in.program();
    k.program.arch = enumerator<isa::Arch>(p.arch(), isa::kArchNames.size(), path / "program" / "arch");
    k.program.source = text(p.source());
    check_aligned(p.code());
    spend(u64{p.code()->size()} * (sizeof(isa::Word) + sizeof(u32)));
    k.program.code.resize(p.code()->size());
    for (fb::uoffset_t i = 0; i < p.code()->size(); ++i) {
      const fb::Array<u64, 4>& bits = *p.code()->Get(i)->bits();
      for (fb::uoffset_t w = 0; w < 4; ++w)
        k.program.code[i][w] = bits.Get(w);
    }
    k.program.lines = numbers<u32>(p.lines());
    if (k.program.lines.empty()) k.program.lines.resize(k.program.code.size());
    each(p.labels(), [&](usize, const vts::Label* l) { k.program.labels.push_back({text(l->name()), l->index()}); });
    return k;
  }

  static Slice slice(const vts::Slice& in) { return {in.buffer(), in.offset()}; }

  Task task(const vts::Task& in, const Path& path) {
    Task t;
    t.name = text(in.name());
    switch (in.op_type()) {
      case vts::Op::KernelLaunch: {
        const vts::KernelLaunch& op = *in.op_as_KernelLaunch();
        KernelLaunch launch{
            .kernel = op.kernel(), .block_dim = op.block_dim(), .aivs = op.aivs(), .aiv_kernel = op.aiv_kernel()};
        if (op.args() != nullptr) {
          check_aligned(op.args());
          spend(u64{op.args()->size()} * sizeof(Arg));
          for (fb::uoffset_t a = 0; a < op.args()->size(); ++a) {
            launch.args.push_back(arg(*op.args()->Get(a), path / "kernel_launch" / "args" / a));
          }
        }
        t.op = std::move(launch);
        break;
      }
      case vts::Op::MemcpyAsync: {
        const vts::MemcpyAsync& op = *in.op_as_MemcpyAsync();
        t.op = MemcpyAsync{slice(*op.dst()), slice(*op.src()), op.width(), op.height(), op.dst_pitch(), op.src_pitch()};
        break;
      }
      case vts::Op::MemsetAsync: {
        const vts::MemsetAsync& op = *in.op_as_MemsetAsync();
        t.op = MemsetAsync{slice(*op.dst()), op.bytes(), op.value()};
        break;
      }
      case vts::Op::EventRecord: t.op = EventRecord{in.op_as_EventRecord()->event()}; break;
      case vts::Op::StreamWaitEvent: t.op = StreamWaitEvent{in.op_as_StreamWaitEvent()->event()}; break;
      case vts::Op::Free: t.op = Free{in.op_as_Free()->buffer()}; break;
      case vts::Op::NpuGetFloatStatus: t.op = NpuGetFloatStatus{slice(*in.op_as_NpuGetFloatStatus()->dst())}; break;
      case vts::Op::NpuClearFloatStatus: t.op = NpuClearFloatStatus{}; break;
      default:
        // Nothing behind an unknown tag has been verified; it must not be touched.
        fail_at(Fault::Input, where_.at(path / "op_type"), "value {} is no kind of task",
                static_cast<unsigned>(in.op_type()));
    }
    return t;
  }

  Arg arg(const vts::Arg& in, const Path& path) {
    switch (in.kind()) {
      case vts::ArgKind::number: return in.value();
      case vts::ArgKind::address: return Slice{in.buffer(), in.value()};
    }
    report(path, fmt::format("kind {} is not in [0, 1]", static_cast<unsigned>(in.kind())));
    return u64{0};
  }

  const std::string& name_;
  TaskStream& s_;
  config::Problems& problems_;
  PathLocator where_;
  u64 budget_ = kMaxExpandedBytes;
};

// The other direction.
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
    std::vector<fb::Offset<fb::String>> events;
    for (const std::string& e : s_.events)
      events.push_back(fbb_.CreateString(e));
    std::vector<fb::Offset<vts::Stream>> streams;
    for (const Stream& st : s_.streams) {
      std::vector<fb::Offset<vts::Task>> tasks;
      for (const Task& t : st.tasks)
        tasks.push_back(task(t));
      const auto list = fbb_.CreateVector(tasks);
      streams.push_back(vts::CreateStream(fbb_, fbb_.CreateString(st.name), list));
    }
    // One statement each: the order of evaluation must not decide the bytes.
    const auto name = fbb_.CreateString(s_.name);
    const auto buffer_list = fbb_.CreateVector(buffers);
    const auto kernel_list = fbb_.CreateVector(kernels);
    const auto event_list = fbb_.CreateVector(events);
    const auto stream_list = fbb_.CreateVector(streams);
    const auto root = vts::CreateTaskStream(fbb_, kFormatVersion, name, static_cast<vts::Arch>(s_.arch), buffer_list,
                                            kernel_list, event_list, stream_list);
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

  fb::Offset<vts::Buffer> buffer(const Buffer& b) {
    const auto name = fbb_.CreateString(b.name);
    const auto file = text(b.file), output = text(b.output), dtype = text(b.dtype);
    const auto shape = numbers(b.shape);
    const auto data = b.data.empty() ? fb::Offset<fb::Vector<u8>>{}
                                     : fbb_.CreateVector(reinterpret_cast<const u8*>(b.data.data()), b.data.size());
    return vts::CreateBuffer(fbb_, name, static_cast<vts::Place>(b.place), b.bytes, file, output, dtype, shape, data,
                             b.random);
  }

  fb::Offset<vts::Kernel> kernel(const Kernel& k) {
    const isa::Program& p = k.program;
    const auto source = text(p.source);
    std::vector<vts::Word> words;
    for (const isa::Word& w : p.code)
      words.emplace_back(fb::span<const u64, 4>(w.data(), 4));
    const auto code = fbb_.CreateVectorOfStructs(words);
    const bool any_line = std::any_of(p.lines.begin(), p.lines.end(), [](u32 l) { return l != 0; });
    const auto lines = any_line ? fbb_.CreateVector(p.lines) : fb::Offset<fb::Vector<u32>>{};
    std::vector<fb::Offset<vts::Label>> labels;
    for (const isa::Label& l : p.labels)
      labels.push_back(vts::CreateLabel(fbb_, fbb_.CreateString(l.name), l.index));
    const auto program = vts::CreateProgram(fbb_, static_cast<vts::Arch>(p.arch), source, code, lines, numbers(labels));
    return vts::CreateKernel(fbb_, fbb_.CreateString(k.name), static_cast<vts::KernelType>(k.type), program);
  }

  fb::Offset<vts::Task> task(const Task& t) {
    const auto name = t.name.empty() ? fb::Offset<fb::String>{} : fbb_.CreateSharedString(t.name);
    const auto [type, op] = std::visit([&](const auto& o) { return this->op(o); }, t.op);
    return vts::CreateTask(fbb_, name, type, op);
  }

  using AnyOp = std::pair<vts::Op, fb::Offset<void>>;

  static vts::Slice slice(const Slice& s) { return {s.offset, s.buffer}; }

  AnyOp op(const KernelLaunch& o) {
    std::vector<vts::Arg> args;
    for (const Arg& a : o.args) {
      if (const auto* number = std::get_if<u64>(&a)) {
        args.emplace_back(*number, 0, vts::ArgKind::number);
      } else {
        args.emplace_back(std::get<Slice>(a).offset, std::get<Slice>(a).buffer, vts::ArgKind::address);
      }
    }
    const auto list = args.empty() ? 0 : fbb_.CreateVectorOfStructs(args);
    return {vts::Op::KernelLaunch,
            vts::CreateKernelLaunch(fbb_, o.kernel, o.block_dim, list, o.aivs, o.aiv_kernel).Union()};
  }
  AnyOp op(const MemcpyAsync& o) {
    const vts::Slice dst = slice(o.dst), src = slice(o.src);
    return {vts::Op::MemcpyAsync,
            vts::CreateMemcpyAsync(fbb_, &dst, &src, o.width, o.height, o.dst_pitch, o.src_pitch).Union()};
  }
  AnyOp op(const MemsetAsync& o) {
    const vts::Slice dst = slice(o.dst);
    return {vts::Op::MemsetAsync, vts::CreateMemsetAsync(fbb_, &dst, o.bytes, o.value).Union()};
  }
  AnyOp op(const EventRecord& o) { return {vts::Op::EventRecord, vts::CreateEventRecord(fbb_, o.event).Union()}; }
  AnyOp op(const StreamWaitEvent& o) {
    return {vts::Op::StreamWaitEvent, vts::CreateStreamWaitEvent(fbb_, o.event).Union()};
  }
  template <class Op>
  AnyOp op(const Op&) {
    fail(Fault::Unsupported, "tasks of this kind cannot be written");
  }
  AnyOp op(const Free& o) { return {vts::Op::Free, vts::CreateFree(fbb_, o.buffer).Union()}; }
  AnyOp op(const NpuGetFloatStatus& o) {
    const vts::Slice dst = slice(o.dst);
    return {vts::Op::NpuGetFloatStatus, vts::CreateNpuGetFloatStatus(fbb_, &dst).Union()};
  }
  AnyOp op(const NpuClearFloatStatus&) {
    return {vts::Op::NpuClearFloatStatus, vts::CreateNpuClearFloatStatus(fbb_).Union()};
  }

  const TaskStream& s_;
  fb::FlatBufferBuilder fbb_;
};

}  // namespace

bool is_vts(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, vts::TaskStreamIdentifier(), 4) == 0;
}

void read_vts(std::span<const std::byte> bytes, const std::string& name, const Files& files, Draft& out) {
  out.locator = std::make_unique<PathLocator>(name);
  // Scalars are read in place: the first byte must be as aligned as the widest of them.
  std::vector<u64> aligned;
  const auto* data = reinterpret_cast<const u8*>(bytes.data());
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(u64) != 0) {
    aligned.resize(ceil_div<usize>(bytes.size(), sizeof(u64)));
    std::memcpy(aligned.data(), data, bytes.size());
    data = reinterpret_cast<const u8*>(aligned.data());
  }
  constexpr fb::uoffset_t kMaxTables = 4'000'000;  // a task is two
  fb::Verifier verifier(data, bytes.size(), 16, kMaxTables);
  if (!vts::VerifyTaskStreamBuffer(verifier)) {
    fail_at(Fault::Input, name, "damaged binary task stream: an offset or a size leads out of the file");
  }
  VtsReader(name, out).read(*vts::GetTaskStream(data));
  check_buffers(out.stream, *out.locator, files, out.problems);
}

std::vector<std::byte> to_vts(const TaskStream& stream) { return VtsWriter(stream).write(); }

}  // namespace vinci::task
