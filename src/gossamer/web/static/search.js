// Instant results and keys. Without this script the form still works.
const form = document.getElementById("search");
const box = document.getElementById("q");
const results = document.getElementById("results");
const heading = document.querySelector("main h1");
const told = document.getElementById("told");

const WAIT_MS = 150; // between two letters of a quick typist; a search itself takes about 10
let timer = 0;
let pending = null;

function wanted() {
  const params = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...params]) {
    if (!value || (name === "sort" && value === "relevance")) params.delete(name);
  }
  return params;
}

function tell() {
  const said = results.querySelector("[data-told]");
  told.textContent = said ? said.dataset.told : "";
}

async function ask() {
  const params = wanted();
  const address = params.size ? `/?${params}` : "/";
  pending?.abort();
  pending = new AbortController();
  results.classList.add("stale");
  try {
    params.set("part", "1");
    const answer = await fetch(`/?${params}`, { signal: pending.signal });
    const markup = await answer.text();
    const parsed = new DOMParser().parseFromString(markup, "text/html");
    if (answer.ok) results.replaceChildren(...parsed.body.childNodes);
    else sayFault(parsed.querySelector("main p")?.textContent);
    heading.className = box.value ? "hidden" : "welcome";
    history.replaceState(null, "", address);
    document.title = box.value ? `${box.value} – Gossamer` : "Gossamer";
    tell();
  } catch (fault) {
    if (fault.name === "AbortError") return;
    sayFault("The server does not respond. Check that it is running.");
  }
  results.classList.remove("stale");
}

function sayFault(sentence) {
  const note = document.createElement("p");
  note.className = "note fault";
  note.textContent = sentence || "The search failed.";
  results.replaceChildren(note);
  told.textContent = note.textContent;
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT_MS);
}

box.addEventListener("input", soon);
form.querySelector(".filters").addEventListener("change", soon);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  ask();
});

function step(by) {
  const titles = [...results.querySelectorAll("a.title")];
  const hit = document.activeElement?.closest(".hit");
  const at = titles.findIndex((title) => title.closest(".hit") === hit);
  if (at + by < 0) box.focus();
  else titles[at + by]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest?.("input, textarea, select");
  if (event.key === "/" && (!typing || (typing === box && !box.value))) {
    event.preventDefault();
    box.focus();
    box.select();
  } else if (event.key === "Escape" && event.target.closest?.(".hit")) {
    box.focus();
  } else if (!typing && (event.key === "j" || event.key === "k")) {
    event.preventDefault();
    step(event.key === "j" ? 1 : -1);
  } else if (!typing && event.key === "c") {
    event.target.closest?.(".hit")?.querySelector("a.cached")?.click();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (!typing || typing === box)) {
    const inHits = event.target === box || event.target.closest?.(".hit");
    if (!inHits || (event.target === box && event.key === "ArrowUp")) return;
    event.preventDefault();
    step(event.key === "ArrowDown" ? 1 : -1);
  }
});
