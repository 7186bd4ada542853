"""The starting points that a dry run can know: it sends no request."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from gossamer.node.starts.find_points import KEY, check_sources, is_engine, search_collection
from gossamer.settings import Settings


class PlannedPoints(NamedTuple):
    """Results of collections, and engines that would be searched."""

    urls: Sequence[str] = ()
    engines: Sequence[str] = ()

    @property
    def is_asked(self) -> bool:
        """Whether the crawl would have further seeds."""
        return bool(self.urls or self.engines)


def planned_points(settings: Settings, *, is_new: bool, flags: Container[str]) -> PlannedPoints:
    """What the crawl would begin with. Raises UsageError, StoreError."""
    if not is_searched(settings, is_new=is_new, flags=flags):
        return PlannedPoints()
    check_sources(settings)
    sources = settings.focus.start_from
    engines = [source for source in sources if is_engine(source)]
    others = [source for source in sources if not is_engine(source)]
    return PlannedPoints(
        [url for one in others for url in search_collection(one, settings)], engines
    )


def is_searched(settings: Settings, *, is_new: bool, flags: Container[str]) -> bool:
    """Whether the searches are made in this run: in the first, and when they are typed again."""
    return bool(settings.focus.start_from) and (is_new or KEY in flags)
