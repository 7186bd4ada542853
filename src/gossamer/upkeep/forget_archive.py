"""Copy the archive without deleted pages.

An exchange of a deleted page goes, with request and metadata. These others change, only in their
metadata record where possible:

    found on a deleted page           loses that line
    repeats a deleted body            gets the body
    repeats a body that has moved     gets the new place
    an imported list of URLs          loses the deleted URLs

Bodies of other pages are never changed, whatever they contain.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from msgspec import structs

from gossamer.archive.cdxj import cdxj_path, write_cdxj
from gossamer.archive.foreign import packed
from gossamer.archive.manifest import read_manifest
from gossamer.archive.reader import Exchange, iter_exchanges, read_exchange, read_info
from gossamer.archive.rewrite import (
    EditedFields,
    Moved,
    Replacement,
    fields_in,
    rebuilt,
    rewrite,
    with_body,
    with_fields,
)
from gossamer.archive.url_list import list_entry
from gossamer.archive.warc import RevisitOf
from gossamer.base.copying import link_or_copy
from gossamer.collection.archive_list import new_manifest
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import CorruptFile
from gossamer.frontier.rows import CaptureRow, time_key
from gossamer.frontier.store import StateTable, Store
from gossamer.parse.documents.sitemap import Unreadable, read_sitemap
from gossamer.records import Fetched, Purpose
from gossamer.upkeep.forget_names import Cover, other_source
from gossamer.upkeep.forget_texts import info_fields
from gossamer.urls.keys import Keys


def is_of(cover: Cover, exchange: Exchange) -> bool:
    """Whether an exchange is to be deleted. A robots.txt counts for the host whose rules it has."""
    lease = exchange.lease
    if cover.covers_any(lease.url) or cover.covers_any(exchange.answer.url):
        return True
    return lease.purpose is Purpose.ROBOTS and bool(lease.via) and cover.covers(lease.via)


class ArchiveCopy:
    """One copy of an archive, file by file in the order of their creation."""

    def __init__(
        self,
        paths: CollectionPaths,
        new: CollectionPaths,
        cover: Cover,
        state: Store,
        keys: Keys,
        level: int,
    ) -> None:
        """`state` is the old one: it has the places of captures."""
        self._folder = paths.archive
        self._new = new.archive
        self._cover = cover
        self._state = state
        self._keys = keys
        self._level = level
        self.moved: dict[str, Moved] = {}  # of the files that were rewritten

    def run(self) -> None:
        """Copy every WARC file with its index; a file without deleted pages gets a hard link.

        Raises CorruptFile, OSError.
        """
        self._new.mkdir()
        listed = read_manifest(self._folder).files
        known = {name: one for name, one in listed.items() if not (self._folder / name).exists()}
        for path in sorted(self._folder.glob("*.warc.gz")):
            target = self._new / path.name
            if self._is_concerned(path):
                moved = self.moved[path.name] = Moved()
                done = rewrite(
                    path, target, self._judge, info_fields(self._cover), self._level, moved
                )
                if done.kept + done.changed:
                    write_cdxj(target)
                continue
            link_or_copy(path, target)
            if path.name in listed and listed[path.name].bytes is not None:
                known[path.name] = listed[path.name]
            if cdxj_path(path).exists():
                link_or_copy(cdxj_path(path), cdxj_path(target))
            else:
                write_cdxj(target)
        new_manifest(self._new, self._keys.salt, known)

    def _is_concerned(self, path: Path) -> bool:
        fields: EditedFields = read_info(path)
        if info_fields(self._cover)(fields) != fields:
            return True
        return any(self._judge(exchange) is not exchange for exchange in iter_exchanges(path))

    def _judge(self, exchange: Exchange) -> Exchange | Replacement | None:
        if is_of(self._cover, exchange):
            return None
        path, lease = self._folder / exchange.stored.file, exchange.lease
        if lease.source:
            return self._imported(path, exchange)
        is_via = bool(lease.via) and self._cover.covers_any(lease.via)
        if is_via:
            via = other_source(lease.url) if lease.purpose is Purpose.SITEMAP else ""
            exchange = replace(exchange, lease=structs.replace(lease, via=via))
        origin = exchange.revisit_of
        if origin is not None and self._cover.covers(origin.url):
            return rebuilt(self._made_whole(path, exchange, origin), self._level)
        return self._with_lines(path, exchange, {}) if is_via else exchange

    def _with_lines(self, path: Path, exchange: Exchange, lines: EditedFields) -> Replacement:
        """Return the exchange with changed metadata lines; its `via` is that of the lease."""
        fields = fields_in(path, exchange) | lines
        fields.pop("via", None)
        if exchange.lease.via:
            fields["via"] = exchange.lease.via
        return with_fields(path, exchange, fields, self._level)

    def _made_whole(self, path: Path, exchange: Exchange, origin: RevisitOf) -> Exchange:
        """Turn a revisit of a deleted body into a response with that body."""
        row = self._state.find(
            StateTable.CAPTURE, self._keys.of(origin.url) + time_key(origin.at_us)
        )
        if row is None or not isinstance(exchange.answer, Fetched):
            what = "it repeats a capture that is missing; see `gossamer verify`"
            raise CorruptFile(path, exchange.stored.response, what)
        capture = CaptureRow.decode(row)
        repeated = read_exchange(self._folder / capture.file, capture.offset).answer
        assert isinstance(repeated, Fetched), "captures are answers"
        answer = structs.replace(exchange.answer, body=repeated.body, cut=repeated.cut)
        return replace(exchange, answer=answer, revisit_of=None)

    # -- what was imported

    def _imported(self, path: Path, exchange: Exchange) -> Exchange | Replacement:
        if exchange.lease.purpose is Purpose.SITEMAP:
            return self._shorter_list(exchange)
        lease = exchange.lease
        is_via = bool(lease.via) and self._cover.covers_any(lease.via)
        if is_via:
            exchange = replace(exchange, lease=structs.replace(lease, via=""))
        fields = fields_in(path, exchange)
        file, at = fields.get("bodyFile", ""), fields.get("bodyAt", "")
        if file and at.isdecimal():
            holder = read_exchange(self._folder / Path(file).name, int(at))
            if is_of(self._cover, holder):
                return with_body(exchange, self._level)
            if file in self.moved and (new_at := self.moved[file].place(int(at), 0)[0]) != int(at):
                return self._with_lines(path, exchange, {"bodyAt": str(new_at)})
        return self._with_lines(path, exchange, {}) if is_via else exchange

    def _shorter_list(self, exchange: Exchange) -> Exchange | Replacement:
        """Return a list of URLs (`import_lists.py`) without the deleted ones."""
        answer = exchange.answer
        assert isinstance(answer, Fetched), "lists are kept as answers"
        is_index = answer.body.startswith(b"<")
        urls = _urls_of_index(answer.body) if is_index else answer.body.decode().split()
        left = [url for url in urls if not self._cover.covers_any(url)]
        if len(left) == len(urls):
            return exchange
        entry = list_entry(left, answer.at_us, is_index=is_index)
        lease = structs.replace(exchange.lease, url=entry.answer.url, source=entry.source)
        return Replacement(packed(entry, lease, self._level).data, 0)


def _urls_of_index(body: bytes) -> list[str]:
    read = read_sitemap("", body)
    return [] if isinstance(read, Unreadable) else [one.url for one in read.urls]
