"""One name means one thing: no class or type is defined twice under the same name."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path

from gossamer.settings import SECTIONS
from support.longest import LONGEST

SRC = Path(__file__).parents[2] / "src" / "gossamer"


def types_of(path: Path) -> list[str]:
    """The public classes and type aliases that a file defines, in the form of class names."""
    names: list[str] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.ClassDef():
                names.append(node.name)
            case ast.Assign(targets=[ast.Name() as target]):
                names.append(target.id)
            case ast.AnnAssign(target=ast.Name() as target):
                names.append(target.id)
    return [name for name in names if name[0].isupper() and not name.isupper()]


def test_no_two_modules_define_a_type_of_the_same_name() -> None:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(SRC.rglob("*.py")):
        for name in types_of(path):
            found[name].append(str(path.relative_to(SRC)))
    # A section of the settings is named after its heading in gossamer.toml.
    sections = {section.__name__ for section in SECTIONS}
    twice = {
        name: paths
        for name, paths in found.items()
        if len([path for path in paths if name not in sections or path != "settings.py"]) > 1
    }

    assert twice == {}


def test_the_files_that_run_first_are_there() -> None:
    assert [path for path in LONGEST if not path.is_file()] == []


def test_no_two_test_files_have_the_same_name() -> None:
    """pytest imports them by their name alone."""
    names = Counter(path.name for path in SRC.parents[1].joinpath("tests").rglob("test_*.py"))

    assert [name for name, count in names.items() if count > 1] == []
