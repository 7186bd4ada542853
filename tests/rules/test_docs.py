"""The documents tell the truth: paths exist, reasons are explained, nothing else is the subject."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from gossamer.records import Outcome, Reason
from gossamer.settings import KEYS, SECTIONS
from support.rows import each_row

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
    if path.name != "LICENSE.md"
)
# Where a document may count its paths from, beside its own folder.
STARTS = (ROOT, ROOT / "src" / "gossamer", ROOT / "src")
SUFFIXES = (".py", ".md", ".toml", ".svg", ".sh", ".ci")
# Files that a crawl makes or a person writes; they are not in this repository.
MADE = {"gossamer.toml", "crawl.jsonl", "manifest.json", "src/gossamer/web/static/vendor/"}
SECTION_NAMES = {section.__name__.lower() for section in SECTIONS}

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_TICKED = re.compile(r"`([^`\n]+)`")
_LINKED = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
_PATH = re.compile(r"\.?[\w.-]+(?:/[\w.-]+)*/?")


def ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def prose_of(document: Path) -> str:
    return _FENCE.sub("", document.read_text(encoding="utf-8"))


def linked_paths(document: Path) -> Iterator[str]:
    """Targets of links that are no URLs and lie in another file."""
    for markdown, html in _LINKED.findall(prose_of(document)):
        target = (markdown or html).partition("#")[0]
        if target and "://" not in target and not target.startswith("mailto:"):
            yield target


def ticked_paths(document: Path) -> Iterator[str]:
    """What stands in backticks and looks like a path of this repository.

    A path has a known suffix, or begins with a folder of the root or of the package. Folders of a
    collection, MIME types and `host/path` are none.
    """
    folders = {path.name for start in (ROOT, ROOT / "src" / "gossamer") for path in start.iterdir()}
    for words in _TICKED.findall(prose_of(document)):
        if not _PATH.fullmatch(words) or words in MADE:
            continue
        if words.endswith(SUFFIXES) or ("/" in words and words.split("/")[0] in folders):
            yield words


def exists(named: str, document: Path) -> bool:
    return any((start / named).exists() for start in (document.parent, *STARTS))


def test_every_link_leads_to_a_file() -> None:
    dead = [
        f"{ids(document)} links to {named}"
        for document in DOCUMENTS
        for named in linked_paths(document)
        if not (document.parent / named).exists()
    ]

    assert not dead


@cache
def headings_of(document: Path) -> set[str]:
    """The names by which links reach the headings of a document."""
    texts = re.findall(r"^#+ (.+)$", prose_of(document), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in texts}


def test_every_link_into_a_page_leads_to_a_heading() -> None:
    links = [
        (document, *to)
        for document in DOCUMENTS
        for to in re.findall(r"\]\(([^)\s:#]*)#([^)\s]+)\)", prose_of(document))
    ]
    dead = [
        f"{ids(document)} links to {path}#{name}"
        for document, path, name in links
        if name not in headings_of(document.parent / path if path else document)
    ]

    assert not dead


def test_every_path_that_is_named_exists() -> None:
    dead = [
        f"{ids(document)} names {named}"
        for document in DOCUMENTS
        for named in ticked_paths(document)
        if not exists(named, document)
    ]

    assert not dead


def dead_settings(document: Path) -> list[str]:
    """What a document names like a setting, and is none."""
    named = [words for words in _TICKED.findall(prose_of(document)) if "." in words]
    settings = [words.split(" ")[0] for words in named if words.split(".")[0] in SECTION_NAMES]
    dead = [key for key in settings if re.fullmatch(r"\w+\.\w+", key) and key not in KEYS]
    return [key for key in dead if not key.endswith(SUFFIXES)]


def test_every_setting_that_is_named_exists() -> None:
    assert not [f"{ids(path)} names {key}" for path in DOCUMENTS for key in dead_settings(path)]


def explained(heading: str) -> list[str]:
    """The first column of the table under a heading of docs/reasons.md that begins so."""
    text = (ROOT / "docs" / "reasons.md").read_text(encoding="utf-8")
    part = text.split(f"\n## {heading}", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| `(\w+)` \| \S", part, re.MULTILINE)


def test_every_outcome_is_explained() -> None:
    assert explained("Outcomes") == [outcome.value for outcome in Outcome]


def test_every_reason_is_explained_and_no_other() -> None:
    named = explained("Refused") + explained("Failed")

    assert named == [reason.value for reason in Reason]


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    more = [name for names in project["optional-dependencies"].values() for name in names]
    decided = (ROOT / "docs" / "adr" / "0002-dependencies.md").read_text(encoding="utf-8").lower()
    rows = set(re.findall(r"^\| ([\w.-]+) \|", decided, re.MULTILINE))

    def plain(requirement: str) -> str:
        found = re.match(r"[\w.-]+", requirement)
        assert found
        return found[0].lower()

    assert {plain(name) for name in project["dependencies"]} == rows - {"package"}
    assert all(plain(name) in decided for name in more)


def test_the_license_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")

    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text


# Written in two parts, so that this file may hold the list.
FORBIDDEN = tuple(
    "".join(parts)
    for parts in (
        ("/ro", "ot/"),
        ("/ho", "me/"),
        ("/wo", "rk/"),
        ("py", "pi."),
        ("language ", "model"),
        ("ai ", "assistant"),
        ("chat", "gpt"),
        ("clau", "de"),
        ("copi", "lot"),
        ("generated ", "by ai"),
    )
)
TEXTS = sorted(
    path
    for folder in ("src", "tests", "docs", "bench", "examples", ".ci", ".github")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".c", ".h", ".md", ".toml", ".svg", ".yml", ""}
    and path.is_file()
    and "__pycache__" not in path.parts
)


@each_row("word", FORBIDDEN)
def test_the_project_speaks_of_itself_alone(word: str) -> None:
    files = [
        *TEXTS,
        *ROOT.glob("*.md"),
        ROOT / "pyproject.toml",
        ROOT / "run.py",
        ROOT / "Makefile",
        ROOT / "Containerfile",
    ]
    guilty = [
        ids(path) for path in files if word in path.read_text("utf-8", errors="replace").lower()
    ]

    assert not guilty
