"""Names that go wrong, each in its own way, asked of a name server in a network of its own.

Prints as JSON what the resolver made of each name, and what became of a crawl over all of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import tempfile
import threading
import time
from pathlib import Path

from flow.outcomes import HurriedClock, outcomes
from gossamer.base.clock import SystemClock
from gossamer.fetch.resolve import Resolver
from support.a_crawl import crawl_in_loop
from support.a_site import page
from support.own_internet import Internet, an_internet, make_everything_local

_A, _CNAME, _AAAA = 1, 5, 28
_NO_ERROR, _FORMAT_ERROR, _SERVER_FAILURE, _NO_SUCH_NAME, _REFUSED = 0, 1, 2, 3, 5
V4, V6 = "93.184.216.34", "2600::1"
HUGE = 500  # addresses of one name: far more than a datagram holds
BAD = ("nothing", "failing", "refusing", "odd", "empty", "round", "silent", "garbled", "below.x")
GOOD = ("good", "many", "six", "half", "alias")


def answer_to(question: bytes, *, by_stream: bool) -> bytes | None:
    """What the name server says; None is nothing at all."""
    name, kind, end = _read(question)
    label = name.partition(".")[0]
    codes = {"failing": _SERVER_FAILURE, "refusing": _REFUSED, "odd": _FORMAT_ERROR}
    if label == "silent":
        return None
    if label == "garbled":
        return b"\xff" * 7
    if label in codes or (label == "half" and kind == _AAAA):
        return _message(question, end, codes.get(label, _SERVER_FAILURE), [])
    if label == "round":
        alias = b"\x01y" + question[12 : end - 4] if not name.startswith("y.") else b"\xc0\x0c"
        return _message(question, end, _NO_ERROR, [_record(_CNAME, alias)])
    if label == "alias":
        target = b"\x04good\x04test\x00"
        rows = [_record(_CNAME, target)]
        if kind == _A:
            rows.append(_record(_A, socket.inet_aton(V4), owner=target))
        return _message(question, end, _NO_ERROR, rows)
    if label == "many" and not by_stream:
        return _message(question, end, _NO_ERROR, [], is_cut=True)
    return _message(question, end, _NO_ERROR if label in GOOD or label == "empty" else 3, [
        _record(kind, packed) for packed in _addresses(label, kind)
    ])  # fmt: skip


def _addresses(label: str, kind: int) -> list[bytes]:
    if label == "many" and kind == _A:
        return [bytes((93, 184, n // 250, n % 250 + 1)) for n in range(HUGE)]
    if label in ("good", "half") and kind == _A:
        return [socket.inet_aton(V4)]
    return [socket.inet_pton(socket.AF_INET6, V6)] if label == "six" and kind == _AAAA else []


def _read(question: bytes) -> tuple[str, int, int]:
    """The name, the kind, and where the question ends."""
    labels, at = [], 12
    while question[at]:
        labels.append(question[at + 1 : at + 1 + question[at]].decode("latin-1"))
        at += 1 + question[at]
    return ".".join(labels).lower(), int.from_bytes(question[at + 1 : at + 3], "big"), at + 5


def _record(kind: int, data: bytes, owner: bytes = b"\xc0\x0c") -> bytes:
    return owner + kind.to_bytes(2) + b"\x00\x01" + bytes(4) + len(data).to_bytes(2) + data


def _message(
    question: bytes, end: int, code: int, rows: list[bytes], *, is_cut: bool = False
) -> bytes:
    flags = (0x8180 | (0x0200 if is_cut else 0) | code).to_bytes(2)
    counts = b"\x00\x01" + len(rows).to_bytes(2) + bytes(4)
    return question[:2] + flags + counts + question[12:end] + b"".join(rows)


def serve_datagrams(served: socket.socket) -> None:
    while True:
        question, peer = served.recvfrom(1500)
        said = answer_to(question, by_stream=False)
        if said is not None:
            served.sendto(said, peer)


def serve_streams(served: socket.socket) -> None:
    while True:
        talk, _ = served.accept()
        with talk:
            while size := int.from_bytes(talk.recv(2)):
                said = answer_to(talk.recv(size), by_stream=True) or b""
                talk.sendall(len(said).to_bytes(2) + said)


def serve_names() -> None:
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("0.0.0.0", 53))
    streams = socket.create_server(("0.0.0.0", 53))
    for target, served in ((serve_datagrams, datagrams), (serve_streams, streams)):
        threading.Thread(target=target, args=(served,), daemon=True).start()


async def resolve_all() -> dict[str, object]:
    resolver = Resolver(SystemClock(), 60.0)

    async def one(label: str) -> tuple[str, object]:
        began_s = time.monotonic()
        found = await resolver.resolve(f"{label}.test")
        took_s = time.monotonic() - began_s
        return label, [len(found.addresses), found.addresses[:1], found.fault, took_s]

    found = dict(await asyncio.gather(*map(one, (*BAD, *GOOD))))
    resolver.close()
    return found


async def crawl_all(folder: Path, seeds: list[str]) -> dict[str, str]:
    clock = HurriedClock(times=5000.0)
    named = {
        "scope.kind": "any",
        "fetch.contact": "test@example.org",
        "limits.max_time_s": 30 * clock.times,
    }
    summary = await crawl_in_loop(folder, seeds, named, clock=clock)
    told = {url: f"{row.outcome} {row.reason}".strip() for url, row in outcomes(folder).items()}
    return {**told, "stopped": summary.stopped}


def seeds_of(labels: tuple[str, ...]) -> list[str]:
    return [f"http://{label}.test/" for label in labels]


async def run() -> dict[str, object]:
    serve_names()
    found: dict[str, object] = {"resolved": await resolve_all()}
    links = "".join(f"<a href=http://dead{n}.test/>x</a>" for n in range(8))
    internet = Internet(names={}, pages={"*": {"/dead": page(links), "*": page("x")}})
    with tempfile.TemporaryDirectory() as folder:
        async with an_internet(internet, serves_names=False):
            for name, seeds in (
                ("only bad", seeds_of(BAD)),
                ("all", seeds_of((*GOOD, *BAD))),
                ("dead links", ["http://good.test/dead"]),
            ):
                found[name] = await crawl_all(Path(folder) / name, seeds)
    found["reached"] = sorted({address for address, _ in internet.reached})
    return found


if __name__ == "__main__":
    os.environ["RES_OPTIONS"] = "timeout:1 attempts:1"
    make_everything_local()
    print(json.dumps(asyncio.run(run())))
