"""What people read is plain technical English: no metaphors that have to be learned."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.cli.docs import PAGES
from gossamer.settings import KEYS, describe

ROOT = Path(__file__).parents[2]
# Decision records and generated pages apart: the former are history, the latter are tested below.
DOCUMENTS = sorted(
    path
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "formats").glob("*.md"),
    )
    if str(path.relative_to(ROOT)) not in PAGES
)
SOURCE = ROOT / "src" / "gossamer"
# The parts that write to people. Strings of one or two words are names, as in JSON and on disk.
SPEAKING = sorted(
    path
    for part in ("analyse", "cli", "collection", "reader", "transfer", "upkeep", "web")
    for path in (SOURCE / part).rglob("*.py")
)
PAGE_TEXTS = sorted(
    path
    for pattern in ("web/templates/*.html", "web/static/*.js", "analyse/*.html")
    for path in SOURCE.glob(pattern)
)
# Each with the word of CONTRIBUTING.md's glossary that is used instead.
INSTEAD = {
    r"crews?": "worker pool",
    r"errands?": "auxiliary fetch",
    r"harvest(?![ _]rate)\w*": "process",  # "harvest rate" is the term for focused crawls
    r"unasked": "skipped",
    r"kin": "stemming variants",
    r"manners": "politeness",
    r"askings?|asked for|asks? for (?:a|the) (?:page|URL|sitemap)s?": "request",
    r"go(?:es|ing)? on|went on": "resume, continue",
    r"rests|resting|rested": "delay",
    r"under way": "in flight",
    r"be had": "fetched",
    r"mend(?:s|ed|ing)?": "repair",
    r"(?:one|two) a line": "per line",
    r"at the (?:most|least)": "at most, at least",
    r"is no (?:URL|page|host|text|prose|date)": "is not a",
    r"what (?:it|they) became|what became of": "outcome, status",
}
WORDS = {re.compile(rf"\b(?:{words})\b", re.IGNORECASE): word for words, word in INSTEAD.items()}
# Folders whose docstrings and comments are held to the glossary, too.
PLAIN_FOLDERS = (
    "archive", "base", "fetch", "graph", "index", "native", "node", "parse", "politeness",
    "search", "urls", "workers",
)  # fmt: skip
MODULES = sorted(
    path for folder in PLAIN_FOLDERS for path in (ROOT / "src" / "gossamer" / folder).rglob("*.py")
)
_CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def unclear(text: str) -> list[str]:
    """The words of `text` that have a better one, names in backticks apart."""
    prose = _CODE.sub("", text)
    return [
        f"{found[0]!r}: {word}" for words, word in WORDS.items() for found in words.finditer(prose)
    ]


def remarks(source: str) -> Iterator[str]:
    """The docstrings and comments of a module, each on one line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield " ".join((ast.get_docstring(node) or "").split())
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def in_files(files: list[Path]) -> Iterator[tuple[str, str]]:
    """Name and text of each file; there is at least one."""
    assert files
    for path in files:
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def test_a_document_uses_the_words_of_the_glossary() -> None:
    found = {name: unclear(text) for name, text in in_files(DOCUMENTS)}

    assert not {name: faults for name, faults in found.items() if faults}


def test_the_help_of_a_setting_uses_the_words_of_the_glossary() -> None:
    found = {key: unclear(describe(key)[2]) for key in KEYS}

    assert not {key: faults for key, faults in found.items() if faults}


@pytest.mark.parametrize("name", [name for name in PAGES if name.endswith(".md")])
def test_a_generated_page_uses_the_words_of_the_glossary(name: str) -> None:
    assert not unclear(PAGES[name]())


def test_docstrings_and_comments_use_the_words_of_the_glossary() -> None:
    assert not [
        f"{name}: {fault} in {remark!r}"
        for name, source in in_files(MODULES)
        for remark in remarks(source)
        for fault in unclear(remark)
    ]


def test_a_module_docstring_says_what_the_module_does_and_asks_nothing() -> None:
    assert not [
        name
        for name, source in in_files(MODULES)
        if re.match(r"[^.?]*\?", ast.get_docstring(ast.parse(source)) or "")
    ]


def texts_in(source: str) -> list[str]:
    """Messages and docstrings: every string of three words or more."""
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    texts = (node.value for node in found if isinstance(node.value, str))
    return [text for text in texts if len(text.split()) > 2]


def test_messages_and_docstrings_use_the_words_of_the_glossary() -> None:
    assert not [
        f"{name}: {word}"
        for name, source in in_files(SPEAKING)
        for text in texts_in(source)
        for word in unclear(text)
    ]


def test_a_page_of_the_web_interface_uses_the_words_of_the_glossary() -> None:
    assert not [
        f"{name}: {word}"
        for name, text in in_files(PAGE_TEXTS)
        for word in unclear(re.sub(r"\{[%{#].*?[%}#]\}", "", text, flags=re.DOTALL))
    ]


def test_the_glossary_explains_each_word_once() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## Glossary", 1)[1]
    words = [
        word for row in re.findall(r"^\| (\*\*.+?) \|", text, re.MULTILINE)
        for word in re.findall(r"\*\*(.+?)\*\*", row)
    ]  # fmt: skip

    assert len(words) > 30
    assert len(words) == len(set(words))
