"""The end of a crawl: build what needs all pages.

    last commit -> index --> clean commit
                -> links merged
                -> ranks

The three are independent, so they run at the same time. They take a tenth of a short crawl, and one
after the other they would use one core only.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Final

from gossamer.node.parts import Parts

# merging and ranking take memory: above this they run one after the other
_MANY_LINKS: Final = 5_000_000


async def complete(parts: Parts, *, is_whole: bool) -> None:
    """Commit the last pages, and build what needs all pages. Raises DiskFault.

    If not `is_whole`, the crawl was stopped and should end soon. Then some of it is left to the
    next end. The end is called clean when the index has everything that the state has.
    """
    if parts.keeping is not None:
        parts.keeping.finish()
    if parts.focus is not None:
        parts.focus.save()
    await parts.committer.commit()
    parts.tidy_store()
    if parts.comparing is not None and is_whole:
        await parts.comparing.finish()
    linking = asyncio.ensure_future(asyncio.to_thread(_finish_links, parts, is_whole=is_whole))
    try:
        if parts.index is not None:
            await asyncio.to_thread(parts.index.finish, is_whole=is_whole)
        await parts.committer.commit(is_clean=True)
    finally:
        await linking


def _finish_links(parts: Parts, *, is_whole: bool) -> None:
    """Compute ranks and merge links. Merging does not change the links, so ranks are computed from
    the files that existed before.
    """
    if is_whole and parts.settings.node.graph:
        # imported here, because it loads NumPy and SciPy
        from gossamer.graph.ranks.ranks import compute_with_little_memory

        with ThreadPoolExecutor(1) as beside:
            merging = beside.submit(parts.links.merge_rest)
            if parts.links.manifest.links > _MANY_LINKS:
                wait([merging])
            compute_with_little_memory(parts.paths.graph, parts.clock)
            merging.result()
    parts.links.finish()  # deletes no file that ranks are computed from before they are done
