"""A batch of changes as it is sent: one JSON object, with an id and a signature. Nothing here does
I/O.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

SIGNATURE: Final = "Gossamer-Signature"
BATCH: Final = "Gossamer-Batch"


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes that are sent together. `body` has the same bytes at every attempt, unless a change
    was forgotten meanwhile.
    """

    id: str
    body: bytes
    count: int

    def headers(self, secret: bytes) -> list[str]:
        """The header lines of its request; signed if there is a secret."""
        lines = ["Content-Type: application/json", f"{BATCH}: {self.id}"]
        return [*lines, f"{SIGNATURE}: {signature_of(self.body, secret)}"] if secret else lines


def batch_of(
    origin: str,
    collection: str,
    numbers: tuple[int, int],
    changes: Sequence[Mapping[str, Any]],
    skipped: int = 0,
) -> Batch:
    """The batch of the changes with these numbers, first and last. `origin` is the same for all
    batches of a collection and differs between collections.
    """
    identity = f"{origin}-{numbers[0]}-{numbers[1]}"
    facts: dict[str, Any] = {
        "schema": 1,
        "id": identity,
        "collection": collection,
        "skipped": skipped,
        "changes": list(changes),
    }
    return Batch(identity, json.dumps(facts, ensure_ascii=False).encode(), len(changes))


def origin_of_salt(salt: bytes) -> str:
    """The first part of every batch id of a collection; it tells nothing of the salt."""
    return hashlib.blake2b(salt, digest_size=6, person=b"notify").hexdigest()


def signature_of(body: bytes, secret: bytes) -> str:
    """The value of the signature header: HMAC-SHA256 of the body, in hexadecimal digits."""
    return f"sha256={hmac.new(secret, body, hashlib.sha256).hexdigest()}"
