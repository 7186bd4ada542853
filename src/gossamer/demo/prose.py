"""Sentences from word lists: the same key gives the same words, for ever.

A grammar maps a name to its choices; a choice may name others in braces. `{Name}` with a capital
writes the first letter large. What is told of a thing for certain (its year, its maker) is given
as facts, which win over the grammar. No chance and no state: choices come from a hash of the key.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

Grammar = Mapping[str, Sequence[str]]
T = TypeVar("T")

_SLOT: Final = re.compile(r"\{(\w+)\}")
_LETTERS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "é": "e", "’": ""})


def number(key: str, below: int) -> int:
    """A whole number from 0 to `below - 1` that belongs to the key."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big") % below


def pick(choices: Sequence[T], key: str) -> T:
    """One of the choices."""
    return choices[number(key, len(choices))]


def some(choices: Sequence[T], count: int, key: str) -> list[T]:
    """`count` different ones of the choices, or all of them when they are fewer."""
    order = sorted(range(len(choices)), key=lambda at: number(f"{key}/{at}", 2**32))
    return [choices[at] for at in order[:count]]


def tell(template: str, grammar: Grammar, key: str, facts: Mapping[str, str] | None = None) -> str:
    """Fill every slot of a template, and the slots of what fills it."""
    known = facts or {}
    turn = 0

    def fill(slot: re.Match[str]) -> str:
        nonlocal turn
        turn += 1
        name = slot[1].lower()
        text = known[name] if name in known else pick(grammar[name], f"{key}/{name}/{turn}")
        told = _SLOT.sub(fill, text)
        return told[0].upper() + told[1:] if slot[1][0].isupper() else told

    return _SLOT.sub(fill, template)


def paragraphs(
    templates: Sequence[str],
    sizes: Sequence[int],
    grammar: Grammar,
    key: str,
    facts: Mapping[str, str] | None = None,
) -> list[str]:
    """A paragraph for each size, of so many sentences; no template is used twice."""
    chosen = some(templates, sum(sizes), key)
    told = iter([tell(line, grammar, f"{key}/{at}", facts) for at, line in enumerate(chosen)])
    return [" ".join(itertools.islice(told, size)) for size in sizes]


def slug(title: str) -> str:
    """A title as a part of a path: `The Miller's Lamp` is `the-millers-lamp`."""
    plain = title.lower().replace("'", "").translate(_LETTERS)
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
