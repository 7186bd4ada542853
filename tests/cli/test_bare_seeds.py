"""A seed without a scheme: https where the server takes it, else http, and the choice is told."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from support.a_site import page, site_in_thread
from support.killing import typed

QUICK = ("--delay", "0", "--workers", "0", "--json")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "some.localhost"])
def test_a_server_without_tls_is_crawled_by_http(host: str, collection: Path) -> None:
    with site_in_thread({"*": page("x")}) as site:
        ended = typed("crawl", "-c", collection, *QUICK, f"{host}:{site.port}/x")

    assert (ended.code, ended.summary["fetched"]) == (0, 1)
    assert f"Using http://{host}:{site.port}/x for {host}:{site.port}/x:" in ended.err
    assert site.asked == ["/robots.txt", "/x"]


def test_names_in_files_and_on_stdin_may_be_bare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site_in_thread({"*": page("x")}) as site:
        (tmp_path / "seeds.txt").write_text(f"# mine\nlocalhost:{site.port}/b\n")
        monkeypatch.setattr("sys.stdin", io.StringIO(f"localhost:{site.port}/c\n"))
        words = ("-f", tmp_path / "seeds.txt", "-", f"localhost:{site.port}/a")
        ended = typed("crawl", "-c", tmp_path / "study", *QUICK, *words)

    assert ended.code == 0
    assert sorted(site.asked) == ["/a", "/b", "/c", "/robots.txt"]


def test_a_stored_seed_keeps_its_scheme_though_its_server_is_down(collection: Path) -> None:
    with site_in_thread({"*": page("x")}) as site:
        typed("crawl", "-c", collection, *QUICK, f"localhost:{site.port}")
        name = f"localhost:{site.port}"
    again = typed("crawl", "-c", collection, *QUICK, name)

    assert again.code == 0
    assert (again.summary["known"], again.summary["fetched"]) == (1, 1)
    assert "Using http" not in again.err


def test_a_server_that_is_down_leaves_its_trace_as_https(collection: Path) -> None:
    with site_in_thread({}) as site:
        port = site.port
    ended = typed("crawl", "-c", collection, *QUICK, f"localhost:{port}")

    assert ended.code == 3
    assert "neither https" in ended.err
    assert typed("why", "-c", collection, f"localhost:{port}").code == 0


def test_a_dry_run_connects_to_nobody(collection: Path) -> None:
    with site_in_thread({"*": page("x")}) as site:
        ended = typed("crawl", "-c", collection, "--dry-run", f"localhost:{site.port}")

    assert ended.code == 0
    assert f"https://localhost:{site.port}/" in ended.out
    assert site.connections == 0
