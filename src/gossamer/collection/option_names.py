"""Short names of settings, for the command line and Python: `depth`, `max_pages`, `delay`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gossamer.base.durations import rate_of
from gossamer.errors import SettingsError, UsageError
from gossamer.settings import KEYS, describe, nearest, parse_value

FLAGS: Final[dict[str, str]] = {
    "scope": "scope.kind",
    "include": "scope.include",
    "exclude": "scope.exclude",
    "ban": "scope.ban_files",
    "domains": "scope.domains_file",
    "depth": "scope.depth",
    "ascend": "urls.ascend",
    "sitemaps": "urls.sitemaps",
    "max_pages": "limits.max_pages",
    "max_time": "limits.max_time_s",
    "max_bytes": "limits.max_bytes",
    "max_matches": "limits.max_matches",
    "keep_best": "limits.keep_best",
    "threshold": "limits.threshold",
    "importance": "limits.importance",
    "type": "fetch.types",
    "list_only": "fetch.list_only",
    "max_body": "fetch.max_body_bytes",
    "order": "frontier.order",
    "like": "focus.like",
    "model": "focus.model",
    "start_from": "focus.start_from",
    "query": "frontier.query",
    "visits": "frontier.visits_file",
    "duplicates": "duplicates.mode",
    "delay": "politeness.host_delay_s",
    "per_host": "politeness.per_host",
    "connections": "fetch.connections",
    "header": "fetch.headers",
    "max_rate": "fetch.max_rate_bytes",
    "rate": "fetch.requests_per_s",
    "hours": "node.hours",
    "cookies": "fetch.cookies_file",
    "logins": "fetch.logins_file",
    "proxy": "fetch.proxy",
    "user_agent_contact": "fetch.contact",
    "allow_private": "fetch.allow_private",
    "graph": "node.graph",
    "index": "node.index",
    "workers": "node.workers",
    "webhook": "watch.webhook",
    "run": "watch.command",
    "refresh": "refresh.policy",
}
NOT: Final = {"no_graph": "node.graph", "no_index": "node.index"}  # as on the command line
# Options that are not settings.
OTHERS: Final = {
    "change": "Resume a stored crawl with another scope or URL form.",
    "add": "Crawl a seed of a new site into the same collection.",
    "forever": "Run without end: visit known pages again, and find new ones.",
    "revisit": "Visit every known page once more, and what is new there.",
    "older_than": "With `revisit`: only pages not visited for 90s, 12h, 7d.",
    "site": "With `revisit`: only pages of this host.",
    "match": "With `revisit`: only URLs that match one of these patterns.",
}
# The types of those that are no switches.
OF_TEXT: Final = {"older_than": "str", "site": "str", "match": "str | Sequence[str]"}
_RATE: Final = "fetch.requests_per_s"
_MEANINGS: Final = {"no_graph": "Store no links.", "no_index": "Build no search index."}


def meaning_of(name: str) -> str:
    """Return the help text of an option, by its short name."""
    return _MEANINGS.get(name) or OTHERS.get(name) or describe(FLAGS[name])[2]


def settings_of(options: Mapping[str, object]) -> dict[str, object]:
    """Return options, by short names or keys, as settings. Raises UsageError."""
    values: dict[str, object] = {}
    for name, value in options.items():
        key = FLAGS.get(name) or NOT.get(name) or name.replace("__", ".")
        if key not in KEYS:
            names = [*FLAGS, *NOT, *KEYS]
            raise UsageError(f"{name} is not an option{nearest(name, names)}")
        fitting = _fitting(key, value)
        values[key] = not fitting if name in NOT and isinstance(fitting, bool) else fitting
    return values


def _fitting(key: str, value: object) -> object:
    """Parse a text as its setting requires; lists become tuples."""
    if key == _RATE and isinstance(value, str):
        try:
            return rate_of(value)
        except ValueError as fault:
            rate = "a number of requests per second, such as 5, or 5/s, 100/h"
            raise SettingsError(key, f"is {value!r}, but it must be {rate}") from fault
    if isinstance(value, str):
        return parse_value(key, value)
    if isinstance(value, list | set | frozenset):
        return tuple(value)
    if isinstance(describe(key)[1], str) and value is not None and not isinstance(value, str):
        return str(value)  # a Path
    return value
