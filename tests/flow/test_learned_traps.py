"""Sites that make pages without end: a crawl ends, fetches what is real, and says why."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.a_crawl import crawl
from support.a_site import Request, Site, page, site_in_thread
from support.killing import started, typed, until

REAL = 60
MOST = 2_000  # a crawl that does not end stops here
QUICK = ("--delay", "0", "--set", "politeness.address_delay_s=0", "--set", "node.workers=0")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August")
LAMPS = tuple(f"A {word} lamp for the hall" for word in ("red", "blue", "green", "tall", "old"))
RNG = random.Random(3)
WORDS = tuple("".join(RNG.choice("abdeilmnorstu") for _ in range(6)) for _ in range(4_000))
NUMBERS = itertools.count()


def real(number: int, trap: str) -> bytes:
    """A page that somebody wrote: words of its own, among those of the others."""
    own = " ".join(WORDS[number * 30 : number * 30 + 30])
    near = " ".join(f"<a href=/page/{next_}>x</a>" for next_ in (number * 2 + 1, number * 2 + 2))
    links = near if number * 2 + 2 < REAL else ""
    way = f"<a href={trap}>more</a>" if number % 5 == 0 else ""
    return page(f"<p>The manual of the house, part {number}<p>{own}{links}{way}")


def calendar(target: str) -> bytes:
    month = int(target.rpartition("/")[2] or 0)
    text = f"<p>{MONTHS[month % 8]} {1990 + month // 8}<p>Nothing is on in the valley this month"
    return page(f"{text}<a href=/calendar/{month + 1}>n</a><a href=/calendar/{month + 12}>y</a>")


def session(_target: str) -> bytes:
    links = "".join(f"<a href=/page/0?sid={RNG.getrandbits(60):x}>x</a>" for _ in range(3))
    return page("<p>The manual of the house, part 0<p>" + " ".join(WORDS[:30]) + links)


def parameters(_target: str) -> bytes:
    names = [RNG.sample(("sort", "view", "size", "page", "brand"), 3) for _ in range(4)]
    links = "".join(
        "<a href=/lamps?" + "&".join(f"{name}={RNG.randint(1, 99)}" for name in some) + ">x</a>"
        for some in names
    )
    return page("".join(f"<p>{line}" for line in RNG.sample(LAMPS, 4)) + links)


def soft_404(target: str) -> bytes:
    links = "".join(f"<a href=/find/{RNG.choice(WORDS)}{next(NUMBERS)}>x</a>" for _ in range(3))
    return page(f"<p>There is nothing at {target} and we are sorry for that<p>Try these{links}")


def random_words(_target: str) -> bytes:
    text = " ".join(RNG.choice(WORDS[:900]) for _ in range(120))
    links = "".join(f"<a href=/{RNG.choice(WORDS)}-{next(NUMBERS)}.html>x</a>" for _ in range(3))
    return page(f"<p>{text}{links}")


def depth(target: str) -> bytes:
    ways = "".join(f"<a href={target.rstrip('/')}/{turn}>x</a>" for turn in ("left", "right"))
    return page(f"<p>You stand between hedges<p>There are ways to the left and to the right{ways}")


def mirror(target: str) -> bytes:
    """A page that was there before, below one more folder each time."""
    number = int(target.rpartition("/")[2]) % REAL
    text = f"<p>The manual of the house, part {number}<p>{' '.join(WORDS[number * 30 :][:30])}"
    folder = f"/copy{next(NUMBERS)}/page"
    return page(text + "".join(f"<a href={folder}/{number + step}>x</a>" for step in (1, 2)))


TRAPS: dict[str, tuple[str, Callable[[str], bytes]]] = {
    "calendar": ("/calendar/0", calendar),
    "session": ("/page/0?sid=1", session),
    "parameters": ("/lamps?sort=1", parameters),
    "soft 404": ("/find/x", soft_404),
    "random words": ("/a-0.html", random_words),
    "depth": ("/maze/", depth),
    "mirror": ("/copy/page/0", mirror),
}


def answering(kind: str) -> Callable[[Request], bytes]:
    trap, make = TRAPS[kind]

    def answer(request: Request) -> bytes:
        target = request.target
        if target == "/":
            return real(0, trap)
        if target.startswith("/page/") and "?" not in target:
            return real(int(target.rpartition("/")[2]), trap)
        return make(target)

    return answer


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    with site_in_thread(
        {"/robots.txt": page("", "404 Not Found"), "*": answering(request.param)}
    ) as made:
        yield made


def real_pages(site: Site) -> int:
    return len({path for path in site.asked if path.startswith("/page/") and "?" not in path})


def reached(site: Site) -> int:
    """The number of requests until all real pages were requested."""
    left = {path for path in site.asked if path.startswith("/page/") and "?" not in path}
    for number, path in enumerate(site.asked, 1):
        left.discard(path)
        if not left:
            return number
    return len(site.asked)


@pytest.mark.slow
@pytest.mark.parametrize("site", TRAPS, indirect=True)
@pytest.mark.parametrize("workers", [0, 2])
def test_a_crawl_of_each_kind_of_trap_ends(site: Site, collection: Path, workers: int) -> None:
    summary = crawl(
        collection,
        [site.url()],
        node__workers=workers,
        limits__max_pages=MOST,
        frontier__trap_budget=50,
    )

    assert summary.stopped == "done"
    assert real_pages(site) == REAL - 2  # `/` is page 0, and the last has no partner
    assert summary.by_reason["trap"] > 0
    assert summary.fetched < MOST / 2
    if "/a-0.html" not in site.asked:  # real pages of this site are random words, too
        assert reached(site) <= 1.5 * REAL


@pytest.mark.slow
@pytest.mark.parametrize("site", ["calendar"], indirect=True)
def test_without_a_budget_nothing_is_refused(site: Site, collection: Path) -> None:
    summary = crawl(collection, [site.url()], limits__max_pages=400, frontier__trap_budget=0)

    assert summary.stopped == "max-pages"
    assert "trap" not in summary.by_reason


@pytest.mark.slow
@pytest.mark.parametrize("site", ["soft 404"], indirect=True)
def test_a_crawl_without_texts_ends_too(site: Site, collection: Path) -> None:
    summary = crawl(
        collection,
        [site.url()],
        node__index=False,
        node__graph=False,
        limits__max_pages=MOST,
        frontier__trap_budget=50,
    )

    assert (summary.stopped, real_pages(site)) == ("done", REAL - 2)


def crawled(collection: Path, site: Site, *more: str) -> None:
    budget = ("--set", "frontier.trap_budget=50", "--max-pages", str(MOST))
    done = typed("crawl", "-c", collection, *QUICK, *budget, site.url(), *more)
    assert done.code == 0, done.err


def refused_in(collection: Path) -> list[str]:
    lines = (collection / "log" / "crawl.jsonl").read_text(encoding="utf-8").splitlines()
    return [line["url"] for line in map(json.loads, lines) if line.get("reason") == "trap"]


@pytest.mark.slow
@pytest.mark.parametrize("site", ["calendar"], indirect=True)
def test_a_verdict_is_explained_and_the_operator_can_withdraw_it(
    site: Site, collection: Path
) -> None:
    crawled(collection, site)
    asked = len(site.asked)
    url = refused_in(collection)[0]

    why = typed("why", "-c", collection, url).out
    status = typed("status", "-c", collection).out
    assert "no new text" in why
    assert "gossamer trust" in why
    assert "trap: 127.0.0.1" in status
    assert "such as a calendar" in status

    assert typed("trust", "-c", collection, url).out.strip() == url
    crawled(collection, site)
    assert site.asked.count(url.removeprefix(site.url().rstrip("/"))) == 1
    assert len(site.asked) > asked
    assert "is fetched" in typed("why", "-c", collection, url).out
    assert typed("trust", "-c", collection, "--lift", url).err.startswith("No URLs")


@pytest.mark.slow
@pytest.mark.parametrize("site", ["parameters"], indirect=True)
def test_verdicts_survive_kills(site: Site, collection: Path) -> None:
    command = ("crawl", "-c", collection, *QUICK, "--set", "frontier.trap_budget=50", site.url())
    for requests in (80, 130, 180):
        with started(*command) as running:
            until(lambda: len(site.log) >= requests or running.poll() is not None)  # noqa: B023
            running.kill()
    crawled(collection, site)

    assert real_pages(site) == REAL - 2
    assert len(site.asked) < MOST / 2
    assert len(refused_in(collection)) > 0
    assert typed("verify", "-c", collection).code == 0
