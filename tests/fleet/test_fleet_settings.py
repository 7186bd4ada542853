"""Files of settings of hub and unit: every setting explains itself, a wrong file names its line."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from gossamer.errors import SettingsError
from gossamer.fleet.settings import HubSettings, UnitSettings, read_settings
from gossamer.settings import Section, check_value, key_of, type_of


@pytest.mark.parametrize("kind", [HubSettings, UnitSettings])
def test_every_setting_has_an_allowed_default_and_says_what_it_is_for(kind: type[Section]) -> None:
    for f in fields(kind):  # type: ignore[arg-type]  # every section is a dataclass
        check_value(key_of(kind, f), f.default, f, type_of(kind, f))
        assert f.metadata["help"].endswith("."), f.name
        if f.name.endswith(("_s", "_bytes", "_mb")):
            assert isinstance(f.default, int | float), f.name


def test_a_file_is_read_and_what_is_given_wins(tmp_path: Path) -> None:
    path = tmp_path / "hub.toml"
    path.write_text('port = 9000\nnames = ["hub.example"]\npoll_s = 2\n')

    found = read_settings(HubSettings, path, port=9001, host=None)

    assert (found.port, found.names, found.poll_s) == (9001, ("hub.example",), 2)
    assert read_settings(HubSettings, tmp_path / "absent.toml") == HubSettings()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("port = 1\npol_s = 2\n", r"line 2: pol_s is not a setting; did you mean poll_s\?"),
        ("\nport = 70000\n", r"line 2: port is 70000, but it must be at most 65535"),
        ("port = \n", "is not valid TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "hub.toml"
    path.write_text(text)

    with pytest.raises(SettingsError, match=told):
        read_settings(HubSettings, path)


def test_the_document_of_the_fleet_has_every_setting_of_the_hub() -> None:
    text = (Path(__file__).parents[2] / "docs" / "fleet.md").read_text(encoding="utf-8")
    for f in fields(HubSettings):
        shown = f"| `{f.name}` | `{json.dumps(f.default)}` | "
        assert shown in text, f"docs/fleet.md lacks `{f.name}`"
        assert f" | {f.metadata['help']} |" in text, f"docs/fleet.md has another text for {f.name}"
