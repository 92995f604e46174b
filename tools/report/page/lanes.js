// SPDX-License-Identifier: Apache-2.0
// The tasks of a run by stream, ready to be drawn and found.

const kLaneLimit = 512;

// Colours of kinds of tasks; what is not named here only orders other tasks.
const kKindColours = {
  KERNEL_AICORE: "kernel-aicore",
  KERNEL_AIVEC: "kernel-aivec",
  KERNEL_MIX_AIC: "kernel-mix",
  KERNEL_AICPU: "kernel-aicpu",
  MEMCPY_ASYNC: "copy",
  MEMSET_ASYNC: "fill",
  REDUCE_ASYNC: "fill",
  HCCL: "collective",
};
const kindColour = (kind) => kKindColours[kind] ?? "control";

// One stream: its tasks in the order of time. A stream does one task after the other, so they do not overlap.
class Lane {
  constructor(name) {
    this.name = name;
    this.tasks = [];
  }

  seal(tasks) {
    this.tasks.sort((a, b) => tasks.start[a] - tasks.start[b] || tasks.end[a] - tasks.end[b]);
    this.start = Float64Array.from(this.tasks, (t) => tasks.start[t]);
    this.end = Float64Array.from(this.tasks, (t) => tasks.end[t]);
    this.kind = Uint16Array.from(this.tasks, (t) => tasks.kind[t]);
  }

  // Position of the first task that starts at `time` or later.
  after(time) {
    let low = 0;
    let high = this.start.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Calls draw(position, from, to) for what is to be seen of the range, in pixels of `width` over begin..end. Tasks
  // narrower than a pixel are drawn once a pixel, so the work is bounded by the width and not by the number of tasks.
  paint(begin, end, width, draw) {
    const perPixel = (end - begin) / width;
    let i = Math.max(0, this.after(begin) - 1);
    while (i < this.start.length && this.start[i] < end) {
      const from = (this.start[i] - begin) / perPixel;
      const to = (this.end[i] - begin) / perPixel;
      if (to >= 0) draw(i, from, to);
      ++i;
      if (to - from >= 1) continue;
      const next = begin + (Math.floor(from) + 1) * perPixel;
      // The last task that starts in this pixel may reach far beyond it.
      const last = this.after(next) - 1;
      if (last >= i) i = this.end[last] > next ? last : last + 1;
    }
  }

  // Position of the task at `time`, or of the nearest within `tolerance`; -1: none.
  find(time, tolerance) {
    const i = this.after(time);
    let best = -1;
    let distance = tolerance;
    for (const candidate of [i - 1, i]) {
      if (candidate < 0 || candidate >= this.start.length) continue;
      const d = Math.max(0, this.start[candidate] - time, time - this.end[candidate]);
      if (d <= distance) {
        best = candidate;
        distance = d;
      }
    }
    return best;
  }
}

// All lanes, in the order in which their streams first end a task.
function lanesOf(tasks) {
  const lanes = tasks.streams.map((name) => new Lane(name));
  for (let t = 0; t < tasks.shown; ++t) lanes[tasks.stream[t]].tasks.push(t);
  for (const lane of lanes) lane.seal(tasks);
  return lanes;
}
