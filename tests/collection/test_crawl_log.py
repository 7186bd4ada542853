"""The lines of the crawl log about URLs that were refused when they were found."""

import json
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gossamer.collection.crawl_log import CrawlLog, _lines_of_refusals
from gossamer.frontier.frontier import Refusal
from gossamer.records import Reason
from support.rows import each_row

URL = "http://a.example/x?y=1"
AT_US = 1_767_225_600_000_042


@each_row("day", ["1970-01-01", "2000-02-29", "2026-12-31", "2100-03-01"])
def test_days_at_the_edges_of_years_are_written_as_they_are(day: str) -> None:
    at_us = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1_000_000

    (line,) = _lines_of_refusals([Refusal(URL, Reason.SCOPE, "", 0, at_us)]).splitlines()

    assert json.loads(line)["at"] == f"{day}T00:00:00Z"


@given(st.text(max_size=40), st.text(max_size=40), st.integers(0, 3))
def test_the_line_of_a_refusal_is_the_json_of_its_columns(
    url: str, detail: str, depth: int
) -> None:
    columns = {
        "at": "2026-01-01T00:00:00Z",
        "url": url,
        "outcome": "refused",
        "reason": "scope",
        "detail": detail,
        "depth": depth,
    }

    line = json.loads(_lines_of_refusals([Refusal(url, Reason.SCOPE, detail, depth, AT_US)]))

    assert line == {name: value for name, value in columns.items() if name == "url" or value}
    assert list(line) == [name for name in columns if name in line]


def test_refusals_become_one_line_each(tmp_path: Path) -> None:
    log = CrawlLog(tmp_path / "log", 0)
    log.note_refusals(
        [
            Refusal(URL, Reason.SCOPE, 'said "no"\n', 3, AT_US),
            Refusal("http://\u20ac.example/", Reason.SCOPE, "", 0, AT_US),
        ]
    )

    lines = [json.loads(line) for line in log.take().decode().splitlines()]
    log.close()

    assert [line.get("detail", line["url"]) for line in lines] == [
        'said "no"\n',
        "http://\u20ac.example/",
    ]
