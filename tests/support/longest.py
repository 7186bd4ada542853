"""The files whose slow tests take longest, the longest first.

The slow tests of a file run in one process. These come first, so that no process is left alone with
one of them at the end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parents[1]
LONGEST: Final = tuple(
    TESTS / name
    for name in (
        "upkeep/test_damage.py",
        "bench/test_benches.py",
        "faults/test_disk_faults.py",
        "realsites/test_eight_sites.py",
        "realsites/test_backlinks.py",
        "faults/test_prune_faults.py",
        "browser/test_hostile_site.py",
        "browser/test_tasks.py",
        "native/test_fuzz_native.py",
        "web/test_web_schema.py",
        "faults/test_kill_campaign.py",
        "flow/test_kills.py",
        "faults/test_signals.py",
        "bench/test_changing_site.py",
    )
)
