"""`gossamer status`: of a running or stored crawl."""

from __future__ import annotations

from gossamer.cli.options import Collection, Json, collection_at


def status(collection: Collection = None, json: Json = False) -> None:
    """Show how a running or stored crawl stands."""
    import json as jsons

    from gossamer.base.sizes import size_text
    from gossamer.cli.printable import printable
    from gossamer.cli.text import reasons_text
    from gossamer.crawl.control import NotRunning, send
    from gossamer.crawl.home import Home
    from gossamer.crawl.study import Study

    home = Home(collection_at(collection))
    with Study.open(home.path) as study:
        counts = study.counts()
        try:
            live = dict(send(home, "status"))
        except NotRunning:
            live = {}
    facts = {
        "schema": 1,
        "state": "stored",
        "fetched": counts.fetched,
        "redirects": counts.redirects,
        "failed": counts.failed,
        "refused": counts.refused,
        "queued": counts.queued,
        "known": counts.known,
        "bytes": counts.size_bytes,
        "links": counts.links,
        "unchanged": counts.unchanged,
        "duplicates": counts.duplicates,
        "indexed": counts.indexed,
        "refused_by": counts.by_reason,
        "by_status": counts.by_status,
        **live,
    }
    if json:
        print(jsons.dumps(facts))
        return
    print(f"{home.path}: {facts['state']}")
    print(
        f"  {facts['fetched']} pages fetched ({size_text(facts['bytes'])}), "
        f"{facts['redirects']} redirects, {facts['failed']} failed, {facts['refused']} refused, "
        f"{facts['queued']} queued, {facts['known']} URLs known, {facts['links']} links"
    )
    if counts.by_status:
        print(f"  statuses: {reasons_text(counts.by_status)}")
    if counts.by_reason:
        print(f"  failed or refused: {reasons_text(counts.by_reason)}")
    if live:
        print(
            f"  {live['under_way']} under way, {live['hosts_waiting']} hosts waiting, "
            f"{live['pages_per_s']} pages/s, {size_text(live['bytes_per_s'])}/s"
        )
        for trouble in live["troubles"]:
            print(printable(f"  {trouble}"))
