"""The crawl that typed flags describe, for `crawl` and `watch`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gossamer.cli.collection import collection_at
from gossamer.cli.conceal import conceal, conceal_headers, conceal_urls
from gossamer.cli.run.run_crawl import plan_of
from gossamer.cli.typed_seeds import STDIN
from gossamer.collection.option_names import FLAGS, settings_of
from gossamer.errors import SettingsError, UsageError
from gossamer.node.session import CrawlPlan
from gossamer.node.visits.revisit_filter import revisit_of

# Flags that are not settings, or have another name there.
_NO_SETTINGS: Final = (
    "seeds",
    "collection",
    "file",
    "set_",
    "change",
    "add",
    "forever",
    "revisit",
    "older_than",
    "site",
    "match",
    "dry_run",
    "json",
)
_OTHERWISE: Final = ("ascend", "list_only", "contact", "no_index", "no_graph")


def planned(given: Mapping[str, Any]) -> CrawlPlan:
    """The crawl that the given flags describe. Secrets among them are concealed from other users.
    Raises UsageError."""
    seeds, pairs = given["seeds"] or [], given["set_"] or []
    conceal_headers([*(given["header"] or ()), *_headers_in(pairs)])
    conceal_urls([*seeds, given["proxy"] or "", *pairs])
    conceal([given["webhook"] or ""])
    typed_as = _names_typed(given, pairs)
    if given["refresh"] and not given["forever"]:
        raise UsageError(
            "--refresh shares the visits of --forever; add --forever, or store the policy for "
            "later with --set refresh.policy=NAME"
        )
    revisit = revisit_of(given["revisit"], given["older_than"], given["site"], given["match"])
    with named_as_typed(typed_as):
        flags = _flags(given, pairs)
        sources = _typed(seeds, given["file"])
        collection, may_probe = collection_at(given["collection"]), not given["dry_run"]
        plan = plan_of(collection, sources, flags, may_probe=may_probe)
    return replace(
        plan,
        may_change=given["change"],
        may_add=given["add"],
        is_forever=given["forever"],
        revisit=revisit,
        typed_as=typed_as,
    )


@contextmanager
def named_as_typed(typed_as: Mapping[str, str]) -> Iterator[None]:
    """Errors about settings use the names that were typed, such as `--scope`."""
    try:
        yield
    except SettingsError as fault:
        if fault.where or fault.key not in typed_as:
            raise
        raise fault.named(typed_as[fault.key]) from fault


def _names_typed(given: Mapping[str, Any], pairs: Iterable[str]) -> dict[str, str]:
    """Return the name that was typed for each setting: `--scope`, or `--set scope.kind`."""
    called = {"contact": "user_agent_contact"}
    names = [
        called.get(name, name)
        for name, value in given.items()
        if value is not None and value is not False
    ]
    typed = {FLAGS[name]: f"--{name.replace('_', '-')}" for name in names if name in FLAGS}
    for pair in pairs:
        key = pair.partition("=")[0].strip()
        typed[FLAGS.get(key, key)] = f"--set {key}"
    return typed


def _flags(given: Mapping[str, Any], pairs: Iterable[str]) -> dict[str, object]:
    """Return the settings that were typed. Raises UsageError."""
    options: dict[str, object] = {
        **{name: given[name] for name in given if name not in (*_NO_SETTINGS, *_OTHERWISE)},
        "ascend": given["ascend"] or None,
        "list_only": given["list_only"] or None,
        "user_agent_contact": given["contact"],
        "graph": False if given["no_graph"] else None,
        "index": False if given["no_index"] else None,
    }
    assert set(options) == set(FLAGS), "every short name is a flag"
    flags = settings_of({name: value for name, value in options.items() if value is not None})
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--set {pair}: KEY=VALUE expected")
        flags.update(settings_of({key.strip(): value}))
    return flags


def _headers_in(pairs: Iterable[str]) -> list[str]:
    """Return the headers that `--set` gives."""
    found = (pair.partition("=") for pair in pairs)
    return [h for key, _, text in found if key.strip() == "fetch.headers" for h in text.split(",")]


def _typed(seeds: list[str], file: Path | None) -> list[tuple[str, list[str]]]:
    """Return the sources of seeds, and their lines."""
    sources: list[tuple[str, list[str]]] = [("", [seed for seed in seeds if seed != "-"])]
    if "-" in seeds:
        sources.append((STDIN, sys.stdin.read().splitlines()))
    if file is not None:
        sources.append((os.fspath(file), []))
    return sources
