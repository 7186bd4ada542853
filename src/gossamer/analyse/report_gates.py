"""`--fail-on 'dead>0'`: conditions under which a report fails a build."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gossamer.errors import UsageError
from gossamer.settings import nearest

_GATE: Final = re.compile(r"\s*([a-z][a-z0-9_]*)\s*(>=|<=|==|!=|=|>|<)\s*(\d+(?:\.\d+)?)\s*")
_SIGNS: Final[dict[str, Callable[[float, float], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition that must not be true: name, sign, number."""

    name: str
    sign: str
    limit: float

    def holds(self, figures: Mapping[str, int]) -> bool:
        return _SIGNS[self.sign](figures[self.name], self.limit)

    def __str__(self) -> str:
        return f"{self.name}{self.sign}{self.limit:g}"


def read_gates(texts: Sequence[str], names: Collection[str]) -> list[Gate]:
    """Parse the gates. Raises UsageError for an invalid one."""
    return [_read(text, names) for text in texts]


def _read(text: str, names: Collection[str]) -> Gate:
    found = _GATE.fullmatch(text)
    if found is None:
        raise UsageError(
            f"--fail-on {text!r} is not a condition; write name, sign and number, e.g. 'dead>0'"
        )
    name, sign, limit = found.groups()
    if name not in names:
        hint = nearest(name, names) or f"; the names are {', '.join(sorted(names))}"
        raise UsageError(f"--fail-on: unknown name {name!r}{hint}")
    return Gate(name, sign, float(limit))
