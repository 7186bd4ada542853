"""The target of a `<meta http-equiv=refresh>`.

The text is parsed by the HTML standard ("shared declarative refresh steps"). The URL is returned as
the page wrote it, like that of every other link: it is neither joined nor parsed here, so an
invalid one cannot raise.
"""

from __future__ import annotations

import re
from typing import Final

_SPACE: Final = r"[\t\n\f\r ]*+"
_TIME: Final = re.compile(
    rf"{_SPACE}(?:[0-9]++|(?=\.))[0-9.]*+(?:\Z|(?=[;,\t\n\f\r ]){_SPACE}[;,]?{_SPACE})"
)
_NAME: Final = re.compile(rf"url{_SPACE}={_SPACE}", re.IGNORECASE | re.ASCII)


def refresh_target(content: str) -> str | None:
    """The URL in the `content` of a refresh, as written; empty for the page itself.

    None if browsers ignore the element.
    """
    time = _TIME.match(content)
    if time is None:
        return None
    rest = content[time.end() :]
    name = _NAME.match(rest)
    if name is None and rest[:1] in ("u", "U"):
        return rest
    address = rest[name.end() :] if name else rest
    quote = address[:1]
    return address[1:].partition(quote)[0] if quote in ("'", '"') and quote else address
