"""Does any page make a part in C read or write where it must not?

    python -m bench.fuzz_native [--seconds 600] [--only gossamer.native._page] [--seed N]
    python -m bench.fuzz_native --only NAME --replay FILE [--no-memory-at N]

Each extension is compiled apart with gcc's sanitizers (addresses, undefined behaviour) and called
with mutated pages (`bench/mutated.py`) in a process of its own. In every tenth call one allocation
of Python fails, a different one each time. What ends the process is a fault: a report of a
sanitizer, an exception other than those that the target may raise, a call of more than 30 s. Then
the page lies in bench/out, and the line that calls with it again is printed. Answers are compared
to those of the twin in Python by tests, not here. One line of JSON an extension; exit code 1 after
a fault.

Pages come from the demo web, and from the real sites and suites in `$TEST_SITES` and `$TEST_SUITES`
where they are. Needs Linux and gcc.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
import tracemalloc
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html.entities import html5
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from bench.crawlers import HERE, OUT
from bench.mutated import mutate

from gossamer.demo.web import build_web
from gossamer.native.extensions import ARCHIVE, EXTENSIONS, PAGE, SEARCH
from gossamer.parse.relations import relation_of
from gossamer.records import (
    Edge,
    Fetched,
    Found,
    Lease,
    Link,
    LinkKind,
    Place,
)
from gossamer.search.term_patterns import Term, groups_of

MOST_S: Final = 30  # for one page, in a process that the sanitizers make some ten times slower
PAGES: Final = 400  # of each folder: enough to have every kind of page
NO_MEMORY_EVERY: Final = 10

FLAGS: Final = (
    "-shared", "-fPIC", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
)  # fmt: skip


# A function in C, and what it is given: no step of Python is between them when memory runs out.
Call = tuple[Callable[..., object], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Target:
    """Which functions of an extension are called with a page, and what they may raise at that."""

    calls: Callable[[Any, bytes], Sequence[Call]]
    may_raise: tuple[type[Exception], ...] = ()
    make_ready: Callable[[Any], None] = lambda _module: None


def _captures(module: Any, body: bytes) -> Sequence[Call]:
    """The page as an exchange: with all that is odd in it, and with a URL of its plain letters."""
    start = body[:99].decode("latin-1")
    usual = b"HTTP/1.1 200 OK\r\n" + body[:300] + b"\r\n\r\n"
    return [(module.capture_of, given) for given in _exchanges(body, start, usual)]


def _exchanges(body: bytes, start: str, usual: bytes) -> Iterator[tuple[Any, ...]]:
    plain = "".join(char for char in start if "!" <= char <= "~" and char not in '#"\\')
    request = b"GET / HTTP/1.1\r\n\r\n"
    for url in (f"http://{start}", f"http://www.example.org/?{plain}", f"http://{plain}/"):
        lease = Lease(7, url, body[:16], "a", "192.0.2.7", via=start if "?" in start else "")
        for head in (usual, b"HTTP/1.1 200\r\ncontent-type: text/html\r\n\r\n"):
            at_us = len(body) << 36
            answer = Fetched(url, 200, head, body, request, "192.0.2.7", "h2", at_us, len(url) / 7)
            yield lease, answer, 1, bytes(48), ("a.warc.gz", 9)


def _link_cache(module: Any, body: bytes) -> Sequence[Call]:
    """Links of a page's words, of which every third is no URL."""
    words = body.decode("latin-1").split(" ")[:2000]
    links = tuple(
        Link(href, LinkKind.ANCHOR, words[-n], "", Place.BODY) for n, href in enumerate(words)
    )
    known = module.Known()

    keys = [href.encode()[:16].ljust(len(href) % 3 * 8) for href in words]
    edges = [
        Edge(href, key, href, "", "", "", 0, "") for href, key in zip(words, keys, strict=True)
    ]

    def plain(href: str) -> Any:
        return (href, b"") if len(href) % 5 == 0 else NotImplemented

    def learn(href: str) -> tuple[str, bytes] | None:
        return None if len(href) % 3 == 0 else (href, href.encode())

    def faulty(number: int) -> tuple[Any, ...]:
        return () if number % 2 else (words[number % len(words)], b"", "", "", "", "", 1, "fault")

    return (
        (module.edges, (links, known, ({}, {}), plain, learn, faulty, Edge, True)),
        (module.edges, (links * 2, known, (), None, learn, faulty, Edge, False)),
        (module.found, (edges, {}, {}, 1, bytes(16), Found)),
        (module.anchors, (edges, words[0].encode())),
    )


def _plain(module: Any, body: bytes) -> Sequence[Call]:
    """A page's words as links of pages in two directories; then the generation is full."""
    words = body.decode("latin-1").replace('"', " ").split()[:400]
    links = module.Generation(body[:16].ljust(16), 500, True)
    pages = [("http://a.example/x/y/", "http://a.example"), (words[0] if words else "", "x")]
    return (
        *((links.enter, (*page, {}, {}, None, {}, None, {})) for page in pages[::-1]),
        *((links.learn, (href,)) for href in words),
        *((links.learn, (f"https://a.example/{href}",)) for href in words[:99]),
        (links.key, (f"http://a.example/{body[:999]!r}",)),
        (module.Generation, (bytes(16), 1, False)),
    )


def _scan(module: Any, body: bytes) -> Sequence[Call]:
    """The page in two encodings, once for all and once for its links alone; then as bytes."""
    utf8, latin = body.decode("utf-8", "replace"), body.decode("latin-1")
    return (
        (module.scan, (utf8, False, 1000, 400)),
        (module.scan, (latin, True, 10, 8)),
        (module.scan, (utf8.encode(), False, 3, 17)),  # bytes, of which no more can be read
        (module.scan, (body, False, 1000, 400)),
    )


_FOLDS: Final = array("I", [code & ~0x20 or 1 for code in range(0x20000)])


def _language(module: Any, body: bytes) -> Sequence[Call]:
    """The page in three widths of characters; a part of its own words are the common ones."""
    texts = (body.decode("latin-1"), body.decode("utf-8", "replace"))
    wide = "\U0001f600 ".join(texts)
    common = {word[:16]: n for n, word in enumerate(wide.split()[:200])}
    known = module.known_of(common)
    return (
        (module.known_of, (common,)),
        *((module.spoken, (text, known, 0.1, 1)) for text in (*texts, wide)),
        *((module.said, (text, known, 1, 0.1, 1, (9, 99, 999), (9, 1))) for text in (*texts, wide)),
    )


def _page(module: Any, body: bytes) -> Sequence[Call]:
    """All parts that read a page."""
    if not hasattr(module, "Known"):  # an extension of a test, which scans alone
        return _scan(module, body)
    links = (*_link_cache(module, body), *_plain(module, body))
    return (*_scan(module, body), *links, *_language(module, body))


def _search(module: Any, body: bytes) -> Sequence[Call]:
    """The page in three widths of characters, folded, and its passages."""
    texts = (body.decode("latin-1"), body.decode("utf-8", "replace"))
    wide = "\U0001f600".join(texts)
    folds = [(module.folded, (text, _FOLDS)) for text in (*texts, wide)]
    return (*folds, *_passage(module, body))


def _passage(module: Any, body: bytes) -> Sequence[Call]:
    """The page in three widths of characters, asked for words and pairs of words of its own."""
    texts = (body.decode("latin-1"), body.decode("utf-8", "replace"))
    wide = "\U0001f600 ".join(texts)
    words = [word for word in wide.lower().split()[:400] if word[0].isalnum()]
    variants = Term(("a",), variants=(*words[:9], "b"))
    every = [
        *(Term((word,), len(word) / 3, len(word) % 2 == 0) for word in words[::40]),
        variants,
    ]
    every += [Term(tuple(words[at : at + 3])) for at in range(0, len(words) - 3, 60)]
    terms = tuple((one.weight, groups_of(one)) for one in every)
    return [
        (
            module.passage,
            (
                text,
                text[:find_passage].lower()[:find_passage],
                terms,
                wanted,
                find_passage > 999,
                width,
            ),
        )
        for text in (*texts, wide)
        for find_passage, wanted, width in ((0, 0, 0), (500, 2, 30), (len(text), 9, 240))
    ]


def _scan_ready(module: Any) -> None:
    if hasattr(module, "set_up"):
        module.set_up(Link, (LinkKind.ANCHOR, LinkKind.LINK), tuple(Place), relation_of, html5)


# Of each extension in native/extensions.py; one without a row fails a test.
TARGETS: Final[dict[str, Target]] = {
    ARCHIVE: Target(_captures, may_raise=(ValueError,)),
    PAGE: Target(_page, make_ready=_scan_ready),
    SEARCH: Target(_search),
}


def sources_of(name: str) -> list[Path]:
    """The C files of an extension; the first one has its name."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    built = {entry["name"]: entry for entry in project["tool"]["setuptools"]["ext-modules"]}
    return [HERE.parent / source for source in built[name]["sources"]]


def compile_apart(sources: Sequence[Path], folder: Path, flags: Sequence[str] = FLAGS) -> Path:
    """The extension with the sanitizers in it; where it cannot be compiled, gcc has said why."""
    library = folder / sources[0].with_suffix(".so").name
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run(["gcc", *flags, include, *map(str, sources), "-o", str(library)], check=True)
    return library


def sanitized() -> dict[str, str]:
    """The environment in which Python can load such a library: the sanitizer comes first of all,
    and Python asks it for each object apart. What Python itself never frees is no fault."""
    found = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    )
    return {
        **os.environ,
        "LD_PRELOAD": found.stdout.strip(),
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=1",
        "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1",
    }


def load(name: str, library: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, library)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages() -> list[bytes]:
    """What is mutated: always the same where the same folders are."""
    demo = [answer.body for host in build_web(80).values() for answer in host.values()]
    shared = HERE.parent.parent / "shared"
    homes = (
        os.environ.get("TEST_SITES", ""),
        os.environ.get("TEST_SUITES", str(shared / "suites")),
    )
    return demo + [page for home in homes if home for page in _pages_in(Path(home))]


def _pages_in(home: Path) -> Iterator[bytes]:
    paths = sorted(path for path in home.rglob("*.htm*") if path.is_file())
    random.Random(1).shuffle(paths)
    for path in paths[:PAGES]:
        yield path.read_bytes()


class NoMemory:
    """Makes one allocation fail, where this Python was built with the module that can."""

    def __init__(self) -> None:
        there = importlib.util.find_spec("_testcapi") is not None
        self._hooks: Any = importlib.import_module("_testcapi") if there else None

    def call(self, at: int, function: Callable[..., object], given: tuple[Any, ...]) -> None:
        """Call, while the allocation of that number fails; 0 for none."""
        if not at or self._hooks is None:
            function(*given)
            return
        stop = self._hooks.remove_mem_hooks
        self._hooks.set_nomemory(at - 1, at)  # those above the one, up to the other
        try:
            function(*given)
        except MemoryError:
            return
        finally:
            stop()


def try_page(target: Target, module: ModuleType, body: bytes, memory: NoMemory, at: int) -> None:
    """Call each function once. What takes too long ends the process: the alarm has no handler."""
    for function, given in target.calls(module, body):
        signal.alarm(MOST_S)
        try:
            memory.call(at, function, given)
        except target.may_raise:
            continue
        finally:
            signal.alarm(0)


def child(name: str, library: Path, folder: Path, seconds: float, seed: int) -> int:
    """Call with one mutated page after the other, each written down before; print their number."""
    module, target, memory = load(name, library), TARGETS[name], NoMemory()
    target.make_ready(module)
    seeds, chance = pages(), random.Random(seed)
    cases, end_s = 0, time.monotonic() + seconds
    with (folder / "body").open("wb", buffering=0) as last, (folder / "at").open("wb", 0) as number:
        while time.monotonic() < end_s:
            cases += 1
            body = mutate(chance, seeds)
            at = 0 if cases % NO_MEMORY_EVERY else int(1000 ** chance.random())
            os.pwrite(last.fileno(), body, 0)
            last.truncate(len(body))
            os.pwrite(number.fileno(), b"%-9d" % at, 0)
            try_page(target, module, body, memory, at)
    print(cases)
    return 0


def growth(name: str, library: Path) -> float:
    """Bytes of Python's memory that a call holds when it is over, by calling again as before; every
    other call misses one allocation. What is lost is lost each time: the least of three counts."""
    module, target, memory, seeds = load(name, library), TARGETS[name], NoMemory(), pages()[:50]
    target.make_ready(module)
    bodies = [mutate(random.Random(n), seeds)[:4000] for n in range(200)]
    held = []
    tracemalloc.start()
    for _ in range(5):  # in the first, what is made once and kept
        for n, body in enumerate(bodies):
            try_page(target, module, body, memory, 0)
            try_page(target, module, body, memory, n % 50 + 1)
        gc.collect()
        held.append(tracemalloc.get_traced_memory()[0])
    more = [after - before for before, after in itertools.pairwise(held[1:])]
    return min(more) / len(bodies) / 2


def call_again(name: str, library: Path, file: Path, at: int) -> int:
    """Call with one page that was kept."""
    module, target = load(name, library), TARGETS[name]
    target.make_ready(module)
    try_page(target, module, file.read_bytes(), NoMemory(), at)
    return 0


def fuzz(name: str, seconds: float, seed: int) -> bool:
    """Compile, call for some seconds, say what came; whether nothing did."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as made:
        folder = Path(made)
        try:
            library = compile_apart(sources_of(name), folder)
        except subprocess.CalledProcessError:
            print(f"{name} cannot be compiled without a warning: see above", file=sys.stderr)
            return False
        given = ["--child", str(library), "--only", name, "--seconds", str(seconds)]
        ended = subprocess.run(
            [sys.executable, "-m", "bench.fuzz_native", *given, "--seed", str(seed)],
            env=sanitized(),
            cwd=HERE.parent,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        is_well = ended.returncode == 0
        cases = int(ended.stdout) if is_well else None
        line = {"extension": name, "cases": cases, "seconds": seconds, "seed": seed}
        print(json.dumps({**line, "is_well": is_well}), flush=True)
        if not is_well and (folder / "body").exists():
            _keep(name, folder)
    return is_well


def _keep(name: str, folder: Path) -> None:
    """The page of the last call, where it can be looked at."""
    OUT.mkdir(exist_ok=True)
    kept = OUT / f"fuzz-{name}.bin"
    shutil.copyfile(folder / "body", kept)
    at = (folder / "at").read_text().strip()
    again = f"python -m bench.fuzz_native --only {name} --replay {kept.relative_to(HERE.parent)}"
    print(f"{again} --no-memory-at {at}", file=sys.stderr)


def replay(name: str, file: Path, at: int) -> int:
    """Call once more with a page that was kept; the exit code is that of the call."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as made:
        library = compile_apart(sources_of(name), Path(made))
        given = ["--child", str(library), "--only", name, "--replay", str(file.resolve())]
        command = [sys.executable, "-m", "bench.fuzz_native", *given, "--no-memory-at", str(at)]
        return subprocess.run(command, env=sanitized(), cwd=HERE.parent, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=600, help="for each extension")
    parser.add_argument("--only", choices=TARGETS)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--no-memory-at", type=int, default=0)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--growth", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not sys.platform.startswith("linux") or shutil.which("gcc") is None:
        parser.error("the sanitizers need Linux and gcc; on Debian: apt-get install gcc")
    if options.replay is not None and options.only is None:
        parser.error("--replay needs --only: for which extension?")
    if options.child is not None and options.growth:
        print(growth(options.only, options.child))
        return 0
    if options.child is not None and options.replay is not None:
        return call_again(options.only, options.child, options.replay, options.no_memory_at)
    if options.child is not None:
        folder = options.child.parent
        return child(options.only, options.child, folder, options.seconds, options.seed)
    if options.replay is not None:
        return replay(options.only, options.replay, options.no_memory_at)
    names = [options.only] if options.only else list(EXTENSIONS)
    well = [fuzz(name, options.seconds, options.seed) for name in names]
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
