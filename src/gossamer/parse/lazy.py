"""Images that a script loads when they become visible.

Pages keep the address of such an image in an attribute that browsers ignore: mostly `data-src` and
`data-srcset`, others by the convention of one script or another. `src` then holds a placeholder, or
nothing. The fallback in `noscript` is an ordinary image and needs no rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from turbohtml import Element

# In order of priority: the first that holds an address counts.
_NAMES: Final = {
    "src": ("data-src", "data-lazy-src", "data-original", "data-lazy", "data-echo", "data-url"),
    "poster": ("data-poster",),
}
_SRCSETS: Final = ("data-srcset", "data-lazy-srcset", "data-original-set")
_TEMPLATE: Final = re.compile(r"[{}<>|^]")  # a script fills it in: `{{ url }}`, `<%= x %>`


def lazy_address(element: Element, name: str) -> str:
    """The address that a script later puts into an attribute (`src`, `poster`); mostly empty."""
    for one in _NAMES[name]:
        if (value := element.attr(one)) and _is_address(value):
            return value
    return ""


def _is_address(value: str) -> bool:
    """Whether a value is an address and not a flag, a number, a sentence or a template."""
    if "/" not in value and "." not in value:
        return False
    return len(value.split(maxsplit=1)) == 1 and not _TEMPLATE.search(value)


def lazy_srcsets(element: Element) -> Iterator[str]:
    """The values that a script later puts into `srcset`."""
    for name in _SRCSETS:
        if (value := element.attr(name)) and not _TEMPLATE.search(value):
            yield value
