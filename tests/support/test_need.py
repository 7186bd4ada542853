"""Programs that tests need: where they are looked for, and what is said if one is missing."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from support import need

ROOT = Path(__file__).parents[2]


def test_a_program_beside_path_is_found_and_the_newest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("9", "15", "12"):
        program = tmp_path / "lib" / version / "bin" / "a_server"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(need, "PLACES", (f"{tmp_path}/lib/*/bin",))

    assert need.need_program("a_server") == tmp_path / "lib" / "15" / "bin" / "a_server"


@pytest.mark.parametrize(
    ("ci", "raised"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)]
)
def test_a_missing_program_is_named_with_its_package(
    ci: str, raised: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", ci)

    with pytest.raises(raised, match=r"no_program is not .* apt-get install a-package$"):
        need.need_program("no_program", "a-package")


def test_run_looks_in_the_same_places() -> None:
    run = runpy.run_path(str(ROOT / "run.py"))

    assert run["PLACES"] == need.PLACES
    assert {"pg_ctl", "ssh", "sshd"} <= run["NEEDED"].keys()
    for name in run["NEEDED"]:
        assert run["is_program"](name) == (need.find_program(name) is not None)
