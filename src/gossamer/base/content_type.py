"""Choose one of several Content-Type values: the last one that is a MIME type.

The Fetch standard joins all headers of the name with commas, splits them outside of quotation marks
and takes the last that is valid and not `*/*`. The charset of an earlier one holds for a later one
of the same type. Most responses have one header without a comma: it stays unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_SPLIT: Final = re.compile(r'((?:[^",]|"(?:[^"\\]|\\.)*+(?:"|\\?\Z))*+)(?:,|\Z)', re.DOTALL)
_NAME: Final = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_ESSENCE: Final = re.compile(rf"[ \t\r\n]*({_NAME}/{_NAME})[ \t\r\n]*(?:;|\Z)")
_CHARSET: Final = re.compile(r';[ \t\r\n]*charset=("(?:[^"\\]|\\.)*+"|[^;"]+)', re.IGNORECASE)


def content_type_of(values: Iterable[str]) -> str:
    """The effective Content-Type of a response; the first if none is valid."""
    joined = ", ".join(values)
    if "," not in joined:
        return joined
    counts, essence, charset = "", "", ""
    for value in _SPLIT.findall(joined):
        found = _ESSENCE.match(value)
        if found is None or found[1] == "*/*":
            continue
        if found[1].lower() != essence:
            essence, charset = found[1].lower(), ""
        counts = value.strip()
        if named := _CHARSET.search(value):
            charset = named[1].strip()
        elif charset:
            counts += f";charset={charset}"
    return counts or joined.partition(",")[0].strip()
