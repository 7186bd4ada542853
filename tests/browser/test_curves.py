"""Curves in a real browser: of a finished crawl, after a reload, with values on hover."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser.a_person import Person, a_person
from browser.conftest import Demo
from gossamer.base.plots import has_plots
from gossamer.collection.directory import CollectionPaths
from gossamer.collection.history import read_history
from support.a_server import serving
from support.a_site import page, site_in_thread
from support.killing import started, until

needs_library = pytest.mark.skipif(not has_plots(), reason="the build could not reach npm")


@pytest.fixture
def on_crawl(person: Person) -> Person:
    person.open("/crawls/valley")
    return person


@needs_library
def test_a_finished_crawl_has_curves_with_axes_also_after_a_reload(on_crawl: Person) -> None:
    for _ in range(2):
        plots = on_crawl.page.locator("[data-curve] canvas")
        expect(plots).to_have_count(6)
        for place in range(6):
            box = plots.nth(place).bounding_box()
            assert box is not None
            assert box["width"] > 200
        legend = on_crawl.page.locator("[data-curve=pages] .u-legend")
        expect(legend).to_contain_text("200")
        on_crawl.page.reload()


@needs_library
def test_values_are_told_where_the_pointer_is(on_crawl: Person) -> None:
    plot = on_crawl.page.locator("[data-curve=pages] .u-over")
    legend = on_crawl.page.locator("[data-curve=pages] .u-legend")
    expect(legend).to_contain_text("200")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None

    on_crawl.page.mouse.move(box["x"] + 2, box["y"] + 20)

    expect(legend).to_contain_text(re.compile(r"Fetched\s*0\b"))
    expect(legend).to_contain_text(re.compile(r"Time\s*0(\.\d)? s \("))
    # All curves show the same moment.
    other = on_crawl.page.locator("[data-curve=errors] .u-legend")
    expect(other).to_contain_text(re.compile(r"Time\s*0(\.\d)? s \("))


@needs_library
def test_arrow_keys_read_the_values_out(on_crawl: Person) -> None:
    plot = on_crawl.page.locator("[data-curve=pages] .plot")
    expect(plot).to_have_attribute("aria-label", re.compile("Pages over time. Fetched 200 after"))

    plot.focus()
    on_crawl.page.keyboard.press("ArrowLeft")

    said = on_crawl.page.locator("[data-curve=pages] [role=status]")
    expect(said).to_have_text(re.compile(r"Fetched \d+ after [\d.]+ s"))


def test_statuses_and_depths_are_bars(on_crawl: Person, demo: Demo) -> None:
    status = demo.server.client.get("/api/status").json()

    shown = on_crawl.page.locator("#depths tbody th").all_inner_texts()
    assert shown == sorted(status["by_depth"], key=int)
    dead = on_crawl.page.locator("[data-class='4xx']").inner_text()
    assert int(dead) == status["by_class"]["4xx"]
    share = on_crawl.page.locator("tr.c2xx .share rect").bounding_box()
    assert share is not None
    assert share["width"] > 20


def test_outcome_and_status_of_a_dead_page_are_told_apart(on_crawl: Person) -> None:
    rows = on_crawl.page.locator("#outcomes tr")
    expect(rows.first).to_be_visible()
    for text in rows.all_inner_texts():
        assert not re.search(r"fetched \d", text)
    good = on_crawl.page.locator("#outcomes .badge.c2xx").first
    expect(good).to_have_text("200")


def test_a_running_crawl_goes_on_with_its_curves_and_a_killed_one_keeps_them(
    chromium: Browser, tmp_path: Path
) -> None:
    links = "".join(f"<a href=/{n}>x</a>" for n in range(400))
    collection = tmp_path / "live"
    pages = {"/": page(links), "*": page("x")}
    with site_in_thread(pages) as site, serving(tmp_path / "live") as server:
        with started("crawl", "-c", collection, "--delay", "0.1", site.url()) as running:
            until(lambda: len(read_history(CollectionPaths(collection).history)) > 8, running)
            with a_person(chromium, server.root) as person:
                person.open("/crawls/live")
                table = person.page.locator("#samples")
                if has_plots():
                    table.locator("summary").click()
                first = table.locator("tbody tr").first
                before = first.inner_text()
                expect(first).not_to_have_text(before)  # it goes on by itself
                assert person.strange == []
            running.kill()
            running.wait()
        with a_person(chromium, server.root) as person:
            person.open("/crawls/live")
            if has_plots():
                expect(person.page.locator("[data-curve=pages] canvas")).to_be_visible()
            assert person.page.locator("#samples tbody tr").count() > 2
            assert person.strange == []
