"""Crawls from the page: started as programs of their own, ordered through their control socket.

A crawl that is started here is `python -m gossamer crawl ...` in a session of its own: it goes on
when the server ends, and a server that starts later finds it again by its collection. What the
program says on its way out is kept beside the collections, because a crawl that fetched nothing
leaves no collection.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from gossamer.base.clock import iso_of
from gossamer.base.processes import Started, StillRunning, start
from gossamer.collection.directory import CollectionPaths, is_in_use, locked
from gossamer.collection.option_names import settings_of
from gossamer.errors import CollectionInUse, NoCollection, NotKnown, StoreError, UsageError
from gossamer.frontier.counts import Counts
from gossamer.node.bans import bans_of, change_bans
from gossamer.node.bare_names import candidates
from gossamer.node.build import check_usable
from gossamer.node.control import NotRunning, send
from gossamer.node.progress import figures_of
from gossamer.node.seeds import read_seeds
from gossamer.node.session import delete_collection
from gossamer.schedule.admission import build_scope
from gossamer.settings import Settings, choices_of, describe, with_values
from gossamer.urls.canonical import NormalForm, host_of
from gossamer.web.check_crawl import CONTACT, Checker, RealOutside, check_contact, check_place
from gossamer.web.open_collections import OpenCollections, check_name

ORDERS: Final = ("pause", "resume", "stop")
# What may be said from the page. Files of this machine, headers and private networks may not:
# they belong to whoever types on it.
OPTIONS: Final = (
    "scope", "domain_list", "include", "exclude", "depth", "max_pages", "max_time", "max_bytes",
    "max_matches", "type", "order", "delay", "sitemaps", "ascend", "proxy", "max_rate", "hours",
    "user_agent_contact",
)  # fmt: skip
_REPEATED: Final = ("include", "exclude")
_LISTS: Final = ("type", "domain_list")
# On the command line these are a file of this machine; from the page the list itself is sent.
_KEYS: Final = {"domain_list": "scope.domains"}
# A crawl listens 2 s after it was started here, on a machine with seven times more to do than it
# can; after 15 s an order is in vain.
_START_S: Final = 0.1
_START_TRIES: Final = 150
_LAST_WORDS: Final = 2_000  # bytes of a program's output that are shown
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")

Spawn = Callable[[Sequence[str], Path], Started]


@dataclass(frozen=True, slots=True)
class NewCrawl:
    """What a person asked for, checked: it can be started."""

    name: str
    seeds: tuple[str, ...]
    options: Mapping[str, object]
    allow_private: tuple[str, ...] = ()

    @property
    def arguments(self) -> list[str]:
        """The words after `gossamer`, the collection apart."""
        words = ["crawl", "--set=fetch.typed_private=false", _networks(self.allow_private)]
        for name, value in self.options.items():
            flag = f"--set={_KEYS[name]}" if name in _KEYS else f"--{name.replace('_', '-')}"
            if isinstance(value, bool):
                words += [flag] if value else []
                continue
            values = value if isinstance(value, tuple) and name in _REPEATED else (value,)
            words += [f"{flag}={_word(one)}" for one in values]
        return [*words, "--", *self.seeds]


def _networks(allowed: Sequence[str]) -> str:
    """The private networks of the server, in place of those that files of settings name."""
    return f"--set=fetch.allow_private={','.join(allowed)}"


def _word(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def settings_from(options: Mapping[str, object]) -> Settings:
    """The settings that options ask for. Raises UsageError for the first that is wrong."""
    return with_values(Settings(), flags_from(options))


def flags_from(options: Mapping[str, object]) -> dict[str, object]:
    """Options of the page by the keys of their settings. Raises UsageError."""
    strange = [name for name in options if name not in OPTIONS]
    if strange:
        raise UsageError(f"{strange[0]} cannot be set from the page")
    named = {_KEYS.get(name, name): _listed(name, value) for name, value in options.items()}
    return settings_of(named)


def _listed(name: str, value: object) -> object:
    """A list as its setting wants it: `pdf,image` is two entries, however it was sent."""
    if name not in _LISTS or isinstance(value, str) or not isinstance(value, Sequence):
        return value
    entries = (part.strip() for one in value for part in str(one).split(","))
    return tuple(entry for entry in entries if entry)


def orders_known() -> tuple[str, ...]:
    """The orders that a crawl can have, as its setting names them."""
    return choices_of(describe("frontier.order")[0])


def seeds_of(texts: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """Start URLs in canonical form; the scheme may be left out. Raises UsageError."""
    form = NormalForm(settings.urls.query, settings.urls.session_parameters)
    return tuple(read_seeds((candidates(text)[0] for text in texts), form))


def new_crawl(
    name: str, texts: Sequence[str], options: Mapping[str, object], taken: Sequence[str]
) -> NewCrawl:
    """A crawl that can be started. Without a name it is called after its first host."""
    settings = settings_from(options)
    check_contact(settings.fetch.contact)
    seeds = seeds_of(texts, settings)
    if not seeds:
        raise UsageError("a crawl needs a URL to start at")
    check_usable(settings, seeds)
    if name:
        check_name(name)
        if name in taken:
            raise UsageError(f"there is a crawl {name!r} already; choose another name")
        return NewCrawl(name, seeds, options)
    plain = _NOT_IN_NAMES.sub("-", host_of(seeds[0]).lower()).strip("-")[:50] or "crawl"
    names = (plain if number == 1 else f"{plain}-{number}" for number in range(1, 10_000))
    return NewCrawl(next(free for free in names if free not in taken), seeds, options)


@dataclass(frozen=True, slots=True)
class ScopeAnswer:
    """What the scope tester says of one URL."""

    url: str
    is_in: bool
    because: str


def judge_scope(
    texts: Sequence[str], options: Mapping[str, object], urls: Sequence[str]
) -> list[ScopeAnswer]:
    """Whether URLs would belong to a crawl, and by which rule. Raises UsageError."""
    settings = settings_from(options)
    scope = build_scope(settings, seeds_of(texts, settings))
    form = NormalForm(settings.urls.query, settings.urls.session_parameters)
    answers = []
    for text in urls:
        url = form.find(text)
        if url is None:
            fault = form.fault(text) or "only http and https are crawled"
            answers.append(ScopeAnswer(text, False, f"it is no URL to crawl: {fault}"))
            continue
        verdict = scope.judge(url)
        answers.append(ScopeAnswer(url, verdict.is_in, verdict.because))
    return answers


def spawn(words: Sequence[str], output: Path) -> Started:
    """Start this very program in a session of its own, so that it outlives us."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("wb") as file:
        return start("gossamer", *words, stdout=file, stderr=file, own_session=True)


class Crawls:
    """The crawls of a shelf: how they stand, and what can be done about it."""

    def __init__(
        self, collections: OpenCollections, spawn: Spawn = spawn, checker: Checker | None = None
    ) -> None:
        self._collections = collections
        self._spawn = spawn
        self._checker = checker or Checker(RealOutside())
        self._told: dict[str, tuple[str, ...]] = {}
        self._started: dict[str, Started] = {}
        self._starting = threading.Lock()

    def names(self) -> list[str]:
        """Collections, and crawls that have none: not yet, or because they failed."""
        found = self._collections.names()
        return [*found, *(name for name in sorted(self._started) if name not in found)]

    def start(self, name: str, texts: Sequence[str], options: Mapping[str, object]) -> str:
        """Begin a new crawl; its name. Raises UsageError, and then nothing was made."""
        checker = self._checker
        new_crawl(name, texts, options, ())  # before anybody is asked
        settings = checker.settings(self._collections.folder, flags_from(options))
        check_contact(settings.fetch.contact)
        chosen = checker.choose(texts, settings)
        urls = [one.url for one in chosen]
        checker.check_hosts(settings, seeds_of(urls, settings))
        with self._starting:
            taken = [name for name in self.names() if not self._is_free(name)]
            crawl = replace(
                new_crawl(name, urls, options, taken), allow_private=checker.allow_private
            )
            check_place(self._collections.paths(crawl.name).path, settings.node.min_free_bytes)
            self._run(crawl.name, crawl.arguments)
            self._told[crawl.name] = tuple(one.told for one in chosen if one.told)
        checker.remember(str(options.get(CONTACT) or ""), self._collections.folder)
        return crawl.name

    def told(self, name: str) -> tuple[str, ...]:
        """What was chosen for a crawl that was started here, in sentences."""
        return self._told.get(name, ())

    def contact(self) -> str:
        """The contact that new crawls have where none is typed."""
        return self._checker.contact(self._collections.folder)

    def _is_free(self, name: str) -> bool:
        """Whether a crawl that was here has failed and left nothing."""
        return not self._collections.paths(name).exists and self.status(name)["state"] == "failed"

    def go_on(self, name: str) -> None:
        """Go on with a stored crawl. Raises NoCollection, CollectionInUse."""
        paths = self._collections.paths(name)
        if not paths.exists:
            raise paths.missing()
        with self._starting:
            if self.status(name)["state"] not in ("stored", "failed"):
                raise CollectionInUse(paths.path, "a crawl that runs")
            with self._collections.reader(name) as reader:
                is_ours = not reader.settings().fetch.typed_private
            words = [_networks(self._checker.allow_private)] if is_ours else []
            self._run(name or self._collections.first, ["crawl", *words])

    def order(self, name: str, order: str) -> Mapping[str, Any]:
        """Tell a running crawl to pause, resume or stop; one that is only starting is waited for.

        Raises NotRunning, and NotKnown where there is no crawl of that name.
        """
        paths = self._collections.paths(name)
        if not paths.exists and name not in self._started:
            raise NotKnown(f"there is no crawl {name!r}")
        for _ in range(_START_TRIES):
            with suppress(NotRunning):
                return send(paths, order)
            if not self._is_starting(name or self._collections.first):
                break
        return send(paths, order)

    def _is_starting(self, name: str) -> bool:
        """Whether a program of ours has not ended yet; it is given a moment for either."""
        if name not in self._started:
            return False
        try:
            self._started[name].wait(_START_S)
        except StillRunning:
            return True
        return False

    def bans(self, name: str) -> tuple[str, ...]:
        """What a crawl was told not to ask for. Raises NoCollection."""
        return bans_of(self._collections.paths(name))

    def ban(self, name: str, added: Sequence[str], lifted: Sequence[str]) -> tuple[str, ...]:
        """Ban and lift; all bans afterwards. Raises UsageError, NoCollection, CollectionInUse."""
        return change_bans(self._collections.paths(name), self._collections.clock, added, lifted)

    def clear(self, name: str, confirmed: str) -> None:
        """Delete a collection for good. Raises UsageError unless its name was typed, and
        CollectionInUse while a crawl runs in it."""
        name = name or self._collections.first
        if confirmed != name:
            raise UsageError(f"type {name} to say that you mean to delete it for good")
        paths = self._collections.paths(name)
        if paths.exists:
            paths.run.mkdir(exist_ok=True)
            with locked(paths):
                self._collections.forget(name)
                delete_collection(paths)
        elif name not in self._started:
            raise paths.missing()
        elif self._started[name].poll() is None:
            raise CollectionInUse(paths.path, "a crawl that is starting")
        self._started.pop(name, None)
        self._output(name).unlink(missing_ok=True)

    def status(self, name: str) -> dict[str, Any]:
        """How a crawl stands: `starting`, `running`, `paused`, `stopping`, `stored`, `failed`, or
        `none` where there is no crawl of that name. One that cannot be read has failed, too."""
        name = name or self._collections.first
        nothing: dict[str, Any] = {"schema": 1, "crawl": name, **_NOTHING}
        try:
            return self._status(name, nothing)
        except NoCollection:  # cleared this moment
            return nothing
        except StoreError as fault:
            return {**nothing, "state": "failed", "said": str(fault)}

    def _status(self, name: str, nothing: Mapping[str, Any]) -> dict[str, Any]:
        paths = self._collections.paths(name)
        status = dict(nothing)
        if paths.exists:
            try:
                # All figures of a running crawl are its own: what is stored is a second older.
                return {**status, **send(paths, "status")}
            except NotRunning:
                status |= self._stored(name)
                status["state"] = "starting" if is_in_use(paths) else "stored"
        process = self._started.get(name)
        if process is not None:
            code = process.poll()
            if code is None and status["state"] in ("none", "stored"):
                status["state"] = "starting"
            elif code in (1, 2, 3, 13):
                status["state"] = "failed"
                status["said"] = self._last_words(name)
        return status

    def list(self) -> list[dict[str, Any]]:
        """Every crawl with its seeds, its status and when it was last written."""
        return [self._line(name) for name in self.names()]

    def seeds(self, name: str, most: int) -> tuple[str, ...]:
        """Where a crawl began; nothing where it cannot be read, as its status says."""
        try:
            with self._collections.reader(name) as reader:
                return reader.seeds()[:most]
        except StoreError:
            return ()

    def _line(self, name: str) -> dict[str, Any]:
        seeds = list(self.seeds(name, 10))
        changed_at = _changed_at(self._collections.paths(name))
        return {**self.status(name), "seeds": seeds, "changed_at": changed_at}

    def _stored(self, name: str) -> dict[str, Any]:
        with self._collections.reader(name) as reader:
            return figures_of(reader.counts())

    def _run(self, name: str, words: Sequence[str]) -> None:
        where = f"--collection={self._collections.paths(name).path}"
        self._started[name] = self._spawn([words[0], where, *words[1:]], self._output(name))

    def _output(self, name: str) -> Path:
        return self._collections.folder / ".output" / f"{name}.txt"

    def _last_words(self, name: str) -> str:
        try:
            with self._output(name).open("rb") as file:  # of a long crawl it is a long one
                file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST_WORDS))
                said = file.read(_LAST_WORDS)
        except OSError:
            return ""
        return said.decode("utf-8", "replace").strip()


_NOTHING: Final[dict[str, Any]] = {
    "state": "none", **figures_of(Counts()),
    "under_way": 0, "hosts_waiting": 0, "pages_per_s": 0.0, "bytes_per_s": 0.0, "wall_s": 0.0,
    "ran_s": 0.0, "memory_bytes": None, "troubles": (), "retrying": 0, "retry_in_s": 0.0,
    "said": "",
}  # fmt: skip


def _changed_at(paths: CollectionPaths) -> str | None:
    try:
        return iso_of(paths.log.stat().st_mtime_ns // 1000)
    except OSError:
        return None
