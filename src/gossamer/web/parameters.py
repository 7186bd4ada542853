"""Parse the parameters of a request according to the table of routes.

An invalid value is refused with a sentence. No other module sees a text that is longer, or a number
that is larger, than its parameter allows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import parse_qsl

from gossamer.errors import UsageError
from gossamer.settings import nearest

ParameterPlace = Literal["query", "path", "body"]
ParameterType = Literal["text", "texts", "whole", "number", "flag"]

CSRF: Final = "csrf"  # a field that every form of ours has
_TRUE: Final = {"1", "true", "yes", "on"}
_FALSE: Final = {"0", "false", "no", "off", ""}
_MOST_TEXTS: Final = 100  # patterns or seeds in one request


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One parameter: its name, kind and limits. `choices` empty allows any text."""

    name: str
    help: str
    kind: ParameterType = "text"
    place: ParameterPlace = "query"
    default: str | int | float | bool | tuple[str, ...] | None = None
    choices: tuple[str, ...] = ()
    least: float = 0
    most: float = 2**53
    longest: int = 2_000  # characters of a text
    is_needed: bool = False


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of one request, and its client."""

    values: Mapping[str, Any]
    origin: str = ""  # `http://127.0.0.1:8800`, as the client uses it
    csrf: str = ""  # token of its forms; empty if not logged in
    is_owner: bool = False  # whether it may make changes
    last_event_id: str = ""
    if_none_match: str = ""  # header: the versions that the client has
    client: str = ""
    session: str = ""
    fault: UsageError | None = None  # fault of the values, if the view reports it

    def text(self, name: str) -> str:
        return str(self.values.get(name) or "")

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(self.values.get(name) or ())

    def whole(self, name: str) -> int:
        return int(self.values.get(name) or 0)

    def flag(self, name: str) -> bool:
        return bool(self.values.get(name))


def check_names(params: tuple[Param, ...], body: Mapping[str, object]) -> None:
    """Raise UsageError for the first unknown key of a body: a mistyped key must not start another
    crawl than intended."""
    names = [param.name for param in params if param.place != "path"]
    for key in body:
        if key not in names and key != CSRF:
            raise UsageError(f"{key[:80]!r} is an unknown parameter{nearest(key, names)}")


def read_values(params: tuple[Param, ...], given: Mapping[str, object]) -> dict[str, Any]:
    """Return each parameter's value, or its default. Raises UsageError for the first invalid
    one."""
    values: dict[str, Any] = {}
    for param in params:
        raw = given.get(param.name)
        if raw is None or (raw == "" and param.kind not in ("text", "flag")):
            if param.is_needed:
                raise UsageError(f"{param.name} is missing: {param.help}")
            values[param.name] = param.default
        else:
            values[param.name] = _read(param, raw)
    return values


def read_as_typed(params: tuple[Param, ...], given: Mapping[str, object]) -> dict[str, Any]:
    """The same for showing a form again: invalid values stay as typed."""
    values: dict[str, Any] = {}
    for param in params:
        try:
            values |= read_values((param,), given)
        except UsageError:
            raw = given.get(param.name)
            texts = raw if isinstance(raw, list) else str(raw or "").splitlines()
            values[param.name] = tuple(map(str, texts)) if param.kind == "texts" else raw
    return values


def _read(param: Param, raw: object) -> Any:
    match param.kind:
        case "text":
            return _text(param, raw)
        case "texts":
            return _texts(param, raw)
        case "whole" | "number":
            return _number(param, raw)
        case "flag":
            return _flag(param, raw)


def _text(param: Param, raw: object) -> str:
    if not isinstance(raw, str):
        raise UsageError(f"{param.name} must be a text")
    if len(raw) > param.longest:
        raise UsageError(f"{param.name} is longer than {param.longest:,} characters")
    if any(0xD800 <= ord(char) < 0xE000 for char in raw):  # JSON can contain them; UTF-8 cannot
        raise UsageError(f"{param.name} contains an invalid character (a lone surrogate)")
    if param.choices and raw not in param.choices:
        named = ", ".join(choice or "(nothing)" for choice in param.choices)
        raise UsageError(f"{param.name} is {raw[:80]!r}, but it must be one of {named}")
    if param.is_needed and not raw.strip():
        raise UsageError(f"{param.name} is empty: {param.help}")
    return raw


def _texts(param: Param, raw: object) -> tuple[str, ...]:
    """Parse a list, or a text with one entry per line, as in a form."""
    items = raw.splitlines() if isinstance(raw, str) else raw
    if not isinstance(items, list | tuple):
        raise UsageError(f"{param.name} must be a list of texts")
    kept = [text.strip() for text in (_text(param, item) for item in items)]
    kept = [text for text in kept if text]
    if len(kept) > _MOST_TEXTS:
        raise UsageError(f"{param.name} has more than {_MOST_TEXTS} entries")
    if param.is_needed and not kept:
        raise UsageError(f"{param.name} is empty: {param.help}")
    return tuple(kept)


def _number(param: Param, raw: object) -> float | int:
    wanted = "a whole number" if param.kind == "whole" else "a number"
    try:
        if isinstance(raw, bool) or not isinstance(raw, int | float | str) or len(str(raw)) > 40:
            raise ValueError
        value = float(raw)
        if not math.isfinite(value) or (param.kind == "whole" and value != int(value)):
            raise ValueError
    except (ValueError, OverflowError):
        raise UsageError(f"{param.name} must be {wanted}") from None
    if not param.least <= value <= param.most:
        raise UsageError(
            f"{param.name} is {value:g}, but it must be from {param.least:g} to {param.most:g}"
        )
    return int(value) if param.kind == "whole" else value


def _flag(param: Param, raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw.lower() in _TRUE | _FALSE:
        return raw.lower() in _TRUE
    raise UsageError(f"{param.name} must be true or false")


def _fields(pairs: list[tuple[str, str]]) -> dict[str, object]:
    """Return the fields of a form; a repeated field is a list, as for checkboxes."""
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


def read_body(content_type: str, body: bytes) -> dict[str, object]:
    """Return the fields of a body: a JSON object or a form. Raises UsageError."""
    kind = content_type.partition(";")[0].strip().lower()
    if not body:
        return {}
    try:
        if kind == "application/json":
            found = json.loads(body)
        elif kind == "application/x-www-form-urlencoded":
            found = _fields(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=200))
        else:
            raise UsageError("the body must be JSON (application/json) or a form")
    except (ValueError, RecursionError) as fault:
        raise UsageError("the body is not valid") from fault
    if not isinstance(found, dict):
        raise UsageError("the body must be a JSON object")
    return found
