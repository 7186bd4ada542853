"""A setting and the values that it is given in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gossamer.errors import SettingsError, UsageError
from gossamer.settings import KEYS, Settings, nearest, parse_value, with_values

# No delays, as the sites are on this machine; many requests at once, so that the crawler is what is
# measured, and not the wait for responses.
HELD: Final = {
    "politeness.host_delay_s": "0",
    "politeness.per_host": "16",
    "fetch.connections": "64",
}


@dataclass(frozen=True, slots=True)
class Factor:
    """What varies. `values` are as they are typed."""

    key: str
    values: tuple[str, ...]


def factor_in(text: str) -> Factor:
    """`KEY=V1,V2` as a factor; `;` separates values that have commas. Raises UsageError."""
    key, _, typed = text.partition("=")
    mark = ";" if ";" in typed else ","
    values = tuple(dict.fromkeys(value.strip() for value in typed.split(mark) if value.strip()))
    if len(values) < 2:
        raise UsageError(f"{text!r} is not KEY=VALUE,VALUE, such as fetch.connections=10,50,100")
    for value in values:
        check_setting(key, value)
    return Factor(key, values)


def held_in(words: list[str]) -> dict[str, str]:
    """`KEY=VALUE` words as settings that stay the same. Raises UsageError."""
    held = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"--set {word!r} is not KEY=VALUE")
        check_setting(key, value)
        held[key] = value
    return held


def check_setting(key: str, value: str) -> None:
    """Raise SettingsError if there is no such setting, or it cannot have this value."""
    if key not in KEYS:
        raise SettingsError(key, f"is not a setting{nearest(key)}")
    with_values(Settings(), {key: parse_value(key, value)})
