"""How many changes of noise count, and how many edits are missed? Measured on real pages.

    python -m bench.noise ../shared/data/extraction/html --pages 181

Each page gets noise at random places: today's date, a visit counter, a time "ago", two rotating
adverts with links, a token, the time that the server took. It is visited ten times with noise
alone, then five times with an edit of one word or a new sentence beside the noise.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import random
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time

from gossamer.compare.template import template_of
from gossamer.compare.versions import PageVersion, change_of, compare_versions
from gossamer.parse.html import Parser
from gossamer.policies.noise import TemplateNoise, without_noise
from gossamer.settings import Parse

START = datetime(2026, 11, 1, 9, 30, tzinfo=UTC)
NOISE_VISITS, EDIT_VISITS = 10, 5
ADVERTS = [
    "Buy comfortable shoes today", "Fly to Spain from 49 euro", "Ten recipes for pumpkin soup",
    "Your new kitchen awaits", "Insurance that understands you", "Learn Danish in 30 days",
    "Win a bicycle", "Cheaper power for your home", "A bank without fees",
]  # fmt: skip
_END: re.Pattern[bytes] = re.compile(rb"</(?:p|div|li|td)>", re.IGNORECASE)
_TEXT: re.Pattern[str] = re.compile(r">([^<>]{40,400})<")


def noise(visit: int, when: datetime, name: str, chance: random.Random) -> list[bytes]:
    """The pieces of noise of one visit."""
    token = hashlib.sha256(f"{visit}{name}".encode()).hexdigest()
    adverts = [ADVERTS[(visit * step + len(name)) % 9] for step in (1, 2)]
    texts = [
        f"<p>{when:%A, %d %B %Y}</p>",
        f"<div>Views: {1000 + 13 * visit}</div>",
        f"<p>Posted {visit + 2} hours ago</p>",
        f'<aside>Advert: {adverts[0]} <a href="http://ads.example/{chance.random()}">more</a></aside>',
        f"<p>{adverts[1]}</p>",
        f"<div>Session {token[:32]}</div>",
        f"<div>Page generated in 0.{chance.randrange(10, 99)} s at {when:%H:%M:%S}</div>",
    ]
    return [text.encode() for text in texts]


def marked(body: bytes, places: list[int]) -> bytes:
    """A page with a mark at each place where noise goes."""
    for number, place in sorted(enumerate(places), key=lambda pair: -pair[1]):
        body = body[:place] + f"<!--noise {number}-->".encode() + body[place:]
    return body


def with_noise(body: bytes, pieces: list[bytes]) -> bytes:
    for number, piece in enumerate(pieces):
        body = body.replace(f"<!--noise {number}-->".encode(), piece)
    return body


def edited(body: bytes, seen: str, visit: int, chance: random.Random) -> bytes | None:
    """Change a word of a text that is `seen`, or add a sentence; None if there is no text."""
    text = body.decode("utf-8", "replace")
    found = [one for one in _TEXT.finditer(text) if len(one[1].split()) > 3]
    found = [one for one in found if seen.count(" ".join(one[1].split())) == text.count(one[1])]
    found = [one for one in found if text.count(one[1]) == 1]  # none in a script as well
    if not found:
        return None
    one = chance.choice(found)
    words = one[1].split()
    at = chance.randrange(len(words))
    new = [*words[:at], f"edited{visit}", *words[at + 1 :]]
    if chance.random() < 0.3:
        new = [*words, "A sentence was added here."]
    return (text[: one.start(1)] + " ".join(new) + text[one.end(1) :]).encode()


class Watch:
    """One page, visited again and again."""

    def __init__(self, name: str, body: bytes, seed: int) -> None:
        self.name, self.chance = name, random.Random(seed)
        ends = [found.end() for found in _END.finditer(body)] or [len(body)]
        self.body = marked(body, self.chance.choices(ends, k=7))
        self.noise = TemplateNoise()
        self.last: PageVersion | None = None
        self.parser, self.visits, self.cpu_s = Parser(Parse()), 0, 0.0

    def visit(self, body: bytes) -> bool:
        when = START + timedelta(hours=31 * self.visits, seconds=977 * self.visits)
        self.visits += 1
        pieces = noise(self.visits, when, self.name, self.chance)
        noisy, url = with_noise(body, pieces), f"http://a.example/{self.name}"
        page = self.parser.parse(url, "text/html; charset=utf-8", noisy)
        new = PageVersion(page, round(when.timestamp() * 1e6))
        old, self.last = self.last, new
        if old is None:
            return False
        began_s = process_time()
        change = change_of(compare_versions(old, new), template_of(url, noisy))
        counts = without_noise(change, self.noise).counts
        self.noise.visited(url.encode(), change)
        self.cpu_s += process_time() - began_s
        return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=150)
    given = parser.parse_args()
    files = sorted(path for path in given.folder.rglob("*.htm*") if path.is_file())
    random.Random(1).shuffle(files)
    counted, edits, missed, compared, cpu_s = Counter[int](), 0, 0, 0, 0.0
    pages = 0
    for number, path in enumerate(files[: given.pages]):
        data = path.read_bytes()
        body = gzip.decompress(data) if path.suffix == ".gz" else data
        watch = Watch(f"{number}.html", body, number)
        body = watch.body
        watch.visit(body)
        pages += 1
        for visit in range(1, NOISE_VISITS + 1):
            counted[visit] += watch.visit(body)
        for visit in range(EDIT_VISITS):
            assert watch.last is not None
            new = edited(body, watch.last.page.text, visit, watch.chance)
            if new is None:
                continue
            edits += 1
            missed += not watch.visit(new)
            body = new
        compared, cpu_s = compared + watch.visits - 1, cpu_s + watch.cpu_s
    print(f"{pages} pages; noise that counts, by visit:")
    for visit in range(1, NOISE_VISITS + 1):
        print(f"  visit {visit:2}  {counted[visit]:5}  {counted[visit] / pages:.1%}")
    print(f"edits {edits}, missed {missed} ({missed / max(1, edits):.1%})")
    print(f"{1000 * cpu_s / max(1, compared):.1f} ms of CPU for a comparison, without parsing")


if __name__ == "__main__":
    main()
