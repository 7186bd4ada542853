"""What a report says of the news of a page, and which links it reports once more because of them.

A worker reports each URL once. One that was first found on pages that brought nothing new has to
wait in the frontier; if a page that brought something names it, too, it is reported again.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from gossamer.policies.traps.grades import News
from gossamer.policies.traps.news import Vocabulary, text_in
from gossamer.policies.traps.odds import next_run
from gossamer.records import Edge, Found, Lease, Page
from gossamer.settings import Settings

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_TITLED: Final = 3_000  # characters of a text; in a longer one the title does not count
_key_of: Final = itemgetter(Edge._fields.index("key"))
_MOST_LATE: Final = 100_000  # URLs, 100 bytes each; a lost one is only not reported again


class PageNews(NamedTuple):
    """What a page brought, and links that are reported once more because of that."""

    grade: News
    again: tuple[Found, ...]
    numbers: bytes = b""  # of its text (`policies/traps/shared_text.py`)


NO_NEWS: Final = PageNews(News.UNKNOWN, ())


class NewsJudge:
    """Judges the pages of one worker."""

    def __init__(self, *, is_shared: bool = False) -> None:
        """`is_shared`: other workers fetch from the same hosts."""
        self._words = Vocabulary(is_shared=is_shared)
        self._late: dict[bytes, int] = {}  # URLs that were reported with a run

    def judge(
        self,
        lease: Lease,
        mime: str,
        page: Page,
        body: bytes,
        edges: Sequence[Edge],
        reported: Sequence[Found],
    ) -> PageNews:
        """What a page brought, and links to be reported besides `reported`."""
        text = page.text
        if not text and mime in _HTML:
            text = text_in(body)  # the parser left it out
        if len(text) <= _TITLED:
            text = f"{page.title}\n{text}"
        run = lease.run
        self._late.pop(lease.key, None)
        news = self._words.judge(lease.host, lease.url, text, is_leaf=not reported, run=run)
        if news is News.UNKNOWN and not reported:
            return PageNews(news, (), self._words.numbers)  # most leaves are not read
        run = next_run(run, news)
        again = self._again(lease, edges, run) if self._late else ()
        if run:
            if len(self._late) > _MOST_LATE:
                self._late.clear()
            self._late.update((one.key, run) for one in reported)
        return PageNews(news, again, self._words.numbers)

    def _again(self, lease: Lease, edges: Sequence[Edge], run: int) -> tuple[Found, ...]:
        late = self._late
        if late.keys().isdisjoint(map(_key_of, edges)):
            return ()
        targets = {edge.key: edge.target for edge in edges if edge.key in late}
        again: list[Found] = []
        for key, target in targets.items():
            if late[key] > run:
                again.append(Found(target, key, lease.depth + 1, lease.key))
                if run:
                    late[key] = run
                else:
                    del late[key]
        return tuple(again)


class NoNewsJudge(NewsJudge):
    """Says nothing about any page."""

    def judge(self, *_facts: object) -> PageNews:
        return NO_NEWS


def news_judge_for(settings: Settings) -> NewsJudge:
    """The judge that the settings want."""
    if not settings.frontier.trap_budget:
        return NoNewsJudge()
    return NewsJudge(is_shared=settings.node.workers not in (0, 1))
