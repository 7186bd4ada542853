"""The crawlers that are compared: ours in its forms, and those of others.

Each does its whole task: ours archives, keeps the links and its state; wget2 and HTTrack write
files; Scrapy writes a line per page. All follow links within the hosts of the seeds, ask robots.txt
and rest for nobody.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.figures import ALL, ALONE, BARE, MANY

HERE: Final = Path(__file__).resolve().parent
OUT: Final = HERE / "out"
Command = Callable[[Path, Sequence[str]], list[str]]


@dataclass(frozen=True, slots=True)
class Crawler:
    """A name for tables and a command, told where it may write and where to start."""

    name: str
    command: Command


def ours(name: str, *flags: str) -> Crawler:
    """Our program as this interpreter has it, with further flags."""
    program = [sys.executable, "-m", "gossamer", "crawl"]
    quick = ["--delay", "0", "--per-host", "16", "--connections", "64", "--json"]

    def command(out: Path, seeds: Sequence[str]) -> list[str]:
        return [*program, *seeds, "-c", str(out / "collection"), *quick, *flags]

    return Crawler(name, command)


def scrapy() -> Crawler:
    python = scrapy_python()

    def command(out: Path, seeds: Sequence[str]) -> list[str]:
        return [str(python), str(HERE / "spider.py"), str(out / "items.jsonl"), *seeds]

    return Crawler("Scrapy", command)


def wget2() -> Crawler:
    def command(out: Path, seeds: Sequence[str]) -> list[str]:
        # 16 threads, of which it uses what it needs; left alone it has 5.
        quick = ["--no-config", "-q", "--level=0", "--max-threads=16"]
        return ["wget2", "-r", *quick, "-P", str(out), *seeds]

    return Crawler("wget2 -r", command)


def httrack() -> Crawler:
    def command(out: Path, seeds: Sequence[str]) -> list[str]:
        # Left alone it takes 4 connections and 100 KB a second.
        quick = ["-q", "-I0", "-c16", "-%c0", "--disable-security-limits", "--max-rate=0"]
        return ["httrack", *seeds, "-O", str(out), *quick]

    return Crawler("HTTrack", command)


def everyone() -> list[Crawler]:
    """Ours, and the others as far as they are there; who is missing is named."""
    crawlers = [
        ours(ALL),
        ours(BARE, "--no-index", "--no-graph"),
        scrapy(),
    ]
    for program, build in (("wget2", wget2), ("httrack", httrack)):
        if shutil.which(program) is None:
            print(f"without {program}; on Debian: apt-get install {program}", file=sys.stderr)
        else:
            crawlers.append(build())
    return crawlers


def with_and_without_workers() -> list[Crawler]:
    """Ours as it is left alone, and as one process."""
    return [ours(MANY), ours(ALONE, "--workers", "0")]


def scrapy_python() -> Path:
    """An interpreter with Scrapy: `$BENCH_SCRAPY`, or one of our own in out/, made once.

    Not the one that runs us: what Scrapy brings along must not change what we measure.
    """
    if "BENCH_SCRAPY" in os.environ:
        return Path(os.environ["BENCH_SCRAPY"])
    home = OUT / "scrapy"
    python = home / "bin" / "python"
    if not (home / "whole").exists():
        print("installing Scrapy into bench/out (once) ...", file=sys.stderr)
        project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
        wanted = project["project"]["optional-dependencies"]["bench"]
        venv.create(home, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", *wanted], check=True)
        (home / "whole").touch()
    return python
