"""The import rules of ARCHITECTURE.md: imports point down, and stages do not know each other."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "gossamer"
LAYERS = (
    {"errors", "base", "version"},
    {"urls"},
    {"records", "settings"},
    {"policies"},
    {"frontier", "politeness", "fetch", "parse", "archive", "graph", "index", "duplicates"},
    {"collection"},
    {"schedule", "workers"},
    {"reader"},
    {"node", "search"},
    {"transfer", "upkeep", "analyse", "lab", "demo"},
    {"fleet", "cluster"},
    {"api"},
    {"web"},
    {"cli"},
    {"__init__", "__main__"},
)
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}


def own_imports(path: Path) -> Iterator[str]:
    """The parts of our package that a file imports, for types or for use, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            names = [node.module or ""]
        else:
            continue
        for name in names:
            assert name != "gossamer", f"{path}: import from the module, not the package"
            if name.startswith("gossamer."):
                yield name.split(".")[1]


@pytest.mark.parametrize("path", sorted(SRC.rglob("*.py")), ids=lambda p: str(p.relative_to(SRC)))
def test_imports_point_down(path: Path) -> None:
    part = path.relative_to(SRC).parts[0].removesuffix(".py")
    for target in own_imports(path):
        assert target == part or LEVEL[target] < LEVEL[part], f"{part} may not import {target}"
