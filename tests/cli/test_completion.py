"""What a shell offers after the script of `gossamer completion`, asked of real shells."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from gossamer.cli.commands.completion import script_for
from gossamer.settings import KEYS
from support.killing import typed
from support.need import need_program


def offered_by_bash(folder: Path, *words: str) -> list[str]:
    (folder / "script").write_text(script_for("bash"))
    line = " ".join(map(shlex.quote, words))
    asked = (
        f"source {folder}/script; COMP_WORDS=(gossamer {line}); COMP_CWORD={len(words)};"
        ' _gossamer; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    bash = str(need_program("bash"))
    made = subprocess.run(
        [bash, "--norc", "-c", asked], capture_output=True, text=True, check=True, cwd=folder
    )
    assert made.stderr == ""
    return made.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["cra"], ["crawl"]),
        (["config", ""], ["show", "check", "schema"]),
        (["-c", "x", "rebu"], ["rebuild"]),
        (["crawl", "--scope", ""], ["page", "prefix", "host", "site", "list", "any"]),
        (["crawl", "--scope", "host", "--dry"], ["--dry-run"]),
        (["crawl", "http://a.example/", "--depth", ""], []),
        (["crawl", "-f", "se"], ["seeds.txt"]),
        (["config", "check", "se"], ["seeds.txt"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["crawl", "--set", "fetch.cook"], ["fetch.cookies=", "fetch.cookies_file="]),
    ],
)
def test_bash_completes(words: list[str], offered: list[str], tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").touch()

    assert sorted(offered_by_bash(tmp_path, *words)) == sorted(offered)


def test_bash_knows_every_verb_and_every_setting(tmp_path: Path) -> None:
    shown = typed("--help").out
    verbs = offered_by_bash(tmp_path, "")

    assert {"crawl", "search", "config", "completion"} <= set(verbs)
    assert all(verb in shown for verb in verbs)
    assert offered_by_bash(tmp_path, "crawl", "--set", "") == [f"{key}=" for key in KEYS]


def test_fish_completes(tmp_path: Path) -> None:
    (tmp_path / "script").write_text(script_for("fish"))
    asked = f"source {tmp_path}/script; complete -C 'gossamer crawl --scope '"
    fish = str(need_program("fish"))
    made = subprocess.run(
        [fish, "--no-config", "-c", asked], capture_output=True, text=True, check=True
    )

    offered = {line.split("\t")[0] for line in made.stdout.splitlines()}
    assert offered == {"page", "prefix", "host", "site", "list", "any"}


def test_zsh_can_read_its_script(tmp_path: Path) -> None:
    (tmp_path / "script").write_text(script_for("zsh"))

    subprocess.run([str(need_program("zsh")), "-n", str(tmp_path / "script")], check=True)


def test_another_shell_is_named() -> None:
    ended = typed("completion", "csh")

    assert (ended.code, ended.out) == (2, "")
    assert "bash, zsh, fish" in ended.err
