"""What is a URL's name in the state?

16 bytes: 8 of its host, then 8 of the rest (scheme, port, path, query). So all URLs of a host are
one range of keys, and http and https lie in the same one. Both halves are BLAKE2 keyed with the
collection's secret salt: a site that does not know it cannot make two URLs with one key. With 10
million URLs on one host the chance of any collision is 3 in a million.
"""

from __future__ import annotations

import hashlib
from typing import Final

from gossamer.urls.canonical import host_of

SALT_BYTES: Final = 16
HALF_BYTES: Final = 8
KEY_BYTES: Final = 2 * HALF_BYTES

# A host costs about 150 bytes here; a page links to few hosts, so few are forgotten too soon.
_REMEMBERED_HOSTS: Final = 50_000


class Keys:
    """The names of one collection. All who share its state must share `salt`."""

    def __init__(self, salt: bytes) -> None:
        if len(salt) != SALT_BYTES:
            raise ValueError(f"a salt has {SALT_BYTES} bytes, not {len(salt)}")
        self.salt = salt
        # Copying a keyed state is cheaper than keying anew: 0.63 microseconds for 8 bytes.
        self._host = hashlib.blake2b(digest_size=HALF_BYTES, key=salt, person=b"host")
        self._rest = hashlib.blake2b(digest_size=HALF_BYTES, key=salt, person=b"rest")
        self._hosts: dict[str, bytes] = {}

    def of(self, url: str) -> bytes:
        """The key of a canonical URL."""
        host = host_of(url)
        start = 8 if url[4] == "s" else 7
        rest = self._rest.copy()
        rest.update((url[:start] + url[start + len(host) :]).encode())
        return (self._hosts.get(host) or self.host(host)) + rest.digest()

    def host(self, host: str) -> bytes:
        """The half that all keys of a host begin with."""
        found = self._hosts.get(host)
        if found is None:
            half = self._host.copy()
            half.update(host.encode())
            found = half.digest()
            if len(self._hosts) >= _REMEMBERED_HOSTS:
                self._hosts.clear()
            self._hosts[host] = found
        return found
