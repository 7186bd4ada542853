"""Check for the library that draws curves on the web page. A build fetches it from npm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

VENDOR: Final = "vendor"  # below the static files of the web page
_STATIC: Final = Path(__file__).parents[1] / "web" / "static"


def has_plots(static: Path = _STATIC) -> bool:
    """Whether the web page can draw curves."""
    return bool(plot_library(static))


def plot_library(static: Path = _STATIC) -> str:
    """`uplot 1.6.32`; empty if the build had no npm."""
    try:
        stamp = json.loads((static / VENDOR / "stamp.json").read_text(encoding="utf-8"))
        return ", ".join(f"{name} {version}" for name, version in stamp["packages"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""
