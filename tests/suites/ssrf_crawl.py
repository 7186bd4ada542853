"""A crawl over pages that lead to everything it must not ask, in an internet of its own.

Prints as JSON which addresses were connected to and what became of every URL.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from html import escape
from pathlib import Path

from flow.outcomes import HurriedClock, outcomes
from support.a_crawl import crawl_in_loop
from support.a_site import page, redirect
from support.own_internet import Internet, an_internet, in_networks, make_everything_local

PUBLIC = "93.184.216.34"
ROBOTS_NETWORK = "93.184.217"  # an address for each host, so that none waits for another
METADATA = (
    "metadata.google.internal",
    "metadata",
    "metadata.packet.net",
    "metadata.tencentyun.com",
)


def literal(address: str) -> str:
    return f"http://[{address}]/" if ":" in address else f"http://{address}/"


def links(urls: list[str]) -> bytes:
    return page("".join(f'<a href="{escape(url)}">x</a>' for url in urls))


def internet_of(addresses: list[str], urls: list[str]) -> Internet:
    """Every way there is: a link, a redirect, a name, a name that changes, robots, a sitemap."""
    bad = [*urls, *map(literal, addresses)]
    moved = {f"/moved/{n}": redirect(url) for n, url in enumerate(bad)}
    named = {f"n{n}.evil.example": (address,) for n, address in enumerate(addresses)}
    both = {f"b{n}.evil.example": (address, PUBLIC) for n, address in enumerate(addresses)}
    robots = {f"r{n}.evil.example": {"/robots.txt": redirect(url)} for n, url in enumerate(bad)}
    changing = [f"http://changing.example/{n}" for n in range(6)]
    far = [f"http://{name}/" for name in (*named, *both, *robots)]
    sitemap = "".join(f"<url><loc>{url.replace('&', '&amp;')}</loc></url>" for url in bad)
    maps = "".join(f"Sitemap: {url}\n" for url in bad)
    return Internet(
        names={
            "start.example": (PUBLIC,),
            "changing.example": [(PUBLIC,), ("169.254.169.254",)],
            "ip6-localhost": ("::1",),
            "ip6-loopback": ("::1",),
            **dict.fromkeys(METADATA, ("169.254.169.254",)),
            **named,
            **both,
            **{name: (f"{ROBOTS_NETWORK}.{n}",) for n, name in enumerate(robots)},
        },
        pages={
            "start.example": {
                "/": links([*bad, *far, *moved, *changing]),
                "/robots.txt": page(f"Sitemap: http://start.example/map.xml\n{maps}"),
                "/map.xml": page(
                    f"<urlset>{sitemap}</urlset>", headers={"content-type": "text/xml"}
                ),
                **moved,
            },
            **robots,
            "*": {"*": page("<title>inner</title>")},
        },
    )


async def run(home: Path) -> dict[str, object]:
    held = json.loads((home / "advocate_addresses.json").read_text())
    addresses = [*held["blocked_addresses"], *in_networks(held["blocked_networks"])]
    urls = [row["url"] for row in json.loads((home / "bypass_urls.json").read_text())]
    urls += json.loads((home / "cloud_metadata_urls.json").read_text())
    internet = internet_of(addresses, urls)
    clock = HurriedClock(times=200.0)
    named = {
        "scope.kind": "any",
        "limits.max_time_s": 60 * clock.times,
        "fetch.contact": "test@example.org",
        "fetch.dns_keep_s": 0,
        "politeness.robots_tries": 1,
    }
    with tempfile.TemporaryDirectory() as folder:
        collection = Path(folder) / "collection"
        async with an_internet(internet):
            summary = await crawl_in_loop(collection, ["http://start.example/"], named, clock=clock)
        rows = outcomes(collection)
    return {
        "urls": len(urls),
        "stopped": summary.stopped,
        "reached": sorted({address for address, _ in internet.reached}),
        "asked": internet.asked,
        "outcomes": {url: f"{row.outcome} {row.reason}".strip() for url, row in rows.items()},
    }


if __name__ == "__main__":
    make_everything_local()
    print(json.dumps(asyncio.run(run(Path(sys.argv[1])))))
