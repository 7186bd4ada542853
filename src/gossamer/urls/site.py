"""Whose is a host?

Its site is its registrable domain: the public suffix (the list that browsers use, as it was when
the package publicsuffixlist was made; nothing is asked for) and one label more. `a.github.io` and
`b.github.io` are two sites, `www.bbc.co.uk` and `bbc.co.uk` are one. An address, a single label
and a public suffix are their own sites. `localhost` counts as a public suffix, so that
`a.localhost` and `b.localhost`, as in the demo, are two sites.
"""

from __future__ import annotations

from functools import cache, lru_cache

import ada_url
from publicsuffixlist import PublicSuffixList


@lru_cache(maxsize=65_536)
def site_of(host: str) -> str:
    """The site of a host in canonical form; the dot that may end a name is not part of it."""
    name = host.removesuffix(".")
    if is_address(name):
        return name
    if name.endswith(".localhost"):
        return ".".join(name.rsplit(".", 2)[-2:])
    # None where there is nothing above the suffix, or a label is empty.
    found: str | None = _suffixes().privatesuffix(name)
    return found or name


def last_labels(host: str) -> str:
    """The last two labels of a name, or an address: hosts of one site have the same, and hosts of
    others may. It needs no list."""
    return host if is_address(host) else ".".join(host.rsplit(".", 2)[-2:])


def is_public_name(host: str) -> bool:
    """Whether a name lies below a suffix of the list, so that it is somebody's, whether or not it
    can be resolved from here: not `nas.lan`, `x.invalid` or `localhost`."""
    return _suffixes().privatesuffix(host.removesuffix("."), accept_unknown=False) is not None


def is_address(host: str) -> bool:
    """Whether a canonical host is an IPv4 or IPv6 address: no name ends in a number."""
    return host[:1] == "[" or (host[-1:].isdigit() and host.rpartition(".")[2].isdigit())


def display_host(host: str) -> str:
    """The host as people read it: `bücher.example` for `xn--bcher-kva.example`."""
    return ada_url.idna_to_unicode(host) if "xn--" in host else host


@cache
def _suffixes() -> PublicSuffixList:
    """The list; reading it takes 45 ms, so not before a site is asked for."""
    return PublicSuffixList()
