"""Top pages, the link graph, changes between versions, exports, bans: pages and JSON alike."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.types import Message

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.upkeep.rebuild import rebuild
from gossamer.web.routes import API
from gossamer.web.views.exports import export_file
from support.a_crawl import crawl, crawl_in_loop
from support.a_site import page, site_in_thread
from web.a_browser import TOKEN, Browser, Served, served
from web.conftest import Garden


class _Tomorrow(SystemClock):
    """A day ahead."""

    def wall_us(self) -> int:
        return super().wall_us() + 86_400_000_000


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Garden:
    """A page that was fetched twice and changed between."""
    folder = tmp_path_factory.mktemp("changed")
    first = page("<title>Old</title><p>It stays.</p><p>It goes &lt;b&gt;.</p>")
    second = page("<title>New</title><p>It stays.</p><p>It comes &lt;i&gt;.</p>")
    with site_in_thread({"/": [first, second]}) as site:
        crawl(folder / "one", [site.url()])
        asyncio.run(crawl_in_loop(folder / "two", [site.url()], clock=_Tomorrow()))
        root = site.url()
    for file in (folder / "two/archive").glob("*.warc.gz"):
        shutil.copy(file, folder / "one/archive")
    rebuild(CollectionPaths(folder / "one"), "all", SystemClock(), lambda _said: None)
    return Garden(folder / "one", root)


@pytest.fixture
def changed_server(changed: Garden) -> Iterator[Served]:
    made = served(changed.path)
    yield made
    made.context.collections.close()


def test_top_pages_come_with_titles_and_what_links_to_them(server: Served, garden: Garden) -> None:
    found = Browser(server).get("/api/top", by="backlinks").json()

    first = next(one for one in found["pages"] if one["url"] == garden.url("/roses"))
    assert (first["title"], first["outcome"]) == ("Roses", "fetched")
    assert first["backlinks"] >= 1
    assert "red roses" not in json.dumps(found)


def test_ranks_are_shown_as_the_crawl_computed_them(server: Served, garden: Garden) -> None:
    before = {path.name for path in (garden.path / "graph").iterdir()}

    found = Browser(server).get("/api/top").json()

    assert found["pages"][0]["pagerank"] > 0
    assert {path.name for path in (garden.path / "graph").iterdir()} == before


def test_without_ranks_the_page_leads_to_what_is_there(garden: Garden, tmp_path: Path) -> None:
    shutil.copytree(garden.path, tmp_path / "garden")
    for file in (tmp_path / "garden/graph").glob("rank*"):
        file.unlink()
    server = served(tmp_path / "garden")

    assert "No ranks yet" in Browser(server).get("/top").text
    server.context.collections.close()


def test_a_page_has_those_around_it_that_link_to_it_and_that_it_links_to(
    server: Served, garden: Garden
) -> None:
    found = Browser(server).get("/api/graph", of=garden.url("/roses")).json()

    assert found["level"] == "page"
    around = {one["name"]: (one["links_in"], one["links_out"]) for one in found["neighbours"]}
    assert around[garden.url("/")] == (1, 1)


def test_the_graph_of_hosts_has_no_centre_and_one_of_a_host_has(server: Served) -> None:
    whole = Browser(server).get("/api/graph").json()
    around = Browser(server).get("/api/graph", of="127.0.0.1", level="host").json()

    assert (whole["centre"], whole["level"]) == (None, "host")
    assert "else.example" in [one["name"] for one in around["neighbours"]]


def test_the_picture_has_a_table_and_no_markup_of_strangers(server: Served, garden: Garden) -> None:
    answer = Browser(server).get("/graph", of=garden.url("/hostile"))

    assert '<svg class="graph"' in answer.text
    assert answer.text.count("<table>") == 1
    assert "<script>window.owned" not in answer.text


def test_neighbours_of_what_is_not_known_are_no_fault_of_ours(server: Served) -> None:
    browser = Browser(server)

    assert browser.get("/api/graph", of="http://never.example/").status_code == 404
    assert browser.get("/api/graph", of="never.example").status_code == 404
    assert browser.get("/api/graph", of="127.0.0.1", level="page").status_code == 400


def test_what_changed_is_told_line_by_line(changed_server: Served, changed: Garden) -> None:
    route = next(route for route in API if route.name == "diff")

    found = Browser(changed_server).get("/api/diff", url=changed.root).json()

    assert set(route.keys) == set(found)
    assert {"name": "title", "old": "Old", "new": "New"} in found["facts"]
    told = [(part["kind"], part["lines"]) for part in found["changes"]]
    assert told == [
        ("same", ["It stays."]),
        ("removed", ["It goes <b>."]),
        ("added", ["It comes <i>."]),
    ]
    assert (found["words_added"], found["words_removed"]) == (2, 2)
    pieces = [(one["kind"], one["text"].strip()) for one in found["lines"][1]["pieces"]]
    assert pieces == [("same", "It"), ("removed", "goes <b>."), ("added", "comes <i>.")]


def test_two_versions_can_be_named(changed_server: Served, changed: Garden) -> None:
    browser = Browser(changed_server)
    new, old = [one["at"] for one in browser.get("/api/page", url=changed.root).json()["versions"]]

    found = browser.get("/api/diff", url=changed.root, old=new, new=old).json()

    assert (found["old"], found["new"]) == (new, old)
    assert ["It goes <b>."] in [p["lines"] for p in found["changes"] if p["kind"] == "added"]
    page = browser.get("/page", url=changed.root, view="diff").text
    assert "</span>comes &lt;i&gt;.</ins>" in page
    assert "+2 words" in page


def test_a_page_fetched_once_has_nothing_to_compare(server: Served, garden: Garden) -> None:
    browser = Browser(server)

    assert browser.get("/api/diff", url=garden.url("/roses")).status_code == 404
    text = browser.get("/page", url=garden.url("/roses"), view="diff").text
    assert "There is only one version" in text


def test_every_export_of_the_page_is_a_file(server: Served) -> None:
    program = Browser(server, token=TOKEN)
    listed = program.get("/api/exports").json()["exports"]

    for one in listed:
        for ending in one["formats"]:
            answer = program.get("/export", what=one["what"], **{"as": ending})
            assert answer.status_code == 200, (one["what"], ending)
            assert answer.content, (one["what"], ending)
            name = f'filename="garden-{one["what"]}{ending}"'
            assert name in answer.headers["content-disposition"]


def test_an_export_has_what_the_command_line_gives(server: Served, garden: Garden) -> None:
    text = Browser(server, token=TOKEN).get("/export", what="pages", **{"as": ".jsonl"}).text

    rows = [json.loads(line) for line in text.splitlines()]
    assert garden.url("/roses") in [row["url"] for row in rows]


def test_an_export_needs_somebody_who_is_logged_in(server: Served) -> None:
    stranger, friend = Browser(server), Browser(server)
    friend.log_in()

    assert stranger.get("/export?what=pages").headers["location"].startswith("/login?next=")
    assert friend.get("/export?what=pages").status_code == 200
    assert "needs a login" in stranger.get("/exports").text


@pytest.mark.parametrize("part", ["bytes=x", "bytes=99999999-", "bytes=0-9", ""])
def test_nothing_is_left_of_an_export_whatever_part_of_it_is_asked_for(
    server: Served, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    Browser(server, token=TOKEN).ask("GET", "/export?what=pages", headers={"range": part})

    assert list(tmp_path.glob("gossamer-web-*")) == []


def test_nothing_is_left_of_an_export_that_nobody_takes(
    server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = export_file(server.context.collections, "", "pages", "page", ".csv")
    assert list(tmp_path.glob("gossamer-web-*"))

    async def take() -> None:
        async def receive() -> Message:
            await asyncio.Event().wait()
            raise AssertionError

        async def send(_message: Message) -> None:
            raise ConnectionError("gone")

        await made({"type": "http", "method": "GET", "headers": []}, receive, send)

    with pytest.raises(ConnectionError):
        asyncio.run(take())
    assert list(tmp_path.glob("gossamer-web-*")) == []


def test_one_export_is_made_at_a_time(server: Served) -> None:
    with server.context.collections.exporting:
        answer = Browser(server, token=TOKEN).get("/export?what=pages")

    assert answer.status_code == 429
    assert "another export is running" in answer.text


@pytest.mark.parametrize("query", ["what=pages&as=.gexf", "what=pages&level=site", "what=secrets"])
def test_what_cannot_be_exported_is_refused(server: Served, query: str) -> None:
    assert Browser(server, token=TOKEN).get(f"/export?{query}").status_code == 400


def test_bans_are_set_listed_and_lifted(garden: Garden, tmp_path: Path) -> None:
    shutil.copytree(garden.path, tmp_path / "garden")
    server = served(tmp_path / "garden")
    browser, program = Browser(server), Browser(server, token=TOKEN)
    csrf = browser.log_in()

    browser.post("/crawls/garden", csrf=csrf, order="ban", added="ads.example\n*/x/*")
    browser.post("/crawls/garden", csrf=csrf, order="ban", lifted="*/x/*")

    assert program.get("/api/crawls/garden/bans").json()["bans"] == ["ads.example"]
    assert "ads.example" in browser.get("/crawls/garden").text
    body = {"added": ["re:("]}
    assert program.ask("POST", "/api/crawls/garden/bans", json=body).status_code == 400
    assert Browser(server).post("/api/crawls/garden/bans", added="x.example").status_code == 401
    server.context.collections.close()


def test_the_form_takes_several_types_a_list_of_domains_and_more(server: Served) -> None:
    browser = Browser(server)
    csrf = browser.log_in()

    body = (
        f"csrf={csrf}&seeds=a.example&type=pdf&type=image&scope=list&domain_list=a.example%0Ab.example"
        "&max_matches=5&sitemaps=always&ascend=true&max_rate=1000&hours=22-6"
        "&proxy=socks5://127.0.0.1:9050"
    )
    headers = {"content-type": "application/x-www-form-urlencoded"}
    answer = browser.ask("POST", "/crawls", content=body, headers=headers)

    assert answer.status_code == 303, answer.text
    assert {
        "--type=pdf,image", "--scope=list", "--set=scope.domains=a.example,b.example",
        "--max-matches=5", "--sitemaps=always", "--ascend", "--max-rate=1000", "--hours=22-6",
        "--proxy=socks5://127.0.0.1:9050",
    } <= set(server.started[0].words)  # fmt: skip


@pytest.mark.parametrize(
    "field", ["hours=99-3", "proxy=gopher://x", "type=unheard%20of", "scope=list&domain_list=a/b"]
)
def test_a_form_with_a_fault_behind_more_says_which(server: Served, field: str) -> None:
    browser = Browser(server)
    csrf = browser.log_in()

    headers = {"content-type": "application/x-www-form-urlencoded"}
    content = f"csrf={csrf}&seeds=a.example&{field}"
    answer = browser.ask("POST", "/crawls", content=content, headers=headers)

    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert server.started == []


def test_the_tester_knows_listed_domains(server: Served) -> None:
    found = Browser(server).get(
        "/api/scope", seeds="a.example", scope="list", domain_list="b.example",
        url="https://x.b.example/\nhttps://a.example/",
    ).json()  # fmt: skip

    assert [one["is_in"] for one in found["urls"]] == [True, False]


def test_a_crawl_in_the_place_of_another_is_not_shown_what_was_there(
    garden: Garden, changed: Garden, tmp_path: Path
) -> None:
    """A list is kept for a while when its crawl grows, but not when the crawl was cleared."""
    home = tmp_path / "garden"
    shutil.copytree(garden.path, home)
    server = served(home)
    program = Browser(server, token=TOKEN)
    before = program.get("/api/top", by="backlinks").json()["pages"]
    for (
        key,
        kept,
    ) in server.context.collections.slowly._kept.items():  # as if it had taken long to make
        server.context.collections.slowly._kept[key] = replace(kept, until_s=1e9)

    program.ask("DELETE", "/api/crawls/garden", json={"confirm": "garden"})
    shutil.copytree(changed.path, home, dirs_exist_ok=True)

    after = program.get("/api/top", by="backlinks").json()["pages"]
    assert before
    assert not {one["url"] for one in before} & {one["url"] for one in after}
    server.context.collections.close()
