"""Compare two versions of a page: text, links, title and status. Pure.

A worker compares a page that changed with its previous version, and sends what it found to the node
(`records.PageChange`). `gossamer diff` compares any two in the same way, so both say the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from gossamer.compare.regions import regions_of
from gossamer.compare.text import DatedText, TextComparison, compare_texts, hash_of, spot_of
from gossamer.policies.masks import mask, mask_link
from gossamer.records import ChangedSpot, Page, PageChange

MOST_SPOTS: Final = 40  # that a change says; with more of them it counts in any case
_MOST_LINKS: Final = 4_000
_LONGEST_TITLE: Final = 300


class PageVersion(NamedTuple):
    """A version of a page."""

    page: Page
    at_us: int
    status: int = 200


class LinkChanges(NamedTuple):
    """Links that only one version has, as written; those that differ by a token are left out."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    spots: tuple[ChangedSpot, ...] = ()
    is_cut: bool = False


class VersionComparison(NamedTuple):
    """How two versions of a page differ."""

    text: TextComparison
    links: LinkChanges
    title: tuple[str, str]  # of both; equal where it is the same
    title_spot: ChangedSpot | None
    status: tuple[int, int]

    def spots(self) -> list[ChangedSpot]:
        """Every spot once, in order: text, title, links."""
        found = {piece.spot: None for piece in self.text.changed() if piece.spot is not None}
        title = [self.title_spot] if self.title_spot is not None else []
        return [*found, *title, *self.links.spots]


def compare_versions(old: PageVersion, new: PageVersion) -> VersionComparison:
    """Compare two versions of one page."""
    titles = old.page.title[:_LONGEST_TITLE], new.page.title[:_LONGEST_TITLE]
    return VersionComparison(
        compare_texts(DatedText(old.page.text, old.at_us), DatedText(new.page.text, new.at_us)),
        compare_links(
            [link.href for link in old.page.links], [link.href for link in new.page.links]
        ),
        titles,
        _title_spot(titles, old.at_us, new.at_us),
        (old.status, new.status),
    )


def compare_links(old: Sequence[str], new: Sequence[str]) -> LinkChanges:
    """Compare the links of two versions in the order of the page."""
    is_cut = max(len(old), len(new)) > _MOST_LINKS
    one = [mask_link(href) for href in old[:_MOST_LINKS]]
    other = [mask_link(href) for href in new[:_MOST_LINKS]]
    if one == other:
        return LinkChanges(is_cut=is_cut and len(old) != len(new))
    before, after = Counter(one), Counter(other)
    spots = []
    for region in regions_of(one, other).regions:
        _, start, end, new_start, new_end = region
        changed = (*one[start:end], *other[new_start:new_end])
        if region.is_same or all(before[href] and after[href] for href in changed):
            continue
        # With the numbers: a link that is put beside a rotating one is a spot of its own.
        size = f"links {end - start} {new_end - new_start}"
        above = [f"{size} {href}" for href in one[max(0, start - 1) : start]]
        below = [f"{size} {href}" for href in one[end : end + 1]]
        spots.append(spot_of(above, below, 0, 0))
    return LinkChanges(
        _only(new, other, before), _only(old, one, after), tuple(dict.fromkeys(spots)), is_cut
    )


def change_of(compared: VersionComparison, template: int) -> PageChange:
    """What the node is told of a page that changed."""
    spots = compared.spots()
    pieces = list(compared.text.changed())
    words = dict.fromkeys(("added", "removed"), 0)
    for piece in pieces:
        if not piece.is_masked:
            words[piece.kind] += len(piece.text.split())
    before, after = compared.title
    return PageChange(
        words["added"],
        words["removed"],
        len(compared.links.added),
        len(compared.links.removed),
        compared.status[0],
        before if compared.title_spot is not None else "",
        tuple(spots[:MOST_SPOTS]),
        template,
        compared.text.is_cut or compared.links.is_cut or len(spots) > MOST_SPOTS,
        any(piece.is_masked for piece in pieces) or (before != after and not compared.title_spot),
    )


def _only(hrefs: Sequence[str], masked: Sequence[str], others: Counter[str]) -> tuple[str, ...]:
    pairs = zip(masked, hrefs, strict=False)  # the second may be longer
    return tuple({form: href for form, href in pairs if not others[form]}.values())


def _title_spot(titles: tuple[str, str], old_us: int, new_us: int) -> ChangedSpot | None:
    before, after = titles
    if mask(before, old_us) == mask(after, new_us):
        return None
    return ChangedSpot(hash_of("title"), 0)
