"""An answer as it comes, in both forms: what is kept of it, and when libcurl is told to stop."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.base import native
from gossamer.fetch.head import LinesInPython, status_in_python
from gossamer.fetch.intake import MAX_INTERIM, PAUSE, STOP, Intake, IntakeInPython

_c = native.load("gossamer.fetch._intake")
needs_c = pytest.mark.skipif(
    _c is None, reason="gossamer.fetch._intake is not built (`make native`)"
)
FORMS = [
    pytest.param(IntakeInPython, id="python"),
    pytest.param(None if _c is None else _c.Intake, id="c", marks=needs_c),
]
both = pytest.mark.parametrize("form", FORMS)
HEAD = [b"HTTP/1.1 200 OK\r\n", b"Content-Length: 9\r\n", b"\r\n"]


class Asker:
    """Whoever asked: goes on at every head, and writes down what it is told."""

    def __init__(self, form: Callable[..., Intake], most: int = 1000, *, has_room: bool = True):
        self.has_room = has_room
        self.told: list[object] = []
        self.intake = form(most, self.may_hold, self.on_head, self.on_start, self.told.append)

    def may_hold(self, count: int) -> bool:
        self.told.append(count)
        return self.has_room

    def on_head(self) -> int | None:
        self.told.append(self.intake.status)
        return STOP if self.intake.status == 599 else None

    def on_start(self, piece: bytes) -> bool:
        return piece.startswith(b"x")


def headers(intake: Intake, *lines: bytes) -> list[int | None]:
    return [intake.header(line) for line in lines]


@both
def test_a_head_is_told_of_when_it_is_whole_and_the_body_is_all_pieces(form: Any) -> None:
    asker = Asker(form)
    intake = asker.intake
    intake.begin(100)

    assert headers(intake, *HEAD) == [None, None, None]
    assert [intake.body(piece) for piece in (b"some", b" page")] == [None, None]
    assert (intake.head, intake.status, intake.is_cut) == (b"".join(HEAD), 200, False)
    assert intake.taken() == b"some page"
    assert intake.taken() == b""
    assert asker.told == [200, 9]


@both
@pytest.mark.parametrize("length", [b"0", b"3", b"8", b"10", b"40", b"-1", b"9999999", b"9" * 40])
def test_a_body_is_what_came_whatever_the_head_says_of_its_length(form: Any, length: bytes) -> None:
    intake = Asker(form).intake
    intake.begin(1000)
    headers(intake, HEAD[0], b"Content-Length: " + length + b"\r\n", b"\r\n")

    for piece in (b"ab", b"", b"cdefg", b"hi", b"j"):
        assert intake.body(piece) is None

    assert intake.taken() == b"abcdefghij"


@both
def test_interim_answers_are_passed_over_but_not_without_end(form: Any) -> None:
    asker = Asker(form, most=10_000)
    intake = asker.intake
    intake.begin(100)

    headers(intake, b"HTTP/1.1 103 Early Hints\r\n", b"Link: </a>\r\n", b"\n", *HEAD)
    assert (intake.head, asker.told) == (b"".join(HEAD), [200])
    intake.begin(100)
    for _ in range(MAX_INTERIM):
        assert headers(intake, b"HTTP/1.1 100 Continue\r\n", b"\r\n") == [None, None]
    assert headers(intake, b"HTTP/1.1 100 Continue\r\n", b"\r\n") == [None, STOP]
    assert asker.told[1:] == ["more than 20 interim answers"]


@both
def test_lines_after_the_body_are_trailers_and_another_answer_before_it_counts(form: Any) -> None:
    intake = Asker(form).intake
    intake.begin(100)
    headers(intake, b"HTTP/1.1 401 Who\r\n", b"\r\n", *HEAD)

    assert intake.status == 200
    intake.body(b"page")
    headers(intake, b"HTTP/1.1 500 Trailer\r\n", b"X: 1\r\n", b"\r\n")
    assert (intake.head, intake.status) == (b"".join(HEAD), 200)


@both
def test_headers_have_a_limit_trailers_among_them(form: Any) -> None:
    asker = Asker(form, most=43)
    intake = asker.intake
    intake.begin(100)
    headers(intake, *HEAD)

    assert headers(intake, b"X: 1\n", b"\n") == [None, STOP]
    assert asker.told == [200, "more than 43 bytes of headers"]


@both
def test_what_the_asker_answers_to_a_head_is_told_to_libcurl(form: Any) -> None:
    intake = Asker(form).intake
    intake.begin(100)

    assert headers(intake, b"HTTP/1.1 599 No\r\n", b"\r\n") == [None, STOP]


@both
def test_a_type_that_was_let_pass_is_not_asked_about_again(form: Any) -> None:
    asker = Asker(form, most=10_000)
    intake = asker.intake
    intake.let_pass("text/html")
    seen = {}
    for lines in (
        b"200 OK\nContent-Type: text/html",
        b"200 OK\nContent-Type: text/html\nContent-Length: 9",
        b"200 OK\nContent-Type: text/html\nContent-Length: 10",
        b"200 OK\nContent-Type: Text/HTML",
        b"200 OK\nContent-Type: text/html; charset=utf-8",
        b"200 OK\nContent-Type: text/html\nSet-Cookie : a=1",
        b"200 OK\nServer: none",
        b"404 Not Found\nContent-Type: text/html",
    ):
        intake.begin(9)
        headers(intake, *(b"HTTP/1.1 " + lines + b"\n\n").splitlines(keepends=True))
        seen[lines], asker.told[:] = len(asker.told), []

    assert list(seen.values()) == [0, 0, 1, 1, 1, 1, 1, 1]
    intake.let_pass("")
    intake.begin(9)
    headers(intake, b"HTTP/1.1 200 OK\n", b"\n")
    assert asker.told == []


@both
def test_a_body_is_cut_where_it_is_longer_than_it_may_be(form: Any) -> None:
    intake = Asker(form).intake
    intake.begin(6)
    headers(intake, *HEAD)

    assert [intake.body(b"some"), intake.body(b" page")] == [None, STOP]
    assert (intake.is_cut, intake.taken()) == (True, b"some p")
    intake.begin(6)
    assert (intake.is_cut, intake.status, intake.head) == (False, 0, b"")


@both
@pytest.mark.parametrize(
    ("length", "asked"),
    [
        (b"7", [7]),
        (b"9", [9]),
        (b"5", [5, 2]),
        (b"1", [4, 3]),
        (b"131072", [131072]),
        (b"131073", [4, 3]),
        (b"", [4, 3]),
    ],
)
def test_room_is_asked_for_once_where_a_short_body_is_announced(
    form: Any, length: bytes, asked: list[int]
) -> None:
    asker = Asker(form)
    asker.intake.begin(10**6)
    headers(asker.intake, HEAD[0], b"Content-Length: " + length + b"\r\n", b"\r\n")

    assert [asker.intake.body(b"some"), asker.intake.body(b" bo")] == [None, None]
    assert asker.told[1:] == asked
    assert asker.intake.taken() == b"some bo"


@both
def test_a_piece_that_finds_no_room_comes_again(form: Any) -> None:
    asker = Asker(form, has_room=False)
    intake = asker.intake
    intake.begin(100)
    headers(intake, *HEAD)

    assert intake.body(b"page") == PAUSE
    asker.has_room = True
    assert intake.body(b"page") is None
    assert intake.taken() == b"page"


@both
def test_the_first_piece_is_looked_at_where_it_is_watched(form: Any) -> None:
    intake = Asker(form).intake
    for start, said in ((b"xy", STOP), (b"page", None)):
        intake.begin(100)
        headers(intake, *HEAD)
        intake.is_watched = True
        assert [intake.body(start), intake.body(b"x")][0] == said
    assert intake.taken() == b"pagex"
    intake.begin(100)
    assert not intake.is_watched


@both
def test_a_body_that_was_cut_stays_so_whatever_comes(form: Any) -> None:
    intake = Asker(form).intake
    intake.begin(2)

    assert [intake.body(piece) for piece in (b"abc", b"")] == [STOP, None]
    assert (intake.is_cut, intake.taken()) == (True, b"ab")


@both
def test_whom_one_head_made_watch_another_does_not(form: Any) -> None:
    intake = Asker(form).intake
    intake.begin(100)
    headers(intake, b"HTTP/1.1 401 Who?\r\n", b"\r\n")
    intake.is_watched = True
    headers(intake, *HEAD)

    assert not intake.is_watched
    assert intake.body(b"x: a page that begins as no other may") is None


@both
def test_room_for_a_huge_head_is_given_back(form: Any) -> None:
    asked = [Asker(form, most=10**6).intake for _ in range(20)]
    tracemalloc.start()
    try:
        for intake in asked:
            intake.begin(100)
            headers(intake, *[b"x: %d\r\n" % n + bytes(1000) for n in range(100)])
            intake.end()
        held_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert held_bytes < 100_000  # of 2 MB that came


@both
def test_what_is_ended_holds_nothing_and_nobody_is_kept_alive(form: Any) -> None:
    asker = Asker(form)
    asker.intake.begin(100)
    headers(asker.intake, *HEAD)
    asker.intake.body(b"page")
    asker.intake.end()

    assert (asker.intake.head, asker.intake.taken(), asker.intake.status) == (b"", b"", 200)
    gone = weakref.ref(asker)
    del asker
    gc.collect()
    assert gone() is None


def heads() -> st.SearchStrategy[bytes]:
    """Lines with the names that are asked for, and with what may stand around them."""
    odd = st.binary(max_size=8)
    name = st.sampled_from([b"Content-Length", b"x", b"X-", b"\xc0", b"\xe0", b"", b"HTTP/1.1"])
    space = st.sampled_from([b"", b" ", b"\t", b"\x1c", b"\x85", b"\xa0", b"\r"])
    value = odd | st.integers(0, 10**20).map(lambda n: b"%d" % n)
    line = st.tuples(name, space, st.sampled_from([b":", b"", b"\n"]), space, value, space)
    return st.lists(line.map(b"".join)).map(b"\n".join)


@needs_c
@given(heads(), st.sampled_from(["content-length", "x", "x-", "\xe0", "\xc0", "", "€", "\n", "X"]))
def test_both_forms_find_the_same_headers(head: bytes, name: str) -> None:
    assert _c is not None
    python, c = LinesInPython(head), _c.Lines(head)

    assert c.first(name) == python.first(name)
    assert c.all(name) == python.all(name)
    assert c.length() == python.length()


@needs_c
@given(st.text("HTP/12.0 3\t9x", max_size=20).map(str.encode) | heads())
def test_both_forms_read_the_same_status(start: bytes) -> None:
    assert _c is not None
    for head in (start, b"HTTP/" + start, b"HTTP/1.1 " + start):
        assert _c.status_of(head) == status_in_python(head)


@needs_c
@given(
    st.lists(
        st.sampled_from([*HEAD, b"HTTP/1.1 100\n", b"\n", b"Content-Type: 1\n", b"HTTP/2 599\n"])
    ),
    st.lists(st.binary(max_size=12), max_size=5),
    st.integers(0, 40),
)
def test_both_forms_make_the_same_of_an_answer(
    lines: list[bytes], pieces: list[bytes], most: int
) -> None:
    assert _c is not None
    seen = []
    for form in (IntakeInPython, _c.Intake):
        asker = Asker(form, most=90)
        asker.intake.let_pass("1" if most % 2 else "")
        asker.intake.begin(most)
        said = headers(asker.intake, *lines)
        said += [asker.intake.body(piece) for piece in pieces]
        said += headers(asker.intake, *lines)
        intake = asker.intake
        seen.append((said, asker.told, intake.head, intake.status, intake.is_cut, intake.taken()))

    assert seen[0] == seen[1]
