/* Draws the charts of a report from the data beside them: small SVG, no library, no network.

   A chart is drawn at the width that it has, so that its text keeps the reader's size, and again when that changes.
   `draw` returns the marks that a reader can point at; `Pointer` finds them by mouse, finger or keyboard. */

"use strict";

const SVG = "http://www.w3.org/2000/svg";
const PRINTED_WIDTH = 620; // whatever the screen: paper is about as wide everywhere

function element(name, attributes = {}, parent = null, text = null) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, typeof value === "number" ? Math.round(value * 100) / 100 : value);
  }
  if (text !== null) made.textContent = text;
  if (parent !== null) parent.append(made);
  return made;
}

function hue(colour, colours = 7) {
  return colour === null ? "plainly" : `hue hue-${colour % colours}`;
}

/* Axes */

function linearTicks(low, high, room, whole) {
  const rough = (high - low) / Math.max(1, room);
  const power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  if (whole) step = Math.max(1, Math.round(step));
  const ticks = [];
  for (let number = Math.ceil(low / step - 1e-9); number * step <= high * (1 + 1e-9); number += 1) {
    ticks.push(Number((number * step).toPrecision(12)));
  }
  return ticks;
}

function powersOfTwo(low, high, room) {
  const first = Math.ceil(Math.log2(low) - 1e-9);
  const last = Math.floor(Math.log2(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, room)));
  const ticks = [];
  for (let power = first; power <= last; power += every) ticks.push(2 ** power);
  return ticks;
}

function decades(low, high, multiples) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const multiple of multiples) {
      const value = Number((multiple * 10 ** power).toPrecision(12));
      if (value >= low && value <= high) ticks.push(value);
    }
  }
  return ticks;
}

/* Values at which a reader expects a line: powers of two, or 1, 2 and 5, or whole decades, as many as there is room. */
function logTicks(low, high, room, byTwo) {
  let ticks = byTwo ? powersOfTwo(low, high, room) : decades(low, high, [1, 2, 5]);
  if (!byTwo && ticks.length > room) {
    ticks = decades(low, high, [1]);
    const every = Math.ceil(ticks.length / Math.max(1, room));
    ticks = ticks.filter((_, index) => index % every === 0);
  }
  return ticks.length >= 2 ? ticks : linearTicks(low, high, Math.min(room, 4), false).filter((tick) => tick > 0);
}

function tickText(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(6))}M`;
  if (size >= 1) return Number(value.toPrecision(6)).toLocaleString("en");
  if (size >= 1e-4 || size === 0) return String(Number(value.toPrecision(6)));
  return value.toExponential();
}

function domain(axis, values) {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (axis.log) {
    const room = Math.max(1.15, (high / low) ** 0.06);
    return [low / room, high * room];
  }
  if (axis.from_zero && low >= 0) low = 0;
  const span = high - low || Math.abs(high) || 1;
  return [axis.from_zero && low === 0 ? 0 : low - 0.06 * span, high + 0.06 * span];
}

function scale(axis, [low, high], from, to) {
  const bend = axis.log ? Math.log : (value) => value;
  const share = (value) => (bend(value) - bend(low)) / (bend(high) - bend(low));
  return (value) => from + share(value) * (to - from);
}

function ticksOf(axis, [low, high], room) {
  return axis.log ? logTicks(low, high, room, axis.powers_of_two) : linearTicks(low, high, room, axis.whole);
}

/* The plane */

class Plot {
  constructor(chart) {
    this.chart = chart;
    this.entries = chart.series.map((series) => ({ name: series.name, ...series }));
  }

  draw(svg, width, em, hidden) {
    const { chart } = this;
    const height = Math.round(Math.max(17 * em, Math.min(width * 0.58, 27 * em)));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const [xs, ys] = this.domains();
    const rows = ticksOf(chart.y, ys, height / (3.2 * em));
    const left = Math.max(...rows.map((tick) => tickText(tick).length), 2) * 0.6 * em + 0.7 * em;
    const ends = this.endLabels(width, em, hidden);
    const frame = { left, right: width - ends - 0.6 * em, top: 2.1 * em, bottom: height - 3.2 * em, named: ends > 0 };
    const columns = ticksOf(chart.x, xs, (frame.right - left) / (4.6 * em));
    const x = scale(chart.x, xs, frame.left, frame.right);
    const y = scale(chart.y, ys, frame.bottom, frame.top);
    this.drawAxes(svg, frame, columns, rows, x, y, em);
    const marks = [];
    chart.series.forEach((series, index) => {
      if (!hidden.has(index)) marks.push(...this.drawSeries(svg, series, index, x, y, em));
    });
    this.drawRules(svg, frame, x, y, em);
    if (ends > 0) this.drawEnds(svg, frame, y, em, hidden);
    return marks;
  }

  domains() {
    const marks = this.chart.series.flatMap((series) => series.marks);
    const bands = this.chart.series.flatMap((series) => series.band);
    const rules = (axis) => this.chart.rules.filter((rule) => rule.axis === axis).map((rule) => rule.value);
    const xs = [...marks.map((mark) => mark.x), ...rules("x")];
    const spans = marks.flatMap((mark) => [mark.low ?? mark.y, mark.y, mark.high ?? mark.y]);
    const ys = [...spans, ...bands.flatMap((piece) => [piece[1], piece[2]]), ...rules("y")];
    return [domain(this.chart.x, xs), domain(this.chart.y, ys)];
  }

  drawAxes(svg, frame, columns, rows, x, y, em) {
    const grid = element("g", { class: "axes", "aria-hidden": "true" }, svg);
    for (const tick of rows) {
      const place = y(tick);
      element("line", { class: "grid", x1: frame.left, x2: frame.right, y1: place, y2: place }, grid);
      const at = { class: "tick", x: frame.left - 0.5 * em, y: place + 0.35 * em, "text-anchor": "end" };
      element("text", at, grid, tickText(tick));
    }
    for (const tick of columns) {
      const at = { class: "tick", x: x(tick), y: frame.bottom + 1.3 * em, "text-anchor": "middle" };
      element("line", { class: "base", x1: x(tick), x2: x(tick), y1: frame.bottom, y2: frame.bottom + 4 }, grid);
      element("text", at, grid, tickText(tick));
    }
    element("line", { class: "base", x1: frame.left, x2: frame.right, y1: frame.bottom, y2: frame.bottom }, grid);
    element("text", { x: 0, y: 0.9 * em }, grid, this.chart.y.label);
    const under = { x: frame.right, y: frame.bottom + 2.8 * em, "text-anchor": "end" };
    element("text", under, grid, this.chart.x.label);
  }

  drawSeries(svg, series, index, x, y, em) {
    const pale = series.pale ? " pale" : "";
    const group = element("g", { class: `series ${hue(series.colour)}${pale}`, "data-index": index }, svg);
    if (series.band.length > 1) {
      const upper = series.band.map((piece) => `${x(piece[0]).toFixed(1)},${y(piece[2]).toFixed(1)}`);
      const lower = series.band.map((piece) => `${x(piece[0]).toFixed(1)},${y(piece[1]).toFixed(1)}`).reverse();
      element("polygon", { class: "band", points: [...upper, ...lower].join(" ") }, group);
    }
    if (series.line !== "none" && series.marks.length > 1) {
      const points = series.marks.map((mark) => `${x(mark.x).toFixed(1)},${y(mark.y).toFixed(1)}`).join(" ");
      element("polyline", { class: `line ${series.line}`, points }, group);
    }
    return series.marks.map((mark) => this.drawMark(group, series, index, mark, x(mark.x), y(mark.y), y, em));
  }

  drawMark(group, series, index, mark, left, top, y, em) {
    for (const end of [mark.low, mark.high]) {
      if (end === null || end === mark.y) continue;
      const stop = y(end);
      element("line", { class: "interval", x1: left, x2: left, y1: top, y2: stop }, group);
      element("line", { class: "interval", x1: left - 4, x2: left + 4, y1: stop, y2: stop }, group);
    }
    const look = `mark${mark.predicted ? " predicted" : ""}`;
    if (series.shape === "dot") element("circle", { class: look, cx: left, cy: top, r: 0.36 * em }, group);
    if (series.shape === "triangle") {
      const size = 0.5 * em;
      const points = `${left},${top - size} ${left + size},${top + size * 0.8} ${left - size},${top + size * 0.8}`;
      element("polygon", { class: look, points }, group);
    }
    return { left, top, name: series.name, says: mark.says, group: index, silent: series.silent };
  }

  drawRules(svg, frame, x, y, em) {
    for (const rule of this.chart.rules) {
      const group = element("g", { class: hue(rule.colour) }, svg);
      const label = { class: `rule-label ${hue(rule.colour)}` };
      if (rule.axis === "x") {
        const place = x(rule.value);
        const flipped = place > (frame.left + frame.right) / 2;
        element("line", { class: "rule", x1: place, x2: place, y1: frame.top, y2: frame.bottom }, group);
        const at = { x: place + (flipped ? -0.5 : 0.5) * em, "text-anchor": flipped ? "end" : "start" };
        const line = this.chart.rules.filter((other) => other.axis === "x").indexOf(rule);
        element("text", { ...label, ...at, y: frame.top + (0.9 + 1.3 * line) * em }, group, rule.label);
      } else {
        const place = y(rule.value);
        element("line", { class: "rule", x1: frame.left, x2: frame.right, y1: place, y2: place }, group);
        if (frame.named) continue;
        element("text", { ...label, x: frame.left + 0.5 * em, y: place - 0.45 * em }, group, rule.label);
      }
    }
  }

  /* How wide the names beside the ends of lines are; nothing where there is no room for them. */
  endLabels(width, em, hidden) {
    const shown = this.chart.series.filter((series, index) => !hidden.has(index) && series.line !== "none");
    const rules = this.chart.rules.filter((rule) => rule.axis === "y");
    const names = [...shown, ...rules].map((one) => one.label);
    const wide = Math.max(0, ...names.map((name) => name.length)) * 0.56 * em + em;
    return wide > em && wide < width * 0.34 ? wide : 0;
  }

  drawEnds(svg, frame, y, em, hidden) {
    const ends = this.chart.series
      .map((series, index) => ({ series, index }))
      .filter(({ series, index }) => series.label && !hidden.has(index) && series.line !== "none")
      .map(({ series }) => ({ ...series, top: y(series.marks[series.marks.length - 1].y) }))
      .concat(this.chart.rules.filter((rule) => rule.axis === "y").map((rule) => ({ ...rule, top: y(rule.value) })))
      .sort((one, other) => one.top - other.top);
    // Down the side, each at least a line below the one before; then back up from the bottom.
    ends.forEach((end, index) => {
      if (index > 0) end.top = Math.max(end.top, ends[index - 1].top + 1.25 * em);
    });
    let floor = frame.bottom;
    for (const end of [...ends].reverse()) {
      end.top = Math.min(end.top, floor);
      floor = end.top - 1.25 * em;
    }
    for (const { colour, label, top } of ends) {
      const at = { class: `end ${hue(colour)}`, x: frame.right + 0.6 * em, y: top + 0.35 * em };
      element("text", at, svg, label);
    }
  }
}

/* Wholes cut into parts */

class Bars {
  constructor(chart) {
    this.chart = chart;
    this.entries = chart.parts.map((name, index) => ({ name, colour: index, line: "piece", shape: "none" }));
  }

  draw(svg, width, em, hidden) {
    const { chart } = this;
    const row = 3.3 * em;
    const bottom = chart.bars.length * row + 0.4 * em;
    svg.setAttribute("viewBox", `0 0 ${width} ${Math.round(bottom + 3.4 * em)}`);
    const most = Math.max(...chart.bars.map((bar) => bar.values.reduce((sum, value) => sum + value, 0)));
    const right = width - 1.5 * em;
    const x = scale({ log: false }, [0, most || 1], 0, right);
    const grid = element("g", { class: "axes", "aria-hidden": "true" }, svg);
    for (const tick of linearTicks(0, most || 1, width / (6 * em), false)) {
      element("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 0, y2: bottom }, grid);
      const anchor = tick === 0 ? "start" : "middle";
      element("text", { class: "tick", x: x(tick), y: bottom + 1.3 * em, "text-anchor": anchor }, grid, tickText(tick));
    }
    element("text", { x: right, y: bottom + 2.8 * em, "text-anchor": "end" }, grid, chart.label);
    return chart.bars.flatMap((bar, index) => this.drawBar(svg, bar, index * row, x, em, hidden));
  }

  drawBar(svg, bar, top, x, em, hidden) {
    const { chart } = this;
    element("text", { class: "bar-label", x: 0, y: top + 1.1 * em }, svg, bar.label);
    const marks = [];
    let begin = 0;
    bar.values.forEach((value, part) => {
      if (hidden.has(part) || !(value > 0)) return;
      const group = element("g", { class: `series ${hue(part)}`, "data-index": part }, svg);
      const at = { x: x(begin), width: Math.max(x(value), 1), y: top + 1.6 * em, height: 1.3 * em };
      element("rect", { class: "piece", ...at }, group);
      const says = `${bar.label}\n${Number(value.toPrecision(3))} ${chart.unit}`;
      marks.push({ left: x(begin + value / 2), top: top + 2.25 * em, name: chart.parts[part], says, group: part });
      begin += value;
    });
    return marks;
  }
}

/* The legend, whose entries hide and show */

function swatch(entry) {
  const look = `${hue(entry.colour)}${entry.pale ? " pale" : ""}`;
  const svg = element("svg", { width: 22, height: 12, "aria-hidden": "true", class: look });
  if (entry.line === "piece") element("rect", { class: "piece", x: 4, y: 0, width: 12, height: 12 }, svg);
  else if (entry.line !== "none") element("polyline", { class: `line ${entry.line}`, points: "0,6 22,6" }, svg);
  if (entry.shape === "dot") element("circle", { class: "mark", cx: 11, cy: 6, r: 4 }, svg);
  if (entry.shape === "triangle") element("polygon", { class: "mark", points: "11,1 16,11 6,11" }, svg);
  return svg;
}

function fillLegend(box, entries, hidden, redraw) {
  if (entries.length < 2) return;
  entries.forEach((entry, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.append(swatch(entry), entry.name);
    button.addEventListener("click", () => {
      const shown = hidden.delete(index);
      if (!shown) hidden.add(index);
      button.setAttribute("aria-pressed", String(shown));
      redraw();
    });
    box.append(button);
  });
}

/* Pointing at marks */

class Pointer {
  constructor(figure, svg) {
    this.figure = figure;
    this.svg = svg;
    this.marks = [];
    this.at = -1;
    this.tip = document.createElement("div");
    this.tip.className = "tip";
    this.tip.setAttribute("role", "status");
    this.tip.hidden = true;
    figure.append(this.tip);
    svg.addEventListener("pointermove", (event) => this.follow(event));
    svg.addEventListener("pointerdown", (event) => this.follow(event));
    svg.addEventListener("pointerleave", () => this.hide());
    svg.addEventListener("blur", () => this.hide());
    svg.addEventListener("keydown", (event) => this.key(event));
  }

  use(marks) {
    this.marks = marks.filter((mark) => !mark.silent).sort((one, other) => one.group - other.group);
    this.hide();
  }

  follow(event) {
    const box = this.svg.getBoundingClientRect();
    const ratio = this.svg.viewBox.baseVal.width / box.width;
    const [left, top] = [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
    const away = this.marks.map((mark) => Math.hypot(mark.left - left, mark.top - top));
    const nearest = away.indexOf(Math.min(...away));
    if (nearest >= 0 && away[nearest] < 60) this.show(nearest);
    else this.hide();
  }

  key(event) {
    const moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (event.key === "Escape") this.hide();
    if (!(event.key in moves) || this.marks.length === 0) return;
    event.preventDefault();
    const count = this.marks.length;
    this.show(this.at < 0 ? 0 : (this.at + moves[event.key] + count) % count);
  }

  show(index) {
    this.ring?.remove();
    this.at = index;
    const mark = this.marks[index];
    this.ring = element("circle", { class: "ring", cx: mark.left, cy: mark.top, r: 8 }, this.svg);
    const name = document.createElement("b");
    name.textContent = mark.name;
    this.tip.replaceChildren(name, mark.says);
    this.tip.hidden = false;
    this.place(mark);
  }

  /* Above the mark, or below where there is no room, and never outside of the figure. */
  place(mark) {
    const svg = this.svg.getBoundingClientRect();
    const figure = this.figure.getBoundingClientRect();
    const ratio = svg.width / this.svg.viewBox.baseVal.width;
    const left = svg.left - figure.left + mark.left * ratio - this.tip.offsetWidth / 2;
    const above = svg.top - figure.top + mark.top * ratio - this.tip.offsetHeight - 14;
    const most = figure.width - this.tip.offsetWidth - 4;
    this.tip.style.left = `${Math.max(4, Math.min(left, most))}px`;
    this.tip.style.top = `${above > 0 ? above : above + this.tip.offsetHeight + 28}px`;
  }

  hide() {
    this.ring?.remove();
    this.tip.hidden = true;
    this.at = -1;
  }
}

function start(figure) {
  const chart = JSON.parse(figure.querySelector("script").textContent);
  const drawing = chart.kind === "bars" ? new Bars(chart) : new Plot(chart);
  const box = figure.querySelector(".plot");
  const label = `${chart.title}. Arrow keys go through its points.`;
  const svg = element("svg", { role: "img", tabindex: 0, "aria-label": label });
  const pointer = new Pointer(figure, svg);
  const hidden = new Set();
  let width = 0;
  figure.classList.add("drawn");
  box.append(svg);

  function redraw(size = Math.round(box.clientWidth)) {
    if (size < 1) return;
    width = size;
    const em = 0.8125 * parseFloat(getComputedStyle(document.documentElement).fontSize);
    svg.replaceChildren(element("title", {}, null, chart.title));
    svg.setAttribute("font-size", em);
    pointer.use(drawing.draw(svg, width, em, hidden));
  }

  fillLegend(figure.querySelector(".legend"), drawing.entries, hidden, () => redraw());
  new ResizeObserver(() => {
    if (Math.abs(box.clientWidth - width) > 1) redraw();
  }).observe(box);
  window.addEventListener("beforeprint", () => redraw(PRINTED_WIDTH));
  window.addEventListener("afterprint", () => redraw());
  redraw();
}

document.querySelectorAll("figure.chart").forEach(start);
