"""A watched site changes: terminal, webhook, command, feeds and API tell the same."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from support.a_site import answer, page, site_in_thread
from support.a_webhook import a_webhook
from support.killing import finish, started, typed, until
from web.a_browser import Browser, served

OLD = page("<title>News</title><p>The old town hall is closed today.</p><a href=/b>b</a>")
NEW = page(
    "<title>News</title><p>The old town hall is open again today.</p>"
    "<a href=/b>b</a><a href=/c>c</a>"
)
GONE = answer(b"gone", status="410 Gone")


@pytest.mark.slow
def test_every_way_tells_the_same_changes_in_order(collection: Path, tmp_path: Path) -> None:
    written = tmp_path / "told.jsonl"
    script = tmp_path / "tell.py"
    script.write_text(
        f"import sys; open({str(written)!r}, 'a').write(sys.stdin.read() + '\\n')", "utf-8"
    )
    pages: dict[str, bytes | list[bytes]] = {
        "/": [OLD, NEW],
        "/b": [page("<title>B</title><p>The second page of all.</p>"), GONE],
        "/c": page("<title>C</title><p>A page that is quite new here.</p>"),
    }
    with site_in_thread(pages) as site, a_webhook() as hook:
        hook.statuses = [500]  # the first batch is refused, and sent again
        root = site.url()
        words = (
            "watch", root, "-c", collection, "--every", "1s", "--delay", "0", "--json",
            "--webhook", hook.url, "--run", f"{sys.executable} {script}",
        )  # fmt: skip
        with started(*words) as running:
            until(lambda: len({one["number"] for one in hook.changes}) == 3, running)
            until(lambda: len(hook.requests) > 1, running)
            typed("stop", "-c", collection)
            ended = finish(running)
    assert ended.code == 11, ended.err

    seen = {(one["kind"], one["url"]) for one in hook.changes}
    assert seen == {("changed", root), ("gone", f"{root}b"), ("new", f"{root}c")}
    ids = [json.loads(body)["id"] for _, _, body in hook.requests]
    assert ids[0] == ids[1]  # the refused batch came again, as it was
    assert {one["number"] for one in hook.changes} == {1, 2, 3}
    edited = next(one for one in hook.changes if one["kind"] == "changed")
    assert edited["words_added"] > 0
    assert edited["words_removed"] > 0

    told = [json.loads(line) for line in written.read_text("utf-8").splitlines()]
    by_command = [(one["kind"], one["url"]) for batch in told for one in batch["changes"]]
    printed = [json.loads(line) for line in ended.out.splitlines()]
    by_terminal = [(one["kind"], one["url"]) for one in printed if "kind" in one]
    assert set(by_command) == set(by_terminal) == seen
    assert len(by_command) == 3

    server = served(collection)
    browser = Browser(server)
    api = browser.get("/api/changes").json()["changes"]
    feed = browser.get("/feeds/changes.json").json()["items"]
    assert {(one["kind"], one["url"]) for one in api} == seen
    assert {(one["tags"][0], one["url"]) for one in feed} == seen
    found = browser.get("/api/search", q="changed:1d").json()
    assert [hit["url"] for hit in found["hits"]] == [root]
    server.context.collections.close()
    status = json.loads(typed("status", "-c", collection, "--json").out)
    assert status["notified"]["webhook"]["delivered"] == 3
    assert status["notified"]["webhook"]["waiting"] == 0


@pytest.mark.slow
def test_a_kill_loses_no_change_and_repeats_at_most_one_batch(collection: Path) -> None:
    with (
        site_in_thread({"/": [OLD, NEW], "*": page("<p>another page</p>")}) as site,
        a_webhook() as hook,
    ):
        root = site.url()
        hook.status = 503
        words = (
            "watch", root, "-c", collection, "--every", "1s", "--delay", "0",
            "--webhook", hook.url,
        )  # fmt: skip
        with started(*words) as running:
            until(lambda: bool(hook.requests), running)
            running.kill()
            finish(running)
        refused = [json.loads(body)["id"] for _, _, body in hook.requests]
        hook.status = 204
        hook.requests.clear()
        with started(*words) as running:
            until(lambda: {"changed", "new"} <= {one["kind"] for one in hook.changes}, running)
            typed("stop", "-c", collection)
            finish(running)

    ids = [json.loads(body)["id"] for _, _, body in hook.requests]
    assert set(refused) == {ids[0]}
    numbers = [one["number"] for one in hook.changes]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 1
