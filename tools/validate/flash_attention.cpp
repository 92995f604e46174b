// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/validate/flash_attention.h"

#include <bit>

#include "tools/validate/kernel_stream.h"

namespace vinci::validate {
namespace {

using attention::Attention, attention::kColumns, attention::kHead, attention::kRows;

Attention read(const Params& p, const config::ChipConfig& chip) {
  const Attention x{.q_length = p.whole("q_length"),
                    .k_length = p.whole("k_length"),
                    .tile = p.whole("tile"),
                    .preload = p.whole("preload"),
                    .fifo = p.whole("fifo"),
                    .period = p.whole("period"),
                    .cores = chip.ai_cores};
  p.need(x.q_length > 0 && x.q_length % kRows == 0, "q_length is a multiple of 128");
  p.need(x.tile >= kColumns && x.tile <= 1024 && std::has_single_bit(x.tile), "tile is 128, 256, 512 or 1024");
  p.need(x.k_length > 0 && x.k_length % x.tile == 0, "k_length is a multiple of tile");
  // The factors that rescale O wait in the queue, too, while the next tile is made.
  p.need(x.preload > 0 && x.fifo > x.preload && x.fifo <= 8, "preload and fifo: 1 to 8, the first below the other");
  p.need(x.period > 0 && x.period <= x.fifo, "period: 1 to fifo");
  return x;
}

KernelStream flash_attention_kernel(const Params& p, const config::ChipConfig& chip) {
  const Attention x = read(p, chip);
  const u64 queues = x.cores * x.fifo * kRows;  // rows of what passes between the cores
  const u64 row = kHead * 2;
  return {.code = attention::cube_program(x, chip.arch),
          .aiv_code = attention::vector_program(x, chip.arch),
          .cube = true,
          .aivs = 2,
          .blocks = static_cast<u32>(x.q_length / kRows),
          .l2 = l2_state(p),
          .buffers = {{x.q_length * row},
                      {x.k_length * row},
                      {x.k_length * row},
                      {queues * x.tile * 4},
                      {queues * x.tile * 2},
                      {queues * kHead * 4},
                      {x.q_length * row * 2}}};
}

}  // namespace

Family flash_attention() {
  return {
      .name = "flash_attention",
      .doc = "attention of one head of 128 in f16, results in f32: a cube core and two vector cores for 128 rows of Q",
      .parameters = {{"q_length", "row", "", "of Q"},
                     {"k_length", "row", "", "of K and V"},
                     {"tile", "row", "256", "of K that the vector cores take at a time: 128 to 1024"},
                     {"preload", "tile", "4", "that the cube core is ahead with Q K^T"},
                     {"fifo", "tile", "8", "of each queue between the cores"},
                     {"period", "tile", "4", "after so many, a reader says that their places are free"},
                     l2_parameter("prefetched")},
      .metrics = kernel_metrics(),
      .kernel = flash_attention_kernel,
      .measure = times_of(flash_attention_kernel)};
}

}  // namespace vinci::validate
