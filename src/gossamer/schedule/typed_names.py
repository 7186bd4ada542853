"""May a host that the operator typed have a private address?

Yes, if its name has one at the first lookup: then it is a host of the operator's own network. A
name that is public at the first lookup must stay public: its owner could point it at the operator's
own machines later (DNS rebinding). The result of the first lookup is kept in the collection. A
typed address is used as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.resolve import address_in
from gossamer.frontier.meta_keys import TYPED_NAME_PREFIX
from gossamer.frontier.pending import Pending
from gossamer.frontier.store import StateTable
from gossamer.schedule.host import Host

_PUBLIC, _PRIVATE = b"public", b"private"
_PUBLIC_ONLY: Final = AddressGuard()  # forbids every address that is not public


class TypedNames:
    """Whether typed names were public at their first lookup."""

    def __init__(self, pending: Pending) -> None:
        self._pending = pending

    def must_be_public(self, host: Host, addresses: Sequence[str]) -> bool:
        """A host was looked up: whether it must be public from now on."""
        if not host.is_typed or not addresses or address_in(host.name):
            return host.must_be_public
        key = TYPED_NAME_PREFIX + host.name.encode()
        known = self._pending.find(StateTable.META, key)
        if known is None:
            is_public = any(_PUBLIC_ONLY.forbids(a, is_trusted=False) is None for a in addresses)
            known = _PUBLIC if is_public else _PRIVATE
            self._pending.put(StateTable.META, key, known)
        return known == _PUBLIC
