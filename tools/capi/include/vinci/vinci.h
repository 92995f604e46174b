/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Vinci authors
 *
 * The simulator as a library for C and for whatever calls C: chips, task streams, device memory and kernels, runs and
 * what they say. docs/c-api.md has the ideas; this file has every rule.
 *
 * Functions that can fail return a vinci_status; then vinci_last_error() is what is wrong, and nothing is changed.
 * Handles are made by one function and end with its _destroy, which takes NULL. Text that a function returns lives as
 * long as its handle. Sizes are in bytes. Numbers of the ABI do not change within a major version: structures begin
 * with their size, so that later versions can append to them. Enumerations have 32 bits; a value without a name is
 * VINCI_ERROR_INPUT. Functions that return a value or a text return 0 or "" of NULL.
 *
 * Threads: any thread may call any function. Several threads may use one device with its buffers and kernels, and one
 * run, at the same time. A task stream must not be changed while another thread uses it, and no handle may be destroyed
 * while another thread uses it. Runs of one process take turns: vinci_wait() waits for the run of another thread. A
 * process that was forked while a run was under way cannot simulate: VINCI_ERROR_UNSUPPORTED. */
#ifndef VINCI_VINCI_H
#define VINCI_VINCI_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define VINCI_API __attribute__((visibility("default")))
#else
#define VINCI_API
#endif

#if defined(__cplusplus) && __cplusplus >= 201103L
#define VINCI_ENUM : uint32_t
#else
#define VINCI_ENUM
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define VINCI_VERSION_MAJOR 0
#define VINCI_VERSION_MINOR 1
#define VINCI_VERSION_PATCH 0

/* Also the exit codes of the command line tool. */
typedef enum vinci_status VINCI_ENUM {
  VINCI_OK = 0,
  VINCI_ERROR_INPUT = 2,        /* an argument, a file or a text is wrong */
  VINCI_ERROR_PROGRAM = 3,      /* a kernel does what the hardware would trap on, or the check found something */
  VINCI_ERROR_UNSUPPORTED = 4,  /* legal, but not modelled, or not in the chosen mode */
  VINCI_ERROR_UNCALIBRATED = 5, /* the chip has no cost for an instruction */
  VINCI_ERROR_DEADLOCK = 6,     /* nothing can move any more */
  VINCI_ERROR_LIMIT = 7,        /* max_cycles is reached, the run is cancelled, or there is no memory */
  VINCI_ERROR_INTERNAL = 8      /* a bug of Vinci */
} vinci_status;

typedef struct vinci_chip vinci_chip;     /* a description, never changed */
typedef struct vinci_stream vinci_stream; /* a task stream, from a file or from text */
typedef struct vinci_device vinci_device; /* device memory, kernels, and tasks that wait for a run */
typedef struct vinci_buffer vinci_buffer; /* of a device, ends with it */
typedef struct vinci_kernel vinci_kernel; /* of a device, ends with it */
typedef struct vinci_run vinci_run;       /* a run, before and after */

/* Of the library: major << 16 | minor << 8 | patch. Compare with the numbers above. */
VINCI_API uint32_t vinci_version(void);
VINCI_API const char* vinci_version_text(void);
/* What the latest failure of this thread was, "" if there was none; until the next failure of this thread. */
VINCI_API const char* vinci_last_error(void);
/* "input", "program", ...; "ok"; "unknown" of a number that is no status. */
VINCI_API const char* vinci_status_name(vinci_status status);

/* ---- Chips ---- */

/* A built-in chip ("ascend-910b1"), or a chip file (a path with '/', or ending in .yaml). Overrides are texts such as
 * "core.cube.startup=30". */
VINCI_API vinci_status vinci_chip_create(const char* name_or_file, const char* const* overrides, size_t count,
                                         vinci_chip** out);
/* The same from the text of a chip file. */
VINCI_API vinci_status vinci_chip_parse(const char* text, size_t bytes, const char* const* overrides, size_t count,
                                        vinci_chip** out);
VINCI_API void vinci_chip_destroy(vinci_chip* chip);
VINCI_API const char* vinci_chip_name(const vinci_chip* chip);
VINCI_API const char* vinci_chip_arch(const vinci_chip* chip); /* m100, c100, m200, c220 */
VINCI_API double vinci_chip_clock(const vinci_chip* chip);     /* Hz, of the AI core */
VINCI_API uint32_t vinci_chip_ai_cores(const vinci_chip* chip);
VINCI_API uint32_t vinci_chip_vector_cores(const vinci_chip* chip); /* 0 where AI cores are whole */
/* The effective chip as a chip file. */
VINCI_API const char* vinci_chip_text(const vinci_chip* chip);

/* Its values as JSON, an object for each group: sizes in bytes, rates in bytes a cycle or a second, times in seconds or
 * cycles, frequencies in Hz. */
VINCI_API const char* vinci_chip_json(const vinci_chip* chip);

/* ---- Runs ---- */

typedef enum vinci_mode VINCI_ENUM {
  VINCI_MODE_FULL = 0,       /* bits and time */
  VINCI_MODE_FUNCTIONAL = 1, /* bits */
  VINCI_MODE_TIMING = 2      /* time; buffers have no contents */
} vinci_mode;

typedef enum vinci_numerics VINCI_ENUM {
  VINCI_NUMERICS_OFF = 0,
  VINCI_NUMERICS_EVENTS = 1, /* count what happens to numeric results */
  VINCI_NUMERICS_SHADOW = 2  /* also compare them with references in double */
} vinci_numerics;

typedef struct vinci_options {
  size_t size; /* of this structure */
  vinci_mode mode;
  uint64_t max_cycles; /* more end the run with VINCI_ERROR_LIMIT; of functional runs, instructions; UINT64_MAX: none */
  uint64_t seed;       /* of buffers with random contents */
  uint32_t threads;    /* of the host, that move data, at most 1024; 0: one for each processor */
  uint32_t check;      /* not 0: look for races and the like; a run with findings is VINCI_ERROR_PROGRAM */
  uint32_t numerics;   /* vinci_numerics; others than 0 not in mode timing */
} vinci_options;
/* What a run has without options. */
#define VINCI_OPTIONS_INIT \
  { sizeof(vinci_options), VINCI_MODE_FULL, UINT64_MAX, 0, 0, 0, 0 }

/* Does the run, on this thread, where it is not done. Its status; that of the run again if it is done. */
VINCI_API vinci_status vinci_wait(vinci_run* run);
/* From another thread or a signal handler: the run ends soon, in each mode, with VINCI_ERROR_LIMIT; a run that has not
 * begun ends when it is waited for. */
VINCI_API void vinci_cancel(vinci_run* run);
/* A run of a device that is not done never happens; its tasks are lost. */
VINCI_API void vinci_run_destroy(vinci_run* run);

/* Of a run that is done; 0 before, and in mode functional, except for the instructions. */
VINCI_API uint64_t
vinci_run_cycles(const vinci_run* run); /* from the first call of the host to the end of the last task */
VINCI_API double vinci_run_seconds(const vinci_run* run);
VINCI_API uint64_t vinci_run_kernel_cycles(const vinci_run* run); /* with at least one kernel under way */
/* Of these, the cold starts: cores that fetch the code of a program that they have not run before. What a kernel takes
   when it is launched again is vinci_run_kernel_cycles() less this. */
VINCI_API uint64_t vinci_run_cold_cycles(const vinci_run* run);
VINCI_API uint64_t vinci_run_instructions(const vinci_run* run);
/* A counter by its path in the member `counters` of the statistics: "core0.AIC/M/busy". */
VINCI_API vinci_status vinci_run_counter(const vinci_run* run, const char* path, uint64_t* value);
/* The file stats.json (docs/outputs.md), "" without time. */
VINCI_API const char* vinci_run_stats(const vinci_run* run);
/* Findings of the check as JSON, "" without one. */
VINCI_API const char* vinci_run_findings(const vinci_run* run);
/* The file numerics.json (docs/outputs.md), also of a run that failed; "" where nothing was counted. */
VINCI_API const char* vinci_run_numerics(const vinci_run* run);
/* Why the kernels of a run that is done took their time, as the file explain.json (docs/explain.md). The first call
 * simulates again, several times. `text` lives as long as the run. VINCI_ERROR_UNSUPPORTED for runs without time, and
 * for those of a device whose programs depend on what its buffers held. Calls for one run must not overlap. */
VINCI_API vinci_status vinci_run_explain(vinci_run* run, const char** text);
/* The same rules for: how far off the time may be by what the chip assumes, as range.json; the timeline as trace.json
 * of the Chrome trace format; and report.html, the run as a page, with its explanation if vinci_run_explain() was
 * called. */
VINCI_API vinci_status vinci_run_range(vinci_run* run, const char** text);
VINCI_API vinci_status vinci_run_trace(vinci_run* run, const char** text);
VINCI_API vinci_status vinci_run_report(vinci_run* run, const char** text);

/* A file of a run that is done, by its name in the folder of `vinci run` (docs/outputs.md): those of the functions
 * above, and "chip.yaml", "numerics.csv", "opdebug.json". Runs that failed have the files that explain why. The bytes
 * end with the run; those of report.html also when the file is asked for again. The rules of vinci_run_explain() hold
 * for "explain.json", "range.json", "trace.json" and "report.html". VINCI_ERROR_INPUT: the run has no such file; the
 * message lists those that it has. */
VINCI_API vinci_status vinci_run_file(vinci_run* run, const char* name, const void** data, size_t* bytes);
/* The names of the files that a run that is done has, but for those four; "" behind the last one. */
VINCI_API size_t vinci_run_file_count(const vinci_run* run);
VINCI_API const char* vinci_run_file_name(const vinci_run* run, size_t index);

/* The host buffers of a task stream that have an `output`. */
typedef struct vinci_output {
  size_t size;       /* of this structure, set by the caller */
  const char* name;  /* of the buffer */
  const char* dtype; /* "f2", "i4", ...; "" for raw bytes */
  const uint64_t* shape;
  size_t dimensions;
  const void* data; /* NULL in mode timing, and before the run is done */
  size_t bytes;
} vinci_output;
VINCI_API size_t vinci_run_output_count(const vinci_run* run);
VINCI_API vinci_status vinci_run_output(const vinci_run* run, size_t index, vinci_output* out);
VINCI_API vinci_status vinci_run_find_output(const vinci_run* run, const char* name, vinci_output* out);

/* ---- Task streams ---- */

/* A file, .yaml or .vts. */
VINCI_API vinci_status vinci_stream_load(const char* path, vinci_stream** out);
/* The same from memory, in either form. Files that it names are looked up beneath `folder`; NULL: it must not name any.
 */
VINCI_API vinci_status vinci_stream_parse(const void* text, size_t bytes, const char* folder, vinci_stream** out);
VINCI_API void vinci_stream_destroy(vinci_stream* stream);
VINCI_API const char* vinci_stream_name(const vinci_stream* stream);
VINCI_API const char* vinci_stream_arch(const vinci_stream* stream);
/* The contents of a host buffer, in place of what the task stream says. They are copied. */
VINCI_API vinci_status vinci_stream_set_input(vinci_stream* stream, const char* buffer, const void* data, size_t bytes);
/* A run of it; vinci_wait() does it. `options` may be NULL. Chip and stream may be destroyed. */
VINCI_API vinci_status vinci_submit(const vinci_chip* chip, const vinci_stream* stream, const vinci_options* options,
                                    vinci_run** out);

/* ---- Devices ---- */

/* A device of the chip with its memory. It is cold at the beginning of each run: L2 is empty. */
VINCI_API vinci_status vinci_device_create(const vinci_chip* chip, vinci_device** out);
VINCI_API void vinci_device_destroy(vinci_device* device); /* after its runs */
/* Device memory, of zeros. */
VINCI_API vinci_status vinci_malloc(vinci_device* device, size_t bytes, vinci_buffer** out);
/* Refused while tasks that use it wait. */
VINCI_API vinci_status vinci_free(vinci_buffer* buffer);
/* At once, without time. */
VINCI_API vinci_status vinci_write(vinci_buffer* buffer, size_t offset, const void* data, size_t bytes);
VINCI_API vinci_status vinci_read(const vinci_buffer* buffer, size_t offset, void* data, size_t bytes);

typedef enum vinci_core VINCI_ENUM {                       /* what a kernel runs on */
                                     VINCI_CORE_AI = 0,    /* whole AI cores: m100, c100, m200 */
                                     VINCI_CORE_CUBE = 1,  /* c220 */
                                     VINCI_CORE_VECTOR = 2 /* c220 */
} vinci_core;
/* A kernel from assembly text (docs/assembly.md) or from a program file of `vinci asm`, which is recognised. */
VINCI_API vinci_status vinci_kernel_create(vinci_device* device, const char* name, vinci_core core, const void* program,
                                           size_t bytes, vinci_kernel** out);

typedef struct vinci_arg { /* of a kernel */
  vinci_buffer* buffer;    /* NULL: a number */
  uint64_t value;          /* the number, or the offset of an address in the buffer */
} vinci_arg;

/* Tasks, one after the other, in the order of these calls; they run with the next run. Copies take their time on the
 * wires to the host. The source is copied now, the destination is written by vinci_wait(), if the run succeeds. */
VINCI_API vinci_status vinci_copy_in(vinci_buffer* dst, size_t offset, const void* src, size_t bytes);
VINCI_API vinci_status vinci_copy_out(void* dst, const vinci_buffer* src, size_t offset, size_t bytes);
VINCI_API vinci_status vinci_launch(vinci_kernel* kernel, uint32_t block_dim, const vinci_arg* args, size_t count);
/* The run of what was called since the last one; vinci_wait() does it. Memory is afterwards as the run leaves it; after
 * a run that fails, as it was before. A device has one run at a time that is not done. Modes are as above: in mode
 * timing memory stays as it is. */
VINCI_API vinci_status vinci_device_submit(vinci_device* device, const vinci_options* options, vinci_run** out);

#ifdef __cplusplus
}
#endif

#endif
