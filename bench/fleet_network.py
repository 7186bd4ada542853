"""Machines behind firewalls: each unit in a network namespace that lets only outgoing traffic pass.

    with unit_network(10) as network:
        subprocess.Popen([*network.of_unit(3), "gossamer", "unit", "run", ...])
        network.cut(3); network.join(3)

One more namespace has the hub and the sites. Needs root on Linux, `ip` and `nft`; without them
`why_not` says what is missing. All names have the number of this process, and all namespaces are
deleted at the end.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

HUB_ADDRESS: Final = "10.213.0.1"
SITES: Final = "10.213.1"  # sites have the addresses from .1 on
MAX_SITES: Final = 200
_FIREWALL: Final = """
table inet outgoing {
  chain input {
    type filter hook input priority 0; policy drop;
    iif lo accept
    ct state established,related accept
  }
}
"""


def why_not() -> str:
    """What is missing for namespaces here; empty if nothing is."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "network namespaces need root on Linux"
    for program, package in (("ip", "iproute2"), ("nft", "nftables")):
        if shutil.which(program) is None:
            return f"{program} is not there; on Debian: apt-get install {package}"
    words = ["unshare", "--net", "nft", "list", "ruleset"]
    probe = subprocess.run(words, capture_output=True, check=False)
    return "" if probe.returncode == 0 else "this machine does not allow a network namespace"


@dataclass(frozen=True, slots=True)
class UnitNetwork:
    """The namespaces of a hub and its units."""

    name: str
    units: int

    @property
    def of_hub(self) -> list[str]:
        """The words that run a command where hub and sites are."""
        return ["ip", "netns", "exec", f"{self.name}h"]

    def of_unit(self, number: int) -> list[str]:
        """The words that run a command on the machine of a unit, counted from 0."""
        return ["ip", "netns", "exec", f"{self.name}u{number}"]

    def cut(self, number: int) -> None:
        """Pull the cable of a unit."""
        _run(*self.of_hub, "ip", "link", "set", f"u{number}", "down")

    def join(self, number: int) -> None:
        """Plug it in again."""
        _run(*self.of_hub, "ip", "link", "set", f"u{number}", "up")


@contextmanager
def unit_network(units: int) -> Iterator[UnitNetwork]:
    """Namespaces for so many units while the block runs."""
    network = UnitNetwork(f"gf{os.getpid()}", units)
    made: list[str] = []
    try:
        _make_hub(network, made)
        for number in range(units):
            _make_unit(network, number, made)
        yield network
    finally:
        for name in reversed(made):
            subprocess.run(["ip", "netns", "del", name], check=False)


def _make_hub(network: UnitNetwork, made: list[str]) -> None:
    name = f"{network.name}h"
    _run("ip", "netns", "add", name)
    made.append(name)
    inside = network.of_hub
    _run(*inside, "ip", "link", "set", "lo", "up")
    _run(*inside, "ip", "link", "add", "bridge", "type", "bridge")
    _run(*inside, "ip", "addr", "add", f"{HUB_ADDRESS}/16", "dev", "bridge")
    _run(*inside, "ip", "link", "set", "bridge", "up")
    for number in range(1, MAX_SITES + 1):
        _run(*inside, "ip", "addr", "add", f"{SITES}.{number}/32", "dev", "lo")


def _make_unit(network: UnitNetwork, number: int, made: list[str]) -> None:
    name = f"{network.name}u{number}"
    _run("ip", "netns", "add", name)
    made.append(name)
    hub, unit = network.of_hub, network.of_unit(number)
    end = f"u{number}"
    _run(*hub, "ip", "link", "add", end, "type", "veth", "peer", "name", "out", "netns", name)
    _run(*hub, "ip", "link", "set", end, "master", "bridge", "up")
    _run(*unit, "ip", "link", "set", "lo", "up")
    _run(
        *unit,
        "ip",
        "addr",
        "add",
        f"10.213.{2 + number // 200}.{1 + number % 200}/16",
        "dev",
        "out",
    )
    _run(*unit, "ip", "link", "set", "out", "up")
    subprocess.run([*unit, "nft", "-f", "-"], input=_FIREWALL, text=True, check=True)


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)
