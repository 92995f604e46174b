// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/gen_op.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "sim/config/load.h"
#include "sim/io/folder_lock.h"
#include "tools/graph/compile/check.h"
#include "tools/graph/compile/single.h"
#include "tools/graph/compile/stream.h"
#include "tools/graph/compile/timing.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/ops/run.h"
#include "tools/vinci/options.h"
#include "tools/vinci/tensor_options.h"

// A namespace of its own: several commands are compiled together.
namespace vinci::cli::op {
namespace {

constexpr int kWrong = 1;

// What all generators of operators share.
struct OpOptions {
  std::string name;  // of the task stream
  std::string chip = "ascend-910b1", folder, tiling;
  bool list = false, check = false;
  u64 seed = 1;
};

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

template <class T>
std::vector<T> numbers(std::string_view text, std::string_view option) {
  std::vector<T> out;
  for (const std::string& part : split_list(text, ',')) {
    const std::optional<T> value = number<T>(part);
    if (!value) fail_at(Fault::Input, std::string(option), "'{}' is no number", part);
    out.push_back(*value);
  }
  return out;
}

graph::Dims extents(std::string_view text, std::string_view option) {
  graph::Dims dims = numbers<i64>(text, option);
  for (const i64 d : dims) {
    if (d < 1 || d > (i64{1} << 32)) fail_at(Fault::Input, std::string(option), "{} is no extent", d);
  }
  return dims;
}

// "1,64,56,56", "f32:64", "i64=0,2" (a constant), "-" (absent).
graph::Value* add_operand(graph::Graph& g, const std::string& text, usize i) {
  constexpr std::string_view kOption = "--input";
  if (text == "-") return nullptr;
  const std::string name = fmt::format("x{}", i);
  if (const usize equal = text.find('='); equal != std::string::npos) {
    std::vector<double> values = numbers<double>(std::string_view(text).substr(equal + 1), kOption);
    const auto count = std::ssize(values);
    const graph::DataType type = type_named(std::string_view(text).substr(0, equal), kOption);
    return g.add_constant(name, graph::Tensor(graph::Array(type, {count}, std::move(values))));
  }
  const usize colon = text.find(':');
  const graph::DataType type =
      colon == std::string::npos ? graph::DataType::f16 : type_named(std::string_view(text).substr(0, colon), kOption);
  const std::string_view dims = std::string_view(text).substr(colon == std::string::npos ? 0 : colon + 1);
  return g.add_input(name, type, extents(dims, kOption));
}

// "axis=-1", "pads=1,1,1,1", "epsilon=1e-5", "mode=nearest".
std::pair<std::string, graph::Attribute> parse_attribute(const std::string& text) {
  const usize equal = text.find('=');
  if (equal == std::string::npos || equal == 0) fail_at(Fault::Input, "--attr", "'{}' is no name=value", text);
  const std::string key = text.substr(0, equal), value = text.substr(equal + 1);
  if (const auto whole = number<i64>(value)) return {key, *whole};
  if (const auto real = number<double>(value)) return {key, *real};
  if (value.find(',') == std::string::npos) return {key, value};
  return {key, numbers<i64>(value, "--attr")};
}

graph::Tiling parse_tiling(const std::string& text) {
  graph::Tiling out;
  for (const std::string& part : split_list(text, ',')) {
    const usize equal = part.find('=');
    const auto size = equal == std::string::npos ? std::nullopt : number<i64>(std::string_view(part).substr(equal + 1));
    if (!size) fail_at(Fault::Input, "--tiling", "'{}' is no name=size", part);
    out[part.substr(0, equal)] = *size;
  }
  return out;
}

void refuse_unknown(std::string_view type) {
  // What these do is in graphs that they have.
  static constexpr std::array<std::string_view, 5> kWithBodies{"Case", graph::kCustomOp, "FusedOp", "If", "While"};
  std::vector<std::string_view> names;
  for (const graph::Op* const op : graph::all_ops()) {
    if (std::ranges::find(kWithBodies, op->type) == kWithBodies.end()) names.push_back(op->type);
  }
  if (std::ranges::find(names, type) != names.end()) return;
  fail_at(Fault::Input, "TYPE", "there is no operator '{}'{}", type, did_you_mean(type, names));
}

struct NodeSpec {
  std::string type;
  std::vector<std::string> inputs;
  graph::Attributes attributes;
};

std::unique_ptr<graph::Graph> graph_of(const NodeSpec& spec) {
  refuse_unknown(spec.type);
  auto g = std::make_unique<graph::Graph>(spec.type);
  std::vector<graph::Value*> operands;
  for (const std::string& text : spec.inputs)
    operands.push_back(add_operand(*g, text, operands.size()));
  graph::Node* const node = g->add_node(spec.type, spec.type, operands);
  node->attributes = spec.attributes;
  node->origins = {spec.type};
  infer(*node);
  node->output()->name = "y";
  g->outputs = {node->output()};
  return g;
}

std::string line_of(const graph::Network& network) {
  const graph::NetworkTime time = graph::time_network(network, 2);
  const graph::NodeTime& n = time.nodes.at(0);
  return fmt::format("{:<44} {:>6} {:>10.2f} {:>6.1f} {:>10} {:>10}\n", graph::text(n.node->tiling),
                     n.node->program.blocks, n.microseconds, 100 * n.cube_use, ceil_div<u64>(n.read_bytes, 1024),
                     ceil_div<u64>(n.written_bytes, 1024));
}

void list_tilings(graph::Network& network) {
  std::string out = fmt::format("{:<44} {:>6} {:>10} {:>6} {:>10} {:>10}\n", "tiling, the best by estimate first",
                                "blocks", "us", "cube %", "KiB read", "written");
  for (const graph::Tiling& tiling : graph::offered_tilings(network)) {
    graph::use_tiling(network, tiling);
    out += line_of(network);
  }
  print_out(out);
}

void check(const graph::Network& network, const std::vector<graph::Array>& inputs) {
  for (const graph::NodeCheck& row : graph::check_nodes(network, inputs)) {
    print_out(fmt::format("{}: off by {:.2e} of the largest element, allowed {:.2e}\n", row.right() ? "right" : "wrong",
                          row.error, row.allowed));
    if (!row.right()) throw CLI::RuntimeError(kWrong);
  }
}

void generate(const NodeSpec& spec, const OpOptions& o) {
  graph::Network network = graph::compile_alone(graph_of(spec), config::load_chip(o.chip), parse_tiling(o.tiling));
  if (o.list) return list_tilings(network);
  const std::vector<graph::Array> inputs = graph::random_inputs(*network.graph, o.seed);
  const io::LockedFolder folder(o.folder);
  graph::to_task_stream(network, o.name, {.inputs = inputs}).files().write(folder);
  const graph::CompiledNode& n = network.nodes.at(0);
  print_out(
      fmt::format("{0}/{1}.yaml: {2} by the kernel {3} on {4}, {5}, tiling {6}; run it with `vinci run "
                  "{0}/{1}.yaml --chip {4}`\n",
                  o.folder, o.name, spec.type, n.kernel->name, network.chip.name, counted(n.program.blocks, "block"),
                  n.tiling.empty() ? "-" : graph::text(n.tiling)));
  if (o.check) check(network, inputs);
}

std::shared_ptr<OpOptions> add_common(CLI::App* sub, std::string name, const std::string& example) {
  auto o = std::make_shared<OpOptions>();
  o->name = std::move(name);
  sub->add_option("--chip", o->chip, "Chip to compile for (see `vinci chips`), or a chip file")->capture_default_str();
  sub->add_option("--tiling", o->tiling, "Sizes of tiles in place of those of the estimate: \"m=128,n=64\"");
  sub->add_flag("--list-tilings", o->list, "Only simulate each tiling that the kernel offers, and print the times");
  sub->add_flag("--check", o->check, "Run the kernel and compare with the reference (exit code 1 if it is wrong)");
  sub->add_option("--seed", o->seed, "Seed of the random inputs")->capture_default_str()->transform(integer());
  sub->add_option("-o,--output", o->folder, "Folder for the task stream, its kernel and inputs");
  sub->footer("Example: vinci gen " + example);
  return o;
}

void run(const NodeSpec& spec, const OpOptions& o) {
  if (!o.list && o.folder.empty()) throw CLI::RequiredError("--output");
  generate(spec, o);
}

std::string joined(const std::vector<i64>& v) { return fmt::format("{}", fmt::join(v, ",")); }

// Generators of families: options in the words of the family.
// ---------------------------------------------------------------------------------------------

constexpr std::array kProductTypes{"f16", "bf16", "f32", "i8", "u8"};

void add_product_type(CLI::App* sub, std::string& type, bool& hf32) {
  sub->add_option(
         "--type", type,
         "Type of the operands: f16; bf16 and f32 on a split core; i8, or u8 with i8 weights, whose sums are i32")
      ->capture_default_str()
      ->check(CLI::IsMember(kProductTypes));
  sub->add_flag("--hf32", hf32, "f32 operands are rounded to HF32");
}

std::string weight_type(const std::string& type) { return type == "u8" ? "i8" : type; }
std::string bias_type(const std::string& type) { return type == "i8" || type == "u8" ? "i32" : "f32"; }

struct MapOptions {
  std::string shape, type = "f16";
  bool hf32 = false;
  i64 filters = 64, kernel = 3, stride = 1, pad = 0, dilation = 1, groups = 1;
  bool bias = false, mean = false;
};

graph::Attributes window(const MapOptions& m) {
  return {{"strides", std::vector<i64>{m.stride, m.stride}},
          {"pads", std::vector<i64>{m.pad, m.pad, m.pad, m.pad}},
          {"dilations", std::vector<i64>{m.dilation, m.dilation}}};
}

void add_window(CLI::App* sub, MapOptions& m) {
  constexpr u64 kMost = 4096;
  sub->add_option("--shape", m.shape, "Extents of the map: N,C,H,W")->required();
  sub->add_option("--kernel", m.kernel, "Height and width of the window")
      ->capture_default_str()
      ->transform(integer(1, kMost));
  sub->add_option("--stride", m.stride, "Step of the window")->capture_default_str()->transform(integer(1, kMost));
  sub->add_option("--pad", m.pad, "Zeros around the map")->capture_default_str()->transform(integer(0, kMost));
  sub->add_option("--dilation", m.dilation, "Step inside the window")
      ->capture_default_str()
      ->transform(integer(1, kMost));
}

void add_conv(CLI::App& gen) {
  CLI::App* sub = gen.add_subcommand("conv", "Convolution of a map in NC1HWC0");
  const auto m = std::make_shared<MapOptions>();
  add_window(sub, *m);
  add_product_type(sub, m->type, m->hf32);
  sub->add_option("--filters", m->filters, "Channels of the result")
      ->capture_default_str()
      ->transform(integer(1, 1 << 16));
  sub->add_option("--groups", m->groups, "Groups of channels")->capture_default_str()->transform(integer(1, 1 << 16));
  sub->add_flag("--bias", m->bias, "A number for each filter is added");
  const auto o = add_common(sub, "conv", "conv --shape 1,64,56,56 --filters 64 --kernel 3 --pad 1 -o conv");
  sub->callback([m, o] {
    const graph::Dims dims = extents(m->shape, "--shape");
    if (dims.size() != 4) fail_at(Fault::Input, "--shape", "a map has four extents, not {}", dims.size());
    if (dims[1] % m->groups != 0 || m->filters % m->groups != 0)
      fail_at(Fault::Input, "--groups", "{} groups do not divide {} channels and {} filters", m->groups, dims[1],
              m->filters);
    NodeSpec spec{
        .type = "Conv2D",
        .inputs = {m->type + ":" + joined(dims),
                   weight_type(m->type) + ":" + joined({m->filters, dims[1] / m->groups, m->kernel, m->kernel})},
        .attributes = window(*m)};
    if (m->bias) spec.inputs.push_back(fmt::format("{}:{}", bias_type(m->type), m->filters));
    if (m->hf32) spec.attributes["enable_hf32"] = i64{1};
    spec.attributes["group"] = m->groups;
    run(spec, *o);
  });
}

struct MatmulOptions {
  i64 m = 0, n = 0, k = 0, batch = 1;
  std::string type = "f16";
  bool bias = false, b_by_rows = false, hf32 = false;
};

void add_matmul(CLI::App& gen) {
  CLI::App* sub =
      gen.add_subcommand("matmul", "Product of matrices by the graph engine's kernel: batches, bias, types");
  const auto x = std::make_shared<MatmulOptions>();
  constexpr u64 kMost = 1 << 20;
  sub->add_option("--m", x->m, "Rows of A")->required()->transform(integer(1, kMost));
  sub->add_option("--n", x->n, "Columns of B")->required()->transform(integer(1, kMost));
  sub->add_option("--k", x->k, "Columns of A")->required()->transform(integer(1, kMost));
  sub->add_option("--batch", x->batch, "Matrices")->capture_default_str()->transform(integer(1, kMost));
  sub->add_flag("--transpose-b", x->b_by_rows, "B is [n, k]; that of i8 always is");
  sub->add_flag("--bias", x->bias, "A number for each column is added");
  add_product_type(sub, x->type, x->hf32);
  const auto o = add_common(sub, "matmul", "matmul --m 512 --n 768 --k 768 --type i8 --bias -o product --check");
  sub->callback([x, o] {
    const bool by_rows = x->b_by_rows || bias_type(x->type) == "i32";
    graph::Dims a{x->m, x->k}, b = by_rows ? graph::Dims{x->n, x->k} : graph::Dims{x->k, x->n};
    if (x->batch > 1) {
      a.insert(a.begin(), x->batch);
      b.insert(b.begin(), x->batch);
    }
    NodeSpec spec{.type = "BatchMatMulV2",
                  .inputs = {x->type + ":" + joined(a), weight_type(x->type) + ":" + joined(b)},
                  .attributes = {{"adj_x2", i64{by_rows}}}};
    if (x->bias) spec.inputs.push_back(fmt::format("{}:{}", bias_type(x->type), x->n));
    if (x->hf32) spec.attributes["enable_hf32"] = i64{1};
    run(spec, *o);
  });
}

void add_pool(CLI::App& gen) {
  CLI::App* sub = gen.add_subcommand("pool", "Maximum or mean of windows of a map in NC1HWC0, f16");
  const auto m = std::make_shared<MapOptions>();
  add_window(sub, *m);
  sub->add_flag("--mean", m->mean, "The mean, with the zeros around the map; else the maximum");
  const auto o = add_common(sub, "pool", "pool --shape 1,64,112,112 --kernel 3 --stride 2 --pad 1 -o pool");
  sub->callback([m, o] {
    NodeSpec spec{.type = m->mean ? "AvgPool" : "MaxPool", .inputs = {m->shape}, .attributes = window(*m)};
    spec.attributes["kernel_shape"] = std::vector<i64>{m->kernel, m->kernel};
    if (m->mean) spec.attributes["count_include_pad"] = i64{1};
    run(spec, *o);
  });
}

struct RowOptions {
  std::string shape, type = "f16", op, axes, perm;
};

void add_shape(CLI::App* sub, RowOptions& r) {
  sub->add_option("--shape", r.shape, "Extents of the tensor: 64,197,768")->required();
  sub->add_option("--type", r.type, "Type of its elements")->capture_default_str();
}

void add_rows(CLI::App& gen) {
  CLI::App* softmax = gen.add_subcommand("softmax", "Softmax of rows");
  const auto s = std::make_shared<RowOptions>();
  add_shape(softmax, *s);
  const auto so = add_common(softmax, "softmax", "softmax --shape 12,197,197 -o softmax");
  softmax->callback([s, so] {
    run({.type = "SoftmaxV2", .inputs = {s->type + ":" + s->shape}, .attributes = {{"axis", i64{-1}}}}, *so);
  });

  CLI::App* norm = gen.add_subcommand("layer_norm", "LayerNorm of rows, with scale and offset");
  const auto n = std::make_shared<RowOptions>();
  add_shape(norm, *n);
  const auto no = add_common(norm, "layer_norm", "layer_norm --shape 197,768 -o layer_norm");
  norm->callback([n, no] {
    const std::string width = fmt::format("{}:{}", n->type, extents(n->shape, "--shape").back());
    run({.type = "LayerNorm", .inputs = {n->type + ":" + n->shape, width, width}, .attributes = {{"axis", i64{-1}}}},
        *no);
  });

  CLI::App* reduce = gen.add_subcommand("reduce", "Reduction of the last axes");
  const auto r = std::make_shared<RowOptions>();
  r->op = "ReduceSum";
  r->axes = "-1";
  add_shape(reduce, *r);
  reduce->add_option("--op", r->op, "ReduceSum, ReduceMean, ReduceMax, ReduceMin ...")->capture_default_str();
  reduce->add_option("--axes", r->axes, "Axes that are reduced")->capture_default_str();
  const auto ro = add_common(reduce, "reduce", "reduce --shape 512,768 --op ReduceMax -o reduce");
  reduce->callback([r, ro] {
    run({.type = r->op, .inputs = {r->type + ":" + r->shape, "i64=" + r->axes}, .attributes = {}}, *ro);
  });

  CLI::App* transpose = gen.add_subcommand("transpose", "Transpose of a tensor");
  const auto t = std::make_shared<RowOptions>();
  add_shape(transpose, *t);
  transpose->add_option("--perm", t->perm, "The axis of the tensor that each axis of the result is: 0,2,1")->required();
  const auto to = add_common(transpose, "transpose", "transpose --shape 12,197,64 --perm 1,0,2 -o transpose");
  transpose->callback([t, to] {
    run({.type = "TransposeD",
         .inputs = {t->type + ":" + t->shape},
         .attributes = {{"perm", numbers<i64>(t->perm, "--perm")}}},
        *to);
  });

  CLI::App* elementwise = gen.add_subcommand("elementwise", "A function of each element, or of two tensors");
  const auto e = std::make_shared<RowOptions>();
  e->op = "Relu";
  add_shape(elementwise, *e);
  elementwise->add_option("--op", e->op, "Relu, Exp, Gelu, Sigmoid, Add, Mul ...")->capture_default_str();
  elementwise->add_option("--other", e->axes, "Extents of the second tensor, where the function has two");
  const auto eo = add_common(elementwise, "elementwise", "elementwise --shape 197,3072 --op Gelu -o gelu");
  elementwise->callback([e, eo] {
    NodeSpec spec{.type = e->op, .inputs = {e->type + ":" + e->shape}, .attributes = {}};
    if (!e->axes.empty()) spec.inputs.push_back(e->type + ":" + e->axes);
    run(spec, *eo);
  });
}

void add(CLI::App& gen) {
  CLI::App* sub = gen.add_subcommand("op", "One operator of the graph engine, by the kernel that networks get");
  const auto spec = std::make_shared<NodeSpec>();
  const auto attributes = std::make_shared<std::vector<std::string>>();
  sub->add_option("type", spec->type, "CANN's name: Conv2D, SoftmaxV2, BatchMatMulV2, TransposeD ...")->required();
  sub->add_option(
         "--input", spec->inputs,
         "An operand, in their order: extents \"1,64,56,56\" (f16), \"f32:64\"; a constant \"i64=0,2\"; \"-\" for "
         "one that is absent")
      ->required();
  sub->add_option("--attr", *attributes, "An attribute: axis=-1, pads=1,1,1,1; a comma makes a list");
  const auto o = add_common(sub, "op", "op BatchMatMulV2 --input 12,197,64 --input 12,64,208 -o product");
  sub->callback([spec, attributes, o] {
    spec->attributes.clear();
    for (const std::string& text : *attributes)
      spec->attributes.insert(parse_attribute(text));
    run(*spec, *o);
  });
  add_matmul(gen);
  add_conv(gen);
  add_pool(gen);
  add_rows(gen);
}

}  // namespace
}  // namespace vinci::cli::op

namespace vinci::cli {

void add_gen_ops(CLI::App& gen) { op::add(gen); }

}  // namespace vinci::cli
