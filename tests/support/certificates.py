"""Certificates for tests, made by openssl: valid ones and all kinds of invalid ones.

authority = Authority.make(tmp_path)
server = authority.server_context(authority.sign("127.0.0.1"))
"""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

from support.need import need_program

_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority; clients trust its `certificate`."""

    folder: Path
    name: str = "authority"

    @property
    def certificate(self) -> Path:
        return self.folder / f"{self.name}.pem"

    @classmethod
    def make(cls, folder: Path, name: str = "authority") -> Authority:
        """A new authority, with its key beside it."""
        made = cls(folder, name)
        _openssl(
            "req", "-x509", *_KEY, "-days", "3650", "-subj", f"/CN={name}",
            "-keyout", f"{folder / name}.key", "-out", str(made.certificate),
        )  # fmt: skip
        return made

    def sign(self, *names: str, days: int = 2, title: str = "server") -> Path:
        """A key and a certificate for names and addresses, in one file. Days below 0: expired."""
        base = self.folder / f"{self.name}-{title}"
        _openssl(
            "req", "-new", *_KEY, "-subj", f"/CN={title}",
            "-keyout", f"{base}.key", "-out", f"{base}.csr",
        )  # fmt: skip
        kinds = ("IP" if name[-1].isdigit() else "DNS" for name in names)
        meant = ",".join(f"{kind}:{name}" for kind, name in zip(kinds, names, strict=True))
        base.with_suffix(".ext").write_text(f"subjectAltName={meant}\n")
        _openssl(
            "x509", "-req", "-in", f"{base}.csr", "-days", str(days), "-CAcreateserial",
            "-CA", str(self.certificate), "-CAkey", f"{self.folder / self.name}.key",
            "-extfile", f"{base}.ext", "-out", f"{base}.crt",
        )  # fmt: skip
        both = Path(f"{base}.pem")
        both.write_bytes(Path(f"{base}.key").read_bytes() + Path(f"{base}.crt").read_bytes())
        return both


def server_context(certificate: Path, clients: Authority | None = None) -> ssl.SSLContext:
    """The TLS context of a server; `clients`: only clients of this authority are served."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    if clients is not None:
        context.load_verify_locations(clients.certificate)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _openssl(*arguments: str) -> None:
    subprocess.run([str(need_program("openssl")), *arguments], check=True, capture_output=True)
