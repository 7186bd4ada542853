"""Compare a page that changed with the version before it, which is read from the archive.

Only a page that was fetched before and has another body now is compared, so a first crawl costs
nothing. If the old version cannot be read or parsed, only the details are missing: the page counts
as changed.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Final

from gossamer.archive.reader import read_exchange
from gossamer.fetch.decode import decode
from gossamer.fetch.head import Head
from gossamer.parse.html import Parser
from gossamer.records import Fetched, Lease, Page, PageChange, Purpose
from gossamer.settings import Parse


class PreviousVersions:
    """Reads the versions of pages in one archive."""

    def __init__(self, archive: Path | None, settings: Parse, *, is_bare: bool) -> None:
        """`is_bare`: pages come without their text, so both versions are parsed here. Without an
        archive nothing is compared."""
        self._archive = archive
        self._settings = settings
        self._is_bare = is_bare

    def change(
        self, lease: Lease, answer: Fetched, digest: str, body: bytes, page: Page
    ) -> PageChange | None:
        """How a page differs from its previous version; None if that is the same, or not known.
        `body` is without content coding."""
        previous = lease.previous
        if previous is None or self._archive is None or previous.digest == digest:
            return None
        if lease.purpose is not Purpose.PAGE or not previous.file:
            return None
        if not (_is_page(previous.status) and _is_page(answer.status)):
            return PageChange(status_before=previous.status)
        try:
            return self._compare(self._archive / previous.file, lease, answer, body, page)
        except Exception:  # noqa: BLE001  # whatever is wrong with the old version, the new one counts
            return None

    @cached_property
    def _parser(self) -> Parser:
        return Parser(self._settings)

    def _compare(
        self, file: Path, lease: Lease, answer: Fetched, body: bytes, page: Page
    ) -> PageChange | None:
        # Imported here: it takes 0.1 s, and most crawls never compare a page.
        from gossamer.compare.template import template_of
        from gossamer.compare.versions import PageVersion, change_of, compare_versions

        assert lease.previous is not None, "the caller knows it"
        url, status = lease.url, lease.previous.status
        exchange = read_exchange(file, lease.previous.offset)
        before = exchange.answer
        if not isinstance(before, Fetched) or exchange.revisit_of is not None:
            return None
        old = self._parse(url, before, None)
        new = self._parse(url, answer, body) if self._is_bare else page
        template = template_of(url, body)
        if not (old.text or old.title or new.text or new.title):  # an image, say
            return PageChange(status_before=status, template=template, is_cut=True)
        compared = compare_versions(
            PageVersion(old, before.at_us, before.status),
            PageVersion(new, answer.at_us, answer.status),
        )
        return change_of(compared, template)

    def _parse(self, url: str, answer: Fetched, body: bytes | None) -> Page:
        head = Head(answer.head)
        if body is None:
            coding = head.first("content-encoding")
            most = self._settings.max_decoded_bytes
            body = decode(answer.body, coding, most).body if coding else answer.body[:most]
        return self._parser.parse(url, head.content_type(), body, (), head.all("link"))


def _is_page(status: int) -> bool:
    return 200 <= status < 300


NO_VERSIONS: Final = PreviousVersions(None, Parse(), is_bare=False)
