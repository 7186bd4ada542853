"""`gossamer status`: of a running or stored crawl."""

from __future__ import annotations

from gossamer.cli.options import Collection, Json, collection_at


def status(collection: Collection = None, json: Json = False) -> None:
    """Show how a running or stored crawl stands."""
    import json as jsons

    from gossamer.base.sizes import size_text
    from gossamer.cli.printable import printable
    from gossamer.cli.text import classes_text, reasons_text, retry_text
    from gossamer.crawl.home import Home
    from gossamer.crawl.snapshot import crawl_figures

    home = Home(collection_at(collection))
    facts = crawl_figures(home)
    if json:
        print(jsons.dumps(facts))
        return
    print(f"{home.path}: {facts['state']}")
    print(
        f"  {facts['fetched']} pages fetched ({size_text(facts['bytes'])}), "
        f"{facts['redirects']} redirects, {facts['failed']} failed, {facts['refused']} refused, "
        f"{facts['queued']} queued, {facts['known']} URLs known, {facts['links']} links"
    )
    if facts["by_status"]:
        print(f"  answers: {classes_text(facts['by_class'])}")
        print(f"  statuses: {reasons_text(facts['by_status'])}")
    if facts["refused_by"]:
        print(f"  failed or refused: {reasons_text(facts['refused_by'])}")
    if "under_way" in facts:
        print(
            f"  {facts['under_way']} under way, {facts['hosts_waiting']} hosts waiting, "
            f"{facts['pages_per_s']} pages/s, {size_text(facts['bytes_per_s'])}/s"
        )
        if facts.get("retrying"):
            print(f"  {retry_text(facts['retrying'], facts['retry_in_s'])}; nothing else is left")
        for trouble in facts["troubles"]:
            print(printable(f"  {trouble}"))
