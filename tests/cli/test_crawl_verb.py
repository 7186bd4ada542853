"""`gossamer crawl` as people use it: what it prints where, and how it ends."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from flow.outcomes import outcomes
from support.a_site import Pages, page, redirect, site_in_thread
from support.killing import typed

SMALL: Pages = {
    "/": page('<title>Home</title><a href="/a">a</a><a href="/to">b</a>'),
    "/to": redirect("/b"),
    "*": page("x"),
}
QUICK = ("--delay", "0", "--workers", "0")


def test_data_goes_to_stdout_and_talk_to_stderr(collection: Path) -> None:
    with site_in_thread(SMALL) as site:
        ended = typed("crawl", "-c", collection, *QUICK, "--json", site.url())

    assert ended.code == 0
    assert len(ended.out.splitlines()) == 1
    assert ended.summary["schema"] == 1
    assert "New collection" in ended.err
    assert "Done: 3 pages fetched" in ended.err


def test_the_summary_has_what_scripts_hold_on_to(collection: Path) -> None:
    with site_in_thread(SMALL) as site:
        found = typed("crawl", "-c", collection, *QUICK, "--json", site.url()).summary

    names = (
        "fetched failed refused unchanged duplicates known queued bytes links indexed wall_s "
        "cpu_s peak_rss_mb stopped"
    )
    assert set(names.split()) <= set(found)
    assert (found["fetched"], found["redirects"], found["stopped"]) == (3, 1, "done")
    assert found["known"] == 4


def test_without_json_nothing_goes_to_stdout(collection: Path) -> None:
    with site_in_thread(SMALL) as site:
        ended = typed("crawl", "-c", collection, *QUICK, site.url())

    assert ended.out == ""
    assert "gossamer export pages" in ended.err


def test_a_limit_that_is_reached_is_a_good_end(collection: Path) -> None:
    with site_in_thread(SMALL) as site:
        ended = typed("crawl", "-c", collection, *QUICK, "--max-pages", "1", "--json", site.url())

    assert (ended.code, ended.summary["stopped"]) == (0, "max-pages")


def test_a_crawl_that_goes_on_tells_what_it_did_itself(collection: Path) -> None:
    with site_in_thread(SMALL) as site:
        typed("crawl", "-c", collection, *QUICK, "--max-pages", "1", site.url())
        more = typed("crawl", "-c", collection, *QUICK, "--max-pages", "3")
        none = typed("crawl", "-c", collection, *QUICK, "--max-pages", "3")

    assert "reached.\n2 pages fetched in " in more.err
    assert "in the collection: 3 pages fetched" in more.err
    assert "\n0 pages fetched in " in none.err
    assert " 0.0 pages/s" in none.err


def test_nothing_fetched_says_why(collection: Path) -> None:
    pages: Pages = {"/robots.txt": page("User-agent: *\nDisallow: /")}

    with site_in_thread(pages) as site:
        ended = typed("crawl", "-c", collection, *QUICK, "--json", site.url())

    assert ended.code == 3
    assert ended.summary["by_reason"] == {"robots": 1}
    assert "Disallow: /" in ended.err


def test_seeds_come_from_the_line_from_files_and_from_stdin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site_in_thread({"*": page("x")}) as site:
        (tmp_path / "seeds.txt").write_text(f"# mine\n{site.url('/b')}\n\n  {site.url('/c')}  \n")
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{site.url('/d')}\n"))
        seeds = ("-f", tmp_path / "seeds.txt", site.url("/a"), "-")
        ended = typed("crawl", "-c", tmp_path / "study", *QUICK, *seeds)

    assert ended.code == 0
    assert sorted(site.asked) == ["/a", "/b", "/c", "/d", "/robots.txt"]


def test_flags_win_over_variables_over_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gossamer.toml").write_text(
        "[limits]\nmax_pages = 3\n[scope]\ndepth = 5\n[politeness]\nhost_delay_s = 0\n"
    )
    monkeypatch.setenv("GOSSAMER_LIMITS_MAX_PAGES", "2")
    monkeypatch.setenv("GOSSAMER_SCOPE_DEPTH", "4")

    typed_settings = typed("config", "show", "-c", "study", "--json").out
    shown = json.loads(typed_settings)["settings"]
    with site_in_thread(SMALL) as site:
        ended = typed("crawl", "-c", "study", "--workers", "0", "--max-pages", "1", site.url())

    assert shown["scope.depth"] == {"value": 4, "origin": "GOSSAMER_SCOPE_DEPTH"}
    assert shown["politeness.host_delay_s"]["value"] == 0
    assert ended.code == 0
    assert site.asked == ["/robots.txt", "/"]


def test_the_collection_is_named_by_flag_by_variable_or_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with site_in_thread({"/": page("x")}) as site:
        typed("crawl", *QUICK, site.url())
        monkeypatch.setenv("GOSSAMER_COLLECTION", "named")
        typed("crawl", *QUICK, site.url())
        typed("crawl", "-c", "flagged", *QUICK, site.url())

    for name in ("gossamer", "named", "flagged"):
        assert len(outcomes(tmp_path / name)) == 1


def test_patterns_and_bans_leave_urls_out(tmp_path: Path) -> None:
    names = ("a.html", "b.html", "c.txt", "bad.html")
    links = "".join(f"<a href=/{name}>x</a>" for name in names)
    (tmp_path / "ban.txt").write_text("*/bad.html\n")

    with site_in_thread({"/": page(links), "*": page("x")}) as site:
        rules = ("--exclude", "*.txt", "--exclude", "*/b.*", "--ban", tmp_path / "ban.txt")
        typed("crawl", "-c", tmp_path / "study", *QUICK, *rules, site.url())

    reasons = {url.rpartition("/")[2]: r.reason for url, r in outcomes(tmp_path / "study").items()}
    assert reasons == {
        "": "",
        "a.html": "",
        "b.html": "scope",
        "c.txt": "scope",
        "bad.html": "banned",
    }


def test_types_are_asked_for_and_taken(collection: Path) -> None:
    pages: Pages = {
        "/": page('<a href=/a.pdf>x</a><img src="/b.png">'),
        "/a.pdf": page(b"%PDF-", headers={"content-type": "application/pdf"}),
        "/b.png": page(b"\x89PNG", headers={"content-type": "image/png"}),
    }

    with site_in_thread(pages) as site:
        typed("crawl", "-c", collection, *QUICK, "--type", "html,image", site.url())

    found = {
        url.rpartition("/")[2]: (r.status, r.reason) for url, r in outcomes(collection).items()
    }
    assert found == {"": (200, ""), "a.pdf": (200, "type"), "b.png": (200, "")}
    assert "image/*" in site.log[-1].headers["accept"]
