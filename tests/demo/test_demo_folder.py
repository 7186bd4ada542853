"""The demo web in a folder: files that a person edits, served as they are."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from gossamer.demo.folder import hosts_in, prepare_folder
from gossamer.demo.folder_site import folder_site
from gossamer.demo.server import DemoWeb, serve
from gossamer.errors import UsageError
from support.killing import typed
from support.programs import free_port

GARDEN = "garden.localhost"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    prepare_folder(tmp_path / "web", 8801)
    return tmp_path / "web"


@pytest.fixture
def web(folder: Path) -> Iterator[DemoWeb]:
    with serve(0, partial(folder_site, folder)) as running:
        yield running


def ask(
    web: DemoWeb, target: str, host: str = GARDEN, headers: Mapping[str, str] | None = None
) -> tuple[int, Mapping[str, str], bytes]:
    client = http.client.HTTPConnection("127.0.0.1", web.port)
    try:
        client.request("GET", target, headers={"Host": host, **(headers or {})})
        said = client.getresponse()
        return said.status, {k.lower(): v for k, v in said.getheaders()}, said.read()
    finally:
        client.close()


def test_pages_become_files_and_their_links_lead_to_files(folder: Path) -> None:
    assert hosts_in(folder) == [
        "garden.localhost", "library.localhost", "museum.localhost", "news.localhost",
        "stadt.localhost",
    ]  # fmt: skip
    day = (folder / GARDEN / "days/3.html").read_text(encoding="utf-8")
    assert "<a href='/days/4.html'>" in day
    assert "<a href='/tags/'>" in day
    assert (folder / GARDEN / "tags/index.html").exists()
    assert not list(folder.rglob("*[?]*"))


def test_every_page_can_be_reached_by_links_or_sitemap(folder: Path, web: DemoWeb) -> None:
    listed = re.findall(r"<loc>http://[^/]+(/[^<]*)</loc>", ask(web, "/sitemap.xml")[2].decode())
    files = list((folder / GARDEN).rglob("*.html"))

    assert len(listed) == len(files) > 50
    assert {ask(web, path)[0] for path in listed} == {200}
    robots = ask(web, "/robots.txt")[2].decode()
    assert robots.endswith("Sitemap: http://garden.localhost:8801/sitemap.xml\n")


def test_a_page_has_true_validators_and_conditional_requests_get_304(
    folder: Path, web: DemoWeb
) -> None:
    _, first, body = ask(web, "/days/3.html")
    by_tag = ask(web, "/days/3.html", headers={"If-None-Match": f'"x", {first["etag"]}'})
    by_date = ask(web, "/days/3.html", headers={"If-Modified-Since": first["last-modified"]})
    path = folder / GARDEN / "days/3.html"
    path.write_bytes(body.replace(b"leeks", b"beans"))
    again = ask(web, "/days/3.html", headers={"If-None-Match": first["etag"]})

    assert first["content-type"] == "text/html; charset=utf-8"
    assert first["last-modified"] == "Wed, 31 Dec 2025 12:00:00 GMT"
    assert (by_tag[0], by_tag[2], by_date[0]) == (304, b"", 304)
    assert "content-length" not in by_tag[1]
    assert again[0] == 200
    assert b"beans" in again[2]
    assert again[1]["etag"] != first["etag"]
    assert again[1]["last-modified"] != first["last-modified"]


def test_added_and_deleted_files_are_pages_and_in_sitemap_and_feed_at_once(
    folder: Path, web: DemoWeb
) -> None:
    (folder / GARDEN / "days/41.html").write_text("<title>A &amp; B</title>new")
    (folder / GARDEN / "days/7.html").unlink()

    sitemap, feed = (ask(web, path)[2].decode() for path in ("/sitemap.xml", "/feed.xml"))

    assert ask(web, "/days/41.html")[0] == 200
    assert ask(web, "/days/7.html")[0] == 404
    assert "/days/41.html</loc>" in sitemap
    assert "/days/7.html</loc>" not in sitemap
    assert feed.index("<title>A &amp; B</title>") == feed.index("<title>", feed.index("<entry>"))


@pytest.mark.parametrize(
    "target", ["/../.port", "/%2e%2e/.port", "/.port", "//etc/passwd", "/days", "/x%00y", "*"]
)
def test_nothing_outside_the_site_is_served(web: DemoWeb, target: str) -> None:
    assert ask(web, target)[0] == 404
    assert ask(web, "/index.html", host="..")[0] == 404
    assert ask(web, "/index.html", host="unknown.localhost")[0] == 404


def test_a_link_out_of_the_folder_is_not_followed(folder: Path, web: DemoWeb) -> None:
    (folder / "secret.html").write_text("secret")
    (folder / GARDEN / "link.html").symlink_to(folder / "secret.html")

    assert ask(web, "/link.html")[0] == 404


def test_a_page_in_another_charset_names_it_itself(web: DemoWeb) -> None:
    _, headers, body = ask(web, "/chronik.html", host="stadt.localhost")

    assert headers["content-type"] == "text/html"
    with pytest.raises(UnicodeDecodeError):
        body.decode()


def test_edits_are_kept_when_the_folder_is_served_again(folder: Path) -> None:
    path = folder / GARDEN / "days/3.html"
    path.write_text("mine")

    assert prepare_folder(folder, None) == 8801
    assert path.read_text() == "mine"
    with pytest.raises(UsageError, match="link to port 8801"):
        prepare_folder(folder, 9000)


def test_a_folder_with_something_else_in_it_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")

    ended = typed("demo", "--folder", tmp_path, "--port", str(free_port()))

    assert ended.code == 2
    assert "is not empty; name a new folder" in ended.err
    assert list(tmp_path.iterdir()) == [tmp_path / "mine.txt"]


def test_a_taken_port_is_an_error_before_anything_is_written(web: DemoWeb, tmp_path: Path) -> None:
    new = typed("demo", "--folder", tmp_path / "new", "--port", str(web.port))

    assert new.code == 2
    assert f"cannot serve at port {web.port} (address already in use); choose another" in new.err
    assert not (tmp_path / "new").exists()


def test_flags_that_do_not_go_together_are_errors(tmp_path: Path) -> None:
    assert typed("demo", "--folder", tmp_path / "a", "--keep").code == 2
    assert typed("demo", "--port", "8801").code == 2
    assert not (tmp_path / "a").exists()


def test_the_command_serves_until_ctrl_c_and_says_what_to_do_next(tmp_path: Path) -> None:
    port = free_port()
    words = ["demo", "--folder", str(tmp_path / "web"), "--port", str(port)]
    command = [sys.executable, "-m", "gossamer", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        said = [running.stderr.readline() for _ in range(8)]
        client = http.client.HTTPConnection("127.0.0.1", port)
        client.request("GET", "/", headers={"Host": f"{GARDEN}:{port}"})
        status = client.getresponse().status
        client.close()
        running.send_signal(signal.SIGINT)
        rest = running.stderr.read()
        code = running.wait(20)

    assert code == 0
    assert status == 200
    assert f"at http://{GARDEN}:{port}/" in said[0]
    assert any(line.startswith("  gossamer watch http://garden.localhost") for line in said)
    assert "Stopped." in rest
