"""What the state has learned about traps, for `status` and `why`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gossamer.base.plurals import counted
from gossamer.frontier.host_table import HOST_BYTES
from gossamer.frontier.levels.guard import find_yield, stored_yields
from gossamer.frontier.levels.sites import stored_sites
from gossamer.frontier.rows import HostRow, UrlRow
from gossamer.frontier.store import StateTable, Store
from gossamer.policies.traps.kinds import kind_of
from gossamer.policies.traps.odds import levels_of_run
from gossamer.policies.traps.patterns import is_covered, line_for
from gossamer.policies.traps.yields import REFUSED_LEVEL, HostYield
from gossamer.records import Outcome


@dataclass(frozen=True, slots=True)
class TrapVerdict:
    """One verdict, about a pattern of a host, about its long runs, or about a site."""

    host: str  # or the site
    pattern: str  # empty: of pages behind others that brought nothing new
    news: int  # pages that brought something, since the pattern was first seen
    wasted: int
    levels: int  # by which such URLs come later; 0: only their runs count
    is_refused: bool
    kind: str = ""  # what it looks like; empty: of all kinds
    line: str = ""  # for `gossamer trust`, which withdraws the verdict

    @property
    def sentence(self) -> str:
        """The verdict for people."""
        what = f"pages like {self.pattern}" if self.pattern else "pages behind such pages"
        if self.kind:
            what += f" ({self.kind})"
        brought = f"{counted(self.wasted, 'request')} wasted, {self.news} brought new text"
        end = "further ones are refused as trap" if self.is_refused else "they are requested later"
        return f"{self.host}: {what}: {brought}; {end}"


def trap_verdicts(store: Store) -> Iterator[TrapVerdict]:
    """The verdicts of all hosts, as they were committed."""
    for key, host in stored_yields(store):
        packed = store.find(StateTable.HOST, key)
        name = HostRow.decode(packed).name if packed else key.hex()
        blamed = {
            pattern: levels for pattern, one in host.patterns.items() if (levels := one.levels)
        }
        for pattern, levels in blamed.items():
            if not is_covered(pattern, blamed):
                counts = host.patterns[pattern]
                is_refused = host.is_spent and levels >= REFUSED_LEVEL
                wasted = counts.all_wasted
                kind = kind_of(pattern, wasted, counts.by_grade)
                line = line_for(name, pattern)
                yield TrapVerdict(
                    name, pattern, counts.all_news, wasted, levels, is_refused, kind, line
                )
        if host.is_spent:
            yield TrapVerdict(name, "", host.news, host.wasted, 0, is_refused=True, line=name)
    for site in stored_sites(store):
        if site.is_spent:
            yield TrapVerdict(
                f"the site {site.name}",
                "",
                site.news,
                site.wasted,
                0,
                is_refused=True,
                line=site.name,
            )


def trap_sentences(store: Store, key: bytes, row: UrlRow) -> list[str]:
    """What traps have to do with a URL."""
    host = find_yield(store, key[:HOST_BYTES])
    if host is None:
        return []
    return list(_sentences(host, row))


def _sentences(host: HostYield, row: UrlRow) -> Iterator[str]:
    levels, pattern = host.levels_of(row.url)
    is_waiting = row.outcome is Outcome.QUEUED
    if by_run := levels_of_run(row.run):
        yield (
            "The pages on the way to it brought no new text"
            + (f", so it comes {counted(by_run, 'level')} later." if is_waiting else ".")
        )
    if levels:
        counts = host.patterns[pattern]
        kind = kind_of(pattern, counts.all_wasted, counts.by_grade)
        yield (
            f"Pages like {pattern} ({kind}) wasted {counted(counts.all_wasted, 'request')}, and "
            f"{counts.all_news} of them brought new text"
            + (f", so they come {counted(levels, 'level')} later." if is_waiting else ".")
        )
    if row.reason == "trap" and (by_run or levels):
        yield "`gossamer trust` with the URL, or the start of it, withdraws this verdict."
