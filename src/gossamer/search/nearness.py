"""Check whether words are near each other in a text.

Lucene's slop: the number of moves of one word by one position that turn the page's words into the
phrase. A phrase `a b c` matches a page that has them at positions p, q and r if p, q - 1 and r - 2
differ by at most the slop. So a gap costs its width, and swapping two words costs two. A word that
is twice in the phrase must be twice in the page.

Pure. `rejected` in engine.py says which pages are checked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence


def is_near(text: Sequence[str], phrase: Sequence[str], slop: int) -> bool:
    """Whether the words of a phrase are in a text within `slop` moves."""
    places = _places(text, frozenset(phrase))
    if any(not places[word] for word in phrase):
        return False
    # (start of the phrase, which of its words implies it, position of that word)
    begins = sorted(
        (place - which, which, place) for which, word in enumerate(phrase) for place in places[word]
    )
    return _has_window(begins, phrase, slop)


def _places(text: Sequence[str], wanted: frozenset[str]) -> Mapping[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(text):
        if word in wanted:
            places[word].append(place)
    return places


def _has_window(begins: Sequence[tuple[int, int, int]], phrase: Sequence[str], slop: int) -> bool:
    first, inside = 0, [0] * len(phrase)
    missing = len(phrase)
    for last, (begin, which, _) in enumerate(begins):
        inside[which] += 1
        missing -= inside[which] == 1
        while begin - begins[first][0] > slop:
            gone = begins[first][1]
            inside[gone] -= 1
            missing += inside[gone] == 0
            first += 1
        if not missing and _have_own_places(begins[first : last + 1], phrase):
            return True
    return False


def _have_own_places(window: Sequence[tuple[int, int, int]], phrase: Sequence[str]) -> bool:
    """Whether each word of the phrase can have its own position in the window."""
    options: dict[int, list[int]] = defaultdict(list)
    for _, which, place in window:
        options[which].append(place)
    # Only equal words compete for a position; each finds another one to move to, or none.
    taken: dict[int, int] = {}
    repeated = [which for which, word in enumerate(phrase) if phrase.count(word) > 1]
    return all(_settles(which, options, taken, set()) for which in repeated)


def _settles(
    which: int, options: Mapping[int, list[int]], taken: dict[int, int], tried: set[int]
) -> bool:
    for place in options[which]:
        if place not in tried:
            tried.add(place)
            if place not in taken or _settles(taken[place], options, taken, tried):
                taken[place] = which
                return True
    return False
