/* Draws a plot of a report as small SVG, at the width that it has: axes, ticks, series, rules, names. */

"use strict";

const SVG = "http://www.w3.org/2000/svg";

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
  constructor(chart, alone) {
    this.chart = chart;
    this.alone = alone; // beside others there is no room for names at the ends of lines
    this.entries = chart.series;
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
    for (const span of chart.spans) this.drawSpan(svg, span, frame, x, em);
    this.drawAxes(svg, frame, columns, rows, x, y, em);
    const marks = [];
    chart.series.forEach((series, index) => {
      if (!hidden.has(series.name)) marks.push(...this.drawSeries(svg, series, index, x, y, em));
    });
    this.drawRules(svg, frame, x, y, em);
    if (ends > 0) this.drawEnds(svg, frame, y, em, hidden);
    return marks;
  }

  domains() {
    const marks = this.chart.series.flatMap((series) => series.marks);
    const bands = this.chart.series.flatMap((series) => series.band);
    const rules = (axis) => this.chart.rules.filter((rule) => rule.axis === axis).map((rule) => rule.value);
    const xs = [...this.chart.x.shows, ...marks.map((mark) => mark.x), ...rules("x")];
    const ends = marks.flatMap((mark) => [mark.low ?? mark.y, mark.y, mark.high ?? mark.y]);
    const ys = [...this.chart.y.shows, ...ends, ...bands.flatMap((piece) => [piece[1], piece[2]]), ...rules("y")];
    const [low, high] = domain(this.chart.y, ys);
    const named = this.chart.spans.length > 0 && this.chart.y.log; // their names are written at the bottom
    return [domain(this.chart.x, xs), [named ? low / (high / low) ** 0.08 : low, high]];
  }

  drawSpan(svg, span, frame, x, em) {
    const within = (value, end) => (value === null ? end : Math.min(Math.max(x(value), frame.left), frame.right));
    const [left, right] = [within(span.start, frame.left), within(span.end, frame.right)];
    const group = element("g", { class: hue(span.colour), "aria-hidden": "true" }, svg);
    const size = { width: right - left, height: frame.bottom - frame.top };
    element("rect", { class: "span", x: left, y: frame.top, ...size }, group);
    if (right - left < (span.label.length * 0.56 + 1) * em) return;
    element("text", { x: left + 0.4 * em, y: frame.bottom - 0.5 * em }, group, span.label);
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
      const at = (across, up) => `${x(across).toFixed(1)},${y(up).toFixed(1)}`;
      const corner = (mark, next) => (series.line === "stairs" && next ? [at(next.x, mark.y)] : []);
      const points = series.marks.flatMap((mark, i) => [at(mark.x, mark.y), ...corner(mark, series.marks[i + 1])]);
      element("polyline", { class: `line ${series.line}`, points: points.join(" ") }, group);
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
    drawShape(group, series.shape, look, left, top, em);
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
    if (!this.alone) return 0;
    const shown = this.chart.series.filter((series) => !hidden.has(series.name) && series.line !== "none");
    const rules = this.chart.rules.filter((rule) => rule.axis === "y");
    const names = [...shown, ...rules].map((one) => one.label);
    const wide = Math.max(0, ...names.map((name) => name.length)) * 0.56 * em + em;
    return wide > em && wide < width * 0.34 ? wide : 0;
  }

  drawEnds(svg, frame, y, em, hidden) {
    const ends = this.chart.series
      .filter((series) => series.label && !hidden.has(series.name) && series.line !== "none")
      .map((series) => ({ ...series, top: series.marks.length ? y(series.marks.at(-1).y) : frame.bottom }))
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

function drawShape(group, shape, look, left, top, em) {
  const corners = { triangle: 3, star: 10 }[shape];
  if (shape === "dot") element("circle", { class: look, cx: left, cy: top, r: 0.36 * em }, group);
  if (corners === undefined) return;
  const points = Array.from({ length: corners }, (_, corner) => {
    const far = (corner % 2 && shape === "star" ? 0.28 : 0.6) * em;
    const turn = (2 * Math.PI * corner) / corners;
    return `${(left + far * Math.sin(turn)).toFixed(1)},${(top - far * Math.cos(turn)).toFixed(1)}`;
  });
  element("polygon", { class: look, points: points.join(" ") }, group);
}
