"""Four small plug-ins for gossamer; docs/plugins.md explains what each group expects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import IO

from gossamer.policies.classifier import ClassifierInput, Labels
from gossamer.policies.order import Candidate


class ShortFirst:
    """An order: the shortest URL first. `gossamer crawl --order short URL`"""

    uses_link_counts = False
    is_newest_first = False
    revision = 0

    def score(self, candidate: Candidate) -> int:
        return len(candidate.url)


class DeepPages:
    """An analysis: pages far from the start. `gossamer report --analysis deep`"""

    heading = "Pages far from the start"
    advice = "Visitors need many clicks to get here. Link to these pages from a page nearer."
    columns = ("URL", "links from a seed")
    sql = "select url, depth from pages where depth > 3 order by depth desc, url"


class UrlList:
    """An export format: one URL per line. `gossamer export pages --format urls -o FILE`"""

    def write(
        self, file: IO[bytes], _columns: Sequence[str], rows: Iterable[Mapping[str, object]]
    ) -> None:
        for row in rows:
            file.write(f"{row['url']}\n".encode())


class LongTexts:
    """A classifier: pages with much text are labelled `long`."""

    def classify(self, page: ClassifierInput) -> Labels:
        return {"long": min(1.0, len(page.text) / 10_000)}
