"""Lines about hot pages, and about pages that left a collection of limited size."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.base.plurals import counted
from gossamer.settings import Limits


def importance_lines(hot: int, evicted: int, limits: Limits) -> Iterator[str]:
    """Yield a sentence for each limit that is set."""
    if limits.threshold:
        least = f"importance by {limits.importance} is at least {limits.threshold:g}"
        yield f"{counted(hot, 'hot page')} ({least})."
    if limits.keep_best:
        left = counted(evicted, "less important page")
        yield f"{left} left for better ones (--keep-best {limits.keep_best}); `why` explains each."


def importance_figures(hot: int, evicted: int) -> str:
    """`5 hot pages, 30 pages left for better ones`; empty if there are none."""
    texts = [counted(hot, "hot page")] if hot else []
    if evicted:
        texts.append(f"{counted(evicted, 'page')} left for better ones")
    return ", ".join(texts)
