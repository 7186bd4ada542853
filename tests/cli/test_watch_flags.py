"""`gossamer watch`: what its flags mean for the crawl."""

from __future__ import annotations

from typing import Any

import pytest

from gossamer.cli.run.change_lines import change_line
from gossamer.cli.run.start_watch import crawl_values
from gossamer.errors import UsageError
from gossamer.reader.changes import SeenChange
from gossamer.records import ChangeKind
from support.rows import each_row

GIVEN: dict[str, Any] = {"seeds": ["https://example.org/"], "every": "auto", "set_": None}


def test_every_duration_is_a_uniform_policy_with_that_interval() -> None:
    values = crawl_values({**GIVEN, "every": "1h"})

    assert values["set_"] == [
        "refresh.policy=uniform", "refresh.min_interval_s=3600.0", "refresh.lists_every_s=3600.0",
    ]  # fmt: skip
    assert values["seeds"] == ["https://example.org/"]
    assert values["no_index"] is False


def test_auto_is_the_optimal_policy_whatever_was_stored() -> None:
    values = crawl_values({**GIVEN, "set_": ["node.graph=false"]})

    assert values["set_"] == [
        "refresh.policy=optimal", "refresh.min_interval_s=300.0", "refresh.lists_every_s=3600.0",
        "node.graph=false",
    ]  # fmt: skip


@each_row("every", ["", "1", "often", "-1h"])
def test_what_is_no_duration_is_refused(every: str) -> None:
    with pytest.raises(UsageError, match=r"--every .*: .* is not a duration; .* or auto"):
        crawl_values({**GIVEN, "every": every})


URL = "https://example.org/a"


@each_row(
    ("change", "line"),
    [
        (SeenChange(URL, 0, ChangeKind.CHANGED, words_added=12, words_removed=3, status=200,
                    status_before=200), "changed  +12 -3 words    "),
        (SeenChange(URL, 0, ChangeKind.CHANGED, title_before="x", links_added=1, status=200,
                    status_before=500), "changed  +1 -0 links, new title, status 500 -> 200  "),
        (SeenChange(URL, 0, ChangeKind.NEW, title="Hello"), "new      Hello           "),
        (SeenChange(URL, 0, ChangeKind.GONE, status=410), "gone     410             "),
        (SeenChange(URL, 0, ChangeKind.MOVED, target="https://example.org/b"),
         "moved    to https://example.org/b  "),
    ],
)  # fmt: skip
def test_a_change_is_one_line(change: SeenChange, line: str) -> None:
    assert change_line(change) == f"1970-01-01T00:00:00Z  {line}{URL}"


def test_a_title_cannot_change_the_terminal() -> None:
    change = SeenChange(URL, 0, ChangeKind.NEW, title="a\x1b[31m\nb")

    assert "\x1b" not in change_line(change)
    assert "\n" not in change_line(change)
