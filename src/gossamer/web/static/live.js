// The live view of a crawl. Content from outside is inserted as text, never as markup.
import { Curves } from "./curves.js";
import { duration, size, whole } from "./shown.js";

const live = document.getElementById("live");
const crawl = live.dataset.crawl;
const MOST_LINES = 200;
const curves = new Curves(document.getElementById("curves"), crawl);
let wasRunning = false;

function cell(tag, text, kind) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  if (tag === "th") made.scope = "row";
  return made;
}

function row(...cells) {
  const made = document.createElement("tr");
  made.append(...cells);
  return made;
}

function showStatus(status) {
  const state = document.getElementById("state");
  if (state.textContent !== status.state) {
    state.textContent = status.state;
    state.className = `badge ${status.state}`;
  }
  for (const figure of document.querySelectorAll("[data-figure]")) {
    if (figure.dataset.figure === "harvest_rate") {
      figure.textContent = `${Math.round(100 * (status.focus?.harvest_rate ?? 0))} %`;
      continue;
    }
    const value = status[figure.dataset.figure] ?? status.focus?.[figure.dataset.figure] ?? 0;
    figure.textContent = figure.dataset.unit === "size" ? size(value) : whole.format(value);
  }
  sayLine(status);
  const said = document.getElementById("said");
  said.textContent = status.said;
  said.hidden = !status.said;
  const troubles = status.troubles.map((text) => cell("li", text));
  document.getElementById("troubles").replaceChildren(...troubles);
  allow(status);
  showClasses(status.by_class);
  showDepths(status.by_depth);
  showReasons(status.refused_by);
  note(status);
}

// A one-line summary; screen readers announce it only when the state changes.
function sayLine(status) {
  const line = document.getElementById("line");
  const goes = ["running", "paused", "stopping"].includes(status.state);
  line.setAttribute("aria-live", line.dataset.state === status.state ? "off" : "polite");
  line.dataset.state = status.state;
  line.textContent = goes
    ? `${whole.format(status.fetched)} fetched, ${whole.format(status.queued)} queued, ` +
      `${status.pages_per_s} pages/s, ${size(status.bytes_per_s)}/s, ` +
      `${whole.format(status.hosts_waiting)} hosts waiting, running for ${duration(status.wall_s)}`
    : `${whole.format(status.fetched)} fetched, ${whole.format(status.queued)} still queued`;
}

function allow({ state, known }) {
  const may = {
    pause: state === "running",
    resume: state === "paused" || state === "stored" || (state === "failed" && known > 0),
    stop: state === "running" || state === "paused",
  };
  for (const [order, is] of Object.entries(may)) {
    const button = live.querySelector(`button[value="${order}"]`);
    if (button) button.disabled = !is;
  }
}

// While the crawl runs, each status adds a point; afterwards the history has the last one.
function note(status) {
  const runs = ["running", "paused", "stopping"].includes(status.state);
  if (runs) curves.add(status);
  else if (wasRunning) curves.load();
  wasRunning = runs;
}

function showClasses(counts) {
  const most = Math.max(1, ...Object.values(counts));
  for (const shown of document.querySelectorAll("[data-class]")) {
    const count = counts[shown.dataset.class] ?? 0;
    shown.textContent = whole.format(count);
    shown.nextElementSibling.replaceChildren(bar(count / most));
    if (shown.dataset.class === "other") shown.parentElement.hidden = !count; // most crawls have none
  }
}

function showReasons(counts) {
  showBars("#reasons tbody", Object.entries(counts).sort((one, other) => other[1] - one[1]));
}

const DEPTHS = 12; // as web/views/curves.py shows them

function showDepths(counts) {
  if (!counts || !document.getElementById("depths")) return;
  const pairs = Object.entries(counts).sort((one, other) => one[0] - other[0]);
  const deeper = pairs.splice(DEPTHS);
  if (deeper.length) pairs.push([`${deeper[0][0]} and more`, deeper.reduce((sum, [, count]) => sum + count, 0)]);
  showBars("#depths tbody", pairs);
}

function showBars(place, pairs) {
  const most = Math.max(1, ...pairs.map(([, count]) => count));
  const lines = pairs.map(([name, count]) => {
    const share = cell("td", "");
    share.append(bar(count / most));
    return row(cell("th", name), cell("td", whole.format(count), "number"), share);
  });
  document.querySelector(place).replaceChildren(...lines);
}

function bar(share) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  svg.setAttribute("class", "share");
  svg.setAttribute("aria-hidden", "true");
  rect.setAttribute("width", `${share ? Math.max(1, share * 100) : 0}%`);
  rect.setAttribute("height", "100%");
  rect.setAttribute("rx", "2");
  svg.append(rect);
  return svg;
}

// Outcome and status are separate, as in base/answer_class.py: `fetched` means that a response
// arrived; its status says whether there is a page.
function became(one) {
  const outcome = cell("td", one.outcome === "fetched" ? "fetched" : "");
  const status = cell("td", "");
  if (one.outcome === "fetched") {
    const hundreds = Math.floor((one.status ?? 0) / 100);
    const kind = hundreds >= 2 && hundreds <= 5 ? `${hundreds}xx` : "other";
    status.append(cell("span", one.status ?? "?", `badge c${kind}`));
  } else {
    outcome.append(cell("span", one.reason ? `${one.outcome}: ${one.reason}` : one.outcome, `badge c${one.outcome}`));
    if (one.status) status.textContent = one.status;
  }
  return [outcome, status];
}

// Most refusals are links to other sites; they would hide the fetched pages.
function isShown(one) {
  return !one.purpose && (one.outcome !== "refused" || document.getElementById("refusals").checked);
}

function showOutcomes({ outcomes, skipped_bytes: skipped }) {
  const list = document.getElementById("outcomes");
  const shown = outcomes.filter(isShown).slice(-MOST_LINES);
  const lines = shown.map((one) => {
    const link = cell("a", one.url);
    link.href = `/page?${new URLSearchParams({ url: one.url, c: crawl })}`;
    const where = cell("td", "");
    where.append(link);
    return row(cell("td", (one.at ?? "").slice(11, 19), "time"), ...became(one), where);
  });
  if (skipped) lines.unshift(row(cell("td", ""), cell("td", "…"), cell("td", ""), cell("td", "some lines were skipped")));
  list.prepend(...lines.reverse());
  while (list.children.length > MOST_LINES) list.lastChild.remove();
  document.getElementById("no-outcomes").hidden = list.children.length > 0;
}

function showHosts({ hosts }) {
  const lines = hosts.map((host) =>
    row(
      cell("th", host.host),
      cell("td", whole.format(host.queued), "number"),
      cell("td", whole.format(host.waiting), "number"),
      cell("td", whole.format(host.fetched), "number"),
      cell("td", host.rests_s ? `${host.rests_s} s` : "", "number"),
      cell("td", host.crawl_delay_s ? `${host.crawl_delay_s} s` : "", "number"),
      cell("td", host.trouble ?? ""),
    ),
  );
  document.getElementById("hosts").replaceChildren(...lines);
}

// A browser reconnects by itself, unless it was refused: logged out, or too many live views.
function lost() {
  const line = document.getElementById("line");
  const text = source.readyState === EventSource.CLOSED
    ? "The live view has stopped: the server refused the connection. Reload the page."
    : "The live view has stopped: the server does not respond. Reconnecting …";
  if (line.textContent === text) return;
  line.setAttribute("aria-live", "polite");
  line.dataset.state = "lost";
  line.textContent = text;
}

const source = new EventSource(`/api/events?${new URLSearchParams({ c: crawl })}`);
for (const [name, show] of [["status", showStatus], ["outcomes", showOutcomes], ["hosts", showHosts]]) {
  source.addEventListener(name, (event) => show(JSON.parse(event.data)));
}
source.addEventListener("error", lost);
