"""Links in the headers of a response: `Link: <next.html>; rel="next"` (RFC 8288).

The same relations are followed as in the head of a page. A link whose `anchor` names another
document is skipped, because it is not about this one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gossamer.parse.anchors import AROUND, fold
from gossamer.parse.relations import relation_of
from gossamer.records import Link, LinkKind, Place

_MAX_LINKS: Final = 200  # of all headers; 128 KiB of them could hold 40,000
_TARGET: Final = re.compile(r"[\s,]*+<([^>]*+)>")
_PARAMETER: Final = re.compile(
    r"\s*+;\s*+(?:([!#$%&'*+.^_`|~0-9A-Za-z-]++)\s*+(?:=\s*+(?:\"((?:[^\"\\]|\\.)*+)\"|([^;,\s]*+)))?)?"
)
_NEXT: Final = re.compile(r"[^,<]*+,")


def links_in_headers(values: Sequence[str]) -> tuple[list[Link], str]:
    """The links of the Link headers, and the href of the canonical one if any."""
    links: list[Link] = []
    canonical = ""
    for target, parameters in _all_links(values):
        relation = relation_of(parameters.get("rel", ""))
        if "anchor" in parameters or not relation.is_followed or not target:
            continue
        if relation.is_canonical and not canonical:
            canonical = target
        title = fold(parameters.get("title", ""))
        links.append(Link(target, LinkKind.LINK, title, relation.words, Place.HEAD))
        if len(links) >= _MAX_LINKS:
            break
    return links, canonical


def _all_links(values: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Target and parameters of each link. Of a parameter given twice the first counts."""
    for value in values:
        at = 0
        while (target := _TARGET.match(value, at)) is not None:
            parameters: dict[str, str] = {}
            at = target.end()
            while (found := _PARAMETER.match(value, at)) is not None:
                at = found.end()
                if found[1]:
                    written = re.sub(r"\\(.)", r"\1", found[2]) if found[2] else found[3]
                    parameters.setdefault(found[1].lower(), written or "")
            yield target[1].strip(AROUND), parameters
            following = _NEXT.match(value, at)
            at = following.end() if following else len(value)
