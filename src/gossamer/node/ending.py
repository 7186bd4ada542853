"""The end of a crawl: what is made of all pages together, when there are no more.

    last commit -> count of copies ---+-> clean commit
                -> index -------------+
                -> links merged
                -> ranks

The four need nothing of each other, so they are made at the same time: they take a tenth of a short
crawl, and one after the other they would leave all cores but one without work.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Final

from gossamer.node.parts import Parts

_MANY_LINKS: Final = 5_000_000  # to merge them and to rank pages takes memory: not at the same time


async def complete(parts: Parts, *, is_whole: bool) -> None:
    """Commit the last pages, and make what is made of all of them. Raises DiskFault.

    Whoever stops a crawl wants it to end: what is left out where it is not `is_whole`, the next end
    makes up for. The end is called clean when the index has all that the state has.
    """
    await parts.committer.commit()
    parts.tidy_store()
    linking = asyncio.ensure_future(asyncio.to_thread(_finish_links, parts, is_whole=is_whole))
    try:
        counting = asyncio.to_thread(parts.frontier.count_duplicates)
        if parts.index is None:
            await counting
        else:
            indexing = asyncio.to_thread(parts.index.finish, is_whole=is_whole)
            await asyncio.gather(counting, indexing)
        await parts.committer.commit(is_clean=True)
    finally:
        await linking


def _finish_links(parts: Parts, *, is_whole: bool) -> None:
    """Merged links are the same links: ranks of the files that were there before will do."""
    if is_whole and parts.settings.node.graph:
        from gossamer.graph.ranks.ranks import compute_apart  # NumPy, SciPy: nobody waits for it

        with ThreadPoolExecutor(1) as beside:
            merging = beside.submit(parts.links.merge_rest)
            if parts.links.manifest.links > _MANY_LINKS:
                wait([merging])
            compute_apart(parts.paths.graph, parts.clock)
            merging.result()
    parts.links.finish()  # deletes nothing that ranks are made of before they are made
