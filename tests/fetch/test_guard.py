import json
from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import SettingsError
from gossamer.fetch.guard import BAD_PORTS, AddressGuard, forbidden_port
from support.rows import each_row
from support.shared import suite

NAMES = {
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "::1": "loopback",
    "10.0.0.1": "private",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.168.1.1": "private",
    "169.254.0.1": "link-local",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local",
    "169.254.169.254": "metadata",
    "100.100.100.200": "metadata",
    "192.0.0.192": "metadata",
    "168.63.129.16": "metadata",
    "fd00:ec2::254": "metadata",
    "224.0.0.1": "multicast",
    "ff02::1": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "broadcast",
    "0.0.0.0": "this network",
    "0.1.2.3": "this network",
    "::": "unspecified",
    "100.64.0.1": "shared",
    "192.0.0.8": "protocol assignments",
    "192.0.2.1": "documentation",
    "2001:db8::1": "documentation",
    "3fff::1": "documentation",
    "198.18.0.1": "benchmarking",
    "2001:2::1": "benchmarking",
    "fc00::1": "unique local",
    "fd12:3456::1": "unique local",
    "fec0::1": "site-local",
    "100::1": "discard",
    "5f00::1": "reserved",
    "2001:20::1": "protocol assignments",
    "::ffff:127.0.0.1": "loopback",
    "::ffff:7f00:1": "loopback",
    "::ffff:169.254.169.254": "metadata",
    "::127.0.0.1": "loopback",
    "::8.8.8.8": "reserved",
    "2002:7f00:1::": "loopback",
    "2002:a9fe:a9fe::1": "metadata",
    "64:ff9b::10.0.0.1": "private",
    "64:ff9b:1::a00:1": "NAT64",
    "64:ff9b:1:808:8:800::": "NAT64",
    "2001:0:7f00:1::f7f7:f7f7": "loopback",
    "2001:0:808:808::f5ff:fffe": "private",
    "2a00::5efe:10.0.0.1": "private",
    "2a00::200:5efe:10.0.0.1": "private",
}
PUBLIC = (
    *("1.1.1.1", "8.8.8.8", "172.32.0.1", "172.15.255.255", "100.128.0.1", "100.63.255.255"),
    *("192.0.1.1", "198.20.0.1", "223.255.255.255", "11.0.0.1", "128.0.0.1", "169.253.1.1"),
    *("2606:4700::1111", "2a00:1450:4001:800::200e", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"),
    *("2002:808:808::1", "2001:200::1", "2001:4860:4860::8888"),
)


@each_row("address", NAMES)
def test_an_address_that_is_not_public_is_refused_by_name(address: str) -> None:
    sentence = AddressGuard().forbids(address, is_trusted=False)

    assert sentence is not None
    assert NAMES[address] in sentence
    assert address in sentence


@each_row("address", PUBLIC)
def test_a_public_address_may_be_asked(address: str) -> None:
    assert AddressGuard().forbids(address, is_trusted=False) is None


def test_a_typed_host_may_be_private_but_must_be_a_host() -> None:
    guard = AddressGuard()
    refused = {
        address for address in NAMES if guard.forbids(address, is_trusted=True, is_literal=True)
    }

    assert refused == {
        *("224.0.0.1", "ff02::1", "255.255.255.255", "0.0.0.0", "0.1.2.3", "::"),
    }


def test_an_allowed_network_holds_inside_ipv6_too_and_for_nothing_else() -> None:
    guard = AddressGuard(["10.0.0.0/8", " fd00::/16 ", "127.0.0.1"])

    for address in ("10.9.9.9", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "fd00::1", "127.0.0.1"):
        assert guard.forbids(address, is_trusted=False) is None, address
    for address in ("192.168.0.1", "::ffff:127.0.0.2", "fd01::1", "127.0.0.2"):
        assert guard.forbids(address, is_trusted=False) is not None, address


def test_all_that_an_address_carries_must_be_allowed() -> None:
    server_and_client = "2001:0:a00:1::80ff:fffe"  # 10.0.0.1 and 127.0.0.1

    assert AddressGuard(["10.0.0.0/8"]).forbids(server_and_client, is_trusted=False) is not None
    assert (
        AddressGuard(["10.0.0.0/8", "127.0.0.0/8"]).forbids(server_and_client, is_trusted=False)
        is None
    )


def test_no_allowed_network_makes_a_host_of_multicast() -> None:
    guard = AddressGuard(["0.0.0.0/0", "::/0"])

    assert guard.forbids("127.0.0.1", is_trusted=False) is None
    for address in ("0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "::ffff:0.0.0.0"):
        assert guard.forbids(address, is_trusted=False) is not None, address


@each_row("text", ["", "localhost", "127.1", "0x7f000001", "0177.0.0.1", "1.2.3.4\0"])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert "not an address" in (AddressGuard().forbids(text, is_trusted=True) or "")


@each_row("text", ["10.0.0.0/33", "intranet", "", "10.0.0.0-10.0.0.9"])
def test_a_network_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(SettingsError, match="must name a network") as caught:
        AddressGuard([text])

    assert caught.value.key == "fetch.allow_private"


def test_the_cache_does_not_mix_up_who_asks_and_does_not_grow() -> None:
    guard = AddressGuard()

    for n in range(25_000):
        guard.forbids(str(IPv4Address(n * 1000)), is_trusted=False)

    assert guard.forbids("10.0.0.1", is_trusted=True) is None
    assert guard.forbids("10.0.0.1", is_trusted=False) is not None
    assert guard.forbids("10.0.0.1", is_trusted=True) is None
    assert len(guard._verdicts) <= 10_000


def test_addresses_that_advocate_refuses_are_refused() -> None:
    cases = json.loads((suite("ssrf") / "advocate_addresses.json").read_text())
    guard = AddressGuard()

    for text in cases["blocked_networks"]:
        network = ip_network(text)
        for n in (0, 1, network.num_addresses // 2, network.num_addresses - 1):
            assert guard.forbids(str(network[n]), is_trusted=False), (text, n)
    for address in cases["blocked_addresses"]:
        assert guard.forbids(address, is_trusted=False), address
    for address in cases["allowed_addresses"]:
        assert guard.forbids(address, is_trusted=False) is None, address


@given(st.ip_addresses(v=4))
def test_an_address_that_python_calls_private_is_never_called_public(address: IPv4Address) -> None:
    verdict = AddressGuard().forbids(str(address), is_trusted=False)

    assert address.is_global or verdict is not None or str(address).startswith("192.0.0.")


@given(st.ip_addresses(v=4))
def test_a_mapped_address_is_judged_as_what_it_carries(address: IPv4Address) -> None:
    guard = AddressGuard()
    mapped = str(IPv6Address(0xFFFF << 32 | int(address)))

    plain = guard.forbids(str(address), is_trusted=False)
    assert (guard.forbids(mapped, is_trusted=False) is None) == (plain is None)


@each_row("port", [80, 443, 8080, 8443, 8000, 3000, 65_535])
def test_a_web_port_may_be_asked(port: int) -> None:
    assert forbidden_port(port) is None


@each_row("port", [0, 22, 25, 6000, 6667, 10_080])
def test_a_port_of_another_protocol_is_never_asked_even_when_listed(port: int) -> None:
    assert "never used" in (forbidden_port(port, allowed=(port,)) or "")


def test_when_ports_are_listed_no_other_is_asked() -> None:
    assert forbidden_port(80, allowed=(80, 443)) is None
    assert "fetch.ports (80, 443)" in (forbidden_port(8080, allowed=(80, 443)) or "")


@pytest.mark.parametrize("port", [-1, 65_536])
def test_there_are_ports_up_to_65535(port: int) -> None:
    assert forbidden_port(port) == f"port {port} does not exist"


def test_the_list_of_bad_ports_is_whole() -> None:
    assert len(BAD_PORTS) == 83


BY_ADDRESS_ONLY = (
    *("169.254.169.254", "169.254.1.1", "fe80::1", "192.0.0.192", "fd00:ec2::254"),
    *("100.100.100.200", "168.63.129.16", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"),
)


@each_row("address", BY_ADDRESS_ONLY)
def test_metadata_and_link_local_addresses_are_never_reached_by_a_typed_name(address: str) -> None:
    assert AddressGuard().forbids(address, is_trusted=True) is not None
    assert AddressGuard().forbids(address, is_trusted=True, is_literal=True) is None
    assert AddressGuard([address]).forbids(address, is_trusted=True) is None


@each_row("address", ["127.0.0.1", "10.0.0.1", "192.168.1.1", "fd00::1", "::1"])
def test_a_typed_name_may_lead_to_the_networks_of_the_operator(address: str) -> None:
    assert AddressGuard().forbids(address, is_trusted=True) is None
