// The list of files grows while a crawl runs. Without this script it is as of the last load.
const list = document.getElementById("files");
const EVERY_MS = 4000;

async function look() {
  if (document.hidden || list.contains(document.activeElement)) return; // nobody looks, or somebody reads
  const address = new URL(location.href);
  address.searchParams.set("part", "1");
  try {
    const answer = await fetch(address);
    if (!answer.ok) return;
    const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
    list.replaceChildren(...parsed.body.childNodes);
  } catch {
    // the server is away: the list stays as it is
  }
}

setInterval(look, EVERY_MS);
