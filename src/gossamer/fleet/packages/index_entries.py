"""Read the pages of a job: for the filter, for index entries, for a summary."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from msgspec import structs

from gossamer.archive.warc import payload_digest
from gossamer.fetch.head import Head
from gossamer.fetch.judge import ResponseJudge, type_of
from gossamer.fleet.packages.filter import FilteredPage, FilterText, FilterVerdict, PackageFilter
from gossamer.fleet.packages.job_exchanges import JobExchange
from gossamer.parse.documents.page_entry import ENTRY_TYPE, entry_of
from gossamer.parse.html import Parser
from gossamer.records import Fetched, Page
from gossamer.settings import Settings
from gossamer.urls.canonical import NormalForm

_OK: Final = 200
_TYPE_LINE: Final = re.compile(rb"^content-type[ \t]*:", re.IGNORECASE | re.MULTILINE)


class PageReader:
    """Parses pages as the crawl would."""

    def __init__(self, settings: Settings) -> None:
        judge = ResponseJudge(settings.fetch.types, settings.fetch.max_body_bytes)
        self._parser = Parser(settings.parse, judge.wants_media)
        self.form = NormalForm(settings.urls.query, settings.urls.session_parameters)

    def read(self, answer: Fetched) -> Page:
        """The page of a response, without what its headers say. A page that our code cannot read is
        empty, as in a crawl."""
        try:
            return self._parser.parse(answer.url, Head(answer.head).content_type(), answer.body)
        except Exception:  # noqa: BLE001  # a page must not stop a job
            return Page(base=answer.url)

    def judge(self, one: JobExchange, rules: PackageFilter) -> FilterVerdict | None:
        """The rule of a filter that excludes a page."""
        answer = one.answer
        if answer is None or answer.status != _OK:
            return None

        def parsed() -> FilterText:
            page = self.read(answer)
            return FilterText(page.language, "\n".join((page.title, *page.headings, page.text)))

        mime = type_of(Head(answer.head).content_type(), answer.body)
        return rules.judge(FilteredPage(one.exchange.lease.url, mime, len(answer.body), parsed))

    def as_entry(self, one: JobExchange) -> JobExchange:
        """The exchange with an index entry in the place of the body."""
        answer = one.answer
        if answer is None or answer.status != _OK:
            return one
        body = entry_of(self.read(answer), answer.url)
        head = _TYPE_LINE.sub(b"X-Archive-Orig-Content-Type:", answer.head)
        line, _, rest = head.partition(b"\n")
        named = b"\n".join((line, f"Content-Type: {ENTRY_TYPE}\r".encode(), rest))
        made = structs.replace(answer, head=named, body=body)
        return replace(
            one, exchange=replace(one.exchange, answer=made), digest=payload_digest(body)
        )
