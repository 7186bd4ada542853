"""Read jobs from a file: a list of URLs, CSV, JSON lines or TOML.

    .txt     one URL per line; `#` begins a comment
    .csv     a header with `url` (or `seed`, `site`) and any of the fields below
    .jsonl   one object per line
    .toml    [[job]] tables; [defaults] holds fields for all

Fields: url or seeds, kind, name, returns, depth, max_pages, max_bytes, max_time_s, place, filter,
analyses, options, and the options of a job by their names (`scope`, `order`, `duplicates`, ...).
`defaults` are fields for jobs that do not have them. A fault names the line.
"""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from gossamer.errors import UsageError
from gossamer.fleet.hub.job_options import ALLOWED
from gossamer.fleet.protocol import JobSpec
from gossamer.settings import nearest

FORMATS: Final = ("txt", "csv", "jsonl", "toml")
MOST_JOBS: Final = 100_000  # of one file
_FIELDS: Final = frozenset(msgspec.structs.asdict(JobSpec(kind="site", seeds=())))
_URLS: Final = ("url", "seed", "site")
_NUMBERS: Final = {"depth": int, "max_pages": int, "max_bytes": int, "max_time_s": float}

_Row = tuple[str, dict[str, Any]]


def format_of(name: str) -> str:
    """The format of a file, by its extension."""
    ending = name.rpartition(".")[2].lower() if "." in name else "txt"
    return {"json": "jsonl", "ndjson": "jsonl"}.get(ending, ending if ending in FORMATS else "txt")


def read_jobs(text: str, form: str, defaults: Mapping[str, Any], where: str) -> list[JobSpec]:
    """The jobs in a text. Raises UsageError with the line."""
    rows = {"txt": _lines, "csv": _csv, "jsonl": _json_lines, "toml": _toml}[form]
    found = list(rows(text, where))
    if form == "txt" and defaults.get("kind") == "list" and found:
        urls = [fields["url"] for _, fields in found]
        found = [(where, {"seeds": urls})]
    if not found:
        raise UsageError(f"{where} has no job")
    if len(found) > MOST_JOBS:
        raise UsageError(f"{where} has more than {MOST_JOBS:,} jobs; split it")
    return [spec_of({**defaults, **fields}, place) for place, fields in found]


def spec_of(fields: Mapping[str, Any], place: str) -> JobSpec:
    """A job of fields. Raises UsageError."""
    given = {name: value for name, value in fields.items() if value not in ("", None)}
    seeds = given.pop("seeds", None)
    for name in _URLS:
        if (url := given.pop(name, None)) is not None and seeds is None:
            seeds = [url]
    if isinstance(seeds, str):
        seeds = seeds.split()
    options = {**given.pop("options", {}), **_take_options(given, place)}
    kind = given.pop("kind", "list" if seeds and len(seeds) > 1 else "site")
    if isinstance(given.get("place"), str):
        given["place"] = {"label": given["place"]}
    try:
        for name, number in _NUMBERS.items():
            if isinstance(given.get(name), str):
                given[name] = number(given[name])
        whole = {**given, "kind": kind, "seeds": seeds or (), "options": options}
        return msgspec.convert(whole, JobSpec)
    except (msgspec.ValidationError, ValueError, TypeError) as fault:
        raise UsageError(f"{place}: {fault}") from None


def _take_options(given: dict[str, Any], place: str) -> dict[str, Any]:
    """The options of a job among its fields. Raises UsageError for what is neither."""
    options = {}
    for name in [name for name in given if name not in _FIELDS]:
        if name not in ALLOWED:
            known = [*_FIELDS, *ALLOWED, *_URLS]
            raise UsageError(f"{place}: {name!r} is not a field of a job{nearest(name, known)}")
        options[name] = given.pop(name)
    return options


def _lines(text: str, where: str) -> Iterator[_Row]:
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        url = line.split(" #")[0].strip()
        if url and not url.startswith("#"):
            yield f"{where}, line {number}", {"url": url}


def _csv(text: str, where: str) -> Iterator[_Row]:
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    names = [name.strip().lower() for name in reader.fieldnames or ()]
    if not {*_URLS, "seeds"} & set(names):
        raise UsageError(f"{where}, line 1: the header has no column `url`")
    reader.fieldnames = names
    for row in reader:
        place = f"{where}, line {reader.line_num}"
        if None in row:
            raise UsageError(f"{place}: the line has more cells than the header")
        yield place, {name: value.strip() for name, value in row.items() if value}


def _json_lines(text: str, where: str) -> Iterator[_Row]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield f"{where}, line {number}", _object(line, f"{where}, line {number}")


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as fault:
        raise UsageError(f"{place}: not valid JSON: {fault}") from None
    if not isinstance(found, dict):
        raise UsageError(f"{place}: an object is expected")
    return found


def _toml(text: str, where: str) -> Iterator[_Row]:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise UsageError(f"{where}: not valid TOML: {fault}") from None
    for name in found:
        if name not in ("job", "defaults"):
            raise UsageError(f"{where}: {name!r} is not a table of jobs; use [[job]] or [defaults]")
    jobs, defaults = found.get("job", []), found.get("defaults", {})
    if not isinstance(jobs, list) or not isinstance(defaults, dict):
        raise UsageError(f"{where}: jobs are [[job]] tables, and [defaults] is one table")
    for number, job in enumerate(jobs, 1):
        yield f"{where}, job {number}", {**defaults, **job}
