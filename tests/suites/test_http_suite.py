"""Answers and redirects of curl's own tests: what curl takes we take, what it refuses fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from flow.outcomes import crawl, outcomes
from gossamer.base.clock import SystemClock
from gossamer.fetch.decode import decode
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.head import Head
from gossamer.fetch.judge import ResponseJudge
from gossamer.records import Answer, Fetched, Lease
from gossamer.settings import Fetch
from support.a_site import Misbehaviour, Request, a_site, answer, site_in_thread
from support.shared import suite

# No answer of the suite needs a second; past this it would hang.
LIMIT_S = 60.0
# Options that change what curl makes of the same bytes, and that we have nothing like: transfer
# codings asked for, HTTP/0.9 allowed, lengths ignored, framing left in, errors without a body, and
# a date by which curl drops a body that came.
OTHER_READING = ("--tr-encoding", "--http0.9", "--ignore-content-length", "--raw", "--fail", "-z ")
NOT_AS_CURL = {
    395,  # a length of 21 digits: curl reads on without one, we refuse it as too large
    2305,  # two gzip members: curl fails, browsers and we decode both
}


def rows() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        (suite("http-curl") / "responses.json").read_text(encoding="utf-8")
    )
    return found


def is_comparable(row: dict[str, Any]) -> bool:
    return not any(option.startswith(OTHER_READING) for option in row["client_options"])


def max_bytes(row: dict[str, Any]) -> int:
    """The limit of `--max-filesize 5` and `--max-filesize=5`."""
    for option in row["client_options"]:
        if option.startswith("--max-filesize"):
            return int(option.removeprefix("--max-filesize").strip(" ="))
    return 10 * 2**20


def sends(raw: bytes) -> Misbehaviour:
    """Sends the bytes and closes."""

    async def act(writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()

    return Misbehaviour(act)


async def answers_to(responses: Sequence[bytes], limits: Sequence[int]) -> list[Answer]:
    """What our fetcher makes of raw responses, each from a connection of its own."""
    settings = Fetch(types=("any",), connect_time_s=LIMIT_S, total_time_s=LIMIT_S)
    judge = ResponseJudge(settings.types, settings.max_body_bytes)
    fetcher = Fetcher(settings, judge, AddressGuard(), SystemClock())
    pages = {f"/{n}": sends(raw) for n, raw in enumerate(responses)}
    async with a_site(pages) as site:
        found = []
        for n, limit in enumerate(limits):
            lease = Lease(n, site.url(f"/{n}"), b"k" * 16, "127.0.0.1", "127.0.0.1",
                          is_trusted=True, max_body_bytes=limit)  # fmt: skip
            found.append(await fetcher.fetch(lease))
        await fetcher.aclose()
        return found


def is_as_curl(row: dict[str, Any], got: Answer, limit: int) -> bool:
    """Whether our verdict is curl's, and where it took the answer, the body too."""
    if not isinstance(got, Fetched):
        return bool(row["expected_exit"])
    body, fault, is_cut = got.body, "", bool(got.cut)
    if "--compressed" in row["client_options"]:
        decoded = decode(body, Head(got.head).first("content-encoding"), limit)
        body, fault, is_cut = decoded.body, decoded.fault, is_cut or decoded.is_cut
    is_taken = not is_cut and not (fault and not body)
    is_wanted = row["expected_exit"] == 0
    return is_taken == is_wanted and (
        not is_wanted or not row.get("body_hex") or body.hex() == row["body_hex"]
    )


def test_no_answer_hangs_and_all_comparable_ones_are_taken_as_curl_does() -> None:
    cases = rows()
    limits = [max_bytes(row) for row in cases]

    got = asyncio.run(answers_to([bytes.fromhex(row["response_hex"]) for row in cases], limits))

    assert len(got) == 135
    assert max(answer.took_s for answer in got) < LIMIT_S / 2
    judged = [case for case in zip(cases, got, limits, strict=True) if is_comparable(case[0])]
    other = {
        row["curl_test"] for row, answer, limit in judged if not is_as_curl(row, answer, limit)
    }
    assert len(judged) == 113
    assert other == NOT_AS_CURL


@dataclass(frozen=True, slots=True)
class Chain:
    """A row of redirects: hops that a server gives in turn, whatever it is asked for."""

    number: int
    seed: str  # with the port 8990
    hops: tuple[tuple[int, str | None], ...]
    targets: tuple[str, ...]
    max_redirects: int


def chains() -> list[Chain]:
    found = []
    for row in json.loads((suite("http-curl") / "redirects.json").read_text(encoding="utf-8")):
        limit = next((int(o.split()[1]) for o in row["options"] if "--max-redirs" in o), 10)
        hops = tuple((hop["status"], hop["location"]) for hop in row["hops"])
        targets = tuple(row["expected_request_targets"])
        # curl takes a URL without a scheme for http, we for https: that is no matter of redirects.
        seed = row["url"] if "://" in row["url"] else f"http://{row['url']}"
        found.append(Chain(row["curl_test"], seed, hops, targets, limit))
    return found


# Where the crawler asks for something else than curl does, and why that is right.
OTHER_TARGETS = {
    # A space in a query is %20 by the URL standard; curl makes a plus of it.
    40: ["/we/are/all/twits/40", "/we/are/all/moo.html/?name=d%20a%20niel&testcase=/400002"],
    # It leads to itself: a crawl asks for a URL once.
    193: ["/193"],
    # Dots are resolved before asking; curl was told --path-as-is.
    391: ["/391", "/3910002"],
}


def in_turn(chain: Chain, port: int) -> Callable[[Request], bytes]:
    """The hops one after the other, the last one for ever."""
    left = list(chain.hops)

    def give(_request: Request) -> bytes:
        status, location = left.pop(0) if len(left) > 1 else left[0]
        location = location and location.replace(":8990", f":{port}")
        named = {"content-type": "text/html", **({"location": location} if location else {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        if location == "":
            lines += "location:\r\n"
        head = f"HTTP/1.1 {status} Hop\r\n{lines}content-length: 1\r\n\r\n"
        return head.encode("latin-1") + b"x"

    return give


@pytest.mark.parametrize("number", range(25))
def test_a_chain_of_redirects_is_followed_as_curl_follows_it(number: int, collection: Path) -> None:
    chain = chains()[number]
    missing = answer(b"", "404 Not Found")

    with site_in_thread({"/robots.txt": missing}) as site:
        site.pages = {"/robots.txt": missing, "*": in_turn(chain, site.port)}
        crawl(
            collection,
            [chain.seed.replace(":8990", f":{site.port}")],
            fetch__max_redirects=chain.max_redirects,
            frontier__avoid_unsafe=False,  # one chain leads to `?logout=TRUE`
            frontier__max_repeats=10,
        )

    asked = [path for path in site.asked if path != "/robots.txt"]
    targets = OTHER_TARGETS.get(chain.number, list(chain.targets))
    assert asked == targets
    assert all(row.outcome != "queued" for row in outcomes(collection).values())
