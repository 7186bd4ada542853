"""Read the operator's inputs of a crawl: settings, seeds, typed hosts, and the salt of its keys.

They come from the state. If the state is lost or damaged, archive and log have the same: every
warcinfo record has the current settings and the salt, acts.jsonl has the seeds and the changes, and
the manifest of the archive has the salt too. In a collection of an older release the salt may be
lost with the state; then a new one is generated, because everything with keys is rebuilt from the
archive, and keys in the archive are not trusted (`guarded_reader.py`).
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gossamer.archive.manifest import read_manifest
from gossamer.archive.padding import SALT_FIELD
from gossamer.archive.reader import iter_exchanges, read_info
from gossamer.base.packing import unpack
from gossamer.collection.archive_ends import known_ends
from gossamer.collection.crawl_log import read_actions
from gossamer.collection.directory import CollectionPaths, open_to_read
from gossamer.collection.starting_points import points_in, urls_of
from gossamer.collection.stored_settings import stored_settings
from gossamer.errors import GossamerError
from gossamer.frontier.meta_keys import ORIGINS_KEY, SALT_KEY, SEEDS_KEY, TYPED_KEY
from gossamer.frontier.store import StateTable, Store
from gossamer.records import Purpose
from gossamer.settings import KEYS, Settings, values_of, with_values
from gossamer.urls.canonical import host_of
from gossamer.urls.keys import SALT_BYTES

_IN_WARCINFO: Final = 20  # seeds; `build.py` writes no more


@dataclass(frozen=True, slots=True)
class OperatorInputs:
    """The operator's inputs of a crawl."""

    settings: Settings
    seeds: tuple[str, ...]
    typed: tuple[str, ...]
    salt: bytes
    origins: tuple[str, ...] | None = None  # typed ones; None if only hosts are known
    is_from_state: bool = True
    is_salt_new: bool = False
    ends: Mapping[str, int] | None = None  # of archive files, by the state


def read_operator_inputs(paths: CollectionPaths) -> OperatorInputs:
    """Read from the state or, if that fails, from archive and log. The caller holds the lock."""
    return _from_state(paths) or _from_archive(paths)


def _from_state(paths: CollectionPaths) -> OperatorInputs | None:
    if not paths.exists:
        return None
    try:
        store = open_to_read(paths)
    except GossamerError:
        return None
    try:
        settings = stored_settings(store)
        seeds, typed, origins = (_texts(store, k) for k in (SEEDS_KEY, TYPED_KEY, ORIGINS_KEY))
        salt = store.find(StateTable.META, SALT_KEY)
        ends = known_ends(store)
    except (GossamerError, ValueError, TypeError):
        return None
    finally:
        store.close()
    if settings is None or seeds is None or typed is None or not salt:
        return None
    return OperatorInputs(settings, seeds, typed, salt, origins, ends=ends)


def _texts(store: Store, key: bytes) -> tuple[str, ...] | None:
    row = store.find(StateTable.META, key)
    return None if row is None else tuple(map(str, unpack(row)))


def _from_archive(paths: CollectionPaths) -> OperatorInputs:
    warc_paths = sorted(paths.archive.glob("*.warc.gz"), key=_begun)
    infos = list(_infos(warc_paths))
    salt = read_manifest(paths.archive).salt or _salt_in(infos)
    actions = list(read_actions(paths.actions))
    newest = max((at for at, _ in infos), default="")
    info = infos[-1][1] if infos else {}
    values = {key: ast.literal_eval(info[key]) for key in KEYS if key in info}
    values |= _changed_since(actions, newest)
    typed = [seed for act in actions for seed in act.get("seeds", ()) if isinstance(seed, str)]
    points = urls_of(points_in(actions))
    listed = [seed for _, one in infos for seed in one.get("seeds", "").split()]
    if not typed and any(len(one.get("seeds", "").split()) >= _IN_WARCINFO for _, one in infos):
        listed += _first_requests(warc_paths)
    seeds = tuple(dict.fromkeys([*typed, *listed, *points]))
    trusted = typed or [seed for seed in seeds if seed not in points]
    return OperatorInputs(
        _usable(values),
        seeds,
        tuple(dict.fromkeys(map(host_of, trusted))),
        salt or os.urandom(SALT_BYTES),
        is_from_state=False,
        is_salt_new=not salt,
    )


def _begun(path: Path) -> tuple[str, ...]:
    """Return when a file was begun, from its name; foreign files come first."""
    parts = path.name.split("-")
    return (parts[-2], parts[-1]) if len(parts) > 2 else ("", path.name)


def _infos(warc_paths: Iterable[Path]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield when each file was begun and its first record; skip damaged files."""
    for path in warc_paths:
        try:
            info = read_info(path)
        except (GossamerError, OSError):
            continue
        if info:
            yield _begun(path)[0], info


def _salt_in(infos: Iterable[tuple[str, Mapping[str, str]]]) -> bytes:
    found = b""
    for _, info in infos:
        try:
            found = bytes.fromhex(info.get(SALT_FIELD, "")) or found
        except ValueError:
            continue
    return found


def _changed_since(actions: Iterable[Mapping[str, Any]], newest: str) -> dict[str, object]:
    """Return settings that changed when the newest file was begun, or later."""
    values: dict[str, object] = {}
    for act in actions:
        at = "".join(c for c in str(act.get("at", "")) if c.isdigit())[: len(newest)]
        changed = act.get("changed")
        if at < newest or not isinstance(changed, dict):
            continue
        for key, pair in changed.items():
            if key in KEYS and isinstance(pair, list) and len(pair) == 2:
                try:
                    values[key] = ast.literal_eval(pair[1])
                except (ValueError, SyntaxError):
                    continue
    return values


def _usable(values: Mapping[str, object]) -> Settings:
    """Return the settings; invalid values are replaced by this release's defaults."""
    try:
        return with_values(Settings(), dict(values))
    except GossamerError:
        pass
    settings, known = Settings(), values_of(Settings())
    for key, value in values.items():
        try:
            settings = with_values(settings, {key: value} if key in known else {})
        except GossamerError:
            continue
    return settings


def _first_requests(warc_paths: Iterable[Path]) -> Iterator[str]:
    """Yield URLs that were requested without a page that links to them."""
    for path in warc_paths:
        try:
            for exchange in iter_exchanges(path):
                lease = exchange.lease
                is_page = lease.purpose is Purpose.PAGE and not lease.source
                if is_page and not lease.depth and not lease.via:
                    yield lease.url
        except (GossamerError, OSError):
            continue
