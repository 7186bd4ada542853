"""Wrong tries are counted for whom they come from, and the memory of them is bounded."""

from __future__ import annotations

import pytest

from gossamer.web.protect.login import hash_password
from gossamer.web.protect.throttle import (
    FORGET_S,
    MOST_CLIENTS,
    TRIES_OF_CLIENT,
    TRIES_OF_PASSWORD,
    LoginThrottle,
    client_of,
)
from web.a_browser import TOKEN, Browser, served
from web.conftest import Garden


def test_a_client_that_guesses_keeps_no_other_out() -> None:
    throttle = LoginThrottle()

    tried = [throttle.begin_try("192.0.2.1", 0.0) for _ in range(60)]

    assert tried == [True] * TRIES_OF_CLIENT + [False] * (60 - TRIES_OF_CLIENT)
    assert throttle.begin_try("192.0.2.2", 0.0)
    assert throttle.begin_try("192.0.2.1", FORGET_S)


def test_many_clients_together_cannot_guess_a_password() -> None:
    throttle = LoginThrottle()

    tried = [throttle.begin_try(f"192.0.2.{number}", 0.0) for number in range(200)]

    assert tried.count(True) == TRIES_OF_PASSWORD
    assert not throttle.begin_try("198.51.100.1", FORGET_S - 1)
    assert throttle.begin_try("198.51.100.1", FORGET_S)


def test_who_logged_in_before_is_not_locked_out_by_guesses_from_elsewhere() -> None:
    throttle = LoginThrottle()
    assert throttle.begin_try("198.51.100.1", 0.0)
    throttle.succeed("198.51.100.1")
    for number in range(200):
        throttle.begin_try(f"192.0.2.{number}", 1.0)

    assert throttle.begin_try("198.51.100.1", 2.0)
    assert not throttle.begin_try("198.51.100.2", 2.0)


def test_wrong_tokens_are_not_held_against_the_password() -> None:
    throttle = LoginThrottle()
    for number in range(200):
        throttle.note_failure(f"192.0.2.{number}", 0.0)

    assert throttle.begin_try("198.51.100.1", 0.0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2001:db8::1", "2001:db8::ffff:2"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::2%eth1"),
    ],
)
def test_addresses_of_one_customer_are_one_client(one: str, other: str) -> None:
    assert client_of(one) == client_of(other)
    assert client_of("2001:db8:0:1::1") != client_of("2001:db8:0:2::1")


def test_the_memory_of_clients_is_bounded_and_the_oldest_is_forgotten() -> None:
    throttle = LoginThrottle()
    for number in range(MOST_CLIENTS + 50):
        throttle.note_failure(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", 0.0)

    assert throttle.clients == MOST_CLIENTS
    throttle.note_failure("192.0.2.1", FORGET_S)
    assert throttle.clients == 1


def test_with_a_password_the_token_opens_whatever_was_guessed(garden: Garden) -> None:
    server = served(garden.path, password=hash_password("a long password"))
    guess = Browser(server)

    tried = [guess.post("/login", word=f"guess {n}").status_code for n in range(7)]

    assert tried == [401] * 5 + [429] * 2
    assert guess.post("/login", word="a long password").status_code == 429
    assert guess.post("/login", word=TOKEN).status_code == 303
    server.context.collections.close()
