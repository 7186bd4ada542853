"""What the process of a job tells: figures of the node, and the newest lines of its log.

The log has one line per outcome. From it come the URLs fetched lately, those that cannot be
resolved or that robots.txt refuses, and the URL patterns that bring most URLs. A pattern is told as
a loop if the node has found it to be a trap, or if it makes up most of a long crawl.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from gossamer.collection.directory import CollectionPaths, open_to_read
from gossamer.errors import GossamerError
from gossamer.fleet.protocol import MAX_LOOPS, UrlLoop
from gossamer.policies.traps.patterns import patterns_of
from gossamer.reader.trap_facts import TrapVerdict, trap_verdicts
from gossamer.urls.canonical import host_of, origin_of

_FEW: Final = 20  # URLs of a kind that are told
_LOG_BYTES: Final = 2**20  # read at once; older lines are skipped
_MOST_PATTERNS: Final = 5_000
_MOST_VERDICTS: Final = 500
_LONG: Final = 300  # fetched URLs of a pattern that may be a loop
_MAJORITY: Final = 0.5
_LONGEST_URL: Final = 500


@dataclass(slots=True)
class _PatternUse:
    prefix: str  # common to all URLs
    example: str
    urls: int = 0
    fetched: int = 0

    def add(self, url: str, *, is_fetched: bool) -> None:
        self.urls += 1
        self.fetched += is_fetched
        self.example = url
        while not url.startswith(self.prefix):
            self.prefix = self.prefix[: max(0, _cut(url, self.prefix))]


def _cut(url: str, prefix: str) -> int:
    """The length of the common start."""
    for at, (one, other) in enumerate(zip(url, prefix, strict=False)):
        if one != other:
            return at
    return min(len(url), len(prefix))


class LogWatch:
    """Follows the log of one crawl."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._at = 0
        self.recent: deque[str] = deque(maxlen=_FEW)
        self.unresolved: deque[str] = deque(maxlen=_FEW)
        self.robots_refused: deque[str] = deque(maxlen=_FEW)
        self._patterns: dict[tuple[str, str], _PatternUse] = {}
        self._fetched = 0

    def look(self) -> None:
        """Read the lines that are new."""
        try:
            with self._log.open("rb") as file:
                size = file.seek(0, 2)
                self._at = min(self._at, size)  # the log is cut after a kill
                skipped = max(self._at, size - _LOG_BYTES)
                file.seek(skipped)
                content = file.read(_LOG_BYTES)
        except OSError:
            return
        whole = content[: content.rfind(b"\n") + 1]
        self._at = skipped + len(whole)
        for line in whole.splitlines():
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError):
                continue  # the first line may be cut

    def _take(self, fact: dict[str, Any]) -> None:
        url, outcome, reason = fact["url"][:_LONGEST_URL], fact["outcome"], fact.get("reason")
        if fact.get("purpose"):
            return
        if outcome == "fetched":
            self._fetched += 1
            self.recent.append(url)
        if reason == "dns":
            self.unresolved.append(url)
        elif reason == "robots":
            self.robots_refused.append(url)
        if outcome == "fetched" or reason == "trap":
            self._note_pattern(url, is_fetched=outcome == "fetched")

    def _note_pattern(self, url: str, *, is_fetched: bool) -> None:
        key = host_of(url), patterns_of(url).narrow
        use = self._patterns.get(key)
        if use is None:
            if len(self._patterns) >= _MOST_PATTERNS:
                return
            use = self._patterns[key] = _PatternUse(url, url)
        use.add(url, is_fetched=is_fetched)

    def loops(self, verdicts: Iterable[TrapVerdict]) -> tuple[UrlLoop, ...]:
        """The patterns that the node takes for traps, and those of most URLs of a long crawl."""
        found: dict[str, UrlLoop] = {}
        for verdict in verdicts:
            if verdict.pattern:
                loop = self._loop_of(verdict)
                found.setdefault(loop.pattern, loop)
        for use in self._patterns.values():
            if use.fetched >= _LONG and use.fetched > _MAJORITY * self._fetched:
                loop = _told(use)
                found.setdefault(loop.pattern, loop)
        return tuple(sorted(found.values(), key=lambda loop: -loop.urls)[:MAX_LOOPS])

    def _loop_of(self, verdict: TrapVerdict) -> UrlLoop:
        fetched = verdict.news + verdict.wasted
        uses = [
            use
            for (host, narrow), use in self._patterns.items()
            if host == verdict.host and verdict.pattern in (narrow, patterns_of(use.example).wide)
        ]
        if not uses:
            return UrlLoop(
                pattern=f"{verdict.host}{verdict.pattern}", urls=fetched, fetched=fetched
            )
        largest = _told(max(uses, key=lambda use: use.urls))
        return UrlLoop(
            pattern=largest.pattern,
            urls=max(fetched, sum(use.urls for use in uses)),
            fetched=fetched,
            example=largest.example,
        )


def _told(use: _PatternUse) -> UrlLoop:
    return UrlLoop(
        pattern=ban_line(use.prefix, use.example),
        urls=use.urls,
        fetched=use.fetched,
        example=use.example,
    )


def ban_line(prefix: str, example: str) -> str:
    """A line that bans the URLs with a common start, as `gossamer ban` takes it; never a whole
    host."""
    origin = origin_of(example)
    rest = prefix.removeprefix(origin)
    if "?" in rest:
        path, _, query = rest.partition("?")
        name = query.partition("=")[0]
        return f"{origin}{path}?{name}=*" if "=" in query else f"{origin}{path}?*"
    folder = rest[: rest.rfind("/") + 1]
    if len(folder) > 1:
        return f"{origin}{folder}"
    path, mark, query = example.removeprefix(origin).partition("?")
    if mark:
        return f"{origin}/*?{query.partition('=')[0]}=*"
    first = path.lstrip("/").partition("/")[0]
    return f"{origin}/{first}/" if "/" in path.lstrip("/") else example


def stored_verdicts(collection: Path) -> list[TrapVerdict]:
    """The traps that the node has committed; none if the state cannot be read now."""
    try:
        store = open_to_read(CollectionPaths(collection))
    except GossamerError:
        return []
    try:
        return list(islice(trap_verdicts(store), _MOST_VERDICTS))
    except GossamerError:
        return []
    finally:
        store.close()
