"""What is forgotten is gone from every file, stays gone, and nothing else goes with it."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired

import pytest

from flow.outcomes import outcomes
from gossamer.archive.reader import read_records
from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths, locked
from gossamer.collection.forgotten import read_forgotten
from gossamer.errors import CollectionInUse, NotKnown, UsageError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.exports import batches
from gossamer.upkeep.forget import forget, survey
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl
from support.a_site import Pages, Site, page, redirect, robots, site_in_thread
from support.killing import Ended, started, typed
from support.traces import traces_of

MARK = "zyxquince"
GONE = f"{MARK}.localhost"


def pages_of_both(port: int) -> tuple[Pages, Pages]:
    """A site that stays, and one to be forgotten. Only the second has the marker in its words;
    what the first has of it are addresses."""
    gone, stays = f"http://{GONE}:{port}", f"http://127.0.0.1:{port}"
    kept: Pages = {
        "/robots.txt": robots(f"User-agent: *\nDisallow: /private\nSitemap: {gone}/map.xml"),
        "/": page(f"<title>home</title><a href=/a>first</a> <a href={gone}/>the other</a>"),
        "/a": page(f"<a href=/b>second</a> <a href={gone}/deep>there</a> <a href=/to>to</a>"),
        "/b": page(f"<a href=/private/x>no</a> plain words <a href={gone}/robots.txt>r</a>"),
        "/to": redirect(f"{gone}/moved"),
    }
    forgotten: Pages = {
        "/robots.txt": robots(f"User-agent: *\nDisallow: /{MARK}-private"),
        "/map.xml": page(
            f"<urlset><url><loc>{gone}/listed</loc></url></urlset>",
            headers={"content-type": "text/xml"},
        ),
        "/": page(
            f"<title>{MARK}</title><a href=/deep>{MARK} deep</a>"
            f"<a href={stays}/b>{MARK} words for b</a> <a href={stays}/only>{MARK}</a>"
        ),
        "/deep": page(f"<h1>{MARK}</h1> {MARK} body <a href=/{MARK}-private/x>x</a>"),
        "/moved": page(f"{MARK} moved"),
        "/listed": page(f"{MARK} listed <a href=/gone-{MARK}>404</a>"),
    }
    return {**kept, "/only": page("found by the forgotten one alone")}, forgotten


@dataclass(frozen=True, slots=True)
class Crawled:
    path: Path
    site: Site
    gone: str

    @property
    def home(self) -> CollectionPaths:
        return CollectionPaths(self.path)

    def go_on(self, *seeds: str) -> None:
        crawl(self.path, seeds, scope__kind="any", fetch__allow_private=("127.0.0.0/8",))

    def urls(self) -> set[str]:
        return set(outcomes(self.path))


@pytest.fixture(scope="module")
def crawled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    path = tmp_path_factory.mktemp("forget") / "study"
    with site_in_thread({}, hosts={}) as site:
        kept, forgotten = pages_of_both(site.port)
        site.pages, site.hosts = kept, {GONE: forgotten}
        reader = Crawled(path, site, f"http://{GONE}:{site.port}")
        reader.go_on(site.url("/"), f"{reader.gone}/")
        yield reader


@pytest.fixture
def crawled(crawled_once: Crawled, tmp_path: Path) -> Crawled:
    path = tmp_path / "study"
    shutil.copytree(crawled_once.path, path)
    return Crawled(path, crawled_once.site, crawled_once.gone)


def let_go(reader: Crawled, *names: str, is_site: bool = False) -> None:
    forget(reader.home, names, SystemClock(), lambda _: None, is_site=is_site)


def links_of_others(reader: Crawled) -> list[str]:
    """Where others' own documents still name it: that is theirs to say."""
    return [where for where in traces_of(reader.path, MARK) if not where.startswith("archive/")]


def assert_gone(reader: Crawled) -> None:
    assert links_of_others(reader) == []
    for file in (reader.path / "archive").glob("*.cdxj"):
        assert GONE not in file.read_text(encoding="utf-8")
    with CollectionReader.open(reader.path) as opened:
        for table in ("pages", "links", "hosts", "anchors", "refused"):
            told = [str(batch.to_pylist()) for batch in batches(opened, table)]
            assert MARK not in "".join(told), table
    assert json.loads(typed("search", MARK, "--json", "-c", reader.path).out)["total"] == 0


def test_before_it_the_marker_is_everywhere(crawled: Crawled) -> None:
    parts = {where.partition("/")[0] for where in traces_of(crawled.path, MARK)}

    assert parts >= {"archive", "graph", "index", "log", "table url", "table host", "table origin"}


def test_nothing_of_a_host_is_left_and_all_else_is(crawled: Crawled) -> None:
    stays = {url for url in crawled.urls() if GONE not in url}

    let_go(crawled, GONE)

    assert crawled.urls() == stays
    assert_gone(crawled)
    assert list(verify(crawled.home)) == []


def test_only_documents_of_others_still_name_it(crawled: Crawled) -> None:
    let_go(crawled, GONE)

    for path in (crawled.path / "archive").glob("*.warc.gz"):
        for record in read_records(path):
            assert MARK not in str(record.headers)
            assert record.type == "response" or MARK.encode() not in record.content


def test_one_url_goes_alone_and_its_words_elsewhere_with_it(crawled: Crawled) -> None:
    before = crawled.urls()

    let_go(crawled, f"{crawled.gone}/")

    assert crawled.urls() == before - {f"{crawled.gone}/"}
    assert list(verify(crawled.home)) == []
    with CollectionReader.open(crawled.path) as opened:
        rows = [row for batch in batches(opened, "links") for row in batch.to_pylist()]
    assert not [row for row in rows if f"{crawled.gone}/" in (row["source"], row["target"])]
    assert not [row for row in rows if row["anchor"] == f"{MARK} words for b"]


def test_a_site_is_forgotten_with_its_hosts(crawled: Crawled) -> None:
    let_go(crawled, f"www.{GONE}", is_site=True)

    assert_gone(crawled)


def test_what_was_forgotten_is_not_asked_for_again(crawled: Crawled) -> None:
    let_go(crawled, GONE)
    asked = len(crawled.site.log)

    crawled.go_on(crawled.site.url("/"), f"{crawled.gone}/", crawled.site.url("/new"))

    assert {one.host for one in crawled.site.log[asked:]} <= {"127.0.0.1"}
    assert_gone(crawled)
    assert list(verify(crawled.home)) == []
    assert '"forgotten"' in typed("why", f"{crawled.gone}/", "--json", "-c", crawled.path).out


def test_a_rebuild_does_not_bring_it_back(crawled: Crawled) -> None:
    let_go(crawled, GONE)
    stays = crawled.urls()

    rebuild(crawled.home, "all", SystemClock(), lambda _: None)

    assert crawled.urls() == stays
    assert_gone(crawled)
    assert list(verify(crawled.home)) == []


def test_it_may_be_allowed_again(crawled: Crawled) -> None:
    let_go(crawled, GONE)

    assert typed("forget", "--undo", GONE, "-c", crawled.path).code == 0

    crawled.go_on(f"{crawled.gone}/")
    assert f"{crawled.gone}/deep" in crawled.urls()
    assert list(verify(crawled.home)) == []


def test_everything_can_be_forgotten(collection: Path) -> None:
    with site_in_thread({"/": page(f"<title>{MARK}</title> <a href=/x>x</a>")}) as site:
        crawl(collection, [site.url()])
        reader = Crawled(collection, site, "")
        let_go(reader, "127.0.0.1")
        asked = len(site.log)

        crawl(collection, [])
        crawl(collection, [site.url()])

        assert len(site.log) == asked
    assert reader.urls() == set()
    assert traces_of(collection, MARK) == traces_of(collection, "127.0.0.1") == []
    assert list(verify(reader.home)) == []


def test_nothing_is_left_in_what_a_killed_rebuild_left(crawled: Crawled) -> None:
    for name in ("index.old", "graph.new", "state.old"):
        (crawled.path / name).mkdir()
        (crawled.path / name / "part").write_text(MARK, encoding="utf-8")
    (crawled.path / "cookies.txt.new").write_text(f"{GONE}\tTRUE", encoding="utf-8")

    let_go(crawled, GONE)

    left = {path.name for path in crawled.path.iterdir()}
    assert left.isdisjoint({"index.old", "graph.new", "state.old", "cookies.txt.new"})
    assert list(verify(crawled.home)) == []


def test_half_a_line_of_a_full_disk_does_not_hide_what_was_forgotten(crawled: Crawled) -> None:
    with crawled.home.actions.open("ab") as actions:
        actions.write(b'{"at": "2026-01-01T00:00:00Z", "act": "pa')

    let_go(crawled, GONE)

    assert read_forgotten(crawled.home.takedowns)
    assert typed("rebuild", "state", "-c", crawled.path).code == 0


@pytest.mark.slow
def test_a_full_disk_has_its_room_back_and_nothing_has_changed(crawled: Crawled) -> None:
    before = crawled.urls()
    with crawled.home.log.open("ab") as log:
        log.write(b'{"url": "http://other.example/"}\n' * 40_000)  # longer than the limit below
    limit = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (1_000_000,) * 2); import sys; "
    verb = "sys.argv[0] = 'gossamer'; from gossamer.cli.main import run; run()"
    command = [
        sys.executable,
        "-B",
        "-c",
        limit + verb,
        "forget",
        "--yes",
        GONE,
        "-c",
        str(crawled.path),
    ]

    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert re.search(r"cannot rewrite .*\(File too large\)", ended.stderr.splitlines()[-1])
    assert not (crawled.path / "forget.new").exists()
    assert crawled.urls() == before


def test_forgetting_twice_is_no_fault(crawled: Crawled) -> None:
    let_go(crawled, GONE)

    ended = typed("forget", "--yes", GONE, "-c", crawled.path)

    assert (ended.code, ended.err.splitlines()[-1]) == (0, "It is already deleted.")
    assert list(verify(crawled.home)) == []


def test_a_dry_run_says_how_much_and_changes_nothing(crawled: Crawled) -> None:
    before = crawled.urls()

    sums = survey(crawled.home, [GONE], SystemClock(), lambda _: None)

    assert sums.urls == len([url for url in before if GONE in url])
    assert crawled.urls() == before
    ended = typed("forget", "--dry-run", "--json", GONE, "-c", crawled.path)
    assert json.loads(ended.out) == {"schema": 1, **json.loads(ended.out)}
    assert json.loads(ended.out)["urls"] == sums.urls


def test_without_a_terminal_it_must_be_said_twice(crawled: Crawled) -> None:
    with started("forget", GONE, "-c", crawled.path) as running:
        _, err = running.communicate()

    assert (running.returncode, "--yes" in err) == (2, True)


def test_it_waits_for_no_crawl(crawled: Crawled) -> None:
    with locked(crawled.home), pytest.raises(CollectionInUse):
        let_go(crawled, GONE)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("nowhere.example", NotKnown),
        ("http://127.0.0.1:1/nothing", NotKnown),
        ("127.0.0.1:8080", UsageError),
        ("http://127.0.0.1/robots.txt", UsageError),
        ("", UsageError),
        ("http://[bad", UsageError),
    ],
)
def test_what_is_not_there_is_said_so(crawled: Crawled, name: str, fault: type[Exception]) -> None:
    before = crawled.urls()

    with pytest.raises(fault):
        let_go(crawled, name)

    assert crawled.urls() == before
    assert list(verify(crawled.home)) == []


@pytest.mark.slow
def test_killed_at_any_instant_it_is_done_or_not_done(crawled: Crawled) -> None:
    before = crawled.urls()
    stays = {url for url in before if GONE not in url}
    rng = random.Random(1)
    for _ in range(5):
        ended = killed_after(rng.uniform(0.3, 1.6), crawled)
        assert typed("status", "-c", crawled.path).code == 0
        assert crawled.urls() in (before, stays)
        assert list(verify(crawled.home)) == []
        if ended is not None or crawled.urls() == stays:
            break

    if crawled.urls() != stays:
        let_go(crawled, GONE)

    assert_gone(crawled)
    assert list(verify(crawled.home)) == []
    assert not list(crawled.path.glob("forget.*"))


def killed_after(seconds: float, reader: Crawled) -> Ended | None:
    """Forget in a process that gets so long; how it ended, if it did."""
    with started("forget", "--yes", GONE, "-c", reader.path) as running:
        try:
            out, err = running.communicate(timeout=seconds)
        except TimeoutExpired:
            running.kill()
            running.wait()
            return None
        return Ended(running.returncode, out, err)
