"""Start crawls from the web interface as separate processes, and control them by their socket.

A crawl is `python -m gossamer crawl ...` in its own session: it continues when the server ends, and
a later server finds it by its collection. The last output of the process is stored beside the
collections, because a crawl that fetched nothing leaves no collection.
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
from gossamer.node.figures.progress import figures_of
from gossamer.node.focus.marks import mark_page
from gossamer.node.notify.positions import notified_figures
from gossamer.node.seeds import read_seeds
from gossamer.node.session import delete_collection
from gossamer.node.snapshot import focus_figures
from gossamer.schedule.admission import build_scope
from gossamer.settings import Settings, choices_of, describe, with_values
from gossamer.urls.canonical import NormalForm, host_of
from gossamer.web.check_crawl import CONTACT, Checker, RealOutside, check_contact, check_place
from gossamer.web.open_collections import OpenCollections, check_name
from gossamer.web.visit_options import FOREVER, visit_words

COMMANDS: Final = ("pause", "resume", "stop")
# Options that the web interface may set. Files of this machine, headers and private networks are
# excluded: only a user of the command line may set them.
OPTIONS: Final = (
    "scope", "domain_list", "include", "exclude", "depth", "max_pages", "max_time", "max_bytes",
    "max_matches", "keep_best", "threshold", "importance", "type", "list_only", "order", "query",
    "delay", "sitemaps", "ascend", "proxy", "max_rate", "hours", "user_agent_contact", *FOREVER,
)  # fmt: skip
_REPEATED: Final = ("include", "exclude")
_LISTS: Final = ("type", "domain_list")
# On the command line these name a file; from the web interface the list itself is sent.
_KEYS: Final = {"domain_list": "scope.domains"}
# A crawl listens 2 s after its start on a machine with seven times its capacity in load; after
# 15 s a command fails.
_START_S: Final = 0.1
_START_TRIES: Final = 150
_LAST_WORDS: Final = 2_000  # bytes of the process's output that are shown
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")

Spawn = Callable[[Sequence[str], Path], Started]


@dataclass(frozen=True, slots=True)
class NewCrawl:
    """A checked request for a crawl, ready to start."""

    name: str
    seeds: tuple[str, ...]
    options: Mapping[str, object]
    allow_private: tuple[str, ...] = ()

    @property
    def arguments(self) -> list[str]:
        """The words after `gossamer`, without the collection."""
        words = ["crawl", "--set=fetch.typed_private=false", _networks(self.allow_private)]
        words += visit_words(self.options)
        for name, value in self.options.items():
            if name in FOREVER:
                continue
            flag = f"--set={_KEYS[name]}" if name in _KEYS else f"--{name.replace('_', '-')}"
            if isinstance(value, bool):
                words += [flag] if value else []
                continue
            values = value if isinstance(value, tuple) and name in _REPEATED else (value,)
            words += [f"{flag}={_word(one)}" for one in values]
        return [*words, "--", *self.seeds]


def _networks(allowed: Sequence[str]) -> str:
    """Return the private networks of the server, which replace those of the settings files."""
    return f"--set=fetch.allow_private={','.join(allowed)}"


def _word(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def settings_from(options: Mapping[str, object]) -> Settings:
    """Return the settings of some options. Raises UsageError for the first invalid one."""
    return with_values(Settings(), flags_from(options))


def flags_from(options: Mapping[str, object]) -> dict[str, object]:
    """Return options of the web interface by the keys of their settings. Raises UsageError."""
    strange = [name for name in options if name not in OPTIONS]
    if strange:
        raise UsageError(f"{strange[0]} cannot be set in the web interface")
    visit_words(options)
    named = {
        _KEYS.get(name, name): _listed(name, value)
        for name, value in options.items()
        if name not in FOREVER
    }
    return settings_of(named)


def _listed(name: str, value: object) -> object:
    """Return a list in the form of its setting: `pdf,image` is two entries, in any encoding."""
    if name not in _LISTS or isinstance(value, str) or not isinstance(value, Sequence):
        return value
    entries = (part.strip() for one in value for part in str(one).split(","))
    return tuple(entry for entry in entries if entry)


def orders_known() -> tuple[str, ...]:
    """Return the orders that a crawl can have without a file, the default first."""
    kind, default, _ = describe("frontier.order")
    names = [name for name in choices_of(kind) if name != "visits"]
    return tuple(sorted(names, key=lambda name: name != default))


def seeds_of(texts: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """Return seeds in canonical form; the scheme is optional. Raises UsageError."""
    form = NormalForm(settings.urls.query, settings.urls.session_parameters)
    return tuple(read_seeds((candidates(text)[0] for text in texts), form))


def new_crawl(
    name: str, texts: Sequence[str], options: Mapping[str, object], taken: Sequence[str]
) -> NewCrawl:
    """Return a crawl that is ready to start. The default name is that of its first host."""
    settings = settings_from(options)
    check_contact(settings.fetch.contact)
    seeds = seeds_of(texts, settings)
    if not seeds:
        raise UsageError("a crawl needs at least one start URL")
    check_usable(settings, seeds)
    if name:
        check_name(name)
        if name in taken:
            raise UsageError(f"a crawl {name!r} exists already; choose another name")
        return NewCrawl(name, seeds, options)
    plain = _NOT_IN_NAMES.sub("-", host_of(seeds[0]).lower()).strip("-")[:50] or "crawl"
    names = (plain if number == 1 else f"{plain}-{number}" for number in range(1, 10_000))
    return NewCrawl(next(free for free in names if free not in taken), seeds, options)


@dataclass(frozen=True, slots=True)
class ScopeAnswer:
    """The result of the scope tester for one URL."""

    url: str
    is_in: bool
    because: str


def judge_scope(
    texts: Sequence[str], options: Mapping[str, object], urls: Sequence[str]
) -> list[ScopeAnswer]:
    """Return whether URLs belong to a crawl, and by which rule. Raises UsageError."""
    settings = settings_from(options)
    scope = build_scope(settings, seeds_of(texts, settings))
    form = NormalForm(settings.urls.query, settings.urls.session_parameters)
    answers = []
    for text in urls:
        url = form.find(text)
        if url is None:
            fault = form.fault(text) or "only http and https are crawled"
            answers.append(ScopeAnswer(text, False, f"it is not a URL to crawl: {fault}"))
            continue
        verdict = scope.judge(url)
        answers.append(ScopeAnswer(url, verdict.is_in, verdict.because))
    return answers


def spawn(words: Sequence[str], output: Path) -> Started:
    """Start this program in its own session, so that it outlives the server."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("wb") as file:
        return start("gossamer", *words, stdout=file, stderr=file, own_session=True)


class Crawls:
    """The crawls of a server: their status, and operations on them."""

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
        """Return collections, and crawls without one: just started or failed."""
        found = self._collections.names()
        return [*found, *(name for name in sorted(self._started) if name not in found)]

    def start(self, name: str, texts: Sequence[str], options: Mapping[str, object]) -> str:
        """Start a crawl; return its name. Raises UsageError; then nothing was created."""
        checker = self._checker
        new_crawl(name, texts, options, ())  # before any network access
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
            self._told[crawl.name] = tuple(one.message for one in chosen if one.message)
        checker.remember(str(options.get(CONTACT) or ""), self._collections.folder)
        return crawl.name

    def told(self, name: str) -> tuple[str, ...]:
        """Return the choices made for a crawl that was started here, as sentences."""
        return self._told.get(name, ())

    def contact(self) -> str:
        """Return the default contact of new crawls."""
        return self._checker.contact(self._collections.folder)

    def _is_free(self, name: str) -> bool:
        """Whether a crawl of this name has failed and left nothing."""
        return not self._collections.paths(name).exists and self.status(name)["state"] == "failed"

    def go_on(self, name: str, visits: Mapping[str, object] | None = None) -> None:
        """Resume a stored crawl; with `visits`, pages are visited again (`visit_options.py`).
        Raises NoCollection, CollectionInUse, UsageError.
        """
        more = visit_words(visits or {})
        paths = self._collections.paths(name)
        if not paths.exists:
            raise paths.missing()
        with self._starting:
            if self.status(name)["state"] not in ("stored", "failed"):
                raise CollectionInUse(paths.path, "a running crawl")
            with self._collections.reader(name) as reader:
                is_ours = not reader.settings().fetch.typed_private
            words = [*([_networks(self._checker.allow_private)] if is_ours else []), *more]
            self._run(name or self._collections.first, ["crawl", *words])

    def order(self, name: str, order: str) -> Mapping[str, Any]:
        """Pause, resume or stop a running crawl; wait for one that is starting.

        Raises NotRunning, and NotKnown if there is no crawl of that name.
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
        """Whether a process of ours is still starting; wait briefly for the result."""
        if name not in self._started:
            return False
        try:
            self._started[name].wait(_START_S)
        except StillRunning:
            return True
        return False

    def bans(self, name: str) -> tuple[str, ...]:
        """Return the bans of a crawl. Raises NoCollection."""
        return bans_of(self._collections.paths(name))

    def ban(self, name: str, added: Sequence[str], lifted: Sequence[str]) -> tuple[str, ...]:
        """Add and lift bans; return all bans. Raises UsageError, NoCollection, CollectionInUse."""
        return change_bans(self._collections.paths(name), self._collections.clock, added, lifted)

    def mark(self, name: str, url: str, *, is_wanted: bool) -> dict[str, Any]:
        """Mark a stored page as relevant to the topic of a crawl, or not; its figures.

        Raises UsageError, NoCollection, CollectionInUse."""
        return mark_page(self._collections.paths(name), url, is_wanted=is_wanted)

    def clear(self, name: str, confirmed: str) -> None:
        """Delete a collection permanently. Raises UsageError unless `confirmed` is its name, and
        CollectionInUse while a crawl runs in it."""
        name = name or self._collections.first
        if confirmed != name:
            raise UsageError(f"type {name} to confirm that it is deleted permanently")
        paths = self._collections.paths(name)
        if paths.exists:
            paths.run.mkdir(exist_ok=True)
            with locked(paths):
                self._collections.forget(name)
                delete_collection(paths)
        elif name not in self._started:
            raise paths.missing()
        elif self._started[name].poll() is None:
            raise CollectionInUse(paths.path, "a starting crawl")
        self._started.pop(name, None)
        self._output(name).unlink(missing_ok=True)

    def status(self, name: str) -> dict[str, Any]:
        """Return the status of a crawl: `starting`, `running`, `paused`, `stopping`, `stored`,
        `failed`, or `none` if there is no such crawl. One that cannot be read counts as failed."""
        name = name or self._collections.first
        nothing: dict[str, Any] = {"schema": 1, "crawl": name, **_NOTHING}
        try:
            return self._status(name, nothing)
        except NoCollection:  # just cleared
            return nothing
        except StoreError as fault:
            return {**nothing, "state": "failed", "said": str(fault)}

    def _status(self, name: str, nothing: Mapping[str, Any]) -> dict[str, Any]:
        paths = self._collections.paths(name)
        status = dict(nothing)
        if paths.exists:
            try:
                # A running crawl reports all figures itself: the stored ones are a second older.
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
        """Return every crawl with its seeds, status and last change."""
        return [self._line(name) for name in self.names()]

    def seeds(self, name: str, most: int) -> tuple[str, ...]:
        """Return the seeds of a crawl; none if it cannot be read, as its status says."""
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
            fresh = reader.freshness()
            return {
                **figures_of(reader.counts()),
                "notified": notified_figures(reader.store),
                "freshness": fresh.as_json() if fresh is not None else None,
                "focus": focus_figures(reader.store),
            }

    def _run(self, name: str, words: Sequence[str]) -> None:
        where = f"--collection={self._collections.paths(name).path}"
        self._started[name] = self._spawn([words[0], where, *words[1:]], self._output(name))

    def _output(self, name: str) -> Path:
        return self._collections.folder / ".output" / f"{name}.txt"

    def _last_words(self, name: str) -> str:
        try:
            with self._output(name).open("rb") as file:  # it may be long
                file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST_WORDS))
                said = file.read(_LAST_WORDS)
        except OSError:
            return ""
        return said.decode("utf-8", "replace").strip()


_NOTHING: Final[dict[str, Any]] = {
    "state": "none", **figures_of(Counts()),
    "under_way": 0, "hosts_waiting": 0, "pages_per_s": 0.0, "bytes_per_s": 0.0, "wall_s": 0.0,
    "ran_s": 0.0, "memory_bytes": None, "troubles": (), "retrying": 0, "retry_in_s": 0.0,
    "said": "", "notified": {}, "freshness": None, "focus": None,
}  # fmt: skip


def _changed_at(paths: CollectionPaths) -> str | None:
    try:
        return iso_of(paths.log.stat().st_mtime_ns // 1000)
    except OSError:
        return None
