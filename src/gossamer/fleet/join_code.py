"""The join code that a person copies from the hub to a new unit.

    KNPW-4ZQ2-...        base32, in groups of four; case, spaces and hyphens are ignored

It has 16 random bytes, and 16 bytes of the SHA-256 of the certificate (DER) of the hub's own
authority: the unit fetches that certificate without a check (`GET /ca`), compares it with the code,
and checks every later connection with it. A hub with a certificate of a public authority gives out
codes without the second half, and the unit uses the system's authorities.

Pure; used by both sides.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ssl
from dataclasses import dataclass
from typing import Final

from gossamer.errors import UsageError

SECRET_BYTES: Final = 16
PIN_BYTES: Final = 16
_GROUP: Final = 4


@dataclass(frozen=True, slots=True)
class JoinCode:
    """A code in parts. `pin` is empty where the hub has a public certificate."""

    secret: bytes
    pin: bytes = b""

    def text(self) -> str:
        """The code as a person copies it."""
        letters = base64.b32encode(self.secret + self.pin).decode().rstrip("=")
        return "-".join(letters[at : at + _GROUP] for at in range(0, len(letters), _GROUP))

    def digest(self) -> str:
        """What the hub stores instead of the secret."""
        return hashlib.sha256(b"gossamer join code " + self.secret).hexdigest()

    def fits(self, authority_pem: str) -> bool:
        """Whether this is the authority that the code pins. False for text that is not PEM."""
        try:
            pin = pin_of(authority_pem)
        except ValueError:
            return False
        return bool(self.pin) and hmac.compare_digest(pin, self.pin)


def pin_of(authority_pem: str) -> bytes:
    """The bytes by which a code names an authority. Raises ValueError."""
    der = ssl.PEM_cert_to_DER_cert(authority_pem.strip())
    return hashlib.sha256(der).digest()[:PIN_BYTES]


def read_code(text: str) -> JoinCode:
    """The code that a person typed. Raises UsageError."""
    letters = "".join(letter for letter in text.upper() if letter not in "- \t\r\n")
    letters = letters.replace("0", "O").replace("1", "I").replace("8", "B")  # none is in base32
    padding = "=" * (-len(letters) % 8)
    try:
        found = base64.b32decode(letters + padding)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) not in (SECRET_BYTES, SECRET_BYTES + PIN_BYTES):
        raise UsageError(
            "this is not a join code; copy the whole line that the hub shows, or make a new code "
            "with `gossamer hub invite`"
        )
    return JoinCode(found[:SECRET_BYTES], found[SECRET_BYTES:])
