"""Secure connections that go wrong, each in its own way: an outcome, and soon."""

from __future__ import annotations

import asyncio
import ssl
import warnings
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from fetch.test_fetcher import PATIENT, fetch_all, lease_of
from gossamer.records import Answer, Failed, Fetched, Reason
from gossamer.settings import Fetch
from support.a_site import a_site, page, reset_after
from support.certificates import Authority, server_context
from support.rows import each_row

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(scope="module")
def authority(folder: Path) -> Authority:
    return Authority.make(folder)


@pytest.fixture
def trusted(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Authority:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    monkeypatch.setenv("SSL_CERT_DIR", "/nowhere")
    return authority


def ask(tls: ssl.SSLContext, given: object = None) -> Answer:
    async def run() -> Answer:
        pages = {"/": given or page("x")}
        async with a_site(pages, tls=tls) as site:  # type: ignore[arg-type]  # of all kinds
            return (await fetch_all([lease_of(site.url("/"))]))[0]

    return asyncio.run(run())


HASTY = Fetch(connect_time_s=1.0, total_time_s=1.0)


def ask_raw(talk: Talk, scheme: str = "https", settings: Fetch = PATIENT) -> Answer:
    """Ask a server that says what it likes before any handshake."""

    async def run() -> Answer:
        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return (await fetch_all([lease_of(f"{scheme}://127.0.0.1:{port}/")], settings))[0]

    return asyncio.run(run())


def reason_of(got: Answer) -> Reason:
    assert isinstance(got, Failed), got
    assert got.detail
    assert got.took_s < PATIENT.total_time_s / 2
    return got.reason


def test_a_good_certificate_is_good(trusted: Authority) -> None:
    got = ask(server_context(trusted.sign("127.0.0.1")))

    assert isinstance(got, Fetched)
    assert got.body == b"x"


def test_an_expired_certificate_is_none(trusted: Authority) -> None:
    assert reason_of(ask(server_context(trusted.sign("127.0.0.1", days=-1)))) is Reason.TLS


def test_a_certificate_for_another_name_is_none(trusted: Authority) -> None:
    assert reason_of(ask(server_context(trusted.sign("other.example")))) is Reason.TLS


def test_a_certificate_that_vouches_for_itself_is_none(trusted: Authority, folder: Path) -> None:
    own = Authority.make(folder, "own")
    both = folder / "own-both.pem"
    both.write_bytes((folder / "own.key").read_bytes() + own.certificate.read_bytes())

    assert reason_of(ask(server_context(both))) is Reason.TLS


def test_an_authority_that_nobody_knows_vouches_for_nothing(
    trusted: Authority, folder: Path
) -> None:
    stranger = Authority.make(folder, "stranger")

    assert reason_of(ask(server_context(stranger.sign("127.0.0.1")))) is Reason.TLS


def test_a_server_that_speaks_only_an_old_protocol(trusted: Authority) -> None:
    context = server_context(trusted.sign("127.0.0.1"))
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1

    assert reason_of(ask(context)) is Reason.TLS


def test_a_server_with_no_cipher_in_common(trusted: Authority) -> None:
    context = server_context(trusted.sign("127.0.0.1"))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE-RSA-AES128-SHA")  # for a key of another kind than the server has

    assert reason_of(ask(context)) is Reason.TLS


def test_a_server_that_wants_a_certificate_of_us(trusted: Authority) -> None:
    context = server_context(trusted.sign("127.0.0.1"), clients=trusted)

    assert reason_of(ask(context)) in (Reason.TLS, Reason.RESET)


async def close(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def close_after_hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(5)
    writer.transport.abort()


async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(5)
    writer.write(page("not secure"))
    writer.close()


async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(1000):
        pass
    writer.close()


SERVER_HELLO = bytes.fromhex("160303007a0200007603030000")  # the first 8 of its 122 bytes


async def half_hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(5)
    writer.write(SERVER_HELLO)
    writer.close()


async def half_hello_and_silence(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    writer.write(SERVER_HELLO)
    await silence(reader, writer)


async def half_hello_and_reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(5)
    writer.write(SERVER_HELLO)
    await writer.drain()
    writer.transport.abort()


async def noise(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(5)
    writer.write(bytes(range(256)) * 8)
    writer.close()


async def endless_alerts(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Warnings (TLS alerts of level 1) without end."""
    with suppress(OSError):
        while not reader.at_eof():
            writer.write(bytes.fromhex("15030300020100") * 100)
            await writer.drain()
            await asyncio.sleep(0)


@each_row(
    ("talk", "reasons"),
    [
        (close, {Reason.TLS, Reason.RESET}),
        (close_after_hello, {Reason.TLS, Reason.RESET}),
        (plain, {Reason.TLS}),
        (silence, {Reason.TIMEOUT}),
        (half_hello, {Reason.TLS, Reason.RESET}),
        (half_hello_and_silence, {Reason.TIMEOUT}),
        (half_hello_and_reset, {Reason.TLS, Reason.RESET}),
        (noise, {Reason.TLS}),
        (endless_alerts, {Reason.TLS, Reason.RESET, Reason.TIMEOUT}),
    ],
)
def test_a_handshake_that_comes_to_nothing(talk: Talk, reasons: set[Reason]) -> None:
    settings = HASTY if Reason.TIMEOUT in reasons else PATIENT

    assert reason_of(ask_raw(talk, settings=settings)) in reasons


def test_a_plain_request_to_a_secure_server(trusted: Authority) -> None:
    async def run() -> Answer:
        tls = server_context(trusted.sign("127.0.0.1"))
        server = await asyncio.start_server(close, "127.0.0.1", 0, ssl=tls)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return (await fetch_all([lease_of(f"http://127.0.0.1:{port}/")]))[0]

    assert reason_of(asyncio.run(run())) in (Reason.RESET, Reason.PROTOCOL)


def test_a_secure_answer_that_is_torn_off(trusted: Authority) -> None:
    got = ask(server_context(trusted.sign("127.0.0.1")), reset_after(page("x" * 900)[:300]))

    assert reason_of(got) in (Reason.RESET, Reason.TLS)
