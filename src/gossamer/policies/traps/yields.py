"""What have the pages of one host brought? Levels and refusals follow from that.

Each queued URL has a *run*: how likely it is that its line of descent is a trap (`odds.py`). A
page is *wasted* if it brought nothing new and named URLs that were new. A page that names none
costs one request and leads nowhere, so it says nothing about its pattern.

    level    its place in the queue: 0 in the order of the crawl, 1 and more behind all of level 0,
             the smallest first. It grows with the run, with what the other links of the same page
             brought, and with the requests that the pattern of the URL wasted
    trial    one in 20 requests goes to a URL that has a level, in the place of level 0
    refusal  the host wasted as many requests on URLs with a level as its budget allows: those of
             level 4 and more are refused, but for trials, until half of the budget is given back

The budget grows with what the host earned (`earned.py`); a site has one, too.
News of a URL with a level give some of it back, and counts of patterns fade, so verdicts are
withdrawn when a part of a host brings something again.
"""

from __future__ import annotations

from math import log
from typing import Final

from msgspec import Struct

from gossamer.policies.traps.earned import GIVEN_BACK, earned, is_spent, note_linking
from gossamer.policies.traps.grades import News
from gossamer.policies.traps.odds import FREE_RUN, levels_of_run, with_siblings
from gossamer.policies.traps.patterns import Patterns, patterns_of

MAX_LEVEL: Final = 40
REFUSED_LEVEL: Final = 7
_BEHIND_FIRST: Final = 8  # levels, of the links of a page besides the first
_FADE: Final = 0.98  # of the counts of a pattern, with each of its pages: 50 pages count
_FEW_WASTED: Final = 3
_LEVELS_OF_PATTERN: Final = 4.0  # for each factor of 2.7 by which more pages are wasted
_REAL_SHARE: Final = 0.1
_TRIALS: Final = 0.05  # of the requests
_MOST_PATTERNS: Final = 300
_MOST_FRESH: Final = 20  # URLs of a page that are compared with its own pattern


class PatternCounts(Struct, array_like=True):
    """What the pages of one pattern brought that had no level by their run: of late, and in all."""

    news: float = 0.0
    wasted: float = 0.0
    all_news: int = 0
    all_wasted: int = 0
    by_grade: dict[int, int] = {}  # of those that were wasted

    def add(self, news: News) -> None:
        is_news = news is News.NEW
        if not is_news:
            self.by_grade[news] = self.by_grade.get(news, 0) + 1
        self.news = self.news * _FADE + is_news
        self.wasted = self.wasted * _FADE + (not is_news)
        self.all_news += is_news
        self.all_wasted += not is_news

    @property
    def levels(self) -> int:
        """By how many levels its URLs come later."""
        if self.wasted < _FEW_WASTED:
            return 0
        # Half a page each is what is not known yet: few pages give a low level.
        levels = int(_LEVELS_OF_PATTERN * log((self.wasted + 0.5) / (self.news + 0.5))) - 2
        # A pattern that brought much before has real pages, which a trap among them may hide.
        has_real = self.all_news >= _REAL_SHARE * self.all_wasted
        return max(0, min(levels, REFUSED_LEVEL - 1) if has_real else levels)


class HostYield(Struct, array_like=True):
    """One host. The state keeps it as it is, once a page was wasted."""

    patterns: dict[str, PatternCounts] = {}
    pages: int = 0
    news: int = 0
    wasted: int = 0  # requests for URLs with a level, less what news gave back
    trials: int = 0
    linking: set[bytes] = set()  # keys of sites that link here
    refused: int = 0
    is_spent: bool = False  # the budget: URLs are refused until half of it is given back
    relevant: int = 0  # pages that are about the topic of the crawl

    def budget(self, base: int) -> int:
        """How many requests may be wasted on URLs with a level."""
        return base + earned(self.news, self.relevant, len(self.linking))

    def settle(self, base: int) -> bool:
        """Note whether the budget is spent; whether refusals are withdrawn by that."""
        budget = self.budget(base)
        was_spent = self.is_spent
        self.is_spent = is_spent(self.wasted, budget, was_spent=was_spent)
        return was_spent and not self.is_spent

    def take_trial(self) -> bool:
        """Whether a URL with a level may be requested in the place of level 0."""
        if self.trials >= _TRIALS * self.pages:
            return False
        self.trials += 1
        return True

    def levels_of(self, url: str) -> tuple[int, str]:
        """By how many levels a URL comes later for its pattern, and that pattern."""
        narrow, wide = patterns_of(url)
        by_narrow, by_wide = self.patterns.get(narrow), self.patterns.get(wide)
        levels = by_narrow.levels if by_narrow else 0
        if by_wide and (more := by_wide.levels) > levels:
            return more, wide
        return levels, narrow

    @property
    def has_suspects(self) -> bool:
        return any(counts.wasted >= _FEW_WASTED for counts in self.patterns.values())

    def learn(self, url: str, run: int, news: News, fresh: list[str], *, had_level: bool) -> None:
        """A page was fetched; `fresh` are URLs of this host that nothing named before."""
        self.pages += 1
        if news is News.NEW:
            self.news += 1
            if had_level:
                self.wasted = max(0, self.wasted - GIVEN_BACK)
            if run <= FREE_RUN:
                for name in patterns_of(url):
                    self._counts(name).add(news)
        elif news is not News.UNKNOWN and fresh:
            self.wasted += had_level
            if run <= FREE_RUN:
                self._learn_wasted(patterns_of(url), news, fresh)

    def _learn_wasted(self, own: Patterns, news: News, fresh: list[str]) -> None:
        """A pattern is only blamed for pages that lead to more of the same pattern."""
        others = [patterns_of(url) for url in fresh[:_MOST_FRESH]]
        for name, *same in zip(own, *others, strict=True):
            if name in same:
                self._counts(name).add(news)

    def _counts(self, name: str) -> PatternCounts:
        counts = self.patterns.get(name)
        if counts is None:
            if len(self.patterns) >= _MOST_PATTERNS:
                self._drop_patterns()
            counts = self.patterns[name] = PatternCounts()
        return counts

    def _drop_patterns(self) -> None:
        """Forget the half that is known least."""
        known = sorted(self.patterns.items(), key=lambda one: -(one[1].news + one[1].wasted))
        self.patterns = dict(known[: _MOST_PATTERNS // 2])

    def note_linking(self, site: bytes) -> None:
        """Another site links to this host."""
        note_linking(self.linking, site)


def level_of(run: int, levels: int, *, is_first: bool, said: int = 0, news: int = 0) -> int:
    """The level of a URL. `levels`: by its pattern. `is_first`: of the new URLs of its page it is
    the first. Of the others `news` brought something; `said` is what all of them say
    (`with_siblings`)."""
    by_run = levels_of_run(with_siblings(run, said) if said else run)
    is_behind = by_run > 0 and not news and not is_first
    return min(MAX_LEVEL, by_run + levels + _BEHIND_FIRST * is_behind)


def explain(host: HostYield, url: str, run: int, spender: str, spent: tuple[int, int]) -> str:
    """Why a URL is refused, in a sentence. `spent`: wasted requests and the budget of the host or
    the site, as `spender` says."""
    levels, pattern = host.levels_of(url)
    wasted, budget = spent
    said = f"the {spender} wasted {wasted} requests of a budget of {budget} on such URLs"
    if levels and levels >= levels_of_run(run):
        return f"pages like {pattern} bring no new text, only more links; {said}"
    return f"the pages on the way to it brought no new text; {said}"
