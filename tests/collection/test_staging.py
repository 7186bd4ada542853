"""Parts made aside take their place together, whenever it is interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.collection.staging import NEW, OLD, PARTS, begin_staging, is_ready, make_ready, settle

OLD_PARTS = {part: f"old {part}" for part in PARTS}
NEW_PARTS = {part: f"new {part}" for part in PARTS}


def put(folder: Path, parts: dict[str, str]) -> None:
    for part, text in parts.items():
        if part.endswith(".txt"):
            (folder / part).write_text(text, encoding="utf-8")
        else:
            (folder / part).mkdir()
            (folder / part / "x").write_text(text, encoding="utf-8")


def parts_in(home: Path) -> dict[str, str]:
    found = {}
    for path in home.iterdir():
        file = path / "x" if path.is_dir() else path
        found[path.name] = file.read_text(encoding="utf-8")
    return found


def test_parts_that_are_not_ready_are_thrown_away(tmp_path: Path) -> None:
    put(tmp_path, OLD_PARTS)
    put(begin_staging(tmp_path), NEW_PARTS)

    settle(tmp_path)

    assert parts_in(tmp_path) == OLD_PARTS


def test_parts_that_are_ready_take_their_place(tmp_path: Path) -> None:
    put(tmp_path, OLD_PARTS)
    put(begin_staging(tmp_path), NEW_PARTS)

    make_ready(tmp_path)
    settle(tmp_path)

    assert parts_in(tmp_path) == NEW_PARTS


@pytest.mark.parametrize("moves", range(2 * len(PARTS) + 1))
def test_a_kill_between_any_two_moves_is_made_up_for(tmp_path: Path, moves: int) -> None:
    put(tmp_path, OLD_PARTS)
    put(begin_staging(tmp_path), NEW_PARTS)
    make_ready(tmp_path)
    for move in range(moves):
        part, is_second = PARTS[move // 2], move % 2
        (tmp_path / OLD).mkdir(exist_ok=True)
        source, target = (NEW, ".") if is_second else (".", OLD)
        (tmp_path / source / part).rename(tmp_path / target / part)
    assert is_ready(tmp_path)

    settle(tmp_path)

    assert parts_in(tmp_path) == NEW_PARTS


def test_a_kill_while_the_old_parts_are_deleted_is_made_up_for(tmp_path: Path) -> None:
    put(tmp_path, NEW_PARTS)
    begin_staging(tmp_path)
    make_ready(tmp_path)
    (tmp_path / OLD).mkdir()
    put(tmp_path / OLD, {"index": "half deleted"})

    settle(tmp_path)

    assert parts_in(tmp_path) == NEW_PARTS
