"""Choose between the compiled and the Python form of three inner loops.

They are written twice: in Python, and in C, which does the same in a fraction of the time. The C
form is built when the package is installed, if there is a compiler; nothing is missing without it.
Each extension has a number, `API`, and is used only if that is the number expected here: a file
that another version left in the folder is never called.

`GOSSAMER_NATIVE=0` turns all of them off, for tests and for debugging. It is read when a stage is
loaded, and the processes that a crawl starts inherit it.
"""

from __future__ import annotations

import importlib
import os
from enum import Enum
from types import ModuleType
from typing import Final

VARIABLE: Final = "GOSSAMER_NATIVE"

PAGE: Final = "gossamer.native._page"  # parse/, workers/link_cache.py, urls/linker.py
ARCHIVE: Final = "gossamer.native._archive"  # archive/capture.py
SEARCH: Final = "gossamer.native._search"  # search/passages.py, search/snippets.py

# Every extension, and its number. Its C file has the same one: raise both together when a function
# comes or goes, or when arguments or results change. `pyproject.toml` builds them; a test compares
# all three.
EXTENSIONS: Final = {
    PAGE: 2,
    ARCHIVE: 1,
    SEARCH: 1,
}


class Form(Enum):
    """What runs, as `gossamer doctor` says it."""

    COMPILED = "compiled"
    OFF = f"Python, because {VARIABLE} is 0"
    NOT_BUILT = "Python, which is slower: install a C compiler, then reinstall Gossamer"
    OTHER_VERSION = "Python, because the compiled part is of another version: reinstall Gossamer"


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
