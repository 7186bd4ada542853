// One curve in an SVG of 600 by 160, from the oldest point on the left to now on the right.
const WIDTH = 600;
const HEIGHT = 160;
const ROOM = 12;

function part(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

export function places(values) {
  const most = Math.max(1, ...values);
  const step = values.length > 1 ? WIDTH / (values.length - 1) : WIDTH;
  return values.map((value, number) => [
    Math.round(number * step * 10) / 10,
    Math.round((HEIGHT - ROOM - (value / most) * (HEIGHT - 2 * ROOM)) * 10) / 10,
  ]);
}

export function draw(svg, values, unit) {
  const line = places(values).map((pair) => pair.join(",")).join(" ");
  const floor = HEIGHT - ROOM;
  svg.replaceChildren(
    part("line", { x1: 0, x2: WIDTH, y1: floor, y2: floor }),
    part("line", { x1: 0, x2: WIDTH, y1: ROOM, y2: ROOM }),
    part("polygon", { points: `0,${floor} ${line} ${WIDTH},${floor}` }),
    part("polyline", { points: line }),
  );
  const now = values.at(-1) ?? 0;
  const most = Math.max(0, ...values);
  svg.setAttribute("aria-label", `${now} ${unit} now, ${most} ${unit} at most`);
  let scale = svg.nextElementSibling;
  if (!scale?.classList.contains("scale")) {
    scale = document.createElement("p");
    scale.className = "scale";
    svg.after(scale);
  }
  scale.textContent = `${now} ${unit} now, ${most} ${unit} at most`;
}
