"""The hub's own certificate authority, its server certificate and certificates of units.

    ca/authority.pem, ca/authority.key     made once, valid for ten years; the key has mode 0600
    tls/server.pem, tls/server.key         for its names; renewed 30 days before its end

Given certificates are used as they are. Everything is EC P-256. The package cryptography is needed
to make certificates, and not to use given ones.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from gossamer.base.files import sync_folder
from gossamer.errors import UsageError

_AUTHORITY_DAYS: Final = 3_650
_SERVER_DAYS: Final = 397  # the longest that clients of today accept
_RENEW_DAYS: Final = 30
_CLOCK_SKEW: Final = timedelta(hours=24)  # clocks of units may be behind


@dataclass(frozen=True, slots=True)
class ServerFiles:
    """What the TLS server reads. `authority` is None for a certificate of a public authority."""

    certificate: Path
    key: Path
    authority: Path | None


def own_files(folder: Path, names: Sequence[str], now_us: int) -> ServerFiles:
    """The files of the hub's own authority; made or renewed if necessary. Raises UsageError."""
    tools = _tools()
    authority = folder / "ca" / "authority.pem"
    if not authority.exists():
        _make_authority(tools, authority, now_us)
    files = ServerFiles(folder / "tls" / "server.pem", folder / "tls" / "server.key", authority)
    if not _is_good(tools, files, names, now_us):
        _make_server(tools, files, names, now_us)
    return files


def client_pem(folder: Path, name: str, now_us: int) -> str:
    """A new key and certificate for a unit, which the hub does not keep."""
    tools = _tools()
    authority, authority_key = _authority(tools, folder / "ca" / "authority.pem")
    key = tools.ec.generate_private_key(tools.ec.SECP256R1())
    builder = _builder(tools, name, authority.subject, key.public_key(), now_us, _AUTHORITY_DAYS)
    usage = tools.x509.ExtendedKeyUsage([tools.oids.CLIENT_AUTH])
    made = builder.add_extension(usage, critical=False).sign(authority_key, tools.hashes.SHA256())
    return _key_pem(tools, key).decode() + _pem(tools, made).decode()


def server_context(files: ServerFiles, *, asks_clients: bool) -> ssl.SSLContext:
    """The TLS context of the server. With `asks_clients` a client may show a certificate of the
    hub's authority; `http.py` demands it. Raises UsageError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    load_chain(context, files)
    if asks_clients:
        if files.authority is None:
            raise UsageError(
                "client_certificates needs the hub's own authority: set no certificate"
            )
        context.load_verify_locations(files.authority)
        context.verify_mode = ssl.CERT_OPTIONAL
    return context


def load_chain(context: ssl.SSLContext, files: ServerFiles) -> None:
    """Read certificate and key, again if they have been renewed. Raises UsageError."""
    try:
        context.load_cert_chain(files.certificate, files.key)
    except (OSError, ssl.SSLError) as fault:
        raise UsageError(f"cannot use the certificate {files.certificate}: {fault}") from fault


# -- inside


@dataclass(frozen=True, slots=True)
class _Tools:
    """The parts of the package cryptography that are used here."""

    x509: Any
    ec: Any
    hashes: Any
    serialization: Any
    names: Any
    oids: Any


def _tools() -> _Tools:
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
    except ImportError:
        raise UsageError(
            "the hub's own certificates need the package cryptography; install it with "
            "`pip install 'gossamer[fleet]'`, or give a certificate (`certificate`, `key`)"
        ) from None
    return _Tools(x509, ec, hashes, serialization, NameOID, ExtendedKeyUsageOID)


def _make_authority(tools: _Tools, path: Path, now_us: int) -> None:
    key = tools.ec.generate_private_key(tools.ec.SECP256R1())
    title = f"Gossamer hub {os.urandom(4).hex()}"
    name = _name(tools, title)
    builder = _builder(tools, title, name, key.public_key(), now_us, _AUTHORITY_DAYS)
    usage = tools.x509.KeyUsage(
        digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False,
        key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False,
        decipher_only=False,
    )  # fmt: skip
    constraints = tools.x509.BasicConstraints(ca=True, path_length=0)
    made = (
        builder.add_extension(constraints, critical=True)
        .add_extension(usage, critical=True)
        .sign(key, tools.hashes.SHA256())
    )
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write(path.with_suffix(".key"), _key_pem(tools, key), 0o600)
    _write(path, _pem(tools, made), 0o644)


def _make_server(tools: _Tools, files: ServerFiles, names: Sequence[str], now_us: int) -> None:
    assert files.authority is not None
    authority, authority_key = _authority(tools, files.authority)
    key = tools.ec.generate_private_key(tools.ec.SECP256R1())
    builder = _builder(tools, names[0], authority.subject, key.public_key(), now_us, _SERVER_DAYS)
    alternatives = tools.x509.SubjectAlternativeName([_general(tools, name) for name in names])
    usage = tools.x509.ExtendedKeyUsage([tools.oids.SERVER_AUTH])
    made = (
        builder.add_extension(alternatives, critical=False)
        .add_extension(usage, critical=False)
        .sign(authority_key, tools.hashes.SHA256())
    )
    files.certificate.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write(files.key, _key_pem(tools, key), 0o600)
    _write(files.certificate, _pem(tools, made) + _pem(tools, authority), 0o644)


def _is_good(tools: _Tools, files: ServerFiles, names: Sequence[str], now_us: int) -> bool:
    """Whether the stored certificate is for these names, of this authority, and lasts a while."""
    assert files.authority is not None
    try:
        found = tools.x509.load_pem_x509_certificate(files.certificate.read_bytes())
        key = tools.serialization.load_pem_private_key(files.key.read_bytes(), None)
        authority, _ = _authority(tools, files.authority)
        found.verify_directly_issued_by(authority)
        alternatives = found.extensions.get_extension_for_class(tools.x509.SubjectAlternativeName)
    except (OSError, ValueError, TypeError, UsageError, tools.x509.ExtensionNotFound):
        return False
    except Exception as fault:  # an invalid signature has a type of the package
        if type(fault).__name__ != "InvalidSignature":
            raise
        return False
    wanted = {_general(tools, name) for name in names}
    lasts_until = _moment(now_us) + timedelta(days=_RENEW_DAYS)
    return (
        set(alternatives.value) == wanted
        and found.public_key() == key.public_key()
        and found.not_valid_after_utc > lasts_until
    )


def _authority(tools: _Tools, path: Path) -> tuple[Any, Any]:
    try:
        certificate = tools.x509.load_pem_x509_certificate(path.read_bytes())
        key = path.with_suffix(".key").read_bytes()
        return certificate, tools.serialization.load_pem_private_key(key, None)
    except (OSError, ValueError) as fault:
        raise UsageError(f"cannot read the hub's authority {path}: {fault}") from fault


def _builder(
    tools: _Tools, title: str, issuer: Any, public_key: Any, now_us: int, days: int
) -> Any:
    now = _moment(now_us)
    return (
        tools.x509.CertificateBuilder()
        .subject_name(_name(tools, title))
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(tools.x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + timedelta(days=days))
    )


def _name(tools: _Tools, title: str) -> Any:
    return tools.x509.Name([tools.x509.NameAttribute(tools.names.COMMON_NAME, title[:64])])


def _general(tools: _Tools, name: str) -> Any:
    try:
        return tools.x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return tools.x509.DNSName(name)


def _moment(now_us: int) -> datetime:
    return datetime.fromtimestamp(now_us // 1_000_000, UTC)


def _pem(tools: _Tools, certificate: Any) -> bytes:
    found: bytes = certificate.public_bytes(tools.serialization.Encoding.PEM)
    return found


def _key_pem(tools: _Tools, key: Any) -> bytes:
    kinds = tools.serialization
    found: bytes = key.private_bytes(
        kinds.Encoding.PEM, kinds.PrivateFormat.PKCS8, kinds.NoEncryption()
    )
    return found


def _write(path: Path, data: bytes, mode: int) -> None:
    """Replace a file; it has its mode from the start."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    sync_folder(path.parent)
