"""The address is judged once more when it is connected to, by what its name was when typed."""

from __future__ import annotations

import asyncio

from msgspec import structs

from fetch.test_fetcher import fetch_all, lease_of
from gossamer.records import Answer, Fetched, Reason, Refused
from support.a_site import Site, a_site, page


def test_a_typed_name_that_must_be_public_is_not_asked_at_a_private_address() -> None:
    async def run() -> tuple[list[Answer], Site]:
        async with a_site({"/": page("secret")}) as site:
            own = lease_of(site.url("/", "typed.example"))
            return await fetch_all([structs.replace(own, must_be_public=True), own]), site

    (rebound, own), site = asyncio.run(run())

    assert isinstance(own, Fetched)
    assert isinstance(rebound, Refused)
    assert rebound.reason is Reason.PRIVATE
    assert len(site.log) == 1
