"""Cookies that are kept in the collection: who may read them, and which of two wins."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from gossamer.base.clock import ManualClock
from gossamer.collection.cookies_file import CookiesFile
from gossamer.errors import CorruptFile
from gossamer.settings import Fetch

URL = "http://a.example/"
NOW_S = ManualClock().wall_us() / 1e6


def book_in(folder: Path, given: str = "", *, keeps: bool = True) -> CookiesFile:
    settings = Fetch(cookies=keeps, cookies_file=given)
    return CookiesFile(folder / "cookies.txt", settings, ManualClock())


def given_in(folder: Path, *pairs: str) -> str:
    rows = (pair.replace("=", "\t") for pair in pairs)
    file = folder / "given"
    file.write_text("".join(f"a.example\tFALSE\t/\tFALSE\t0\t{row}\n" for row in rows))
    return str(file)


def heard(book: CookiesFile, *set_cookies: str) -> None:
    book.jar.take_headers(URL, set_cookies, NOW_S)
    book.save()


def sent(book: CookiesFile) -> str:
    return book.jar.header_for(URL, NOW_S)


def test_what_sites_gave_is_there_the_next_time_and_for_the_owner_alone(tmp_path: Path) -> None:
    heard(book_in(tmp_path), "session=1", "short=2; max-age=9")

    assert sent(book_in(tmp_path)) == "session=1; short=2"
    assert stat.S_IMODE((tmp_path / "cookies.txt").stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["cookies.txt"]


def test_nothing_is_written_where_no_site_said_anything(tmp_path: Path) -> None:
    book = book_in(tmp_path, given_in(tmp_path, "session=geheim"))
    book.save()

    assert not (tmp_path / "cookies.txt").exists()
    assert sent(book) == "session=geheim"


def test_what_the_operator_gave_stays_in_the_operators_file(tmp_path: Path) -> None:
    given = given_in(tmp_path, "session=geheim", "lang=de")
    heard(book_in(tmp_path, given), "lang=en; path=/", "step=2")

    assert "geheim" not in (tmp_path / "cookies.txt").read_text()
    assert sent(book_in(tmp_path, given)) == "session=geheim; lang=en; step=2"


def test_what_a_site_took_back_stays_away_until_the_operator_gives_it_again(tmp_path: Path) -> None:
    given = given_in(tmp_path, "session=old")
    heard(book_in(tmp_path, given), "session=; path=/; max-age=0", "step=2")

    assert sent(book_in(tmp_path, given)) == "step=2"
    given_in(tmp_path, "session=new")
    assert sent(book_in(tmp_path, given)) == "session=new; step=2"


def test_who_wants_no_cookies_keeps_none(tmp_path: Path) -> None:
    heard(book_in(tmp_path, keeps=False), "session=1")

    assert list(tmp_path.iterdir()) == []


def test_a_site_that_changes_its_cookie_with_every_page_costs_one_write_in_a_while(
    tmp_path: Path,
) -> None:
    book = book_in(tmp_path)
    for number in range(3):
        book.jar.take_headers(URL, [f"n={number}"], NOW_S)
        book.save_now_and_then()

    assert sent(book_in(tmp_path)) == "n=0"
    book.save()
    assert sent(book_in(tmp_path)) == "n=2"


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "cookies.txt").write_text("# x\nnonsense\n")

    with pytest.raises(CorruptFile, match=r"cookies\.txt.*line 2"):
        book_in(tmp_path)
