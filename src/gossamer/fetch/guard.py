"""Decide whether an address and a port may be requested.

A page may link to anything, and a name may resolve to anything: to the machine that crawls, to its
network, to the credentials service of a cloud. So every address is checked when it is resolved and
again when it is connected to. The table is our own, after IANA's registries of special-purpose
addresses: `ipaddress.is_global` calls 192.0.0.192, the metadata address of one cloud, global.

An IPv6 address that contains an IPv4 address is checked by both. Only 2000::/3 is assigned to the
public, so everything else is refused, listed or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from gossamer.errors import SettingsError
from gossamer.settings import Fetch

IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network


def _named(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[IpNetwork, str], ...]:
    return tuple((ip_network(network), name) for network, name in pairs)


# Allowed only if the address itself was typed or allowed, never through a name.
_BY_ADDRESS: Final = frozenset({"cloud metadata", "link-local"})
# Not hosts: forbidden even if the operator types them.
_NEVER: Final = _named((
    ("0.0.0.0/8", "this network (unspecified)"),
    ("224.0.0.0/4", "multicast"),
    ("255.255.255.255/32", "broadcast"),
    ("::/128", "unspecified"),
    ("ff00::/8", "multicast"),
))  # fmt: skip
# The first network that contains the address names it, so narrow ones come first.
_PRIVATE: Final = _named((
    ("169.254.169.254/32", "cloud metadata"),
    ("169.254.170.2/32", "cloud metadata"),
    ("100.100.100.200/32", "cloud metadata"),
    ("192.0.0.192/32", "cloud metadata"),
    ("168.63.129.16/32", "cloud metadata"),
    ("fd00:ec2::254/128", "cloud metadata"),
    ("fd20:ce::254/128", "cloud metadata"),
    ("127.0.0.0/8", "loopback"),
    ("10.0.0.0/8", "private"),
    ("172.16.0.0/12", "private"),
    ("192.168.0.0/16", "private"),
    ("100.64.0.0/10", "shared between carriers and their customers"),
    ("169.254.0.0/16", "link-local"),
    ("192.0.0.0/24", "protocol assignments"),
    ("192.0.2.0/24", "documentation"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("192.88.99.0/24", "6to4 relays"),
    ("198.18.0.0/15", "benchmarking"),
    ("240.0.0.0/4", "reserved"),
    ("::1/128", "loopback"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local"),
    ("fc00::/7", "unique local (private)"),
    ("64:ff9b:1::/48", "local translation (NAT64)"),
    ("100::/64", "discard"),
    ("2001:db8::/32", "documentation"),
    ("3fff::/20", "documentation"),
    ("2001:2::/48", "benchmarking"),
))  # fmt: skip
_PUBLIC_V6: Final = IPv6Network("2000::/3")
_PROTOCOL_V6: Final = IPv6Network("2001::/23")
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_COMPATIBLE: Final = IPv6Network("::/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR: Final = IPv6Network("2002::/16")
_TEREDO: Final = IPv6Network("2001::/32")
_CACHE_SIZE: Final = 10_000

# Ports that a browser never requests (WHATWG Fetch, "bad port"): the service there could misread a
# request.
BAD_PORTS: Final = frozenset((
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
))  # fmt: skip


class AddressGuard:
    """Checks addresses. `allow_private` are the operator's networks that links may lead to.

    Without `typed_private` a typed host is checked like any other. `gossamer serve` starts crawls
    so, because users of its page need not be the operator of the machine.
    """

    def __init__(self, allow_private: Sequence[str] = (), *, typed_private: bool = True) -> None:
        """Raises SettingsError for an invalid network."""
        self._allowed = tuple(_network(text) for text in allow_private)
        self._typed_private = typed_private
        self._verdicts: dict[tuple[str, bool, bool], str | None] = {}

    def forbids(self, address: str, *, is_trusted: bool, is_literal: bool = False) -> str | None:
        """A sentence that names the forbidden network, or None if the address is allowed.

        `is_trusted`: the operator typed the host, so it may be private. Link-local and cloud
        metadata addresses are allowed only if they were typed themselves (`is_literal`): a name
        that another party resolves must not lead there.
        """
        key = (address, is_trusted, is_literal)
        try:
            return self._verdicts[key]
        except KeyError:
            pass
        if len(self._verdicts) >= _CACHE_SIZE:
            self._verdicts.clear()
        verdict = self._verdicts[key] = self._judge(
            address, is_trusted=is_trusted, is_literal=is_literal
        )
        return verdict

    def _judge(self, text: str, *, is_trusted: bool, is_literal: bool) -> str | None:
        try:
            address = ip_address(text.partition("%")[0])  # fe80::1%eth0
        except ValueError:
            return f"{text!r} is not an address"
        inside = tuple(embedded(address))
        for each in (address, *inside):
            name = _name_in(_NEVER, each)
            if name is not None:
                return _sentence(text, each, name)
        if self._allows(address):
            return None
        is_meant = is_trusted and self._typed_private
        for each in (*inside, address):
            name = _name_of(each)
            if name is None or self._allows(each):
                continue
            if not is_meant or (name in _BY_ADDRESS and not is_literal):
                return _sentence(text, each, name)
        return None

    def is_allowed(self, address: str) -> bool:
        """Whether it is in one of the operator's networks."""
        return self._allows(ip_address(address.partition("%")[0]))

    def _allows(self, address: IpAddress) -> bool:
        return any(address in network for network in self._allowed)


def guard_of(settings: Fetch) -> AddressGuard:
    """The guard for the settings of a crawl. Raises SettingsError."""
    return AddressGuard(settings.allow_private, typed_private=settings.typed_private)


def forbidden_port(port: int, allowed: Sequence[int] = ()) -> str | None:
    """A sentence why a port is forbidden, or None. `allowed`: if not empty, the only allowed
    ports.
    """
    if not 0 <= port <= 65_535:
        return f"port {port} does not exist"
    if port in BAD_PORTS:
        return f"port {port} belongs to a protocol other than HTTP and is never used"
    if allowed and port not in allowed:
        return f"port {port} is not in fetch.ports ({', '.join(map(str, allowed))})"
    return None


def embedded(address: IpAddress) -> Iterator[IPv4Address]:
    """The IPv4 addresses inside an IPv6 address that a gateway would contact.

    In 64:ff9b:1::/48 only the owner knows their position, so that network is refused as a whole.
    """
    if isinstance(address, IPv4Address):
        return
    bits = int(address)
    if address in _MAPPED or address in _NAT64 or (address in _COMPATIBLE and bits > 0xFFFF):
        yield _v4(bits)
    elif address in _SIX_TO_FOUR:
        yield _v4(bits >> 80)
    elif address in _TEREDO:
        yield _v4(bits >> 64)  # its server
        yield _v4(~bits)  # its client
    if bits >> 32 & 0xFDFF_FFFF == 0x0000_5EFE:  # ISATAP (RFC 5214)
        yield _v4(bits)


def _v4(bits: int) -> IPv4Address:
    return IPv4Address(bits & 0xFFFF_FFFF)


def _name_of(address: IpAddress) -> str | None:
    """The name of the non-public network that contains the address."""
    name = _name_in(_PRIVATE, address)
    if name is not None or isinstance(address, IPv4Address):
        return name
    if address in _MAPPED or address in _NAT64 or address in _TEREDO:
        return None  # checked by the address inside
    if address in _PROTOCOL_V6:
        return "protocol assignments"
    return None if address in _PUBLIC_V6 else "reserved"


def _name_in(table: tuple[tuple[IpNetwork, str], ...], address: IpAddress) -> str | None:
    return next((name for network, name in table if address in network), None)


def _sentence(text: str, judged: IpAddress, name: str) -> str:
    carried = "" if str(judged) == text else f" carries {judged}, which"
    return f"{text}{carried} is not public: {name}"


def _network(text: str) -> IpNetwork:
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError:
        raise SettingsError(
            "fetch.allow_private", f"names {text!r}, but it must name a network such as 10.0.0.0/8"
        ) from None
