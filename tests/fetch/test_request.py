"""What is said to servers, to whom, and what of it is written down."""

from __future__ import annotations

import pytest

from gossamer.errors import SettingsError
from gossamer.fetch.request import Headers, checked_header, hidden, user_agent, without_userinfo
from gossamer.settings import Fetch
from gossamer.version import __version__
from support.rows import each_row

URL = "http://example.org/a?b"


def test_a_request_is_the_same_for_everybody() -> None:
    headers = Headers(Fetch(), "text/html")

    assert headers.request_for(URL, with_secrets=False) == (
        b"GET /a?b HTTP/1.1\r\nHost: example.org\r\n"
        b"User-Agent: gossamer/" + __version__.encode() + b"\r\nAccept: text/html\r\n"
        b"Accept-Encoding: gzip, deflate, br, zstd\r\n\r\n"
    )
    assert headers.of(with_secrets=True) == headers.of(with_secrets=False)


@each_row(
    ("url", "host"),
    [
        ("http://example.org/", b"example.org"),
        ("https://example.org/", b"example.org"),
        ("http://example.org:8080/", b"example.org:8080"),
        ("http://[::1]:8080/", b"[::1]:8080"),
        ("https://example.org:80/", b"example.org:80"),
    ],
)
def test_a_request_names_the_host_and_a_port_that_is_not_usual(url: str, host: bytes) -> None:
    request = Headers(Fetch(), "*/*").request_for(url, with_secrets=False)

    assert request.split(b"\r\n")[1] == b"Host: " + host


def test_the_operators_headers_take_the_place_of_ours() -> None:
    headers = Headers(Fetch(headers=("accept: text/plain", "X-Study: 1")), "text/html")

    sent = headers.of(with_secrets=False)

    assert b"Accept: text/html" not in sent
    assert sent[-2:] == [b"accept: text/plain", b"X-Study: 1"]


@each_row(
    "header",
    [
        "Authorization: Basic c2VjcmV0",
        "X-Api-Key: geheim",
        "X-Auth-Token: geheim",
        "X-CSRF-Token: geheim",
        "X-Session: geheim",
        "X-Odd: Bearer geheim",
    ],
)
def test_a_header_that_proves_who_asks_is_a_secret(header: str) -> None:
    headers = Headers(Fetch(headers=(header,)), "*/*")

    assert headers.of(with_secrets=True)[-1] == header.encode()
    assert header.encode() not in headers.of(with_secrets=False)
    assert hidden(header) == header.partition(":")[0] + ": (not kept)"


def test_all_headers_of_a_file_are_secrets_and_win() -> None:
    headers = Headers(Fetch(headers=("X-Study: 1",)), "*/*", ["X-Study: 2"])

    assert headers.of(with_secrets=True)[-1] == b"X-Study: 2"
    assert b"X-Study" not in b"".join(headers.of(with_secrets=False))
    assert b"X-Study: (not kept)" in headers.request_for(URL, with_secrets=True)


def test_a_value_that_was_not_kept_is_asked_for_and_not_sent() -> None:
    with pytest.raises(SettingsError, match=r"had Authorization, .* give it again"):
        checked_header("Authorization: (not kept)")


@each_row(
    "wrong", ["Authorization Bearer geheim", "geheim", "X-Key: geheim\r\n", "geheim " * 9 + ":"]
)
def test_no_message_shows_what_may_be_a_secret(wrong: str) -> None:
    with pytest.raises(SettingsError) as caught:
        checked_header(wrong)

    assert "geheim" not in str(caught.value)


def test_user_and_password_are_taken_out_of_what_is_shown() -> None:
    assert without_userinfo("http://me:p@ss/w@p.example/x") == "http://p.example/x"
    assert without_userinfo("p.example/a@b") == "p.example/a@b"


def test_credentials_go_to_typed_origins_alone_and_are_not_written_down() -> None:
    given = ("Authorization: Basic c2VjcmV0", "COOKIE: a=b", "X-Study: 1")
    headers = Headers(Fetch(headers=given), "*/*")

    assert b"Authorization: Basic c2VjcmV0" in headers.of(with_secrets=True)
    assert [
        line for line in headers.of(with_secrets=False) if b"a=b" in line or b"Basic" in line
    ] == []
    assert b"X-Study: 1" in headers.of(with_secrets=False)
    typed = headers.request_for(URL, with_secrets=True)
    assert b"Authorization: (not kept)\r\nCOOKIE: (not kept)\r\n" in typed
    assert b"not kept" not in headers.request_for(URL, with_secrets=False)


def test_a_contact_stands_behind_the_name() -> None:
    assert user_agent("me@example.org") == f"gossamer/{__version__} (+me@example.org)"
    assert user_agent("") == f"gossamer/{__version__}"
    named = "Jörg <j@example.org>"
    assert user_agent(named) == f"gossamer/{__version__} (+{named})"
    assert user_agent("https://x.example/bot").endswith(" (+https://x.example/bot)")


@pytest.mark.parametrize("contact", ["me@localhost", "example.org/bot", "HTTP://1.2.3.4/"])
def test_whoever_can_be_found_is_a_contact(contact: str) -> None:
    assert user_agent(contact).endswith(f" (+{contact})")


@each_row("contact", ["x", "x y", "me@", "me@ .", "http://", "7.5"])
def test_a_contact_is_a_mail_address_or_a_url(contact: str) -> None:
    with pytest.raises(SettingsError, match="a mail address or an http"):
        user_agent(contact)


@each_row("contact", ["a\r\nX: y", "a\nb", "a\0b", "\x7f"])
def test_a_contact_is_one_line(contact: str) -> None:
    with pytest.raises(SettingsError, match=r"fetch\.contact .* one line"):
        user_agent(contact)


@each_row(
    "header",
    ["", "x", ": x", "a b: c", "ä: b", "a:", "a: ", "a: b\r\nc: d", "a: b\0", "a\n: b", "a(: b"],
)
def test_a_header_that_cannot_be_sent_is_named(header: str) -> None:
    with pytest.raises(SettingsError, match=r"fetch\.headers has .*`Name: value`"):
        checked_header(header)


@each_row("name", ["Host", "content-length", "Transfer-Encoding", "connection"])
def test_headers_of_the_connection_are_not_the_operators(name: str) -> None:
    with pytest.raises(SettingsError, match="the connection sets it"):
        checked_header(f"{name}: x")


def test_a_crawl_cannot_hide_who_it_is() -> None:
    with pytest.raises(SettingsError, match="must not set User-Agent"):
        checked_header("user-agent: Mozilla/5.0")


def test_a_header_is_sent_as_typed_but_for_the_space_around_it() -> None:
    assert checked_header("X-Word:  grüße  ") == "X-Word: grüße"
    assert hidden("X-Word: grüße") == "X-Word: grüße"
    assert Headers(Fetch(headers=("X-Word: grüße",)), "*/*").for_all[-1] == "X-Word: grüße".encode()
