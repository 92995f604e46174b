// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Reads the binary spelling.
#include <cstring>

#include "sim/task/draft.h"
#include "sim/task/fold.h"
#include "sim/task/load.h"
#include "sim/task/vts_tables.h"

namespace vinci::task {
namespace {

namespace fb = flatbuffers;
namespace vts = ::vinci_vts;

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
    s_.events = names(in.events());
    s_.devices = in.devices();
    s_.without_data = in.without_data();
    s_.notifies = names(in.notifies());
    s_.labels = names(in.labels());
    s_.models = names(in.models());
    each(in.comms(), [&](usize, const vts::Comm* c) {
      s_.comms.push_back({.name = text(c->name()), .devices = numbers<u32>(c->devices())});
    });
    each(in.semaphores(), [&](usize, const vts::Semaphore* x) {
      s_.host.semaphores.push_back({.name = text(x->name()), .initial = x->initial()});
    });
    each(in.threads(), [&](usize i, const vts::HostThread* in_thread) {
      HostThread& thread = s_.host.threads.emplace_back();
      thread.name = text(in_thread->name());
      each(in_thread->steps(), [&](usize k, const vts::HostStep* in_step) {
        thread.steps.push_back(host_step(*in_step, Path{} / "host" / "threads" / i / "steps" / k));
      });
    });
    each(in.streams(), [&](usize i, const vts::Stream* in_stream) {
      Stream& stream = s_.streams.emplace_back();
      stream.name = text(in_stream->name());
      stream.device = in_stream->device();
      stream.priority = in_stream->priority();
      stream.model = in_stream->model();
      stream.head = in_stream->head();
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

  std::vector<std::string> names(const fb::Vector<fb::Offset<fb::String>>* list) {
    std::vector<std::string> out;
    each(list, [&](usize, const fb::String* s) { out.push_back(text(s)); });
    return out;
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
    b.device = in.device();
    b.pageable = in.pageable();
    b.l2 = enumerator<CacheHint>(in.l2(), kCacheHintNames.size(), path / "l2");
    return b;
  }

  FoldedCode folded_code(const fb::Vector<const vts::Word*>& words, const fb::Vector<fb::Offset<vts::Repeat>>* repeats,
                         int depth) {
    if (depth > kMaxFoldDepth) fail_at(Fault::Input, name_, "repeats are nested more than {} deep", kMaxFoldDepth);
    FoldedCode out;
    check_aligned(&words);
    spend(u64{words.size()} * sizeof(FoldedInst));
    out.stated.resize(words.size());
    for (fb::uoffset_t i = 0; i < words.size(); ++i) {
      const fb::Array<u64, 4>& bits = *words.Get(i)->bits();
      for (fb::uoffset_t w = 0; w < 4; ++w)
        out.stated[i].word[w] = bits.Get(w);
    }
    each(repeats, [&](usize, const vts::Repeat* r) {
      Repeat& repeat = out.repeats.emplace_back();
      repeat.at = r->at();
      repeat.distance = r->distance();
      repeat.length = r->length();
      if (r->steps() != nullptr) {
        spend(u64{repeat.distance} * sizeof(FoldedInst));
        repeat.steps =
            std::make_unique<FoldedCode>(folded_code(*r->steps()->words(), r->steps()->repeats(), depth + 1));
      }
    });
    return out;
  }

  Kernel kernel(const vts::Kernel& in, const Path& path) {
    Kernel k;
    k.name = text(in.name());
    k.type = enumerator<KernelType>(in.type(), kKernelTypeNames.size(), path / "type");
    k.seconds = in.seconds();
    k.entries = numbers<u32>(in.entries());
    const vts::Program& p = *in.program();
    k.program.arch = enumerator<isa::Arch>(p.arch(), isa::kArchNames.size(), path / "program" / "arch");
    k.program.source = text(p.source());
    FoldedCode folded = folded_code(*p.code(), p.repeats(), 0);
    const std::vector<u32> lines = numbers<u32>(p.lines());
    const std::vector<u16> files = numbers<u16>(p.files());
    if (!lines.empty() && lines.size() != folded.stated.size()) {
      report(path / "program" / "lines",
             fmt::format("{} instructions but {} line numbers", folded.stated.size(), lines.size()));
    }
    if (!files.empty() && files.size() != folded.stated.size()) {
      report(path / "program" / "files",
             fmt::format("{} instructions, but {} numbers of source files", folded.stated.size(), files.size()));
    }
    for (usize i = 0; i < folded.stated.size(); ++i) {
      if (i < lines.size()) folded.stated[i].line = lines[i];
      if (i < files.size()) folded.stated[i].file = files[i];
    }
    try {
      const std::vector<FoldedInst> code = unfold(folded, std::max(folded.stated.size(), isa::kMaxProgramLength));
      spend(u64{code.size()} * sizeof(FoldedInst));
      for (const FoldedInst& i : code) {
        k.program.code.push_back(i.word);
        k.program.lines.push_back(i.line);
        if (!files.empty()) k.program.files.push_back(i.file);
      }
    } catch (const Error& e) {
      report(path / "program" / "repeats", e.message());
    }
    if (p.loops() != nullptr) {
      spend(u64{p.loops()->size()} * sizeof(isa::Loop));
      for (const vts::Loop* l : *p.loops())
        k.program.loops.push_back({l->first(), l->length(), l->count()});
    }
    if (p.strides() != nullptr) {
      check_aligned(p.strides());
      spend(u64{p.strides()->size()} * sizeof(isa::Stride));
      for (const vts::Stride* s : *p.strides())
        k.program.strides.push_back({s->inst(), s->loop(), s->field(), s->by()});
    }
    each(p.included(), [&](usize, const fb::String* s) { k.program.included.push_back(text(s)); });
    each(p.labels(), [&](usize, const vts::Label* l) { k.program.labels.push_back({text(l->name()), l->index()}); });
    return k;
  }

  static Slice slice(const vts::Slice& in) { return {in.buffer(), in.offset()}; }

  Task task(const vts::Task& in, const Path& path) {
    Task t;
    t.name = text(in.name());
    bool known = false;
    for_each_op([&]<class Op>(std::type_identity<Op>) {
      if (in.op_type() != vts::OpTraits<TableOf<Op>>::enum_value) return;
      known = true;
      read(*in.op_as<TableOf<Op>>(), path / Op::info.key, t.op.emplace<Op>());
    });
    if (!known) {
      // Nothing behind an unknown tag has been verified; it must not be touched.
      fail_at(Fault::Input, where_.at(path / "op_type"), "value {} is no kind of task",
              static_cast<unsigned>(in.op_type()));
    }
    return t;
  }

  // Each described member from the field of the same name.
  template <class Op, class Table>
  void read(const Table& in, const Path& path, Op& op) {
    for_each_field<Op>([&](const auto& field) {
      constexpr usize kAt = position_in_table<Op, std::remove_cvref_t<decltype(field)>>();
      read_field(stored<kAt>(in), path, field, op);
    });
  }
  // The field at a position of its table. A function of its own, because tables without fields have no get_field.
  template <usize kAt, class Table>
  static auto stored(const Table& in) {
    return in.template get_field<kAt>();
  }

  template <class Stored, class F, class Op>
  void read_field(const Stored& in, const Path& path, const F& field, Op& op) {
    using Value = typename F::Value;
    Value& out = field.of(op);
    if constexpr (std::is_same_v<Value, Slice>) {
      if (in != nullptr) {
        out = slice(*in);
      } else if (field.applies(op)) {
        report(path / field.key, fmt::format("{}: '{}' is missing", Op::info.key, field.key));
      }
    } else if constexpr (std::is_same_v<Value, std::string>) {
      out = text(in);
    } else if constexpr (std::is_same_v<Value, std::vector<Arg>>) {
      out = args(in, path / field.key);
    } else if constexpr (std::is_same_v<Value, std::vector<u32>>) {
      out = numbers<u32>(in);
    } else if constexpr (std::is_enum_v<Value>) {
      out = enumerator<Value>(in, enum_count<Value>, path / field.key);
    } else {
      out = in;
    }
  }

  HostStep host_step(const vts::HostStep& in, const Path& path) {
    switch (in.op_type()) {
      case vts::HostOp::HostEnqueue: {
        const vts::HostEnqueue& op = *in.op_as_HostEnqueue();
        return HostEnqueue{op.stream(), op.first(), op.count()};
      }
      case vts::HostOp::HostCompute: {
        const vts::HostCompute& op = *in.op_as_HostCompute();
        return HostCompute{op.seconds(), text(op.name())};
      }
      case vts::HostOp::SynchronizeStream: return SynchronizeStream{in.op_as_SynchronizeStream()->stream()};
      case vts::HostOp::SynchronizeEvent: return SynchronizeEvent{in.op_as_SynchronizeEvent()->event()};
      case vts::HostOp::SynchronizeDevice: return SynchronizeDevice{in.op_as_SynchronizeDevice()->device()};
      case vts::HostOp::HostPost: return HostPost{in.op_as_HostPost()->semaphore()};
      case vts::HostOp::HostWait: return HostWait{in.op_as_HostWait()->semaphore()};
      case vts::HostOp::HostRepeat: return HostRepeat{in.op_as_HostRepeat()->times(), in.op_as_HostRepeat()->length()};
      default:
        // As for tasks.
        fail_at(Fault::Input, where_.at(path / "op_type"), "value {} is no kind of step",
                static_cast<unsigned>(in.op_type()));
    }
  }

  std::vector<Arg> args(const fb::Vector<const vts::Arg*>* list, const Path& path) {
    std::vector<Arg> out;
    if (list == nullptr) return out;
    check_aligned(list);
    spend(u64{list->size()} * sizeof(Arg));
    for (fb::uoffset_t a = 0; a < list->size(); ++a)
      out.push_back(arg(*list->Get(a), path / a));
    return out;
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
  constexpr fb::uoffset_t kMaxTables = 8'000'000;  // a task or a step is two
  fb::Verifier verifier(data, bytes.size(), 16, kMaxTables);
  if (!vts::VerifyTaskStreamBuffer(verifier)) {
    fail_at(Fault::Input, name, "damaged binary task stream: an offset or a size leads out of the file");
  }
  VtsReader(name, out).read(*vts::GetTaskStream(data));
  check_buffers(out.stream, *out.locator, files, out.problems);
}

}  // namespace vinci::task
