"""The whole: a real server, a crawl started through it that outlives it, and a live view."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from support.a_site import page, site_in_thread

pytestmark = pytest.mark.slow


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def serving(collection: Path, *flags: str) -> Iterator[tuple[httpx.Client, str]]:
    """`gossamer serve` as a program; a client with its token, and the link that it printed."""
    port = free_port()
    words = [sys.executable, "-m", "gossamer", "serve", "-c", str(collection), "--port", str(port)]
    process = subprocess.Popen([*words, *flags], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        link = process.stderr.readline().split()[1]
        token = process.stderr.readline().split()[-1]
        transport = httpx.HTTPTransport(retries=8)  # it printed before it listens
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", transport=transport, headers=headers, timeout=30
        ) as client:
            yield client, link
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()


def events_until(client: httpx.Client, wanted: str, name: str) -> str:
    """What a live view is sent, up to the first event that has `wanted` in it."""
    told = ""
    with client.stream("GET", "/api/events", params={"c": name}) as stream:
        for line in stream.iter_lines():
            told += line + "\n"
            if wanted in line:
                break
    return told


def test_a_crawl_is_started_watched_searched_paused_and_cleared(collection: Path) -> None:
    links = "".join(f"<a href=/{number}>leaf</a>" for number in range(500))
    pages = {"/": page(f"<title>Root</title>{links}"), "*": page("<title>Leaf</title>tulips")}

    with site_in_thread(pages) as site:
        with serving(collection) as (client, link):
            assert client.get("/healthz").status_code == 200
            assert httpx.get(link).status_code == 303
            body = {"seeds": [site.url()], "name": "tulips", "delay": 0.2, "max_time": 60}
            assert client.post("/api/crawls", json=body).status_code == 202
            told = events_until(client, '"state": "running"', "tulips")
            assert re.search(r"^id: [0-9a-f]+-\d+$", told, re.MULTILINE)
        # The server is gone; the crawl is not.
        with serving(collection) as (client, _):
            events_until(client, "/1", "tulips")
            assert client.post("/api/crawls/tulips/pause").json()["state"] == "paused"
            assert client.request(
                "DELETE", "/api/crawls/tulips", json={"confirm": "tulips"}
            ).status_code == 409  # fmt: skip
            assert client.post("/api/crawls/tulips/stop").status_code == 202
            events_until(client, '"state": "stored"', "tulips")
            found = client.get("/api/search", params={"q": "tulips", "c": "tulips"}).json()
            assert found["total"] > 0
            cleared = client.request("DELETE", "/api/crawls/tulips", json={"confirm": "tulips"})
            assert cleared.status_code == 200
            assert client.get("/api/crawls").json()["crawls"] == []


def test_it_does_not_start_on_the_outside_without_a_secret(collection: Path) -> None:
    words = [sys.executable, "-m", "gossamer", "serve", "--host", "0.0.0.0", "-c", str(collection)]

    ended = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)

    assert ended.returncode == 2
    assert "can be reached from outside" in ended.stderr
