"use strict";
// Values under the pointer, and names that hide their curves. The plots are drawn without this script.
const NS = "http://www.w3.org/2000/svg";
const plots = JSON.parse(document.getElementById("plots").textContent);

function place(axis, value) {
  const [low, high, scale] = axis;
  if (scale !== "log") return (value - low) / (high - low);
  return (Math.log10(Math.max(value, low)) - Math.log10(low)) / (Math.log10(high) - Math.log10(low));
}

function valueAt(axis, share) {
  const [low, high, scale] = axis;
  if (scale !== "log") return low + share * (high - low);
  return 10 ** (Math.log10(low) + share * (Math.log10(high) - Math.log10(low)));
}

function nearest(points, x, axis) {
  let best = null;
  let least = Infinity;
  for (const point of points) {
    const away = Math.abs(place(axis, point[0]) - place(axis, x));
    if (away < least) [least, best] = [away, point];
  }
  return best;
}

function shown(number) {
  if (Math.abs(number) >= 1000) return number.toLocaleString("en", { maximumFractionDigits: 0 });
  return String(Number(number.toPrecision(4)));
}

function element(name, attributes, parent) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}

for (const figure of document.querySelectorAll("figure[data-plot]")) {
  const plot = plots[Number(figure.dataset.plot)];
  const svg = figure.querySelector("svg");
  const [left, right, top, floor] = plot.box;
  const curves = [...svg.querySelectorAll(".series")];
  const cursor = element("g", { class: "plot", visibility: "hidden" }, svg);

  function toggle(curve) {
    curve.setAttribute("aria-pressed", String(!curve.classList.toggle("off")));
  }
  for (const curve of curves) {
    curve.setAttribute("tabindex", "0");
    curve.setAttribute("role", "button");
    curve.setAttribute("aria-pressed", "true");
    curve.addEventListener("click", () => toggle(curve));
    curve.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle(curve);
    });
  }

  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    if (x < left || x > right) return cursor.setAttribute("visibility", "hidden");
    const at = valueAt(plot.x, (x - left) / (right - left));
    const seen = curves.flatMap((curve) => {
      const [name, points] = plot.curves[Number(curve.dataset.curve)];
      if (curve.classList.contains("off") || !points.length) return [];
      return [[name, nearest(points, at, plot.x), curve.querySelector("polyline").getAttribute("stroke")]];
    });
    cursor.replaceChildren();
    if (!seen.length) return cursor.setAttribute("visibility", "hidden");
    seen.sort((one, other) => other[1][1] - one[1][1]);
    const first = seen.reduce((best, one) =>
      Math.abs(one[1][0] - at) < Math.abs(best[1][0] - at) ? one : best)[1][0];
    const line = left + place(plot.x, first) * (right - left);
    element("line", { class: "cursor", x1: line, x2: line, y1: top, y2: floor }, cursor);
    const wide = 92 + 7.2 * Math.max(...seen.map(([name]) => name.length), 8);
    const edge = line + 12 + wide > right ? line - 12 - wide : line + 12;
    element("rect", { class: "values", x: edge, y: top, width: wide, height: 26 + 18 * seen.length, rx: 4 }, cursor);
    element("text", { x: edge + 8, y: top + 18, class: "soft" }, cursor).textContent = shown(first);
    seen.forEach(([name, [px, py], colour], row) => {
      const y = top + 36 + 18 * row;
      element("rect", { x: edge + 8, y: y - 9, width: 9, height: 9, fill: colour }, cursor);
      element("text", { x: edge + 23, y }, cursor).textContent = name;
      element("text", { x: edge + wide - 8, y, "text-anchor": "end" }, cursor).textContent = shown(py);
      const cx = left + place(plot.x, px) * (right - left);
      const cy = floor - place(plot.y, py) * (floor - top);
      element("circle", { cx, cy, r: 4, fill: colour }, cursor);
    });
    cursor.setAttribute("visibility", "visible");
  });
  svg.addEventListener("pointerleave", () => cursor.setAttribute("visibility", "hidden"));
}
