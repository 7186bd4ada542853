"""The budget of wasted requests of a host and of a site, and what it grows with.

A budget begins with a number of the settings. A host or site earns more by pages with new text, by
pages that are relevant to the topic of the crawl, and by other sites that link to it. A page with
news that was put off gives back what others have wasted.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from msgspec import Struct

_PER_NEWS: Final = 1  # wasted requests that a page with news allows
_PER_RELEVANT: Final = 5
_PER_LINKING_SITE: Final = 20
_MOST_LINKING: Final = 100
GIVEN_BACK: Final = 20  # wasted requests that one page with news makes good


def earned(news: int, relevant: int, linking: int) -> int:
    """Wasted requests that are allowed besides those of the settings."""
    return _PER_NEWS * news + _PER_RELEVANT * relevant + _PER_LINKING_SITE * linking


def note_linking(linking: set[bytes], site: bytes) -> None:
    """Another site links to this one. A limited number is remembered."""
    if len(linking) < _MOST_LINKING:
        linking.add(site)


def site_key(site: str) -> bytes:
    """A short name of a site, the same in every run."""
    return blake2b(site.encode(), digest_size=8).digest()


def is_spent(wasted: int, budget: int, *, was_spent: bool) -> bool:
    """Whether a budget is spent: until half of it is given back."""
    return wasted >= (budget // 2 if was_spent else budget)


class SiteYield(Struct, array_like=True):
    """What all hosts of one site have brought and wasted."""

    name: str = ""
    news: int = 0
    wasted: int = 0
    relevant: int = 0
    linking: set[bytes] = set()
    is_spent: bool = False

    def budget(self, base: int) -> int:
        """How many requests may be wasted on URLs with a level."""
        return base + earned(self.news, self.relevant, len(self.linking))

    def learn(self, base: int, *, is_news: bool, is_wasted: bool, had_level: bool) -> bool:
        """A page of the site was fetched; whether refusals are withdrawn by that."""
        self.news += is_news
        self.wasted += is_wasted
        if is_news and had_level:
            self.wasted = max(0, self.wasted - GIVEN_BACK)
        was_spent = self.is_spent
        self.is_spent = is_spent(self.wasted, self.budget(base), was_spent=was_spent)
        return was_spent and not self.is_spent
