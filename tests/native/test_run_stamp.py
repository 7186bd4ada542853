"""When does `run.py` install again? Its stamp knows the C files, and if there was a compiler."""

from __future__ import annotations

import runpy
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


class Clone:
    """A clone that holds no more than what the stamp is about; its `.venv` is this Python's."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.source = home / "src" / "gossamer" / "_part.c"
        self.built = self.source.with_suffix(str(sysconfig.get_config_var("EXT_SUFFIX")))
        self.source.parent.mkdir(parents=True)
        self.source.write_text("int part;\n")
        (home / "pyproject.toml").write_text("[project]\n")
        shutil.copy(ROOT / "run.py", home)
        python = self.program["PYTHON"]
        python.parent.mkdir(parents=True)
        python.symlink_to(sys.executable)

    @property
    def program(self) -> dict[str, Any]:
        return runpy.run_path(str(self.home / "run.py"))

    def stamp(self, *, could_compile: bool) -> None:
        words = f"{self.program['fingerprint']()} .[dev] {could_compile:d}\n"
        self.program["STAMP"].write_text(words)

    def is_installed(self, what: str = ".") -> bool:
        return bool(self.program["is_installed"](what))


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    monkeypatch.setenv("CC", "a compiler")
    return Clone(tmp_path)


def test_a_second_run_installs_nothing(clone: Clone) -> None:
    assert not clone.is_installed()
    clone.stamp(could_compile=True)

    assert clone.is_installed()
    assert clone.is_installed(".[dev]")


def test_a_changed_c_file_is_a_reason(clone: Clone) -> None:
    clone.stamp(could_compile=True)
    clone.source.write_text("long part;\n")

    assert not clone.is_installed()


def test_a_new_header_is_a_reason(clone: Clone) -> None:
    clone.stamp(could_compile=True)
    clone.source.with_suffix(".h").write_text("int other;\n")

    assert not clone.is_installed()


def test_a_compiler_that_has_come_is_a_reason(clone: Clone) -> None:
    clone.stamp(could_compile=False)

    assert clone.is_installed() is not clone.program["can_compile"]()


def test_no_compiler_as_before_is_none(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(clone.home))
    clone.stamp(could_compile=False)

    assert clone.is_installed()


def test_a_compiler_that_failed_is_none(clone: Clone) -> None:
    clone.stamp(could_compile=True)
    clone.built.unlink(missing_ok=True)

    assert clone.is_installed()


def test_what_somebody_built_by_another_compiler_is_kept(clone: Clone) -> None:
    clone.stamp(could_compile=False)
    clone.built.write_bytes(b"")

    assert clone.is_installed()


@pytest.mark.parametrize("words", ["", "one", "one two", "one two three four"])
def test_a_stamp_of_another_version_is_a_reason(words: str, clone: Clone) -> None:
    clone.program["STAMP"].write_text(words)

    assert not clone.is_installed()
