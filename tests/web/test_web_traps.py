"""Verdicts about traps on the page of a crawl and in the API."""

from __future__ import annotations

import shutil
from pathlib import Path

from gossamer.base.packing import pack
from gossamer.collection.directory import CollectionPaths, open_to_write
from gossamer.frontier.meta_keys import YIELD_PREFIX
from gossamer.frontier.rows import HostRow
from gossamer.frontier.store import StateTable
from gossamer.policies.traps.grades import News
from gossamer.policies.traps.yields import HostYield
from gossamer.urls.bans import BanList
from web.a_browser import TOKEN, Browser, served
from web.conftest import Garden


def test_verdicts_about_traps_are_shown_and_withdrawn(garden: Garden, tmp_path: Path) -> None:
    shutil.copytree(garden.path, tmp_path / "garden")
    put_verdict(tmp_path / "garden")
    server = served(tmp_path / "garden")
    browser, program = Browser(server), Browser(server, token=TOKEN)
    csrf = browser.log_in()
    verdict = program.get("/api/crawls/garden/trust").json()["traps"][0]
    assert "such as a calendar" in browser.get("/crawls/garden").text

    browser.post("/crawls/garden", csrf=csrf, order="trust", added=verdict["line"])
    assert program.get("/api/crawls/garden/trust").json()["trusted"] == [verdict["line"]]
    assert "trusted</span>" in browser.get("/crawls/garden").text
    assert BanList([verdict["line"]]).find("http://garden.example:8080/calendar/2026/11/")
    assert not BanList([verdict["line"]]).find("http://garden.example/calm/")

    body = {"lifted": [verdict["line"]]}
    lifted = program.ask("POST", "/api/crawls/garden/trust", json=body)
    assert lifted.json()["trusted"] == []
    assert Browser(server).post("/api/crawls/garden/trust", added="x.example").status_code == 401
    server.context.collections.close()


def put_verdict(path: Path) -> None:
    """A host of a stored crawl has wasted requests on a calendar."""
    day = "http://garden.example/calendar/{}/1/"
    host = HostYield()
    for number in range(20):
        fresh = [day.format(number + 1)]
        host.learn(day.format(number), 0, News.STALE, fresh, had_level=True)
    store = open_to_write(CollectionPaths(path), 16)
    key = b"garden.e"
    rows = {YIELD_PREFIX + key: pack(host)}
    names = {key: HostRow(name="garden.example").encode()}
    tables: dict[StateTable, dict[bytes, bytes | None]] = {table: {} for table in StateTable}
    store.write(tables | {StateTable.META: rows, StateTable.HOST: names})
    store.close()
