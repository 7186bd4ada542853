"""Programs of ours that others of ours start."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
SRC = TESTS.parent / "src" / "gossamer"


def commands(path: Path) -> list[list[str]]:
    """Each list in a file that begins with the interpreter, as written."""
    text = path.read_text("utf-8")
    if "executable" not in text:  # parsing is slow
        return []
    lists = (node for node in ast.walk(ast.parse(text)) if type(node) is ast.List)
    written = ([ast.unparse(part) for part in each.elts] for each in lists)
    return [command for command in written if command[:1] == ["sys.executable"]]


def test_no_program_of_ours_loads_what_lies_in_the_current_folder() -> None:
    found = [command for path in sorted(SRC.rglob("*.py")) for command in commands(path)]

    assert found
    assert all(command[1] == "'-P'" for command in found), found


def starts_processes(path: Path) -> bool:
    """Whether a file has its own way to start a process."""
    text = path.read_text("utf-8")
    if not re.search(r"\b(os|subprocess|multiprocessing)\b", text):  # parsing is slow
        return False
    tree = ast.parse(text)
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else _names(node))
    }
    called = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    forks = ("os.fork", "os.posix_spawn", "os.system", "os.exec", "os.spawn", "os.popen")
    return bool(imported & {"subprocess", "multiprocessing"}) or any(
        name.startswith(forks) for name in called
    )


def _names(node: ast.Import) -> list[str]:
    return [alias.name for alias in node.names]


def test_every_child_process_is_started_in_one_place() -> None:
    found = [
        str(path.relative_to(SRC)) for path in sorted(SRC.rglob("*.py")) if starts_processes(path)
    ]

    assert found == ["base/processes.py"]


def test_no_test_with_little_room_leaves_half_a_module() -> None:
    """Python keeps what it compiles, and does not see when only half of it was written."""
    limited = "RLIMIT_" + "FSIZE"
    files = [
        path for path in sorted(TESTS.rglob("test_*.py")) if limited in path.read_text("utf-8")
    ]

    assert len(files) > 3
    assert [path.name for path in files if '"-B"' not in path.read_text("utf-8")] == []
