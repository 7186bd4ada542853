# What `__init__.py` loads when it is asked for, as type checkers are to see it: `crawl` is the
# function, not the folder of that name.
from gossamer.api import (
    Collection,
    Copies,
    Copy,
    Crawl,
    CrawledPage,
    GossamerError,
    Graph,
    Hit,
    Options,
    PageLink,
    Results,
    StoredPage,
    Table,
    crawl,
    open,  # noqa: A004  # its name
)
from gossamer.version import __version__

__all__ = [
    "Collection",
    "Copies",
    "Copy",
    "Crawl",
    "CrawledPage",
    "GossamerError",
    "Graph",
    "Hit",
    "Options",
    "PageLink",
    "Results",
    "StoredPage",
    "Table",
    "__version__",
    "crawl",
    "open",
]
