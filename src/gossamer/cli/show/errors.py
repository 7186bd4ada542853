"""Print errors of the command line.

A sentence goes to stderr. With `--json` an object also goes to stdout, so that a script always
reads JSON: `{"schema": 1, "error": "...", "exit_code": 2}`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gossamer.cli.show.printable import printable


def print_error(sentence: str, exit_code: int, words: Sequence[str], *, told: str = "") -> None:
    """Print an error. `words` is the command line; `told` is the text for people if it differs."""
    if wants_json(words):
        import json

        facts = {"schema": 1, "error": " ".join(sentence.split()), "exit_code": exit_code}
        print(json.dumps(facts, ensure_ascii=False), flush=True)
    print(printable(told or f"gossamer: {sentence}"), file=sys.stderr)


def wants_json(words: Sequence[str]) -> bool:
    """Whether `--json` was given as a flag; after `--` all words are arguments."""
    for word in words:
        if word in ("--", "--json"):
            return word == "--json"
    return False
