"""Captures of a URL as JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gossamer.reader.pages import StoredCapture, times_of


def capture_objects(captures: Sequence[StoredCapture]) -> list[dict[str, Any]]:
    """Return all captures of a URL for programs, each with the time that identifies it."""
    times = times_of(captures)
    return [capture_object(one, at) for one, at in zip(captures, times, strict=True)]


def capture_object(capture: StoredCapture, at: str) -> dict[str, Any]:
    """Return one capture for programs."""
    return {
        "at": at,
        "status": capture.status,
        "type": capture.type or None,
        "bytes": capture.size_bytes,
        "digest": capture.digest or None,
        "file": capture.file,
        "offset": capture.offset,
        "length": capture.length,
    }
