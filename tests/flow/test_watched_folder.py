"""A new user watches the demo web in a folder, and edits it. Every way tells the same changes."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from gossamer.demo.folder import prepare_folder
from gossamer.demo.folder_site import folder_site
from gossamer.demo.server import serve
from support.a_webhook import a_webhook
from support.killing import finish, started, typed, until
from support.programs import free_port
from web.a_browser import Browser, served

ATOM = "{http://www.w3.org/2005/Atom}"
Told = set[tuple[str, str]]  # kind and path


def edit(garden: Path) -> None:
    """Change two pages, add one, delete one: what `gossamer demo --folder` proposes."""
    third, about = garden / "days/3.html", garden / "about/index.html"
    source = third.read_text("utf-8")
    assert "seed bread" in source
    third.write_text(source.replace("seed bread", "three fresh loaves"), "utf-8")
    source = about.read_text("utf-8")
    about.write_text(source.replace("<p>", "<p>This sentence is new. ", 1), "utf-8")
    added = re.sub("<(title|h1)>[^<]*", r"<\1>A day that was added", source)
    (garden / "days/41.html").write_text(added, "utf-8")
    (garden / "days/7.html").unlink()


EDITED: Told = {
    ("changed", "/days/3.html"),
    ("changed", "/about/"),
    ("new", "/days/41.html"),
    ("gone", "/days/7.html"),
}


def has_visited_all(collection: Path) -> bool:
    """Whether the first crawl is over and each page was visited once more."""
    ended = typed("status", "-c", collection, "--json")
    if ended.code != 0:  # the collection is being made
        return False
    status = json.loads(ended.out)
    return bool(status["queued"] == 0 and status["unchanged"] >= status["fetched"] > 50)


@pytest.mark.slow
def test_two_edits_an_addition_and_a_deletion_are_told_alike_everywhere(
    collection: Path, tmp_path: Path
) -> None:
    folder, port = tmp_path / "web", free_port()
    prepare_folder(folder, port)
    root = f"http://garden.localhost:{port}"
    with serve(port, partial(folder_site, folder)), a_webhook() as hook:
        words = ("watch", f"{root}/", "-c", collection, "--every", "2s", "--delay", "0")
        with started(*words, "--webhook", hook.url) as running:
            until(lambda: has_visited_all(collection), running)
            edit(folder / "garden.localhost")
            until(lambda: len(hook.changes) >= len(EDITED), running)
            typed("stop", "-c", collection)
            ended = finish(running)

    assert ended.code == 11, ended.err
    assert "4 changes seen" in ended.err
    lines = [re.split(" {2,}", line) for line in ended.out.splitlines()]
    by_terminal = {(line[1], line[-1].removeprefix(root)) for line in lines}
    by_webhook = {(one["kind"], one["url"].removeprefix(root)) for one in hook.changes}
    listed = [
        json.loads(line) for line in typed("changes", "-c", collection, "--json").out.splitlines()
    ]
    by_verb = {(one["kind"], one["url"].removeprefix(root)) for one in listed}
    server = served(collection)
    browser = Browser(server)
    api = browser.get("/api/changes").json()["changes"]
    by_api = {(one["kind"], one["url"].removeprefix(root)) for one in api}
    atom = ET.fromstring(browser.get("/feeds/changes.atom").content)  # our own
    by_feed = {_entry(entry, root) for entry in atom.iter(f"{ATOM}entry")}
    shown = browser.get("/changes").text
    page = browser.get("/page", url=f"{root}/days/3.html", view="diff").text
    typed("changes", "-c", collection, "--feed", tmp_path / "feed.json")
    items = json.loads((tmp_path / "feed.json").read_text("utf-8"))["items"]
    by_file = {(one["tags"][0], one["url"].removeprefix(root)) for one in items}
    server.context.collections.close()

    assert by_terminal == by_webhook == by_verb == by_api == by_feed == by_file == EDITED
    assert len(lines) == len(hook.changes) == len(listed) == 4
    assert all(f"{root}{path}" in shown for _, path in EDITED)
    # A page that is gone has the name that it had, not that of the error page.
    (gone,) = [one for one in items if one["tags"][0] == "gone"]
    assert gone["title"].startswith("Gone: Waiting for lavender")
    assert "Not found" not in shown
    # The last visit found nothing new: the page is compared with the version before.
    assert "three fresh loaves" in page
    assert "304 Not Modified" not in page
    (third,) = [one for one in listed if one["url"].endswith("/days/3.html")]
    assert (third["words_added"], third["words_removed"]) == (3, 2)
    diff = typed("diff", "-c", collection, f"{root}/days/3.html").out
    assert "[-seed bread-] {+three fresh loaves+}" in diff
    assert typed("verify", "-c", collection).code == 0


def _entry(entry: ET.Element, root: str) -> tuple[str, str]:
    link, category = entry.find(f"{ATOM}link"), entry.find(f"{ATOM}category")
    assert link is not None
    assert category is not None
    return str(category.get("term")), str(link.get("href")).removeprefix(root)
