"""`gossamer pause`, `resume`, `stop`: commands to a running crawl."""

from __future__ import annotations

from pathlib import Path

from gossamer.cli.options import CollectionOption, Json, collection_at


def pause(collection: CollectionOption = None, json: Json = False) -> None:
    """Pause a running crawl; requests in flight complete."""
    _give(collection, "pause", "paused", as_json=json)


def resume(collection: CollectionOption = None, json: Json = False) -> None:
    """Resume a paused crawl."""
    _give(collection, "resume", "running", as_json=json)


def stop(collection: CollectionOption = None, json: Json = False) -> None:
    """Stop a running crawl cleanly; `gossamer crawl` resumes it."""
    _give(collection, "stop", "stopping", as_json=json)


def _give(given: Path | None, command: str, becomes: str, *, as_json: bool) -> None:
    import json
    import sys

    from gossamer.collection.directory import CollectionPaths
    from gossamer.node.control import send

    paths = CollectionPaths(collection_at(given))
    if not paths.exists:
        raise paths.missing()
    reply = send(paths, command)
    if as_json:
        print(json.dumps(reply))
    else:
        print(f"The crawl in {paths.path} is {becomes}.", file=sys.stderr)
