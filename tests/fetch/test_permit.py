"""Requests that need a permit of another process."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from fetch.test_fetcher import PATIENT, lease_of
from gossamer.base.clock import SystemClock, boot_ns
from gossamer.errors import UsageError
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.judge import ResponseJudge
from gossamer.fetch.permit import FilePermit, PermitWriter
from gossamer.records import Fetched
from gossamer.settings import Fetch
from support.a_site import a_site, page

HOUR_NS = 3600 * 10**9


def fetcher_with(path: Path) -> Fetcher:
    settings = replace(PATIENT, permit_file=str(path))
    judge = ResponseJudge(settings.types, settings.max_body_bytes)
    return Fetcher(settings, judge, AddressGuard(), SystemClock())


def test_a_permit_ends_at_its_time(tmp_path: Path) -> None:
    writer = PermitWriter(tmp_path / "permit")
    permit = FilePermit(tmp_path / "permit")
    assert not permit.is_valid()

    writer.until(boot_ns() + HOUR_NS)
    assert permit.is_valid()

    writer.until(boot_ns() - 1)
    assert not permit.is_valid()
    permit.close()
    writer.close()


def test_a_request_waits_for_its_permit_and_is_sent_once(tmp_path: Path) -> None:
    async def run() -> list[str]:
        writer = PermitWriter(tmp_path / "permit")
        fetcher = fetcher_with(tmp_path / "permit")
        async with a_site({"/": page("x")}) as site:
            fetching = asyncio.create_task(fetcher.fetch(lease_of(site.url("/"))))
            await asyncio.sleep(0)
            assert (fetcher.under_way, site.log) == (1, [])
            writer.until(boot_ns() + HOUR_NS)
            assert isinstance(await fetching, Fetched)
            await fetcher.aclose()
            return [asked.path for asked in site.log]

    assert asyncio.run(run()) == ["/"]


def test_a_permit_that_ends_while_the_connection_is_made_holds_the_request(tmp_path: Path) -> None:
    async def run() -> list[str]:
        writer = PermitWriter(tmp_path / "permit")
        writer.until(boot_ns() + HOUR_NS)
        fetcher = fetcher_with(tmp_path / "permit")
        async with a_site({"/": page("x")}) as site:
            answers: list[object] = []
            fetcher.start(lease_of(site.url("/")), answers.append, answers.append)
            writer.end()  # libcurl has not connected yet
            while not fetcher._unpermitted:  # noqa: ASYNC110
                await asyncio.sleep(0)
            assert (answers, site.log) == ([], [])
            writer.until(boot_ns() + HOUR_NS)
            while not answers:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert isinstance(answers[0], Fetched)
            await fetcher.aclose()
            return [asked.path for asked in site.log]

    assert asyncio.run(run()) == ["/"]


def test_a_request_without_a_permit_can_be_cancelled(tmp_path: Path) -> None:
    async def run() -> int:
        PermitWriter(tmp_path / "permit").close()
        fetcher = fetcher_with(tmp_path / "permit")
        fetching = asyncio.create_task(fetcher.fetch(lease_of("http://127.0.0.1:9/")))
        await asyncio.sleep(0)
        fetching.cancel()
        await asyncio.gather(fetching, return_exceptions=True)
        under_way = fetcher.under_way
        await fetcher.aclose()
        return under_way

    assert asyncio.run(run()) == 0


def test_a_missing_permit_file_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="permit_file"):
        fetcher_with(tmp_path / "none")
    assert Fetch().permit_file == ""
