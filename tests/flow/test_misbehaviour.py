"""Servers that do what they should not: every URL gets an outcome with its reason, and in time."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flow.outcomes import crawl, crawl_hurried, fates, outcomes
from support.a_crawl import crawl_until
from support.a_site import (
    Misbehaviour,
    Pages,
    after_interim,
    answer,
    chunked,
    drip,
    endless_body,
    endless_headers,
    endless_interim,
    gzipped,
    hang,
    http_0_9,
    http_1_0,
    page,
    reset,
    reset_after,
    site_in_thread,
    wrong_length,
)
from support.killing import lines_of

QUICK_TIMES: dict[str, object] = {
    "fetch__connect_time_s": 1.0,
    "fetch__total_time_s": 0.8,
    "fetch__low_speed_time_s": 1,
    "fetch__max_body_bytes": 100_000,
}
AMPLE_TIMES: dict[str, object] = {
    "fetch__connect_time_s": 60.0,
    "fetch__total_time_s": 60.0,
    "fetch__low_speed_time_s": 60,
}
GOOD = {
    "chunked": chunked("<title>in pieces</title>"),
    "http/1.0": http_1_0("<title>old</title>"),
    "interim": after_interim(page("<title>at last</title>"), 3),
    "gzip": gzipped("<title>small</title>"),
    "bare line feeds": b"HTTP/1.1 200 OK\ncontent-length: 2\ncontent-type: text/html\n\nhi",
    "no phrase": b"HTTP/1.1 200\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nhi",
    "phrase grown on": b"HTTP/1.1 200OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nhi",
    "folded header": b"HTTP/1.1 200 OK\r\nx-a: 1\r\n  2\r\ncontent-length: 2\r\n\r\nhi",
    "length twice the same": b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nhi",
    "trailers": (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n"
        b"2\r\nhi\r\n0\r\nx-after: 1\r\n\r\n"
    ),
    "empty": page(""),
    "no type": b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
}
BAD: dict[str, tuple[bytes | Misbehaviour, str]] = {
    "reset": (reset(), "reset"),
    "reset in the body": (reset_after(page("x" * 900)[:300]), "reset"),
    "reset in the headers": (reset_after(b"HTTP/1.1 200 OK\r\ncontent-ty"), "reset"),
    "closed without a word": (b"", "reset"),
    "too short": (wrong_length("short", 900), "reset"),
    "hang": (hang(), "timeout"),
    "hang in the body": (hang(page("x" * 900)[:300]), "timeout"),
    "drip": (drip(page("x" * 2000), every_s=0.05), "timeout"),
    "http/0.9": (http_0_9("<p>zero nine"), "protocol"),
    "endless headers": (endless_headers(), "protocol"),
    "one endless header": (endless_headers(b"x" * 5000), "protocol"),
    "endless interim": (endless_interim(), "protocol"),
    "negative length": (b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nhi", "protocol"),
    "two lengths": (
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nhi!",
        "protocol",
    ),
    "no status": (b"HTTP/1.1 abc\r\n\r\n", "protocol"),
    "not http": (b"220 mail.example ESMTP\r\n", "protocol"),
    "bad chunks": (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhi\r\n0\r\n\r\n",
        "protocol",
    ),
    "chunks cut off": (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhi",
        "reset",
    ),
    "interim and no more": (b"HTTP/1.1 103 Early Hints\r\n\r\n", "reset"),
    "not gzip": (
        page(b"\x1f\x8b\x08\0garbagegarbageg!", headers={"content-encoding": "gzip"}),
        "encoding",
    ),
    "switching": (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\nhello", "protocol"),
}


@pytest.mark.parametrize("is_late", [False, True])
def test_every_bad_answer_ends_as_failed_with_its_reason(is_late: bool, collection: Path) -> None:
    # Only who is to be too late has little time: a busy machine makes others late, too.
    times = QUICK_TIMES if is_late else {**QUICK_TIMES, **AMPLE_TIMES}
    bad = {name: row for name, row in BAD.items() if (row[1] == "timeout") is is_late}
    names = dict(enumerate(bad))
    links = "".join(f"<a href=/{number}>x</a>" for number in names)
    pages: Pages = {"/": page(links)} | {f"/{n}": bad[name][0] for n, name in names.items()}

    with site_in_thread(pages) as site:
        summary = crawl_hurried(collection, [site.url()], politeness__per_host=32, **times)

    found = fates(collection)
    assert {name: found[f"/{n}"] for n, name in names.items()} == {
        name: f"failed {reason}" for name, (_, reason) in bad.items()
    }
    assert summary.queued == 0
    assert summary.failed == len(bad)


@pytest.mark.parametrize("name", ["reset", "not gzip", "http/0.9"])
def test_a_fault_is_tried_again_as_often_as_its_rule_says(name: str, collection: Path) -> None:
    tries = {"reset": 4, "not gzip": 1, "http/0.9": 2}[name]

    with site_in_thread({"/": page("<a href=/bad>x</a>"), "/bad": BAD[name][0]}) as site:
        crawl_hurried(collection, [site.url()], politeness__idle_retries=9, **QUICK_TIMES)

    assert site.asked.count("/bad") == tries
    assert [line.get("tries", 0) for line in lines_of(collection / "log" / "crawl.jsonl")][
        -tries:
    ] == list(range(tries))


def test_a_fault_that_passes_leaves_a_page(collection: Path) -> None:
    pages: Pages = {"/": page("<a href=/later>x</a>"), "/later": [reset(), hang(), page("here")]}

    with site_in_thread(pages) as site:
        summary = crawl_hurried(collection, [site.url()], **QUICK_TIMES)

    assert fates(collection)["/later"] == "fetched 200"
    assert (summary.fetched, summary.failed, summary.by_reason) == (2, 0, {})


def test_odd_answers_that_browsers_take_are_taken(
    collection: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    names = dict(enumerate(GOOD))
    links = "".join(f"<a href=/{number}>x</a>" for number in names)
    pages: Pages = {"/": page(links)} | {f"/{n}": GOOD[name] for n, name in names.items()}

    with site_in_thread(pages) as site:
        crawl(collection, [site.url()], **QUICK_TIMES)

    found = fates(collection)
    assert {name: found[f"/{n}"] for n, name in names.items()} == dict.fromkeys(GOOD, "fetched 200")
    assert capfd.readouterr().err == ""  # libcurl prints what its callbacks raise


def test_an_endless_body_is_cut_at_the_limit_and_marked(collection: Path) -> None:
    with site_in_thread({"/": page("<a href=/on>x</a>"), "/on": endless_body()}) as site:
        summary = crawl(collection, [site.url()], **QUICK_TIMES)

    row = outcomes(collection)[site.url("/on")]
    assert (row.outcome, row.status, row.size_bytes, row.is_cut) == ("fetched", 200, 100_000, True)
    assert summary.stopped == "done"


def test_an_endless_chunked_body_is_cut_at_the_limit(collection: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n"
    body = b"fa0\r\n" + b"x" * 4000 + b"\r\n"

    with site_in_thread({"/": hang(head + body * 60)}) as site:
        crawl(collection, [site.url()], **QUICK_TIMES)

    row = outcomes(collection)[site.url()]
    assert (row.status, row.size_bytes, row.is_cut) == (200, 100_000, True)


def test_a_page_as_long_as_the_limit_is_whole(collection: Path) -> None:
    with site_in_thread({"/": chunked("x" * 100_000, 9000)}) as site:
        crawl(collection, [site.url()], **QUICK_TIMES)

    row = outcomes(collection)[site.url()]
    assert (row.size_bytes, row.is_cut) == (100_000, False)


class Taken:
    """A body that counts how much of it a client took, and says when it left."""

    def __init__(self, head: bytes) -> None:
        self.bytes = 0
        self.answer = Misbehaviour(self._act)
        self._head = head

    async def _act(self, writer: asyncio.StreamWriter) -> None:
        writer.write(self._head)
        await writer.drain()
        while True:
            await asyncio.sleep(0.01)
            writer.write(b"x" * 1000)
            self.bytes += 1000
            await writer.drain()


REFUSED_HEADS = {
    "type": b"HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\n\r\n",
    "size": b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 100001\r\n\r\n",
}


@pytest.mark.parametrize("reason", REFUSED_HEADS)
def test_what_the_headers_rule_out_is_not_taken(reason: str, collection: Path) -> None:
    taken = Taken(REFUSED_HEADS[reason])

    with site_in_thread({"/": page("<a href=/big>x</a>"), "/big": taken.answer}) as site:
        crawl(collection, [site.url()], **QUICK_TIMES)

    assert fates(collection)["/big"] == f"refused {reason}"
    assert outcomes(collection)[site.url("/big")].status == 200
    assert taken.bytes < 70_000  # the connection was closed early


def test_an_error_page_is_kept_whatever_its_type(collection: Path) -> None:
    gone = answer(b'{"gone": 1}', "410 Gone", {"content-type": "application/json"})

    with site_in_thread({"/": page("<a href=/gone>x</a>"), "/gone": gone}) as site:
        crawl(collection, [site.url()])

    assert fates(collection)["/gone"] == "fetched 410"


def test_one_bad_page_does_not_keep_others_waiting(collection: Path) -> None:
    links = "<a href=/bad>x</a>" + "".join(f"<a href=/{n}>x</a>" for n in range(20))
    pages: Pages = {"/": page(links), "/bad": hang(), "*": page("good")}

    with site_in_thread(pages) as site:
        crawl_until(
            collection,
            [site.url()],
            lambda: len(site.log) == 23,
            node__stop_grace_s=0.2,
            **{**QUICK_TIMES, **AMPLE_TIMES},
        )

    found = fates(collection)
    assert found["/bad"] == "queued"
    assert [found[f"/{n}"] for n in range(20)] == ["fetched 200"] * 20
