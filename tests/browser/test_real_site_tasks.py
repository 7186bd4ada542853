"""The same tasks on a real site: started in the form, watched, searched, explored, cleared."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from browser.a_person import a_person
from browser.tasks import (
    clear,
    follow_a_backlink,
    give_order,
    open_copy,
    search,
    start_a_crawl,
    watch_it_grow,
)
from support.a_server import serving as served
from support.need import need_linux
from support.sites import serving


def test_a_real_site_is_crawled_searched_and_explored(chromium: Browser, collection: Path) -> None:
    need_linux("the loopback addresses 127.0.0.0/8")
    with (
        serving("sqlite") as site,
        served(collection) as server,
        a_person(chromium, server.root) as person,
    ):
        person.log_in(server.token)
        start_a_crawl(person, site.start, "sqlite", Delay_per_host="0.02", Maximum_pages="2000")
        watch_it_grow(person)
        give_order(person, "Stop", "stored")

        search(person, "database transaction", crawl="sqlite")
        expect(person.page.locator("li.hit mark").first).to_be_visible()
        follow_a_backlink(person)
        search(person, "database", crawl="sqlite")
        body = open_copy(person)
        expect(body).to_contain_text("database")
        clear(person, "sqlite")

        assert person.strange == []
