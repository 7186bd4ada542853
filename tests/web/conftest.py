"""One small crawl for all tests of the web page: a friendly site with a hostile page in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.a_crawl import crawl
from support.a_site import answer, page, redirect, robots, site_in_thread
from web.a_browser import Served, served

SCRIPT = "<script>window.owned=1</script>"
HOSTILE = f"""<!doctype html><html lang=en><head>
<title>Evil &lt;script&gt;alert(1)&lt;/script&gt; title &quot;&gt;&lt;img src=x
onerror=alert(2)&gt;</title><base href="http://outside.example/">
<meta http-equiv=refresh content="0;url=http://outside.example/">
<link rel=preconnect href="//outside.example"><link rel=stylesheet href="//outside.example/a.css">
{SCRIPT}</head><body onload="alert(3)">
<h1>Hostile garden</h1><p>A hostile garden &lt;img src=x onerror=alert(4)&gt; of words.</p>
<a href="javascript:alert(5)" onclick="alert(6)" ping="//outside.example/p">run</a>
<a href="/roses" target=_top>&lt;b onmouseover=alert(7)&gt;roses</a>
<form action="//outside.example/"><button formaction="//outside.example/f">go</button></form>
<iframe src="//outside.example/" srcdoc="{SCRIPT}"></iframe>
<object data="//outside.example/o"></object><video src="//outside.example/v"></video>
<img src="//outside.example/i.png" onerror="alert(8)"><svg><script>alert(9)</script>
<a xlink:href="javascript:alert(10)"><text>x</text></a></svg><math><mtext><table><mglyph>
<style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(11)&gt;">
</body></html>"""


@dataclass(frozen=True)
class Garden:
    """A crawled collection and the root of its site, which is gone."""

    path: Path
    root: str

    def url(self, path: str) -> str:
        return self.root.rstrip("/") + path


@pytest.fixture(scope="session")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Garden:
    home = tmp_path_factory.mktemp("web") / "garden"
    pages = {
        "/robots.txt": robots("User-agent: *\nDisallow: /private"),
        "/": page(
            "<title>A garden</title><p>Roses and tulips grow in the garden.</p>"
            "<a href=/roses>red roses</a> <a href=/hostile>hostile</a> <a href=/private>no</a> "
            "<a href=/old>old</a> <a href=/plain.txt>plain</a> "
            "<a href=http://else.example/>else</a>"
        ),
        "/roses": page("<title>Roses</title><p>The rose garden is open.</p><a href=/>home</a>"),
        "/hostile": page(HOSTILE, headers={"X-Odd": "<script>alert(12)</script>"}),
        "/plain.txt": answer(
            b"plain <script>alert(13)</script> words", headers={"content-type": "text/plain"}
        ),
        "/old": redirect("/roses"),
    }
    with site_in_thread(pages) as site:
        root = site.url()
        crawl(home, [root], fetch__types=("any",))
    return Garden(home, root)


@pytest.fixture
def server(garden: Garden) -> Iterator[Served]:
    """Open on loopback, as by default."""
    made = served(garden.path)
    yield made
    made.context.collections.close()
