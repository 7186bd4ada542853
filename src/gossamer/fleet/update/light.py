"""What the single file of a unit holds, and what it does without.

A unit crawls, archives and sends. Index, graph, PDF texts and pages for people are made by the hub,
so the largest dependencies stay out: the file has 30 MB at most instead of 170.
"""

from __future__ import annotations

from typing import Final

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
