"""Budgets of wasted requests, of a host and of all hosts of a site."""

from __future__ import annotations

import pytest

from gossamer.frontier.levels.guard import TrapGuard, find_yield
from gossamer.frontier.levels.sites import stored_sites
from gossamer.frontier.pending import Pending
from gossamer.frontier.store import MemoryStore
from gossamer.policies.traps.grades import News
from gossamer.policies.traps.odds import MAX_RUN
from gossamer.policies.traps.yields import REFUSED_LEVEL
from gossamer.urls.bans import BanList

PER_HOST, PER_SITE = 50, 100


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def guard(store: MemoryStore) -> TrapGuard:
    return opened(store)


def opened(store: MemoryStore) -> TrapGuard:
    return TrapGuard(store, Pending(store), PER_HOST, BanList(), per_site=PER_SITE)


def key(host: int, page: int = 0) -> bytes:
    return host.to_bytes(8, "big") + page.to_bytes(8, "big")


def url(host: int, page: int = 0, site: str = "a.example") -> str:
    return f"http://h{host}.{site}/{page}"


def waste(guard: TrapGuard, host: int, count: int, site: str = "a.example") -> None:
    """Pages deep in a trap of a host, each of which names another."""
    for page in range(count):
        fresh = [url(host, page + 1, site)]
        guard.learn(key(host, page), url(host, page, site), MAX_RUN, b"", News.STALE, fresh)


def refusal(guard: TrapGuard, host: int, site: str = "a.example") -> str | None:
    return guard.refusal(key(host, 9_999), url(host, 9_999, site), MAX_RUN, REFUSED_LEVEL)


def test_a_host_that_wasted_its_budget_is_refused_alone(guard: TrapGuard) -> None:
    waste(guard, 1, PER_HOST)

    assert "the host wasted 50 requests" in (refusal(guard, 1) or "")
    assert refusal(guard, 2) is None


def test_hosts_of_one_site_share_a_budget(guard: TrapGuard) -> None:
    for host in range(5):
        waste(guard, host, 20)

    assert "the site a.example wasted 100 requests" in (refusal(guard, 77) or "")
    assert refusal(guard, 78, "b.example") is None


def test_a_site_without_a_limit_is_never_refused(store: MemoryStore) -> None:
    guard = TrapGuard(store, Pending(store), PER_HOST, BanList(), per_site=0)
    for host in range(50):
        waste(guard, host, 20)

    assert refusal(guard, 77) is None


def test_the_refusals_of_a_site_are_withdrawn_when_it_brings_news(guard: TrapGuard) -> None:
    for host in range(5):
        waste(guard, host, 20)
    for page in range(5):
        guard.learn(key(8, page), url(8, page), MAX_RUN, b"", News.NEW, [])

    assert refusal(guard, 77) is None
    assert guard.withdrawn == 1


def test_only_other_sites_that_link_to_a_host_count(guard: TrapGuard, store: MemoryStore) -> None:
    waste(guard, 1, 1)
    waste(guard, 2, 1)
    waste(guard, 3, 1, "b.example")
    guard.note_linking(key(1), url(1), key(2))  # of the same site
    guard.note_linking(key(1), url(1), key(3))
    guard.note_linking(key(1), url(1), key(3, 5))
    guard.suspects.add(key(1)[:8])
    waste(guard, 1, 1)
    written(guard, store)

    host = find_yield(store, key(1)[:8])
    assert host is not None
    assert len(host.linking) == 1


def test_relevant_pages_raise_the_budgets(guard: TrapGuard) -> None:
    for page in range(20):
        guard.note_relevant(key(1, page), url(1, page))
    waste(guard, 1, PER_HOST)

    assert refusal(guard, 1) is None


def written(guard: TrapGuard, store: MemoryStore) -> None:
    """A commit."""
    guard.begin()
    store.write(guard._pending.begin())
    guard._pending.end()


def test_the_budget_of_a_site_survives_a_restart(guard: TrapGuard, store: MemoryStore) -> None:
    for host in range(5):
        waste(guard, host, 20)
    written(guard, store)

    assert [(one.name, one.wasted) for one in stored_sites(store)] == [("a.example", 100)]
    assert refusal(opened(store), 77) is not None
