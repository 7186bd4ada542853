"""Addresses and URLs that a crawler must not reach: nothing of them is connected to, by any way."""

from __future__ import annotations

import ipaddress
import json
from pathlib import Path
from typing import Any

import pytest

from gossamer.fetch.guard import AddressGuard
from gossamer.urls.canonical import NormalForm, host_of
from gossamer.urls.site import is_address
from support.own_internet import in_networks, run_within
from support.shared import suite

# In an internet of its own: links, redirects, names, changing names, robots.txt and sitemaps.
CRAWL = Path(__file__).with_name("ssrf_crawl.py")
SEEN_AS = ("refused private", "refused port", "failed dns")


@pytest.fixture(scope="module")
def crawled() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run_within(CRAWL, str(suite("ssrf"))))
    return found


def bad_urls() -> list[str]:
    home = suite("ssrf")
    urls = [row["url"] for row in json.loads((home / "bypass_urls.json").read_text())]
    return urls + list(json.loads((home / "cloud_metadata_urls.json").read_text()))


@pytest.mark.slow
def test_of_120_rows_none_is_connected_to(crawled: dict[str, Any]) -> None:
    assert crawled["stopped"] == "done"
    assert len(bad_urls()) == 89
    assert {address.rpartition(".")[0] for address in crawled["reached"]} == {
        "93.184.216",
        "93.184.217",
    }


@pytest.mark.slow
def test_every_url_of_the_suite_that_is_one_was_met_and_refused(crawled: dict[str, Any]) -> None:
    form, base = NormalForm(), "http://start.example/"
    targets = {url for bad in bad_urls() if (url := form.find(bad, base)) is not None}
    far = {url for url in targets if host_of(url) != "start.example"}

    assert len(far) == 68  # many of the 89 are one URL in canonical form
    assert {crawled["outcomes"][url] for url in far} <= set(SEEN_AS)


@pytest.mark.slow
def test_a_name_that_leads_inside_is_refused(crawled: dict[str, Any]) -> None:
    held = json.loads((suite("ssrf") / "advocate_addresses.json").read_text())
    count = len(held["blocked_addresses"]) + len(in_networks(held["blocked_networks"]))

    named = {crawled["outcomes"][f"http://n{n}.evil.example/"] for n in range(count)}

    assert named == {"refused private"}


@pytest.mark.slow
def test_a_name_that_changes_is_judged_each_time(crawled: dict[str, Any]) -> None:
    fates = {crawled["outcomes"][f"http://changing.example/{n}"] for n in range(6)}

    assert ["93.184.216.34", "changing.example", "/robots.txt"] in crawled["asked"]
    assert fates == {"refused private"}


def test_every_address_of_the_suite_is_judged_as_it_says() -> None:
    held = json.loads((suite("ssrf") / "advocate_addresses.json").read_text())
    guard, form = AddressGuard(), NormalForm()

    for address in [*held["blocked_addresses"], *in_networks(held["blocked_networks"])]:
        assert guard.forbids(address, is_trusted=False), address
    for address in held["allowed_addresses"]:
        assert guard.forbids(address, is_trusted=False) is None, address
    for name in held["hostnames_with_nul_blocked"]:
        assert form.find(f"http://{name}/") is None


def test_every_spelling_of_an_address_is_the_address() -> None:
    form = NormalForm()
    for row in json.loads((suite("ssrf") / "bypass_urls.json").read_text()):
        url = form.find(row["url"])
        if url is None or not row["same_as"] or not is_address(host_of(url)):
            continue
        meant = ipaddress.ip_address(row["same_as"].removeprefix("http://"))
        assert ipaddress.ip_address(host_of(url).strip("[]")) == meant
