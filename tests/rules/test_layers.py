"""The import rules of ARCHITECTURE.md: imports point down, and stages do not know each other.

Within a folder that has sub-folders, the same holds between those (`WITHIN`), and no modules import
each other in a circle.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "gossamer"
LAYERS = (
    {"errors", "base", "native", "version"},
    {"urls", "plugins"},
    {"records", "settings"},
    {"policies"},
    {
        "frontier",
        "politeness",
        "fetch",
        "parse",
        "archive",
        "graph",
        "index",
        "duplicates",
        "compare",
    },
    {"collection"},
    {"schedule", "workers"},
    {"reader"},
    {"search"},
    {"node"},
    {"transfer", "upkeep", "analyse", "demo"},
    {"lab"},
    {"fleet", "cluster"},
    {"api"},
    {"web"},
    {"cli"},
    {"__init__", "__main__"},
)
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
# Sub-folders, lowest first. What lies directly in the folder may be imported by all of them, and
# imports them: there the rule is that no circle arises.
WITHIN = {
    "cli": ("show", "run", "commands"),
    "fleet": ("packages", "update", "merging", "hub", "unit", "tree"),
    "frontier": ("duplicates", "visits", "selection", "levels"),
    "graph": ("ranks",),
    "lab": ("inputs", "order", "output", "parallel", "buffers", "tune", "scale", "focus"),
    "node": (
        "figures",
        "notify",
        "visits",
        "retention",
        "keeping",
        "selection",
        "start",
        "starts",
        "duplicates",
        "focus",
    ),
    "parse": ("language", "documents"),
    "policies": ("refresh", "orders", "focus", "traps"),
    "schedule": ("ready",),
    "search": ("copies",),
    "upkeep": (
        "checks",
        "retention",
    ),
    "web": ("protect", "views", "hub"),
}
FILES = sorted(SRC.rglob("*.py"))


@cache
def imports_of(path: Path) -> tuple[tuple[str, bool], ...]:
    """The modules of our package that a file imports, for types or for use, anywhere in it; with
    each whether that happens when the file is loaded."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    at_once = set(map(id, tree.body))
    found: list[tuple[str, bool]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            module = node.module or ""
            assert module != "gossamer", f"{path}: import from the module, not the package"
            names = [f"{module}.{alias.name}" for alias in node.names]
            names = [name if file_of(name) else module for name in names]
        else:
            continue
        found += [(name, id(node) in at_once) for name in names if name.startswith("gossamer.")]
    return tuple(found)


def file_of(module: str) -> Path | None:
    """The file of a module of ours; None where there is none."""
    inner = SRC.joinpath(*module.split(".")[1:])
    for path in (inner.with_suffix(".py"), inner / "__init__.py"):
        if path.is_file():
            return path
    return None


def test_every_folder_has_a_level() -> None:
    tops = {path.relative_to(SRC).parts[0].removesuffix(".py") for path in FILES}
    deeper = {
        path.relative_to(SRC).parts[:2] for path in FILES if len(path.relative_to(SRC).parts) > 2
    }

    assert tops <= set(LEVEL)
    assert deeper == {(top, below) for top, all_below in WITHIN.items() for below in all_below}


def test_no_folder_is_too_large_to_find_something_in() -> None:
    folders = {path.parent for path in FILES}
    sizes = {str(folder.relative_to(SRC)): len(list(folder.glob("*.py"))) for folder in folders}

    assert {name: size for name, size in sizes.items() if size > 25} == {}


def not_down(path: Path) -> Iterator[str]:
    """The imports of a file that do not point down."""
    part, *deeper = path.relative_to(SRC).with_suffix("").parts
    order = WITHIN.get(part, ())
    for module, _ in imports_of(path):
        target, *inner = module.split(".")[1:]
        is_below = LEVEL[target] < LEVEL[part] or target == part
        if target == part and len(deeper) > 1 and len(inner) > 1 and inner[0] in order:
            is_below = order.index(inner[0]) <= order.index(deeper[0])
        if not is_below:
            yield f"{path.relative_to(SRC)} may not import {module}"


def test_imports_point_down() -> None:
    assert FILES
    assert [fault for path in FILES for fault in not_down(path)] == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    known: dict[Path, bool] = {}  # False while what it imports is looked at

    def visit(path: Path, trail: tuple[Path, ...]) -> Iterator[str]:
        if known.get(path):
            return
        if path in known:
            circle = (*trail[trail.index(path) :], path)
            yield " -> ".join(str(step.relative_to(SRC)) for step in circle)
            return
        known[path] = False
        for module, is_at_once in imports_of(path):
            target = file_of(module)
            if is_at_once and target is not None and target != path:
                yield from visit(target, (*trail, path))
        known[path] = True

    assert [circle for path in FILES for circle in visit(path, ())] == []
