"""What is never asked for."""

from pathlib import Path

import pytest

from gossamer.errors import UsageError
from gossamer.urls.bans import BanList
from support.rows import each_row


@each_row(
    ("line", "url"),
    [
        ("ads.example.org", "https://ads.example.org/x"),
        ("ads.example.org", "http://a.b.ads.example.org:8080/"),
        ("ads.example.org", "http://ads.example.org./"),
        ("*.Example.org", "http://example.org/"),
        ("Bücher.example", "http://xn--bcher-kva.example/"),
        ("10.0.0.1", "http://10.0.0.1/"),
        ("[::1]", "http://[::1]:8080/"),
        ("example.org/private", "http://example.org/private/x"),
        ("example.org/private", "https://example.org/privateer"),
        ("http://example.org/private/", "https://example.org/private/x?y"),
        ("https://example.org:8443", "http://example.org:8443/x"),
        ("example.org:8443", "http://example.org:8443/x"),
        ("example.org/a/../ü?q", "http://example.org/%C3%BC?q=1"),
        ("*/calendar/*", "http://example.org/calendar/2026"),
        ("/cgi-bin/", "http://example.org/cgi-bin/x"),
        (r"re:\bday=\d+", "http://example.org/?day=1"),
    ],
)
def test_a_line_bans(line: str, url: str) -> None:
    assert BanList(["never.example", line]).find(url) == line


@each_row(
    ("line", "url"),
    [
        ("ads.example.org", "https://example.org/"),
        ("ads.example.org", "https://bads.example.org/"),
        ("example.org/private", "http://example.org/"),
        ("example.org/private", "http://www.example.org/private"),
        ("example.org:8443", "http://example.org/"),
        ("/cgi-bin/", "http://example.org/x/cgi-bin/"),
    ],
)
def test_a_line_does_not_ban(line: str, url: str) -> None:
    assert BanList([line]).find(url) is None


def test_an_empty_list_bans_nothing() -> None:
    assert BanList().find("http://example.org/") is None
    assert BanList.read([]).find("http://example.org/") is None


def test_a_list_may_be_long() -> None:
    bans = BanList([f"{number}.h.org" for number in range(50_000)] + ["example.org/x"] * 2)

    assert bans.find("http://a.49999.h.org/") == "49999.h.org"
    assert bans.find("http://example.org/x/y") == "example.org/x"
    assert bans.find("http://example.org/") is None


def test_a_shorter_beginning_covers_the_longer() -> None:
    bans = BanList(["example.org/a/b", "example.org/a", "example.org/a/b/c"])

    assert bans.find("http://example.org/a/b/c/d") == "example.org/a"


def test_files_are_read_together(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("# hosts\nads.org # noisy\n", encoding="utf-8")
    (tmp_path / "two").write_bytes(b"re:a #b\r\n\r\nexample.org/x\r\n")

    bans = BanList.read([tmp_path / "one", tmp_path / "two"])

    assert bans.find("http://ads.org/") == "ads.org"
    assert bans.find("http://example.org/x") == "example.org/x"
    assert bans.find("http://other.org/ab") is None


@pytest.mark.parametrize(
    "line",
    [
        "exa mple.org",
        "ftp://example.org/",
        "re:(",
        "example.org/*",
        "a..org",
        "me@example.org/x",
        "http://",
        "example.org:x/",
        "example.org/a#b",
        "::1",
    ],
)
def test_a_bad_line_is_named_with_its_file_and_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bans.txt"
    path.write_text(f"ok.org\n{line}\n", encoding="utf-8")

    with pytest.raises(UsageError, match=r"bans\.txt, line 2: ") as caught:
        BanList.read([path])

    assert "\n" not in str(caught.value)
