"""Whose a host is."""

import subprocess
import sys

from gossamer.urls.site import display_host, is_address, is_public_name, site_of
from support.rows import each_row


@each_row(
    ("host", "site"),
    [
        ("www.example.org", "example.org"),
        ("example.org", "example.org"),
        ("example.org.", "example.org"),
        ("news.bbc.co.uk", "bbc.co.uk"),
        ("a.github.io", "a.github.io"),
        ("x.a.github.io", "a.github.io"),
        ("co.uk", "co.uk"),
        ("org", "org"),
        ("intranet", "intranet"),
        ("localhost", "localhost"),
        ("a.localhost", "a.localhost"),
        ("x.a.localhost", "a.localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("www.xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("a..org", "a..org"),
    ],
)
def test_a_host_belongs_to_its_registrable_domain(host: str, site: str) -> None:
    assert site_of(host) == site


@each_row(
    ("host", "is_one"), [("1.2.3.4", True), ("[::1]", True), ("a1", False), ("4.example", False)]
)
def test_addresses_are_told_from_names(host: str, is_one: bool) -> None:
    assert is_address(host) is is_one


@each_row(
    ("host", "shown"),
    [
        ("xn--bcher-kva.example", "bücher.example"),
        ("example.org", "example.org"),
        ("[::1]", "[::1]"),
        ("xn--a.example", "xn--a.example"),
    ],
)
def test_people_see_the_name_as_they_write_it(host: str, shown: str) -> None:
    assert display_host(host) == shown


@each_row(
    ("host", "is_one"),
    [
        ("example.org", True),
        ("www.bbc.co.uk.", True),
        ("nas.lan", False),
        ("x.invalid", False),
        ("a.localhost", False),
        ("localhost", False),
        ("intranet", False),
        ("10.0.0.1", False),
        ("[::1]", False),
    ],
)
def test_a_name_below_a_public_suffix_is_somebodys(host: str, is_one: bool) -> None:
    assert is_public_name(host) == is_one


def test_importing_does_not_read_the_list() -> None:
    code = "import gossamer.urls.site as s; print(s._suffixes.cache_info().currsize)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "0"
