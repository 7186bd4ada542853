"""Join the stages: the one place that names concrete classes.

Nothing differs between one machine and many but what is plugged in here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgpack

from gossamer.archive.writer import WarcWriter
from gossamer.base.clock import Clock
from gossamer.crawl.admission import Admission, build_scope
from gossamer.crawl.commit import CLEAN_KEY, LOG_KEY, SEEDS_KEY, Committer, known_ends
from gossamer.crawl.configure import difference
from gossamer.crawl.harvest import Harvest, Harvester
from gossamer.crawl.home import SALT_KEY, Home, locked, open_to_write
from gossamer.crawl.journal import Journal, note_act
from gossamer.crawl.links import LinkKeeper
from gossamer.crawl.node import Node, Parts
from gossamer.crawl.recovery import Recovered, recover
from gossamer.crawl.scheduler import Scheduler
from gossamer.crawl.worker import Worker
from gossamer.errors import UsageError
from gossamer.fetch.fetcher import Fetcher, checked_header
from gossamer.fetch.guard import Guard, forbidden_port
from gossamer.fetch.judge import Judge
from gossamer.fetch.resolve import Resolver
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.store import Store, Table
from gossamer.parse.html import Parser
from gossamer.records import Found
from gossamer.settings import Settings, is_fixed, values_of, with_values
from gossamer.urls.bans import BanList
from gossamer.urls.canonical import NormalForm, host_of, port_of
from gossamer.urls.keys import Keys
from gossamer.urls.linker import Linker
from gossamer.version import __version__

SETTINGS_KEY: Final = b"settings"
TYPED_KEY: Final = b"typed"


@dataclass(frozen=True, slots=True)
class Opened:
    """A node that is ready to run, and what was found when it was opened."""

    node: Node
    recovered: Recovered
    changed: dict[str, tuple[object, object]]
    is_new: bool
    new_seeds: int


SettingsFor = Callable[[Settings | None], Settings]


def open_node(
    home: Home,
    settings_for: SettingsFor,
    seeds: Sequence[str],
    clock: Clock,
    stack: ExitStack,
    *,
    may_change: bool = False,
) -> Opened:
    """Open or make the collection, bring it up to its archive, and admit the seeds.

    `settings_for` is told the settings of the stored crawl, or None. Raises UsageError, and
    changes nothing, when a stored crawl is to go on in another scope or normal form and
    `may_change` is not set. The caller closes the node, then `stack`.
    """
    is_new = not home.exists
    settings = settings_for(None)
    if is_new:
        check_usable(settings, seeds)
    home.make()
    stack.enter_context(locked(home))
    store = open_to_write(home, settings.frontier.memory_mb)
    try:
        if not is_new:
            settings = settings_for(stored_settings(store))
            check_usable(settings, [*stored_seeds(store), *seeds])
        return _open(home, store, settings, seeds, clock, is_new=is_new, may_change=may_change)
    except BaseException:
        store.close()
        raise


def check_usable(settings: Settings, seeds: Sequence[str]) -> None:
    """Raise for everything in the settings that only its user can tell to be wrong."""
    build_scope(settings, seeds)
    BanList.read(map(Path, settings.scope.ban_files))
    Judge(settings.fetch.types, settings.fetch.max_body_bytes)
    Guard(settings.fetch.allow_private)
    for header in settings.fetch.headers:
        checked_header(header)
    for seed in seeds:
        refused = forbidden_port(port_of(seed), settings.fetch.ports)
        if refused is not None:
            raise UsageError(f"{seed} cannot be asked: {refused}")


def _open(
    home: Home,
    store: Store,
    settings: Settings,
    seeds: Sequence[str],
    clock: Clock,
    *,
    is_new: bool,
    may_change: bool,
) -> Opened:
    changed = _changed_settings(store, settings, may_change=may_change)
    all_seeds, typed = _with_stored_seeds(store, seeds)
    admission = Admission(settings, all_seeds, BanList.read(map(Path, settings.scope.ban_files)))
    log_length = int.from_bytes(store.find(Table.META, LOG_KEY) or b"", "big")
    journal = Journal(home.log, log_length)
    frontier = Frontier(
        store,
        settings.frontier,
        admission,
        watch_depth=settings.scope.depth >= 0,
        on_refused=journal.note_row,
    )
    keys = Keys(store.find(Table.META, SALT_KEY) or b"")
    form = NormalForm(settings.urls.query, settings.urls.session_parameters)
    judge = Judge(settings.fetch.types, settings.fetch.max_body_bytes)
    guard = Guard(settings.fetch.allow_private)
    harvester = Harvester(settings, Parser(settings.parse, judge.wants_media), Linker(form, keys))
    links = LinkKeeper(home.graph, settings.node)
    is_unclean = store.find(Table.META, CLEAN_KEY) == b"0"
    scheduler = Scheduler(
        frontier, settings, keys, guard, clock, typed, journal.note_row, is_unclean=is_unclean
    )
    archive = WarcWriter.open(
        home.archive, "gossamer", settings.archive, _warcinfo(settings, all_seeds), clock
    )
    committer = Committer(store, frontier, journal, links, archive, clock, log_length)
    node = Node(
        Parts(
            home=home,
            settings=settings,
            clock=clock,
            admission=admission,
            frontier=frontier,
            scheduler=scheduler,
            resolver=Resolver(clock, settings.fetch.dns_keep_s),
            worker=Worker(Fetcher(settings.fetch, judge, guard, clock), archive, harvester),
            committer=committer,
            journal=journal,
            links=links,
            close_store=store.close,
        )
    )
    recovered = _recover(home, store, settings, node, harvester, links, archive.name)
    _note_start(home, store, frontier, settings, all_seeds, typed, clock, changed, is_new=is_new)
    new_seeds = frontier.admit(_as_found(seeds, keys), clock.wall_us())
    committer.commit_now(with_links=bool(recovered.exchanges))
    return Opened(node, recovered, changed, is_new, new_seeds)


def _recover(
    home: Home,
    store: Store,
    settings: Settings,
    node: Node,
    harvester: Harvester,
    links: LinkKeeper,
    open_file: str,
) -> Recovered:
    def take(harvest: Harvest, to_state: bool, to_graph: bool) -> None:
        node.replay(harvest, to_state=to_state, to_graph=to_graph)

    known = dict(known_ends(store))
    covered = dict(links.manifest.covered) if settings.node.graph else known
    return recover(home.archive, known, covered, harvester, take, leave_out=open_file)


def _as_found(seeds: Iterable[str], keys: Keys) -> Iterable[Found]:
    return (Found(seed, keys.of(seed), 0) for seed in seeds)


def _changed_settings(
    store: Store, settings: Settings, *, may_change: bool
) -> dict[str, tuple[object, object]]:
    before = stored_settings(store)
    if before is None:
        return {}
    changed = difference(before, settings)
    fixed = [key for key in changed if is_fixed(key)]
    if fixed and not may_change:
        key = fixed[0]
        old, new = changed[key]
        raise UsageError(
            f"the stored crawl has {key} = {old!r}, and you ask for {new!r}; leave it as it was, "
            "or add --change to go on with the new one"
        )
    return changed


def stored_settings(store: Store) -> Settings | None:
    """The settings in force when the collection was last written; None for a new one."""
    row = store.find(Table.META, SETTINGS_KEY)
    if row is None:
        return None
    known = values_of(Settings())
    values = {key: value for key, value in msgpack.unpackb(row).items() if key in known}
    return with_values(Settings(), values)


def stored_seeds(store: Store) -> tuple[str, ...]:
    row = store.find(Table.META, SEEDS_KEY)
    return tuple(msgpack.unpackb(row)) if row else ()


def _with_stored_seeds(store: Store, seeds: Sequence[str]) -> tuple[list[str], list[str]]:
    """All seeds ever given, and the hosts that the operator typed."""
    before = stored_seeds(store)
    row = store.find(Table.META, TYPED_KEY)
    typed = [*(msgpack.unpackb(row) if row else ()), *map(host_of, seeds)]
    return list(dict.fromkeys([*before, *seeds])), list(dict.fromkeys(typed))


def _note_start(
    home: Home,
    store: Store,
    frontier: Frontier,
    settings: Settings,
    seeds: Sequence[str],
    typed: Sequence[str],
    clock: Clock,
    changed: dict[str, tuple[object, object]],
    *,
    is_new: bool,
) -> None:
    pending = frontier.pending
    pending.put(Table.META, SETTINGS_KEY, msgpack.packb(values_of(settings)))
    pending.put(Table.META, SEEDS_KEY, msgpack.packb(list(seeds)))
    pending.put(Table.META, TYPED_KEY, msgpack.packb(list(typed)))
    known = set(stored_seeds(store))
    act = "begin" if is_new else "go on"
    facts: dict[str, object] = {"version": __version__}
    if new := [seed for seed in seeds if seed not in known]:
        facts["seeds"] = new[:1000]
    if changed:
        facts["changed"] = {key: [repr(old), repr(new)] for key, (old, new) in changed.items()}
    note_act(home.acts, clock.wall_us(), act, **facts)


def _warcinfo(settings: Settings, seeds: Sequence[str]) -> dict[str, str]:
    """The settings in force, for the first record of every file; without credentials."""
    default = values_of(Settings())
    kept = {
        key: repr(value)
        for key, value in values_of(settings).items()
        if value != default[key] and key != "fetch.headers"
    }
    return {
        "software": f"gossamer/{__version__}",
        "format": "WARC File Format 1.1",
        "robots": "obey",
        "seeds": " ".join(seeds[:20]),
        **kept,
    }
