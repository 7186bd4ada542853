"""Where the operator's secrets go: to the origins that were typed, and into no file of ours."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from flow.outcomes import crawl, fates
from gossamer.errors import SettingsError
from support.a_site import Site, page, redirect, site_in_thread
from support.killing import typed

SECRET = "geheim-7Qx"
LOOPBACK = ("127.0.0.0/8",)
HEADERS = (f"Authorization: Bearer {SECRET}", f"X-Api-Key: {SECRET}", "X-Study: open")


def files_with_secret(collection: Path) -> list[str]:
    found = []
    for file in collection.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            content += gzip.decompress(content) if file.suffix == ".gz" else b""
            if SECRET.encode() in content:
                found.append(file.name)
    return found


def archived(collection: Path) -> bytes:
    return b"".join(gzip.decompress(f.read_bytes()) for f in collection.rglob("*.warc.gz"))


def hears_secret(site: Site) -> set[bool]:
    return {any(SECRET in value for value in asked.headers.values()) for asked in site.log}


@pytest.mark.parametrize("workers", [0, 2])
def test_secret_headers_reach_their_origin_and_are_written_nowhere(
    workers: int, collection: Path
) -> None:
    with (
        site_in_thread({"*": page("x")}, host="127.0.0.2") as other,
        site_in_thread({"*": page("x")}) as port,
    ):
        links = f'<a href=/b>b</a><a href="{other.url("/")}">o</a><a href="{port.url("/")}">p</a>'
        pages = {"/": page(links), "/b": redirect(port.url("/moved")), "*": page("x")}
        with site_in_thread(pages) as site:
            crawl(
                collection,
                [site.url()],
                scope__kind="any",
                fetch__allow_private=LOOPBACK,
                fetch__headers=HEADERS,
                node__workers=workers,
            )

    assert hears_secret(site) == {True}
    assert hears_secret(other) == {False}
    assert hears_secret(port) == {False}  # the same host, another origin
    assert "/moved" in port.asked
    assert {asked.headers["x-study"] for asked in other.log} == {"open"}
    assert files_with_secret(collection) == []
    assert b"Authorization: (not kept)\r\nX-Api-Key: (not kept)\r\n" in archived(collection)


def test_who_goes_on_has_to_give_the_secret_again(collection: Path) -> None:
    with site_in_thread({"/": page("<a href=/b>b</a>"), "/b": page("x")}) as site:
        crawl(collection, [site.url()], fetch__headers=HEADERS, limits__max_pages=1)
        kept = ("Authorization: (not kept)", "X-Api-Key: (not kept)", "X-Study: open")
        with pytest.raises(SettingsError, match="had Authorization"):
            crawl(collection, [], fetch__headers=kept)  # as the stored settings say
        crawl(collection, [], fetch__headers=HEADERS)

    assert fates(collection)["/b"] == "fetched 200"
    assert hears_secret(site) == {True}
    actions = (collection / "log" / "acts.jsonl").read_text()
    assert "fetch.headers" not in actions  # nothing changed that may be written down


def test_a_file_of_headers_is_known_by_its_path_alone(tmp_path: Path, collection: Path) -> None:
    file = tmp_path / "headers"
    file.write_text(f"X-Anything: {SECRET}\n")
    with site_in_thread({"/": page("x")}) as site:
        crawl(collection, [site.url()], fetch__headers_file=str(file))

    assert hears_secret(site) == {True}
    assert files_with_secret(collection) == []


def test_a_session_behind_a_secret_is_as_secret(collection: Path) -> None:
    first = page("<a href=/b>b</a>", headers={"set-cookie": f"session={SECRET}; Path=/"})
    with site_in_thread({"/": first, "/b": page("x"), "*": page("", "404 No")}) as site:
        crawl(collection, [site.url()], fetch__headers=("Authorization: Bearer x",))

    assert {a.path: a.headers.get("cookie") for a in site.log}["/b"] == f"session={SECRET}"
    assert files_with_secret(collection) == ["cookies.txt"]
    assert b"set-cookie: session=(not kept); Path=/" in archived(collection)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_crawl_that_goes_on_is_still_logged_in(workers: int, collection: Path) -> None:
    inside = page("".join(f"<a href=/{n}>x</a>" for n in range(6)), headers={"set-cookie": "s=1"})
    with site_in_thread({"/": inside, "/robots.txt": page("", "404 No"), "*": page("x")}) as site:
        crawl(collection, [site.url()], limits__max_pages=1, node__workers=workers)
        crawl(collection, [], limits__max_pages=0, node__workers=workers)

    sent = {asked.path: asked.headers.get("cookie") for asked in site.log}
    assert {sent[f"/{n}"] for n in range(6)} == {"s=1"}


def test_users_and_passwords_in_seeds_are_kept_nowhere(collection: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        crawl(collection, [site.url().replace("//", f"//me:{SECRET}@")])

    assert hears_secret(site) == {False}
    assert fates(collection) == {"/": "fetched 200"}
    assert files_with_secret(collection) == []


def test_who_asks_nobody_needs_no_secret(tmp_path: Path, collection: Path) -> None:
    file = tmp_path / "logins"
    file.write_text("machine 127.0.0.1 login me password x\n")
    brought = tmp_path / "list.txt"
    with site_in_thread({"/": page("x")}) as site:
        crawl(collection, [site.url()], fetch__headers=HEADERS, fetch__logins_file=str(file))
        brought.write_text(f"{site.url('/b')}\n")
    file.unlink()

    ended = typed("import", "-c", collection, brought)

    assert ended.code == 0, ended.err
    assert (
        "had Authorization" in typed("crawl", "-c", collection, "--set", "fetch.logins_file=").err
    )
