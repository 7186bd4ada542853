"""The one way out: what is asked, what is taken, and what is not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from msgspec import structs

from gossamer.base.clock import Clock, ManualClock, SystemClock
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.judge import ResponseJudge
from gossamer.records import Answer, Failed, Fetched, Lease, Purpose, Reason, Refused
from gossamer.settings import Fetch
from support.a_site import (
    Site,
    a_site,
    answer,
    hang,
    http_1_0,
    page,
    redirect,
    reset,
)
from support.killing import until

PATIENT = Fetch(connect_time_s=60.0, total_time_s=60.0)  # no answer here is late


def lease_of(url: str, *, address: str = "127.0.0.1", is_trusted: bool = True) -> Lease:
    host = url.partition("//")[2].partition("/")[0].rpartition(":")[0]
    return Lease(1, url, b"k" * 16, host, address, is_trusted=is_trusted, gets_secrets=is_trusted)


async def fetch_all(
    leases: Sequence[Lease],
    settings: Fetch = PATIENT,
    guard: AddressGuard | None = None,
    clock: Clock | None = None,
) -> list[Answer]:
    """Ask one after the other, with one fetcher."""
    judge = ResponseJudge(settings.types, settings.max_body_bytes)
    fetcher = Fetcher(settings, judge, guard or AddressGuard(), clock or SystemClock())
    try:
        return [await fetcher.fetch(lease) for lease in leases]
    finally:
        await fetcher.aclose()


def ask(
    pages: dict[str, object], *paths: str, settings: Fetch = PATIENT
) -> tuple[list[Answer], Site]:
    """Ask a site of the test for some paths."""

    async def run() -> tuple[list[Answer], Site]:
        async with a_site(pages) as site:  # type: ignore[arg-type]  # answers of all kinds
            leases = [lease_of(site.url(path)) for path in paths]
            return await fetch_all(leases, settings), site

    return asyncio.run(run())


def test_an_answer_is_kept_as_it_came() -> None:
    [got], _ = ask({"/a?b": page("<p>x", "404 Not Found", {"X-Odd": "1"})}, "/a?b")

    assert isinstance(got, Fetched)
    assert (got.status, got.body, got.protocol, got.cut) == (404, b"<p>x", "http/1.1", "")
    assert got.head.startswith(b"HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n")
    assert got.head.endswith(b"X-Odd: 1\r\n\r\n")
    assert got.address == "127.0.0.1"


async def bytes_asked(
    replies: Sequence[bytes], urls: Sequence[str], settings: Fetch
) -> tuple[list[Answer], list[bytes]]:
    """The answers, and the requests as the server got them."""
    got: list[bytes] = []
    left = list(replies)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while left:
                got.append(await reader.readuntil(b"\r\n\r\n"))
                reply = left.pop(0)
                writer.write(reply)
                if b"HTTP/1.0" in reply:
                    break
        except asyncio.IncompleteReadError:
            pass
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        leases = [lease_of(url.format(port)) for url in urls]
        answers = await fetch_all(leases, settings)
        await asyncio.sleep(0)
    return answers, got


@pytest.mark.parametrize(
    "settings",
    [
        PATIENT,
        replace(PATIENT, types=("pdf", "audio"), contact="Jörg <j@example.org>"),
        replace(PATIENT, headers=("X-Study: grüße", "accept: */*", "Accept-Language: de")),
    ],
)
def test_the_kept_request_is_the_one_that_the_server_got(settings: Fetch) -> None:
    ok = answer(b"x", headers={"content-type": "application/pdf"})
    replies = [page("x"), ok, http_1_0("old"), page("x"), page("x")]
    urls = [
        "http://127.0.0.1:{}/",
        "http://127.0.0.1:{}/a%20b/../c?d=e&f",
        "http://name.example:{}/x",
        "http://127.0.0.1:{}/after/old",
        "http://127.0.0.1:{}/?",
    ]

    answers, got = asyncio.run(
        bytes_asked(replies, urls, replace(settings, types=(*settings.types, "any")))
    )

    assert [a.request for a in answers if isinstance(a, Fetched)] == got
    assert len(got) == 5


def test_redirects_are_answers() -> None:
    [got], site = ask({"/": redirect("/b"), "/b": page("x")}, "/")

    assert isinstance(got, Fetched)
    assert got.status == 302
    assert site.asked == ["/"]


@pytest.mark.parametrize(("keeps", "sent"), [(True, "a=b"), (False, None)])
def test_cookies_are_sent_back_where_that_is_wanted(keeps: bool, sent: str | None) -> None:
    pages: dict[str, object] = {"/": page("x", headers={"set-cookie": "a=b"})}
    got, site = ask(pages, "/", "/", settings=replace(PATIENT, cookies=keeps))

    assert [asked.headers.get("cookie") for asked in site.log] == [None, sent]
    assert all(isinstance(each, Fetched) and b"a=b" in each.head for each in got)  # nobody's secret
    kept = got[1].request if isinstance(got[1], Fetched) else b""
    assert (b"\r\nCookie: (not kept)\r\n" in kept) is keeps


def test_a_connection_is_used_again() -> None:
    _, site = ask({"*": page("x")}, "/a", "/b", "/c")

    assert site.connections == 1


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    [got], _ = ask({"/": page("x")}, "/")

    assert isinstance(got, Fetched)


def test_an_unwanted_type_is_refused_with_its_status() -> None:
    [got], _ = ask({"/": answer(b"x", headers={"content-type": "image/png"})}, "/")

    assert isinstance(got, Refused)
    assert (got.reason, got.status) == (Reason.TYPE, 200)


def test_robots_txt_is_taken_whatever_it_is_called_and_cut_at_its_limit() -> None:
    async def run() -> Answer:
        body = answer(b"x" * 900, headers={"content-type": "image/png"})
        async with a_site({"/robots.txt": body}) as site:
            lease = lease_of(site.url("/robots.txt"))
            lease = structs.replace(lease, purpose=Purpose.ROBOTS, max_body_bytes=500)
            return (await fetch_all([lease]))[0]

    got = asyncio.run(run())

    assert isinstance(got, Fetched)
    assert (len(got.body), got.cut) == (500, "length")


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254"])
def test_the_address_is_judged_at_the_moment_of_connecting(address: str) -> None:
    async def run() -> tuple[Answer, Site]:
        async with a_site({"*": page("x")}) as site:
            lease = lease_of(f"http://name.example:{site.port}/", address=address, is_trusted=False)
            return (await fetch_all([lease]))[0], site

    got, site = asyncio.run(run())

    assert isinstance(got, Refused)
    assert got.reason == Reason.PRIVATE
    assert site.connections == 0


def test_a_name_is_asked_at_the_address_that_the_lease_names() -> None:
    async def run() -> tuple[list[Answer], Site, Site]:
        async with (
            a_site({"*": page("one")}) as one,
            a_site({"*": page("two")}, host="127.0.0.2", port=one.port) as two,
        ):
            lease = lease_of(f"http://name.example:{one.port}/", address="127.0.0.2")
            return await fetch_all([lease]), one, two

    [got], one, two = asyncio.run(run())

    assert isinstance(got, Fetched)
    assert (got.body, got.address) == (b"two", "127.0.0.2")
    assert (len(one.log), [asked.host for asked in two.log]) == (0, ["name.example"])


@pytest.mark.parametrize("is_rested", [True, False])
def test_a_kept_connection_that_breaks_is_asked_again_only_where_no_rest_is_due(
    is_rested: bool,
) -> None:
    async def run() -> tuple[list[Answer], Site]:
        async with a_site({"/": page("x"), "/broken": [reset(), page("x")]}) as site:
            judge, clock = ResponseJudge(("html",), 1000), ManualClock()
            fetcher = Fetcher(PATIENT, judge, AddressGuard(), clock)
            answers = [await fetcher.fetch(lease_of(site.url("/")))]
            if is_rested:
                await clock.advance(1.0)
            answers.append(await fetcher.fetch(lease_of(site.url("/broken"))))
            await fetcher.aclose()
            return answers, site

    answers, site = asyncio.run(run())

    if is_rested:
        assert site.asked == ["/", "/broken"]
        assert isinstance(answers[1], Failed)
        assert answers[1].reason == Reason.RESET
    else:
        assert site.asked == ["/", "/broken", "/broken"]
        assert isinstance(answers[1], Fetched)


def test_a_port_that_nobody_listens_at() -> None:
    [got] = asyncio.run(fetch_all([lease_of("http://127.0.0.1:1/")]))

    assert isinstance(got, Failed)
    assert got.reason == Reason.CONNECT


def test_an_ipv6_address_is_asked() -> None:
    async def run() -> Answer:
        async with a_site({"/": page("six")}, host="::1") as site:
            return (await fetch_all([lease_of(site.url("/"), address="::1")]))[0]

    got = asyncio.run(run())

    assert isinstance(got, Fetched)
    assert got.body == b"six"


def test_a_cancelled_request_closes_its_connection_and_the_fetcher_goes_on() -> None:
    async def run() -> tuple[Answer, bool]:
        async with a_site({"/": hang(), "/b": page("x")}) as site:
            fetcher = Fetcher(
                PATIENT, ResponseJudge(("html",), 1000), AddressGuard(), SystemClock()
            )
            asking = asyncio.create_task(fetcher.fetch(lease_of(site.url("/"))))
            await asyncio.to_thread(until, lambda: bool(site.log))
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await asyncio.to_thread(until, lambda: site.log[0].ended_s is not None)
            got = await fetcher.fetch(lease_of(site.url("/b")))
            await fetcher.aclose()
            return got, asking.cancelled()

    got, was_cancelled = asyncio.run(run())

    assert was_cancelled
    assert isinstance(got, Fetched)


def test_the_last_of_several_types_counts_also_after_an_answer_of_the_first() -> None:
    plain = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-type: text/html\r\n"
    pages = {
        "/plain": plain + b"\r\nx",
        "/image": plain + b"content-type: image/png\r\n\r\nx",
        "/html": plain.replace(b"html", b"other") + b"content-type: text/html\r\n\r\nx",
    }

    answers, _ = ask(dict(pages), "/plain", "/image", "/html", "/image")

    kinds = [type(one) for one in answers]
    assert kinds == [Fetched, Refused, Fetched, Refused]
    assert isinstance(answers[1], Refused)
    assert answers[1].reason is Reason.TYPE
