"""One crawl from the outside: open, run, accept commands, close. CLI and API both use it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from gossamer.base.clock import SystemClock
from gossamer.collection.checksums import NAME as SUMS
from gossamer.collection.configure import configure
from gossamer.collection.crawl_log import note_action
from gossamer.collection.directory import (
    CHECKPOINTS,
    CollectionPaths,
    open_to_read,
    undo_half_swaps,
)
from gossamer.collection.example_urls import urls_among
from gossamer.collection.staging import NEW, OLD
from gossamer.collection.starting_points import StartingPoint, urls_of
from gossamer.collection.stored_settings import stored_settings
from gossamer.errors import DiskFault, GossamerError, UsageError
from gossamer.fetch.request import user_agent
from gossamer.node.bans import BAN, TRUST, LineKind, note_lines
from gossamer.node.build import Opened, check_usable, open_node
from gossamer.node.control import Answerer, listening
from gossamer.node.new_sites import added_sites
from gossamer.node.node import Node
from gossamer.node.seeds import NeedsContact, form_of, read_seeds, survey
from gossamer.node.starts.find_points import find_points
from gossamer.node.starts.planned_points import is_searched
from gossamer.node.visits.revisit_filter import RevisitFilter
from gossamer.policies.named_order import is_focused
from gossamer.policies.retention import RetentionRule
from gossamer.settings import Settings


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    """The crawl that a person requested."""

    collection: Path
    seeds: Sequence[str] = ()
    flags: Mapping[str, object] = field(default_factory=dict)
    may_change: bool = False
    may_add: bool = False  # seeds of sites that are new to the collection may be added
    is_forever: bool = False  # it runs without end, and visits known pages again
    revisit: RevisitFilter | None = None  # known pages that are visited once more
    typed_as: Mapping[str, str] = field(default_factory=dict)  # key -> flag, such as `--scope`
    points: Sequence[StartingPoint] = ()  # seeds that a search gave; `opened` runs it

    @property
    def all_seeds(self) -> tuple[str, ...]:
        """Typed ones, and those that a search gave."""
        return tuple(dict.fromkeys((*self.seeds, *urls_of(self.points))))

    @property
    def paths(self) -> CollectionPaths:
        return CollectionPaths(self.collection)

    def settings_for(self, stored: Settings | None) -> Settings:
        return configure(self.collection, self.flags, base=stored).settings


@asynccontextmanager
async def opened(plan: CrawlPlan) -> AsyncIterator[Opened]:
    """Provide a node that is ready to run and accepts commands. It is closed when the block ends.

    Raises UsageError, StoreError or UnknownHost, and then nothing has changed on disk.
    """
    clock = SystemClock()
    is_new = not plan.paths.exists
    if plan.paths.is_state_lost:
        raise plan.paths.missing()
    settings, sites = (plan.settings_for(None), ()) if is_new else _settings_to_go_on(plan)
    plan = _with_examples(plan, settings)
    user_agent(settings.fetch.contact)  # raises if it cannot be sent
    if is_searched(settings, is_new=is_new, flags=plan.flags):
        plan = replace(plan, points=await find_points(settings, clock))
    if is_new and not plan.all_seeds:
        raise UsageError(f"no crawl to resume in {plan.collection}; add a start URL")
    if is_new:
        check_usable(settings, plan.all_seeds)
    public = await survey(plan.all_seeds, clock, has_contact=bool(settings.fetch.contact))
    if public:
        raise NeedsContact(public)
    with ExitStack() as stack:
        opening = open_node(
            plan.paths, plan.settings_for, plan.seeds, clock, stack, may_change=plan.may_change,
            is_forever=plan.is_forever, revisit=plan.revisit, points=plan.points,
        )  # fmt: skip
        async with (
            _closing(opening.node),
            listening(plan.paths, _answering(plan.paths, opening, clock)),
        ):
            yield replace(opening, new_sites=sites)


def _with_examples(plan: CrawlPlan, settings: Settings) -> CrawlPlan:
    """The plan with the examples of a focused crawl that are URLs among its seeds."""
    if not is_focused(settings.frontier.order):
        return plan
    urls = read_seeds(urls_among(settings.focus.like), form_of(settings))
    return replace(plan, seeds=tuple(dict.fromkeys((*plan.seeds, *urls))))


@asynccontextmanager
async def _closing(node: Node) -> AsyncIterator[None]:
    """Close the node at the end. A disk fault is raised once: further ones follow from it."""
    try:
        yield
    except BaseException:
        with suppress(DiskFault):
            await node.aclose()
        raise
    try:
        await node.aclose()
    except DiskFault:
        if not node.has_disk_fault:
            raise


def _settings_to_go_on(plan: CrawlPlan) -> tuple[Settings, tuple[str, ...]]:
    """The settings in force, and the new sites of the seeds. Raises NewSite."""
    store = open_to_read(plan.paths)
    try:
        settings = plan.settings_for(stored_settings(store))
        sites = added_sites(plan.collection, store, settings, plan.seeds, may_add=plan.may_add)
        return settings, sites
    finally:
        store.close()


def delete_collection(paths: CollectionPaths) -> None:
    """Delete all files of the collection. Other files, such as the operator's settings, stay."""
    undo_half_swaps(paths)
    derived = (paths.graph, paths.index, paths.log.parent, paths.state)
    for part in (paths.archive, *derived, paths.path / NEW, paths.path / OLD, paths.run):
        shutil.rmtree(part, ignore_errors=True)
    history = paths.history
    for file in (paths.cookies, history, history.with_name("history.jsonl.new"), paths.path / SUMS):
        file.unlink(missing_ok=True)
    if not any(paths.path.iterdir()):
        paths.path.rmdir()


def _answering(  # noqa: C901 - one case for each command
    paths: CollectionPaths, opening: Opened, clock: SystemClock
) -> Any:
    """The function that answers commands to a node."""
    node = opening.node

    def answer(command: str, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        match command:
            case "status":
                pass
            case "ban" | "trust":
                return _change(paths, node, clock, BAN if command == "ban" else TRUST, facts)
            case "mark":
                return _mark(node, facts)
            case "checkpoint":
                return _save_state(paths, opening, clock)
            case "prune":
                return _prune(node, facts)
            case "pause":
                node.pause()
            case "resume":
                node.resume()
            case "stop":
                node.stop("signal")
            case _:
                return {"error": f"unknown command {command!r}"}
        if command != "status":
            note_action(paths.actions, clock.wall_us(), command)
        return {"schema": 1, **asdict(node.progress())}

    return _with_scores(node, answer)


def _with_scores(node: Node, act: Answerer) -> Answerer:
    """Also tells the parts of the score of a URL, and takes the pace of shared addresses."""

    def answer(command: str, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        if command == "score":
            return {"schema": 1, "score": node.score_of(str(facts.get("url", "")))}
        if command == "pace":
            return _set_pace(node, facts)
        return act(command, facts)

    return answer


def _mark(node: Node, facts: Mapping[str, Any]) -> dict[str, Any]:
    """A user marks a page as relevant to the topic, or not."""
    focus = node.focus
    if focus is None:
        return {"error": "the crawl has no topic; start it with --order focus"}
    if not focus.mark(str(facts.get("url", "")), is_wanted=facts.get("relevant") is True):
        return {"error": f"{facts.get('url')} is not a stored page with words"}
    return {"schema": 1, "focus": focus.figures()}


def _set_pace(node: Node, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Other crawlers request some of the addresses, too."""
    factors = facts.get("factors")
    if not isinstance(factors, dict):
        return {"error": "`factors` must be an object of addresses and numbers"}
    node.scheduler.set_pace({str(name): float(factor) for name, factor in factors.items()})
    return {"schema": 1}


def _prune(node: Node, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Apply a retention rule soon. Without a rule, return what the last run has done."""
    try:
        if isinstance(facts.get("keep"), str):
            node.retention.order(RetentionRule.read(facts["keep"]))
    except UsageError as fault:
        return {"error": str(fault)}
    return {"is_busy": node.retention.is_busy, **node.pruner.last.as_json()}


def _save_state(paths: CollectionPaths, opening: Opened, clock: SystemClock) -> dict[str, Any]:
    """Write the current state to a folder in run/, for a backup to copy.

    Takes 0.1 s for each 24 MB in memory. A thread would not help, because the library holds the
    interpreter lock meanwhile.
    """
    name = f"{CHECKPOINTS}{clock.wall_us():x}"
    try:
        opening.checkpoint(paths.run / name)
    except GossamerError as fault:
        return {"error": str(fault)}
    return {"schema": 1, "checkpoint": name}


def _change(
    paths: CollectionPaths,
    node: Node,
    clock: SystemClock,
    kind: LineKind,
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """Add and lift bans, or lines of trust. Return all of them afterwards."""
    bans = node.bans
    before = bans.lines if kind is BAN else bans.trusted
    change = bans.change if kind is BAN else bans.trust
    try:
        has_changed = change(map(str, facts.get("added", ())), map(str, facts.get("lifted", ())))
    except UsageError as fault:
        return {"error": str(fault)}
    lines = bans.lines if kind is BAN else bans.trusted
    if has_changed:
        note_lines(paths, clock, kind, before, lines)
    node.nudge()
    return {"schema": 1, kind.listed: list(lines)}
