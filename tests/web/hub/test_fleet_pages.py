"""The pages of the fleet, over a real hub with units of the test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gossamer.fleet.protocol import JobProgress, UnitPlace, UnitReport, UrlLoop
from gossamer.web.app import build_app
from gossamer.web.hub.fleet_facts import branches, coordinates, saved_text
from gossamer.web.hub.fleet_pages import PAGES
from gossamer.web.protect.guard import Names
from support.a_hub import TestHub, a_hub, site
from web.a_browser import Browser, Served, served


@dataclass
class Fleet:
    """A hub, and somebody who looks at its pages."""

    hub: TestHub
    served: Served
    browser: Browser


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    hub = a_hub(tmp_path, long_least_s=60, lease_s=120, wait_s=15)
    plain = served(tmp_path / "c")
    context = replace(plain.context, hub=hub.hub)
    made = replace(plain, context=context, app=build_app(context, Names("127.0.0.1"), PAGES))
    yield Fleet(hub, made, Browser(made, scheme="https"))
    context.collections.close()
    hub.hub.close()


PATHS = [route.path for route in PAGES if route.method == "GET"]
WHOLE = [path for path in PATHS if path not in ("/fleet/machine", "/fleet/job")]


def test_every_page_is_shown_before_anything_has_happened(fleet: Fleet) -> None:
    for path in WHOLE:
        assert fleet.browser.get(path).status_code == 200, path


def test_the_pages_show_machines_and_jobs(fleet: Fleet) -> None:
    fleet.hub.hub.add_jobs([site("a.example"), site("b.example")])
    unit = fleet.hub.new_unit("den")
    job = unit.ask()
    unit.tell(job, fetched=7, queued=3, recent=("https://a.example/x",), pages_per_s=2.5)

    machines = fleet.browser.get("/fleet/machines").text
    assert "den" in machines
    assert "working" in machines
    assert "a.example" in machines
    assert "https://a.example/x" in fleet.browser.get("/fleet").text
    assert "b.example" in fleet.browser.get("/fleet/jobs", state="unallocated").text
    assert "a.example" not in fleet.browser.get("/fleet/jobs", state="unallocated").text
    assert "7, 3 queued" in fleet.browser.get("/fleet/job", job=job.job).text
    assert "den" in fleet.browser.get("/fleet/machine", unit=unit.row.id).text


def test_a_silent_machine_is_called_silent(fleet: Fleet) -> None:
    fleet.hub.new_unit("den")
    fleet.hub.later(1_000)

    assert 'f-silent">silent' in fleet.browser.get("/fleet/machines").text


def test_a_new_machine_gets_a_line_with_a_code_that_works(fleet: Fleet) -> None:
    csrf = fleet.browser.log_in()
    shown = fleet.browser.post("/fleet/invite", csrf=csrf).text
    line = shown.partition('<pre class="line"><code>')[2].partition("<")[0]

    assert line.startswith("gossamer unit join http")
    assert len([code for code in fleet.hub.hub.state.codes if not code.used_us]) == 1


def test_jobs_are_added_with_the_form(fleet: Fleet) -> None:
    csrf = fleet.browser.log_in()
    answer = fleet.browser.post(
        "/fleet/jobs", csrf=csrf, seeds="https://a.example/\nhttps://b.example/", max_pages="5"
    )

    assert answer.status_code == 303
    made = list(fleet.hub.hub.state.jobs)
    assert [job.name for job in made] == ["a.example", "b.example"]
    assert fleet.hub.hub.state.spec_of(made[0].id).max_pages == 5


def test_a_wrong_url_is_refused_in_the_form(fleet: Fleet) -> None:
    csrf = fleet.browser.log_in()
    answer = fleet.browser.post("/fleet/jobs", csrf=csrf, seeds="ftp://a.example/")

    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert "ftp://a.example/" in answer.text
    assert not list(fleet.hub.hub.state.jobs)


def test_a_looping_pattern_is_shown_and_banned_with_a_click(fleet: Fleet) -> None:
    fleet.hub.hub.add_jobs([site("a.example")])
    unit = fleet.hub.new_unit("den")
    job = unit.ask()
    loop = UrlLoop(pattern="https://a.example/cal/*", urls=900, fetched=800)
    unit.tell(job, fetched=900, ran_s=5_000.0, loops=(loop,))
    csrf = fleet.browser.log_in()

    shown = fleet.browser.get("/fleet/long").text
    assert "https://a.example/cal/*" in shown
    assert "Likely cause" in shown
    answer = fleet.browser.post("/fleet/bans", csrf=csrf, line="https://a.example/cal/*")
    assert answer.status_code == 303
    assert "https://a.example/cal/*" in fleet.browser.get("/fleet/bans").text
    fleet.browser.post("/fleet/bans", csrf=csrf, line="https://a.example/cal/*", lift="1")
    assert "Nothing is banned" in fleet.browser.get("/fleet/bans").text


def test_orders_reach_a_machine_with_its_next_poll(fleet: Fleet) -> None:
    unit = fleet.hub.new_unit("den")
    csrf = fleet.browser.log_in()
    fleet.browser.post("/fleet/order", csrf=csrf, unit=unit.row.id, kind="drain")

    assert [order.kind for order in unit.poll().orders] == ["drain"]
    assert "drain" in fleet.browser.get("/fleet/orders").text


def test_a_machine_is_revoked_and_its_job_given_to_another(fleet: Fleet) -> None:
    fleet.hub.hub.add_jobs([site("a.example")])
    unit, other = fleet.hub.new_unit("den"), fleet.hub.new_unit("attic")
    unit.ask()
    csrf = fleet.browser.log_in()
    fleet.browser.post("/fleet/revoke", csrf=csrf, unit=unit.row.id)

    fleet.hub.later(10)
    assert other.ask().spec.seeds == ("https://a.example/",)


def test_packages_show_what_was_saved(fleet: Fleet) -> None:
    fleet.hub.hub.add_jobs([site("a.example")])
    unit = fleet.hub.new_unit("den")
    unit.finish(unit.ask())

    assert "90 %" in fleet.browser.get("/fleet/packages").text


@pytest.mark.parametrize("path", [route.path for route in PAGES if route.method == "POST"])
def test_nothing_changes_without_a_login(fleet: Fleet, path: str) -> None:
    assert fleet.browser.post(path, line="x.example", kind="drain").status_code in (401, 403)


def test_texts_of_units_never_become_markup(fleet: Fleet) -> None:
    fleet.hub.hub.add_jobs([site("a.example")])
    unit = fleet.hub.new_unit("<img src=x>")
    evil = "<script>alert(1)</script>"
    job = unit.ask()
    loop = UrlLoop(pattern=evil, urls=1, fetched=1, example=evil)
    facts = {"recent": (evil,), "unresolved": (evil,), "loops": (loop,), "ran_s": 9_999.0}
    unit.poll(JobProgress(job=job.job, fence=job.fence, **facts), state="working", why=evil)  # type: ignore[arg-type]

    for path in WHOLE:
        shown = fleet.browser.get(path).text
        assert "<script>alert" not in shown, path
        assert "<img src=x>" not in shown, path


def test_reports_of_relays_become_a_tree_and_a_circle_ends() -> None:
    reports = (
        UnitReport(unit="r", above="top", name="relay", state="working", level=1),
        UnitReport(unit="u", above="r", name="leaf", state="idle", level=2),
        UnitReport(unit="x", above="y", name="x", state="idle", level=2),
        UnitReport(unit="y", above="x", name="y", state="idle", level=2),
    )
    found = branches("top", reports)

    assert [one["name"] for one in found] == ["relay"]
    assert [one["name"] for one in found[0]["below"]] == ["leaf"]


def test_places_and_shares_are_written_for_people() -> None:
    assert coordinates(52.5, -13.4) == "52.5° N, 13.4° W"
    assert coordinates(None, 1.0) == ""
    assert saved_text(17, 100) == "83 %"
    assert saved_text(0, 0) == "–"
    assert UnitPlace().latitude is None
