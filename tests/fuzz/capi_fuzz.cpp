// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Bytes are a sequence of calls of the C interface, with handles that are right, NULL or freed, and values that exist
// or do not. Each call succeeds or says what is wrong, and is no bug of Vinci.
#include <vinci/vinci.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  bool any() const { return at_ != end_; }
  uint8_t byte() { return any() ? *at_++ : 0; }
  // Numbers at the edges of their types, and small ones.
  uint64_t number() {
    constexpr std::array<uint64_t, 16> kEdges{0,          1,          2,          3,          255,        256,
                                              0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, 1ull << 63, ~0ull,
                                              ~0ull - 1,  768,        4095,       4096};
    const uint8_t choice = byte();
    return choice < kEdges.size() ? kEdges[choice] : choice - kEdges.size();
  }
  std::string text() {
    const size_t size = std::min<size_t>(byte(), static_cast<size_t>(end_ - at_));
    std::string out(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return out;
  }
  template <size_t N>
  std::string choose(const std::array<std::string_view, N>& known) {
    const uint8_t choice = byte();
    return choice < 4 * N ? std::string(known[choice % N]) : text();
  }

 private:
  const uint8_t *at_, *end_;
};

constexpr std::array<std::string_view, 4> kPrograms{
    "end\n", "loop: add X1, X1, 1\nbeq X2, 0, loop\nend\n",
    "ld_arg X1, 0\nld_arg X2, 1\ncopy_gm_to_ubuf 0, X1, sid=0, nBurst=1, lenBurst=8, srcGap=0, dstGap=0\n"
    "set_flag PIPE_MTE2, PIPE_V, EVENT_ID0\nwait_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n"
    "vadd.f32 0x1000, 0, 0, 1, 1, 1, 1, 8, 8, 8\n"
    "set_flag PIPE_V, PIPE_MTE3, EVENT_ID0\nwait_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n"
    "copy_ubuf_to_gm X2, 0x1000, sid=0, nBurst=1, lenBurst=8, srcGap=0, dstGap=0\nend\n",
    "wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0\nend\n"};
constexpr std::array<std::string_view, 3> kStreams{
    "vinci: 1\nname: s\narch: c220\nbuffers:\n  a: {place: host, dtype: f4, shape: [8], random: true, output: a.npy}\n"
    "  d: {place: device, bytes: 64}\nstreams:\n  m:\n    - memcpy_async: {dst: d, src: a}\n"
    "    - memcpy_async: {dst: a, src: d}\n",
    "vinci: 1\nname: s\narch: c220\nkernels:\n  k: {type: AIV_ONLY, code: \"loop: beq X2, 0, loop\\nend\\n\"}\n"
    "streams:\n  m:\n    - kernel_launch: {kernel: k, block_dim: 2}\n",
    "vinci: 1\nname: s\narch: c100\nstreams: {}\n"};
constexpr std::array<std::string_view, 4> kNames{"a", "d", "core0.AIV/V/busy", "hbm/read_bytes"};
constexpr std::array<std::string_view, 3> kOverrides{"core.cube.startup=3", "ai_cores=1", "clock=1GHz"};

// The calls that a sequence may make, and the handles that it has made. A handle that is destroyed is forgotten with
// what ended with it; a buffer that is freed stays.
class Calls {
 public:
  explicit Calls(Bytes in) : in_(in) {}
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  ~Calls() {
    for (vinci_run* r : runs_)
      vinci_run_destroy(r);
    for (const Device& d : devices_)
      vinci_device_destroy(d.handle);
    for (vinci_stream* s : streams_)
      vinci_stream_destroy(s);
    for (vinci_chip* c : chips_)
      vinci_chip_destroy(c);
  }

  void run() {
    static constexpr std::array kCalls{
        &Calls::create_chip, &Calls::parse_chip,  &Calls::destroy,  &Calls::parse_stream,  &Calls::set_input,
        &Calls::submit,      &Calls::wait,        &Calls::read_run, &Calls::read_output,   &Calls::create_device,
        &Calls::allocate,    &Calls::free_buffer, &Calls::write,    &Calls::read,          &Calls::create_kernel,
        &Calls::copy_in,     &Calls::copy_out,    &Calls::launch,   &Calls::submit_device, &Calls::read_chip,
        &Calls::cancel};
    for (int call = 0; in_.any() && call < 200; ++call)
      (this->*kCalls[in_.byte() % kCalls.size()])();
  }

 private:
  struct Device {
    vinci_device* handle = nullptr;
    std::vector<vinci_buffer*> buffers;
    std::vector<vinci_kernel*> kernels;
  };

  void check(vinci_status status) {
    const bool known = status == VINCI_OK || (status >= VINCI_ERROR_INPUT && status < VINCI_ERROR_INTERNAL);
    if (known && (status == VINCI_OK || *vinci_last_error() != '\0')) return;
    std::fprintf(stderr, "status %u: %s\n", static_cast<unsigned>(status), vinci_last_error());
    std::abort();
  }
  // One of them, or NULL.
  template <class T>
  T* one_of(const std::vector<T*>& all) {
    const uint8_t choice = in_.byte();
    return all.empty() || choice == 255 ? nullptr : all[choice % all.size()];
  }
  Device& device() { return devices_.empty() ? none_ : devices_[in_.byte() % devices_.size()]; }
  // Where a call puts its handle; sometimes NULL.
  template <class T>
  T** place(T*& out) {
    return in_.byte() == 255 ? nullptr : &out;
  }
  template <class T>
  void keep(std::vector<T*>& all, T* made) {
    if (made != nullptr) all.push_back(made);
  }

  void create_chip() {
    vinci_chip* out = nullptr;
    const std::string name = in_.choose(std::array<std::string_view, 2>{"tiny", "tiny"});
    const std::string set = in_.choose(kOverrides);
    const char* overrides[] = {set.c_str()};
    if (name.find('/') != std::string::npos) return;  // no files of this machine
    const char* const* given = in_.byte() == 0 ? nullptr : overrides;
    check(vinci_chip_create(name.c_str(), given, in_.byte() % 2, &out));
    keep(chips_, out);
  }
  void parse_chip() {
    vinci_chip* out = nullptr;
    const std::string text = in_.choose(std::array<std::string_view, 1>{"extends: tiny\nname: mine\n"});
    check(vinci_chip_parse(text.data(), text.size(), nullptr, 0, place(out)));
    keep(chips_, out);
  }
  void read_chip() {
    const vinci_chip* chip = one_of(chips_);
    const std::string text = vinci_chip_text(chip);
    if (text.empty() != (chip == nullptr) || (vinci_chip_clock(chip) > 0) != (chip != nullptr)) std::abort();
    if (std::strlen(vinci_chip_name(chip)) == 0 && chip != nullptr) std::abort();
    if (vinci_chip_ai_cores(chip) == 0 && vinci_chip_vector_cores(chip) == 0 && chip != nullptr) std::abort();
    if ((*vinci_chip_arch(chip) == '\0') != (chip == nullptr)) std::abort();
  }
  template <class T>
  void forget(std::vector<T*>& all, void (*end)(T*)) {
    if (all.empty()) return end(nullptr);
    const size_t at = in_.byte() % all.size();
    end(all[at]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void destroy() {
    switch (in_.byte() % 4) {
      case 0: return forget(chips_, vinci_chip_destroy);
      case 1: return forget(streams_, vinci_stream_destroy);
      case 2: return forget(runs_, vinci_run_destroy);
      default:
        if (devices_.empty()) return vinci_device_destroy(nullptr);
        vinci_device_destroy(devices_.back().handle);
        devices_.pop_back();
    }
  }
  void parse_stream() {
    vinci_stream* out = nullptr;
    const std::string text = in_.choose(kStreams);
    check(vinci_stream_parse(text.data(), text.size(), nullptr, place(out)));
    keep(streams_, out);
    if (*vinci_stream_arch(out) == '\0' && out != nullptr) std::abort();
  }
  void set_input() {
    const std::string name = in_.choose(kNames);
    const std::string data = in_.text();
    check(vinci_stream_set_input(one_of(streams_), name.c_str(), data.data(), data.size()));
  }
  vinci_options options() {
    vinci_options o = VINCI_OPTIONS_INIT;
    if (in_.byte() == 255) o.size = in_.number();
    const uint8_t mode = in_.byte();
    o.mode = static_cast<vinci_mode>(mode < 240 ? mode % 3 : in_.number());
    o.max_cycles = in_.byte() * 50;
    o.seed = in_.number();
    o.threads = in_.byte() == 255 ? static_cast<uint32_t>(in_.number()) : 1 + in_.byte() % 2;
    if (o.threads == 0 || (o.threads > 4 && o.threads <= 1024)) o.threads = 2;  // the machine is shared
    o.check = in_.byte() % 2;
    return o;
  }
  void submit() {
    vinci_run* out = nullptr;
    const vinci_options o = options();
    const vinci_chip* chip = one_of(chips_);
    const vinci_stream* stream = one_of(streams_);
    check(vinci_submit(chip, stream, &o, place(out)));
    keep(runs_, out);
  }
  void submit_device() {
    vinci_run* out = nullptr;
    const vinci_options o = options();
    vinci_device* d = device().handle;
    check(vinci_device_submit(d, &o, place(out)));
    keep(runs_, out);
  }
  void wait() { check(vinci_wait(one_of(runs_))); }
  void cancel() { vinci_cancel(one_of(runs_)); }
  void read_run() {
    const vinci_run* run = one_of(runs_);
    const std::string name = in_.choose(kNames);
    uint64_t value = 0;
    check(vinci_run_counter(run, name.c_str(), in_.byte() == 255 ? nullptr : &value));
    if (vinci_run_seconds(run) < 0 || vinci_run_cycles(run) < vinci_run_kernel_cycles(run)) std::abort();
    if (std::strlen(vinci_run_stats(run)) == 1 || std::strlen(vinci_run_findings(run)) == 1) std::abort();
    vinci_run_instructions(run);
  }
  void read_output() {
    const vinci_run* run = one_of(runs_);
    vinci_output out{};
    out.size = in_.byte() == 255 ? in_.number() : sizeof out;
    const std::string name = in_.choose(kNames);
    const vinci_status status = in_.byte() % 2 == 0 ? vinci_run_find_output(run, name.c_str(), &out)
                                                    : vinci_run_output(run, in_.number(), &out);
    check(status);
    if (status != VINCI_OK || out.data == nullptr) return;
    const std::vector<char> contents(static_cast<const char*>(out.data),
                                     static_cast<const char*>(out.data) + out.bytes);
    if (std::strlen(out.name) == 0 || contents.size() != out.bytes) std::abort();
  }
  void create_device() {
    if (devices_.size() >= 4) return;
    vinci_device* out = nullptr;
    const vinci_chip* chip = one_of(chips_);
    check(vinci_device_create(chip, place(out)));
    if (out != nullptr) devices_.push_back({.handle = out, .buffers = {}, .kernels = {}});
  }
  void allocate() {
    Device& d = device();
    vinci_buffer* out = nullptr;
    const uint64_t bytes = in_.number();
    if (bytes > 4096 && bytes < uint64_t{1} << 40) return;  // memory of this machine
    check(vinci_malloc(d.handle, bytes, place(out)));
    keep(d.buffers, out);
  }
  void free_buffer() { check(vinci_free(one_of(device().buffers))); }
  // As many bytes as there are in `memory_`, or more than a buffer has.
  uint64_t count() {
    const uint64_t bytes = in_.number();
    return bytes <= memory_.size() ? bytes : std::max<uint64_t>(bytes, 8192);
  }
  struct Range {
    vinci_buffer* buffer;
    uint64_t offset, bytes;
  };
  Range range() {
    vinci_buffer* buffer = one_of(device().buffers);
    const uint64_t offset = in_.number();
    return {buffer, offset, count()};
  }
  void write() {
    const Range r = range();
    check(vinci_write(r.buffer, r.offset, memory_.data(), r.bytes));
  }
  void read() {
    const Range r = range();
    check(vinci_read(r.buffer, r.offset, memory_.data(), r.bytes));
  }
  void copy_in() {
    const Range r = range();
    check(vinci_copy_in(r.buffer, r.offset, memory_.data(), r.bytes));
  }
  void copy_out() {
    const Range r = range();
    check(vinci_copy_out(memory_.data(), r.buffer, r.offset, r.bytes));
  }
  void create_kernel() {
    Device& d = device();
    vinci_kernel* out = nullptr;
    const std::string program = in_.choose(kPrograms);
    const auto core = static_cast<vinci_core>(in_.byte() < 128 ? 2 : in_.number());
    check(vinci_kernel_create(d.handle, "k", core, program.data(), program.size(), place(out)));
    keep(d.kernels, out);
  }
  void launch() {
    Device& d = device();
    vinci_kernel* kernel = one_of(d.kernels);
    std::array<vinci_arg, 3> args{};
    for (vinci_arg& a : args) {
      a.value = in_.byte() < 128 ? 0 : in_.number();
      a.buffer = one_of(in_.byte() < 240 ? d.buffers : device().buffers);
    }
    const uint64_t blocks = in_.number();
    const uint8_t given = in_.byte();
    check(vinci_launch(kernel, static_cast<uint32_t>(blocks <= 4 ? blocks : blocks | 0x80000000), args.data(),
                       given == 255 ? ~size_t{0} : given % 4));
  }

  Bytes in_;
  std::array<char, 4096> memory_{};
  std::vector<vinci_chip*> chips_;
  std::vector<vinci_stream*> streams_;
  std::vector<vinci_run*> runs_;
  std::vector<Device> devices_;
  Device none_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Calls(Bytes(data, size)).run();
  return 0;
}
