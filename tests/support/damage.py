"""A collection to damage, and ways to damage a file of it.

with a_collection(path) as site: ...      30 pages, crawled from a server of the test
damage(file, "flip")                      one of `WAYS`
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from support.a_site import Pages, page, redirect, robots

WAYS: Final = ("flip", "cut", "empty", "delete", "junk")
_WORDS: Final = "otter river heron reed willow"


def thirty_pages() -> Pages:
    """A site with a seed page, 30 pages, a redirect, a refusal by robots.txt and one by scope."""
    links = "".join(f"<a href=/p{n}>page number {n}</a> " for n in range(30))
    pages = {
        "/robots.txt": robots("User-agent: *\nDisallow: /private"),
        "/": page(
            f"<title>Home</title>{links}<a href=/private/x>no</a> <a href=//other.example/>o</a>"
        ),
        "/moved": redirect("/p1"),
    }
    for n in range(30):
        text = " ".join(f"word{n * 7 + m} {_WORDS}" for m in range(40))
        pages[f"/p{n}"] = page(
            f"<title>Page {n}</title><h1>Head {n}</h1><p>{text}</p>"
            f"<a href=/p{(n + 1) % 30}>next</a> <a href=/moved>moved</a>"
        )
    return pages


def files_of(path: Path) -> list[Path]:
    """The files of a collection, as paths in it, without those that nothing depends on."""
    left_out = (
        "run/",
        "state/LOG",
        "state/LOCK",
        "state/rocksdict-config.json",  # RocksDB's wrapper rewrites it at every open
        "index/g000001/words/.tantivy",
    )
    found = (one.relative_to(path) for one in sorted(path.rglob("*")) if one.is_file())
    return [one for one in found if not one.as_posix().startswith(left_out)]


def damage(file: Path, way: str, at: float = 0.5) -> bool:
    """Damage a file. Return whether there was anything to damage."""
    data = bytearray(file.read_bytes())
    place = int(len(data) * at)
    match way:
        case "flip" if data:
            data[place] ^= 0x10
        case "cut" if data:
            del data[place:]
        case "empty" if data:
            data.clear()
        case "junk":
            data += bytes(4096)
        case "delete":
            file.unlink()
            return True
        case _:
            return False
    # A hard link of a file, as in a backup, keeps its bytes: the file is replaced, not changed.
    file.unlink()
    file.write_bytes(data)
    return True
