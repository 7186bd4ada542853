"""URLs and sites as the standards' own cases want them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gossamer.urls.canonical import NormalForm, ParsedUrl, parse
from gossamer.urls.query import spelled_in
from gossamer.urls.site import site_of
from support.shared import suite

PARTS = tuple(ParsedUrl.__slots__)


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of a file of url-wpt; the strings between them are comments."""
    content = json.loads((suite("url-wpt") / name).read_text(encoding="utf-8"))
    return [case for case in content if isinstance(case, dict)]


@pytest.mark.parametrize(
    ("name", "count"), [("urltestdata.json", 891), ("urltestdata-javascript-only.json", 1)]
)
def test_every_url_is_parsed_as_the_standard_says(name: str, count: int) -> None:
    wrong = []
    for case in (found := cases(name)):
        parsed = parse(case["input"], case["base"] or "")
        parts = {part: getattr(parsed, part) for part in PARTS if part in case}
        if (parsed is None) != case.get("failure", False) or (
            parsed and parts != {part: case[part] for part in parts}
        ):
            wrong.append((case["input"], case["base"], parts))

    assert len(found) >= count
    assert wrong == []


def test_the_canonical_form_keeps_what_the_standard_says_reaches_a_server() -> None:
    form = NormalForm()
    for case in cases("urltestdata.json"):
        url = form.find(case["input"], case["base"] or "")
        if case.get("protocol") in ("http:", "https:"):
            search = case["search"]
            assert url == f"{case['protocol']}//{case['host']}{case['pathname']}{search}"
        else:
            assert url is None, case
        if not case.get("failure"):
            assert form.fault(case["input"], case["base"] or "") == ""


@pytest.mark.parametrize(
    ("name", "count"),
    [("toascii.json", 87), ("IdnaTestV2.json", 2670), ("IdnaTestV2-removed.json", 20)],
)
def test_every_international_name_becomes_ascii_as_the_standard_says(name: str, count: int) -> None:
    # An empty name (one case of IdnaTestV2) cannot be asked: no http URL is without a host.
    found = [case for case in cases(name) if case["input"]]
    wrong = []
    for case in found:
        parsed = parse(f"https://{case['input']}/x")
        if (parsed.hostname if parsed else None) != case["output"]:
            wrong.append((case, parsed))

    assert len(found) >= count
    assert wrong == []


def test_every_query_is_spelled_in_the_charset_of_its_page() -> None:
    for case in cases("percent-encoding.json"):
        for charset, spelled in case["output"].items():
            parsed = parse(spelled_in(charset, "?" + case["input"]), "https://example.org/")
            assert parsed is not None
            assert parsed.search == "?" + spelled, charset


def test_every_registrable_domain_is_the_site() -> None:
    lines = (suite("public-suffix") / "tests.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("//")]
    asked = 0
    for host, site in rows:
        parsed = parse(f"https://{host}/")
        if host == "null" or parsed is None:
            continue
        expected = parse(f"https://{site}/") if site != "null" else parsed
        assert expected is not None
        assert site_of(parsed.hostname) == expected.hostname, host
        asked += 1

    assert asked >= 77
