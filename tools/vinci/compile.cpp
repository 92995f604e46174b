// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "sim/io/folder_lock.h"
#include "sim/io/input_file.h"
#include "tools/graph/compile/ablation.h"
#include "tools/graph/compile/bins.h"
#include "tools/graph/compile/check.h"
#include "tools/graph/compile/stream.h"
#include "tools/graph/compile/tiling.h"
#include "tools/graph/compile/timing.h"
#include "tools/graph/import/import.h"
#include "tools/graph/ir/text.h"
#include "tools/graph/ops/run.h"
#include "tools/run/arguments.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/custom_op.h"
#include "tools/vinci/network_inputs.h"
#include "tools/vinci/options.h"
#include "tools/vinci/step_progress.h"
#include "tools/vinci/unfinished_folder.h"

namespace vinci::cli {
namespace {

constexpr int kNodesWrong = 1;
constexpr u32 kExecutions = 2;  // that are simulated: times are those of the last, whose caches are warm

struct CompileOptions {
  std::string model, soc = "Ascend910B1", folder, shapes, switches, optimization, precision = "force_fp16",
                     level = "O3", tiling = "model", cache_mode = "enable", cache, batches, dims, custom_ops,
                     dispatch = "sunk", single_stream = "false", parallel, buffers = "l2_optimize", inputs, run_shapes;
  double host_op_us = 0;
  u32 mode = 0;
  std::string hf32 = "false";
  bool check = false, dump = false, no_reuse = false, ablation = false;
  u64 seed = 1;
};

// "Ascend910B1" is the chip file ascend-910b1; names and files of chips are taken as they are.
std::string chip_of(const std::string& soc) {
  if (!soc.starts_with("Ascend")) return soc;
  return "ascend-" + lower(std::string_view(soc).substr(6));
}

i64 extent_of(std::string_view option, const std::string& text, i64 least) {
  i64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > (i64{1} << 40))
    fail_at(Fault::Input, std::string(option), "'{}' is no extent", text);
  return value;
}

// "x:1,3,224,224;mask:1,128"; -1 is an unknown extent.
std::map<std::string, graph::Shape> parse_shapes(const std::string& option, std::string_view text, i64 least) {
  std::map<std::string, graph::Shape> out;
  for (const std::string& part : run::split_list(text, ';')) {
    const usize colon = part.rfind(':');
    if (colon == std::string::npos || colon == 0) fail_at(Fault::Input, option, "'{}' is no name:extents", part);
    graph::Dims dims;
    for (const std::string& extent : run::split_list(std::string_view(part).substr(colon + 1), ',')) {
      dims.push_back(extent_of(option, extent, least));
    }
    if (!out.emplace(part.substr(0, colon), graph::Shape(dims)).second)
      fail_at(Fault::Input, option, "'{}' is there twice", part.substr(0, colon));
  }
  return out;
}

// --dynamic_batch_size "1,2,4", --dynamic_dims "1,64;4,128".
std::vector<std::vector<i64>> parse_bins(const CompileOptions& o) {
  std::vector<std::vector<i64>> out;
  if (!o.batches.empty() && !o.dims.empty())
    fail(Fault::Input, "E10056: --dynamic_batch_size and --dynamic_dims exclude each other");
  if (!o.batches.empty()) {
    for (const std::string& v : run::split_list(o.batches, ','))
      out.push_back({extent_of("--dynamic_batch_size", v, 1)});
  }
  if (!o.dims.empty()) {
    for (const std::string& bin : run::split_list(o.dims, ';')) {
      std::vector<i64>& values = out.emplace_back();
      for (const std::string& v : run::split_list(bin, ','))
        values.push_back(extent_of("--dynamic_dims", v, 1));
    }
  }
  if (out.empty() && !(o.batches.empty() && o.dims.empty()))
    fail(Fault::Input, "E10035: {} has no bins", o.dims.empty() ? "--dynamic_batch_size" : "--dynamic_dims");
  return out;
}

graph::Switches switches_of(const CompileOptions& o) {
  graph::Switches out;
  if (!o.switches.empty()) out = graph::parse_switches(io::read_file(o.switches, u64{1} << 20), o.switches);
  std::string lines = o.optimization;
  std::ranges::replace(lines, ';', '\n');
  for (const auto& [pass, on] : graph::parse_switches(lines, "--optimization_switch").passes)
    out.passes.insert_or_assign(pass, on);
  out.level = o.level == "O1" ? graph::Level::O1 : graph::Level::O3;
  return out;
}

// --mode=3: which nodes can be compiled.
void print_support(const graph::Model& model, const graph::CustomOps& custom_ops) {
  usize missing = 0;
  std::string out;
  for (const graph::NodeSupport& row : graph::supported_nodes(model, custom_ops)) {
    missing += row.reason.empty() ? 0 : 1;
    out += fmt::format("{:<40} {:<28} {}\n", row.node, row.op, row.reason.empty() ? "supported" : row.reason);
  }
  print_out(out +
            (missing == 0 ? "all nodes can be read\n" : fmt::format("{} cannot be read\n", counted(missing, "node"))));
}

// The first node that leaves the range of f16: right, and often not what was wanted.
void report_overflow(const std::vector<graph::NodeCheck>& rows) {
  const auto first = std::ranges::find_if(rows, [](const graph::NodeCheck& r) { return r.overflowed > 0; });
  if (first == rows.end()) return;
  const auto count = std::ranges::count_if(rows, [](const graph::NodeCheck& r) { return r.overflowed > 0; });
  print_out(fmt::format("{} beyond the range of f16 with operands inside it; the first one is {}: {} of {} elements\n",
                        counted(static_cast<u64>(count), "node"), first->node->node->name, first->overflowed,
                        first->output->shape.elements()));
}

void check(const graph::Network& network, const NetworkInputs& inputs) {
  const std::vector<graph::NodeCheck> rows = graph::check_nodes(network, inputs.data_in_domain(*network.graph));
  report_overflow(rows);
  const auto wrong = std::ranges::find_if(rows, [](const graph::NodeCheck& r) { return !r.right(); });
  if (wrong == rows.end()) {
    const auto worst = std::ranges::max_element(rows, {}, &graph::NodeCheck::error);
    print_out(fmt::format("{} right; the largest error is {:.2e} of the largest element{}\n",
                          counted(rows.size(), "node"), worst == rows.end() ? 0 : worst->error,
                          worst == rows.end() ? "" : fmt::format(", of {}", worst->node->node->name)));
    return;
  }
  const auto count = std::ranges::count_if(rows, [](const graph::NodeCheck& r) { return !r.right(); });
  print_out(fmt::format("{} of {} wrong; the first one is {} ({}): {:.2e} of the largest element, allowed {:.2e}\n",
                        count, counted(rows.size(), "node"), wrong->node->node->name, graph::unit_name(*wrong->node),
                        wrong->error, wrong->allowed));
  constexpr double kLeastNormal = 6.1035e-5;
  if (wrong->in_f16 && wrong->largest < kLeastNormal)
    print_out(fmt::format(
        "its largest element is {:.1e}, below the normal numbers of f16, where few bits are left: scale the "
        "weights, or compile with --precision_mode=must_keep_origin_dtype\n",
        wrong->largest));
  throw CLI::RuntimeError(kNodesWrong);
}

// Where tilings are kept: a folder of the user's cache.
std::string cache_folder(const CompileOptions& o) {
  if (!o.cache.empty()) return o.cache;
  const char *const cache = std::getenv("XDG_CACHE_HOME"), *const home = std::getenv("HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/vinci";
  return home == nullptr ? "" : std::string(home) + "/.cache/vinci";
}

void choose_tilings(graph::Network& network, const CompileOptions& o, StepProgress& progress) {
  const std::string folder = o.cache_mode == "disable" ? "" : cache_folder(o);
  graph::TilingCache cache = folder.empty() ? graph::TilingCache() : graph::TilingCache(folder, network.chip);
  const graph::TilingReport r = graph::choose_tilings(
      network, cache, [&](u32 begun, u32 all) { progress.show(fmt::format("simulation {} of {}", begun, all)); });
  try {
    cache.save();
  } catch (const std::exception& e) {
    fmt::print(stderr, "warning: tilings are not kept: {}\n", e.what());
  }
  std::string text = fmt::format("tilings of {} different nodes, {} of them from the cache; {}", r.chosen, r.from_cache,
                                 counted(r.simulations, "simulation"));
  if (r.simulations > 0) {
    text += fmt::format(": {:.2f} us instead of {:.2f} us with those of the estimate, which loses {:.1f} %",
                        r.chosen_us, r.estimated_us, 100 * (r.estimated_us / r.chosen_us - 1));
  }
  print_out(text + "\n");
}

graph::PrecisionMode precision_of(const std::string& mode) {
  if (mode == "force_fp16") return graph::PrecisionMode::force_fp16;
  if (mode == "allow_fp32_to_fp16") return graph::PrecisionMode::allow_fp32_to_fp16;
  return graph::PrecisionMode::must_keep_origin_dtype;
}

void print_ablation(const graph::Graph& graph, const config::ChipConfig& chip, const graph::CompileOptions& options,
                    const std::string& folder, UnfinishedFolder& output) {
  std::vector<graph::AblationRow> rows;
  {
    StepProgress progress;
    rows = graph::ablation(graph, chip, options, [&](std::string_view pass) {
      progress.show(pass.empty() ? "all passes" : fmt::format("without {}", pass));
    });
  }
  const std::string table = graph::ablation_table(rows);
  output.writing();
  io::write_file_atomically(folder + "/ablation.txt", table);
  output.finished();
  print_out(table);
}

// The shapes that the passes see: those of the run, where the options tell both.
graph::ImportOptions import_options(const CompileOptions& o, const CustomKernels& kernels,
                                    const NetworkInputs& inputs) {
  graph::ImportOptions out{.input_shapes = parse_shapes("--input_shape", o.shapes, -1), .custom_ops = kernels.ops()};
  const auto run_shapes = parse_shapes("--dymShape", o.run_shapes, 1);
  for (const auto& [name, shape] : run_shapes) {
    const auto declared = out.input_shapes.find(name);
    const auto fits = [&] {
      const graph::Shape& d = declared->second;
      if (d.rank() != shape.rank()) return false;
      for (usize i = 0; i < shape.rank(); ++i) {
        if (d[i] >= 0 && d[i] != shape[i]) return false;
      }
      return true;
    };
    if (declared == out.input_shapes.end() || !fits())
      fail_at(Fault::Input, "--dymShape", "--input_shape has no shape of {} with -1 that {} fits", name, text(shape));
    out.declared_shapes.emplace(name, declared->second);
    declared->second = shape;
  }
  // Bins have a branch for each value of an extent that is not known.
  if (o.batches.empty() && o.dims.empty())
    out.data = [&inputs](const graph::Graph& graph) { return inputs.data(graph); };
  return out;
}

void compile(const CompileOptions& o) {
  if (std::isnan(o.host_op_us)) fail(Fault::Input, "--host_op_time: it is no number");
  const graph::Model model = graph::read_onnx(o.model);
  CustomKernels kernels(o.custom_ops);
  if (o.mode == 3) return print_support(model, kernels.ops());
  const config::ChipConfig chip = config::load_chip(chip_of(o.soc));
  const graph::Switches switches = switches_of(o);
  if (o.single_stream == "true" && !o.parallel.empty())
    fail(Fault::Input, "E10056: --enable_single_stream=true and --multi_stream_parallel_mode exclude each other");
  const NetworkInputs inputs(o.inputs, o.seed);
  std::unique_ptr<graph::Graph> imported = graph::import_model(model, import_options(o, kernels, inputs));
  if (const auto bins = parse_bins(o); !bins.empty()) imported = graph::clone_for_bins(*imported, bins);
  const std::string name = std::filesystem::path(o.model).stem().string();
  UnfinishedFolder output(o.folder);
  const io::LockedFolder folder(o.folder);
  std::vector<std::pair<std::string, std::string>> dumps;  // names and texts
  const auto dump = [&](graph::Stage stage, const graph::Graph& g) {
    if (!o.dump) return;
    const std::string stem =
        fmt::format("ge_{:05}_graph_PreRunAfter{}", dumps.size() / 2, graph::kStageNames[enum_index(stage)]);
    dumps.emplace_back(stem + ".txt", graph::to_text(g));
    dumps.emplace_back(stem + ".dot", graph::to_dot(g));
  };
  const graph::CompileOptions options{
      .switches = switches,
      .precision = precision_of(o.precision),
      .hf32 = o.hf32 == "true",
      .reuse_memory = !o.no_reuse,
      .execution = {.sunk = o.dispatch == "sunk",
                    .streams = o.single_stream == "true" ? graph::Streams::one
                               : o.parallel == "cv"      ? graph::Streams::cube_and_vector
                                                         : graph::Streams::by_dependency,
                    .intermediates =
                        o.buffers == "l2_optimize" ? task::CacheHint::normal : task::CacheHint::no_allocate},
      .dump = dump,
      .record = [&](const graph::Node& node, const config::ChipConfig& target) {
        return kernels.record(node, target);
      }};
  if (o.ablation) return print_ablation(*imported, chip, options, o.folder, output);
  StepProgress progress;
  progress.show("passes and kernels");
  graph::Network network = graph::compile(std::move(imported), chip, options);
  if (o.tiling == "simulate") choose_tilings(network, o, progress);
  // Shapes that follow from data are right for these data alone.
  graph::StreamOptions stream{.host_seconds = o.host_op_us * 1e-6};
  if (inputs.given() || !network.graph->unknown_shapes.empty()) stream.inputs = inputs.data(*network.graph);
  graph::StreamOptions timed = stream;
  timed.executions = kExecutions;
  const std::string table = graph::node_table(network, graph::time_network(network, timed, [&] {
                                                output.writing();
                                                return o.folder;
                                              }));
  io::write_file_atomically(o.folder + "/nodes.txt", table);
  graph::to_task_stream(network, name, stream).files().write(folder);
  io::write_file_atomically(o.folder + "/fusion_result.json", graph::fusion_result(network.passes));
  io::write_file_atomically(o.folder + "/fusion.txt", graph::fusion_table(network.passes));
  for (const auto& [file, text] : dumps)
    io::write_file_atomically(o.folder + "/" + file, text);
  output.finished();
  print_out(table);
  print_out(fmt::format("{}/{}.yaml: run it with `vinci run {}/{}.yaml --chip {}`\n", o.folder, name, o.folder, name,
                        chip.name));
  if (o.check) check(network, inputs);
}

}  // namespace

void add_compile(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("compile", "Compile a network (ONNX) into a task stream");
  const auto o = std::make_shared<CompileOptions>();
  sub->add_option("model", o->model, "The network, a .onnx file")->required();
  sub->add_option("--soc_version", o->soc,
                  "Chip to compile for: Ascend910B1, Ascend310P3 ... (see `vinci chips`), or a chip file")
      ->capture_default_str();
  sub->add_option("-o,--output", o->folder,
                  "Folder for the task stream, nodes.txt, op_summary.csv, op_statistic.csv, fusion.txt and "
                  "fusion_result.json (what each fusion saved, and why nodes stayed apart); needed but with --mode 3");
  sub->add_option("--mode", o->mode, "0: compile; 3: only list which nodes can be read")
      ->capture_default_str()
      ->check(CLI::IsMember({0, 3}));
  sub->add_option("--input_shape", o->shapes, "Shapes of inputs: \"x:1,3,224,224;mask:1,128\"");
  sub->add_option("--dymShape", o->run_shapes,
                  "Shapes of the run for inputs with -1 in --input_shape; without bins, the host launches what follows "
                  "from them");
  sub->add_option("--input", o->inputs,
                  "Data of inputs, \"x:x.npy;mask:mask.npy\"; random without it. Shapes that follow from data are "
                  "those that these data make");
  sub->add_option(
      "--dynamic_batch_size", o->batches,
      "Bins for the extent -1 of --input_shape, \"1,2,4,8\": the input ascend_mbatch_shape_data chooses one");
  sub->add_option("--dynamic_dims", o->dims, "Bins with a value for each extent -1, \"1,64;4,128\"");
  sub->add_option("--precision_mode", o->precision, "Types of the nodes")
      ->capture_default_str()
      ->check(CLI::IsMember({"force_fp16", "allow_fp32_to_fp16", "must_keep_origin_dtype"}));
  sub->add_option("--allow_hf32", o->hf32,
                  "true: products of f32 round their operands to HF32, twice as fast (910B, must_keep_origin_dtype)")
      ->capture_default_str()
      ->check(CLI::IsMember({"true", "false"}));
  sub->add_option("--custom_op", o->custom_ops,
                  "Kernels of yours in Ascend C for operators of the model: \"Gelu=gelu.asc;MyOp=my_op.asc\"");
  sub->add_option("--fusion_switch_file", o->switches, "File with lines \"Pass:off\", or JSON as CANN has it");
  sub->add_option("--optimization_switch", o->optimization, "\"PassA:off;PassB:on\"; wins over the file");
  sub->add_option("--oo_level", o->level, "O1: only what makes shapes known; O3: all passes")
      ->capture_default_str()
      ->check(CLI::IsMember({"O1", "O3"}));
  sub->add_option("--tiling", o->tiling,
                  "Sizes of tiles: model, by an estimate; simulate, by simulating the best of the estimate")
      ->capture_default_str()
      ->check(CLI::IsMember({"model", "simulate"}));
  sub->add_option("--op_compiler_cache_mode", o->cache_mode, "Whether tilings that were found by simulation are kept")
      ->capture_default_str()
      ->check(CLI::IsMember({"enable", "disable"}));
  sub->add_option("--op_compiler_cache_dir", o->cache, "Where they are kept; without it in ~/.cache/vinci");
  sub->add_option("--dispatch", o->dispatch,
                  "sunk: one task of the host executes the model; eager: the host launches each task")
      ->capture_default_str()
      ->check(CLI::IsMember({"sunk", "eager"}));
  sub->add_option("--enable_single_stream", o->single_stream,
                  "true: one stream for the model; false: one for each part of the network that no value joins")
      ->capture_default_str()
      ->check(CLI::IsMember({"true", "false"}));
  sub->add_option("--multi_stream_parallel_mode", o->parallel,
                  "cv: a stream for tasks of cube cores and one for those of vector cores (split cores)")
      ->check(CLI::IsMember({"cv"}));
  sub->add_option("--host_op_time", o->host_op_us,
                  "us that the host needs for shapes and tiling in front of each task that it launches")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6));
  sub->add_option("--buffer_optimize", o->buffers,
                  "l2_optimize: L2 keeps what tasks hand to each other; off_optimize: it goes through device memory")
      ->capture_default_str()
      ->check(CLI::IsMember({"l2_optimize", "off_optimize"}));
  sub->add_flag("--disable_reuse_memory", o->no_reuse, "Each value has memory of its own");
  sub->add_flag("--check_nodes", o->check,
                "Run each node with inputs of the reference and compare (exit code 1 if one is wrong)");
  sub->add_option("--seed", o->seed, "Of random inputs")->capture_default_str()->transform(integer());
  sub->add_flag("--ablation", o->ablation,
                "Only say what each pass is worth: compile and simulate without each one in turn (ablation.txt)");
  sub->add_flag("--dump_graph", o->dump, "Write the graph behind each stage as text and for Graphviz");
  sub->footer("Example: vinci compile model.onnx --soc_version Ascend910B1 -o model --check_nodes");
  sub->callback([o] {
    if (o->mode == 0 && o->folder.empty()) throw CLI::RequiredError("--output");
    compile(*o);
  });
}

}  // namespace vinci::cli
