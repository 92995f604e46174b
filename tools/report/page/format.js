// SPDX-License-Identifier: Apache-2.0
// Numbers as text, the way summary.txt writes them, and small helpers for the document.

// With so many decimals, halves to even as the C++ side rounds.
function fixed(x, digits) {
  const text = x.toFixed(digits);
  const exact = x.toFixed(Math.min(100, digits + 60));
  const half = /^50*$/.test(exact.slice(exact.length - 60));
  return half && Number(text.at(-1)) % 2 === 1 ? exact.slice(0, exact.length - 60) : text;
}

// 1234567 -> "1 234 567", with narrow spaces that do not break.
function integer(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

const counted = (n, what) => `${integer(n)} ${what}${n === 1 ? "" : "s"}`;
const gigahertz = (hertz) => String(Number((hertz / 1e9).toPrecision(6)));
const percent = (share, digits = 1) => fixed(100 * share, digits);

function bytes(n) {
  if (n < 1024) return `${n} B`;
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
  let u = -1;
  for (; n >= 1024 && u + 1 < units.length; ++u) n /= 1024;
  return `${fixed(n, n < 10 ? 2 : 1)} ${units[u]}`;
}

// 1.8e12, "B/s" -> "1.80 TB/s"
function scaled(x, unit) {
  const prefixes = [["P", 1e15], ["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]];
  const [prefix, factor] = prefixes.find(([, f]) => x >= f) ?? ["", 1];
  const y = x / factor;
  return `${fixed(y, y < 10 ? 2 : 1)} ${prefix}${unit}`;
}

// A time for an axis whose ticks are `step` seconds apart.
function axisTime(seconds, step) {
  const units = [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]];
  const [unit, factor] = units.find(([, f]) => step >= f) ?? units[3];
  const digits = Math.max(0, -Math.floor(Math.log10(step / factor) + 1e-9));
  return `${fixed(seconds / factor, digits)} ${unit}`;
}

// element("td", {class: "number"}, "text", child, ...)
function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const Tooltip = {
  // `rows` are pairs of texts; at a point of the window.
  show(title, rows, x, y) {
    const box = document.getElementById("tooltip");
    const list = element("dl");
    for (const [name, value] of rows) list.append(element("dt", {}, name), element("dd", {}, value));
    box.replaceChildren(element("strong", {}, title), list);
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
    box.style.top = `${y + 18 + height > innerHeight ? Math.max(4, y - height - 12) : y + 18}px`;
  },
  hide() {
    document.getElementById("tooltip").hidden = true;
  },
  // The same for what the pointer is over and what has the keyboard focus.
  attach(node, title, rows) {
    node.addEventListener("pointermove", (e) => Tooltip.show(title, rows, e.clientX, e.clientY));
    node.addEventListener("pointerleave", Tooltip.hide);
    node.addEventListener("focus", () => {
      const at = node.getBoundingClientRect();
      Tooltip.show(title, rows, at.right, at.bottom);
    });
    node.addEventListener("blur", Tooltip.hide);
  },
};
