"""On real manuals, the main part of a page has its title and all of its sections."""

import random
from typing import Final

import pytest
import turbohtml

from gossamer.parse.main_part import main_part
from gossamer.parse.text_walk import text_of
from support.sites import files_of

pytestmark = pytest.mark.slow

SITES: Final = ("python", "postgresql", "sqlite", "handbook")
PAGES: Final = 100
SECONDARY: Final = "nav, aside, footer, [role=navigation]"


@pytest.mark.parametrize("name", SITES)
def test_a_manual_keeps_its_title_and_its_sections(name: str) -> None:
    files = files_of(name)
    lost: dict[str, list[str]] = {}
    for file in random.Random(name).sample(files, min(PAGES, len(files))):
        html = file.read_bytes()
        part = main_part(turbohtml.parse(html))
        shown = "" if part is None else plain(text_of(part))
        headings = turbohtml.parse(html).select("h1, h2, h3, h4")
        wanted = [plain(one.text) for one in headings if one.closest(SECONDARY) is None]
        if missing := [one for one in wanted if one not in shown]:
            lost[str(file)] = missing

    assert len(lost) <= 2, lost  # title pages name their authors in headings


def plain(text: str) -> str:
    return " ".join(text.replace("¶", " ").split())
