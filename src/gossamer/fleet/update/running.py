"""The version that this process runs: of its single file, or of the installed package."""

from __future__ import annotations

import sys

from gossamer.version import __version__


def running_version() -> str:
    """The first code of a single file has read for what it was built (`start_file.py`)."""
    started = sys.modules.get("start_file")
    facts: dict[str, str] = getattr(started, "built", {})
    return facts.get("version", __version__)
