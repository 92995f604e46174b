// SPDX-License-Identifier: Apache-2.0
// What the canvases of the timeline show.

// A context in CSS pixels on a canvas of that size, cleared.
function sized(canvas, width, height) {
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  context.textBaseline = "middle";
  return context;
}

function kindColours(tasks) {
  return tasks.kinds.map((kind) => colour(kindColour(kind)));
}

function drawOverview(view, context) {
  const width = view.plotWidth();
  const height = kOverviewHeight - 10;
  const colours = kindColours(view.tasks);
  const each = height / Math.max(1, view.lanes.length);
  view.lanes.forEach((lane, row) => {
    lane.paint(0, view.whole, width, (i, from, to) => {
      context.fillStyle = colours[lane.kind[i]];
      context.fillRect(kLabelWidth + from, 5 + row * each, Math.max(1, to - from), Math.max(1, each - 1));
    });
  });
  context.fillStyle = colour("muted");
  context.fillText("whole run", 10, kOverviewHeight / 2);
  const x = kLabelWidth + (view.begin / view.whole) * width;
  const w = Math.max(3, ((view.end - view.begin) / view.whole) * width);
  context.strokeStyle = colour("accent");
  context.lineWidth = 1.5;
  context.strokeRect(x + 0.75, 2.5, Math.max(1.5, w - 1.5), kOverviewHeight - 5);
}

// Seconds between ticks: 1, 2 or 5 times a power of ten, about 110 pixels apart.
function tickStep(seconds, width) {
  const rough = (seconds * 110) / width;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999);
}

function ticks(view) {
  const width = view.plotWidth();
  const begin = view.begin / view.hertz;
  const length = (view.end - view.begin) / view.hertz;
  const step = tickStep(length, width);
  const out = [];
  for (let k = Math.ceil(begin / step - 1e-9); k * step <= begin + length * (1 + 1e-12); ++k) {
    out.push({ x: kLabelWidth + ((k * step - begin) / length) * width, text: axisTime(k * step, step) });
  }
  return out;
}

function drawAxis(view, context) {
  const end = kLabelWidth + view.plotWidth();
  context.fillStyle = colour("muted");
  context.fillText("stream", 10, kAxisHeight / 2);
  for (const { x, text } of ticks(view)) {
    context.fillRect(x, kAxisHeight - 5, 1, 5);
    context.textAlign = x + 60 > end ? "right" : "left";
    context.fillText(text, x + (x + 60 > end ? -4 : 4), kAxisHeight / 2);
  }
}

function drawLanes(view, context) {
  const height = view.laneHeight;
  const right = kLabelWidth + view.plotWidth();
  const colours = kindColours(view.tasks);
  context.fillStyle = colour("rule");
  for (const { x } of ticks(view)) context.fillRect(x, 0, 1, view.lanes.length * height);
  view.lanes.forEach((lane, row) => {
    const top = row * height;
    context.fillStyle = colour("rule");
    context.fillRect(0, top + height - 1, right, 1);
    clipped(context, 0, top, kLabelWidth - 8, height, () => {
      context.fillStyle = colour("ink");
      context.textAlign = "left";
      context.fillText(lane.name, 10, top + height / 2);
    });
    clipped(context, kLabelWidth, top, right - kLabelWidth, height, () => {
      lane.paint(view.begin, view.end, view.plotWidth(), (i, from, to) => {
        drawTask(view, context, lane, i, kLabelWidth + from, kLabelWidth + to, top, colours[lane.kind[i]]);
      });
      if (view.hovered?.lane === lane) drawHovered(view, context, top);
    });
  });
  context.fillStyle = colour("rule-strong");
  context.fillRect(kLabelWidth - 1, 0, 1, view.lanes.length * height);
}

function clipped(context, x, y, width, height, draw) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  draw();
  context.restore();
}

function drawTask(view, context, lane, i, from, to, top, fillColour) {
  const x = Math.max(from, kLabelWidth - 1);
  const width = Math.min(to, kLabelWidth + view.plotWidth()) - x;
  const gap = width >= 4 ? 1 : 0; // neighbours can be told apart
  context.fillStyle = fillColour;
  context.fillRect(x, top + 3, Math.max(1, width - gap), view.laneHeight - 7);
  const name = view.tasks.names[view.tasks.name[lane.tasks[i]]];
  if (view.laneHeight < 20 || width < 20 || (width < 80 && context.measureText(name).width > width - 10)) return;
  clipped(context, x, top, width - 5, view.laneHeight, () => {
    context.fillStyle = colour("on-colour");
    context.textAlign = "left";
    context.fillText(name, x + 5, top + view.laneHeight / 2);
  });
}

// Its outline, and how long it has waited since the host enqueued it.
function drawHovered(view, context, top) {
  const { lane, position } = view.hovered;
  const x = (time) => kLabelWidth + ((time - view.begin) / (view.end - view.begin)) * view.plotWidth();
  const from = x(lane.start[position]);
  const waited = x(view.tasks.enqueued[lane.tasks[position]]);
  context.strokeStyle = colour("ink");
  context.fillStyle = colour("ink");
  context.lineWidth = 1.5;
  context.strokeRect(from, top + 2.5, Math.max(2, x(lane.end[position]) - from), view.laneHeight - 6);
  context.fillRect(waited, top + view.laneHeight - 3, Math.max(0, from - waited), 1.5);
}
