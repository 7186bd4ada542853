"""What a collection remembers of how it was crawled: settings, seeds, typed hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgpack

from gossamer.base.clock import Clock
from gossamer.crawl.commit import SEEDS_KEY
from gossamer.crawl.configure import difference
from gossamer.crawl.home import Home
from gossamer.crawl.journal import note_act
from gossamer.errors import UsageError
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.store import Store, Table
from gossamer.settings import Settings, is_fixed, values_of, with_values
from gossamer.urls.canonical import host_of
from gossamer.version import __version__

SETTINGS_KEY: Final = b"settings"
TYPED_KEY: Final = b"typed"


def changed_settings(
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


def with_stored_seeds(store: Store, seeds: Sequence[str]) -> tuple[list[str], list[str]]:
    """All seeds ever given, and the hosts that the operator typed."""
    before = stored_seeds(store)
    row = store.find(Table.META, TYPED_KEY)
    typed = [*(msgpack.unpackb(row) if row else ()), *map(host_of, seeds)]
    return list(dict.fromkeys([*before, *seeds])), list(dict.fromkeys(typed))


def note_start(
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
        facts["changed"] = {
            key: ["(not kept)"] if key == "fetch.headers" else [repr(old), repr(new)]
            for key, (old, new) in changed.items()
        }
    note_act(home.acts, clock.wall_us(), act, **facts)
