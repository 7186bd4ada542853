"""How much room must a disk have left for a crawl to go on?"""

from __future__ import annotations

from typing import Final

from gossamer.settings import Node

_SHARE: Final = 10  # of a small disk a tenth stays free: commits and the index are ended in it
_DEFAULT: Final = Node().min_free_bytes


def least_free_bytes(node: Node, total_bytes: int) -> int:
    """With less than this a crawl stops. What the operator has set counts as it is; the default is
    less on a disk so small that a crawl could never begin."""
    if node.min_free_bytes != _DEFAULT:
        return node.min_free_bytes
    return min(_DEFAULT, total_bytes // _SHARE)
