"""Every file of a collection, damaged in five ways: found, told in a sentence, mended by the
command told, and nothing else lost."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import GossamerError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.search.engine import Engine
from gossamer.search.results import Request
from gossamer.transfer.exports import batches
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import Problem, verify
from support.a_crawl import crawl
from support.a_site import site_in_thread
from support.damage import WAYS, damage, files_of, thirty_pages

# Not vouched for: the operator's own files, and the curves of the web page.
_OWN = ("cookies.txt", "gossamer.toml", "history.jsonl")
# Refusals by robots.txt stand in the log alone: they are decided again by the next crawl.
_LOG = "log/crawl.jsonl"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage") / "collection"
    with site_in_thread(thirty_pages()) as site:
        crawl(folder, [site.url()], archive__roll_bytes=16_000)
    return folder


def known(path: Path) -> dict[str, list[str]]:
    """All that the collection knows, without the seconds of refusals, which come from the log."""
    with CollectionReader.open(path) as reader:
        tables = {
            name: sorted(
                str({k: v for k, v in row.items() if not k.endswith("_at")})
                for batch in batches(reader, name)
                for row in batch.to_pylist()
            )
            for name in ("pages", "links", "hosts", "refused")
        }
    found = Engine(path).search(Request(query="otter", limit=50))
    return tables | {"search": sorted(f"{hit.url} {hit.snippet}" for hit in found)}


def is_told(fault: GossamerError, home: CollectionPaths, file: Path) -> bool:
    """Whether the sentence names the file, or what it is a part of, and what to do."""
    text = str(fault)
    names = (str(home.path / file), str(home.path / file.parts[0]), str(home.path))
    return "\n" not in text and any(name in text for name in names) and "gossamer" in text


def untold(home: CollectionPaths, file: Path, command: Callable[[], object]) -> Iterator[str]:
    """What is wrong with the way in which a command ends that meets the damage."""
    try:
        command()
    except GossamerError as fault:
        if not is_told(fault, home, file):
            yield f"it is told so: {fault}"
    except BaseException as fault:  # noqa: BLE001  # a panic of a library is none of Exception
        yield f"traceback: {fault!r}"


def mended(home: CollectionPaths, problems: list[Problem]) -> None:
    """Do what the problems say, as far as it is a command."""
    texts = " ".join(problem.todo for problem in problems)
    orders = re.findall(r"`gossamer (rebuild \w+(?: --without-lost)?|crawl)(?: -c [^`]*)?`", texts)
    orders += ["crawl"] if "gossamer crawl" in texts else []
    assert orders, texts
    for order in sorted(dict.fromkeys(orders), key=lambda one: "--without-lost" not in one):
        words = order.split()
        if words[0] == "crawl":
            crawl(home.path, [])
        else:
            lost = "--without-lost" in words
            rebuild(home, words[1], SystemClock(), lambda _: None, without_lost=lost)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_damage_of_any_file_is_found_told_and_mended(
    crawled: Path, tmp_path: Path, way: str
) -> None:
    before = known(crawled)
    faults = []
    for file in files_of(crawled):
        if file.as_posix() in _OWN:
            continue
        home = CollectionPaths(tmp_path / "collection")
        shutil.copytree(crawled, home.path)
        if damage(home.path / file, way):
            faults += [f"{file} {way}: {fault}" for fault in faults_after(home, file, way, before)]
        shutil.rmtree(home.path)

    assert faults == []


def faults_after(
    home: CollectionPaths, file: Path, way: str, before: dict[str, list[str]]
) -> Iterator[str]:
    problems = list(verify(home))
    if not problems:
        yield "verify finds nothing"
        return
    if not any(str(home.path / file) in one.where or one.where in str(home.path / file)
               for one in problems):  # fmt: skip
        yield f"verify names other files: {problems[0].where}"
    words = Request(query='"page number" otter -title:x', explain=True)
    yield from untold(home, file, lambda: known(home.path))
    yield from untold(home, file, lambda: Engine(home.path).search(words))
    if way in ("flip", "delete"):
        copy = CollectionPaths(home.path.with_name("copy"))
        shutil.copytree(home.path, copy.path)
        yield from untold(copy, file, lambda: crawl(copy.path, []))
        shutil.rmtree(copy.path)
    try:
        mended(home, problems)
    except GossamerError as fault:
        yield f"{[one.todo for one in problems]}: {fault}"
        return
    left = list(verify(home))
    if left:
        yield f"after {problems[0].todo}: {left[0]}"
    after = known(home.path)
    if file.as_posix() != _LOG and file.suffixes[-2:] != [".warc", ".gz"] and after != before:
        changed = [name for name in before if after[name] != before[name]]
        yield f"it knows other things of {changed}"
