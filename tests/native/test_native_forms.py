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

from gossamer.collection.configure import configure
from gossamer.native import extensions
from gossamer.native.extensions import EXTENSIONS, PAGE, Form, load, look
from gossamer.settings import Settings
from gossamer.upkeep.check_machine import MachineCheck, doctor
from support.need import need_program

ROOT = Path(__file__).parents[2]
A_NAME = next(iter(EXTENSIONS))
# What each extension has at its number. Who changes a line raises the number.
CONTENTS = {
    ("gossamer.native._page", 2): "Generation Known anchors edges found known_of said scan set_up"
    " spoken",
    ("gossamer.native._archive", 1): "capture_of",
    ("gossamer.native._search", 1): "folded passage",
}


def built_by_pyproject() -> dict[str, dict[str, Any]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {entry["name"]: entry for entry in project["tool"]["setuptools"]["ext-modules"]}


def source_of(name: str) -> Path:
    return ROOT / "src" / Path(*name.split(".")).with_suffix(".c")


def sources_of(name: str) -> list[Path]:
    return [ROOT / path for path in built_by_pyproject()[name]["sources"]]


def need_built(name: str) -> ModuleType:
    """The extension; where it is not built the test skips, or fails when `CI` is `true`."""
    form, module = look(name)
    if module is not None:
        return module
    missing = f"{name} is {form.value} (`make native`)"
    if os.environ.get("CI") == "true" and form is not Form.OFF:
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)


def inner_loops() -> MachineCheck:
    return next(check for check in doctor() if check.name == "inner loops")


@pytest.fixture
def a_stranger(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """In place of the first extension, a file that another version left there."""
    stranger = ModuleType(A_NAME)
    stranger.__dict__["API"] = EXTENSIONS[A_NAME] + 1
    monkeypatch.setitem(sys.modules, A_NAME, stranger)
    monkeypatch.delenv(extensions.VARIABLE, raising=False)
    return stranger


def test_every_extension_is_in_the_table_and_is_built() -> None:
    assert built_by_pyproject().keys() == EXTENSIONS.keys()


def test_there_are_few_extensions_and_all_c_is_in_one_folder() -> None:
    folder = ROOT / "src" / "gossamer" / "native"
    found = {path for kind in "ch" for path in (ROOT / "src").rglob(f"*.{kind}")}
    sources = {path for name in EXTENSIONS for path in sources_of(name)}

    assert len(EXTENSIONS) <= 4
    assert {path.parent for path in found} == {folder}
    assert {path for path in found if path.suffix == ".c"} == sources, "every C file is built"


@pytest.mark.parametrize("name", EXTENSIONS)
def test_another_interpreter_of_the_process_gets_the_python_form(name: str) -> None:
    """What is static in C belongs to one interpreter."""
    need_built(name)
    interpreters = pytest.importorskip("_xxsubinterpreters")
    code = f"import sys; sys.path[:] = {sys.path!r}\nfrom gossamer.native.extensions import load\n"
    other = interpreters.create()
    try:
        interpreters.run_string(other, f"{code}assert load({name!r}) is None")
    finally:
        interpreters.destroy(other)


def test_the_secret_of_known_links_is_random_bytes_of_the_system() -> None:
    """PYTHONHASHSEED may be known to whoever makes a page; the digests of links may not hang on
    it."""
    need_built(PAGE)
    code = (
        "import os; asked = []; real = os.urandom\n"
        "os.urandom = lambda count: asked.append(count) or real(count)\n"
        f"import {PAGE}; print(sum(asked))"
    )

    ended = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert int(ended.stdout) == 48


@pytest.mark.parametrize("name", EXTENSIONS)
def test_no_extension_is_needed_to_install(name: str) -> None:
    entry = built_by_pyproject()[name]

    assert entry["optional"] is True
    assert sources_of(name)[0] == source_of(name)
    assert not [flag for flag in entry["extra-compile-args"] if flag.startswith("-m")]


@pytest.mark.parametrize("name", EXTENSIONS)
def test_the_number_in_c_is_the_number_wanted(name: str) -> None:
    text = source_of(name).read_text(encoding="utf-8")

    assert re.findall(r"^#define \w*API (\d+)$", text, re.MULTILINE) == [str(EXTENSIONS[name])]


@pytest.mark.parametrize("name", EXTENSIONS)
def test_an_extension_that_gains_or_loses_a_function_gets_another_number(name: str) -> None:
    """Or a file that an earlier version left in the folder is used, and lacks the function."""
    names = [each for each in dir(need_built(name)) if not each.startswith("_") and each != "API"]

    assert names == CONTENTS[name, EXTENSIONS[name]].split()


@pytest.mark.parametrize("name", EXTENSIONS)
def test_the_compiled_form_is_built_from_the_source_that_is_here(name: str) -> None:
    module = need_built(name)
    sources = [*sources_of(name), *source_of(name).parent.glob("*.h")]

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
        [*command, *sources_of(name)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("name", EXTENSIONS)
def test_a_variable_turns_all_of_them_off(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(extensions.VARIABLE, "0")

    assert look(name) == (Form.OFF, None)
    assert inner_loops().says == "Python, because GOSSAMER_NATIVE is 0"


def test_the_variable_is_no_setting_and_no_fault(tmp_path: Path) -> None:
    found = configure(tmp_path, {}, {extensions.VARIABLE: "0", "XDG_CONFIG_HOME": str(tmp_path)})

    assert found.settings == Settings()


def test_one_of_another_version_is_passed_over(a_stranger: ModuleType) -> None:
    assert look(A_NAME) == (Form.OTHER_VERSION, None)
    assert load(A_NAME) is None


def test_one_without_a_number_is_passed_over(a_stranger: ModuleType) -> None:
    del a_stranger.__dict__["API"]

    assert look(A_NAME) == (Form.OTHER_VERSION, None)


def test_one_that_is_not_built_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(extensions.VARIABLE, raising=False)
    monkeypatch.setitem(sys.modules, A_NAME, None)  # importing it fails, as where it is not there

    assert look(A_NAME) == (Form.NOT_BUILT, None)
    assert "Python, which is slower: install" in inner_loops().says


def test_the_doctor_finds_a_machine_well_without_a_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(extensions.VARIABLE, raising=False)
    for name in EXTENSIONS:
        monkeypatch.setitem(sys.modules, name, None)

    assert inner_loops().is_ok
