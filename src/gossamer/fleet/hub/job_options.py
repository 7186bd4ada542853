"""Which options of a crawl a job may have: those that decide what is crawled, and in which order.

Options that read or write files of the unit, send secrets, change the network or lift politeness
are not among them: the owner of a unit decides on these (`unit.toml`). The hub checks options when
a job is made, and the unit checks them again. Names are those of `gossamer crawl`, with `_`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gossamer.collection.option_names import settings_of
from gossamer.errors import UsageError
from gossamer.settings import Settings, nearest, with_values

ALLOWED: Final = frozenset(
    {
        "scope", "include", "exclude", "depth", "ascend", "sitemaps", "max_matches", "threshold",
        "importance", "type", "list_only", "max_body", "order", "query", "duplicates", "delay",
        "connections", "max_rate", "rate", "hours", "user_agent_contact",
        "scope.domains", "urls.query", "urls.session_parameters",
    }
)  # fmt: skip
LEAST_DELAY_S: Final = 0.0
# Per kind of job, if the job does not say otherwise.
SCOPES: Final = {"site": "site", "list": "page", "page": "page"}


def check_options(options: Mapping[str, object]) -> dict[str, Any]:
    """The options as settings of a crawl, by key. Raises UsageError."""
    for name in options:
        if name not in ALLOWED:
            raise UsageError(
                f"{name!r} is not an option of a job{nearest(name, ALLOWED)}; allowed are "
                f"{', '.join(sorted(ALLOWED))}"
            )
    values = settings_of(dict(options))
    if values.get("scope.kind") == "any":
        raise UsageError(
            "a job cannot have the scope `any`: its hosts must be known, so that no two units "
            "request one host; use `list` with scope.domains"
        )
    with_values(Settings(), values)
    return values
