// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <memory>
#include <string>

#include "isa/base/enums.h"
#include "sim/config/load.h"
#include "tools/gen/gemm.h"
#include "tools/gen/studies/studies.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/gen_op.h"
#include "tools/vinci/options.h"

namespace vinci::cli {
namespace {

struct GemmOptions {
  u64 m = 0, n = 0, k = 0;
  std::string chip = "ascend-910b1";
  std::string a = "f16", out_type = "f16", double_buffer = "on";
  u64 seed = 1;
  std::string folder;
};

void generate(const GemmOptions& o) {
  const gen::GemmProblem problem{
      .m = o.m, .n = o.n, .k = o.k, .out_f32 = o.out_type == "f32", .double_buffer = o.double_buffer == "on"};
  const gen::GemmTiling t = gen::write_gemm(problem, config::load_chip(o.chip), o.seed, o.folder);
  print_out(fmt::format("{}/gemm.yaml: {} x {} x {} for {}, {} of {} x {} on {}, k in steps of {} (L1) and {} (L0)\n",
                        o.folder, o.m, o.n, o.k, o.chip, counted(t.tiles(), "tile"), t.tile_m, t.tile_n,
                        counted(t.blocks, "block"), t.l1_k, t.l0_k));
}

// What the generators of the numeric studies share.
struct StudyStreamOptions {
  std::string chip = "ascend-910a";
  u64 elements = 640 * 640;
  u64 seed = 1;
  std::string variant = "naive";
  u32 log2_scale = 12;
  double scale = 65536;
  std::string folder;
};

void print_study(const std::string& path) {
  print_out(fmt::format("{0}: run it with `vinci run {0} --numerics`\n", path));
}

void add_studies(CLI::App& gen) {
  const auto add = [&](const char* name, const char* what) {
    CLI::App* sub = gen.add_subcommand(name, what);
    const auto o = std::make_shared<StudyStreamOptions>();
    sub->add_option("--chip", o->chip, "Chip to compile for (see `vinci chips`), or a chip file")
        ->capture_default_str();
    sub->add_option("--seed", o->seed, "Seed of the random inputs")->capture_default_str()->transform(integer());
    sub->add_option("-o,--output", o->folder, "Folder for the task stream, its kernels and inputs")->required();
    sub->footer(fmt::format("Example: vinci gen {0} -o study && vinci run study/{0}.yaml --numerics", name));
    return std::pair(sub, o);
  };
  constexpr u64 kMaxElements = u64{1} << 24;
  const auto add_elements = [](CLI::App* sub, u64& elements) {
    sub->add_option("--elements", elements, "Logits; a multiple of 128")
        ->capture_default_str()
        ->transform(integer(128, kMaxElements));
  };
  const auto [log1p, l] = add("db-log1p", "Binary cross entropy with logits in FP16: which addend is absorbed first");
  add_elements(log1p, l->elements);
  log1p->add_option("--variant", l->variant, "naive: exp, add 1, ln in f16; log1p: without the sum; fp32: in f32")
      ->capture_default_str()
      ->check(CLI::IsMember(gen::kLog1pVariantNames));
  log1p->callback([o = l] {
    const auto variant = *parse_enum<gen::Log1pVariant>(gen::kLog1pVariantNames, o->variant);
    print_study(gen::write_db_log1p({o->elements, variant, o->seed}, config::load_chip(o->chip), o->folder));
  });
  const auto [loss, g] = add("db-loss-scale", "Gradients times a loss scale, stored in FP16: which vanish");
  add_elements(loss, g->elements);
  loss->add_option("--log2-scale", g->log2_scale, "The scale is 2 to this power")
      ->capture_default_str()
      ->transform(integer(0, 40));
  loss->callback([o = g] {
    print_study(gen::write_db_loss_scale({o->elements, o->log2_scale, o->seed}, config::load_chip(o->chip), o->folder));
  });
  const auto [pool, p] = add("db-maxpoolgrad", "MaxPoolGrad in FP16: where scaled gradients overflow first");
  pool->add_option("--scale", p->scale, "Loss scale")->capture_default_str()->check(positive_number());
  pool->callback([o = p] {
    print_study(gen::write_db_maxpoolgrad({.scale = o->scale, .seed = o->seed}, config::load_chip(o->chip), o->folder));
  });
}

}  // namespace

void add_gen(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("gen", "Generate a task stream");
  sub->require_subcommand(1);
  sub->footer(
      "Each generator explains itself: vinci gen gemm --help\n"
      "Example: vinci gen gemm --m 1000 --n 500 --k 300 -o gemm");
  CLI::App* gemm = sub->add_subcommand("gemm", "C = A * B: tiled, on all cores, pipelined");
  const auto o = std::make_shared<GemmOptions>();
  constexpr u64 kMaxExtent = 1 << 20;
  gemm->add_option("--m", o->m, "Rows of A and C")->required()->transform(integer(1, kMaxExtent));
  gemm->add_option("--n", o->n, "Columns of B and C")->required()->transform(integer(1, kMaxExtent));
  gemm->add_option("--k", o->k, "Columns of A, rows of B")->required()->transform(integer(1, kMaxExtent));
  gemm->add_option("--chip", o->chip, "Chip to compile for (see `vinci chips`), or a chip file")->capture_default_str();
  gemm->add_option("--a", o->a, "Type of A and B")->capture_default_str()->check(CLI::IsMember({"f16"}));
  gemm->add_option("--out-type", o->out_type, "Type of C")->capture_default_str()->check(CLI::IsMember({"f16", "f32"}));
  gemm->add_option("--double-buffer", o->double_buffer,
                   "Two slots in L1 and L0, so that copies overlap; not where the chip has one event id")
      ->capture_default_str()
      ->check(CLI::IsMember({"on", "off"}));
  gemm->add_option("--seed", o->seed, "Seed of the random inputs")->capture_default_str()->transform(integer());
  gemm->add_option("-o,--output", o->folder, "Folder for gemm.yaml, gemm.s, a.npy and b.npy")->required();
  gemm->footer("Example: vinci gen gemm --m 1024 --n 1024 --k 1024 -o gemm && vinci run gemm/gemm.yaml");
  gemm->callback([o] { generate(*o); });
  add_gen_ops(*sub);
  add_studies(*sub);
}

}  // namespace vinci::cli
