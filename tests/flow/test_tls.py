"""Secure connections: a certificate that nobody vouches for is a reason, a good one is none."""

from __future__ import annotations

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from flow.outcomes import crawl, crawl_hurried, fates
from support.a_site import page, redirect, site_in_thread
from support.need import need_program


@dataclass(frozen=True, slots=True)
class Certificate:
    """A key and a certificate that vouches for itself, in one file."""

    path: Path

    @property
    def server(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path)
        return context


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    openssl = need_program("openssl")
    folder = tmp_path_factory.mktemp("tls")
    command = [
        str(openssl), "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1,DNS:a.localhost",
        "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_bytes((folder / "key.pem").read_bytes() + (folder / "cert.pem").read_bytes())
    return Certificate(both)


def test_a_certificate_that_nobody_vouches_for_is_a_failure(
    certificate: Certificate, collection: Path
) -> None:
    with site_in_thread({"/": page("x")}, tls=certificate.server) as site:
        crawl_hurried(collection, [site.url()])

    assert fates(collection) == {"/": "failed tls"}
    assert site.log == []


def test_a_certificate_that_the_system_trusts_is_good(
    certificate: Certificate, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.path))

    with site_in_thread({"/": page("x")}, tls=certificate.server) as site:
        crawl(collection, [site.url(), f"https://a.localhost:{site.port}/"])

    assert site.asked.count("/") == 2
    assert fates(collection) == {"/": "fetched 200"}


def test_a_certificate_for_another_name_is_none(
    certificate: Certificate, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.path))

    with site_in_thread({"/": page("x")}, host="127.0.0.2", tls=certificate.server) as site:
        crawl_hurried(collection, [site.url()])

    assert fates(collection) == {"/": "failed tls"}


def test_a_seed_that_moves_to_its_secure_form_is_crawled_there(
    certificate: Certificate, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.path))
    home = page("<a href=/b>x</a>")

    with (
        site_in_thread({"/": home, "/b": page("x")}, tls=certificate.server) as secure,
        site_in_thread({"/": redirect(secure.url())}) as plain,
    ):
        crawl(collection, [plain.url()])

    assert secure.asked == ["/robots.txt", "/", "/b"]
