"""`gossamer why`: explain the history of a URL."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gossamer.base.clock import SystemClock, iso_of
from gossamer.cli.show.captures import capture_objects
from gossamer.cli.show.printable import printable
from gossamer.collection.directory import CollectionPaths
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.story import Story
from gossamer.reader.story_text import story_sentences
from gossamer.reader.story_visits import changes_every_s
from gossamer.records import Outcome


def run_why(path: Path, url: str, *, as_json: bool) -> int:
    """Print sentences, or one object. Raises NoCollection, or UsageError for an invalid URL."""
    with CollectionReader.open(path) as reader:
        story = reader.story(url)
    score = _score_of(path, story)
    if as_json:
        print(json.dumps({**story_object(story), "score": score}))
    else:
        said = story_sentences(story, SystemClock().wall_us())
        if score is not None:
            from gossamer.policies.orders.explained import score_sentence  # loads NumPy

            said.append(score_sentence(score))
        print(printable("\n".join(said)))
    return 0


def _score_of(path: Path, story: Story) -> dict[str, Any] | None:
    """The parts of the score of a queued URL; None where its order has no such parts."""
    if story.row is None or story.row.outcome is not Outcome.QUEUED:
        return None
    from gossamer.node.selection.explain import score_parts

    return score_parts(CollectionPaths(path), story.url)


def story_object(story: Story) -> dict[str, Any]:
    """Return the story for programs; unknown values are null."""
    row = story.row
    known: dict[str, Any] = {"outcome": None}
    if row is not None:
        known = {
            "outcome": row.outcome.value,
            "reason": row.reason or None,
            "because": story.because or None,
            "detail": row.detail or None,
            "status": row.status or None,
            "redirect": row.redirect or None,
            "depth": row.depth,
            "tries": story.tries,
            "first_seen": _iso(row.first_us),
            "decided_at": _iso(row.at_us),
            "due_at": _iso(row.due_us),
            "duplicate_of": story.duplicates.of or None,
            "copies": story.duplicates.copies,
            "visits": row.visits,
            "captured_at": _iso(row.version_us if row.outcome is Outcome.FETCHED else row.body_us),
            "changed_at": _iso(row.changed_us),
            "gone_since": _iso(row.gone_us),
            "missed_visits": row.missed,
            "next_visit_at": _iso(max(0, row.next_us)),
            "changes_every_s": changes_every_s(row),
            "run": row.run,
            "trap_facts": list(story.traps),
        }
    return {
        "schema": 1,
        "url": story.url,
        "known": row is not None,
        **known,
        "seed": story.is_seed,
        "starting_point": _point_object(story),
        "via": [{"url": s.url, "depth": s.depth, "outcome": s.outcome.value} for s in story.via],
        "captures": capture_objects(story.captures),
        "host": _host_object(story),
        "robots": _robots_object(story),
        "would_be": asdict(story.judged) if story.judged else None,
    }


def _point_object(story: Story) -> dict[str, Any] | None:
    """The search that gave a seed."""
    point = story.point
    if point is None:
        return None
    return {
        "source": point.source,
        "query": point.query,
        "place": point.place,
        "found_at": _iso(point.at_us),
    }


def _host_object(story: Story) -> dict[str, Any] | None:
    host = story.host
    if host is None or not host.name:
        return None
    return {
        "host": host.name,
        "known": host.known,
        "queued": host.queued,
        "waiting": host.waiting,
        "fetched": host.fetched,
        "failed": host.failed,
        "refused": host.refused,
        "trouble": host.trouble or None,
        "free_at": _iso(host.free_us),
        "crawl_delay_s": host.crawl_delay_s or None,
    }


def _robots_object(story: Story) -> dict[str, Any] | None:
    robots = story.robots
    if robots is None:
        return None
    return {
        "origin": robots.origin,
        "allowed": robots.is_allowed,
        "rule": robots.rule or None,
        "line": robots.line or None,
        "detail": robots.detail or None,
        "read_at": _iso(robots.at_us),
        "believed_until": _iso(robots.expires_us),
        "crawl_delay_s": robots.crawl_delay_s,
    }


def _iso(wall_us: int) -> str | None:
    return iso_of(wall_us) if wall_us else None
