"""Parse the seeds of a crawl: from the command line, a file, or standard input.

A name without a scheme (`example.org`) means https if its server supports it, else http, and a
message says which. A name that is a seed of the stored crawl keeps its scheme without a connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from gossamer.collection.directory import CollectionPaths, open_to_read
from gossamer.collection.stored_settings import stored_seeds
from gossamer.errors import GossamerError
from gossamer.fetch.guard import AddressGuard
from gossamer.node.bare_names import Chosen, candidates, choose_urls, is_bare
from gossamer.node.seeds import read_seeds, seed_lines
from gossamer.settings import Settings
from gossamer.urls.canonical import NormalForm, has_userinfo

STDIN: Final = "standard input"
_TOLD: Final = 20

# the source (a file, standard input or nothing) and its lines
SeedSources = Sequence[tuple[str, Sequence[str]]]


def typed_seeds(
    collection: Path,
    settings: Settings,
    sources: SeedSources,
    say: Callable[[str], None],
    *,
    may_probe: bool,
) -> list[str]:
    """Return all seeds in canonical form, without repetition. Raises UsageError for an invalid
    URL."""
    urls = settings.urls
    form = NormalForm(urls.query, urls.session_parameters)
    texts = [
        (where, seed_lines(Path(where)) if where not in ("", STDIN) else list(lines))
        for where, lines in sources
    ]
    bare = [line.strip() for _, lines in texts for line in lines if is_bare(line)]
    chosen = _choose(bare, collection, settings, form, may_probe=may_probe) if bare else {}
    told = [choice.message for choice in chosen.values() if choice.message]
    for sentence in told[:_TOLD]:
        say(sentence)
    if len(told) > _TOLD:
        say(f"{len(told) - _TOLD} more names without a scheme were resolved in the same way.")
    seeds: list[str] = []
    for where, lines in texts:
        whole = [chosen[line.strip()].url if line.strip() in chosen else line for line in lines]
        seeds += read_seeds(whole, form, where)
        if any(map(has_userinfo, lines)):
            say("User and password in a seed are ignored. Put them into a file for --logins.")
    return list(dict.fromkeys(seeds))


def _choose(
    bare: Iterable[str],
    collection: Path,
    settings: Settings,
    form: NormalForm,
    *,
    may_probe: bool,
) -> dict[str, Chosen]:
    """Return the URL for each name, by the name as typed."""
    known = _seeds_before(collection)
    found: dict[str, Chosen] = {}
    for text in dict.fromkeys(bare):
        before = [url for url in candidates(text) if form.find(url) in known]
        if before:
            found[text] = Chosen(text, before[0])
    left = [text for text in dict.fromkeys(bare) if text not in found]
    fetch = settings.fetch
    can_probe = may_probe and not (fetch.proxy or fetch.proxies)
    choices = asyncio.run(choose_urls(left, AddressGuard(fetch.allow_private), probe=can_probe))
    return {**found, **{choice.typed: choice for choice in choices}}


def _seeds_before(collection: Path) -> frozenset[str]:
    """Return the seeds of a stored crawl; none if there is none that can be read."""
    paths = CollectionPaths(collection)
    try:
        store = open_to_read(paths) if paths.exists else None
    except GossamerError:
        return frozenset()  # the crawl reports the error when it opens the collection
    if store is None:
        return frozenset()
    try:
        return frozenset(stored_seeds(store))
    finally:
        store.close()
