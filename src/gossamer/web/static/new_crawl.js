// The scope tester: shows for each typed URL whether it is in scope, and why.
const form = document.getElementById("new-crawl");
const tried = document.getElementById("try");
const verdicts = document.getElementById("verdicts");

const WAIT_MS = 250;
let timer = 0;
let pending = null;

function say(text, kind) {
  const line = document.createElement("li");
  line.textContent = text;
  if (kind) line.className = kind;
  return line;
}

function verdict(one) {
  const line = say(` ${one.because} (${one.url})`, one.is_in ? "in" : "out");
  const word = document.createElement("strong");
  word.textContent = one.is_in ? "In scope:" : "Out of scope:";
  line.prepend(word);
  return line;
}

async function ask() {
  const fields = new FormData(form);
  if (!tried.value.trim() || !fields.get("seeds").trim()) {
    verdicts.replaceChildren();
    return;
  }
  const params = new URLSearchParams({ url: tried.value });
  for (const name of ["seeds", "scope", "domain_list", "include", "exclude"]) params.set(name, fields.get(name));
  pending?.abort();
  pending = new AbortController();
  try {
    const answer = await fetch(`/api/scope?${params}`, { signal: pending.signal });
    const found = await answer.json();
    const lines = answer.ok
      ? found.urls.map(verdict)
      : [say(found.error)];
    verdicts.replaceChildren(...lines);
  } catch (fault) {
    if (fault.name !== "AbortError") verdicts.replaceChildren(say("The server does not respond."));
  }
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT_MS);
}

form?.addEventListener("input", soon);
form?.addEventListener("change", soon);

// The list of domains is for one scope only. Without this script it is always shown.
const scope = document.getElementById("scope");
const listed = document.getElementById("listed");

function showList() {
  listed.hidden = scope.value !== "list";
}

scope?.addEventListener("change", showList);
if (scope) showList();
