"""Nobody is kept out: axe-core finds no serious fault on any page, however it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final, Literal

import pytest
from playwright.sync_api import Browser

from browser.a_person import Person, a_person
from browser.addresses import addresses
from browser.conftest import Demo
from gossamer.web.routes import PAGES

AXE: Final = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
# The copy in the frame is a stranger's page: its faults are not ours, and no script runs in it.
RUN: Final = """async runOnly => (await axe.run(
    {exclude: [['iframe.copy']]}, {iframes: false, resultTypes: ['violations'], runOnly},
)).violations.map(found => [found.impact, found.id, found.nodes.map(node => node.html)])"""
RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
GRAVE: Final = ("serious", "critical")
# Each scheme and each width once: what a scheme changes does not depend on the width.
SHAPES: Final[list[tuple[Literal["light", "dark"], int, int]]] = [
    ("light", 1280, 800),
    ("dark", 390, 844),
]


# An export is a file, whatever its row says.
ROWS: Final = [
    route
    for route in PAGES
    if route.method == "GET" and route.gives == "html" and route.path != "/export"
]


def every_address(demo: Demo) -> list[str]:
    url = f"{demo.root_of('museum')}/visit.html"
    found = [address for route in ROWS for address in addresses(route, "valley", url, "garden")]
    return [
        *found,
        "/",
        "/?q=xyzzy",
        "/?q=(garden",
        "/?q=garden&lang=en",
        "/nowhere",
        "/page?url=x",
    ]


@pytest.fixture
def owner(chromium: Browser, demo: Demo) -> Iterator[Person]:
    with a_person(chromium, demo.server.root) as person:
        person.log_in(demo.server.token)
        yield person


def faults(person: Person) -> list[Any]:
    """Serious and critical ones, with the markup that has them."""
    found: list[Any] = person.page.evaluate(RUN, RULES)
    return [fault for fault in found if fault[0] in GRAVE]


def test_no_page_has_a_serious_fault_in_light_or_dark_wide_or_narrow(
    owner: Person, demo: Demo
) -> None:
    found = {}
    for address in every_address(demo):
        owner.open(address)
        owner.page.evaluate(AXE)
        for scheme, width, height in SHAPES:
            owner.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            owner.page.set_viewport_size({"width": width, "height": height})
            if grave := faults(owner):
                found[address, scheme, width] = grave

    assert found == {}


def test_who_is_not_logged_in_finds_no_serious_fault_either(person: Person) -> None:
    for address in ("/", "/crawls", "/crawls/valley", "/login?ticket=x"):
        person.open(address)
        person.page.evaluate(AXE)
        assert faults(person) == [], address


def test_nothing_is_wider_than_a_phone(owner: Person, demo: Demo) -> None:
    owner.page.set_viewport_size({"width": 320, "height": 640})  # WCAG 1.4.10 asks for 320
    too_wide = []
    for address in every_address(demo):
        owner.open(address)
        if owner.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            too_wide.append(address)

    assert too_wide == []


def test_axe_sees_a_fault_that_is_there(person: Person) -> None:
    person.open("/")
    person.page.evaluate("document.querySelector('label[for=q]').remove()")
    person.page.evaluate("document.querySelector('#q').removeAttribute('placeholder')")
    person.page.evaluate(AXE)

    assert "label" in [fault[1] for fault in faults(person)]
