/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Vinci authors
 * A whole program: c = a + b on a device, twice, on two chips. */
#include <stdio.h>
#include <stdlib.h>
#include <vinci/vinci.h>

#define COUNT 256 /* floats: four repeats of a vector instruction */

static const char kAdd[] =
    "ld_arg X1, 0\n"
    "ld_arg X2, 1\n"
    "ld_arg X3, 2\n"
    "copy_gm_to_ubuf 0, X1, sid=0, nBurst=1, lenBurst=32, srcGap=0, dstGap=0\n"
    "copy_gm_to_ubuf 0x1000, X2, sid=0, nBurst=1, lenBurst=32, srcGap=0, dstGap=0\n"
    "set_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n"
    "wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n"
    "vadd.f32 0x2000, 0, 0x1000, 4, 1, 1, 1, 8, 8, 8\n"
    "set_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n"
    "wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0\n"
    "copy_ubuf_to_gm X3, 0x2000, sid=0, nBurst=1, lenBurst=32, srcGap=0, dstGap=0\n"
    "end\n";

static void must(vinci_status status) {
  if (status == VINCI_OK) return;
  fprintf(stderr, "%s: %s\n", vinci_status_name(status), vinci_last_error());
  exit(1);
}

/* The sum by the device, and how long it took. */
static uint64_t add(const char* chip_name, const float* a, const float* b, float* c) {
  const size_t bytes = COUNT * sizeof(float);
  vinci_chip* chip;
  vinci_device* device;
  vinci_buffer *da, *db, *dc;
  vinci_kernel* kernel;
  vinci_run* run;
  uint64_t cycles, busy;
  must(vinci_chip_create(chip_name, NULL, 0, &chip));
  must(vinci_device_create(chip, &device));
  must(vinci_malloc(device, bytes, &da));
  must(vinci_malloc(device, bytes, &db));
  must(vinci_malloc(device, bytes, &dc));
  must(vinci_kernel_create(device, "add", VINCI_CORE_VECTOR, kAdd, sizeof kAdd - 1, &kernel));
  must(vinci_copy_in(da, 0, a, bytes));
  must(vinci_copy_in(db, 0, b, bytes));
  const vinci_arg args[] = {{da, 0}, {db, 0}, {dc, 0}};
  must(vinci_launch(kernel, 1, args, 3));
  must(vinci_copy_out(c, dc, 0, bytes));
  must(vinci_device_submit(device, NULL, &run));
  must(vinci_wait(run));
  cycles = vinci_run_cycles(run);
  must(vinci_run_counter(run, "core0.AIV/V/busy", &busy));
  printf("%s: %llu cycles, %.2f us, vector unit busy for %llu\n", vinci_chip_name(chip), (unsigned long long)cycles,
         vinci_run_seconds(run) * 1e6, (unsigned long long)busy);
  vinci_run_destroy(run);
  vinci_device_destroy(device);
  vinci_chip_destroy(chip);
  return cycles;
}

int main(void) {
  float a[COUNT], b[COUNT], c[COUNT];
  const char* chips[] = {"ascend-910b1", "ascend-910b4"};
  uint64_t cycles[2];
  int wrong = 0;
  for (int i = 0; i < COUNT; ++i) {
    a[i] = (float)i;
    b[i] = 0.5f * (float)(i % 7);
  }
  if (vinci_version() >> 16 != VINCI_VERSION_MAJOR) return 1;
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < COUNT; ++i)
      c[i] = -1;
    cycles[k] = add(chips[k], a, b, c);
    for (int i = 0; i < COUNT; ++i)
      wrong += c[i] != a[i] + b[i];
  }
  printf("%d wrong\n", wrong);
  return wrong == 0 && cycles[0] != cycles[1] ? 0 : 1;
}
