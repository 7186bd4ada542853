"""A takedown outlives damage: what was forgotten is kept twice, and in doubt nobody is asked."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.collection.forgotten import note_allowed, read_forgotten
from gossamer.collection.forgotten_list import (
    ALLOW,
    FORGET,
    Decision,
    ForgottenList,
    read_list,
    write_list,
)
from gossamer.errors import CorruptFile, StoreError
from gossamer.upkeep.backup import backup
from gossamer.upkeep.forget import allow, forget
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from gossamer.urls.forgotten import Breadth, Named
from support.a_crawl import crawl
from support.a_site import Site, page, site_in_thread
from support.killing import typed

PAGES = {
    "/": page("<a href=/gone>gone</a> <a href=/b>b</a>"),
    "/gone": page("secret words"),
    "/b": page("<a href=/gone>gone</a> <a href=/c>c</a>"),
    "/c": page("other words"),
}
LOG, ARCHIVE, ACTS = "log/forgotten.json", "archive/forgotten.json", "log/acts.jsonl"


@pytest.fixture(scope="module")
def served() -> Iterator[Site]:
    with site_in_thread(PAGES) as site:
        yield site


@pytest.fixture
def site(served: Site) -> Site:
    """The site, which nobody has asked yet."""
    served.log.clear()
    return served


@pytest.fixture(scope="module")
def forgotten_once(served: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("twice") / "collection"
    crawl(folder, [served.url()])
    forget(CollectionPaths(folder), [served.url("/gone")], SystemClock(), lambda _: None)
    return folder


@pytest.fixture
def taken_down(forgotten_once: Path, site: Site, collection: Path) -> Path:
    """A collection of the test's own from which /gone was forgotten."""
    shutil.copytree(forgotten_once, collection)
    site.log.clear()
    return collection


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 0x01
    path.write_bytes(data)


def flip_digest(path: Path) -> None:
    """In acts.jsonl: a byte that leaves a line of JSON, which names something else then."""
    at = path.read_bytes().index(b'"digests": ["') + 20
    data = bytearray(path.read_bytes())
    data[at] = ord("0") if data[at] != ord("0") else ord("1")
    path.write_bytes(data)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def flip_middle(path: Path) -> None:
    flip(path, path.stat().st_size // 2)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "lost": Path.unlink,
    "emptied": empty,
    "cut": cut,
    "flipped": flip_middle,
}


def problems(path: Path) -> list[str]:
    return [f"{one.where}: {one.what}; {one.todo}" for one in verify(CollectionPaths(path))]


def accept_what_is_left(path: Path) -> None:
    """The command that `verify` names for a damaged audit log."""
    rebuild(CollectionPaths(path), "archive", SystemClock(), lambda _: None)


def remade(path: Path) -> None:
    rebuild(CollectionPaths(path), "all", SystemClock(), lambda _: None)


@pytest.mark.parametrize("how", [*DAMAGE, "another digest"])
@pytest.mark.parametrize("remakes", [False, True])
def test_damage_in_the_acts_does_not_undo_a_takedown(
    site: Site, taken_down: Path, how: str, remakes: bool
) -> None:
    (DAMAGE | {"another digest": flip_digest})[how](taken_down / ACTS)
    told = problems(taken_down)
    assert told
    assert all(ACTS in line for line in told)

    if remakes:
        remade(taken_down)
    crawl(taken_down, [site.url("/gone"), site.url("/new")])

    assert "/gone" not in site.asked
    assert "/new" in site.asked
    assert all(ACTS in line and "rebuild archive" in line for line in problems(taken_down))
    accept_what_is_left(taken_down)
    assert problems(taken_down) == []


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("which", [LOG, ARCHIVE])
def test_a_damaged_copy_is_told_and_made_from_the_other(
    site: Site, taken_down: Path, which: str, how: str
) -> None:
    DAMAGE[how](taken_down / which)
    empty(taken_down / ACTS)  # worse still
    told = problems(taken_down)
    assert all(which in line or ACTS in line for line in told)
    assert {name for name in (which, ACTS) for line in told if name in line} == {which, ACTS}

    crawl(taken_down, [site.url("/gone")])

    assert "/gone" not in site.asked
    accept_what_is_left(taken_down)
    assert problems(taken_down) == []
    assert (taken_down / LOG).read_bytes() == (taken_down / ARCHIVE).read_bytes()


@pytest.mark.parametrize("first", ["emptied", "lost"])
def test_where_nobody_can_tell_what_was_forgotten_nobody_is_asked(
    site: Site, taken_down: Path, first: str
) -> None:
    DAMAGE[first](taken_down / LOG)
    flip_middle(taken_down / ARCHIVE)
    before = {p: p.read_bytes() for p in taken_down.rglob("*.sst")}

    for act in (
        lambda: crawl(taken_down, [site.url("/new")]),
        lambda: remade(taken_down),
        lambda: forget(
            CollectionPaths(taken_down), [site.url("/b")], SystemClock(), lambda _: None
        ),
        lambda: allow(CollectionPaths(taken_down), [site.url("/gone")], SystemClock()),
    ):
        with pytest.raises(StoreError, match="no page may be requested; restore"):
            act()

    assert site.asked == []
    [told] = problems(taken_down)
    assert "damaged" in told
    assert "from a backup" in told
    assert {p: p.read_bytes() for p in before} == before


def test_the_refusal_is_one_sentence_on_the_command_line(site: Site, taken_down: Path) -> None:
    for name in (LOG, ARCHIVE):
        flip_middle(taken_down / name)

    ended = typed("crawl", site.url(), "-c", taken_down)

    assert ended.code == 1
    assert len(ended.err.strip().splitlines()) == 1
    assert "delete both to use that file instead" in ended.err


def test_the_way_out_that_is_told_is_one(site: Site, taken_down: Path) -> None:
    for name in (LOG, ARCHIVE):
        flip_middle(taken_down / name)
        (taken_down / name).unlink()

    crawl(taken_down, [site.url("/gone")])

    assert "/gone" not in site.asked
    assert problems(taken_down) == []


def test_a_collection_of_an_older_release_gets_both_copies_at_the_next_writing(
    site: Site, taken_down: Path
) -> None:
    for name in (LOG, ARCHIVE):
        (taken_down / name).unlink()
    assert problems(taken_down) == []
    assert read_forgotten(CollectionPaths(taken_down).takedowns)

    crawl(taken_down, [site.url("/new")])
    (taken_down / ACTS).unlink()
    crawl(taken_down, [site.url("/gone")])

    assert "/gone" not in site.asked


def test_nothing_is_written_where_nothing_was_forgotten(site: Site, collection: Path) -> None:
    crawl(collection, [site.url()])

    assert not (collection / LOG).exists()
    assert not (collection / ARCHIVE).exists()


def test_a_whole_folder_may_be_lost(site: Site, taken_down: Path) -> None:
    shutil.rmtree(taken_down / "log")

    crawl(taken_down, [site.url("/gone")])

    assert "/gone" not in site.asked


def test_what_was_allowed_again_stays_allowed_when_the_act_is_lost(
    site: Site, taken_down: Path
) -> None:
    files, url = CollectionPaths(taken_down).takedowns, site.url("/gone")
    note_allowed(files, 4_000_000_000_000_000, [Named(Breadth.URL, url)])
    actions = files.actions.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in actions if json.loads(line)["act"] != ALLOW]
    files.actions.write_text("".join(kept), encoding="utf-8")
    assert len(kept) == len(actions) - 1

    crawl(taken_down, [url])

    assert "/gone" in site.asked
    assert problems(taken_down) == []


def test_a_copy_of_the_collection_has_both(site: Site, taken_down: Path, tmp_path: Path) -> None:
    backup(CollectionPaths(taken_down), tmp_path / "copy")
    (tmp_path / "copy" / ACTS).unlink()

    crawl(tmp_path / "copy", [site.url("/gone")])

    assert "/gone" not in site.asked


def test_a_second_takedown_keeps_the_first(site: Site, taken_down: Path) -> None:
    forget(CollectionPaths(taken_down), [site.url("/c")], SystemClock(), lambda _: None)
    (taken_down / ACTS).unlink()

    crawl(taken_down, [site.url("/gone"), site.url("/c"), site.url("/new")])

    assert "/gone" not in site.asked
    assert "/c" not in site.asked
    assert "/new" in site.asked


@given(at=st.integers(0, 400), bit=st.integers(0, 7))
def test_every_flipped_bit_of_a_copy_is_found(
    at: int, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "list.json"
    whole = ForgottenList(7, {"ab" * 16: Decision(FORGET, "2026-01-31T12:00:00Z")})
    write_list(path, whole)
    assert read_list(path) == whole
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 1 << bit
    path.write_bytes(data)

    with suppress(CorruptFile):
        assert read_list(path) == whole, "only white space was changed"


def test_of_two_decisions_the_later_counts_and_in_doubt_the_stricter() -> None:
    early, late = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
    for mine, other, wins in (
        (Decision(FORGET, early), Decision(ALLOW, late), ALLOW),
        (Decision(ALLOW, late), Decision(FORGET, early), ALLOW),
        (Decision(ALLOW, early), Decision(FORGET, early), FORGET),
        (Decision(FORGET, early), Decision(ALLOW, early), FORGET),
    ):
        merged = ForgottenList(1, {"x": mine}).merged({"x": other})
        assert merged.decisions["x"].act == wins
