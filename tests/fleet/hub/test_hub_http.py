"""The HTTP interface for units, over real TLS on loopback."""

import hashlib
from pathlib import Path

import httpx
import msgspec
import pytest

from gossamer.fleet.hub.secure.limits import BodyRoom
from gossamer.fleet.join_code import read_code
from gossamer.fleet.protocol import (
    PIECE_BYTES,
    FleetFault,
    HaveQuestion,
    JobProgress,
    Join,
    Joined,
    MissingDigests,
    PackageAccepted,
    Poll,
    PollAnswer,
)
from support.a_hub import ServedHub, hub_server, machine, notice_of, packed, pages_of, site


def joined(served: ServedHub, name: str = "den") -> Joined:
    code, _ = served.hub.invite()
    wanted = Join(code=code, machine=machine(name))
    with served.client() as client:
        sent = client.post("/join", content=msgspec.json.encode(wanted))
    assert sent.status_code == 200, sent.text
    return msgspec.json.decode(sent.content, type=Joined)


def polled(client: httpx.Client, told: Poll) -> PollAnswer:
    sent = client.post("/poll", content=msgspec.json.encode(told))
    assert sent.status_code == 200, sent.text
    return msgspec.json.decode(sent.content, type=PollAnswer)


def fault_of(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, msgspec.json.decode(response.content, type=FleetFault).reason


def test_a_unit_joins_gets_a_job_and_delivers_it(tmp_path: Path) -> None:
    with hub_server(tmp_path / "hub") as served:
        served.hub.add_jobs([site("example.org")])
        me = joined(served)
        with served.client(me.token) as client:
            job = polled(client, Poll(state="idle", wants_job=True)).job
            assert job is not None
            data = packed(pages_of("https://example.org/"))
            digest = hashlib.sha256(data).hexdigest()
            question = HaveQuestion(job=job.job, fence=job.fence, kind="piece", digests=(digest,))
            told = client.post("/have", content=msgspec.json.encode(question))
            assert msgspec.json.decode(told.content, type=MissingDigests).missing == (0,)
            stored = client.put(f"/pieces/{job.job}/{job.fence}/{digest}", content=data)
            assert stored.json() == {"is_new": True}
            notice = notice_of(job.job, job.fence, data, pages=1)
            for is_new in (True, False):
                sent = client.post("/package", content=msgspec.json.encode(notice))
                accepted = msgspec.json.decode(sent.content, type=PackageAccepted)
                assert accepted.is_new is is_new
            done = JobProgress(job=job.job, fence=job.fence, fetched=1, ending="done")
            assert polled(client, Poll(state="idle", progress=(done,))).stop == ()

        assert served.hub.giving.job(job.job).state == "done"
        assert served.pieces.merged == [f"{job.job}-{digest[:32]}"]


def test_the_authority_that_the_code_pins_is_told(tmp_path: Path) -> None:
    with hub_server(tmp_path / "hub") as served:
        code, _ = served.hub.invite()
        pem = httpx.get(f"{served.origin}/fleet/v1/ca", verify=False, trust_env=False).text

    assert read_code(code).fits(pem)


def test_a_code_works_once_and_wrong_ones_are_limited(tmp_path: Path) -> None:
    with hub_server(tmp_path / "hub") as served, served.client() as client:
        code, _ = served.hub.invite()
        good = msgspec.json.encode(Join(code=code, machine=machine("a")))
        assert client.post("/join", content=good).status_code == 200
        assert fault_of(client.post("/join", content=good)) == (401, "code")
        statuses = {client.post("/join", content=good).status_code for _ in range(12)}
        assert statuses == {401, 429}


@pytest.mark.parametrize("token", ["none", "wrong", "\u00e9"])
def test_a_request_without_a_valid_token_is_refused(tmp_path: Path, token: str) -> None:
    with hub_server(tmp_path / "hub") as served, served.client() as client:
        headers = {b"authorization": b"Bearer " + token.encode("latin-1")}
        for method, path in (
            ("POST", "/poll"), ("GET", "/bans"), ("POST", "/have"), ("POST", "/package"),
            ("PUT", f"/pieces/j1/1/{'0' * 64}"),
        ):  # fmt: skip
            assert fault_of(client.request(method, path, headers=headers)) == (401, "token")


def test_a_revoked_unit_is_refused_at_once(tmp_path: Path) -> None:
    with hub_server(tmp_path / "hub") as served:
        me = joined(served)
        with served.client(me.token) as client:
            polled(client, Poll(state="idle"))
            served.hub.revoke(me.unit)
            assert fault_of(client.post("/poll", content=b"{}")) == (401, "token")


def test_messages_that_are_invalid_or_too_large_are_refused(tmp_path: Path) -> None:
    with hub_server(tmp_path / "hub") as served:
        served.hub.add_jobs([site("example.org")])
        with served.client(joined(served).token) as client:
            job = polled(client, Poll(state="idle", wants_job=True)).job
            assert job is not None
            piece = f"/pieces/{job.job}/{job.fence}/{'0' * 64}"
            assert fault_of(client.post("/poll", content=b"{")) == (400, "message")
            assert fault_of(client.post("/poll", content=b'{"state": "dead"}')) == (400, "message")
            assert fault_of(client.post("/poll", content=b"\xff\xfe")) == (400, "message")
            assert fault_of(client.put(piece, content=bytes(PIECE_BYTES + 1))) == (413, "size")
            endless = (b"x" * 2**20 for _ in range(5))
            assert fault_of(client.put(piece, content=endless)) == (413, "size")
            assert fault_of(client.put(piece, content=b"x")) == (422, "digest")
            wrong = client.put(f"/pieces/{job.job}/{job.fence}/..%2f..%2fetc", content=b"x")
            assert wrong.status_code in (400, 404)
            assert polled(client, Poll(state="idle", wants_job=True)).job == job


def test_a_unit_that_sends_too_many_requests_is_told_to_wait(tmp_path: Path) -> None:
    with hub_server(tmp_path / "hub", requests_per_s=0.1, requests_burst=3) as served:
        with served.client(joined(served).token) as client:
            for _ in range(3):
                polled(client, Poll(state="idle"))
            refused = client.post("/poll", content=b'{"state": "idle"}')
        fault = msgspec.json.decode(refused.content, type=FleetFault)
        assert (refused.status_code, fault.reason) == (429, "rate")
        assert 0 < fault.retry_s <= 10


def test_a_hub_with_client_certificates_refuses_a_token_without_its_certificate(
    tmp_path: Path,
) -> None:
    with hub_server(tmp_path / "hub", client_certificates=True) as served:
        me, other = joined(served, "a"), joined(served, "b")
        own, foreign = tmp_path / "own.pem", tmp_path / "foreign.pem"
        own.write_text(me.client_certificate)
        foreign.write_text(other.client_certificate)
        with served.client(me.token, own) as client:
            polled(client, Poll(state="idle"))
        for certificate in (None, foreign):
            with served.client(me.token, certificate) as client:
                refused = client.post("/poll", content=b'{"state": "idle"}')
                assert fault_of(refused) == (401, "certificate")


def test_people_and_units_share_the_port(tmp_path: Path) -> None:
    with hub_server(tmp_path / "hub") as served, served.client() as client:
        assert client.get(f"{served.origin}/").text == "people"
        assert client.get("/nothing").status_code == 404


def test_the_memory_for_bodies_is_limited_and_given_back() -> None:
    room = BodyRoom(10)

    assert room.take(6)
    assert not room.take(5)
    room.free(6)
    assert room.take(10)
