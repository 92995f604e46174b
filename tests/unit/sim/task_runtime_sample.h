// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

// A task stream with all that the runtime has beyond kernels and copies. Each field of a buffer, kernel, task, stream
// or step that belongs to it has a value other than its default somewhere.
namespace vinci::task::test {

inline constexpr const char* kRuntimeSample = R"(vinci: 1
name: runtime
arch: c220
devices: 3
buffers:
  host:    {place: host, bytes: 64, pageable: true}
  pad:     {place: device, bytes: 64}
  pair:    {place: device, bytes: 4KiB, device: 1, l2: bypass}
  vars:    {place: device, bytes: 64, device: 2, l2: no_allocate}
  grads:   {place: device, bytes: 4KiB, device: 2}
kernels:
  body: {type: AIV_ONLY, time: 120us}
events: [unused, go]
notifies: [unused, peer]
labels: [unused, top, out]
comms:
  two: [1, 2]
models:
  spare: {head: [spare]}
  step: {head: [main], streams: [side]}
streams:
  spare: []
  other:
    device: 1
    priority: 7
    tasks:
      - event_record: go
      - notify_record: peer
      - hccl: {op: broadcast, comm: two, recv: {buffer: pair, offset: 8}, count: 3, dtype: i2, root: 1, algorithm: ring}
      - hccl: {op: all_reduce, comm: two, send: pair, recv: pair, count: 5, dtype: bf2, reduce: max, algorithm: hierarchical}
  run:
    device: 2
    priority: 3
    tasks:
      - notify_wait: peer
      - model_execute: step
      - event_reset: go
  main:
    device: 2
    tasks:
      - label_set: top
      - kernel_launch: {kernel: body, block_dim: 8}
      - hccl: {op: broadcast, comm: two, recv: {buffer: grads, offset: 8}, count: 3, dtype: i2, root: 1, algorithm: ring}
      - hccl: {op: all_reduce, comm: two, send: grads, recv: grads, count: 5, dtype: bf2, reduce: max, algorithm: hierarchical}
      - name: sum
        reduce_async: {dst: {buffer: grads, offset: 16}, src: {buffer: pair, offset: 32}, count: 24, kind: MAX, dtype: f2}
      - cpu_kernel_launch: {kernel: AssignAdd, block_dim: 2, args: [{buffer: vars, offset: 8}, 1], time: 3ms}
      - stream_switch: {value: {buffer: vars, offset: 8}, cond: LESS, target: {buffer: vars, offset: 16}, true_stream: side, dtype: i8}
      - label_switch: {index: {buffer: vars, offset: 4}, labels: [top, out]}
      - label_set: out
      - label_goto: top
  side:
    device: 2
    tasks:
      - model_end_graph: step
  last:
    - stream_wait_event: go
    - stream_wait_event: go
host:
  semaphores: {free: 2, ready: 0}
  threads:
    loader:
      - repeat:
          times: 10
          steps:
            - repeat: {times: 2, steps: [{wait: free}, {compute: {time: 3ms, name: preprocess}}]}
            - compute: 2us
            - post: ready
            - enqueue: {stream: last, first: 0, count: 1}
            - enqueue: {stream: last, first: 1}
      - enqueue: other
    main:
      - repeat: {times: 20, steps: [{post: free}]}
      - wait: ready
      - enqueue: run
      - synchronize_event: go
      - synchronize_stream: run
      - synchronize_device: 2
)";

}  // namespace vinci::task::test
