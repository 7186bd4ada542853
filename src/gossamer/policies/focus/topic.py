"""What a focused crawl looks for: examples of wanted pages, a query, and marks.

Examples of wanted pages alone suffice: what is ordinary is learned from the pages that come. A mark
of a user adds an example, wanted or not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gossamer.policies.focus.words import WordHasher, Words


def _no_words() -> Words:
    return np.zeros(0, np.uint32)


@dataclass(slots=True)
class Topic:
    """Words of examples. `wanted` and `unwanted` grow when a user marks pages."""

    wanted: list[Words] = field(default_factory=list)
    unwanted: list[Words] = field(default_factory=list)
    query: Words = field(default_factory=_no_words)  # empty where there is none

    @property
    def is_empty(self) -> bool:
        return not self.wanted and not len(self.query)

    @property
    def examples(self) -> list[Words]:
        """What a wanted page looks like. The query counts as one short page."""
        return [*self.wanted, self.query] if len(self.query) else list(self.wanted)

    def add_example(self, hasher: WordHasher, title: str, text: str) -> bool:
        """Add a wanted document; False if it has no words."""
        words = hasher.page(title, text)
        if len(words):
            self.wanted.append(words)
        return bool(len(words))

    def mark(self, words: Words, *, is_wanted: bool) -> None:
        """A user says whether a page is relevant."""
        if len(words):
            (self.wanted if is_wanted else self.unwanted).append(words)
