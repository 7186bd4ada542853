"""Requests of a unit to its hub: each kind of failure has its sentence."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gossamer.errors import HubAway, HubError, HubRefusal, HubUntrusted, UsageError
from gossamer.fleet.client import HubClient, checked_url
from gossamer.fleet.join_code import JoinCode
from gossamer.fleet.protocol import Poll
from gossamer.fleet.unit.folder import UnitFolder
from gossamer.fleet.unit.joining import join
from support.a_fake_hub import SECRET, TOKEN, FakeHub, a_hub
from support.certificates import Authority
from support.programs import tinyproxy

POLL = Poll(state="idle")
BEHIND = "127.0.0.9"  # the address of a proxy


@pytest.fixture(scope="module")
def a_running_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeHub]:
    with a_hub(tmp_path_factory.mktemp("hub")) as hub:
        yield hub


@pytest.fixture
def hub(a_running_hub: FakeHub) -> FakeHub:
    a_running_hub.is_used, a_running_hub.refuse = False, None
    a_running_hub.polls.clear()
    return a_running_hub


@pytest.fixture
def client(hub: FakeHub, tmp_path: Path) -> Iterator[HubClient]:
    (tmp_path / "ca.pem").write_text(hub.authority)
    with contextlib.closing(HubClient(hub.url, TOKEN, tmp_path / "ca.pem")) as client:
        yield client


def unit_in(tmp_path: Path) -> UnitFolder:
    return UnitFolder(tmp_path / "unit")


def failure(call: Callable[[], object]) -> HubError:
    with pytest.raises(HubError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return caught.value


# -- joining


def test_a_unit_joins_with_one_line_and_stores_its_token(hub: FakeHub, tmp_path: Path) -> None:
    identity = join(unit_in(tmp_path), hub.url, hub.code.lower())

    assert (identity.unit, identity.token) == ("u1", TOKEN)
    assert unit_in(tmp_path).read_identity() == identity
    assert hub.joins[-1].machine.cores >= 1


def test_a_used_code_is_told_and_leaves_no_file(hub: FakeHub, tmp_path: Path) -> None:
    hub.is_used = True

    fault = failure(lambda: join(unit_in(tmp_path), hub.url, hub.code))

    assert isinstance(fault, HubRefusal)
    assert "the code was used" in str(fault)
    assert list(tmp_path.iterdir()) == []


def test_a_hub_with_another_authority_than_that_of_the_code_gets_no_code(
    hub: FakeHub, tmp_path: Path
) -> None:
    before = len(hub.joins)
    foreign = JoinCode(SECRET, b"x" * 16).text()

    fault = failure(lambda: join(unit_in(tmp_path), hub.url, foreign))

    assert isinstance(fault, HubUntrusted)
    assert "not the one of the join code" in str(fault)
    assert (len(hub.joins), list(tmp_path.iterdir())) == (before, [])


def test_a_code_without_pin_needs_a_certificate_that_the_system_trusts(
    hub: FakeHub, tmp_path: Path
) -> None:
    fault = failure(lambda: join(unit_in(tmp_path), hub.url, JoinCode(SECRET).text()))

    assert isinstance(fault, HubUntrusted)


def test_a_unit_joins_once(hub: FakeHub, tmp_path: Path) -> None:
    join(unit_in(tmp_path), hub.url, hub.code)

    with pytest.raises(UsageError, match="has joined"):
        join(unit_in(tmp_path), hub.url, hub.code)


@pytest.mark.parametrize(
    "url", ["http://hub:1", "ftp://x", "https://", "https://u:p@h", "https://h:x"]
)
def test_only_https_addresses_are_taken(url: str) -> None:
    with pytest.raises(UsageError, match="not the address of a hub"):
        checked_url(url)
    assert checked_url("hub.example:8443/") == "https://hub.example:8443"


# -- failures


def test_an_unknown_name_is_told() -> None:
    fault = failure(lambda: HubClient("https://no-such-hub.invalid").poll(POLL))

    assert isinstance(fault, HubAway)
    assert "cannot be resolved" in str(fault)


def test_a_hub_that_does_not_listen_is_away() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        port = taken.getsockname()[1]

        fault = failure(lambda: HubClient(f"https://127.0.0.1:{port}").poll(POLL))

    assert isinstance(fault, HubAway)
    assert "no connection" in str(fault)


def test_a_foreign_certificate_is_refused(hub: FakeHub, tmp_path: Path) -> None:
    other = Authority.make(tmp_path, "other").certificate
    before = len(hub.tokens)

    fault = failure(lambda: HubClient(hub.url, TOKEN, other).poll(POLL))

    assert isinstance(fault, HubUntrusted)
    assert "cannot be verified" in str(fault)
    assert len(hub.tokens) == before, "the token was not sent"


def test_the_certificate_must_be_for_the_address(hub: FakeHub, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(hub.authority)
    client = HubClient(f"https://localhost:{hub.port}", TOKEN, tmp_path / "ca.pem")

    assert isinstance(failure(lambda: client.poll(POLL)), HubUntrusted)


def test_a_revoked_token_is_told(hub: FakeHub, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(hub.authority)

    fault = failure(lambda: HubClient(hub.url, "other", tmp_path / "ca.pem").poll(POLL))

    assert isinstance(fault, HubRefusal)
    assert fault.status == 401


@pytest.mark.parametrize(
    ("answer", "status", "sentence"),
    [
        ((404, b"<html>"), 404, "not a hub of Gossamer"),
        ((426, b""), 426, "another version"),
        ((200, b"{}"), 0, "update the unit or the hub"),
        ((200, b"\xff"), 0, "update the unit or the hub"),
        ((503, json.dumps({"error": "no disk space", "retry_s": 7}).encode()), 503, "no disk"),
    ],
)
def test_a_hub_of_another_version_or_in_trouble_is_told(
    hub: FakeHub, client: HubClient, answer: tuple[int, bytes], status: int, sentence: str
) -> None:
    hub.refuse = answer

    fault = failure(lambda: client.poll(POLL))

    assert isinstance(fault, HubRefusal)
    assert fault.status == status
    assert sentence in str(fault)


def test_an_endless_answer_is_cut(hub: FakeHub, client: HubClient) -> None:
    hub.refuse = (200, b" " * (9 * 2**20))

    assert "too long" in str(failure(lambda: client.poll(POLL)))


def test_a_client_answers_again_after_a_failure(hub: FakeHub, client: HubClient) -> None:
    hub.refuse = (503, b"")
    failure(lambda: client.poll(POLL))
    hub.refuse = None

    assert client.poll(POLL).wait_s == hub.wait_s


# -- proxies


def test_a_hub_is_reached_through_a_proxy_of_the_settings(hub: FakeHub, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(hub.authority)
    with tinyproxy(tmp_path, comes_from=BEHIND) as proxy:
        HubClient(hub.url, TOKEN, tmp_path / "ca.pem", proxy).poll(POLL)

    assert hub.peers[-1] == BEHIND


def test_a_unit_joins_through_a_proxy_of_the_environment(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tinyproxy(tmp_path, comes_from=BEHIND) as proxy:
        monkeypatch.setenv("https_proxy", proxy)
        join(unit_in(tmp_path), hub.url, hub.code)

    assert hub.peers[-2:] == [BEHIND, BEHIND]


def test_a_proxy_that_wants_a_login_is_told(hub: FakeHub, tmp_path: Path) -> None:
    with tinyproxy(tmp_path, comes_from=BEHIND, login="me secret") as proxy:
        fault = failure(lambda: HubClient(hub.url, TOKEN, None, proxy).poll(POLL))

    assert isinstance(fault, HubAway)
    assert "the proxy wants a login" in str(fault)
