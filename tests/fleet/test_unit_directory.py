"""Where a unit keeps its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.fleet.update.start_file import unit_directory


@pytest.mark.parametrize(
    ("words", "environ", "wanted"),
    [
        ("unit run -d /a", {}, "/a"),
        ("unit run --directory /a", {"GOSSAMER_UNIT": "/b"}, "/a"),
        ("unit run --directory=/a", {}, "/a"),
        ("unit run", {"GOSSAMER_UNIT": "/b"}, "/b"),
        ("unit run", {}, "~/.gossamer-unit"),
        ("unit run -d", {}, "~/.gossamer-unit"),
    ],
)
def test_a_flag_wins_over_the_variable_over_the_default(
    words: str, environ: dict[str, str], wanted: str
) -> None:
    assert unit_directory(words.split(), environ) == Path(wanted).expanduser()
