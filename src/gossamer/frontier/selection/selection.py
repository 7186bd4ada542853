"""Keeps what an order by value needs to know, and tells which URL of a host comes first.

    queued, left, taken, given_back    what happens to URLs in the queues (`frontier/url_queues.py`)
    learn                              a page was fetched: its links change values
    begin_computing, end_computing     values that are computed from all links, in another thread
    place_some                         URLs go where their new values belong, some at a time

The order among the URLs of one host, and among hosts (`between_hosts`), is that of the order's
values. Seeds come first. URLs for which the table has no room come last, in the order of the queue
on disk. Only the node calls this, from one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from gossamer.frontier.selection.facts import FetchedPage, FreshUrl, StoredUrls
from gossamer.frontier.selection.focus_feed import feed_for
from gossamer.frontier.selection.host_heaps import BEHIND_ALL, HostHeaps, scores_of, value_of_score
from gossamer.frontier.selection.host_numbers import HOST_BYTES, UNKNOWN, HostNumbers
from gossamer.frontier.selection.url_slots import KEY_BYTES, NONE, SlotByKey, keys_in
from gossamer.policies.order import MAX_SCORE
from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.columns import Ints, PageColumns, UrlSlots
from gossamer.policies.orders.edges import Edges, LinkBatch
from gossamer.policies.orders.explained import ScoreParts, explained
from gossamer.policies.orders.own_column import OwnColumn
from gossamer.policies.orders.url_order import ContextOrder, UrlOrder
from gossamer.records import Found
from gossamer.urls.canonical import host_of

FEW_URLS: Final = 10_000  # so many are computed again at once: at most some 10 ms
_ASK_AT_GROWTH: Final = 0.02  # a copy of the columns is made each time
_FEW_FLYING: Final = 8  # requests
_LINKS_A_URL: Final = 16  # held for each URL that the table has room for
_SCORE_BYTES: Final = 4
_NO_SLOTS: Final[UrlSlots] = np.zeros(0, np.int32)
_LAST: Final = MAX_SCORE.to_bytes(_SCORE_BYTES, "big")
_FIRST: Final = bytes(_SCORE_BYTES)


class Selection:
    """The known URLs of a crawl, as an order by value sees them."""

    def __init__(self, order: ColumnOrder, most_urls: int, *, is_new: bool = True) -> None:
        """If the collection is not new, `restore` follows. Until it has ended, the queue on disk
        says which URL comes first."""
        self.order = order
        self.pages = PageColumns()
        self.edges = Edges()
        self.table = SlotByKey(most_urls)
        self._heaps = HostHeaps(is_newest_first=order.is_newest_first)
        self._level = OwnColumn()  # of URLs that come behind all others
        self._most_links = most_urls * _LINKS_A_URL
        self.focus = feed_for(order, self.table)
        self._word_order = order if isinstance(order, UrlOrder) else None
        self.wants_anchors = self._word_order is not None and self._word_order.wants_anchors
        self._fresh: dict[bytes, FreshUrl] = {}  # queued, and not in the table yet
        self._hosts = HostNumbers()
        self._late: list[FetchedPage] = []  # to be learned together
        self._to_place: UrlSlots = np.zeros(0, np.int32)  # their values may have changed
        # Pages that were fetched while values are computed, or read; else None.
        self._waiting: list[FetchedPage] | None = None if is_new else []
        self._gone: set[bytes] = set()  # URLs that were taken before they were restored
        self._asked_at = 0  # fetched pages when the order was last asked to compute
        self.is_restored = is_new  # False: what earlier runs learned is still being read
        self.without_slot = 0  # URLs that came when the table was full

    # -- the queues

    def queued(self, key: bytes, depth: int, url: str, place: bytes) -> None:
        """A URL is queued, or queued again, at a place of the queue on disk."""
        score = int.from_bytes(place[:_SCORE_BYTES], "big")
        self._fresh[key] = FreshUrl(depth, url, max(0, score - MAX_SCORE))

    def left(self, key: bytes) -> None:
        """A URL has left its queue."""
        slot = self._slot(key)
        if slot == NONE:
            self._note_gone(key)
        elif self._heaps.drop(slot):
            self._end_flight(slot)

    def taken(self, key: bytes) -> None:
        """A URL is leased."""
        slot = self._slot(key)
        if slot == NONE:
            self._note_gone(key)
        else:
            self._heaps.take(slot)
            self._hosts.begin_flight(self.pages.site.item(slot))

    def given_back(self, key: bytes) -> None:
        """A lease came to nothing."""
        self._gone.discard(key)
        slot = self._slot(key)
        if slot != NONE and self._heaps.drop(slot):
            self._end_flight(slot)
            slots = np.array([slot], np.int32)
            self._heaps.queue(slots)
            self._place(slots)

    def first(self, host_key: bytes) -> bytes | None:
        """The key of the URL of a host that is worth most; None where no queued one has a slot, or
        too little is known yet. Then the queue on disk says which comes first."""
        slot = self._first(host_key)
        return None if slot is None else self.table.key_of(slot)

    def first_place(self, host_key: bytes) -> bytes | None:
        """The priority key of the URL that `first` names."""
        slot = self._first(host_key)
        return None if slot is None else self._heaps.key_of(slot)

    def place_on_disk(self, place: bytes) -> bytes:
        """The priority key of a URL without a slot: seeds first, others last."""
        if not self.is_restored or place[:_SCORE_BYTES] == _FIRST:
            return place
        return _LAST + place[_SCORE_BYTES:]

    def take_moved(self) -> set[bytes]:
        """Hosts with another first URL than before."""
        if self._is_due:
            self._catch_up()
        moved, self._heaps.moved = self._heaps.moved, set()
        return {self._hosts.keys[host] for host in moved}

    # -- between hosts

    def site_number(self, host_key: bytes) -> int:
        """The site of a host; -1 if it has had no URL."""
        return self._hosts.site_of(host_key)

    def between_hosts(self, site: int, place: bytes) -> float:
        """What a URL is worth where hosts compete: its value, divided by a power of what its site
        has had. An empty `place` is a fetch that comes before any page."""
        if not place or site == UNKNOWN:
            return float("inf")
        score = int.from_bytes(place[:_SCORE_BYTES], "big")
        value = value_of_score(score)
        power = self.order.site_power
        if not power:
            return value
        had = int(self.pages.site_fetched[site]) + self._hosts.in_flight(site)
        return float(value / (1 + had) ** power)

    def explain(self, name: str, key: bytes) -> ScoreParts | None:
        """Why a URL comes when it comes, under the order that is called `name`; None if it has no
        slot."""
        slot = self._slot(key)
        if slot == NONE or not self.is_restored:
            return None
        return explained(
            name,
            self.order,
            self.pages,
            slot,
            in_flight=self._hosts.in_flight(self.pages.site.item(slot)),
            is_held_back=bool(self._level.of(np.array([slot], np.int32))[0]),
        )

    # -- what pages tell

    def learn(
        self,
        key: bytes,
        found: Sequence[Found],
        repeated: bytes,
        anchors: Sequence[tuple[bytes, str]] = (),
        words: bytes = b"",
        contexts: Sequence[str] = (),
    ) -> None:
        """A page was fetched that links to `found` and, by their keys, to `repeated`. `anchors` are
        texts of links, by the keys of their targets; `words` are for a focused crawl; `contexts`
        are the texts around the links to `found`."""
        new = b"".join([one[1] for one in found])
        page = FetchedPage(key, new + keys_in(repeated), anchors, words, len(new), contexts)
        if self._waiting is not None:
            self._waiting.append(page)
            return
        self._late.append(page)
        if self._is_due:
            self._catch_up()

    @property
    def _is_due(self) -> bool:
        """Whether to learn now. Several pages together cost fewer calls of NumPy. But no more wait
        than are in flight, of few only half as many. So a crawl with one connection learns each
        page before the next request."""
        late = len(self._late)
        if not late:
            return bool(self._fresh)
        flying = self._hosts.flying
        return late > (flying if flying > _FEW_FLYING else flying // 2)

    def _catch_up(self) -> None:
        """Learn of the pages that came, and place the URLs that were found."""
        pages, self._late = self._late, []
        if len({page.key for page in pages}) == len(pages):
            self._learn(pages)
        else:
            for page in pages:  # one was fetched twice
                self._learn([page])
        if self.pages.count <= FEW_URLS and self.order.recompute(self.pages, self.edges):
            self._place(np.arange(self.pages.count, dtype=np.int32))

    def _learn(self, pages: Sequence[FetchedPage]) -> None:
        changed = [self._add_fresh()]
        anchors = [one for page in pages for one in page.anchors]
        if anchors:
            changed.append(self.note_anchors(anchors))
        changed += [self._note_contexts(page) for page in pages if page.contexts]
        if pages:
            sources = self.table.find(b"".join([page.key for page in pages]))
            if self.focus is not None:
                for page, source in zip(pages, sources.tolist(), strict=True):
                    if page.words:
                        new = page.targets[: page.found_bytes]
                        self.focus.take(page.key, source, new, page.words)
            if self.order.uses_links:
                changed.append(self.learn_links(self._batch(pages, sources)))
            else:
                self.pages.note_fetched(sources[sources != NONE])
        self._place(np.concatenate(changed))

    def _batch(self, pages: Sequence[FetchedPage], sources: UrlSlots) -> LinkBatch:
        """The links between URLs that have slots."""
        targets = self.table.find(b"".join([page.targets for page in pages]))
        many = [len(page.targets) // KEY_BYTES for page in pages]
        of = np.repeat(np.arange(len(pages)), many)
        is_link = (targets != NONE) & (targets != sources[of]) & (sources[of] != NONE)
        links = np.unique(of[is_link] << 32 | targets[is_link])  # each once, by page
        counts = np.bincount(links >> 32, minlength=len(pages)).astype(np.int32)
        is_known = sources != NONE
        return LinkBatch(
            sources[is_known], counts[is_known], (links & 0xFFFF_FFFF).astype(np.int32)
        )

    def learn_links(self, batch: LinkBatch) -> UrlSlots:
        """Note fetched pages and their links; the URLs whose values may have changed."""
        sources, _, targets = batch
        again = sources[self.pages.is_fetched[sources]]
        old = self.edges.of(again).targets if len(again) else _NO_SLOTS
        self.pages.note_fetched(sources)
        self.pages.note_links(targets)
        if len(old):
            np.subtract.at(self.pages.links, old, 1)
        if self.edges.size + len(targets) <= self._most_links:
            self.edges.add(batch)
        return np.concatenate((self.order.learn(self.pages, self.edges, batch), old))

    def note_anchors(self, anchors: Sequence[tuple[bytes, str]]) -> UrlSlots:
        """Note texts of links by the keys of their targets; the URLs whose values may change."""
        assert self._word_order is not None, "no other order wants anchors"
        slots = self.table.find(b"".join([key for key, _ in anchors]))
        known = np.flatnonzero(slots != NONE)
        texts = [anchors[at][1] for at in known.tolist()]
        self._word_order.note_anchors(self.pages, slots[known], texts)
        return slots[known]

    def _note_contexts(self, page: FetchedPage) -> UrlSlots:
        """Note the texts around the links of a page; the URLs whose values may change."""
        slots = self.table.find(page.targets[: page.found_bytes])
        known = np.flatnonzero(slots != NONE)
        if isinstance(self._word_order, ContextOrder) and len(slots) == len(page.contexts):
            texts = [page.contexts[at] for at in known.tolist()]
            self._word_order.note_contexts(self.pages, slots[known], texts)
        return slots[known]

    # -- values that are computed from all links

    @property
    def wants_computing(self) -> bool:
        """Whether the order is to be asked, by `begin_computing`, to compute values anew. With few
        URLs `learn` does it at once."""
        grown = self.pages.fetched - self._asked_at
        if self._waiting is not None:
            return False
        return self.pages.count > FEW_URLS and grown > _ASK_AT_GROWTH * self._asked_at

    def begin_computing(self) -> tuple[PageColumns, Edges]:
        """Columns and links of this moment, for `order.recompute` in another thread. Pages that are
        fetched until `end_computing` wait, so the order sees no change while it computes."""
        self._catch_up()
        self._asked_at = self.pages.fetched
        self._waiting = []
        return self.pages.snapshot(), self.edges.snapshot()

    def end_computing(self, pages: PageColumns, *, is_new: bool) -> None:
        """Take over what was computed, if `is_new`, and learn of the pages that waited."""
        if is_new:
            self.pages.adopt(pages)
            self.place_all()
        self._learn_waiting()

    def _learn_waiting(self) -> None:
        self._late, self._waiting = self._waiting or [], None
        self._catch_up()

    # -- what earlier runs learned

    def restore(self, urls: StoredUrls) -> UrlSlots:
        """Give slots to some URLs that the state knows; their slots, NONE where there is no room.
        Those that came since the start are as they are."""
        slots = self.table.find(urls.keys)
        new = np.flatnonzero(slots == NONE)
        pieces = [urls.keys[at * KEY_BYTES : (at + 1) * KEY_BYTES] for at in new.tolist()]
        added = self.table.add(b"".join(pieces))
        self.without_slot += len(new) - len(added)
        new, pieces = new[: len(added)], pieces[: len(added)]
        if not len(added):
            return slots
        slots[new] = added
        names = (urls.host_names[key[:HOST_BYTES]] for key in pieces)
        hosts = [self._hosts.number(key, name) for key, name in zip(pieces, names, strict=True)]
        self._add_columns(added, urls.depths[new], hosts)
        if self._word_order is not None:
            self._word_order.note_urls(self.pages, added, [urls.urls[at] for at in new.tolist()])
        is_gone = np.array([key in self._gone for key in pieces], np.bool_)
        self._heaps.queue(added[urls.is_queued[new] & ~is_gone])
        self.pages.note_fetched(added[urls.is_fetched[new]])
        return slots

    def end_restoring(self) -> None:
        """All that was stored is here: from now on values decide. `place_some` follows."""
        self.is_restored = True
        self._gone = set()
        self.place_all()
        self._heaps.moved.update(range(len(self._hosts.keys)))
        self._learn_waiting()

    def place_all(self) -> None:
        """Any value may have changed: `place_some` looks at all."""
        self._to_place = np.arange(self.pages.count, dtype=np.int32)

    def place_some(self, most: int) -> bool:
        """Place some of the URLs whose values may have changed; whether there are more."""
        slots, self._to_place = self._to_place[:most], self._to_place[most:]
        self._place(slots)
        return bool(len(self._to_place))

    # -- inside

    def _first(self, host_key: bytes) -> int | None:
        if not self.is_restored:
            return None
        if (self._late or self._fresh) and self._is_due:
            self._catch_up()
        slot = self._heaps.first(self._hosts.find(host_key))
        if slot is None and (self._fresh or self._late):
            self._catch_up()
            slot = self._heaps.first(self._hosts.find(host_key))
        return slot

    def _slot(self, key: bytes) -> int:
        if key in self._fresh:
            self._catch_up()
        return self.table.find_one(key)

    def _end_flight(self, slot: int) -> None:
        self._hosts.end_flight(self.pages.site.item(slot))

    def _place(self, slots: UrlSlots) -> None:
        """Put queued URLs where their values of now belong."""
        slots = slots[self._heaps.placed[slots] >= 0]
        if not len(slots):
            return
        scores = scores_of(self.order.value(self.pages, slots))
        scores[self.pages.depth[slots] == 0] = 0  # seeds
        levels = self._level.of(slots)
        scores = np.where(levels > 0, BEHIND_ALL + levels.astype(np.int32), scores)
        self._heaps.place(slots, scores)

    def _add_fresh(self) -> UrlSlots:
        """Give slots to the URLs that were queued; all of them that have one now."""
        if not self._fresh:
            return _NO_SLOTS
        fresh, self._fresh = self._fresh, {}
        keys = list(fresh)
        slots = self.table.find(b"".join(keys))
        new = [keys[at] for at in np.flatnonzero(slots == NONE).tolist()]
        for key, slot in zip(keys, slots.tolist(), strict=True):
            if slot != NONE:
                self.pages.depth[slot] = fresh[key].depth
        added = self._add(new, [fresh[key] for key in new])
        known = [key for key, slot in zip(keys, slots.tolist(), strict=True) if slot != NONE]
        slots = np.concatenate((slots[slots != NONE], added))
        levels = [fresh[key].level for key in (*known, *new[: len(added)])]
        self._level.set(slots, np.array(levels, np.float32))
        self._heaps.queue(slots)
        return slots

    def _add(self, keys: Sequence[bytes], facts: Sequence[FreshUrl]) -> UrlSlots:
        slots = self.table.add(b"".join(keys))
        self.without_slot += len(keys) - len(slots)
        if not len(slots):
            return slots
        keys, facts = keys[: len(slots)], facts[: len(slots)]
        named = zip(keys, facts, strict=True)
        hosts = [self._hosts.number(key, host_of(one.url)) for key, one in named]
        self._add_columns(slots, np.array([one.depth for one in facts], np.int32), hosts)
        if self._word_order is not None:
            self._word_order.note_urls(self.pages, slots, [one.url for one in facts])
        return slots

    def _add_columns(self, slots: UrlSlots, depths: Ints, hosts: Sequence[int]) -> None:
        sites = np.array([self._hosts.sites[host] for host in hosts], np.int32)
        self.pages.add(depths, sites, len(slots))
        self._heaps.add_slots(self.table.count, slots, np.array(hosts, np.int32))

    def _note_gone(self, key: bytes) -> None:
        if not self.is_restored:
            self._gone.add(key)
