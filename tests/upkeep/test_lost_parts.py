"""Archive and log give everything back, whatever else is lost."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.archive.cdxj import cdxj_path
from gossamer.archive.damage import LostSpan, mend
from gossamer.archive.manifest import NAME, read_manifest
from gossamer.archive.padding import first_without_salt
from gossamer.archive.reader import read_exchange, read_info
from gossamer.base.clock import SystemClock
from gossamer.collection.checksums import begin_writing
from gossamer.collection.directory import CollectionPaths, locked, open_to_read, open_to_write
from gossamer.collection.stored_settings import stored_seeds, stored_settings
from gossamer.errors import CorruptFile, StateLost, StoreError, UsageError
from gossamer.frontier.meta_keys import CLEAN_KEY
from gossamer.frontier.store import StateTable
from gossamer.node.indexing import IndexFeed
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.links import backlinks
from gossamer.search.engine import Engine
from gossamer.search.results import Request
from gossamer.transfer.exports import batches
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import Checked, verify
from support.a_crawl import crawl
from support.a_site import Site, page, redirect, site_in_thread
from support.damage import thirty_pages

PARTS = ["state", "graph", "index", "run", "sums.json", "state graph index run sums.json"]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    folder = tmp_path_factory.mktemp("lost") / "collection"
    with site_in_thread(thirty_pages()) as site:
        # 20 pages are fetched, and the others stay in the queue.
        crawl(folder, [site.url()], limits__max_pages=20, archive__roll_bytes=10_000)
        yield site, folder


@pytest.fixture
def site(crawled: tuple[Site, Path]) -> Site:
    return crawled[0]


@pytest.fixture
def home(crawled: tuple[Site, Path], collection: Path) -> CollectionPaths:
    """A copy of the collection, to lose parts of."""
    shutil.copytree(crawled[1], collection)
    return CollectionPaths(collection)


def lose(home: CollectionPaths, names: str) -> None:
    for name in names.split():
        path = home.path / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def remade(home: CollectionPaths, what: str = "all", *, without_lost: bool = False) -> list[str]:
    told: list[str] = []
    rebuild(home, what, SystemClock(), told.append, without_lost=without_lost)
    return told


def rows_of(home: CollectionPaths, table: str) -> list[str]:
    with CollectionReader.open(home.path) as reader:
        return sorted(str(row) for part in batches(reader, table) for row in part.to_pylist())


def known(home: CollectionPaths) -> dict[str, object]:
    """What people would ask a collection for."""
    rows, paths = {}, {}
    with CollectionReader.open(home.path) as reader:
        seed = reader.seeds()[0]
        for row in reader.url_rows():
            story = reader.story(row.url)
            # Refusals and queued URLs are dated by the log, to the second.
            rows[row.url] = (row.outcome, row.reason, row.depth)
            paths[row.url] = (story.via, story.captures)
        links = backlinks(reader, f"{seed}p1")[1].num_rows
    found = Engine(home.path).search(Request(query="otter", limit=50))
    return {
        "rows": rows,
        "paths": paths,
        "backlinks": links,
        "search": sorted((hit.url, hit.score, hit.snippet) for hit in found),
    }


@pytest.mark.slow
@pytest.mark.parametrize("names", PARTS)
def test_a_lost_part_comes_back_from_archive_and_log(
    home: CollectionPaths, site: Site, names: str
) -> None:
    before, asked = known(home), len(site.asked)
    lose(home, names)

    if "state" in names.split():
        with pytest.raises(StateLost, match="gossamer rebuild all"):
            CollectionReader.open(home.path)
        with pytest.raises(StateLost, match="gossamer rebuild all"):
            crawl(home.path, [site.url()])
    remade(home)

    assert known(home) == before
    assert list(verify(home)) == []
    crawl(home.path, [], limits__max_pages=0)
    again = site.asked[asked:]
    assert list(verify(home)) == []
    assert len(again) == len(set(again))
    assert not {"/", "/p0", "/p1"} & set(again)  # what is archived is not requested again
    # Pages of the queue came, and a robots.txt whose time is over may have come again.
    assert len(again) in (11, 12, 13)


def test_damage_in_the_state_is_told_in_a_sentence_and_mended_by_the_command(
    home: CollectionPaths,
) -> None:
    before = known(home)
    for path in home.state.glob("*.sst"):
        data = bytearray(path.read_bytes())
        for at in range(20, len(data), 40):
            data[at] ^= 0xFF
        path.write_bytes(data)

    with pytest.raises(CorruptFile, match=r"state.*gossamer rebuild state"):
        known(home)
    told = [problem.todo for problem in verify(home)]
    remade(home)

    assert any("gossamer rebuild state" in todo for todo in told)
    assert known(home) == before
    assert list(verify(home)) == []


def test_a_rebuilt_state_alone_is_enough_for_index_and_graph(home: CollectionPaths) -> None:
    before = known(home)
    (home.state / "CURRENT").unlink()

    remade(home, "state")

    assert known(home) == before
    assert list(verify(home)) == []


def test_index_and_graph_are_not_made_of_a_state_that_is_lost(home: CollectionPaths) -> None:
    lose(home, "state")

    for what in ("index", "graph"):
        with pytest.raises(StateLost):
            remade(home, what)
    assert not home.state.exists()


def test_the_salt_lies_in_the_manifest_and_in_every_warc_file(home: CollectionPaths) -> None:
    with CollectionReader.open(home.path) as reader:
        salt = reader.keys.salt

    assert read_manifest(home.archive).salt == salt
    files = list(home.archive.glob("*.warc.gz"))
    assert len(files) > 1
    assert {read_info(path)["salt"] for path in files} == {salt.hex()}


def test_without_the_manifest_the_salt_comes_from_the_warc_files(home: CollectionPaths) -> None:
    before = known(home)
    (home.archive / NAME).unlink()
    lose(home, "state")

    remade(home)

    assert known(home) == before
    assert list(verify(home)) == []


def as_an_older_release_wrote_it(home: CollectionPaths) -> None:
    """No manifest, no checksums, and no salt in the archive."""
    (home.archive / NAME).unlink()
    (home.path / "sums.json").unlink()
    for path in home.archive.glob("*.warc.gz"):
        first = first_without_salt(path)
        path.write_bytes(first + path.read_bytes()[len(first) :])


def test_a_collection_of_an_older_release_is_whole_and_gets_manifest_and_sums(
    home: CollectionPaths,
) -> None:
    as_an_older_release_wrote_it(home)
    assert list(verify(home)) == []

    crawl(home.path, [], limits__max_pages=20)

    with CollectionReader.open(home.path) as reader:
        assert read_manifest(home.archive).salt == reader.keys.salt
    listed = read_manifest(home.archive).files
    assert listed.keys() == {path.name for path in home.archive.glob("*.warc.gz")}
    assert (home.path / "sums.json").exists()
    assert list(verify(home)) == []


def test_a_lost_state_of_an_older_release_gets_another_salt(
    home: CollectionPaths, site: Site
) -> None:
    before = known(home)
    as_an_older_release_wrote_it(home)
    lose(home, "state")

    remade(home)
    asked = len(site.asked)

    assert known(home) == before
    assert list(verify(home)) == []
    crawl(home.path, [], limits__max_pages=20)
    assert site.asked[asked:] == []
    remade(home, "index")
    assert list(verify(home)) == []


def test_settings_and_all_seeds_come_from_archive_and_log(collection: Path) -> None:
    pages = {f"/s{n}": page(f"<p>{n}") for n in range(1_200)}
    with site_in_thread(pages) as site:
        seeds = [site.url(f"/s{n}") for n in range(1_200)]
        crawl(collection, seeds, limits__max_pages=3, scope__depth=5)
        shutil.rmtree(collection / "state")
        home = CollectionPaths(collection)

        remade(home)

        store = open_to_read(home)
        settings = stored_settings(store)
        assert settings is not None
        assert (settings.limits.max_pages, settings.scope.depth) == (3, 5)
        assert sorted(stored_seeds(store)) == sorted(seeds)
        store.close()
    assert list(verify(home)) == []


def test_where_a_seed_has_moved_to_is_a_seed_again(collection: Path) -> None:
    with site_in_thread({"/": page("<a href=/a>a</a>"), "/a": page("<p>a")}) as other:
        moved = {"/": redirect(other.url("/", "localhost"))}
        with site_in_thread(moved) as first:
            crawl(collection, [first.url()])
        before = rows_of(CollectionPaths(collection), "pages")
        shutil.rmtree(collection / "state")

        remade(CollectionPaths(collection))

        assert rows_of(CollectionPaths(collection), "pages") == before
        with CollectionReader.open(collection) as reader:
            assert other.url("/", "localhost") in reader.seeds()


def test_a_lost_archive_file_is_named_and_given_up_only_when_told(home: CollectionPaths) -> None:
    paths = sorted(home.archive.glob("*.warc.gz"))
    lost = paths[1]
    lost.unlink()

    for what in ("all", "state", "graph", "index"):
        with pytest.raises(StoreError, match=f"{lost.name} is missing.*--without-lost"):
            remade(home, what)
    shutil.rmtree(home.state)  # the manifest knows it, too
    with pytest.raises(StoreError, match=f"{lost.name} is missing.*--without-lost"):
        remade(home)
    assert any(lost.name in problem.where for problem in verify(home))
    told = remade(home, without_lost=True)

    assert any(f"lost: {lost}" in line for line in told)
    assert list(verify(home)) == []
    assert lost.name not in read_manifest(home.archive).files


def test_a_damaged_member_is_named_and_the_rest_is_kept_when_told(
    home: CollectionPaths, site: Site
) -> None:
    with CollectionReader.open(home.path) as reader:
        url = next(row.url for row in reader.url_rows() if row.url.endswith(("/p3", "/p5")))
        (capture,) = reader.captures(url)
    path = home.archive / capture.file
    data = bytearray(path.read_bytes())
    data[capture.offset + 60] ^= 0xFF
    path.write_bytes(data)
    fetched = sum("'fetched'" in row for row in rows_of(home, "pages"))

    for what in ("all", "state", "index", "graph"):
        with pytest.raises(CorruptFile, match=rf"{path.name}, byte \d+: .*--without-lost"):
            remade(home, what)
    told = remade(home, without_lost=True)

    assert any(line.startswith(f"lost: {path.name}, bytes") for line in told)
    assert list(verify(home)) == []
    assert sum("'fetched'" in row for row in rows_of(home, "pages")) == fetched - 1
    assert path.with_name(f"{path.name}.damaged").read_bytes() == data
    asked = len(site.asked)
    crawl(home.path, [], limits__max_pages=0)
    assert list(verify(home)) == []
    assert any(url.endswith(one) for one in site.asked[asked:])


def test_half_an_exchange_that_a_kill_left_is_no_loss(home: CollectionPaths) -> None:
    """The file was never sealed, and its torn end never committed."""
    path = max(home.archive.glob("*.warc.gz"))
    manifest = home.archive / NAME
    lines = [line for line in manifest.read_text().splitlines(True) if path.name not in line]
    manifest.write_text("".join(lines))
    cdxj_path(path).unlink()
    with path.open("ab") as file:
        file.write(path.read_bytes()[:50])
    shutil.rmtree(home.state)

    remade(home)

    assert list(verify(home)) == []


def test_without_lost_goes_with_all_alone(home: CollectionPaths) -> None:
    with pytest.raises(UsageError, match="rebuild all"):
        remade(home, "index", without_lost=True)


def test_an_archive_that_is_lost_altogether_is_named(home: CollectionPaths) -> None:
    for path in home.archive.glob("*.warc.gz"):
        path.unlink()

    with pytest.raises(StoreError, match=r"is missing.*more losses.*--without-lost"):
        remade(home)


def test_after_a_kill_only_files_that_never_change_are_vouched_for(home: CollectionPaths) -> None:
    """`is_open` stands in the checksums after a kill: nothing that changed since is an alarm."""
    begin_writing(home.path)  # and then the writer is killed
    (home.state / "OPTIONS-000999").write_bytes(b"newer")
    checked = Checked()

    assert list(verify(home, checked)) == []
    assert any("no checksum yet" in one for one in checked.unsure)
    table = next(home.state.glob("*.sst"))
    table.write_bytes(table.read_bytes()[:-1] + b"x")
    assert any(str(table) in problem.where for problem in verify(home))


def test_damage_is_not_taken_for_what_should_be_there_by_the_next_writer(
    home: CollectionPaths,
) -> None:
    segment = next((home.index / "g000001" / "words").glob("*.pos"))
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 0xFF
    segment.write_bytes(data)

    with locked(home):
        pass

    assert [problem.where for problem in verify(home)] == [str(segment)]


def test_a_search_goes_on_without_ranks_and_says_so(home: CollectionPaths) -> None:
    for path in home.graph.glob("ranks-*.npy"):
        path.unlink()

    found = Engine(home.path).search(Request(query="otter"))

    assert len(found) == 10
    assert "gossamer rebuild graph" in found.hint
    remade(home, "graph")
    assert Engine(home.path).search(Request(query="otter")).hint == ""


def test_an_index_that_is_behind_is_told_with_what_brings_it_up(home: CollectionPaths) -> None:
    """As a full disk leaves it: the state has pages that the index has not."""
    lose(home, "index")
    IndexFeed(home.index, SystemClock(), 1.0).close()
    with locked(home):
        store = open_to_write(home, 16)
        store.write({StateTable.META: {CLEAN_KEY: b"0"}})
        store.close()
    checked = Checked()

    assert list(verify(home, checked)) == []
    assert any("gossamer crawl" in one and str(home.index) in one for one in checked.unsure)


def test_a_place_that_is_lost_is_never_read_as_the_next_page(home: CollectionPaths) -> None:
    with CollectionReader.open(home.path) as reader:
        url = next(row.url for row in reader.url_rows() if row.url.endswith(("/p3", "/p5")))
        (capture,) = reader.captures(url)
        path = home.archive / capture.file
        exchange = read_exchange(path, capture.offset)
        span = LostSpan(exchange.stored.start, exchange.stored.end, "a test")

        mend(path, [span], 1)

        with pytest.raises(CorruptFile):
            reader.page(url)
        with pytest.raises(CorruptFile):
            read_exchange(path, exchange.stored.start)
