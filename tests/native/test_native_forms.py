"""Parts in C: named alike in three places, built, and passed over where that is due."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gossamer.base import native
from gossamer.base.native import EXTENSIONS, Form, load, look
from gossamer.collection.configure import configure
from gossamer.settings import Settings
from gossamer.upkeep.check_machine import Check, doctor
from support.need import need_program

ROOT = Path(__file__).parents[2]
A_NAME = next(iter(EXTENSIONS))


def built_by_pyproject() -> dict[str, dict[str, Any]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {entry["name"]: entry for entry in project["tool"]["setuptools"]["ext-modules"]}


def source_of(name: str) -> Path:
    return ROOT / "src" / Path(*name.split(".")).with_suffix(".c")


def need_built(name: str) -> ModuleType:
    """The extension; where it is not built the test skips, or fails when `CI` is `true`."""
    form, module = look(name)
    if module is not None:
        return module
    missing = f"{name} is {form.value} (`make native`)"
    if os.environ.get("CI") == "true" and form is not Form.OFF:
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)


def inner_loops() -> Check:
    return next(check for check in doctor() if check.name == "inner loops")


@pytest.fixture
def a_stranger(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """In place of the first extension, a file that another version left there."""
    stranger = ModuleType(A_NAME)
    stranger.__dict__["API"] = EXTENSIONS[A_NAME] + 1
    monkeypatch.setitem(sys.modules, A_NAME, stranger)
    monkeypatch.delenv(native.VARIABLE, raising=False)
    return stranger


def test_every_extension_is_in_the_table_and_is_built() -> None:
    assert built_by_pyproject().keys() == EXTENSIONS.keys()


@pytest.mark.parametrize("name", EXTENSIONS)
def test_no_extension_is_needed_to_install(name: str) -> None:
    entry = built_by_pyproject()[name]

    assert entry["optional"] is True
    assert [ROOT / path for path in entry["sources"]] == [source_of(name)]
    assert not [flag for flag in entry["extra-compile-args"] if flag.startswith("-m")]


@pytest.mark.parametrize("name", EXTENSIONS)
def test_the_number_in_c_is_the_number_wanted(name: str) -> None:
    text = source_of(name).read_text(encoding="utf-8")

    assert re.findall(r"^#define \w*API (\d+)$", text, re.MULTILINE) == [str(EXTENSIONS[name])]


@pytest.mark.parametrize("name", EXTENSIONS)
def test_the_compiled_form_is_built_from_the_source_that_is_here(name: str) -> None:
    module = need_built(name)
    sources = source_of(name).parent.glob("*.[ch]")

    assert module.__file__ is not None
    built_s = Path(module.__file__).stat().st_mtime
    newer = [path.name for path in sources if path.stat().st_mtime > built_s]
    assert not newer, "`make native` builds what has changed"


@pytest.mark.slow
@pytest.mark.parametrize("name", EXTENSIONS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_compiler_warns(compiler: str, name: str, tmp_path: Path) -> None:
    if compiler == "gcc":
        need_program("gcc", "build-essential")
    elif shutil.which(compiler) is None:
        pytest.skip("clang is not there, and one compiler is enough for every day")
    include = f"-I{sysconfig.get_path('include')}"
    command = [compiler, "-c", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", include]

    ended = subprocess.run(
        [*command, source_of(name), "-o", tmp_path / "made.o"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("name", EXTENSIONS)
def test_a_variable_turns_all_of_them_off(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.VARIABLE, "0")

    assert look(name) == (Form.OFF, None)
    assert inner_loops().says == "Python, since GOSSAMER_NATIVE is 0"


def test_the_variable_is_no_setting_and_no_fault(tmp_path: Path) -> None:
    found = configure(tmp_path, {}, {native.VARIABLE: "0", "XDG_CONFIG_HOME": str(tmp_path)})

    assert found.settings == Settings()


def test_one_of_another_version_is_passed_over(a_stranger: ModuleType) -> None:
    assert look(A_NAME) == (Form.OTHER_VERSION, None)
    assert load(A_NAME) is None


def test_one_without_a_number_is_passed_over(a_stranger: ModuleType) -> None:
    del a_stranger.__dict__["API"]

    assert look(A_NAME) == (Form.OTHER_VERSION, None)


def test_one_that_is_not_built_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(native.VARIABLE, raising=False)
    monkeypatch.setitem(sys.modules, A_NAME, None)  # importing it fails, as where it is not there

    assert look(A_NAME) == (Form.NOT_BUILT, None)
    assert "Python, which is slower: install again" in inner_loops().says


def test_the_doctor_finds_a_machine_well_without_a_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(native.VARIABLE, raising=False)
    for name in EXTENSIONS:
        monkeypatch.setitem(sys.modules, name, None)

    assert inner_loops().is_ok
