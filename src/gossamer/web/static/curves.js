// The curves of a crawl, drawn by uPlot from /api/history and extended while it runs.
// Without uPlot (a build that could not reach npm) the page shows only a table.
import { count, duration, shortSize, size, tick, whole } from "./shown.js";

const HEIGHT = 176;
const LEAST = 3; // samples: two make a triangle, not a curve
const MOST = 2400; // then the history is read again: the server thins it out
const STEPS = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000];
const WHOLE = [1, 2, 5].flatMap((digit) => Array.from({ length: 12 }, (_, power) => digit * 10 ** power)).sort((a, b) => a - b);
const speed = (value) => `${value.toFixed(value < 10 ? 1 : 0)}/s`;
const CHARTS = {
  pages: { show: whole.format, axis: count, incrs: WHOLE, lines: [["fetched", "Fetched", "--good"]] },
  errors: { show: whole.format, axis: count, incrs: WHOLE, lines: [["errors", "4xx, 5xx", "--gone"], ["failed", "Failed", "--lost"]] },
  queue: { show: whole.format, axis: count, incrs: WHOLE, lines: [["queued", "Queued", "--accent"]] },
  speed: { show: speed, axis: count, lines: [["pages_per_s", "Pages", "--accent"]] },
  rate: { show: (value) => `${size(value)}/s`, axis: shortSize, lines: [["bytes_per_s", "Bytes", "--accent"]] },
  memory: { show: size, axis: shortSize, lines: [["memory_bytes", "All processes", "--accent"]] },
};

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function wall(ms) {
  const isToday = new Date(ms).toDateString() === new Date().toDateString();
  return (isToday ? clock : day).format(ms);
}

export class Curves {
  constructor(section, crawl) {
    this.section = section;
    this.crawl = crawl;
    this.series = null;
    this.plots = [];
    this.waiting = [];
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.plots.forEach((one) => one.redraw(false)));
    section.querySelector("#samples").addEventListener("toggle", () => this.showTable());
    this.load();
  }

  async load() {
    try {
      const answer = await fetch(`/api/history?${new URLSearchParams({ c: this.crawl })}`);
      if (!answer.ok) return;
      this.series = (await answer.json()).series;
    } catch {
      return; // the live view says that the server does not answer
    }
    for (const status of this.waiting.splice(0)) this.put(status);
    this.draw();
  }

  // Add a point for a running crawl.
  add(status) {
    if (this.series === null) {
      this.waiting.push(status);
      return;
    }
    this.put(status);
    if (this.series.ran_s.length > MOST) this.load();
    else this.draw();
  }

  put(status) {
    const last = this.series.ran_s.at(-1) ?? -1;
    if (status.ran_s <= last) return;
    const point = {
      ...status,
      at_ms: Date.now(),
      run: this.series.run.at(-1) ?? 1,
      errors: status.by_class["4xx"] + status.by_class["5xx"],
    };
    for (const [name, column] of Object.entries(this.series)) column.push(point[name] ?? null);
  }

  draw() {
    this.showTable();
    if (!window.uPlot || this.series.ran_s.length < LEAST) return;
    if (this.plots.length) this.plots.forEach((one) => one.setData(this.data(one.lines)));
    else this.build();
    this.describe();
  }

  data(lines) {
    return [this.series.ran_s, ...lines.map(([name]) => this.series[name])];
  }

  build() {
    for (const figure of this.section.querySelectorAll("[data-curve]")) {
      const chart = CHARTS[figure.dataset.curve];
      if (chart.lines.every(([name]) => this.series[name].every((value) => value === null))) {
        figure.hidden = true;
        continue;
      }
      this.plots.push(this.plot(figure, chart));
    }
  }

  plot(figure, chart) {
    const place = figure.querySelector(".plot");
    place.replaceChildren();
    const made = new uPlot(this.options(chart, place.clientWidth), this.data(chart.lines), place);
    made.lines = chart.lines;
    made.chart = chart;
    made.figure = figure;
    new ResizeObserver(() => made.setSize({ width: place.clientWidth, height: HEIGHT })).observe(place);
    this.listen(place, made);
    return made;
  }

  options(chart, width) {
    const axis = { stroke: () => colour("--dim"), grid: { stroke: () => colour("--line"), width: 1 }, ticks: { stroke: () => colour("--line"), width: 1 }, font: "12px system-ui, sans-serif" };
    return {
      width,
      height: HEIGHT,
      cursor: { sync: { key: "crawl" }, drag: { x: true, y: false } },
      scales: { x: { time: false }, y: { range: (_, _least, most) => [0, most > 0 ? most * 1.08 : 1] } },
      axes: [
        { ...axis, incrs: STEPS, size: 36, space: 58, values: (_, splits) => splits.map(tick) },
        { ...axis, size: 64, ...(chart.incrs ? { incrs: chart.incrs } : {}), values: (_, splits) => splits.map(chart.axis) },
      ],
      series: [
        { label: "Time", value: (_, _value, _series, at) => this.moment(at ?? this.last) },
        ...chart.lines.map(([, label, name]) => ({
          label,
          stroke: () => colour(name),
          width: 2,
          points: { show: this.series.ran_s.length < 30, size: 5 },
          value: (_, _value, series, at) => this.value(chart, series - 1, at ?? this.last),
        })),
      ],
      hooks: { drawAxes: [(one) => this.markRuns(one)] },
    };
  }

  // Without a pointer the last values are shown.
  get last() {
    return this.series.ran_s.length - 1;
  }

  moment(at) {
    return `${duration(this.series.ran_s[at])} (${wall(this.series.at_ms[at])})`;
  }

  value(chart, line, at) {
    const value = this.series[chart.lines[line][0]][at];
    return value === null || value === undefined ? "–" : chart.show(value);
  }

  // A dashed line where a stopped crawl was resumed.
  markRuns(one) {
    const { run, ran_s: ran } = this.series;
    const { ctx, bbox } = one;
    ctx.save();
    ctx.strokeStyle = colour("--edge");
    ctx.setLineDash([4, 4]);
    for (let at = 1; at < run.length; at += 1) {
      if (run[at] === run[at - 1]) continue;
      const x = Math.round(one.valToPos(ran[at], "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  // Arrow keys work like a mouse; screen readers announce the values.
  listen(place, made) {
    const said = document.createElement("p");
    said.className = "hidden";
    said.setAttribute("role", "status");
    place.after(said);
    place.tabIndex = 0;
    place.setAttribute("role", "img");
    place.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const { last } = this;
      const pace = Math.max(1, Math.round(last / 60));
      const at = Math.min(last, Math.max(0, (made.cursor.idx ?? (step < 0 ? last + pace : -pace)) + step * pace));
      made.setCursor({ left: made.valToPos(this.series.ran_s[at], "x"), top: 10 });
      said.textContent = this.sentence(made, at);
    });
  }

  sentence(made, at) {
    const values = made.lines.map(([, label], line) => `${label} ${this.value(made.chart, line, at)}`);
    return `${values.join(", ")} after ${duration(this.series.ran_s[at])}`;
  }

  describe() {
    for (const one of this.plots) {
      const name = one.figure.querySelector("figcaption").textContent;
      one.root.parentElement.setAttribute("aria-label", `${name} over time. ${this.sentence(one, this.last)}. Arrow keys read values; the table has all of them.`);
    }
  }

  showTable() {
    const details = this.section.querySelector("#samples");
    if (this.series === null || !details.open) return;
    const total = this.series.ran_s.length;
    const rows = [];
    for (let at = total - 1; at >= 0; at -= Math.max(1, Math.ceil(total / 40))) rows.push(this.row(at));
    details.querySelector("tbody").replaceChildren(...rows);
  }

  row(at) {
    const of = (name, show) => (this.series[name][at] === null ? "" : show(this.series[name][at]));
    const texts = [
      of("ran_s", (ran) => (ran < 60 ? `${+ran.toFixed(2)} s` : duration(ran))),
      ...["fetched", "errors", "failed", "queued"].map((name) => of(name, whole.format)),
      of("pages_per_s", (value) => value.toFixed(1)),
      of("bytes_per_s", size),
      of("memory_bytes", size),
    ];
    const made = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.className = "time";
    head.textContent = new Date(this.series.at_ms[at]).toISOString().slice(0, 19).replace("T", " ");
    made.append(head, ...texts.map((text) => {
      const cell = document.createElement("td");
      cell.className = "number";
      cell.textContent = text;
      return cell;
    }));
    return made;
  }
}
