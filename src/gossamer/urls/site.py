"""The site of a host: its registrable domain.

That is the public suffix (from the list that browsers use, in the version of the package
publicsuffixlist; no network access) plus one label. `a.github.io` and `b.github.io` are two sites,
`www.bbc.co.uk` and `bbc.co.uk` are one. An address, a single label and a public suffix are their
own sites. `localhost` counts as a public suffix, so that `a.localhost` and `b.localhost`, as in the
demo, are two sites.
"""

from __future__ import annotations

from functools import cache, lru_cache

import ada_url
from publicsuffixlist import PublicSuffixList


@lru_cache(maxsize=65_536)
def site_of(host: str) -> str:
    """The site of a host in canonical form, without a final dot."""
    name = host.removesuffix(".")
    if is_address(name):
        return name
    if name.endswith(".localhost"):
        return ".".join(name.rsplit(".", 2)[-2:])
    # None if there is nothing above the suffix, or a label is empty.
    found: str | None = _suffixes().privatesuffix(name)
    return found or name


def last_labels(host: str) -> str:
    """The last two labels of a name, or an address. Hosts of one site have the same, and hosts of
    others may. Needs no list.
    """
    return host if is_address(host) else ".".join(host.rsplit(".", 2)[-2:])


def is_public_name(host: str) -> bool:
    """Whether a name is below a suffix of the list, so that it has an owner, whether or not it can
    be resolved: not `nas.lan`, `x.invalid` or `localhost`.
    """
    return _suffixes().privatesuffix(host.removesuffix("."), accept_unknown=False) is not None


def is_address(host: str) -> bool:
    """Whether a canonical host is an IPv4 or IPv6 address: no name ends in a number."""
    return host[:1] == "[" or (host[-1:].isdigit() and host.rpartition(".")[2].isdigit())


def display_host(host: str) -> str:
    """The host in readable form: `bücher.example` for `xn--bcher-kva.example`."""
    return ada_url.idna_to_unicode(host) if "xn--" in host else host


@cache
def _suffixes() -> PublicSuffixList:
    """The list. Loading takes 45 ms, so it is loaded on first use."""
    return PublicSuffixList()
