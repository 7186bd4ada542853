"""The inputs of a crawl that its collection stores: settings, seeds, typed hosts and origins.

Secrets are never stored. Of a header that identifies the operator only the name is stored, and a
resumed crawl needs the value again (`fetch/request.py`). Files of secrets are stored by path.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from gossamer.base.clock import Clock
from gossamer.base.packing import pack, unpack
from gossamer.collection.configure import difference
from gossamer.collection.crawl_log import note_action
from gossamer.collection.directory import CollectionPaths
from gossamer.collection.starting_points import (
    ACTION,
    StartingPoint,
    as_action,
    pack_points,
    stored_points,
    urls_of,
)
from gossamer.errors import SettingsError
from gossamer.fetch.request import hidden, without_userinfo
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.meta_keys import (
    BANS_KEY,
    ORIGINS_KEY,
    POINTS_KEY,
    SEEDS_KEY,
    SETTINGS_KEY,
    TRUST_KEY,
    TYPED_KEY,
)
from gossamer.frontier.store import StateTable, Store
from gossamer.settings import (
    Settings,
    is_allowed,
    is_fixed,
    values_of,
    with_values,
)
from gossamer.urls.canonical import host_of, origin_of
from gossamer.version import __version__

_PLUGGED: Final = ("frontier.order", "refresh.policy")  # a plug-in may be named
_SEEDS_A_LINE: Final = 1_000  # of acts.jsonl


@dataclass(frozen=True, slots=True)
class Typed:
    """What the operator typed, over all runs: hosts, and the exact origins."""

    hosts: Sequence[str]
    origins: Sequence[str]

    @property
    def secret_origins(self) -> frozenset[str]:
        """The origins that may receive the operator's secrets: typed ones, and their https form.

        A site typed as http://example.org that moves to https://example.org is included, but not
        the reverse, and no other port.
        """
        secure = (f"https://{o[7:]}" for o in self.origins if o == f"http://{host_of(f'{o}/')}")
        return frozenset((*self.origins, *secure))


def changed_settings(
    store: Store, settings: Settings, *, may_change: bool
) -> dict[str, tuple[object, object]]:
    before = stored_settings(store)
    if before is None:
        return {}
    changed = difference(without_secrets(before), without_secrets(settings))
    now = values_of(settings)
    changed = {**changed, **{key: (name, now[key]) for key, name in _lost(store).items()}}
    # A collection that was only imported has no scope yet: the first crawl sets it.
    is_first = not stored_seeds(store)
    fixed = [k for k in changed if is_fixed(k) and not (is_first and k.startswith("scope."))]
    if fixed and not may_change:
        key = fixed[0]
        old, new = changed[key]
        raise SettingsError(
            key,
            f"is {new!r}, but the stored crawl has {old!r}; keep {old!r}, or add --change "
            f"to continue with {new!r}",
        )
    return changed


def stored_settings(store: Store) -> Settings | None:
    """Return the settings of the last writer; None for a new collection."""
    row = store.find(StateTable.META, SETTINGS_KEY)
    if row is None:
        return None
    known = values_of(Settings())
    values = {key: value for key, value in unpack(row).items() if key in known}
    for key in _lost(store):
        del values[key]
    return with_values(Settings(), values)


def _lost(store: Store) -> dict[str, str]:
    """The settings of the stored crawl that name a plug-in which is not installed any more. Only
    the order of requests and visits depends on them, so the collection can still be opened."""
    stored = unpack(store.find(StateTable.META, SETTINGS_KEY) or b"\x80")
    named = {key: stored[key] for key in _PLUGGED if key in stored}
    return {key: str(name) for key, name in named.items() if not is_allowed(key, name)}


def without_secrets(settings: Settings) -> Settings:
    """Return the settings without secrets, for storage."""
    fetch = settings.fetch
    shown = {
        "fetch.headers": tuple(map(hidden, fetch.headers)),
        "fetch.proxy": without_userinfo(fetch.proxy),  # a proxy URL with a password is never used
        "fetch.proxies": tuple(map(without_userinfo, fetch.proxies)),
        "focus.start_from": tuple(map(without_userinfo, settings.focus.start_from)),
        # A webhook's path is often a secret, and a stored command would run for whoever resumes.
        "watch.webhook": "",
        "watch.webhook_secret_file": "",
        "watch.command": "",
    }
    return with_values(settings, shown)


def stored_seeds(store: Store) -> tuple[str, ...]:
    row = store.find(StateTable.META, SEEDS_KEY)
    return tuple(unpack(row)) if row else ()


def with_stored_seeds(store: Store, seeds: Sequence[str]) -> tuple[list[str], Typed]:
    """Return all seeds ever given, and what the operator typed."""
    before = stored_seeds(store)
    row = store.find(StateTable.META, TYPED_KEY)
    hosts = _joined(unpack(row) if row else (), map(host_of, seeds))
    row = store.find(StateTable.META, ORIGINS_KEY)
    # A seed may also be a redirect target of a typed one: older collections store only hosts.
    known = unpack(row) if row else (origin_of(s) for s in before if host_of(s) in hosts)
    return _joined(before, seeds), Typed(hosts, _joined(known, map(origin_of, seeds)))


def _joined(before: Iterable[str], more: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*before, *more]))


def note_start(
    paths: CollectionPaths,
    store: Store,
    frontier: Frontier,
    settings: Settings,
    seeds: Sequence[str],
    typed: Typed,
    clock: Clock,
    changed: dict[str, tuple[object, object]],
    *,
    is_new: bool,
    points: Sequence[StartingPoint] = (),
) -> None:
    pending = frontier.pending
    pending.put(StateTable.META, SETTINGS_KEY, pack(values_of(without_secrets(settings))))
    pending.put(StateTable.META, SEEDS_KEY, pack(list(seeds)))
    pending.put(StateTable.META, TYPED_KEY, pack(list(typed.hosts)))
    pending.put(StateTable.META, ORIGINS_KEY, pack(list(typed.origins)))
    known = {*stored_seeds(store), *urls_of(points)}
    act = "begin" if is_new else "go on"
    facts: dict[str, object] = {"version": __version__}
    new = [seed for seed in seeds if seed not in known]
    if new:
        facts["seeds"] = new[:_SEEDS_A_LINE]
    if changed:
        facts["changed"] = {key: [repr(old), repr(new)] for key, (old, new) in changed.items()}
    note_action(paths.actions, clock.wall_us(), act, **facts)
    for start in range(_SEEDS_A_LINE, len(new), _SEEDS_A_LINE):  # a lost state is rebuilt from them
        note_action(
            paths.actions, clock.wall_us(), "seeds", seeds=new[start : start + _SEEDS_A_LINE]
        )
    if points:
        pending.put(StateTable.META, POINTS_KEY, pack_points(stored_points(store), points))
    for _, some in groupby(points, lambda point: point.source):
        note_action(paths.actions, clock.wall_us(), ACTION, **as_action(list(some)))


def stored_bans(store: Store) -> tuple[str, ...]:
    """Return the stored ban lines."""
    return _lines(store, BANS_KEY)


def stored_trust(store: Store) -> tuple[str, ...]:
    """Return the stored lines of URLs that are never refused as a learned trap."""
    return _lines(store, TRUST_KEY)


def _lines(store: Store, key: bytes) -> tuple[str, ...]:
    row = store.find(StateTable.META, key)
    return tuple(unpack(row)) if row else ()
