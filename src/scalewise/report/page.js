/* Draws the charts of a report from the data beside them: small SVG, no library, no network. It follows page_plot.js.

   A chart is drawn at the width that it has, so that its text keeps the reader's size, and again when that changes.
   `draw` returns the marks that a reader can point at; `Pointer` finds them by mouse, finger or keyboard. */

const PRINTED_WIDTH = 620; // whatever the screen: paper is about as wide everywhere

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
      if (hidden.has(chart.parts[part]) || !(value > 0)) return;
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
  drawShape(svg, entry.shape, "mark", 11, 6, 11);
  return svg;
}

function fillLegend(box, entries, hidden, redraw) {
  if (entries.length < 2) return;
  entries.forEach((entry) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.append(swatch(entry), entry.name);
    button.addEventListener("click", () => {
      const shown = hidden.delete(entry.name);
      if (!shown) hidden.add(entry.name);
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

/* One drawing at the width that it has, which redraws itself when that changes. */
function place(figure, box, title, drawing, hidden) {
  const svg = element("svg", { role: "img", tabindex: 0, "aria-label": `${title}. Arrow keys go through its points.` });
  const pointer = new Pointer(figure, svg);
  let width = 0;
  box.append(svg);

  function redraw(size = Math.round(box.clientWidth)) {
    if (size < 1) return;
    width = size;
    const em = 0.8125 * parseFloat(getComputedStyle(document.documentElement).fontSize);
    svg.replaceChildren(element("title", {}, null, title));
    svg.setAttribute("font-size", em);
    pointer.use(drawing.draw(svg, width, em, hidden));
  }

  new ResizeObserver(() => {
    if (Math.abs(box.clientWidth - width) > 1) redraw();
  }).observe(box);
  window.addEventListener("beforeprint", () => redraw(drawing.alone === false ? PRINTED_WIDTH / 2 : PRINTED_WIDTH));
  window.addEventListener("afterprint", () => redraw());
  redraw();
  return redraw;
}

function panel(box, title) {
  const made = document.createElement("div");
  const heading = document.createElement("h4");
  heading.textContent = title;
  made.append(heading);
  box.append(made);
  return made;
}

function start(figure) {
  const chart = JSON.parse(figure.querySelector("script").textContent);
  const box = figure.querySelector(".plot");
  const plots = chart.plots ?? [];
  const alone = plots.length < 2;
  const drawings = chart.kind === "bars" ? [new Bars(chart)] : plots.map((plot) => new Plot(plot, alone));
  const hidden = new Set();
  figure.classList.add("drawn");
  box.classList.toggle("panels", !alone);
  const redraws = drawings.map((drawing) => {
    const title = drawing.chart.title;
    return place(figure, alone ? box : panel(box, title), title, drawing, hidden);
  });
  const entries = new Map(drawings.flatMap((drawing) => drawing.entries).map((entry) => [entry.name, entry]));
  fillLegend(figure.querySelector(".legend"), [...entries.values()], hidden, () => redraws.forEach((draw) => draw()));
}

document.querySelectorAll("figure.chart").forEach(start);
