"""Which parts run compiled, and which as Python?

Some inner loops are written twice: in Python, and in C beside it, which does the same in a fraction
of the time. The C form is built when the package is installed, where there is a compiler; nothing
is missing without it. Each carries a number, `API`, and counts only if that is the number wanted
here: a file that another version left in the folder is passed over, never called.

`GOSSAMER_NATIVE=0` passes over all of them, for tests and for whoever suspects one. It is read when
a stage is loaded, and processes that a crawl starts inherit it.
"""

from __future__ import annotations

import importlib
import os
from enum import Enum
from types import ModuleType
from typing import Final

VARIABLE: Final = "GOSSAMER_NATIVE"

# Every extension, and its number. The C file names the same one: raise both together when
# arguments or answers change. `pyproject.toml` builds them; a test compares all three.
EXTENSIONS: Final = {
    "gossamer.archive._pack": 4,
    "gossamer.workers._link_cache": 6,
    "gossamer.index._words": 4,
    "gossamer.parse._scan": 5,
    "gossamer.search._passage": 1,
    "gossamer.urls._plain": 1,
}


class Form(Enum):
    """What runs, as `gossamer doctor` says it."""

    COMPILED = "compiled"
    OFF = f"Python, since {VARIABLE} is 0"
    NOT_BUILT = "Python, which is slower: install again where there is a C compiler"
    OTHER_VERSION = "Python, since what was compiled is of another version: install again"


def load(name: str) -> ModuleType | None:
    """The extension, or None where its twin in Python has to do the work."""
    return look(name)[1]


def look(name: str) -> tuple[Form, ModuleType | None]:
    """Which form of this extension runs in this process, and the module where it is compiled."""
    if os.environ.get(VARIABLE) == "0":
        return Form.OFF, None
    try:
        module = importlib.import_module(name)
    except ImportError:  # nothing there, or built for another system
        return Form.NOT_BUILT, None
    if getattr(module, "API", None) != EXTENSIONS[name]:
        return Form.OTHER_VERSION, None
    return Form.COMPILED, module
