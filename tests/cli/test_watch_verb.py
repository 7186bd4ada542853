"""`gossamer watch` as it is typed."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from support.a_site import Answer, page, site_in_thread
from support.killing import finish, started, typed, until


def test_the_command_visits_a_site_until_its_time_is_over(tmp_path: Path) -> None:
    with site_in_thread({"/": page("<title>x</title>words")}) as site:
        ended = typed(
            "watch", site.url(), "-c", tmp_path / "c", "--every", "1s", "--delay", "0",
            "--max-time", "5",
        )  # fmt: skip

    assert ended.code == 0, ended.err
    assert "/" in site.asked


def test_each_change_is_one_json_line_and_ctrl_c_ends_it_cleanly(tmp_path: Path) -> None:
    versions = [page("<title>x</title>old words"), page("<title>x</title>quite other text")]
    pages: dict[str, Answer] = {"/": page("<a href=/a>a</a>"), "/a": versions}
    with (
        site_in_thread(pages) as site,
        started(
            "watch", site.url(), "-c", tmp_path / "c", "--every", "1s", "--delay", "0", "--json"
        ) as running,
    ):
        until(lambda: site.asked.count("/a") >= 4)
        running.send_signal(signal.SIGINT)
        ended = finish(running)
        url = site.url("/a")

    assert ended.code == 11, ended.err
    told = [json.loads(line) for line in ended.out.splitlines()]
    assert [(one["kind"], one["url"]) for one in told] == [("changed", url)]
    assert told[0]["schema"] == 1
    assert told[0]["words_added"] == 3
    assert "1 change seen" in ended.err


def test_a_duration_that_is_none_is_refused_with_an_example(tmp_path: Path) -> None:
    ended = typed("watch", "http://127.0.0.1:9/", "-c", tmp_path / "c", "--every", "often")

    assert ended.code == 2
    assert "'often' is not a duration; expected" in ended.err
    assert not (tmp_path / "c").exists()


def test_once_visits_each_page_once_and_prints_the_changes(tmp_path: Path) -> None:
    versions = [page("<title>x</title>old words"), page("<title>x</title>quite other text")]
    pages: dict[str, Answer] = {"/": page("<a href=/a>a</a>"), "/a": versions}
    command = ("-c", tmp_path / "c", "--once", "--delay", "0")
    with site_in_thread(pages) as site:
        first = typed("watch", site.url(), *command)
        asked = len(site.asked)
        second = typed("watch", *command)
        third = typed("watch", *command)
        url = site.url("/a")

    assert (first.code, second.code, third.code) == (0, 0, 0)
    assert first.out == third.out == ""
    assert asked == 3  # robots.txt and two pages
    assert site.asked.count("/a") == 3
    (line,) = second.out.splitlines()
    assert line.split()[1:] == ["changed", "+3", "-2", "words", url]


def test_a_host_that_does_not_answer_is_named_with_the_reason(tmp_path: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        url = site.url()

    ended = typed("watch", url, "-c", tmp_path / "c", "--delay", "0", "--max-time", "1")

    assert ended.code == 3
    assert "Nothing was fetched. " in ended.err
    assert "Changes are printed" not in ended.err
