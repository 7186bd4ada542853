"""Changes of a crawl on the page, as JSON and as feeds: they all tell the same."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from gossamer.frontier.meta_keys import FRESHNESS_KEY
from gossamer.frontier.visits.change_rows import ChangeRow
from gossamer.frontier.visits.freshness import Freshness, SiteFreshness
from gossamer.records import ChangeKind
from gossamer.web.views.freshness_view import curves_of
from gossamer.web.views.history import folded
from gossamer.web.views.timeline import timeline_of
from support.rows import each_row
from support.seen_changes import write_changes
from web.a_browser import Browser, Served, served
from web.conftest import Garden

DAY_US = 86_400_000_000
SEEN_US = 1_767_225_600_000_000  # 2026-01-01
ATOM = "{http://www.w3.org/2005/Atom}"
EVIL = '<script>alert(1)</script>"\x00\u202e'


def _rows(garden: Garden) -> list[tuple[int, str, ChangeRow]]:
    """Changes of pages of the garden, the oldest first."""
    return [
        (SEEN_US, "/roses", ChangeRow(ChangeKind.NEW, status=200)),
        (
            SEEN_US + DAY_US,
            "/roses",
            ChangeRow(ChangeKind.CHANGED, SEEN_US, 200, 200, 12, 3, 1, 0, EVIL),
        ),
        (
            SEEN_US + 2 * DAY_US,
            "/hostile",
            ChangeRow(ChangeKind.GONE, SEEN_US, 200, 404, title_before="Weeds"),
        ),
        (
            SEEN_US + 3 * DAY_US,
            "/old",
            ChangeRow(ChangeKind.MOVED, SEEN_US, 200, 301, target=garden.url("/roses")),
        ),
        (
            SEEN_US + 4 * DAY_US,
            "/roses",
            ChangeRow(ChangeKind.CHANGED, SEEN_US, 200, 200, is_noise=True),
        ),
    ]


@pytest.fixture(scope="module")
def visited(garden: Garden, tmp_path_factory: pytest.TempPathFactory) -> Garden:
    """The garden, some pages of which were visited again."""
    path = tmp_path_factory.mktemp("visited") / "garden"
    shutil.copytree(garden.path, path)
    site = SiteFreshness("127.0.0.1", 4, 0.9, 60.0, None, None, SEEN_US)
    fresh = Freshness(
        SEEN_US, "optimal", 4, 0.91, 120.0, 0.875, 90_000.0, 0.01, SEEN_US + DAY_US, 1, 2, 1,
        (1.0, 1.0, 1.0), (site,),
    )  # fmt: skip
    seen = [(at_us, garden.url(url), row) for at_us, url, row in _rows(garden)]
    write_changes(path, seen, {FRESHNESS_KEY: fresh.encode()})
    return Garden(path, garden.root)


@pytest.fixture
def browser(visited: Garden) -> Iterator[Browser]:
    made: Served = served(visited.path)
    yield Browser(made)
    made.context.collections.close()


def _kinds(browser: Browser, **given: str) -> list[str]:
    return [one["kind"] for one in browser.get("/api/changes", **given).json()["changes"]]


def test_changes_come_newest_first_with_counts_and_without_noise(browser: Browser) -> None:
    found = browser.get("/api/changes").json()

    assert [one["kind"] for one in found["changes"]] == ["moved", "gone", "changed", "new"]
    assert found["counts"] == {"new": 1, "changed": 1, "gone": 1, "back": 0, "moved": 1}
    assert (found["changes"][2]["words_added"], found["changes"][2]["words_removed"]) == (12, 3)
    assert found["next"] is None


def test_changes_are_chosen_by_kind_time_site_and_query(browser: Browser) -> None:
    assert _kinds(browser, kind="new,gone") == ["gone", "new"]
    assert _kinds(browser, since="2026-01-03") == ["moved", "gone"]
    assert _kinds(browser, until="2026-01-02") == ["changed", "new"]
    assert _kinds(browser, site="127.0.0.1", kind="new") == ["new"]
    assert _kinds(browser, site="other.test") == []
    assert _kinds(browser, q="open") == ["changed", "new"]
    assert _kinds(browser, q="nothinglikethis") == []
    assert _kinds(browser, noise="1")[0] == "changed"
    # the counts are of all kinds, whichever are shown
    found = browser.get("/api/changes", kind="new").json()
    assert found["counts"]["gone"] == 1


def test_a_long_list_continues_where_it_ended(browser: Browser) -> None:
    first = browser.get("/api/changes", limit="2").json()
    rest = browser.get("/api/changes", limit="2", until=first["next"]).json()

    assert [one["kind"] for one in first["changes"]] == ["moved", "gone"]
    assert [one["kind"] for one in rest["changes"]] == ["changed", "new"]
    assert rest["next"] is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "better"}, "it is one of new, changed, gone, back, moved"),
        ({"since": "soon"}, "is not a time"),
        ({"until": "soon"}, "is not a time"),
    ],
)
def test_a_wrong_filter_is_told(browser: Browser, given: dict[str, str], said: str) -> None:
    answer = browser.get("/api/changes", **given)
    assert answer.status_code == 400
    assert said in answer.json()["error"]

    page = browser.get("/changes", **given)
    assert page.status_code == 400
    assert "<form" in page.text


def test_the_page_shows_what_the_api_says_and_nothing_runs(browser: Browser) -> None:
    text = browser.get("/changes").text

    assert "+12" in text
    assert "−3" in text
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert 'type="application/atom+xml"' in text
    assert "view=diff" in text


def test_the_feeds_have_the_changes_of_the_api(browser: Browser) -> None:
    told = browser.get("/api/changes").json()["changes"]
    atom = browser.get("/feeds/changes.atom")
    feed = browser.get("/feeds/changes.json")

    assert atom.headers["content-type"].startswith("application/atom+xml")
    entries = ET.fromstring(atom.text).findall(f"{ATOM}entry")
    links = [entry.findall(f"{ATOM}link")[0].get("href") for entry in entries]
    assert links == [one["url"] for one in told]
    items = feed.json()["items"]
    assert feed.headers["content-type"].startswith("application/feed+json")
    assert [item["url"] for item in items] == links
    assert [item["tags"][0] for item in items] == [one["kind"] for one in told]
    assert [item["_gossamer"] for item in items] == told
    assert [item["id"] for item in items] == [entry.findtext(f"{ATOM}id") for entry in entries]
    assert "+12 -3 words, +1 link" in items[2]["content_text"]
    # not the title of the error page that is there now
    assert items[1]["title"] == "Gone: Weeds"
    assert ">Weeds<" in browser.get("/changes").text


@pytest.mark.parametrize("form", ["atom", "json"])
def test_a_feed_that_has_not_changed_is_not_sent_again(browser: Browser, form: str) -> None:
    path = f"/feeds/changes.{form}"
    tag = browser.get(path).headers["etag"]

    again = browser.ask("GET", path, headers={"If-None-Match": f'"other", W/{tag}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == tag
    other = browser.ask("GET", path, headers={"If-None-Match": '"other"'})
    assert other.status_code == 200
    assert browser.get(path, site="other.test").headers["etag"] != tag


def test_freshness_is_shown_measured_and_predicted(browser: Browser) -> None:
    found = browser.get("/api/freshness").json()
    assert found["freshness"]["measured"] == 0.875
    assert found["freshness"]["sites"][0]["host"] == "127.0.0.1"

    text = browser.get("/freshness").text
    for words in ("87.5 %", "91.0 %", "25 h 0 min", "optimal", "127.0.0.1"):
        assert words in text
    assert browser.get("/api/status").json()["freshness"]["predicted"] == 0.91


def test_a_crawl_without_second_visits_says_what_to_do(server: Served) -> None:
    browser = Browser(server)

    assert "Visit the pages again" in browser.get("/changes").text
    assert "Visit the pages again" in browser.get("/freshness").text
    assert browser.get("/api/freshness").json()["freshness"] is None
    assert ET.fromstring(browser.get("/feeds/changes.atom").text).findall(f"{ATOM}entry") == []


# -- drawings


def _visit(at_us: int, kind: str) -> dict[str, object]:
    return {"at_us": at_us, "kind": kind, "at": str(at_us)}


def test_visits_lie_on_the_axis_in_the_order_of_time() -> None:
    kinds = ["first", "same", "same", "changed", "noise", "gone"]
    drawn = timeline_of([_visit(SEEN_US + n * DAY_US, kind) for n, kind in enumerate(kinds)])

    places = {mark.visit["kind"]: mark.x for mark in drawn.marks}
    assert places["first"] < places["changed"] < places["noise"] < places["gone"]
    assert all(0 < mark.x < 100 for mark in drawn.marks)
    large = [mark.is_large for mark in drawn.marks]
    assert large == sorted(large)  # large marks are drawn over small ones
    assert sum(large) == 3
    assert drawn.ticks[0].label == "2026-01-01"
    assert len({tick.label for tick in drawn.ticks}) == len(drawn.ticks)


@each_row("count", [0, 1, 2, 1_000])
def test_any_number_of_visits_can_be_drawn(count: int) -> None:
    drawn = timeline_of([_visit(SEEN_US, "same") for _ in range(count)])

    assert len(drawn.marks) + drawn.left_out == count
    assert len(drawn.marks) <= 400


def test_visits_without_a_change_are_one_row() -> None:
    kinds = ["first", "same", "same", "same", "changed", "same"]
    rows = folded([_visit(n, kind) for n, kind in enumerate(kinds)])

    assert [(row["kind"], row["count"]) for row in rows] == [
        ("same", 1), ("changed", 1), ("same", 3), ("first", 1),
    ]  # fmt: skip
    assert (rows[2]["from"], rows[2]["at"]) == ("1", "3")


def test_curves_are_drawn_within_their_plane() -> None:
    series: dict[str, list[Any]] = {
        "at_ms": [0, 1_000, 2_000, 3_000],
        "freshness": [None, 0.95, 0.97, 1.0],
        "predicted": [None, 0.99, 0.98, None],
        "age_s": [None, None, 5.0, 10.0],
        "predicted_age_s": [None, None, None, None],
    }
    fresh, age = curves_of(series)

    lines = dict(fresh.lines)
    assert lines["measured"] == "0.00,50.00 50.00,30.00 100.00,0.00"
    assert (fresh.top, fresh.bottom) == ("100%", "90%")
    assert dict(age.lines)["measured"] == "0.00,50.00 100.00,0.00"
    assert curves_of({name: [] for name in series})[0].lines == ()


def test_the_visits_of_a_page_are_told_alike_on_the_page_and_in_json(
    browser: Browser, visited: Garden
) -> None:
    url = visited.url("/roses")
    found = browser.get("/api/versions", url=url).json()

    assert (found["total"], found["unchanged"]) == (1, 0)
    assert found["versions"][0]["kind"] == "first"
    assert "1 visit" in browser.get("/page", url=url, view="versions").text


def test_an_unknown_page_has_no_versions(browser: Browser, visited: Garden) -> None:
    assert browser.get("/api/versions", url=visited.url("/none")).status_code == 404


def test_a_folder_without_a_collection_is_told(tmp_path: Path) -> None:
    made = served(tmp_path)
    assert Browser(made).get("/changes").status_code == 404
    made.context.collections.close()
