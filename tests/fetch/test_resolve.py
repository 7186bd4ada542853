"""Names to addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from gossamer.base.clock import ManualClock
from gossamer.fetch.resolve import ResolvedHost, Resolver, address_in


@pytest.fixture
def resolver() -> Iterator[Resolver]:
    made = Resolver(ManualClock(), keep_s=60.0)
    yield made
    made.close()


def test_an_address_is_its_own_name_for_ever(resolver: Resolver) -> None:
    assert asyncio.run(resolver.resolve("10.0.0.1")) == ResolvedHost(("10.0.0.1",), float("inf"))
    assert asyncio.run(resolver.resolve("[::1]")) == ResolvedHost(("::1",), float("inf"))


@pytest.mark.parametrize("host", ["localhost", "a.localhost", "a.b.localhost"])
def test_names_below_localhost_are_this_machine_and_asked_of_nobody(
    host: str, resolver: Resolver
) -> None:
    assert asyncio.run(resolver.resolve(host)).addresses == ("127.0.0.1", "::1")


@pytest.mark.parametrize("host", ["x" * 64 + ".invalid", "a..b", "\x7f"])
def test_a_name_that_cannot_be_asked_is_a_fault_and_no_error(host: str, resolver: Resolver) -> None:
    found = asyncio.run(resolver.resolve(host))

    assert found.addresses == ()
    assert found.fault


def test_what_a_host_is_written_as() -> None:
    assert address_in("127.0.0.1") == "127.0.0.1"
    assert address_in("[2001:DB8::1]") == "2001:db8::1"
    assert address_in("example.org") == ""
    assert address_in("localhost") == ""
