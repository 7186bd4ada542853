// Keeps the pages of the fleet up to date: loads the page again and replaces the parts that changed.
const EVERY_MS = 2000;

async function refresh() {
  if (document.hidden) return;
  const response = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!response.ok || response.redirected) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const now = fresh.getElementById(part.id);
    if (!now || now.innerHTML === part.innerHTML) continue;
    if (part.contains(document.activeElement)) continue; // someone is about to press a button there
    part.replaceChildren(...now.cloneNode(true).childNodes);
  }
}

async function keepUp() {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    try {
      await refresh();
    } catch {
      // The hub is away; the next try may succeed.
    }
  }
}

keepUp();
