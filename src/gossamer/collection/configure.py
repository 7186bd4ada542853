"""Merge all sources of settings, and record the source of each value.

Flags win over `GOSSAMER_*` variables, over `gossamer.toml` in the collection or else the current
directory (or `[tool.gossamer]` in its pyproject.toml), over the user's own file, over defaults.
An unknown key is an error that names the key, the file, the line and the nearest key.
"""

from __future__ import annotations

import json
import os
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gossamer.errors import SettingsError, UsageError
from gossamer.native import extensions
from gossamer.settings import (
    KEYS,
    Settings,
    choices_of,
    describe,
    is_extensible,
    limits_of,
    nearest,
    parse_value,
    values_of,
    with_values,
)

_FILE: Final = "gossamer.toml"
# These start a program, or send data to someone: the person who crawls names them.
_NOT_IN_COLLECTIONS: Final = ("watch.command", "watch.webhook")
_SECTIONS: Final = tuple(dict.fromkeys(key.partition(".")[0] for key in KEYS))
_IN_PYPROJECT: Final = "tool.gossamer"
_OTHER_VARIABLES: Final = frozenset(
    {
        "GOSSAMER_COLLECTION",
        "GOSSAMER_CONFIG",
        "GOSSAMER_HUB",
        "GOSSAMER_LAUNCHED",
        "GOSSAMER_UNIT",
        extensions.VARIABLE,
    }
)


@dataclass(frozen=True, slots=True)
class Configured:
    """Settings, and for each key that is not at its default the source of its value."""

    settings: Settings
    origin: Mapping[str, str]


def configure(
    collection: Path,
    flags: Mapping[str, object],
    environment: Mapping[str, str] | None = None,
    base: Settings | None = None,
) -> Configured:
    """Merge all sources for a collection; `base` are the settings of its last crawl."""
    env = os.environ if environment is None else environment
    settings, origin = base or Settings(), dict[str, str]()
    if base is not None:
        origin.update(dict.fromkeys(difference(Settings(), base), "the stored crawl"))
    for path in _files(collection, env):
        values = read_file(path)
        try:
            if path == collection / _FILE:
                _check_collection_file(values, user_file(env))
            settings = with_values(settings, values)
        except SettingsError as fault:
            raise _with_line(fault, path) from None
        origin.update(dict.fromkeys(values, str(path)))
    from_env = _read_environment(env)
    try:
        settings = with_values(settings, from_env)
    except SettingsError as fault:
        raise _placed(fault, _variable(fault.key)) from None
    origin.update({key: _variable(key) for key in from_env})
    settings = with_values(settings, flags)
    origin.update(dict.fromkeys(flags, "command line"))
    return Configured(settings, origin)


def user_file(env: Mapping[str, str]) -> Path:
    """Return the path of the user's own settings, which apply to all collections."""
    if "GOSSAMER_CONFIG" in env:
        return Path(env["GOSSAMER_CONFIG"])
    paths = env.get("XDG_CONFIG_HOME") or env.get("APPDATA") or str(Path.home() / ".config")
    return Path(paths) / "gossamer" / "gossamer.toml"


def _files(collection: Path, env: Mapping[str, str]) -> list[Path]:
    """Return the files that apply, the weakest first."""
    files = [user_file(env)]
    for local in (collection / _FILE, Path(_FILE), Path("pyproject.toml")):
        if local.is_file() and (local.name != "pyproject.toml" or _has_table(local)):
            files.append(local)
            break
    return [path for path in files if path.is_file()]


def _check_collection_file(values: Mapping[str, object], user: Path) -> None:
    """Raise SettingsError for a setting that a collection must not bring along: it may come from
    someone else."""
    for key in _NOT_IN_COLLECTIONS:
        if values.get(key):
            raise SettingsError(
                key,
                "cannot be set in the file of a collection, which may come from someone else; "
                f"use a flag, {user}, or {_FILE} in the current directory",
            )


def _has_table(pyproject: Path) -> bool:
    try:
        return "gossamer" in _toml(_text_of(pyproject)).get("tool", {})
    except (OSError, ValueError):
        return False


def _toml(text: str) -> dict[str, Any]:
    """Raises ValueError."""
    import tomllib  # not at the top: it takes 3 ms, and most crawls have no such file

    return tomllib.loads(text)


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig")  # some editors write a byte order mark


def read_file(path: Path) -> dict[str, object]:
    """Return the settings in a file, by key. Raises SettingsError or UsageError with file and
    line."""
    values, faults = _read(path)
    if faults:
        raise faults[0]
    return values


def _read(path: Path) -> tuple[dict[str, object], list[SettingsError]]:
    """Return the settings in a file, and the invalid entries. Raises UsageError if it is not
    TOML."""
    try:
        text = _text_of(path)
    except (OSError, UnicodeError) as fault:
        problem = getattr(fault, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"cannot read {path}: {problem}") from fault
    try:
        tables: Any = _toml(text)
    except ValueError as fault:
        raise UsageError(f"{path}: {fault}") from fault
    if path.name == "pyproject.toml":
        tables = tables.get("tool", {}).get("gossamer", {})
    if not isinstance(tables, dict):  # in a pyproject.toml it can be any value
        return {}, [_not_a_table(_IN_PYPROJECT, path, text)]
    values: dict[str, object] = {}
    faults: list[SettingsError] = []
    for section, content in tables.items():
        names = content if isinstance(content, dict) else {}
        if section not in _SECTIONS:
            keys = [f"{section}.{name}" for name in names] or [section]
            faults += [_unknown(key, path, text) for key in keys]
        elif not isinstance(content, dict):
            faults.append(_not_a_table(section, path, text))
        for name, value in names.items() if section in _SECTIONS else ():
            key = f"{section}.{name}"
            if key in KEYS:
                values[key] = _as_setting(value)
            else:
                faults.append(_unknown(key, path, text))
    return values, faults


def examine(path: Path) -> tuple[Settings, list[SettingsError]]:
    """Return the valid settings of a file, and all faults in the order of its lines.

    Raises UsageError if it is not TOML.
    """
    values, faults = _read(path)
    text = _text_of(path)
    good: dict[str, object] = {}
    for key, value in values.items():
        try:
            with_values(Settings(), {key: value})
            good[key] = value
        except SettingsError as fault:
            faults.append(_placed(fault, _where(fault.key, path, text)))
    root = _IN_PYPROJECT if path.name == "pyproject.toml" else ""
    faults.sort(key=lambda fault: line_of(fault.key, text, root))
    return with_values(Settings(), good), faults


def check_file(path: Path) -> None:
    """Raise the first fault of a file; unknown settings come first."""
    read_file(path)
    _, faults = examine(path)
    if faults:
        raise faults[0]


def schema() -> dict[str, Any]:
    """The JSON Schema of `gossamer.toml`, for editors."""
    sections: dict[str, dict[str, Any]] = {name: {} for name in _SECTIONS}
    for key in KEYS:
        section, _, name = key.partition(".")
        sections[section][name] = _property(key)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gossamer.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            name: {"type": "object", "additionalProperties": False, "properties": properties}
            for name, properties in sections.items()
        },
    }


def _property(key: str) -> dict[str, Any]:
    kind, default, meaning = describe(key)
    least, most = limits_of(key)
    found: dict[str, Any] = {"description": meaning, "default": default, **_shape(kind)}
    if least is not None:
        found["minimum"] = least
    if most is not None:
        found["maximum"] = most
    return found


def _shape(kind: Any) -> dict[str, Any]:
    origin = typing.get_origin(kind)
    if is_extensible(kind):
        return {"type": "string", "examples": list(choices_of(kind))}
    if choices := choices_of(kind):
        return {"enum": list(choices)}
    if origin is tuple:
        return {"type": "array", "items": _shape(typing.get_args(kind)[0])}
    names = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return {"type": names[kind]}


def _as_setting(value: Any) -> object:
    return tuple(value) if isinstance(value, list) else value


def _unknown(key: str, path: Path, text: str) -> SettingsError:
    names = KEYS if "." in key else (*_SECTIONS, *KEYS)
    return SettingsError(
        key, f"is not a setting{nearest(key, names)}", where=_where(key, path, text)
    )


def _not_a_table(key: str, path: Path, text: str) -> SettingsError:
    problem = f"is a section; write [{key}] with its settings below"
    return SettingsError(key, problem, where=_where(key, path, text))


def _where(key: str, path: Path, text: str) -> str:
    root = _IN_PYPROJECT if path.name == "pyproject.toml" else ""
    return f"{path}, line {line_of(key, text, root)}"


def _with_line(fault: SettingsError, path: Path) -> SettingsError:
    return _placed(fault, _where(fault.key, path, _text_of(path)))


def fault_in_file(fault: UsageError, path: Path) -> UsageError:
    """Return the same fault with its file, and with its line for a setting."""
    if not isinstance(fault, SettingsError):
        return UsageError(f"{path}: {fault}")
    return fault if fault.where else _with_line(fault, path)


def _placed(fault: SettingsError, where: str) -> SettingsError:
    return SettingsError(fault.key, fault.problem, where=where)


def line_of(key: str, text: str, root: str = "") -> int:
    """Return the line of a key; the line of its section, or 1, if it is not found.

    `root` is the table that contains the sections, if the file has other tables too.
    """
    section, _, name = key.partition(".")
    found, current = 1, None if root else ""
    for number, line in enumerate(text.split("\n"), 1):
        header = re.match(r"\s*\[\[?([^\[\]]+)\]", line)
        if header:
            current = _below(root, re.sub(r"[\s\"']", "", header[1]))
            if current == key:
                return number
            if current == section:
                found = number
        elif (current == "" and _sets((key, section), line)) or (
            current == section and _sets((name,), line)
        ):
            return number
    return found


def _below(root: str, table: str) -> str | None:
    """Return a table's name relative to `root`; None if it is outside."""
    if not root:
        return table
    if table == root:
        return ""
    return table.removeprefix(f"{root}.") if table.startswith(f"{root}.") else None


def _sets(keys: tuple[str, ...], line: str) -> bool:
    """Whether a line assigns one of the keys, quoted or not."""
    left = re.sub(r"[\s\"']", "", line.partition("=")[0]) if "=" in line else ""
    return bool(left) and left in keys


def _variable(key: str) -> str:
    return "GOSSAMER_" + key.replace(".", "_").upper()


def _read_environment(env: Mapping[str, str]) -> dict[str, object]:
    ours = [name for name in env if name.startswith("GOSSAMER_") and name not in _OTHER_VARIABLES]
    known = {_variable(key): key for key in KEYS} if ours else {}
    values: dict[str, object] = {}
    for name in ours:
        if name not in known:
            raise SettingsError(
                name, f"is not a setting{nearest(name, known)}", where="the environment"
            )
        try:
            values[known[name]] = parse_value(known[name], env[name])
        except SettingsError as fault:
            raise _placed(fault, name) from None
    return values


def remember_contact(contact: str, env: Mapping[str, str]) -> Path:
    """Write the contact into the user's own file and keep its other content."""
    path = user_file(env)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    path.write_text(_with_contact(text, json.dumps(contact, ensure_ascii=False)), encoding="utf-8")
    return path


def _with_contact(text: str, contact: str) -> str:
    lines = text.rstrip("\n").split("\n")
    if "contact" in _toml(text).get("fetch", {}):
        at = line_of("fetch.contact", text) - 1
        lines[at] = f"{lines[at].partition('=')[0].rstrip()} = {contact}"
    elif any(re.match(r"\s*\[fetch\]", line) for line in lines):
        lines.insert(line_of("fetch", text), f"contact = {contact}")
    else:
        lines += ["", "[fetch]", f"contact = {contact}"]
    return "\n".join(lines).lstrip("\n") + "\n"


def difference(old: Settings, new: Settings) -> dict[str, tuple[object, object]]:
    """Return the keys whose values differ, with both values."""
    before, after = values_of(old), values_of(new)
    return {key: (before[key], after[key]) for key in KEYS if before[key] != after[key]}
