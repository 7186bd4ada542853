"""Print a comparison of the modes of `--duplicates`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gossamer.base.plurals import counted
from gossamer.cli.show.printable import printable

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.lab.duplicates import ModeResult


def print_modes(results: Sequence[ModeResult]) -> None:
    """Print a table of the modes, then the largest groups of each."""
    print(
        f"{'mode':<8}{'kept':>10}{'dropped':>10}{'share':>8}"
        f"{'groups':>8}{'distinct':>10}{'CPU s':>8}"
    )
    for one in results:
        print(
            f"{one.mode:<8}{one.kept:>10,}{one.dropped:>10,}{one.share:>8.1%}{one.groups:>8,}"
            f"{one.distinct:>10,}{one.cpu_s:>8.2f}"
        )
    print("\ndistinct: dropped pages whose text differs from that of the page that stays.")
    for one in results:
        if one.largest:
            print(f"\n{one.mode}: largest groups")
        for url, copies, examples in one.largest:
            print(printable(f"  {url} and {counted(copies, 'duplicate')}, e.g. {examples[0]}"))
        for url, stays in one.lost:
            print(printable(f"  distinct, but dropped: {url} (stays: {stays})"))
