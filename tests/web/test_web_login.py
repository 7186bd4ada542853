"""Who may do what, and how one becomes somebody who may."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gossamer.errors import UsageError
from gossamer.web.protect.login import (
    SESSION_S,
    Credentials,
    Sessions,
    check_hash,
    check_token,
    fits,
    hash_password,
)
from gossamer.web.routes import API, PAGES
from gossamer.web.server import Serving, build_credentials, origin_of
from web.a_browser import TOKEN, Browser, Served, served
from web.conftest import Garden

CHANGES = [route for route in (*API, *PAGES) if route.changes]


@pytest.mark.parametrize("route", CHANGES, ids=lambda route: route.name)
def test_whatever_changes_something_needs_more_than_loopback(server: Served, route: object) -> None:
    from gossamer.web.route import Route

    assert isinstance(route, Route)
    path = route.path.format(name="garden", order="start")

    answer = Browser(server).ask(route.method, path)

    assert answer.status_code == 401
    assert server.started == []


@pytest.mark.parametrize("route", CHANGES, ids=lambda route: route.name)
def test_a_session_without_its_word_changes_nothing(server: Served, route: object) -> None:
    from gossamer.web.route import Route

    assert isinstance(route, Route)
    browser = Browser(server)
    browser.log_in()
    path = route.path.format(name="garden", order="start")

    without = browser.ask(route.method, path)
    wrong = browser.ask(route.method, path, headers={"x-csrf-token": "0" * 64})

    assert (without.status_code, wrong.status_code) == (403, 403)
    assert server.started == []


def test_where_reading_is_closed_only_the_door_is_open(garden: Garden) -> None:
    server = served(garden.path, is_open=False)
    browser = Browser(server)

    for route in (*API, *PAGES):
        path = route.path.format(name="garden", order="start")
        answer = browser.ask(route.method, path)
        if route.is_open:
            assert answer.status_code in (200, 401), route.name  # 401: an empty word is wrong
        elif route.gives == "html" and route.method == "GET":
            assert answer.headers["location"].startswith("/login?next=%2F"), route.name
        else:
            assert answer.status_code == 401, route.name
        assert "Roses" not in answer.text
    server.context.collections.close()


def test_the_printed_link_works_once(server: Served) -> None:
    ticket = server.context.credentials.ticket
    browser, other = Browser(server), Browser(server)

    first = browser.get("/login", ticket=ticket)
    second = other.get("/login", ticket=ticket)

    assert (first.status_code, first.headers["location"]) == (303, "/")
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "works only once" in second.text
    assert "Log out" in browser.get("/").text
    assert "Log out" not in other.get("/").text


def test_logging_out_ends_the_session_itself(server: Served) -> None:
    browser = Browser(server)
    csrf = browser.log_in()
    kept = browser._cookies

    browser.post("/logout", csrf=csrf)
    browser._cookies = kept

    assert "Log out" not in browser.get("/").text


def test_a_session_ends_by_itself(server: Served) -> None:
    browser = Browser(server)
    browser.log_in()

    asyncio.run(server.clock.advance(SESSION_S + 1))

    assert "Log out" not in browser.get("/").text


def test_guessing_is_slowed_down_and_forgiven_later(server: Served) -> None:
    browser = Browser(server)

    tried = [browser.post("/login", word=f"guess {n}").status_code for n in range(6)]
    asyncio.run(server.clock.advance(301))
    later = browser.post("/login", word="guess 7").status_code

    assert tried == [401] * 5 + [429]
    assert later == 401


def test_guessing_tokens_is_slowed_down_too(server: Served) -> None:
    wrong = Browser(server, token="a-token-that-is-wrong")

    tried = [wrong.get("/api/status").status_code for _ in range(6)]

    assert tried == [401] * 5 + [429]


def test_who_has_the_token_or_a_session_is_never_locked_out(server: Served) -> None:
    owner = Browser(server)
    csrf = owner.log_in()
    wrong, guess = Browser(server, token="a-token-that-is-wrong"), Browser(server)

    for number in range(60):
        guess.post("/login", word=f"guess {number}")
        wrong.get("/api/status")

    assert guess.post("/login", word="guess").status_code == 429
    assert Browser(server, token=TOKEN).get("/api/status").status_code == 200
    assert Browser(server).post("/login", word=TOKEN).status_code == 303
    assert owner.post("/crawls/garden", csrf=csrf, order="pause").status_code == 409


def test_a_password_is_known_by_its_hash_alone() -> None:
    line = hash_password("a long password", salt=b"0123456789abcdef")

    assert "password" not in line
    assert check_hash(f"{line}\n") == line
    assert fits("a long password", line)
    assert not fits("another password", line)
    credentials = Credentials(token=TOKEN, password=line)
    assert credentials.is_password("a long password")
    assert not credentials.is_token("a long password")


def test_what_is_easily_guessed_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 10"):
        hash_password("short")
    with pytest.raises(UsageError, match="at least 16"):
        check_token("short")
    with pytest.raises(UsageError, match="hash-password"):
        check_hash("my password in plain")


def test_sessions_are_bounded_and_have_words_of_their_own() -> None:
    sessions = Sessions()
    names = [sessions.begin(0.0) for _ in range(1_001)]

    assert not sessions.is_on(names[0], 1.0)
    assert sessions.is_on(names[-1], 1.0)
    assert sessions.csrf_of(names[1]) != sessions.csrf_of(names[2])
    assert not sessions.is_on("", 1.0)


def test_outside_of_loopback_it_does_not_start_without_a_secret(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text(f"{TOKEN}\n")
    secret.chmod(0o600)

    with pytest.raises(UsageError, match="token-file"):
        build_credentials(Serving(collection=tmp_path, host="0.0.0.0"))
    credentials = build_credentials(Serving(collection=tmp_path, host="0.0.0.0", token_file=secret))

    assert credentials.is_token(TOKEN)
    assert not credentials.is_open_to_readers
    assert build_credentials(Serving(collection=tmp_path)).is_open_to_readers


def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text(TOKEN)
    secret.chmod(0o644)

    with pytest.raises(UsageError, match="chmod 600"):
        build_credentials(Serving(collection=tmp_path, token_file=secret))


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1", "http://127.0.0.1:8800"),
        ("0.0.0.0", "http://127.0.0.1:8800"),
        ("::1", "http://[::1]:8800"),
    ],
)
def test_the_printed_address_can_be_opened(tmp_path: Path, host: str, origin: str) -> None:
    assert origin_of(Serving(collection=tmp_path, host=host)) == origin


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_page_of_ours_may_come_through_a_proxy_with_tls(server: Served, scheme: str) -> None:
    origin = {"origin": f"{scheme}://127.0.0.1:8800", "sec-fetch-site": "same-origin"}

    answer = Browser(server).ask("POST", "/login", data={"word": TOKEN}, headers=origin)

    assert answer.status_code == 303
