"""Changes are read by time or in order of commits, in pieces, with the filters that people use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.collection.directory import CollectionPaths, open_to_write
from gossamer.frontier.rows import Standing, UrlRow
from gossamer.frontier.store import StateTable
from gossamer.frontier.visits.change_rows import (
    ChangeRow,
    ChangesBegun,
    change_key,
    numbered_key,
)
from gossamer.reader import changes as reading
from gossamer.reader.changes import ChangesWanted, changes, changes_after, last_number
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import ChangeKind
from support.a_crawl import crawl
from support.a_site import page, site_in_thread

SECOND = 1_000_000
HOSTS = ("a.example", "www.a.example", "b.example")
KINDS = tuple(ChangeKind)
COUNT = 50


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with 50 changes, one a second; every fifth is noise."""
    path = tmp_path_factory.mktemp("changes") / "one"
    with site_in_thread({"/": page("x")}) as site:
        crawl(path, [site.url()])
    with CollectionReader.open(path) as reader:
        keys = reader.keys
    store = open_to_write(CollectionPaths(path), 16)
    urls, rows, numbers = {}, {}, {}
    for number in range(1, COUNT + 1):
        url = f"http://{HOSTS[number % 3]}/{number % 7}"
        urls[keys.of(url)] = UrlRow(Standing.FETCHED, 1, url, title=f"t{number % 7}").encode()
        at = change_key(number * SECOND, keys.of(url))
        row = ChangeRow(KINDS[number % len(KINDS)], status=200, is_noise=number % 5 == 0)
        rows[at], numbers[numbered_key(COUNT + 1 - number)] = row.encode(), at
    store.write({StateTable.URL: urls, StateTable.CHANGE: rows, StateTable.META: numbers})
    store.write({StateTable.META: {b"changes": ChangesBegun(1, COUNT).encode()}})
    store.close()
    return path


@pytest.fixture
def reader(collection: Path) -> Iterator[CollectionReader]:
    with CollectionReader.open(collection) as reader:
        yield reader


@pytest.fixture(params=[3, 1000])
def piece(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(reading, "_PIECE", request.param)
    return int(request.param)


def seconds(reader: CollectionReader, limit: int = 0, **wanted: object) -> list[int]:
    found = changes(reader, ChangesWanted(**wanted), limit)  # type: ignore[arg-type]
    return [change.at_us // SECOND for change in found]


ALL = [number for number in range(1, COUNT + 1) if number % 5]


@pytest.mark.usefixtures("piece")
def test_the_newest_change_comes_first(reader: CollectionReader) -> None:
    assert seconds(reader) == ALL[::-1]
    assert seconds(reader, 7) == ALL[::-1][:7]


@pytest.mark.usefixtures("piece")
def test_the_oldest_change_comes_first_on_request(reader: CollectionReader) -> None:
    assert seconds(reader, is_newest_first=False) == ALL


@pytest.mark.usefixtures("piece")
def test_noise_is_shown_on_request(reader: CollectionReader) -> None:
    assert seconds(reader, with_noise=True) == list(range(COUNT, 0, -1))


@pytest.mark.usefixtures("piece")
def test_a_time_bounds_the_changes_on_both_sides(reader: CollectionReader) -> None:
    found = seconds(reader, since_us=11 * SECOND, until_us=14 * SECOND)

    assert found == [13, 12, 11]


@pytest.mark.usefixtures("piece")
def test_a_site_includes_its_subdomains(reader: CollectionReader) -> None:
    assert seconds(reader, site="a.example") == [n for n in ALL[::-1] if n % 3 != 2]
    assert seconds(reader, site="www.a.example") == [n for n in ALL[::-1] if n % 3 == 1]


def test_kinds_are_chosen(reader: CollectionReader) -> None:
    wanted = ChangesWanted(kinds=("gone",), with_noise=True)

    assert {change.kind for change in changes(reader, wanted)} == {ChangeKind.GONE}


def test_each_change_has_the_title_of_its_page(reader: CollectionReader) -> None:
    first = next(changes(reader))

    assert first.title == f"t{first.url[-1]}"
    assert first.as_json()["at"] == "1970-01-01T00:00:49Z"


def test_changes_in_order_of_commits_leave_none_out(reader: CollectionReader) -> None:
    first = changes_after(reader, 0, 30)
    rest = changes_after(reader, first[-1].number, 30)

    assert last_number(reader) == COUNT
    assert [change.number for change in (*first, *rest)] == list(range(1, COUNT + 1))
    assert first[0].at_us == COUNT * SECOND
    assert changes_after(reader, COUNT) == []
