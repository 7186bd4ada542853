"""Options of a crawl that visits its pages again, as the web interface takes them.

They become flags of `gossamer crawl`, so both mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gossamer.base.durations import rate_of, seconds_of
from gossamer.errors import UsageError
from gossamer.settings import choices_of, describe
from gossamer.web.parameters import Param

# `revisit` and `older_than` are for a stored crawl only.
FOREVER: Final = ("forever", "refresh", "rate")
VISITS: Final = ("revisit", "older_than", *FOREVER)


def policies_known() -> tuple[str, ...]:
    """The valid refresh policies, as the setting names them."""
    return choices_of(describe("refresh.policy")[0])


def forever_params() -> tuple[Param, ...]:
    """The parameters of a crawl that does not end."""
    return (
        Param(
            name="forever", help="Visit the pages again and again.", kind="flag", place="body",
            default=False,
        ),
        Param(
            name="refresh", help="Which pages are visited again first; needs `forever`.",
            place="body", default="", choices=("", *policies_known()),
        ),
        Param(
            name="rate", help="Maximum requests to all hosts, e.g. 5/s or 100/h.", place="body",
            default="", longest=20,
        ),
    )  # fmt: skip


def visit_params() -> tuple[Param, ...]:
    """The parameters of another run of a stored crawl."""
    return (
        Param(
            name="revisit", help="Visit every known page once more.", kind="flag", place="body",
            default=False,
        ),
        Param(
            name="older_than", help="Only pages whose last visit is so long ago, e.g. 7d.",
            place="body", default="", longest=20,
        ),
        *forever_params(),
    )  # fmt: skip


def visit_words(options: Mapping[str, object]) -> list[str]:
    """The flags of these options. Raises UsageError if they are invalid or contradict each
    other.
    """
    given = {name: options[name] for name in VISITS if options.get(name)}
    if "revisit" in given and "forever" in given:
        raise UsageError("choose one: visit every page once more, or again and again")
    for name, needed in (("older_than", "revisit"), ("refresh", "forever")):
        if name in given and needed not in given:
            raise UsageError(f"{name} needs {needed}")
    _check(given, "older_than", seconds_of)
    _check(given, "rate", rate_of)
    return [
        f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}")
        for name, value in given.items()
    ]


def _check(given: Mapping[str, object], name: str, read: Callable[[str], float]) -> None:
    if name in given:
        try:
            read(str(given[name]))
        except ValueError as fault:
            raise UsageError(f"{name}: {fault}") from None
