// SPDX-License-Identifier: Apache-2.0
// The timeline of tasks: an overview of the whole run with a window, and the lanes of what the window shows.

const kLabelWidth = 120;
const kAxisHeight = 26;
const kOverviewHeight = 34;

class Timeline {
  constructor(tasks, cycles, hertz) {
    this.tasks = tasks;
    this.hertz = hertz;
    this.whole = Math.max(1, cycles);
    this.begin = 0;
    this.end = this.whole;
    this.hovered = null; // {lane, position}
    this.all = lanesOf(tasks);
    this.lanes = this.all.slice(0, kLaneLimit);
    this.laneHeight = this.lanes.length > 24 ? 16 : 26;
    this.build();
    this.listen();
  }

  build() {
    this.overview = element("canvas", { class: "overview", "aria-hidden": "true" });
    this.axis = element("canvas", { "aria-hidden": "true" });
    this.body = element("canvas", {
      id: "lanes",
      tabindex: "0",
      role: "application",
      "aria-label": "Timeline of tasks",
      "aria-describedby": "timeline-help",
    });
    this.range = element("output", { id: "range", "aria-live": "polite" });
    const button = (text, name, action) => {
      const b = element("button", { type: "button", title: name, "aria-label": name }, text);
      b.addEventListener("click", () => action());
      return b;
    };
    const toolbar = element("div", { class: "toolbar" },
      button("Zoom in", "Zoom in (+)", () => this.zoom(0.5)),
      button("Zoom out", "Zoom out (-)", () => this.zoom(2)),
      button("\u2190", "Earlier (left arrow)", () => this.pan(-0.25)),
      button("\u2192", "Later (right arrow)", () => this.pan(0.25)),
      button("Whole run", "Whole run (0)", () => this.show(0, this.whole)),
      this.range);
    this.scroller = element("div", { class: "lanes" }, this.body);
    this.node = element("div", {}, toolbar,
      element("div", { class: "timeline" }, this.overview, this.axis, this.scroller), this.legend());
  }

  legend() {
    return element("ul", { class: "legend" }, ...this.tasks.kinds.map((kind) =>
      element("li", {}, element("i", { style: `background: var(--${kindColour(kind)})` }), kind)));
  }

  listen() {
    new ResizeObserver(() => this.draw()).observe(this.node);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    addEventListener("beforeprint", () => this.draw());
    addEventListener("afterprint", () => this.draw());
    this.body.addEventListener("wheel", (e) => this.onWheel(e), { passive: false });
    this.body.addEventListener("keydown", (e) => this.onKey(e));
    this.body.addEventListener("dblclick", (e) => this.zoomTo(this.taskAt(e)));
    this.body.addEventListener("blur", () => this.hover(null));
    this.drag(this.body, (from, to) => {
      const perPixel = (from.end - from.begin) / this.plotWidth();
      this.show(from.begin - (to - from.x) * perPixel, from.end - (to - from.x) * perPixel);
    });
    this.drag(this.overview, (from, to) => {
      const half = (this.end - this.begin) / 2;
      const at = ((to - kLabelWidth) / this.plotWidth()) * this.whole;
      this.show(at - half, at + half);
    });
    this.body.addEventListener("pointermove", (e) => {
      if (e.buttons === 0) this.hover(this.taskAt(e), e.clientX, e.clientY);
    });
    this.body.addEventListener("pointerleave", () => this.hover(null));
  }

  // Calls move({x, begin, end} of the press, x of now) while the pointer is held.
  drag(canvas, move) {
    let from = null;
    canvas.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      from = { x: e.offsetX, begin: this.begin, end: this.end };
      canvas.setPointerCapture(e.pointerId);
      canvas.classList.add("panning");
      this.hover(null);
      if (canvas === this.overview) move(from, e.offsetX);
    });
    canvas.addEventListener("pointermove", (e) => from !== null && move(from, e.offsetX));
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, () => {
        from = null;
        canvas.classList.remove("panning");
      });
    }
  }

  plotWidth() {
    return Math.max(50, this.body.clientWidth - kLabelWidth);
  }

  timeAt(x) {
    return this.begin + ((x - kLabelWidth) / this.plotWidth()) * (this.end - this.begin);
  }

  // Shows begin..end, moved into the run; at least ten cycles of it.
  show(begin, end) {
    const length = Math.min(this.whole, Math.max(10, end - begin));
    this.begin = Math.min(Math.max(0, (begin + end - length) / 2), this.whole - length);
    this.end = this.begin + length;
    this.draw();
  }

  zoom(factor, at = (this.begin + this.end) / 2) {
    this.show(at - (at - this.begin) * factor, at + (this.end - at) * factor);
  }

  pan(part) {
    const step = part * (this.end - this.begin);
    this.show(this.begin + step, this.end + step);
  }

  zoomTo(hit) {
    if (hit === null) return;
    const { start, end } = hit.lane;
    const margin = Math.max(5, (end[hit.position] - start[hit.position]) * 0.1);
    this.show(start[hit.position] - margin, end[hit.position] + margin);
  }

  onWheel(e) {
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      this.pan((e.deltaX || e.deltaY) / this.plotWidth());
      return;
    }
    const whole = this.end - this.begin >= this.whole;
    if (whole && e.deltaY > 0) return; // the page may scroll on
    e.preventDefault();
    this.zoom(Math.exp(Math.max(-200, Math.min(200, e.deltaY)) * 0.003), this.timeAt(e.offsetX));
  }

  onKey(e) {
    const actions = {
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      "0": () => this.show(0, this.whole),
      ArrowLeft: () => this.pan(-0.1),
      ArrowRight: () => this.pan(0.1),
      Home: () => this.show(0, this.end - this.begin),
      End: () => this.show(this.whole - (this.end - this.begin), this.whole),
      n: () => this.step(1),
      p: () => this.step(-1),
      Enter: () => this.zoomTo(this.hovered),
      Escape: () => this.hover(null),
    };
    if (e.ctrlKey || e.altKey || e.metaKey || !(e.key in actions)) return;
    e.preventDefault();
    actions[e.key]();
  }

  // To the next or previous task of the lane in hand, scrolled into view, with its tooltip.
  step(by) {
    const lane = this.hovered?.lane ?? this.lanes.find((l) => l.start.length > 0);
    if (lane === undefined) return;
    const position = this.hovered === null ? lane.after(this.begin) : this.hovered.position + by;
    if (position < 0 || position >= lane.start.length) return;
    const start = lane.start[position];
    if (start < this.begin || start > this.end) {
      const length = this.end - this.begin;
      this.show(start - length / 4, start + (3 * length) / 4);
    }
    const box = this.body.getBoundingClientRect();
    const x = kLabelWidth + ((start - this.begin) / (this.end - this.begin)) * this.plotWidth();
    const y = (this.lanes.indexOf(lane) + 1) * this.laneHeight;
    this.hover({ lane, position }, box.left + Math.max(kLabelWidth, x), box.top + y);
  }

  taskAt(e) {
    const lane = this.lanes[Math.floor(e.offsetY / this.laneHeight)];
    if (lane === undefined || e.offsetX < kLabelWidth) return null;
    const position = lane.find(this.timeAt(e.offsetX), (3 * (this.end - this.begin)) / this.plotWidth());
    return position < 0 ? null : { lane, position };
  }

  hover(hit, x, y) {
    const same = hit?.lane === this.hovered?.lane && hit?.position === this.hovered?.position;
    this.hovered = hit;
    if (!same) this.draw();
    if (hit === null) return Tooltip.hide();
    Tooltip.show(...taskText(this.tasks, hit.lane.tasks[hit.position], this.hertz), x, y);
  }

  draw() {
    const width = this.body.clientWidth;
    if (width === 0) return;
    drawOverview(this, sized(this.overview, width, kOverviewHeight));
    drawAxis(this, sized(this.axis, width, kAxisHeight));
    drawLanes(this, sized(this.body, width, Math.max(1, this.lanes.length) * this.laneHeight));
    const us = (cycles) => fixed((cycles / this.hertz) * 1e6, 3);
    this.range.textContent = `${us(this.begin)} us to ${us(this.end)} us`;
    this.body.dataset.begin = this.begin;
    this.body.dataset.end = this.end;
  }
}

// Title and rows of the tooltip of a task.
function taskText(tasks, t, hertz) {
  const us = (cycles) => `${fixed((cycles / hertz) * 1e6, 3)} us`;
  const seconds = (tasks.end[t] - tasks.start[t]) / hertz;
  const rows = [
    ["type", tasks.kinds[tasks.kind[t]]],
    ["stream", tasks.streams[tasks.stream[t]]],
    ["start", us(tasks.start[t])],
    ["duration", us(tasks.end[t] - tasks.start[t])],
    ["after enqueueing", us(tasks.start[t] - tasks.enqueued[t])],
  ];
  if (tasks.blocks[t] > 0) rows.push(["blocks", integer(tasks.blocks[t])]);
  if (tasks.bytes[t] > 0) {
    rows.push(["bytes", integer(tasks.bytes[t])]);
    if (seconds > 0) rows.push(["rate", scaled(tasks.bytes[t] / seconds, "B/s")]);
  }
  return [tasks.names[tasks.name[t]], rows];
}
