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
from gossamer.collection.staging import NEW, OLD
from gossamer.collection.stored_settings import stored_settings
from gossamer.errors import DiskFault, GossamerError, UsageError
from gossamer.fetch.request import user_agent
from gossamer.node.bans import note_bans
from gossamer.node.build import Opened, check_usable, open_node
from gossamer.node.control import listening
from gossamer.node.new_sites import added_sites
from gossamer.node.node import Node
from gossamer.node.seeds import survey
from gossamer.node.visits.revisit_filter import RevisitFilter
from gossamer.policies.retention import RetentionRule
from gossamer.settings import Settings


class NeedsContact(UsageError):
    """Public sites may be crawled only with a contact address."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"a contact is needed to crawl {host}: add --user-agent-contact MAIL or URL, or "
            "`contact` under [fetch] in gossamer.toml"
        )
        self.host = host


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
    if is_new and not plan.seeds:
        raise UsageError(f"no crawl to resume in {plan.collection}; add a start URL")
    if is_new:
        check_usable(settings, plan.seeds)
    user_agent(settings.fetch.contact)  # raises if it cannot be sent
    public = await survey(plan.seeds, clock, has_contact=bool(settings.fetch.contact))
    if public:
        raise NeedsContact(public)
    with ExitStack() as stack:
        opening = open_node(
            plan.paths, plan.settings_for, plan.seeds, clock, stack, may_change=plan.may_change,
            is_forever=plan.is_forever, revisit=plan.revisit,
        )  # fmt: skip
        async with (
            _closing(opening.node),
            listening(plan.paths, _answering(plan.paths, opening, clock)),
        ):
            yield replace(opening, new_sites=sites)


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


def _answering(paths: CollectionPaths, opening: Opened, clock: SystemClock) -> Any:
    """The function that answers commands to a node."""
    node = opening.node

    def answer(command: str, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        match command:
            case "status":
                pass
            case "ban":
                return _ban(paths, node, clock, facts)
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

    return answer


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


def _ban(
    paths: CollectionPaths, node: Node, clock: SystemClock, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Add and lift bans. Return all bans afterwards."""
    before = node.bans.lines
    added, lifted = facts.get("added", ()), facts.get("lifted", ())
    try:
        if node.bans.change(map(str, added), map(str, lifted)):
            note_bans(paths, clock, before, node.bans.lines)
    except UsageError as fault:
        return {"error": str(fault)}
    node.nudge()
    return {"schema": 1, "bans": list(node.bans.lines)}
