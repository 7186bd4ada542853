"""Which way a request goes, and whose login it carries."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.errors import SettingsError
from gossamer.fetch.network import DIRECT, HostRoute, Login, NetworkAccess
from gossamer.records import Lease
from gossamer.settings import Fetch
from gossamer.urls.canonical import host_of, origin_of
from support.rows import each_row


def way_to(network: NetworkAccess, url: str, *, typed: str = "") -> HostRoute:
    """The way to a URL in a crawl of `typed`, or of other hosts."""
    host = host_of(url)
    is_trusted = bool(typed) and host_of(typed) == host
    gets = is_trusted and origin_of(typed) == origin_of(url)
    return network.way_to(Lease(1, url, b"", host, "", is_trusted=is_trusted, gets_secrets=gets))


def test_without_settings_every_way_is_direct() -> None:
    network = NetworkAccess(Fetch())

    assert network.is_plain
    assert way_to(network, "http://a.example/") == DIRECT


def test_one_host_may_have_a_proxy_of_its_own_or_none() -> None:
    network = NetworkAccess(
        Fetch(
            proxy="http://p.example:3128",
            proxies=("b.example=socks5://q.example", "c.example=direct"),
        )
    )

    assert way_to(network, "https://a.example/").proxy == "http://p.example:3128"
    assert way_to(network, "https://b.example/").proxy == "socks5://q.example"
    assert way_to(network, "https://c.example/") == DIRECT


def test_a_login_is_for_its_host_and_port_alone(tmp_path: Path) -> None:
    file = tmp_path / "logins"
    file.write_text(
        "machine a.example login x password 1\nmachine b.example:8080 login y password 2\n"
        "machine p.example:3128 login z password 3\n"
    )
    network = NetworkAccess(Fetch(logins_file=str(file), proxy="http://p.example:3128"))

    assert way_to(network, "https://a.example/").login == Login("x", "1")
    assert way_to(network, "http://b.example:8080/").login == Login("y", "2")
    for url in ("http://b.example/", "http://x.a.example/", "http://p.example/"):
        assert way_to(network, url) == HostRoute("http://p.example:3128", Login("z", "3"))


def test_a_login_without_a_port_is_for_the_origins_that_were_typed(tmp_path: Path) -> None:
    file = tmp_path / "logins"
    file.write_text("machine a.example login x password 1\n")
    network = NetworkAccess(Fetch(logins_file=str(file)))
    typed = "https://a.example:444/"

    assert way_to(network, "https://a.example:444/x", typed=typed).login == Login("x", "1")
    for url in ("http://a.example/", "https://a.example/", "https://a.example:445/"):
        assert way_to(network, url, typed=typed).login is None
    assert way_to(network, "https://a.example:444/").login is None


def test_a_file_of_headers_is_read_and_its_faults_show_nothing_of_it(tmp_path: Path) -> None:
    file = tmp_path / "headers"
    file.write_text("# mine\nX-Key: geheim\n\nCookie: a=b\n")
    assert NetworkAccess(Fetch(headers_file=str(file))).headers == ("X-Key: geheim", "Cookie: a=b")

    file.write_text("geheim\n")
    with pytest.raises(SettingsError, match=r"fetch\.headers_file has") as caught:
        NetworkAccess(Fetch(headers_file=str(file)))
    assert "geheim" not in str(caught.value)


def test_a_host_is_told_in_the_way_that_it_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "logins"
    file.write_text("machine a.example login x password 1\n")
    network = NetworkAccess(Fetch(logins_file=str(file)))

    network.note_challenge("http://a.example/", ['Basic realm="x", Digest realm="x", nonce="1"'])
    network.note_challenge("http://a.example:81/", ['Basic realm="Digest"'])

    assert way_to(network, "http://a.example/b").scheme == "digest"
    assert way_to(network, "http://a.example:81/b", typed="http://a.example:81/").scheme == "basic"
    assert way_to(network, "https://a.example/").scheme == ""


def test_a_login_shows_itself_to_nobody() -> None:
    assert "geheim" not in repr(HostRoute(login=Login("me", "geheim")))


@each_row(
    ("given", "said"),
    [
        ({"proxy": "http://me:geheim@p.example"}, "into fetch.logins_file"),
        ({"proxy": "ftp://p.example"}, "must be a URL such as"),
        ({"proxies": ("b.example",)}, "must be HOST=URL"),
        ({"proxies": ("http://me:geheim@p.example",)}, "must be HOST=URL"),
        ({"headers_file": "/nowhere/headers"}, "cannot be read"),
        ({"logins_file": "/nowhere/logins"}, "cannot be read"),
        ({"cookies_file": "/nowhere/cookies"}, "cannot be read"),
        ({"client_certificate": "/nowhere/pem"}, "cannot be read"),
        ({"authorities_file": __file__}, "no certificate"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_is_asked(
    given: dict[str, object], said: str
) -> None:
    with pytest.raises(SettingsError, match=said) as caught:
        NetworkAccess(Fetch(**given))  # type: ignore[arg-type]  # of all kinds

    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    "content", ["default login x password 1\n", "nonsense\n", "machine a login x passw geheim\n"]
)
def test_a_file_of_logins_for_everybody_or_in_no_form_is_refused(
    content: str, tmp_path: Path
) -> None:
    file = tmp_path / "logins"
    file.write_text(content)

    with pytest.raises(SettingsError, match="logins_file") as caught:
        NetworkAccess(Fetch(logins_file=str(file)))
    assert "geheim" not in str(caught.value)
