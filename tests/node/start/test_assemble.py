"""A crawl and a dry run decide alike: one function assembles what decides."""

from __future__ import annotations

import ast
from pathlib import Path

import gossamer
from gossamer.base.clock import ManualClock
from gossamer.collection.directory import CollectionPaths
from gossamer.fetch.resolve import ResolvedHost
from gossamer.frontier.meta_keys import CLEAN_KEY, SALT_KEY
from gossamer.frontier.store import MemoryStore, StateTable
from gossamer.node.dry_run import DryRun
from gossamer.node.start.assemble import (
    CrawlCore,
    Listeners,
    assemble,
    policies_for,
    read_stored,
)
from gossamer.policies.order import DepthFirst
from gossamer.policies.policies import Policies
from gossamer.records import Found
from gossamer.settings import Settings, with_values
from gossamer.urls.forgotten import NOTHING

SRC = Path(gossamer.__file__).parent
SETTINGS = with_values(
    Settings(), {"fetch.contact": "a@b.example", "politeness.own_hosts": ("a.example",)}
)
SEED = "http://a.example/"


def a_store(**rows: bytes) -> MemoryStore:
    store = MemoryStore()
    store.write(
        {StateTable.META: {SALT_KEY: bytes(16), **{k.encode(): v for k, v in rows.items()}}}
    )
    return store


def a_core(policies: Policies | None = None, settings: Settings = SETTINGS) -> CrawlCore:
    crawl = read_stored(a_store(), [SEED], NOTHING)
    listeners = Listeners(lambda _: None, lambda _: None)
    return assemble(crawl, settings, policies or policies_for(settings), ManualClock(), listeners)


def first_requests(core: CrawlCore, count: int) -> list[str]:
    """The URLs of the first leases; each is still in flight."""
    urls: list[str] = []
    while len(urls) < count:
        lease = core.scheduler.next_lease()
        if lease is not None:
            urls.append(lease.url)
            continue
        hosts = core.scheduler.take_unresolved()
        assert hosts, "nothing more may be requested"
        for host in hosts:
            core.scheduler.resolved(host, ResolvedHost(("8.8.8.8",), float("inf")))
    return urls


def admit(core: CrawlCore, *found: tuple[str, int]) -> None:
    core.frontier.admit((Found(url, core.keys.of(url), depth) for url, depth in found), 0)


def makers_of(name: str) -> set[str]:
    """The files that make an object of a class."""
    makers = set()
    for path in SRC.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if name not in text:  # parsing is slow
            continue
        nodes = ast.walk(ast.parse(text))
        called = (node.func for node in nodes if isinstance(node, ast.Call))
        if any(isinstance(func, ast.Name) and func.id == name for func in called):
            makers.add(path.relative_to(SRC).as_posix())
    return makers


def test_one_function_makes_the_scheduler_of_crawls_and_dry_runs() -> None:
    assert makers_of("Scheduler") == {"node/start/assemble.py"}
    assert makers_of("assemble") == {"node/build.py", "node/dry_run.py"}


def test_a_dry_run_uses_what_assemble_made(tmp_path: Path) -> None:
    dry_run = DryRun(CollectionPaths(tmp_path / "c"), a_store(), SETTINGS, [SEED], 0)

    assert isinstance(dry_run.core, CrawlCore)
    core = a_core()
    admit(core, (SEED, 0))
    assert [request.url for request in dry_run.first()] == first_requests(core, 1)


def test_the_policies_decide_the_order_and_the_end() -> None:
    settings = with_values(
        SETTINGS,
        {"politeness.host_delay_s": 0, "politeness.per_host": 4, "limits.max_pages": 2},
    )
    urls = (("http://a.example/1", 1), ("http://a.example/2", 2), ("http://a.example/3", 3))
    by_settings, by_policies = a_core(None, settings), a_core(Policies(DepthFirst()), settings)
    for core in (by_settings, by_policies):
        admit(core, *urls)

    assert first_requests(by_settings, 2) == ["http://a.example/1", "http://a.example/2"]
    assert by_settings.scheduler.next_lease() is None, "limits.max_pages is 2"
    # Policies that are given come with a stop of their own, which knows no limit here.
    assert first_requests(by_policies, 3)[0] == "http://a.example/3"


def test_a_run_begins_with_what_the_collection_knows() -> None:
    store = a_store(**{CLEAN_KEY.decode(): b"0"})

    crawl = read_stored(store, [SEED, SEED], NOTHING)

    assert crawl.is_unclean
    assert list(crawl.all_seeds) == [SEED]
    assert list(crawl.typed.hosts) == ["a.example"]
    assert not crawl.forgotten_seeds
