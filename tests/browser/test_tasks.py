"""People at a browser do what the page is for, on a real crawl of the demo web."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Error, Route, expect

from browser.a_person import Person, a_person
from browser.conftest import Demo
from browser.tasks import (
    clear,
    follow_a_backlink,
    give_order,
    open_copy,
    search,
    start_a_crawl,
    state,
    watch_it_grow,
)


def test_a_crawl_is_started_watched_paused_resumed_stopped_searched_and_cleared(
    person: Person, demo: Demo
) -> None:
    person.log_in(demo.server.token)
    seed = demo.root_of("museum")

    start_a_crawl(person, seed, "rooms", Delay_per_host="1", Maximum_pages="400")
    watch_it_grow(person)
    give_order(person, "Pause", "paused")
    give_order(person, "Resume", "running")
    watch_it_grow(person)
    give_order(person, "Stop", "stored")
    search(person, "museum", crawl="rooms")
    clear(person, "rooms")


@pytest.mark.parametrize(("status", "says"), [(None, "does not respond"), (429, "refused")])
def test_who_watches_is_told_when_the_figures_stand_still(
    person: Person, status: int | None, says: str
) -> None:
    def lose(route: Route) -> None:
        route.fulfill(status=status) if status else route.abort()

    person.page.route("**/api/events*", lose)
    person.open("/crawls/valley")

    expect(person.page.locator("#line")).to_contain_text(says)
    person.page.unroute("**/api/events*")
    if not status:  # a browser that was refused does not ask again
        expect(person.page.locator("#line")).to_contain_text("200 fetched")


def test_clearing_needs_the_name(person: Person, demo: Demo) -> None:
    person.log_in(demo.server.token)
    page = person.page
    person.open("/crawls/valley")

    page.get_by_text("Clear…").click()
    page.get_by_label("Type its name to confirm").fill("valle")
    page.get_by_role("button", name="Delete permanently").click()

    expect(page.locator("input:invalid")).to_have_count(1)
    assert demo.server.client.get("/api/status").json()["fetched"] == 200


def test_the_tester_says_in_or_out_while_one_types(person: Person, demo: Demo) -> None:
    person.log_in(demo.server.token)
    page = person.page
    person.open("/crawls")

    page.get_by_label("Start URLs").fill(demo.root_of("museum"))
    page.get_by_label("URLs to test").fill(f"{demo.root_of('museum')}/x\nhttp://else.example/")

    verdicts = page.locator("#verdicts li")
    expect(verdicts).to_have_count(2)
    expect(verdicts.nth(0)).to_contain_text("In scope: ")
    expect(verdicts.nth(1)).to_contain_text("Out of scope: ")


def test_the_printed_link_logs_in_once_and_one_can_leave(person: Person, demo: Demo) -> None:
    page = person.page
    page.goto(demo.server.link)
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("link", name="Log in", exact=True)).to_be_visible()

    page.goto(demo.server.link)

    expect(page.get_by_role("alert")).to_contain_text("works only once")


def test_a_wrong_token_is_told_and_the_right_one_leads_back(person: Person, demo: Demo) -> None:
    page = person.page
    person.open("/crawls")
    page.locator("#new").get_by_role("link", name="Log in", exact=True).click()

    page.get_by_label("Token").fill("a guess")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("Wrong token")
    page.get_by_label("Token").fill(demo.server.token)
    page.get_by_role("button", name="Log in").click()

    expect(page).to_have_url(f"{person.root}/crawls")
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()


def test_results_come_while_one_types_and_keys_walk_through_them(person: Person) -> None:
    search(person, "garden")
    page = person.page

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    second = page.locator("li.hit a.title").nth(1)
    expect(second).to_be_focused()
    page.keyboard.press("Escape")

    expect(page.get_by_role("searchbox")).to_be_focused()
    expect(page).to_have_url(f"{person.root}/?q=garden")


def test_filters_narrow_the_results(person: Person, demo: Demo) -> None:
    search(person, "der")
    page = person.page

    page.get_by_text("Filters").first.click()
    page.get_by_label("Language").fill("de")
    page.get_by_label("Language").press("Tab")

    expect(page).to_have_url(re.compile("lang=de"))
    expect(page.locator("li.hit").first).to_be_visible()
    urls = page.locator("li.hit p.url").all_inner_texts()
    assert urls
    assert all(url.startswith(demo.root_of("stadt")) for url in urls)


def test_a_search_that_finds_nothing_or_is_no_syntax_helps(person: Person) -> None:
    person.open("/")
    box = person.page.get_by_role("searchbox")

    box.fill("gardn")
    expect(person.page.locator("#results")).to_contain_text("Did you mean")
    box.fill("(garden")

    expect(person.page.locator("#read-as")).to_be_visible()
    expect(person.page.locator("li.hit").first).to_be_visible()


def test_a_cached_copy_is_shown_and_its_links_lead_to_copies(person: Person, demo: Demo) -> None:
    search(person, "title:visit site:museum.localhost")

    body = open_copy(person)
    expect(body).to_contain_text("The ferry stops at the foot of the garden")
    body.get_by_role("link", name="Rooms").first.click()

    expect(body).to_contain_text("Open every day but Monday")
    assert person.page.frames[1].url.startswith(f"{person.root}/cached?url=")
    expect(person.page.locator("iframe.copy")).to_have_attribute("sandbox", "")


def test_a_backlink_is_followed_there_and_back(person: Person) -> None:
    search(person, "visit")

    source, target = follow_a_backlink(person)

    assert source != target


def test_the_story_of_a_refused_url_names_the_rule(person: Person, demo: Demo) -> None:
    person.open(f"/page?url={demo.root_of('museum')}/visit.html&view=out")

    person.page.get_by_role("link", name=f"{demo.root_of('museum')}/staff/rota.html").click()

    story = person.page.locator(".story")
    expect(story).to_contain_text("robots.txt")
    expect(story).to_contain_text("/staff/")


def test_every_side_of_a_page_is_a_click_away(person: Person, demo: Demo) -> None:
    person.open(f"/page?url={demo.root_of('museum')}/visit.html")
    tabs = person.page.get_by_role("navigation", name="Views of this page")

    for name in tabs.locator("a[href^='/page?']").all_inner_texts():
        tabs.get_by_role("link", name=name, exact=True).click()
        expect(tabs.locator("[aria-current=page]")).to_have_text(name)
    tabs.get_by_role("link", name="Link graph").click()
    expect(person.page.get_by_role("heading", level=1)).to_be_visible()


def broken_answer(route: Route) -> None:
    route.fulfill(status=500, body="")


def deaf_answer(route: Route) -> None:
    """Says that it was done, and does nothing."""
    if route.request.method == "POST":
        route.fulfill(status=200, content_type="text/html", body="<p id=state>running</p>")
    else:
        route.continue_()


def test_the_tasks_fail_when_the_thing_is_broken(chromium: Browser, demo: Demo) -> None:
    """The three that prove most: watching, the copy, and an order."""
    with a_person(chromium, demo.server.root) as person:
        person.page.route("**/static/live.js", broken_answer)
        person.page.route("**/cached?*", broken_answer)
        person.log_in(demo.server.token)
        start_a_crawl(person, demo.root_of("news"), "broken", Delay_per_host="1")
        with pytest.raises(Error):
            watch_it_grow(person, timeout_ms=1_500)
        person.page.unroute("**/static/live.js")
        person.open("/crawls/broken")
        watch_it_grow(person)
        person.page.route("**/crawls/broken", deaf_answer)
        with pytest.raises(AssertionError):
            give_order(person, "Stop", "stored", timeout_ms=1_500)
        person.page.unroute("**/crawls/broken")
        person.open("/crawls/broken")
        expect(state(person)).to_have_text("running")
        give_order(person, "Stop", "stored")
        search(person, "visit")
        with pytest.raises(AssertionError):
            open_copy(person, timeout_ms=1_500)
        clear(person, "broken")
