"""Pages as the web has them, visited ten times: noise does not count, an edit beside it does."""

from __future__ import annotations

import hashlib
import random
from datetime import UTC, datetime, timedelta

from gossamer.compare.template import template_of
from gossamer.compare.versions import PageVersion, change_of, compare_versions
from gossamer.parse.html import Parser
from gossamer.policies.noise import MOST_SPOTS, TemplateNoise, without_noise
from gossamer.records import ChangedSpot, PageChange
from gossamer.settings import Parse
from support.rows import each_row

START = datetime(2026, 11, 1, 9, 30, tzinfo=UTC)
ADS = (
    "Buy comfortable shoes at Walkers today",
    "Fly to Spain from 49 euro, book now",
    "Ten recipes for pumpkin soup that you must try",
    "Your new kitchen awaits",
    "Insurance that understands you",
)
URL = "http://a.example/news/{}.html"
PARSER = Parser(Parse())


def html_of(article: str, when: datetime, visit: int, chance: random.Random) -> str:
    """A page with all kinds of noise around an article."""
    token = hashlib.sha256(f"{visit}{article}".encode()).hexdigest()
    ads = ADS[visit % 5], ADS[visit * 2 % 5]
    return f"""<title>News ({chance.randrange(99)} views)</title>
      <header>Today is {when:%A, %d %B %Y}</header>
      <nav><a href=/>Home</a> <a href="/login?csrf={token[:20]}">Log in</a></nav>
      <form><input type=hidden name=csrf value={token}></form>
      <main><article><h1>A title</h1>{article}
      <p>Posted {visit + 2} hours ago by Ann</p><p>Viewed {1200 + 7 * visit} times,
      {chance.randrange(1, 40)} users online</p></article>
      <aside>Advertisement<p>{ads[0]} <a href="http://ads.example/{chance.random()}">more</a></p></aside>
      </main><footer>Session {token[:32]}<p>Related: {ads[1]}</p><p>Page generated in 0.0{visit} s
      at {when:%H:%M:%S}</p>© {when:%Y} The paper <a href=/imprint>Imprint</a></footer>"""


ARTICLE = "<p>The museum opens its new wing in spring.</p><p>Entry costs 12 euro for adults.</p>"


class Watched:
    """Pages of one template, and what is known of their noise."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.noise = TemplateNoise()
        self.last: dict[str, PageVersion] = {}
        self.visits = 0

    def visit(self, name: str, article: str) -> bool:
        """Visit a page a day later; whether its change counts. The first visit counts."""
        when = START + timedelta(days=self.visits, seconds=977 * self.visits)
        self.visits += 1
        url = URL.format(name)
        body = html_of(article, when, self.visits, self.chance).encode()
        page = PARSER.parse(url, "text/html; charset=utf-8", body)
        new = PageVersion(page, round(when.timestamp() * 1e6))
        old, self.last[name] = self.last.get(name), new
        if old is None:
            return True
        change = change_of(compare_versions(old, new), template_of(url, body))
        counts = without_noise(change, self.noise).counts
        self.noise.visited(url.encode(), change)
        return counts


@each_row("seed", range(8))
def test_of_ten_visits_with_noise_alone_the_first_two_count_at_most(seed: int) -> None:
    watched = Watched(seed)
    watched.visit("one", ARTICLE)

    counted = [watched.visit("one", ARTICLE) for _ in range(10)]

    assert sum(counted) <= 2
    assert not any(counted[3:])


@each_row("seed", range(8))
@each_row(
    "edited",
    [
        ARTICLE.replace("spring", "autumn"),
        ARTICLE.replace("12 euro", "14 euro"),
        ARTICLE.replace("<p>Entry costs 12 euro for adults.</p>", ""),
        ARTICLE + "<p>Children enter free of charge.</p>",
        ARTICLE.replace("new wing", '<a href="/wing">new wing</a>'),
        "<p>Quite another text takes the place of the article, all of it.</p>",
    ],
)
def test_an_edit_beside_noise_always_counts(seed: int, edited: str) -> None:
    watched = Watched(seed)
    for _ in range(6):
        watched.visit("one", ARTICLE)

    assert watched.visit("one", edited)
    assert not watched.visit("one", edited)
    assert watched.visit("one", ARTICLE)


def test_what_is_noise_on_one_page_is_noise_on_the_others() -> None:
    watched = Watched(3)
    for _ in range(5):
        watched.visit("one", ARTICLE)
    other = "<p>Another article of the same template.</p>"
    watched.visit("two", other)

    assert not any(watched.visit("two", other) for _ in range(5))


def test_an_edit_of_every_footer_counts_on_every_page() -> None:
    noise = TemplateNoise()
    change = PageChange(3, 2, spots=(ChangedSpot(1, 2, 2, 3),), template=1)

    for page in range(50):
        assert without_noise(change, noise).counts
        noise.visited(page.to_bytes(16, "big"), change)


def test_a_price_that_changes_now_and_then_counts_each_time() -> None:
    noise, key = TemplateNoise(), b"k" * 16
    change = PageChange(1, 1, spots=(ChangedSpot(1, 2, 1, 1),), template=1)
    for _ in range(20):
        for _ in range(3):
            noise.visited(key, None)
        assert without_noise(change, noise).counts
        noise.visited(key, change)


def test_noise_that_stops_is_content_again() -> None:
    noise, key = TemplateNoise(), b"k" * 16
    change = PageChange(1, 1, spots=(ChangedSpot(1, 2, 1, 1),), template=1)
    for _ in range(10):
        noise.visited(key, change)
    assert not without_noise(change, noise).counts
    for _ in range(10):
        noise.visited(key, None)

    assert without_noise(change, noise).counts


def test_a_large_change_in_a_noisy_spot_counts() -> None:
    noise, key = TemplateNoise(), b"k" * 16
    for _ in range(10):
        noise.visited(key, PageChange(1, 1, spots=(ChangedSpot(1, 2, 1, 1),), template=1))

    large = PageChange(90, 1, spots=(ChangedSpot(1, 2, 1, 90, is_large=True),), template=1)
    assert without_noise(large, noise).counts


def test_what_is_known_of_a_template_stays_small() -> None:
    noise = TemplateNoise()
    steady = ChangedSpot(1, 2, 1, 1)
    for visit in range(200):
        spots = (steady, *(ChangedSpot(visit * 50 + n, 0, 1, 1) for n in range(9, 40)))
        noise.visited(visit.to_bytes(16, "big")[:12] + b"page", PageChange(spots=spots))

    assert len(noise.spots) <= MOST_SPOTS
    assert len(noise.encode()) < 64 * 60
    assert noise.is_noise(steady)
    assert TemplateNoise.decode(noise.encode()) == noise
