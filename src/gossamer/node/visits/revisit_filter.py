"""Choose the known pages that `--revisit` visits again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gossamer.base.durations import seconds_of
from gossamer.errors import UsageError
from gossamer.urls.canonical import host_of
from gossamer.urls.patterns import find_match, pattern_of


@dataclass(frozen=True, slots=True)
class RevisitFilter:
    """The known pages that a run visits once more. Without values: all."""

    older_than_s: float = 0.0  # only pages whose last visit is longer ago
    site: str = ""  # only this host and those below it
    patterns: tuple[str, ...] = ()  # only URLs that match one of them

    @classmethod
    def read(
        cls, older_than: str | None = None, site: str | None = None, match: Sequence[str] = ()
    ) -> RevisitFilter:
        """The filter that a person wrote. Raises UsageError."""
        for pattern in match:
            pattern_of(pattern)
        try:
            older_than_s = seconds_of(older_than) if older_than else 0.0
        except ValueError as fault:
            raise UsageError(f"--older-than: {fault}") from None
        host = (site or "").strip().lower().removesuffix(".")
        if "/" in host:
            host = host_of(host if "://" in host else f"http://{host}")
        return cls(older_than_s, host, tuple(match))

    def values(self) -> list[Any]:
        """As the state keeps it."""
        return [self.older_than_s, self.site, list(self.patterns)]

    @classmethod
    def of_values(cls, values: Sequence[Any]) -> RevisitFilter:
        older_than_s, site, patterns = values
        return cls(older_than_s, site, tuple(patterns))

    def covers(self, url: str) -> bool:
        """Whether a URL is among those, whenever it was visited."""
        if self.site:
            host = host_of(url)
            if host != self.site and not host.endswith(f".{self.site}"):
                return False
        return not self.patterns or find_match(map(pattern_of, self.patterns), url) is not None


def revisit_of(
    is_wanted: bool, older_than: str | None, site: str | None, match: Sequence[str] | None
) -> RevisitFilter | None:
    """The filter that flags or options give; None without `--revisit`. Raises UsageError."""
    if is_wanted:
        return RevisitFilter.read(older_than, site, match or ())
    for name, value in (("--older-than", older_than), ("--site", site), ("--match", match)):
        if value:
            raise UsageError(f"{name} chooses the pages of --revisit; add --revisit")
    return None
