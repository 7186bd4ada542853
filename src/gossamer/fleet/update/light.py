"""What the single file of a unit holds, and what it does without.

A unit crawls, archives and sends. Index, graph, PDF texts and pages for people are made by the hub,
so the largest dependencies stay out: the file has 30 MB at most instead of 170.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

MAX_BYTES: Final = 30_000_000  # of the file

# Distributions in the file, with all that they require. `tuf` and what follows it: for updates.
DISTRIBUTIONS: Final = (
    "pycurl",
    "turbohtml",
    "ada-url",
    "google-re2",
    "isal",
    "rocksdict",
    "publicsuffixlist",
    "msgspec",
    "rapidfuzz",
    "brotli",
    "backports.zstd; python_version < '3.14'",
    "typer",
    "uvloop; sys_platform != 'win32'",
    "tuf",
)
# Required by one of them, and not needed by us: for coloured source code.
LEFT_OUT: Final = frozenset({"pygments"})

# Modules that are not in the file. A test crawls in processes that cannot import them.
ABSENT: Final = (
    "cryptography",
    "duckdb",
    "httptools",
    "jinja2",
    "numpy",
    "psycopg",
    "pyarrow",
    "pygments",
    "pypdfium2",
    "scipy",
    "shiv",
    "starlette",
    "tantivy",
    "uvicorn",
)

_SOURCES: Final = frozenset({".pyc", ".pyi", ".pyx", ".pxd", ".c", ".h", ".cpp", ".hpp", ".a"})
_FOLDERS: Final = frozenset({"__pycache__", "test", "tests", "test_data", "bin"})
# Compiled forms with a Python version beside them, for functions that we do not call.
_UNUSED: Final = ("rapidfuzz/fuzz_cpp", "rapidfuzz/process_cpp")
# Of our own package: pages for people, which the hub shows.
_OWN_FOLDERS: Final = ("web/static", "web/templates")


def is_wanted(path: PurePath) -> bool:
    """Whether a file of a distribution belongs in the single file. `path` begins with the folder of
    its package, or of its description, of which only names and licences are needed.
    """
    if path.suffix in _SOURCES or _FOLDERS & set(path.parts[:-1]) or ".." in path.parts:
        return False
    if path.parts[0].endswith(".dist-info"):
        return path.name == "METADATA" or "licen" in path.as_posix().lower()
    return not path.as_posix().startswith(_UNUSED)


def is_wanted_of_ours(path: PurePath) -> bool:
    """The same for a file of our own package, `path` being relative to it."""
    return is_wanted(PurePath("gossamer") / path) and not path.as_posix().startswith(_OWN_FOLDERS)
