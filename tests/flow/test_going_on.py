"""Stopping, pausing and going on: nothing is lost and nothing is asked twice."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from flow.outcomes import crawl, outcomes
from support.a_crawl import crawl_until
from support.a_site import Pages, Site, hang, page, redirect, site_in_thread, too_many
from support.killing import Running, finish, lines_of, started, typed, until

# One page every 10 ms or so: long enough to be stopped in the middle.
PACE = ("--delay", "0.01", "--set", "politeness.address_delay_s=0", "--set", "node.workers=0")
COUNT = 120


@pytest.fixture
def site() -> Iterator[Site]:
    links = "".join(f"<a href=/{number}>x</a>" for number in range(COUNT))
    pages: Pages = {"/": page(links), "/7": redirect("/other"), "*": page("x")}
    with site_in_thread(pages) as made:
        yield made


def stop_in_the_middle(running: Running, site: Site, after: int = 20) -> None:
    until(lambda: len(site.log) >= after, running)
    running.send_signal(signal.SIGINT)


def each_once(site: Site) -> bool:
    return len(site.asked) == len(set(site.asked)) == COUNT + 3


def test_a_stopped_crawl_is_finished_by_the_same_command(site: Site, collection: Path) -> None:
    command = ("crawl", "-c", collection, "--json", *PACE, site.url())

    with started(*command) as running:
        stop_in_the_middle(running, site)
        first = finish(running)
    asked = len(site.log)
    second = typed(*command)

    assert first.code == 11
    assert first.summary["stopped"] == "signal"
    assert first.summary["fetched"] + first.summary["redirects"] == asked - 1
    assert second.code == 0
    assert second.summary["stopped"] == "done"
    assert second.summary["fetched"] == COUNT + 1
    assert each_once(site)


def test_the_first_crawl_after_an_import_says_its_scope(tmp_path: Path, collection: Path) -> None:
    (tmp_path / "list.txt").write_text("http://127.0.0.9/listed", encoding="utf-8")
    assert typed("import", "-c", collection, tmp_path / "list.txt").code == 0
    with site_in_thread({"/": page("<a href=/a>x</a>"), "/a": page("x")}) as site:
        command = ("crawl", "-c", collection, "--scope", "page", "--max-pages", "1", site.url())
        first = typed(*command)
        second = typed(*command, "--scope", "host")

    assert (first.code, site.asked) == (0, ["/robots.txt", "/"])
    assert second.code == 2
    assert "add --change" in second.err


def test_a_finished_crawl_asks_nobody_again(collection: Path) -> None:
    with site_in_thread({"/": page("<a href=/a>x</a>"), "/a": page("x")}) as site:
        crawl(collection, [site.url()])
        asked = list(site.asked)
        again = crawl(collection, [site.url()])

    assert site.asked == asked
    assert (again.fetched, again.stopped) == (2, "done")


def test_a_new_seed_joins_a_stored_crawl(collection: Path) -> None:
    with site_in_thread({"*": page("x")}) as site:
        crawl(collection, [site.url("/a")])
        crawl(collection, [site.url("/b")])

    assert site.asked == ["/robots.txt", "/a", "/b"]


def test_the_second_signal_ends_it_by_force_and_it_can_go_on(collection: Path) -> None:
    pages: Pages = {"/": page("<a href=/h>x</a><a href=/a>x</a>"), "/h": hang(), "*": page("x")}

    with site_in_thread(pages) as site:
        with started("crawl", "-c", collection, *PACE, site.url()) as running:
            until(lambda: "/h" in site.asked, running)
            running.send_signal(signal.SIGINT)
            assert running.stderr is not None
            while "Stopping" not in running.stderr.readline():
                pass
            running.send_signal(signal.SIGINT)
            ended = finish(running)
        site.pages = {**pages, "/h": page("x")}
        second = typed("crawl", "-c", collection, "--json", *PACE, site.url())

    assert ended.code == 13
    assert second.code == 0
    assert second.summary["fetched"] == 3
    assert site.asked.count("/a") == site.asked.count("/") == 1


def test_stop_pause_and_resume_reach_a_running_crawl(site: Site, collection: Path) -> None:
    with started("crawl", "-c", collection, "--json", *PACE, site.url()) as running:
        until(lambda: len(site.log) >= 10, running)
        paused = typed("pause", "-c", collection)
        status = typed("status", "-c", collection, "--json")
        while_paused = len(site.log)
        until(lambda: site.log[-1].ended_s is not None)
        assert typed("status", "-c", collection).code == 0  # time in which it could go on
        after_pause = len(site.log)
        resumed = typed("resume", "-c", collection)
        until(lambda: len(site.log) > after_pause + 5, running)
        stopped = typed("stop", "-c", collection)
        ended = finish(running)

    assert [paused.code, resumed.code, stopped.code] == [0, 0, 0]
    assert (paused.out, paused.err) == ("", f"The crawl in {collection} is paused.\n")
    assert status.summary["state"] == "paused"
    assert after_pause <= while_paused + 1
    assert ended.code == 11
    actions = [line["act"] for line in lines_of(collection / "log" / "acts.jsonl")]
    assert actions == ["begin", "pause", "resume", "stop"]


def test_going_on_with_other_flags_says_the_difference(collection: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        crawl(collection, [site.url()], politeness__host_delay_s=0.0)
        ended = typed("crawl", "-c", collection, "--delay", "0.5", site.url())

    assert ended.code == 0
    assert "--delay is 0.5 (was 0.0)" in ended.err
    actions = lines_of(collection / "log" / "acts.jsonl")
    assert actions[-1]["changed"]["politeness.host_delay_s"] == ["0.0", "0.5"]


def test_another_scope_is_taken_when_it_is_said(collection: Path) -> None:
    pages: Pages = {"/a/": page("<a href=/b>x</a>"), "/a/new": page("<a href=/b>x</a>")}

    with site_in_thread({**pages, "/b": page("x")}) as site:
        crawl(collection, [site.url("/a/")], scope__kind="prefix")
        ended = typed(
            "crawl", "-c", collection, *PACE, "--scope", "host", "--change", site.url("/a/new")
        )

    assert ended.code == 0
    assert "--scope is 'host' (was 'prefix')" in ended.err


def test_credentials_are_not_said_when_they_change(collection: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        crawl(collection, [site.url()])
        ended = typed("crawl", "-c", collection, *PACE, "--header", "Cookie: id=secret", site.url())

    assert "--header is Cookie" in ended.err
    assert "secret" not in ended.err


def test_a_stored_contact_holds_when_going_on(collection: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        crawl(collection, [site.url()], fetch__contact="me@example.org")
        site.pages = {"*": page("x")}
        typed("crawl", "-c", collection, *PACE, site.url("/b"))

    assert "me@example.org" in site.log[-1].headers["user-agent"]


def test_a_rest_that_a_host_asked_for_outlives_the_process(collection: Path) -> None:
    pages: Pages = {"/": page("<a href=/busy>x</a><a href=/a>x</a>"), "/busy": too_many("2")}

    with site_in_thread({**pages, "*": page("x")}) as site:
        crawl_until(
            collection,
            [site.url()],
            lambda: site.was_asked(3, ago_s=0.3),
            politeness__per_host=1,
        )
        first = list(site.asked)
        crawl(collection, [site.url()], politeness__per_host=1, limits__max_pages=2)

    assert first == ["/robots.txt", "/", "/busy"]
    assert site.asked[3] == "/a"
    at = site.log[2].ended_s
    assert at is not None
    assert site.log[3].began_s - at >= 1.9


def test_nothing_known_is_lost_between_two_runs(site: Site, collection: Path) -> None:
    with started("crawl", "-c", collection, *PACE, site.url()) as running:
        stop_in_the_middle(running, site, after=30)
        finish(running)

    rows = outcomes(collection)
    assert len(rows) >= COUNT
    assert {row.outcome.value for row in rows.values()} == {"fetched", "queued"}


def test_a_deeper_depth_goes_on_where_the_first_ended(collection: Path) -> None:
    pages: Pages = {f"/{n}": page(f"<a href=/{n + 1}>x</a>") for n in range(9)}

    with site_in_thread(pages) as site:
        crawl(collection, [site.url("/0")], scope__depth=2)
        crawl(collection, [site.url("/0")], scope__depth=4)

    assert site.asked == ["/robots.txt", "/0", "/1", "/2", "/3", "/4"]
