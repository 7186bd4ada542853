"""Who is the client, where a proxy stands before us?

Behind a proxy every visitor comes from its address, and five wrong guesses of one would keep all
others out. A proxy that the operator names is believed when it says for whom it asks
(`X-Forwarded-For`); anybody else could write there what they like, and is called by the address
from which they come. By default nobody is believed.

Pure: told addresses, answers with one.
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
    """The proxies that are believed."""

    networks: tuple[_Network, ...] = ()

    def trusts(self, host: str) -> bool:
        address = _address_in(host)
        return address is not None and any(address in network for network in self.networks)

    def client(self, peer: str, forwarded: Sequence[str]) -> str:
        """Who asks, where `peer` has connected and sent these headers `X-Forwarded-For`.

        Each proxy writes at the end whom it was asked by. So the last that is no proxy of ours is
        the client, and what stands before it is only what that one claims.
        """
        hops = [hop for line in forwarded for hop in line.split(",")]
        client = peer
        while self.trusts(client) and hops:
            address = _address_in(hops.pop())
            if address is None:
                break  # a proxy that does not know says `unknown`
            client = str(address)
        return client


def read_proxies(texts: Iterable[str]) -> Proxies:
    """Addresses and networks as the operator types them. Raises UsageError."""
    networks = []
    for text in texts:
        try:
            networks.append(ipaddress.ip_network(text.strip(), strict=False))
        except ValueError:
            wanted = "an address or a network, as 127.0.0.1 or 10.0.0.0/8"
            raise UsageError(f"{text!r} names no proxy; it must be {wanted}") from None
    return Proxies(tuple(networks))


def _address_in(hop: str) -> _Address | None:
    """The address in `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`."""
    text = hop.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    # A socket for both kinds calls 192.0.2.1 ::ffff:192.0.2.1.
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
