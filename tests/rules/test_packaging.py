"""Release workflow, image and package metadata agree, and name only files that exist."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CONTAINERFILE = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PLATFORMS = {"manylinux_x86_64", "manylinux_aarch64", "macosx_x86_64", "macosx_arm64"}

_SOURCE_FILE = re.compile(r"(?<![\w/$])(?:src|assets|\.ci)/[\w./-]+")


def supported_versions() -> set[str]:
    """The Python versions that the package says it supports."""
    prefix = "Programming Language :: Python :: 3."
    named = PYPROJECT["project"]["classifiers"]
    return {line.rpartition(" ")[2] for line in named if line.startswith(prefix)}


def workflow(name: str) -> dict[Any, Any]:
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    parsed: dict[Any, Any] = yaml.safe_load(text)
    return parsed


def steps() -> list[dict[str, Any]]:
    return [step for job in workflow("wheels.yml")["jobs"].values() for step in job["steps"]]


def instructions(word: str) -> list[str]:
    """What follows a word that begins a line of the Containerfile, each as written."""
    return re.findall(rf"^{word}\s+(.*)$", CONTAINERFILE, re.MULTILINE)


def test_a_wheel_is_built_for_every_supported_python() -> None:
    built = {name.removesuffix("-*") for name in PYPROJECT["tool"]["cibuildwheel"]["build"]}

    assert built == {f"cp{version.replace('.', '')}" for version in supported_versions()}


def test_the_oldest_supported_python_is_the_one_that_is_required() -> None:
    oldest = min(supported_versions(), key=lambda version: int(version.partition(".")[2]))

    assert PYPROJECT["project"]["requires-python"] == f">={oldest}"
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"


def test_workflow_and_image_run_a_supported_python() -> None:
    named = [step["with"]["python-version"] for step in steps() if "python-version" in str(step)]
    (image,) = re.findall(r"^ARG PYTHON=(\S+)$", CONTAINERFILE, re.MULTILINE)

    assert named
    assert {*named, image} <= supported_versions()


def test_wheels_are_built_for_every_platform_that_is_promised() -> None:
    matrix = workflow("wheels.yml")["jobs"]["wheels"]["strategy"]["matrix"]["include"]

    assert {one["platform"] for one in matrix} == PLATFORMS
    assert len({one["runner"] for one in matrix}) == len(PLATFORMS)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_names_only_files_that_exist(path: Path) -> None:
    named = _SOURCE_FILE.findall(path.read_text(encoding="utf-8"))

    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_test_of_a_wheel_exists_and_is_in_the_source_archive() -> None:
    command = PYPROJECT["tool"]["cibuildwheel"]["test-command"]
    (script,) = re.findall(r"\{project\}/(\S+)", command)

    assert (ROOT / script).is_file()
    assert "graft .ci" in (ROOT / "MANIFEST.in").read_text(encoding="utf-8")


def test_only_a_release_is_published_and_without_a_token() -> None:
    jobs = workflow("wheels.yml")["jobs"]
    publish = jobs.pop("publish")

    assert publish["if"] == "github.event_name == 'release'"
    assert publish["permissions"] == {"id-token": "write"}
    assert set(publish["needs"]) == set(jobs)
    assert not any("permissions" in job for job in jobs.values())
    assert "secrets." not in (ROOT / ".github/workflows/wheels.yml").read_text(encoding="utf-8")


def test_the_image_copies_only_files_that_exist_and_are_not_ignored() -> None:
    lines = [line for line in instructions("COPY") if not line.startswith("--from")]
    copied = [name for line in lines for name in line.split()[:-1]]
    mounted = re.findall(r"--mount=type=bind,source=([^,\s]+)", CONTAINERFILE)
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines()
    allowed = {line.removeprefix("!") for line in ignored if line.startswith("!")}

    assert "*" in ignored
    assert [name for name in (*copied, *mounted) if not (ROOT / name).exists()] == []
    assert {*copied, *mounted} == allowed


def test_the_image_serves_its_port_without_rights() -> None:
    (verb,) = (ROOT / "src" / "gossamer" / "cli").rglob("serve.py")
    serve = verb.read_text(encoding="utf-8")
    (port,) = instructions("EXPOSE")

    assert re.search(rf"\] = {port},", serve)
    assert f":{port}/healthz" in instructions("HEALTHCHECK")[0]
    assert instructions("USER") == ["gossamer"]
    assert CONTAINERFILE.index("\nUSER ") < CONTAINERFILE.index("\nENTRYPOINT ")


def test_nothing_that_is_made_on_this_machine_gets_into_the_image() -> None:
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines()
    patterns = [line for line in ignored if line and not line.startswith(("#", "!"))]
    made = (
        "src/gossamer/native/_page.cpython-311-x86_64-linux-gnu.so",
        "src/gossamer/web/static/vendor",
        "assets/node_modules",
        "src/gossamer.egg-info",
    )

    assert [name for name in made if not any(fnmatch(name, one) for one in patterns[1:])] == []
