"""The whole: a real server, a crawl started through it that outlives it, and a live view."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from support.a_server import serving
from support.a_site import page, site_in_thread

pytestmark = pytest.mark.slow


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
        with serving(collection) as server:
            client = server.client
            assert client.get("/healthz").status_code == 200
            assert httpx.get(server.link).status_code == 303
            body = {"seeds": [site.url()], "name": "tulips", "delay": 0.2, "max_time": 60}
            assert client.post("/api/crawls", json=body).status_code == 202
            assert client.post("/api/crawls/tulips/pause").json()["state"] == "paused"
            assert client.post("/api/crawls/tulips/resume").status_code == 202
            told = events_until(client, '"state": "running"', "tulips")
            assert re.search(r"^id: [0-9a-f]+-\d+$", told, re.MULTILINE)
        # The server is gone; the crawl is not.
        with serving(collection) as server:
            client = server.client
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
