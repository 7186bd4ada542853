"""An answer as it comes: what is kept of it, and when libcurl is told to stop."""

from __future__ import annotations

import gc
import tracemalloc
import weakref

from gossamer.fetch.intake import MAX_INTERIM, PAUSE, STOP, ResponseIntake
from support.rows import each_row

HEAD = [b"HTTP/1.1 200 OK\r\n", b"Content-Length: 9\r\n", b"\r\n"]


class Asker:
    """Whoever asked: goes on at every head, and writes down what it is told."""

    def __init__(self, most: int = 1000, *, has_room: bool = True):
        self.has_room = has_room
        self.told: list[object] = []
        self.intake = ResponseIntake(
            most, self.may_hold, self.on_head, self.on_start, self.told.append
        )

    def may_hold(self, count: int) -> bool:
        self.told.append(count)
        return self.has_room

    def on_head(self) -> int | None:
        self.told.append(self.intake.status)
        return STOP if self.intake.status == 599 else None

    def on_start(self, piece: bytes) -> bool:
        return piece.startswith(b"x")


def headers(intake: ResponseIntake, *lines: bytes) -> list[int | None]:
    return [intake.header(line) for line in lines]


def test_a_head_is_told_of_when_it_is_whole_and_the_body_is_all_pieces() -> None:
    asker = Asker()
    intake = asker.intake
    intake.begin(100)

    assert headers(intake, *HEAD) == [None, None, None]
    assert [intake.body(piece) for piece in (b"some", b" page")] == [None, None]
    assert (intake.head, intake.status, intake.is_cut) == (b"".join(HEAD), 200, False)
    assert intake.taken() == b"some page"
    assert intake.taken() == b""
    assert asker.told == [200, 9]


@each_row("length", [b"0", b"3", b"8", b"10", b"40", b"-1", b"9999999", b"9" * 40])
def test_a_body_is_what_came_whatever_the_head_says_of_its_length(length: bytes) -> None:
    intake = Asker().intake
    intake.begin(1000)
    headers(intake, HEAD[0], b"Content-Length: " + length + b"\r\n", b"\r\n")

    for piece in (b"ab", b"", b"cdefg", b"hi", b"j"):
        assert intake.body(piece) is None

    assert intake.taken() == b"abcdefghij"


def test_interim_answers_are_passed_over_but_not_without_end() -> None:
    asker = Asker(most=10_000)
    intake = asker.intake
    intake.begin(100)

    headers(intake, b"HTTP/1.1 103 Early Hints\r\n", b"Link: </a>\r\n", b"\n", *HEAD)
    assert (intake.head, asker.told) == (b"".join(HEAD), [200])
    intake.begin(100)
    for _ in range(MAX_INTERIM):
        assert headers(intake, b"HTTP/1.1 100 Continue\r\n", b"\r\n") == [None, None]
    assert headers(intake, b"HTTP/1.1 100 Continue\r\n", b"\r\n") == [None, STOP]
    assert asker.told[1:] == ["more than 20 interim responses"]


def test_lines_after_the_body_are_trailers_and_another_answer_before_it_counts() -> None:
    intake = Asker().intake
    intake.begin(100)
    headers(intake, b"HTTP/1.1 401 Who\r\n", b"\r\n", *HEAD)

    assert intake.status == 200
    intake.body(b"page")
    headers(intake, b"HTTP/1.1 500 Trailer\r\n", b"X: 1\r\n", b"\r\n")
    assert (intake.head, intake.status) == (b"".join(HEAD), 200)


def test_headers_have_a_limit_trailers_among_them() -> None:
    asker = Asker(most=43)
    intake = asker.intake
    intake.begin(100)
    headers(intake, *HEAD)

    assert headers(intake, b"X: 1\n", b"\n") == [None, STOP]
    assert asker.told == [200, "more than 43 bytes of headers"]


def test_what_the_asker_answers_to_a_head_is_told_to_libcurl() -> None:
    intake = Asker().intake
    intake.begin(100)

    assert headers(intake, b"HTTP/1.1 599 No\r\n", b"\r\n") == [None, STOP]


def test_a_type_that_was_let_pass_is_not_asked_about_again() -> None:
    asker = Asker(most=10_000)
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


def test_a_body_is_cut_where_it_is_longer_than_it_may_be() -> None:
    intake = Asker().intake
    intake.begin(6)
    headers(intake, *HEAD)

    assert [intake.body(b"some"), intake.body(b" page")] == [None, STOP]
    assert (intake.is_cut, intake.taken()) == (True, b"some p")
    intake.begin(6)
    assert (intake.is_cut, intake.status, intake.head) == (False, 0, b"")


@each_row(
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
    length: bytes, asked: list[int]
) -> None:
    asker = Asker()
    asker.intake.begin(10**6)
    headers(asker.intake, HEAD[0], b"Content-Length: " + length + b"\r\n", b"\r\n")

    assert [asker.intake.body(b"some"), asker.intake.body(b" bo")] == [None, None]
    assert asker.told[1:] == asked
    assert asker.intake.taken() == b"some bo"


def test_a_piece_that_finds_no_room_comes_again() -> None:
    asker = Asker(has_room=False)
    intake = asker.intake
    intake.begin(100)
    headers(intake, *HEAD)

    assert intake.body(b"page") == PAUSE
    asker.has_room = True
    assert intake.body(b"page") is None
    assert intake.taken() == b"page"


def test_the_first_piece_is_looked_at_where_it_is_watched() -> None:
    intake = Asker().intake
    for start, said in ((b"xy", STOP), (b"page", None)):
        intake.begin(100)
        headers(intake, *HEAD)
        intake.is_watched = True
        assert [intake.body(start), intake.body(b"x")][0] == said
    assert intake.taken() == b"pagex"
    intake.begin(100)
    assert not intake.is_watched


def test_a_body_that_was_cut_stays_so_whatever_comes() -> None:
    intake = Asker().intake
    intake.begin(2)

    assert [intake.body(piece) for piece in (b"abc", b"")] == [STOP, None]
    assert (intake.is_cut, intake.taken()) == (True, b"ab")


def test_whom_one_head_made_watch_another_does_not() -> None:
    intake = Asker().intake
    intake.begin(100)
    headers(intake, b"HTTP/1.1 401 Who?\r\n", b"\r\n")
    intake.is_watched = True
    headers(intake, *HEAD)

    assert not intake.is_watched
    assert intake.body(b"x: a page that begins as no other may") is None


def test_room_for_a_huge_head_is_given_back() -> None:
    asked = [Asker(most=10**6).intake for _ in range(20)]
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


def test_what_is_ended_holds_nothing_and_nobody_is_kept_alive() -> None:
    asker = Asker()
    asker.intake.begin(100)
    headers(asker.intake, *HEAD)
    asker.intake.body(b"page")
    asker.intake.end()

    assert (asker.intake.head, asker.intake.taken(), asker.intake.status) == (b"", b"", 200)
    gone = weakref.ref(asker)
    del asker
    gc.collect()
    assert gone() is None
