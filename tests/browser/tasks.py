"""What people do on the page, each task as a person would: by what can be read and clicked.

Every task waits for what a person would wait for, and fails when it does not come. They are the
same for the demo web and for a real site.
"""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from browser.a_person import WAIT_MS, Person


def start_a_crawl(person: Person, seed: str, name: str, **fields: str) -> None:
    """Fill in the form on the page of crawls; ends on the live view of the new one."""
    page = person.page
    person.open("/crawls")
    page.get_by_label("Start URLs").fill(seed)
    for summary in page.locator("#new-crawl details:not([open]) > summary").all()[::-1]:
        summary.click()
    page.get_by_label("Name", exact=True).fill(name)
    for label, value in fields.items():
        page.get_by_label(label.replace("_", " ")).first.fill(value)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page).to_have_url(re.compile(f"/crawls/{name}$"), timeout=WAIT_MS)


def fetched(person: Person) -> int:
    """What the live view says by now."""
    return int(person.page.locator("[data-figure=fetched]").inner_text().replace(",", ""))


def watch_it_grow(person: Person, *, timeout_ms: int = WAIT_MS) -> None:
    """The figures and the list of results change by themselves, without a reload."""
    page = person.page
    before = fetched(person)
    page.evaluate("window.sameDocument = true")
    page.wait_for_function(
        "before => Number(document.querySelector('[data-figure=fetched]')"
        ".textContent.replaceAll(',', '')) > before",
        arg=before,
        timeout=timeout_ms,
    )
    expect(page.locator("#outcomes tr").first).to_be_visible(timeout=timeout_ms)
    assert page.evaluate("window.sameDocument"), "the page was loaded again"


def state(person: Person) -> Locator:
    return person.page.locator("#state")


def give_order(person: Person, order: str, wanted: str, *, timeout_ms: int = WAIT_MS) -> None:
    """Click a button of the live view; ends when the view shows that it was done."""
    person.page.get_by_role("button", name=order, exact=True).click()
    expect(state(person)).to_have_text(wanted, timeout=timeout_ms)


def clear(person: Person, name: str) -> None:
    """Open the confirmation, type the name, delete; ends on the list, which has it no more."""
    page = person.page
    person.open(f"/crawls/{name}")
    page.get_by_text("Clear…").click()
    page.get_by_label("Type its name to confirm").fill(name)
    page.get_by_role("button", name="Delete permanently").click()
    expect(page).to_have_url(re.compile("/crawls$"), timeout=WAIT_MS)
    expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)


def search(person: Person, words: str, crawl: str = "") -> None:
    """Type words; the results come by themselves."""
    person.open(f"/?c={crawl}" if crawl else "/")
    box = person.page.get_by_role("searchbox")
    box.press_sequentially(words)
    expect(person.page.locator("li.hit").first).to_be_visible(timeout=WAIT_MS)


def open_copy(person: Person, hit: int = 0, *, timeout_ms: int = WAIT_MS) -> Locator:
    """Follow a hit to its cached copy; the body of what is shown in the frame."""
    link = person.page.locator("li.hit").nth(hit).get_by_role("link", name="Cached copy")
    link.click()
    body = person.page.frame_locator("iframe.copy").locator("body")
    expect(body).not_to_be_empty(timeout=timeout_ms)
    return body


def follow_a_backlink(person: Person) -> tuple[str, str]:
    """From the first hit to who links there, and on to one of them; (from, to)."""
    page = person.page
    page.locator("li.hit").first.get_by_role("link", name="Backlinks").click()
    target = page.locator("p.url a").first.inner_text()
    source = page.get_by_role("region", name="Links", exact=True).get_by_role("link").first
    leads_to = source.inner_text()
    source.click()
    expect(page.locator("p.url a").first).to_have_text(leads_to, timeout=WAIT_MS)
    page.get_by_role("link", name="Links", exact=True).click()
    expect(page.get_by_role("link", name=target, exact=True).first).to_be_visible(timeout=WAIT_MS)
    return leads_to, target
