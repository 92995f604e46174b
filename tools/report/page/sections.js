// SPDX-License-Identifier: Apache-2.0
// The sections of the report. Each takes the data and returns what is below its heading, or null: nothing to say.

function timelineSection(data) {
  const { tasks, run, chip } = data;
  if (tasks === undefined || tasks.shown === 0) return null;
  const view = new Timeline(tasks, run.cycles, chip.clock_hz);
  const limits = [];
  const limit = (shown, total, what) => {
    if (shown < total) limits.push(`the first ${integer(shown)} of ${integer(total)} ${what}`);
  };
  limit(tasks.shown, tasks.total, "tasks that ended");
  limit(view.lanes.length, view.all.length, "streams");
  return element("div", {},
    element("p", { class: "note", id: "timeline-help" },
      "Wheel: zoom; drag, or Shift and wheel: move; double click: zoom to a task. Keys: + and -, 0 for the whole " +
      "run, arrows, n and p for the next and the previous task, Enter to zoom to it. Pipes and instructions are in " +
      "the timeline that --trace writes."),
    limits.length > 0 ? element("p", { class: "note" }, `Shown are ${limits.join(" and ")}.`) : null,
    view.node);
}

function taskTables(data) {
  const { tasks, operators, chip, run } = data;
  if (tasks === undefined || tasks.shown === 0) return null;
  const us = (cycles) => fixed((cycles / chip.clock_hz) * 1e6, 3);
  const number = (title, value, text = (r) => integer(value(r))) => ({ title, value, text, number: true });
  const time = (title, value) => number(title, value, (r) => us(value(r)));
  const byName = sortableTable({
    rows: operators.rows,
    sorted: "total(us)",
    step: 25,
    columns: [
      { title: "task", value: (r) => r.name },
      { title: "type", value: (r) => r.kind },
      number("count", (r) => r.count),
      time("total(us)", (r) => r.total),
      number("share(%)", (r) => r.total, (r) => percent(run.cycles > 0 ? r.total / run.cycles : 0)),
      time("mean(us)", (r) => r.total / r.count),
      time("min(us)", (r) => r.shortest),
      time("max(us)", (r) => r.longest),
      number("bytes", (r) => r.bytes),
    ],
  });
  const each = sortableTable({
    rows: Array.from({ length: tasks.shown }, (_, t) => t),
    step: 25,
    columns: [
      { title: "task", value: (t) => tasks.names[tasks.name[t]] },
      { title: "type", value: (t) => tasks.kinds[tasks.kind[t]] },
      { title: "stream", value: (t) => tasks.streams[tasks.stream[t]] },
      number("blocks", (t) => tasks.blocks[t]),
      time("enqueued(us)", (t) => tasks.enqueued[t]),
      time("start(us)", (t) => tasks.start[t]),
      time("duration(us)", (t) => tasks.end[t] - tasks.start[t]),
      number("bytes", (t) => tasks.bytes[t]),
    ],
  });
  return element("div", {}, element("h3", {}, "By name"), element("div", { id: "operators" }, byName),
    element("h3", {}, "One by one"), element("div", { id: "each-task" }, each));
}

function pipeSection(data) {
  if (data.pipes === undefined || data.pipes.length === 0) return null;
  const share = (doing) => ({
    title: `${doing}(%)`,
    value: (r) => r[doing] / r.whole,
    text: (r) => percent(r[doing] / r.whole),
    number: true,
  });
  const table = sortableTable({
    rows: data.pipes,
    columns: [
      { title: "pipe", value: (r) => r.pipe },
      { title: "cores", value: (r) => r.cores, number: true },
      ...kDoing.map(share),
    ],
  });
  const { cores, run } = data;
  const shown = cores.names.length;
  const cut = shown < cores.total ? `, the first ${shown} of ${integer(cores.total)} cores` : "";
  return element("div", {},
    element("p", { class: "note" },
      `What the pipes did while kernels ran (${integer(run.kernel_cycles)} cycles), mean of the cores that had ` +
      "work. wait_flag: waits for a flag of another pipe; barrier: for pipes to drain at a pipe_barrier; queue_full: " +
      "the scalar unit for room in the queue of a pipe; drain: for the pipes at the end of a block."),
    pipeBars(data.pipes), element("h3", {}, "Values"), element("div", { id: "pipes" }, table),
    element("h3", {}, `Busy share of each core${cut}`), coreMap(cores, run.kernel_cycles));
}

function rooflineSection(data) {
  if (data.roofline === undefined || data.roofline.points.length === 0) return null;
  return element("div", {},
    element("p", { class: "note" },
      "A multiply-accumulate of the cube counts as two operations, a repeat of the vector unit as 128, the lanes of " +
      "FP16, whatever its type and mask. Filled points count the bytes between cores and L2, hollow ones those " +
      "between L2 and HBM; time is that of the task, with its launch."),
    rooflineChart(data.roofline), element("div", { id: "roofline" }, rooflineTable(data.roofline)));
}

function trafficSection(data) {
  if (data.traffic === undefined) return null;
  const number = (title, value, text) => ({ title, value, text, number: true });
  const rate = (key, text) => (r) => (r[key] === undefined ? "" : text(r[key]));
  const table = sortableTable({
    rows: data.traffic,
    columns: [
      { title: "level", value: (r) => r.level },
      number("read(B)", (r) => r.read, (r) => integer(r.read)),
      number("written(B)", (r) => r.written, (r) => integer(r.written)),
      number("both", (r) => r.read + r.written, (r) => bytes(r.read + r.written)),
      number("in kernels(GB/s)", (r) => r.rate ?? -1, rate("rate", (v) => fixed(v / 1e9, 1))),
      number("peak(GB/s)", (r) => r.peak ?? -1, rate("peak", (v) => fixed(v / 1e9, 1))),
      number("of peak(%)", (r) => r.share ?? -1, rate("share", (v) => percent(v))),
    ],
  });
  return element("div", {},
    element("p", { class: "note" },
      "Host copies, HBM and L2 as requested there; pipes by the footprints of their instructions, over all cores."),
    element("div", { id: "traffic" }, table));
}
