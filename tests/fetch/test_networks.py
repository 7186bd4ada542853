"""Sites behind passwords, proxies and certificates, with real servers; no secret goes elsewhere."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flow.outcomes import crawl, crawl_hurried, fates, outcomes
from support.a_site import Request, page, redirect, site_in_thread
from support.certificates import Authority, server_context
from support.programs import free_port, microsocks, nginx, tinyproxy

SECRET = "geheim-7Qx"
LOOPBACK = ("127.0.0.0/8",)
BEHIND = "127.0.0.9"  # where proxies come from; the only one whom the site behind them answers


def logins(folder: Path, *machines: str) -> str:
    file = folder / "logins"
    file.write_text("".join(f"machine {m} login me password {SECRET}\n" for m in machines))
    return str(file)


def assert_secret_is_not_in(collection: Path) -> None:
    """Neither as it is nor as Basic writes it, in any file, compressed ones unpacked."""
    written = (SECRET.encode(), base64.b64encode(f"me:{SECRET}".encode()))
    for file in collection.rglob("*"):
        if not file.is_file():
            continue
        content = file.read_bytes()
        if file.suffix == ".gz":
            content += gzip.decompress(content)
        assert not any(word in content for word in written), file


def document_root(folder: Path, links: str) -> Path:
    root = folder / "root"
    root.mkdir()
    (root / "index.html").write_text(links)
    (root / "b.html").write_text("<title>b</title>b")
    return root


def test_a_password_opens_its_host_and_goes_nowhere_else(tmp_path: Path, collection: Path) -> None:
    port = free_port()
    (tmp_path / "users").write_text(f"me:{{PLAIN}}{SECRET}\n")
    with site_in_thread({"*": page("x")}, host="127.0.0.2") as other:
        root = document_root(tmp_path, f'<a href=/b.html>b</a> <a href="{other.url("/")}">o</a>')
        server = (
            f"server {{ listen 127.0.0.1:{port}; root {root}; auth_basic study; "
            f"auth_basic_user_file {tmp_path}/users; location /robots.txt {{ auth_basic off; }} }}"
        )
        with nginx(tmp_path, server, "127.0.0.1", port):
            crawl(
                collection,
                [f"http://127.0.0.1:{port}/"],
                scope__kind="any",
                fetch__allow_private=LOOPBACK,
                fetch__logins_file=logins(tmp_path, f"127.0.0.1:{port}"),
            )

    assert fates(collection) == {"/": "fetched 200", "/b.html": "fetched 200"}
    assert {asked.headers.get("authorization") for asked in other.log} == {None}
    assert_secret_is_not_in(collection)


def test_a_password_is_not_for_other_ports_of_its_host(tmp_path: Path, collection: Path) -> None:
    wants = {"www-authenticate": 'Basic realm="other"'}
    asks = page("who are you", "401 Unauthorized", wants)
    with site_in_thread({"/robots.txt": page("", "404 No"), "*": asks}) as other:
        links = f'<a href="{other.url("/link")}">x</a><a href=/moved>y</a>'
        pages = {"/": page(links), "/moved": redirect(other.url("/redirect"))}
        with site_in_thread(pages) as site:
            crawl(
                collection,
                [site.url()],
                scope__kind="any",
                fetch__allow_private=LOOPBACK,
                fetch__logins_file=logins(tmp_path, "127.0.0.1"),
            )

    assert {"/link", "/redirect"} <= set(other.asked)
    assert {asked.headers.get("authorization") for asked in other.log} == {None}
    assert_secret_is_not_in(collection)


def digest_answer(request: Request) -> bytes:
    """RFC 7616 with MD5 and qop=auth, as a server checks it."""
    if request.target == "/robots.txt":
        return page("", "404 Not Found")
    said = dict(re.findall(r'(\w+)="?([^",]+)"?', request.headers.get("authorization", "")))
    ours = hashlib.md5(f"me:study:{SECRET}".encode()).hexdigest()
    what = hashlib.md5(f"GET:{request.target}".encode()).hexdigest()
    proof = ":".join([ours, "n0nce", said.get("nc", ""), said.get("cnonce", ""), "auth", what])
    if said.get("response") == hashlib.md5(proof.encode()).hexdigest():
        return page("<title>in</title><a href=/b>b</a>")
    wanted = 'Digest realm="study", nonce="n0nce", qop="auth", algorithm=MD5'
    return page("who are you", "401 Unauthorized", {"www-authenticate": wanted})


def test_a_digest_proves_the_password_and_does_not_tell_it(
    tmp_path: Path, collection: Path
) -> None:
    with site_in_thread({"*": digest_answer}) as site:
        crawl(collection, [site.url()], fetch__logins_file=logins(tmp_path, "127.0.0.1"))

    assert fates(collection) == {"/": "fetched 200", "/b": "fetched 200"}
    assert site.asked == ["/robots.txt", "/", "/", "/b"]  # the first page teaches the scheme
    assert not any("basic" in a.headers.get("authorization", "").lower() for a in site.log)
    assert_secret_is_not_in(collection)


@contextmanager
def site_behind(folder: Path) -> Iterator[str]:
    """A site that answers nobody but the proxies."""
    port = free_port()
    root = document_root(folder, "<a href=/b.html>b</a>")
    server = (
        f"server {{ listen 127.0.0.1:{port}; root {root}; "
        f"location /robots.txt {{ return 404; }} "
        f"location / {{ allow {BEHIND}; deny all; }} }}"
    )
    with nginx(folder, server, "127.0.0.1", port):
        yield f"http://127.0.0.1:{port}/"


def test_a_site_that_only_a_proxy_reaches(tmp_path: Path, collection: Path) -> None:
    with site_behind(tmp_path) as seed, tinyproxy(tmp_path, comes_from=BEHIND) as proxy:
        crawl(tmp_path / "without", [seed])
        crawl(collection, [seed], fetch__proxy=proxy)

    assert fates(tmp_path / "without") == {"/": "fetched 403"}
    assert fates(collection) == {"/": "fetched 200", "/b.html": "fetched 200"}


def test_a_proxy_with_a_password_and_names(tmp_path: Path, collection: Path) -> None:
    with (
        site_behind(tmp_path) as seed,
        tinyproxy(tmp_path, comes_from=BEHIND, login=f"me {SECRET}") as proxy,
    ):
        given = logins(tmp_path, proxy.removeprefix("http://"))
        crawl(collection, [seed], fetch__proxy=proxy, fetch__logins_file=given)
        crawl(
            tmp_path / "names",
            [seed],
            fetch__proxy=proxy,
            fetch__logins_file=given,
            fetch__proxy_resolves=True,
        )
        crawl_hurried(tmp_path / "without", [seed], fetch__proxy=proxy)

    assert fates(collection) == {"/": "fetched 200", "/b.html": "fetched 200"}
    assert fates(tmp_path / "names") == {"/": "fetched 200", "/b.html": "fetched 200"}
    assert set(fates(tmp_path / "without").values()) <= {"failed connect", "refused robots"}
    assert_secret_is_not_in(collection)


def test_a_socks_proxy_and_one_host_that_goes_round_it(tmp_path: Path, collection: Path) -> None:
    with (
        site_in_thread({"*": page("x")}, host="127.0.0.2") as other,
        site_behind(tmp_path) as seed,
        microsocks(comes_from=BEHIND, login=("me", SECRET)) as proxy,
    ):
        crawl(
            collection,
            [seed, other.url("/")],
            fetch__proxy=proxy,
            fetch__proxies=("127.0.0.2=direct",),
            fetch__logins_file=logins(tmp_path, proxy.removeprefix("socks5://")),
        )

    assert set(outcomes(collection)) == {seed, f"{seed}b.html", other.url("/")}
    assert set(fates(collection).values()) == {"fetched 200"}
    assert {asked.peer[0] for asked in other.log} != {BEHIND}
    assert_secret_is_not_in(collection)


@pytest.mark.parametrize("gives_names", [False, True])
def test_a_proxy_is_not_a_way_to_private_addresses(
    gives_names: bool, tmp_path: Path, collection: Path
) -> None:
    with (
        site_in_thread({"*": page("inner")}, host="127.0.0.3") as inner,
        tinyproxy(tmp_path, comes_from=BEHIND) as proxy,
        site_in_thread({"/": page(f'<a href="{inner.url("/")}">x</a>')}) as site,
    ):
        crawl(
            collection,
            [site.url()],
            scope__kind="any",
            fetch__proxy=proxy,
            fetch__proxy_resolves=gives_names,
        )

    assert inner.connections == 0
    assert outcomes(collection)[inner.url("/")].reason == "private"


def test_a_certificate_is_shown_to_typed_hosts_only(tmp_path: Path, collection: Path) -> None:
    ours = Authority.make(tmp_path)
    server, client = ours.sign("127.0.0.1", "127.0.0.2"), ours.sign("me.example", title="client")
    port = free_port()
    root = document_root(
        tmp_path, f'<a href=/b.html>b</a><a href="https://127.0.0.2:{port}/o">o</a>'
    )
    shared = f"root {root}; ssl_certificate {server}; ssl_certificate_key {server};"
    servers = (
        f"server {{ listen 127.0.0.1:{port} ssl; ssl_verify_client on; "
        f"ssl_client_certificate {ours.certificate}; {shared} }}\n"
        f"server {{ listen 127.0.0.2:{port} ssl; ssl_verify_client optional_no_ca; {shared} }}\n"
    )
    with nginx(tmp_path, servers, "127.0.0.1", port) as log:
        crawl(
            collection,
            [f"https://127.0.0.1:{port}/"],
            scope__kind="any",
            fetch__allow_private=LOOPBACK,
            fetch__client_certificate=str(client),
            fetch__authorities_file=str(ours.certificate),
        )
    seen = {tuple(line.split("|")[0:4:3]) for line in log.read_text().splitlines()}

    assert fates(collection)["/b.html"] == "fetched 200"
    assert seen == {("127.0.0.1", "SUCCESS"), ("127.0.0.2", "NONE")}


def test_without_its_authority_a_site_is_not_trusted(tmp_path: Path, collection: Path) -> None:
    ours = Authority.make(tmp_path)
    tls = server_context(ours.sign("127.0.0.1"))

    with site_in_thread({"*": page("x")}, tls=tls) as site:
        crawl_hurried(collection, [site.url()])
        crawl(tmp_path / "with", [site.url()], fetch__authorities_file=str(ours.certificate))

    assert fates(collection) == {"/": "failed tls"}
    assert fates(tmp_path / "with") == {"/": "fetched 200"}


def test_cookies_of_a_file_go_to_their_site_and_come_back_as_it_changes_them(
    tmp_path: Path, collection: Path
) -> None:
    jar = tmp_path / "cookies.txt"
    jar.write_text(
        f"# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t2147483647\tsession\t{SECRET}\n"
    )
    with site_in_thread({"*": page("x")}, host="127.0.0.2") as other:
        far = other.url("/")
        first = page(
            f'<a href=/b>b</a> <a href="{far}">o</a>', headers={"set-cookie": "step=2; Path=/"}
        )
        with site_in_thread(
            {"/robots.txt": page("", "404 No"), "/": first, "*": page("b")}
        ) as site:
            crawl(
                collection,
                [site.url()],
                scope__kind="any",
                fetch__allow_private=LOOPBACK,
                fetch__cookies_file=str(jar),
            )

    sent = {asked.path: asked.headers.get("cookie") for asked in site.log}
    assert sent["/"] == f"session={SECRET}"
    assert set((sent["/b"] or "").split("; ")) == {f"session={SECRET}", "step=2"}
    assert {asked.headers.get("cookie") for asked in other.log} == {None}
    assert_secret_is_not_in(collection)
