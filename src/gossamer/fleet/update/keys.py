"""Keys of the update repository: Ed25519, as PEM files that only their owner can read.

The root key says which keys are valid. It is written to a file that the operator takes away, and
needed again only to replace keys. The others sign every day and stay with the hub.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from securesystemslib.signer import CryptoSigner

from gossamer.base.files import replace_file
from gossamer.errors import UsageError

ONLINE: Final = ("targets", "snapshot", "timestamp")


def new_key(path: Path) -> CryptoSigner:
    """Make a key and write it to a new file. Raises UsageError."""
    signer = CryptoSigner.generate_ed25519()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} exists; name a new file for the key") from None
    except OSError as fault:
        raise UsageError(f"cannot write the key to {path}: {fault.strerror}") from fault
    with os.fdopen(handle, "wb") as file:
        file.write(signer.private_bytes)
        file.flush()
        os.fsync(file.fileno())
    return signer


def read_key(path: Path) -> CryptoSigner:
    """Raises UsageError."""
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except OSError as fault:
        raise UsageError(f"cannot read the key {path}: {fault.strerror}") from fault
    except (ValueError, TypeError):
        raise UsageError(f"{path} is not a key of `gossamer hub keys`") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{path} is not an Ed25519 key, as `gossamer hub keys` makes them")
    return CryptoSigner(key)


def new_online_keys(folder: Path) -> dict[str, CryptoSigner]:
    """Make the keys that stay with the hub, or replace them."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    signers = {role: CryptoSigner.generate_ed25519() for role in ONLINE}
    for role, signer in signers.items():
        replace_file(folder / f"{role}.pem", signer.private_bytes, 0o600)
    return signers


def read_online_keys(folder: Path) -> dict[str, CryptoSigner]:
    return {role: read_key(folder / f"{role}.pem") for role in ONLINE}
