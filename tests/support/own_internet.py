"""A whole internet inside one network namespace: every address is this machine.

Run as a program below `unshare`: every address that the crawl connects to, IPv4 or IPv6, public or
not, is answered here and recorded, and so is every name. Nothing leaves the namespace, so a test
can prove what was reached and what was not.

    names:  a name -> its addresses, or a list of such answers that are given in turn
    pages:  a host -> its answers, by path; `*` is any other path or host
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.answers import NOT_FOUND

PORTS = (22, 80, 443, 8080)
Addresses = tuple[str, ...]
_A, _AAAA = 1, 28


@dataclass
class Internet:
    """Its content, and the requests it received."""

    names: Mapping[str, Addresses | list[Addresses]]
    pages: Mapping[str, Mapping[str, bytes]]
    reached: list[tuple[str, int]] = field(default_factory=list)  # address and port connected to
    asked: list[tuple[str, str, str]] = field(default_factory=list)  # address, host, path
    looked_up: list[str] = field(default_factory=list)

    def addresses_of(self, name: str) -> Addresses:
        """The addresses of a name now. Answers in turn advance with each query for IPv4."""
        held = self.names.get(name, ())
        if not isinstance(held, list):
            return held
        return held[min(max(self.looked_up.count(name) - 1, 0), len(held) - 1)]


def run_within(program: Path, *arguments: str) -> str:
    """The output of a program that runs in its own network; skips if that is impossible."""
    if not sys.platform.startswith("linux") or shutil.which("unshare") is None:
        pytest.skip("needs network namespaces: Linux with unshare")
    if shutil.which("ip") is None:
        pytest.skip("ip is not there; on Debian: apt-get install iproute2")
    command = ["unshare", "--map-root-user", "--net", sys.executable, str(program), *arguments]
    if subprocess.run([*command[:3], "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine does not allow a network namespace")
    own = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    made = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env=own
    )
    assert made.returncode == 0, made.stderr
    return made.stdout


def make_everything_local() -> None:
    """Inside the namespace: make all addresses local."""
    for command in (
        "ip link set lo up",
        "ip route add local 0.0.0.0/0 dev lo",
        "ip -6 route add local ::/0 dev lo",
    ):
        subprocess.run(command.split(), check=True)


@asynccontextmanager
async def an_internet(internet: Internet, *, serves_names: bool = True) -> AsyncIterator[None]:
    """Serve names and pages until the block ends; `serves_names`: also DNS."""
    if serves_names:
        names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        names.bind(("0.0.0.0", 53))
        threading.Thread(target=_serve_names, args=(internet, names), daemon=True).start()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _talk(internet, reader, writer)

    servers = [
        await asyncio.start_server(connected, host, port)
        for host in ("0.0.0.0", "::")
        for port in PORTS
    ]
    try:
        yield
    finally:
        for server in servers:
            server.close()


async def _talk(
    internet: Internet, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    address, port = writer.get_extra_info("sockname")[:2]
    internet.reached.append((address, port))
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, OSError):
        writer.close()
        return
    lines = head.split("\r\n")
    path = lines[0].split(" ")[1]
    host = next((line[5:].strip() for line in lines if line.lower().startswith("host:")), "")
    internet.asked.append((address, host, path))
    pages = internet.pages.get(host, internet.pages.get("*", {}))
    status, _, rest = pages.get(path, pages.get("*", NOT_FOUND)).partition(b"\r\n")
    # else the client reuses the connection
    writer.write(status + b"\r\nconnection: close\r\n" + rest)
    await writer.drain()
    writer.close()


def _serve_names(internet: Internet, served: socket.socket) -> None:
    while True:
        question, peer = served.recvfrom(1500)
        served.sendto(_name_answer(internet, question), peer)


def _name_answer(internet: Internet, question: bytes) -> bytes:
    """A DNS response to a query; without addresses it is `no such name`."""
    labels, at = [], 12
    while question[at]:
        labels.append(question[at + 1 : at + 1 + question[at]].decode("ascii"))
        at += 1 + question[at]
    name, kind = ".".join(labels).lower(), int.from_bytes(question[at + 1 : at + 3], "big")
    if kind == _A:
        internet.looked_up.append(name)
    addresses = internet.addresses_of(name)
    answers = [address.packed for text in addresses if _fits(address := _address(text), kind)]
    flags = b"\x81\x80" if addresses else b"\x81\x83"
    counts = b"\x00\x01" + len(answers).to_bytes(2, "big") + bytes(4)
    rows = (b"\xc0\x0c" + kind.to_bytes(2, "big") + b"\x00\x01" + bytes(4) for _ in answers)
    records = (row + len(a).to_bytes(2, "big") + a for row, a in zip(rows, answers, strict=True))
    return question[:2] + flags + counts + question[12 : at + 5] + b"".join(records)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(text)


def _fits(address: ipaddress.IPv4Address | ipaddress.IPv6Address, kind: int) -> bool:
    return (address.version == 4) == (kind == _A) and kind in (_A, _AAAA)


def in_networks(networks: Sequence[str]) -> list[str]:
    """The first, a middle and the last address of each network."""
    found = []
    for text in networks:
        network = ipaddress.ip_network(text)
        found += [str(network[0]), str(network[network.num_addresses // 2]), str(network[-1])]
    return found
