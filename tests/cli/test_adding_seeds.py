"""A seed of a new site joins a stored crawl only when the operator says so."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from support.a_site import Pages, Site, page, redirect, site_in_thread
from support.killing import Ended, typed

QUICK = ("--delay", "0", "--workers", "0")
HOSTS: dict[str, Pages] = {
    name: {"/": page(f"<title>{name}</title>"), "/b": page("b")}
    for name in ("one.localhost", "www.one.localhost", "two.localhost")
}


def url(site: Site, host: str, path: str = "/") -> str:
    return f"http://{host}:{site.port}{path}"


def crawl(collection: Path, *words: str) -> Ended:
    return typed("crawl", "-c", collection, *QUICK, *words)


def test_a_seed_of_a_new_site_is_refused_in_scripts(collection: Path) -> None:
    with site_in_thread(hosts=HOSTS) as site:
        crawl(collection, url(site, "one.localhost"))
        before = (collection / "log" / "acts.jsonl").read_bytes()
        ended = crawl(collection, url(site, "two.localhost"))

    assert ended.code == 2
    assert "two.localhost is new to" in ended.err
    assert "one.localhost (1 page)" in ended.err
    assert "--add" in ended.err
    assert "-c DIR" in ended.err
    assert (collection / "log" / "acts.jsonl").read_bytes() == before
    assert {request.headers["host"] for request in site.log} == {f"one.localhost:{site.port}"}


def test_with_add_it_joins_and_that_is_told(collection: Path) -> None:
    with site_in_thread(hosts=HOSTS) as site:
        crawl(collection, url(site, "one.localhost"))
        ended = crawl(collection, "--add", "--json", url(site, "two.localhost"))
        again = crawl(collection, "--json", url(site, "two.localhost"))

    assert (ended.code, ended.summary["fetched"]) == (0, 2)
    assert "New site in this collection: two.localhost." in ended.err
    assert again.code == 0
    assert "New site" not in again.err


def test_another_host_of_the_same_site_is_not_new(collection: Path) -> None:
    with site_in_thread(hosts=HOSTS) as site:
        crawl(collection, url(site, "one.localhost"))
        same = crawl(collection, "--json", url(site, "www.one.localhost"))
        page_of_it = crawl(collection, "--json", url(site, "one.localhost", "/b"))

    assert (same.code, same.summary["fetched"]) == (0, 2)
    assert (page_of_it.code, page_of_it.summary["fetched"]) == (0, 3)


def test_where_a_seed_redirected_to_is_not_new(collection: Path) -> None:
    with site_in_thread(hosts=HOSTS) as site:
        leads = redirect(url(site, "two.localhost"))
        site.hosts = {**HOSTS, "one.localhost": {"/": leads}}
        crawl(collection, url(site, "one.localhost"))
        ended = crawl(collection, "--json", url(site, "two.localhost", "/b"))

    assert ended.code == 0


def test_what_the_scope_holds_anyway_is_not_new(collection: Path, tmp_path: Path) -> None:
    with site_in_thread(hosts=HOSTS) as site:
        crawl(collection, "--scope", "any", url(site, "one.localhost"))
        of_any = crawl(collection, url(site, "two.localhost"))
        scope = ("--scope", "list", "--set", "scope.domains=one.localhost,two.localhost")
        crawl(tmp_path / "listed", *scope, url(site, "one.localhost"))
        of_list = crawl(tmp_path / "listed", url(site, "two.localhost"))

    assert (of_any.code, of_list.code) == (0, 0)


def test_a_collection_in_which_nothing_was_fetched_takes_any_seed(collection: Path) -> None:
    with site_in_thread(hosts=HOSTS) as site:
        site.hosts = {"one.localhost": {"/robots.txt": page("User-agent: *\nDisallow: /")}}
        assert crawl(collection, url(site, "one.localhost")).code == 3
        site.hosts = HOSTS
        ended = crawl(collection, "--json", url(site, "two.localhost"))

    assert (ended.code, ended.summary["fetched"]) == (0, 1)


def test_a_dry_run_says_that_it_is_needed(collection: Path) -> None:
    with site_in_thread(hosts=HOSTS) as site:
        crawl(collection, url(site, "one.localhost"))
        ended = crawl(collection, "--dry-run", url(site, "two.localhost"))

    assert ended.code == 0
    assert "two.localhost is new to this collection: the crawl needs --add" in ended.out


def on_a_terminal(answer: str, *words: str | Path) -> tuple[int, str]:
    """The exit code, and what the program said to somebody who types `answer`."""
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    command = [sys.executable, "-m", "gossamer", *map(str, words)]
    ended = subprocess.run(
        command, stdin=theirs, stderr=subprocess.PIPE, text=True, check=False, timeout=60
    )
    os.close(ours)
    os.close(theirs)
    return ended.returncode, ended.stderr


def test_on_a_terminal_it_is_asked_for(collection: Path) -> None:
    with site_in_thread(hosts=HOSTS) as site:
        crawl(collection, url(site, "one.localhost"))
        words = ("crawl", "-c", collection, *QUICK, url(site, "two.localhost"))
        no = on_a_terminal("\n", *words)
        asked = len(site.log)
        yes = on_a_terminal("y\n", *words)

    assert no[0] == 2
    assert "Crawl it into the same collection? [y/N]" in no[1]
    assert asked == 2
    assert yes[0] == 0
    assert "New site in this collection: two.localhost." in yes[1]
