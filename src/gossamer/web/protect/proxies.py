"""Determine the client address behind reverse proxies.

Behind a proxy every visitor has its address, and five wrong guesses of one would lock out all
others. The `X-Forwarded-For` header is trusted only from a proxy that the operator names; from any
other peer it could contain anything, and the address of the connection counts.

Pure: addresses in, one address out.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gossamer.errors import UsageError

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Proxies:
    """The trusted proxies."""

    networks: tuple[_Network, ...] = ()

    def trusts(self, host: str) -> bool:
        address = _address_in(host)
        return address is not None and any(address in network for network in self.networks)

    def client(self, peer: str, forwarded: Sequence[str]) -> str:
        """Return the client, if `peer` has connected and sent these `X-Forwarded-For` headers.

        Each proxy appends the address of its peer. So the last address that is not a trusted proxy
        is the client; addresses before it are only its claim.
        """
        hops = [hop for line in forwarded for hop in line.split(",")]
        client = peer
        while self.trusts(client) and hops:
            address = _address_in(hops.pop())
            if address is None:
                break  # a proxy may write `unknown`
            client = str(address)
        return client


def read_proxies(texts: Iterable[str]) -> Proxies:
    """Parse addresses and networks. Raises UsageError."""
    networks = []
    for text in texts:
        try:
            networks.append(ipaddress.ip_network(text.strip(), strict=False))
        except ValueError:
            wanted = "an address or a network, such as 127.0.0.1 or 10.0.0.0/8"
            raise UsageError(f"{text!r} is not a proxy address; use {wanted}") from None
    return Proxies(tuple(networks))


def _address_in(hop: str) -> _Address | None:
    """Return the address in `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`."""
    text = hop.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    # A dual-stack socket reports 192.0.2.1 as ::ffff:192.0.2.1.
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
