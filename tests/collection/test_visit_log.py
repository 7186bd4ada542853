"""Visits from access logs and tables."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from gossamer.collection.visit_log import read_visits
from gossamer.errors import UsageError
from gossamer.settings import Settings, with_values

LOG = """\
192.0.2.1 - - [10/Oct/2025:13:55:36 +0200] "GET /a HTTP/1.1" 200 2326
192.0.2.1 - joe [10/Oct/2025:13:55:37 +0200] "GET /a HTTP/1.1" 304 0 "http://x/" "Mozilla/5.0"
192.0.2.2 - - [10/Oct/2025:13:55:38 +0200] "GET /%7Eb?x=1 HTTP/2.0" 200 99 "-" "Mozilla/5.0"
192.0.2.2 - - [10/Oct/2025:13:55:38 +0200] "GET /a HTTP/1.1" 200 99 "-" "Somebot/1.0"
192.0.2.2 - - [10/Oct/2025:13:55:39 +0200] "POST /a HTTP/1.1" 200 1
192.0.2.2 - - [10/Oct/2025:13:55:39 +0200] "GET /gone HTTP/1.1" 404 1
www.b.example:443 192.0.2.2 - - [10/Oct/2025:13:55:39 +0200] "GET /c HTTP/1.1" 200 1 "-" "Mozilla"
not a line
"""


def settings(path: Path | str, order: str = "visits") -> Settings:
    values = {"frontier.order": order, "frontier.visits_file": str(path)}
    return with_values(Settings(), values)


def test_an_access_log_is_counted_without_robots_and_failures(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(LOG)

    assert read_visits(settings(tmp_path / "log")) == {
        "/a": 2,
        "/%7Eb?x=1": 1,
        "//www.b.example/c": 1,
    }


def test_a_packed_table_of_urls_is_read(tmp_path: Path) -> None:
    rows = "HTTP://A.example/x#y\t3\nhttp://a.example/x\t2.5\nhttp://a.example/z\tmany\nx\t1\n"
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(rows.encode()))

    assert read_visits(settings(tmp_path / "t.tsv.gz")) == {"http://a.example/x": 5.5}


def test_a_file_without_a_visit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("hello\n")

    with pytest.raises(UsageError, match="has no visit"):
        read_visits(settings(tmp_path / "log"))
    with pytest.raises(UsageError, match="cannot read"):
        read_visits(settings(tmp_path / "none"))
    with pytest.raises(UsageError, match="--visits FILE"):
        read_visits(settings("", "0.5 visits + 0.5 best"))


def test_other_orders_read_no_file() -> None:
    assert read_visits(settings("/nowhere", "best")) == {}
